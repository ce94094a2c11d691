//! The plain-data face of the host: what is asked, what is answered, in the
//! reader's terms. Types of the crates below that a reader needs are named
//! here, so that nothing outside needs those crates. Pure.

pub mod error;
pub mod input;
pub mod json;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

pub use blueprint::{Finding, Rule, Severity};
pub use durable::{Span, Timestamp};
pub use engine::event::{Event, Fact, FailReason};
pub use engine::retry::Verdict;
pub use engine::state::{NodeStatus, RunStatus};
pub use engine::view::{Look, NodeView, RunView, look, node_icon};
pub use error::{Code, HostError};

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
}

/// A run that has a worker.
#[derive(Debug, Clone)]
pub struct Launched {
    pub run_id: String,
    pub blueprint_id: String,
    pub run_dir: PathBuf,
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
    /// The shortest text that names the run in this home.
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
    /// Open, not parked, and no owner is alive.
    pub ownerless: bool,
    /// The log has no hashes: it was written by the reference.
    pub unverified: bool,
    /// Bytes of a torn last write that the next owner will move aside.
    pub torn_bytes: u64,
    /// The run that this one tries again, and those that try it again.
    pub retried_as: Vec<String>,
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

/// What the demo set up.
#[derive(Debug, Clone)]
pub struct Demo {
    pub launched: Launched,
    pub home: PathBuf,
    pub repository: PathBuf,
    pub blueprint: PathBuf,
}
