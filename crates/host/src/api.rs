//! The plain-data face of the host: what is asked, what is answered, in the
//! reader's terms. Types of the crates below that a reader needs are named
//! here, so that nothing outside needs those crates. Pure.

pub mod authoring;
pub mod error;
pub mod input;
pub mod json;
mod providers;
mod workers;
pub mod worktree;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use crate::launch::Prepared;
use crate::tether::Tether;

pub use blueprint::{Finding, Rule, Severity};
pub use durable::{Attempt, Round, Span, Timestamp};
pub use engine::diff;
pub use engine::event::{AgainCause, Caught, Child, Event, Fact, FailReason, RunStarted};
pub use engine::fork::Report as ForkReport;
pub use engine::proof::{CheckEnd, CheckResult, Proof};
pub use engine::retry::Verdict;
pub use engine::spending::{BudgetLimit, Spending};
pub use engine::state::{Failure, NodeStatus, RunStatus};
pub use engine::view::{Look, NodeView, Progress, RunView, look, node_icon};
pub use engine::work::{Class, Effect, NodeError};
pub use error::{Code, HostError};
pub use providers::{BlockedAccount, ProviderMode, ProviderProbe, ProviderReport, ProviderRow};
pub use workers::{
    Worker, WorkerCoverage, WorkerEnding, WorkerRow, WorkerState, WorkersPage, WorkersQuery,
};

/// A blueprint file as it was found.
#[derive(Debug, Clone)]
pub struct Source {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
}

/// A blueprint file and what the check says of it.
#[derive(Debug)]
pub struct CheckedSource {
    pub source: Source,
    pub blueprint_id: Option<String>,
    pub name: Option<String>,
    pub findings: Vec<Finding>,
    /// Findings beyond those listed.
    pub omitted: usize,
    pub ok: bool,
}

/// What starts a run.
#[derive(Debug, Clone, Default)]
pub struct LaunchRequest {
    /// A file, or the id of an automation in the library.
    pub automation: String,
    pub input: Option<Value>,
    /// The text of an input that is JSON but for lone surrogates.
    pub input_raw: Option<String>,
    pub workspace: Option<PathBuf>,
    /// `role:x` → a provider.
    pub bindings: BTreeMap<String, String>,
    pub provider: Option<String>,
    /// The script of the scripted provider.
    pub script: Option<PathBuf>,
    /// Where it works, when somebody says so.
    pub isolation: Option<worktree::Isolation>,
}

/// A run that has a worker.
#[derive(Debug, Clone)]
pub struct Launched {
    pub run_id: String,
    pub blueprint_id: String,
    pub run_dir: PathBuf,
    /// What a person should know about where it works.
    pub notes: Vec<String>,
    /// Lets whoever follows the run hear at once that its worker is done.
    pub tether: Tether,
}

/// One automation of the library.
#[derive(Debug, Clone)]
pub struct AutomationRow {
    pub blueprint_id: Option<String>,
    pub name: Option<String>,
    pub path: PathBuf,
    /// Why it cannot run, in a line.
    pub error: Option<String>,
}

/// One run in a listing.
#[derive(Debug, Clone)]
pub struct RunRow {
    pub run_id: String,
    /// What people call the run.
    pub short_id: String,
    pub blueprint_id: String,
    /// `None` when the run cannot be read; `fault` says why.
    pub status: Option<RunStatus>,
    pub reason: Option<FailReason>,
    pub unknown_effect: bool,
    pub failure: Option<String>,
    pub started_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
    /// When this row was made; until then a running run has been running.
    pub asked_at: Timestamp,
    pub node_count: usize,
    pub run_dir: PathBuf,
    /// Open, and no owner is alive: interrupted, and not yet recorded so.
    pub ownerless: bool,
    pub fault: Option<String>,
}

/// Which runs a listing has. All that is said must hold.
#[derive(Debug, Clone, Default)]
pub struct RunsQuery {
    /// One of these; any status when there is none.
    pub statuses: Vec<RunStatus>,
    /// Runs of this automation.
    pub automation: Option<String>,
    /// Runs that began at most so long ago.
    pub since: Option<Span>,
    /// Runs behind this place, which is the `next` of an earlier page.
    pub after: Option<String>,
    /// At most so many.
    pub limit: Option<usize>,
}

/// A part of a listing, the newest first.
#[derive(Debug, Clone, Default)]
pub struct RunsPage {
    pub rows: Vec<RunRow>,
    /// Where the next page begins; `None` when this is the last.
    pub next: Option<String>,
}

