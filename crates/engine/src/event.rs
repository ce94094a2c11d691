//! The vocabulary: every fact that a run can record. A fact names all that
//! it changes, so that folding it needs no rules and an old log means the
//! same for ever.

use std::fmt;
use std::sync::Arc;

use blueprint::{BlueprintId, NodeId, PortName, Repeat, StateOp};
use durable::version::Format;
use durable::{Attempt, Component, ComponentError, Digest, Generation, Seq, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::work::NodeError;

/// The version of the log that this program writes.
pub const LOG_FORMAT: Format = Format { major: 1, minor: 0 };

/// The id of a run; it names the run's folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(Component);

/// The id of a signal; it names the signal's file in the run's inbox.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SignalId(Component);

/// One fact at its place in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub seq: Seq,
    pub at: Timestamp,
    pub fact: Fact,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    RunStarted(Box<RunStarted>),
    /// A new owner has the run. `cut` counts the bytes of a torn last write
    /// that it moved aside, 0 when the log was whole. In a run that tries
    /// another again the first one ends what it keeps of the other.
    RunAdopted {
        generation: Generation,
        cut: u64,
    },
    /// Someone asked a parked run to look again.
    RunResumed {
        actor: String,
        signal: SignalId,
    },
    /// The intention to start an attempt; the attempt starts after this is
    /// durable.
    NodeStarted {
        node: NodeId,
        attempt: Attempt,
        generation: Generation,
        /// Digest of the rendered work.
        work: Digest,
        deadline: Option<Timestamp>,
        repeat: Repeat,
    },
    NodeCompleted {
        node: NodeId,
        attempt: Option<Attempt>,
        output: Arc<Value>,
    },
    DecisionCompleted {
        node: NodeId,
        attempt: Attempt,
        output: Arc<Value>,
        port: PortName,
    },
    BranchTaken {
        node: NodeId,
        port: PortName,
    },
    StateUpdated {
        node: NodeId,
        op: StateOp,
        entries: Map<String, Value>,
    },
    Notification {
        node: NodeId,
        message: String,
    },
    NodeSkipped {
        node: NodeId,
    },
    /// A definite failure, and the end of the node.
    NodeFailed {
        node: NodeId,
        attempt: Option<Attempt>,
        error: NodeError,
    },
    /// An attempt ended without success and the node will be tried again.
    AttemptFailed {
        node: NodeId,
        attempt: Attempt,
        error: NodeError,
        cause: AgainCause,
        /// The provider's own session, to be continued.
        session: Option<String>,
    },
    /// Nobody can tell what the attempt did. It is not tried again.
    AttemptUnknown {
        node: NodeId,
        attempt: Attempt,
        cause: UnknownCause,
        message: String,
    },
    /// The attempt was stopped on request and its processes are gone.
    NodeCancelled {
        node: NodeId,
        attempt: Attempt,
    },
    AwaitingApproval {
        node: NodeId,
        prompt: Option<String>,
    },
    ApprovalGranted {
        node: NodeId,
        actor: String,
        note: Option<String>,
        signal: SignalId,
    },
    ApprovalRejected {
        node: NodeId,
        actor: String,
        note: Option<String>,
        signal: SignalId,
    },
    CancelRequested {
        actor: String,
        note: Option<String>,
        signal: SignalId,
    },
    /// A signal that changes nothing, and why.
    SignalRefused {
        signal: SignalId,
        verb: String,
        actor: String,
        code: String,
        message: String,
    },
    RunCompleted,
    RunFailed {
        reason: FailReason,
        error: String,
        node: Option<NodeId>,
    },
}

/// What a run is and what it was given.
#[derive(Debug, Clone, PartialEq)]
pub struct RunStarted {
    pub run_id: RunId,
    pub blueprint_id: BlueprintId,
    /// The content hash of the graph; absent in the oldest logs.
    pub blueprint_hash: Option<Digest>,
    pub schema: u32,
    /// What templates read as `trigger.output`.
    pub trigger: Arc<Value>,
    pub format: Format,
    pub generation: Generation,
    /// Digests of the bytes of `blueprint.json` and `invocation.json`.
    pub blueprint_digest: Option<Digest>,
    pub invocation_digest: Option<Digest>,
    /// For whom the run works; never read from its input.
    pub principal: Option<String>,
    pub retry_of: Option<RunId>,
}

/// Why a run failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailReason {
    Error,
    Rejected,
    Cancelled,
    Interrupted,
    Deadline,
    Launch,
    Stalled,
    Contradicted,
}

/// Why nobody can tell what an attempt did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownCause {
    /// The owner of the run died while it was in flight.
    Interrupted,
    /// It ran past its time and was ended.
    Timeout,
    /// Its end was not observed, or its answer was lost.
    Lost,
}

