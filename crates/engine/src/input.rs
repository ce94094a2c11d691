//! All that can reach a run.

use blueprint::Budget;
use durable::{Digest, Generation, Seq, Timestamp};
use serde_json::Value;

use crate::event::Parent;
use crate::id::{RunId, SignalId};
use crate::proof::Finding;
use crate::site::Site;
use crate::spending::Usage;
use crate::work::{AttemptKey, NodeError};

#[derive(Debug, Clone)]
pub enum Input {
    /// Begins a run that has no log yet.
    Launch(Box<Launch>),
    /// A new owner has opened a run that has a log, after moving `cut` bytes
    /// of a torn last write aside.
    Opened {
        cut: u64,
    },
    /// The batch that was asked for is durable, up to before `next`.
    Appended {
        next: Seq,
    },
    /// An attempt ended, as seen by whoever performed it.
    Outcome {
        key: AttemptKey,
        generation: Generation,
        outcome: Outcome,
    },
    Signal(Signal),
    /// Time has passed.
    Tick,
}

/// What a run is given at its start.
#[derive(Debug, Clone)]
pub struct Launch {
    pub run_id: RunId,
    /// The input as the invoker gave it.
    pub input: Value,
    pub blueprint_digest: Digest,
    pub invocation_digest: Digest,
    pub principal: Option<String>,
    /// The run that this one tries again, and the facts kept from it.
    pub retry: Option<Box<crate::retry::Kept>>,
    /// The attempt on whose behalf the run works, and what that allows it.
    pub parent: Option<Parent>,
    pub deadline: Option<Timestamp>,
    pub budget: Budget,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It did what it was asked and this is the output.
    Output(Value),
    /// An agent's whole answer, with its session when it has one.
    Replied { text: String, session: Option<String>, usage: Option<Box<Usage>> },
    /// A run that worked for it has ended.
    Ended { end: Result<Value, NodeError>, usage: Option<Box<Usage>> },
    /// What each probe of a claim found, in their order.
    Proved(Vec<Finding>),
    /// It failed and that was observed.
    Failed(NodeError),
    /// Nobody can tell what it did.
    Lost { message: String },
    /// It was stopped as asked; its processes are gone.
    Stopped,
    /// It ended so without an answer, and had used this until then.
    Used { usage: Box<Usage>, end: Box<Self> },
}

impl Outcome {
    /// The same, with what was used on the way, where anything is known of it.
    pub fn having_used(self, usage: Usage) -> Self {
        if usage == Usage::default() {
            return self;
        }
        Self::Used { usage: Box::new(usage), end: Box::new(self) }
    }
}

/// A word to the owner of a run, from a person or a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signal {
    pub id: SignalId,
    pub verb: Verb,
    /// The operating system's user, or a token's name. Never an argument.
    pub actor: String,
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verb {
    /// Grants a gate; without a node, the only one that waits.
    Approve {
        node: Option<Site>,
    },
    Reject {
        node: Option<Site>,
    },
    Cancel,
    Resume,
    /// A caller inside a run tried a verb that only people have.
    Denied {
        verb: String,
    },
}

impl Verb {
    pub fn word(&self) -> &str {
        match self {
            Self::Approve { .. } => "approve",
            Self::Reject { .. } => "reject",
            Self::Cancel => "cancel",
            Self::Resume => "resume",
            Self::Denied { verb } => verb,
        }
    }
}
