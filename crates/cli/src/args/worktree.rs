//! Worktrees and the changes in them: `wardian worktree …`, `wardian run
//! changes` and `wardian run apply`.

use clap::builder::PossibleValue;
use clap::{Args, Subcommand, ValueEnum};
use host::api::worktree::Isolation;

use super::RunArgs;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum WorktreeVerb {
    /// List the worktrees of the home, and how each stands
    List,
    /// Remove a worktree whose changes are elsewhere
    Remove(RemoveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// The run that it was made for, or as much of the id's beginning as is unique
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Throw away what is nowhere else
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ChangesArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Only how many lines each file has more and less
    #[arg(long, conflicts_with = "name_only")]
    pub(crate) stat: bool,
    /// Only the names of the files
    #[arg(long)]
    pub(crate) name_only: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Onto this branch; one that is checked out nowhere needs --commit
    #[arg(long, value_name = "BRANCH", conflicts_with = "here")]
    pub(crate) to: Option<String>,
    /// Into the checkout around the current folder [default: the one that the run was started in]
    #[arg(long)]
    pub(crate) here: bool,
    /// Commit the changes as well
    #[arg(long, requires = "message")]
    pub(crate) commit: bool,
    /// The message of the commit
    #[arg(short, long, value_name = "MESSAGE", requires = "commit", allow_hyphen_values = true)]
    pub(crate) message: Option<String>,
}

/// Where a run works, as a word of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IsolationWord(pub(crate) Isolation);

impl ValueEnum for IsolationWord {
    fn value_variants<'a>() -> &'a [Self] {
        const { &[Self(Isolation::Shared), Self(Isolation::Worktree)] }
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self.0 {
            Isolation::Shared => PossibleValue::new("shared"),
            Isolation::Worktree => PossibleValue::new("worktree"),
        })
    }
}
