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
    AmbiguousRun,
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
        Self { code, message: message.into(), hint: None, details: Value::Null, findings: None }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
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
        let error = Self::new(code, message);
        match code {
            Code::DiskFull => error.hint("make room on the disk, then run the command again"),
            Code::InvalidBlueprint
            | Code::InvalidInput
            | Code::InvalidRequest
            | Code::FileNotFound
            | Code::AutomationNotFound
            | Code::RunNotFound
            | Code::NodeNotFound
            | Code::AmbiguousRun
            | Code::AmbiguousAutomation
            | Code::InvalidId
            | Code::WorkspaceMissing
            | Code::ProviderUnavailable
            | Code::ManagedCaller
            | Code::RunEnded
            | Code::RunOpen
            | Code::NotParked
            | Code::Undecided
            | Code::Conflict
            | Code::RunBusy
            | Code::DamagedLog
            | Code::UnverifiedLog
            | Code::TooNew
            | Code::ChangedGraph
            | Code::Store
            | Code::Worker
            | Code::OwnerSilent
            | Code::Internal => error,
        }
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
            Self::AmbiguousRun => "ambiguous_run",
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

    /// What a command exits with.
    pub fn exit(self) -> u8 {
        match self {
            Self::FileNotFound
            | Self::AutomationNotFound
            | Self::RunNotFound
            | Self::NodeNotFound
            | Self::WorkspaceMissing => 2,
            Self::DiskFull
            | Self::Store
            | Self::DamagedLog
            | Self::UnverifiedLog
            | Self::TooNew => 4,
            Self::AmbiguousRun | Self::AmbiguousAutomation => 5,
            Self::OwnerSilent => 7,
            Self::InvalidBlueprint
            | Self::InvalidInput
            | Self::InvalidRequest
            | Self::InvalidId
            | Self::ChangedGraph => 8,
            Self::ManagedCaller => 9,
            Self::RunEnded | Self::RunOpen | Self::NotParked | Self::Undecided | Self::Conflict => {
                13
            }
            Self::RunBusy => 75,
            Self::ProviderUnavailable | Self::Worker | Self::Internal => 1,
        }
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for HostError {}
