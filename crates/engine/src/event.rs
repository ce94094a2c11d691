//! The vocabulary: every fact that a run can record. A fact names all that
//! it changes, so that folding it needs no rules and an old log means the
//! same for ever.

mod about;

use std::sync::Arc;

use blueprint::{BlueprintId, Budget, NodeId, PortName, Repeat, StateOp};
use durable::version::Format;
use durable::{Attempt, Digest, Generation, Round, Seq, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::id::{RunId, SignalId};
use crate::proof::{CheckResult, Proof};
use crate::site::Site;
use crate::spending::{BudgetLimit, Usage};
use crate::work::NodeError;

/// The version of the log that this program writes.
pub const LOG_FORMAT: Format = Format { major: 1, minor: 0 };

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
        node: Site,
        attempt: Attempt,
        generation: Generation,
        /// Digest of the rendered work.
        work: Digest,
        deadline: Option<Timestamp>,
        repeat: Repeat,
        /// An agent does the work, which counts against the budget.
        agent: bool,
        /// The run that does the work, where it is a run of its own.
        child: Option<Arc<Child>>,
    },
    NodeCompleted {
        node: Site,
        attempt: Option<Attempt>,
        output: Arc<Value>,
    },
    DecisionCompleted {
        node: Site,
        attempt: Attempt,
        output: Arc<Value>,
        port: PortName,
    },
    BranchTaken {
        node: Site,
        port: PortName,
    },
    StateUpdated {
        node: Site,
        op: StateOp,
        entries: Map<String, Value>,
    },
    Notification {
        node: Site,
        message: String,
    },
    NodeSkipped {
        node: Site,
    },
    /// A definite failure, and the end of the node.
    NodeFailed {
        node: Site,
        attempt: Option<Attempt>,
        error: NodeError,
        /// Who goes on from here; without one the run fails.
        caught: Option<Caught>,
    },
    /// An attempt ended without success and the node will be tried again.
    AttemptFailed {
        node: Site,
        attempt: Attempt,
        error: NodeError,
        cause: AgainCause,
        /// The earliest moment of the next attempt; absent for at once.
        wake: Option<Timestamp>,
        /// The provider's own session, to be continued.
        session: Option<String>,
    },
    /// Nobody can tell what the attempt did. It is not tried again.
    AttemptUnknown {
        node: Site,
        attempt: Attempt,
        cause: UnknownCause,
        /// A stable word that says more than the cause, where whoever saw the
        /// attempt last has one.
        code: Option<String>,
        message: String,
        caught: Option<Caught>,
    },
    /// The attempt was stopped on request and its processes are gone.
    NodeCancelled {
        node: Site,
        attempt: Attempt,
    },
    /// A loop begins a round: what its body was goes, the outputs of the
    /// round before stay readable as the previous ones.
    LoopIteration {
        node: Site,
        /// From 0.
        iteration: Round,
        /// The most rounds, and the nodes inside; with the first round only.
        begin: Option<Arc<LoopBegin>>,
    },
    LoopCompleted {
        node: Site,
    },
    /// A `for_each` begins, with its items as they are from now on.
    ForEachStarted {
        node: Site,
        items: Arc<Vec<Value>>,
        /// The nodes inside.
        body: Arc<Vec<NodeId>>,
    },
    /// The body is over for one item.
    ItemCompleted {
        node: Site,
        index: u32,
        output: Arc<Value>,
    },
    ItemFailed {
        node: Site,
        index: u32,
        error: NodeError,
    },
    /// All items are over; the output is what became of each.
    ForEachCompleted {
        node: Site,
    },
    /// A `wait` begins.
    WaitStarted {
        node: Site,
        until: Timestamp,
    },
    /// What an attempt has used, as its provider tells.
    UsageReported {
        node: Site,
        attempt: Attempt,
        usage: Usage,
    },
    /// The provider's own session in which an attempt was made.
    SessionReported {
        node: Site,
        attempt: Attempt,
        session: String,
    },
    /// The attempt says that it has done its work, which is to be proven.
    NodeClaimed {
        node: Site,
        attempt: Attempt,
        output: Arc<Value>,
        /// The way out that the node takes then.
        port: PortName,
    },
    /// The intention to make the checks; they are made after this is durable.
    ProofStarted {
        node: Site,
        attempt: Attempt,
        /// Which asking it is, from 1.
        proof: Attempt,
        generation: Generation,
        /// Digest of the rendered checks.
        work: Digest,
        deadline: Option<Timestamp>,
    },
    /// The owner died while the checks were made; they are made again.
    ProofInterrupted {
        node: Site,
        attempt: Attempt,
    },
    /// What the checks say of the claim; the end of the attempt follows.
    ProofReported {
        node: Site,
        attempt: Attempt,
        proof: Proof,
        checks: Vec<CheckResult>,
    },
    /// Four fifths of a limit are spent.
    BudgetNotice {
        limit: BudgetLimit,
    },
    /// A limit is spent: no further work starts until someone resumes the
    /// run, which grants the budget once more.
    BudgetReached {
        limit: BudgetLimit,
    },
    /// The run is out of time.
    DeadlinePassed {
        deadline: Timestamp,
    },
    AwaitingApproval {
        node: Site,
        prompt: Option<String>,
    },
    ApprovalGranted {
        node: Site,
        actor: String,
        note: Option<String>,
        signal: SignalId,
    },
    ApprovalRejected {
        node: Site,
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
        node: Option<Site>,
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
    /// The run that this one was forked from, and after which of its events.
    pub fork_of: Option<(RunId, Seq)>,
    /// The attempt of another run that this one carries out.
    pub parent: Option<Box<Parent>>,
    /// When the run must be over.
    pub deadline: Option<Timestamp>,
    /// What the run may spend.
    pub budget: Budget,
}

/// The attempt on whose behalf a run works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    pub blueprint_id: BlueprintId,
    pub run_id: RunId,
    pub node: Site,
    pub round: Round,
    pub attempt: Attempt,
}

/// A run that carries out an attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Child {
    pub run_id: RunId,
    pub automation: BlueprintId,
    pub input: Value,
}

/// What a loop is from its first round on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopBegin {
    pub most: u64,
    pub body: Vec<NodeId>,
}

/// Who goes on from a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caught {
    /// The node's own way out `error`.
    Port,
    /// The item of a `for_each`, which notes the failure.
    Item,
    /// The container, which fails itself and has a way out for that.
    Container,
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
    /// The reply could not be used; one corrective turn follows.
    Correction,
    /// The limit of its provider is reached; it goes on when that is over,
    /// and the attempt does not count.
    Limit,
    /// It failed, and is tried again after a while.
    Retry,
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
    Limit => "limit",
    Retry => "retry",
});

words!(Caught {
    Port => "port",
    Item => "item",
    Container => "container",
});
