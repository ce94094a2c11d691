//! Every way in which the host refuses: a code that never changes, a message
//! for people, the next step, and what a program may want to know. Pure.

use std::fmt;

use serde_json::Value;

/// The stable word for what went wrong, and with it the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    InvalidBlueprint,
    InvalidInput,
    InvalidRequest,
    FileNotFound,
    AutomationNotFound,
    RunNotFound,
    NodeNotFound,
    WorkerNotFound,
    AmbiguousRun,
    AmbiguousWorker,
    AmbiguousAutomation,
    InvalidId,
    WorkspaceMissing,
    ProviderUnavailable,
    ManagedCaller,
    RunEnded,
    RunOpen,
    NotParked,
    Undecided,
    Conflict,
    RunBusy,
    WorkspaceBusy,
    NoWorktree,
    Unmerged,
    DirtyTarget,
    DoesNotApply,
    Git,
    DamagedLog,
    UnverifiedLog,
    TooNew,
    ChangedGraph,
    DiskFull,
    Store,
    Worker,
    OwnerSilent,
    Internal,
}

/// A refusal.
#[derive(Debug)]
pub struct HostError {
    pub code: Code,
    pub message: String,
    pub hint: Option<String>,
    pub details: Value,
    /// Findings of an invalid blueprint, with its source.
    pub findings: Option<Box<super::CheckedSource>>,
}

impl HostError {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let hint = Some(code.next_step().to_owned());
        Self { code, message: message.into(), hint, details: Value::Null, findings: None }
    }

    /// A better next step than the one that the code has for everybody.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same, where only the code has had a say.
    #[must_use]
    pub(crate) fn or_hint(self, hint: &str) -> Self {
        let is_default = self.hint.as_deref() == Some(self.code.next_step());
        if is_default { self.hint(hint) } else { self }
    }

    #[must_use]
    pub fn details(mut self, details: Value) -> Self {
        self.details = details;
        self
    }

    /// A fault of ours or of the machine, with the whole chain of causes.
    pub fn from_fault(code: Code, what: &str, fault: &dyn std::error::Error) -> Self {
        let mut message = format!("{what}: {fault}");
        let mut source = fault.source();
        let mut code = code;
        while let Some(cause) = source {
            let text = cause.to_string();
            if !message.contains(&text) {
                message.push_str(&format!(": {text}"));
            }
            if let Some(io) = cause.downcast_ref::<std::io::Error>()
                && io.kind() == std::io::ErrorKind::StorageFull
            {
                code = Code::DiskFull;
            }
            source = cause.source();
        }
        Self::new(code, message)
    }
}

