//! `wardian run …`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use host::api::{RunStatus, Span};

use super::{ApplyArgs, AttachArgs, ChangesArgs};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum RunVerb {
    /// List runs, the newest first
    List(ListArgs),
    /// Show a run and its nodes
    Show(RunArgs),
    /// Watch a run from its start, and wait for it
    Watch(WatchArgs),
    /// Show what the attempts of a run printed
    Logs(LogsArgs),
    /// Print the events of a run, a JSON object a line
    Events(EventsArgs),
    /// Show a run as it was at an event
    View(ViewArgs),
    /// Fold a run's log anew and compare it with the checkpoint
    Replay(RunArgs),
    /// Check that nobody changed or cut a run's log
    Verify(RunArgs),
    /// Let a gate through
    Approve(DecideArgs),
    /// Refuse at a gate; the run fails
    Reject(DecideArgs),
    /// End a run and everything that it started
    Cancel(NoteArgs),
    /// Let a parked run look again at what it waits for
    Resume(NoteArgs),
    /// Try a failed run again as a new run that keeps what was completed
    Retry(RetryArgs),
    /// Go on from an event of a run, as a new run, with the same or a changed automation
    Fork(ForkArgs),
    /// Show where two runs went different ways
    Diff(DiffRunsArgs),
    /// Show what a run has changed in its worktree
    Changes(ChangesArgs),
    /// Take the changes of a run into a checkout, or onto a branch
    Apply(ApplyArgs),
    /// Remove runs that have ended
    Prune(PruneArgs),
    /// Print a run for other programs, a JSON object a line
    Export(ExportArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The id of a run, or as much of its beginning as is unique
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only runs of this status; may be given several times
    #[arg(long, value_delimiter = ',')]
    pub(crate) status: Vec<Status>,
    /// Only runs of this automation
    #[arg(long, value_name = "ID")]
    pub(crate) automation: Option<String>,
    /// Only runs that began at most so long ago, such as 90m or 7d
    #[arg(long, value_name = "SPAN")]
    pub(crate) since: Option<Span>,
    /// At most so many
    #[arg(long, value_name = "N", default_value = "50")]
    pub(crate) limit: NonZeroUsize,
    /// Go on behind a page, with the `next` that it gave
    #[arg(long, value_name = "NEXT")]
    pub(crate) after: Option<String>,
    /// All of them
    #[arg(long, conflicts_with = "limit")]
    pub(crate) all: bool,
}

// What goes is what all options allow.
#[derive(Debug, Args)]
pub(crate) struct PruneArgs {
    /// Only runs that ended longer ago than this, such as 30d
    #[arg(long, value_name = "SPAN")]
    pub(crate) older_than: Option<Span>,
    /// Keep the last so many of each automation
    #[arg(long, value_name = "N")]
    pub(crate) keep_last: Option<usize>,
    /// Only runs of this status; may be given several times
    #[arg(long, value_delimiter = ',')]
    pub(crate) status: Vec<Ended>,
    /// Only runs of this automation
    #[arg(long, value_name = "ID")]
    pub(crate) automation: Option<String>,
    /// Show what would go, and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// A new file to write to [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Begin at this event
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    pub(crate) from: u64,
    /// The last event; nothing later is shown
    #[arg(long, value_name = "SEQ")]
    pub(crate) at: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Tell the events one by one, from this one on
    #[arg(long, value_name = "SEQ")]
    pub(crate) from: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct LogsArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Only this node
    #[arg(long, value_name = "NODE")]
    pub(crate) node: Option<String>,
    /// Go on as they print more, until the run rests
    #[arg(long)]
    pub(crate) follow: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EventsArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Begin at this event
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    pub(crate) from: u64,
}

#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// The event; nothing later is shown
    #[arg(long, value_name = "SEQ")]
    pub(crate) at: u64,
}

#[derive(Debug, Args)]
pub(crate) struct DecideArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// The gate; not needed when only one waits
    #[arg(long, value_name = "NODE")]
    pub(crate) node: Option<String>,
    /// Why; the run's log keeps it
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct NoteArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Why; the run's log keeps it
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
}

// What happened is known to people only where a node's outcome is unknown:
// each such node needs one of the three words.
#[derive(Debug, Args)]
pub(crate) struct RetryArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// The node did its work, and JSON (or @FILE) is its output
    #[arg(long, value_name = "NODE[=JSON]", value_parser = happened)]
    pub(crate) happened: Vec<(String, Option<String>)>,
    /// The node did nothing, so it may start
    #[arg(long, value_name = "NODE")]
    pub(crate) did_not: Vec<String>,
    /// Whatever the node did, it may start again
    #[arg(long, value_name = "NODE")]
    pub(crate) redo: Vec<String>,
    #[command(flatten)]
    pub(crate) attach: AttachArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ForkArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// The last event that the new run keeps
    #[arg(long, value_name = "SEQ")]
    pub(crate) from: u64,
    /// A changed automation, by file or id; what changed runs again
    #[arg(long, value_name = "FILE|ID")]
    pub(crate) automation: Option<String>,
    #[command(flatten)]
    pub(crate) attach: AttachArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DiffRunsArgs {
    #[command(flatten)]
    pub(crate) first: RunArgs,
    /// The run to compare it with
    #[arg(value_name = "OTHER")]
    pub(crate) second: String,
}

/// A run's status as a word of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Status(pub(crate) RunStatus);

impl ValueEnum for Status {
    fn value_variants<'a>() -> &'a [Self] {
        const {
            &[
                Self(RunStatus::Running),
                Self(RunStatus::AwaitingApproval),
                Self(RunStatus::Waiting),
                Self(RunStatus::Completed),
                Self(RunStatus::Failed),
            ]
        }
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.0.word()))
    }
}

/// The status of a run that is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ended(pub(crate) RunStatus);

impl ValueEnum for Ended {
    fn value_variants<'a>() -> &'a [Self] {
        const { &[Self(RunStatus::Completed), Self(RunStatus::Failed)] }
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.0.word()))
    }
}

fn happened(text: &str) -> Result<(String, Option<String>), String> {
    let (node, output) = match text.split_once('=') {
        Some((node, output)) => (node, Some(output.to_owned())),
        None => (text, None),
    };
    match node.is_empty() {
        true => Err("write it as NODE or NODE=JSON".to_owned()),
        false => Ok((node.to_owned(), output)),
    }
}
