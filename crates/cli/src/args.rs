//! The command line's tree and nothing else. The help texts are the comments
//! here.

mod authoring;
mod automation;
mod pages;
mod provider;
mod run;
mod workers;
mod worktree;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use crate::style::When;

pub(crate) use authoring::{DiffArgs, FmtArgs, LintArgs, LintFormat, NewArgs};
pub(crate) use automation::{AutomationVerb, CrashTestArgs, ExecArgs, SourceArgs};
pub(crate) use pages::{
    ExplainArgs, GraphArgs, GraphFormat, NodeTypesArgs, ReferencePage, SchemaArgs,
};
pub(crate) use provider::ProviderVerb;
pub(crate) use run::{
    DecideArgs, DiffRunsArgs, Ended, EventsArgs, ExportArgs, ForkArgs, ListArgs, LogsArgs,
    NoteArgs, PruneArgs, RetryArgs, RunArgs, RunVerb, Status, ViewArgs, WatchArgs,
};
pub(crate) use workers::{WorkerArgs, WorkersArgs, WorkersVerb};
pub(crate) use worktree::{ApplyArgs, ChangesArgs, IsolationWord, RemoveArgs, WorktreeVerb};

const EXIT_CODES: &str = "\
Exit codes:
   0 ok                       8 invalid blueprint or request
   1 failed                   9 denied
   2 not found               10 the run failed
   4 store unavailable       11 the run waits for someone
   5 ambiguous               12 the run's outcome is unknown
   7 no answer in time       13 conflict
  64 wrong arguments         75 try later                130 interrupted";

/// Runs automations that survive whatever happens to them.
#[derive(Debug, Parser)]
#[command(name = "wardian", version, arg_required_else_help = true, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Globals {
    /// Print one JSON document; JSON lines where there is no end
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// The folder of everything that lasts [default: $WARDIAN_HOME, or ~/.wardian]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Color the output
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: When,
    /// Never ask; fail instead
    #[arg(long, global = true)]
    pub(crate) no_input: bool,
}

#[derive(Debug, Subcommand)]
// What is not asked for is not built: the whole tree is most of what a start takes.
#[command(defer = true)]
pub(crate) enum Command {
    /// Show what this is: run a prepared automation up to its gate
    Demo(DemoArgs),
    /// Write a first automation for this repository and the agents that are here
    Init(InitArgs),
    /// Check that everything needed is there
    Doctor,
    /// Record what owners that died have left
    Recover(RecoverArgs),
    /// Blueprints: list, check, run
    #[command(subcommand)]
    Automation(AutomationVerb),
    /// Runs: look, decide, try again
    #[command(subcommand)]
    Run(RunVerb),
    /// Providers of agents: which there are, how they are asked
    #[command(subcommand)]
    Provider(ProviderVerb),
    /// Attempts of agents: who was asked, and what came of it
    #[command(subcommand)]
    Workers(WorkersVerb),
    /// Worktrees that runs work in: list, remove
    #[command(subcommand)]
    Worktree(WorktreeVerb),
    /// Print the completion script of a shell
    Completion { shell: Shell },
    /// A page of the reference, as Markdown; `cargo xtask generate` keeps it
    #[command(name = "__reference", hide = true)]
    Reference { page: ReferencePage },
    /// Write the manual, a page a command
    Man {
        /// The folder for the pages, made when it is absent
        #[arg(long, value_name = "DIR")]
        output: PathBuf,
    },
}

/// The worker of one run, which wardian itself starts as `__worker`. It has
/// a parser of its own: to build the whole tree of commands takes a good part
/// of what such a process takes.
#[derive(Debug, Parser)]
#[command(name = "wardian __worker", no_binary_name = true, disable_version_flag = true)]
pub(crate) struct WorkArgs {
    #[command(flatten)]
    pub(crate) globals: Globals,
    /// The folder of the run
    pub(crate) run_dir: PathBuf,
}

/// The first word of a worker's command line.
pub(crate) const WORKER_VERB: &str = "__worker";

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Where to set it up; a new temporary folder otherwise
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) attach: AttachArgs,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The automation's id; made of the repository's name otherwise
    #[arg(long)]
    pub(crate) id: Option<String>,
    /// Who does the work; the first one that is found otherwise
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,
    /// Where to write it; into the library otherwise
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct RecoverArgs {
    /// Look into every run, and make the index of runs anew
    #[arg(long)]
    pub(crate) all: bool,
}

// How a command stays with the run that it started.
#[derive(Debug, Args)]
pub(crate) struct AttachArgs {
    /// Stay with the run: a signal to this command cancels it
    #[arg(long, conflicts_with = "detach")]
    pub(crate) foreground: bool,
    /// Start the run and leave it
    #[arg(long)]
    pub(crate) detach: bool,
}

#[cfg(test)]
mod tests;