impl Code {
    pub fn word(self) -> &'static str {
        match self {
            Self::InvalidBlueprint => "invalid_blueprint",
            Self::InvalidInput => "invalid_input",
            Self::InvalidRequest => "invalid_request",
            Self::FileNotFound => "file_not_found",
            Self::AutomationNotFound => "automation_not_found",
            Self::RunNotFound => "run_not_found",
            Self::NodeNotFound => "node_not_found",
            Self::WorkerNotFound => "worker_not_found",
            Self::AmbiguousRun => "ambiguous_run",
            Self::AmbiguousWorker => "ambiguous_worker",
            Self::AmbiguousAutomation => "ambiguous_automation",
            Self::InvalidId => "invalid_id",
            Self::WorkspaceMissing => "workspace_missing",
            Self::ProviderUnavailable => "provider_unavailable",
            Self::ManagedCaller => "managed_caller",
            Self::RunEnded => "run_ended",
            Self::RunOpen => "run_open",
            Self::NotParked => "not_parked",
            Self::Undecided => "undecided",
            Self::Conflict => "conflict",
            Self::RunBusy => "run_busy",
            Self::WorkspaceBusy => "workspace_busy",
            Self::NoWorktree => "no_worktree",
            Self::Unmerged => "unmerged_changes",
            Self::DirtyTarget => "dirty_target",
            Self::DoesNotApply => "does_not_apply",
            Self::Git => "git_failed",
            Self::DamagedLog => "damaged_log",
            Self::UnverifiedLog => "unverified_log",
            Self::TooNew => "format_too_new",
            Self::ChangedGraph => "changed_graph",
            Self::DiskFull => "disk_full",
            Self::Store => "store_unavailable",
            Self::Worker => "worker_failed",
            Self::OwnerSilent => "owner_not_answering",
            Self::Internal => "internal",
        }
    }

    /// What to do, when nothing better is known.
    pub fn next_step(self) -> &'static str {
        match self {
            Self::InvalidBlueprint => "`wardian automation validate FILE` shows what is wrong",
            Self::InvalidInput => "pass the input with --input '{…}' or --input @FILE",
            Self::InvalidRequest | Self::InvalidId => "`wardian help` shows what can be asked",
            Self::FileNotFound => "name a file that exists",
            Self::AutomationNotFound | Self::AmbiguousAutomation => {
                "`wardian automation list` shows the automations of the library"
            }
            Self::RunNotFound | Self::AmbiguousRun => {
                "`wardian run list` shows the runs of this home"
            }
            Self::WorkerNotFound | Self::AmbiguousWorker => {
                "`wardian workers list` shows the attempts of this home"
            }
            Self::NodeNotFound => "`wardian run show ID` lists the nodes of a run",
            Self::WorkspaceMissing => "name an existing folder with --workspace",
            Self::ProviderUnavailable => "`--provider scripted --script FILE` needs no agent",
            Self::ManagedCaller => "a person decides this, in a terminal that no run has started",
            Self::RunEnded | Self::RunOpen | Self::NotParked | Self::Undecided | Self::Conflict => {
                "`wardian run show ID` says how the run stands"
            }
            Self::RunBusy => "try again in a moment",
            Self::WorkspaceBusy => "add `--isolation worktree` to work beside the other run",
            Self::NoWorktree => "`wardian worktree list` shows the worktrees of this home",
            Self::Unmerged => "`wardian run changes ID` shows them; --force throws them away",
            Self::DirtyTarget => "commit or stash the changes there, then try again",
            Self::DoesNotApply => "merge the branch of the run by hand",
            Self::Git => "`git status` in the checkout may say what is wrong",
            Self::DamagedLog => "`wardian run verify ID` says how far the log is good",
            Self::UnverifiedLog => "it can be read; start the automation anew to run it",
            Self::TooNew => "use the release that wrote it, or a newer one",
            Self::ChangedGraph => "restore the run's folder from a backup",
            Self::DiskFull => "make room on the disk, then run the command again",
            Self::Store => "`wardian doctor` looks at the home and says what is wrong",
            Self::Worker => "`worker.log` in the run's folder may say more",
            Self::OwnerSilent => "`wardian run show ID` says whether the run goes on",
            Self::Internal => "this is a fault of wardian; `wardian doctor` may show its cause",
        }
    }

    /// What a command exits with.
    pub fn exit(self) -> u8 {
        match self {
            Self::FileNotFound
            | Self::AutomationNotFound
            | Self::RunNotFound
            | Self::NodeNotFound
            | Self::WorkerNotFound
            | Self::WorkspaceMissing
            | Self::NoWorktree => 2,
            Self::DiskFull
            | Self::Store
            | Self::DamagedLog
            | Self::UnverifiedLog
            | Self::TooNew => 4,
            Self::AmbiguousRun | Self::AmbiguousAutomation | Self::AmbiguousWorker => 5,
            Self::OwnerSilent => 7,
            Self::InvalidBlueprint
            | Self::InvalidInput
            | Self::InvalidRequest
            | Self::InvalidId
            | Self::ChangedGraph => 8,
            Self::ManagedCaller => 9,
            Self::RunEnded
            | Self::RunOpen
            | Self::NotParked
            | Self::Undecided
            | Self::Conflict
            | Self::Unmerged
            | Self::DirtyTarget
            | Self::DoesNotApply => 13,
            Self::RunBusy | Self::WorkspaceBusy => 75,
            Self::ProviderUnavailable | Self::Worker | Self::Internal | Self::Git => 1,
        }
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for HostError {}