/// Which ended runs are to go. All that is said must hold, and something
/// must be said.
#[derive(Debug, Clone, Default)]
pub struct PruneQuery {
    /// Ended longer ago than this.
    pub older_than: Option<Span>,
    /// All but the last so many of each automation.
    pub keep_last: Option<usize>,
    pub statuses: Vec<RunStatus>,
    pub automation: Option<String>,
}

/// What a prune would do.
#[derive(Debug, Clone, Default)]
pub struct PrunePlan {
    pub rows: Vec<PruneRow>,
    pub left: Vec<LeftRun>,
}

/// What a prune did.
#[derive(Debug, Clone)]
pub struct Pruned {
    pub rows: Vec<PruneRow>,
    pub left: Vec<LeftRun>,
}

/// A run that goes.
#[derive(Debug, Clone)]
pub struct PruneRow {
    pub run_id: String,
    pub blueprint_id: String,
    pub status: RunStatus,
    pub ended_at: Option<Timestamp>,
    pub bytes: u64,
}

/// A run that stays though it was meant.
#[derive(Debug, Clone)]
pub struct LeftRun {
    pub run_id: String,
    pub why: String,
}

/// Which part of a run is exported.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExportRequest {
    /// The first event.
    pub from: u64,
    /// The last event; nothing later is shown.
    pub at: Option<u64>,
}

/// What a run is called and where it stands, which never changes.
#[derive(Debug, Clone)]
pub struct RunNames {
    pub run_id: String,
    pub short_id: String,
    pub blueprint_id: String,
    pub run_dir: PathBuf,
}

/// One run, as a person asked for it.
#[derive(Debug, Clone)]
pub struct RunReport {
    pub view: RunView,
    pub run_id: String,
    pub short_id: String,
    pub blueprint_id: String,
    pub run_dir: PathBuf,
    pub workspace: Option<String>,
    /// The worktree that the workspace is in.
    pub worktree: Option<worktree::Worktree>,
    /// Whether that is still there.
    pub has_worktree: bool,
    /// Open, not parked, and no owner is alive.
    pub ownerless: bool,
    /// The log has no hashes: it was written by the reference.
    pub unverified: bool,
    /// Bytes of a torn last write that the next owner will move aside.
    pub torn_bytes: u64,
    /// The run that this one tries again, and those that try it again.
    pub retried_as: Vec<String>,
}

/// A moment of a run from which another one goes on.
#[derive(Debug, Clone)]
pub struct ForkRequest {
    pub run: String,
    /// The last event that is kept.
    pub from: u64,
    /// A changed automation; without one the graph stays as it was.
    pub automation: Option<String>,
}

/// A run that goes on from a moment of another one.
#[derive(Debug)]
pub struct Forked {
    pub prepared: Prepared,
    pub report: ForkReport,
}

/// A blueprint to be crash-tested.
#[derive(Debug, Clone, Default)]
pub struct CrashTestRequest {
    pub automation: String,
    /// A folder of which each play gets a copy; else an empty one.
    pub workspace: Option<PathBuf>,
    /// The script of the agents.
    pub script: Option<PathBuf>,
    pub bindings: std::collections::BTreeMap<String, String>,
    pub input: Option<Value>,
    pub input_raw: Option<String>,
}

/// What a crash test found.
#[derive(Debug, Clone)]
pub struct CrashTestReport {
    /// Events of an undisturbed run: the places at which it was cut.
    pub boundaries: usize,
    pub plays: usize,
    /// How an undisturbed run ends, and why when it fails.
    pub status: RunStatus,
    pub failure: Option<String>,
    /// The faults first.
    pub findings: Vec<CrashFinding>,
    /// Files that no two undisturbed runs leave alike; nothing is concluded
    /// from them.
    pub unsteady: Vec<String>,
}

/// One thing that a crash does to a blueprint.
#[derive(Debug, Clone)]
pub struct CrashFinding {
    pub kind: CrashKind,
    pub node: String,
    /// The last event before the first crash that shows it.
    pub seq: u64,
    pub boundary: String,
    pub message: String,
    /// Files that differ from an undisturbed run.
    pub files: Vec<String>,
    pub advice: String,
    /// How many crashes show it.
    pub times: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CrashKind {
    /// An effect is there twice.
    Twice,
    /// An effect is missing from a run that ended well.
    Lost,
    /// The run ends otherwise than it would have.
    EndsOtherwise,
    /// A person must decide, though the work could be done again.
    Undeclared,
}

impl CrashKind {
    pub fn word(self) -> &'static str {
        match self {
            Self::Twice => "twice",
            Self::Lost => "lost",
            Self::EndsOtherwise => "ends_otherwise",
            Self::Undeclared => "undeclared",
        }
    }