/// Why a node is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgainCause {
    /// The owner died; the author declared the node safe to repeat.
    Interrupted,
    /// The reply named no choice; one corrective turn follows.
    Correction,
}

impl RunId {
    pub fn new(text: &str) -> Result<Self, ComponentError> {
        Component::new(text).map(Self)
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl SignalId {
    pub fn new(text: &str) -> Result<Self, ComponentError> {
        Component::new(text).map(Self)
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Display for SignalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Fact {
    /// The kind as logs, scripts and people write it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::RunStarted(_) => "run_started",
            Self::RunAdopted { .. } => "run_adopted",
            Self::RunResumed { .. } => "run_resumed",
            Self::NodeStarted { .. } => "node_started",
            Self::NodeCompleted { .. } => "node_completed",
            Self::DecisionCompleted { .. } => "decision_completed",
            Self::BranchTaken { .. } => "branch_taken",
            Self::StateUpdated { .. } => "state_updated",
            Self::Notification { .. } => "notification",
            Self::NodeSkipped { .. } => "node_skipped",
            Self::NodeFailed { .. } => "node_failed",
            Self::AttemptFailed { .. } => "attempt_failed",
            Self::AttemptUnknown { .. } => "attempt_unknown",
            Self::NodeCancelled { .. } => "node_cancelled",
            Self::AwaitingApproval { .. } => "awaiting_approval",
            Self::ApprovalGranted { .. } => "approval_granted",
            Self::ApprovalRejected { .. } => "approval_rejected",
            Self::CancelRequested { .. } => "cancel_requested",
            Self::SignalRefused { .. } => "signal_refused",
            Self::RunCompleted => "run_completed",
            Self::RunFailed { .. } => "run_failed",
        }
    }

    /// The node that the fact is about, if it is about one.
    pub fn node(&self) -> Option<&NodeId> {
        match self {
            Self::NodeStarted { node, .. }
            | Self::NodeCompleted { node, .. }
            | Self::DecisionCompleted { node, .. }
            | Self::BranchTaken { node, .. }
            | Self::StateUpdated { node, .. }
            | Self::Notification { node, .. }
            | Self::NodeSkipped { node }
            | Self::NodeFailed { node, .. }
            | Self::AttemptFailed { node, .. }
            | Self::AttemptUnknown { node, .. }
            | Self::NodeCancelled { node, .. }
            | Self::AwaitingApproval { node, .. }
            | Self::ApprovalGranted { node, .. }
            | Self::ApprovalRejected { node, .. } => Some(node),
            Self::RunFailed { node, .. } => node.as_ref(),
            Self::RunStarted(_)
            | Self::RunAdopted { .. }
            | Self::RunResumed { .. }
            | Self::CancelRequested { .. }
            | Self::SignalRefused { .. }
            | Self::RunCompleted => None,
        }
    }

    /// The signal that the fact answers, if it answers one.
    pub fn signal(&self) -> Option<&SignalId> {
        match self {
            Self::RunResumed { signal, .. }
            | Self::ApprovalGranted { signal, .. }
            | Self::ApprovalRejected { signal, .. }
            | Self::CancelRequested { signal, .. }
            | Self::SignalRefused { signal, .. } => Some(signal),
            Self::RunStarted(_)
            | Self::RunAdopted { .. }
            | Self::NodeStarted { .. }
            | Self::NodeCompleted { .. }
            | Self::DecisionCompleted { .. }
            | Self::BranchTaken { .. }
            | Self::StateUpdated { .. }
            | Self::Notification { .. }
            | Self::NodeSkipped { .. }
            | Self::NodeFailed { .. }
            | Self::AttemptFailed { .. }
            | Self::AttemptUnknown { .. }
            | Self::NodeCancelled { .. }
            | Self::AwaitingApproval { .. }
            | Self::RunCompleted
            | Self::RunFailed { .. } => None,
        }
    }
}

/// Words that logs and JSON use, both ways.
macro_rules! words {
    ($name:ident { $($variant:ident => $word:literal),+ $(,)? }) => {
        impl $name {
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }

            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.word() == word)
            }
        }
    };
}
pub(crate) use words;

words!(FailReason {
    Error => "error",
    Rejected => "rejected",
    Cancelled => "cancelled",
    Interrupted => "interrupted",
    Deadline => "deadline",
    Launch => "launch",
    Stalled => "stalled",
    Contradicted => "contradicted",
});

words!(UnknownCause {
    Interrupted => "interrupted",
    Timeout => "timeout",
    Lost => "lost",
});

words!(AgainCause {
    Interrupted => "interrupted",
    Correction => "correction",
});
