//! `wardian workers …`.

use std::num::NonZeroUsize;

use clap::{Args, Subcommand, ValueEnum};
use host::api::WorkerState;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum WorkersVerb {
    /// List attempts of agents, the latest first
    List(WorkersArgs),
    /// Show one attempt
    Show(WorkerArgs),
}

#[derive(Debug, Args)]
pub(crate) struct WorkersArgs {
    /// Only attempts of this run
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
    /// Only attempts in this state
    #[arg(long)]
    pub(crate) state: Option<Stand>,
    /// At most so many
    #[arg(long, value_name = "N", default_value = "50")]
    pub(crate) limit: NonZeroUsize,
}

#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// The id of an attempt, or as much of its beginning as is unique
    #[arg(value_name = "ID")]
    pub(crate) id: String,
}

/// How far an attempt is, as a word of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stand(pub(crate) WorkerState);

impl ValueEnum for Stand {
    fn value_variants<'a>() -> &'a [Self] {
        const {
            &[
                Self(WorkerState::Requested),
                Self(WorkerState::Running),
                Self(WorkerState::Waiting),
                Self(WorkerState::Succeeded),
                Self(WorkerState::Failed),
                Self(WorkerState::Cancelled),
                Self(WorkerState::Unknown),
            ]
        }
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.0.word()))
    }
}
