//! `wardian run …`.

use clap::{Args, Subcommand, ValueEnum};
use host::api::RunStatus;

use super::AttachArgs;

#[derive(Debug, Subcommand)]
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
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The id of a run, or as much of its beginning as is unique
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only runs of this status
    #[arg(long)]
    pub(crate) status: Option<Status>,
    /// At most so many [default: 50 for people, all with --json]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
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

/// What happened is known to people only where a node's outcome is unknown:
/// each such node needs one of the three words.
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