    /// Whether the blueprint has to change; else it could be better.
    pub fn is_fault(self) -> bool {
        self != Self::Undeclared
    }
}

/// Two runs side by side.
#[derive(Debug, Clone)]
pub struct RunsCompared {
    pub first: String,
    pub second: String,
    pub diff: diff::RunDiff,
}

/// A word to a run.
#[derive(Debug, Clone)]
pub enum SignalVerb {
    Approve { node: Option<String> },
    Reject { node: Option<String> },
    Cancel,
    Resume,
}

/// What became of a signal.
#[derive(Debug, Clone)]
pub enum SignalAnswer {
    /// The log shows it; for a cancel the run has ended.
    Done { status: RunStatus, view: Box<RunView> },
    /// The log shows why it changed nothing.
    Refused { code: String, message: String },
    /// It is stored, and the owner has not answered in time.
    Queued { signal: String },
}

/// Where a viewer stands.
#[derive(Debug)]
pub enum Followed {
    /// New events, each durable.
    Events(Vec<Event>),
    /// Nothing new in the time given.
    Quiet,
    /// The run has ended or is parked, and its owner has left it.
    Rest,
    /// The owner is gone and the run is neither ended nor parked.
    Abandoned,
}

/// What folding a log gives.
#[derive(Debug, Clone)]
pub struct ReplayReport {
    pub run_id: String,
    pub events: u64,
    pub view: RunView,
    /// Names the folded state; the same log gives the same digest for ever.
    pub state_digest: String,
    /// `None` without a checkpoint.
    pub checkpoint_agrees: Option<bool>,
}

/// What a verification found.
#[derive(Debug, Clone)]
pub struct VerifyReport {
    pub run_id: String,
    pub ok: bool,
    pub events: u64,
    /// Up to before this seq a second witness confirms the log.
    pub witnessed: Option<u64>,
    pub unverified: bool,
    /// Each with its place and what it means.
    pub damages: Vec<String>,
    pub notes: Vec<String>,
}

/// One line of `doctor`.
#[derive(Debug, Clone)]
pub struct DoctorLine {
    pub name: String,
    pub verdict: DoctorVerdict,
    pub detail: String,
    /// The command that mends it.
    pub fix: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DoctorVerdict {
    Pass,
    Warn,
    Fail,
}

/// What recovery did to one run.
#[derive(Debug, Clone)]
pub struct Recovered {
    pub run_id: String,
    pub action: RecoveryAction,
}

#[derive(Debug, Clone)]
pub enum RecoveryAction {
    /// Recorded as failed (interrupted); `killed` leftover processes ended.
    Interrupted { killed: usize },
    /// A worker owns it again.
    Resumed,
    /// A worktree that was made for it is removed; it never came to be.
    WorktreeRemoved,
    /// Left as it is: why, and what to do.
    Left { code: Code, why: String, hint: Option<String> },
}

/// The live output of one attempt.
#[derive(Debug, Clone)]
pub struct OutputLog {
    pub node: String,
    pub attempt: u64,
    pub text: String,
}

/// What a node is, in the author's words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeSketch {
    /// What it runs or asks; empty when its type says all.
    pub what: String,
    /// The ways out of it, if there is a choice.
    pub ways: Vec<String>,
}

/// What the attempts in flight say, at one instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    pub asked_at: Timestamp,
    /// By node; one that has opened no file yet is absent.
    pub nodes: BTreeMap<String, NodeActivity>,
}

/// What one attempt has said so far, as its output file shows it: masked,
/// and cut where the file is full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeActivity {
    pub round: Round,
    pub attempt: u64,
    pub bytes: u64,
    /// When it last said something.
    pub said_at: Option<Timestamp>,
    /// As it was printed: escape it before a terminal gets it.
    pub last_line: String,
}

/// What a listener hears.
#[derive(Debug)]
pub enum Listened {
    /// New output, at least one piece.
    Pieces(Vec<OutputPiece>),
    /// Nothing new in the time given.
    Quiet,
    /// The run rests, and all of its output was told.
    Rest,
}

/// Some output of one attempt, in whole characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputPiece {
    pub node: String,
    pub round: Round,
    pub attempt: u64,
    /// Where it begins in the attempt's output, in bytes.
    pub offset: u64,
    pub text: String,
}

/// What the demo set up.
#[derive(Debug)]
pub struct Demo {
    pub prepared: Prepared,
    pub home: PathBuf,
    pub repository: PathBuf,
    pub blueprint: PathBuf,
}
