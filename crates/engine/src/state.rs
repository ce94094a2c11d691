//! The state of a run: what the log so far says. Everything here is a fold
//! of events; nothing is inferred from the program.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use blueprint::{NodeId, PortName, Repeat};
use durable::{Attempt, Generation, Seq, Timestamp};
use serde_json::{Map, Value};

use crate::event::{FailReason, RunStarted, SignalId, words};
use crate::work::NodeError;

/// A run at one event.
#[derive(Debug, Clone, PartialEq)]
pub struct RunState {
    /// What the run is; `None` before `run_started`, and for ever in the
    /// record of a launch that failed.
    pub started: Option<Arc<RunStarted>>,
    pub started_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
    /// The owner that wrote last.
    pub generation: Generation,
    /// Nodes that something happened to; a node that is absent is pending.
    pub nodes: BTreeMap<NodeId, NodeState>,
    /// The run's own storage, an object.
    pub storage: Value,
    /// The run's id as templates read it.
    pub run_id: Value,
    /// Nodes with an attempt in flight.
    pub in_flight: BTreeSet<NodeId>,
    /// Gates that wait for a decision.
    pub waiting: BTreeSet<NodeId>,
    /// Signals already answered.
    pub signals: BTreeSet<SignalId>,
    /// Set once someone asked to cancel.
    pub cancel: Option<Cancel>,
    /// The first thing that made success impossible.
    pub failure: Option<Failure>,
    pub closed: Option<Closed>,
    pub next_seq: Seq,
}

/// A node at one event.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeState {
    pub status: NodeStatus,
    /// Attempts started so far; 0 for a node that never needs one.
    pub attempt: Attempt,
    pub in_flight: Option<InFlight>,
    pub output: Option<Arc<Value>>,
    pub port: Option<PortName>,
    pub error: Option<NodeError>,
    /// What templates read as `nodes.<id>.error`.
    pub error_value: Option<Value>,
    /// What the person at the gate was shown.
    pub prompt: Option<String>,
    /// The provider's own session of the last attempt, to be continued.
    pub session: Option<String>,
    /// Set when the next attempt is a corrective turn.
    pub correction: Option<String>,
    pub started_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
}

/// What is known of an attempt that has started and not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InFlight {
    pub generation: Generation,
    pub deadline: Option<Timestamp>,
    pub repeat: Repeat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeStatus {
    Pending,
    Running,
    Waiting,
    Completed,
    Failed,
    Skipped,
    Cancelled,
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStatus {
    Running,
    AwaitingApproval,
    Waiting,
    Completed,
    Failed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cancel {
    pub actor: String,
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub reason: FailReason,
    pub node: Option<NodeId>,
    pub message: String,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    pub at: Timestamp,
    /// `None` for success.
    pub failure: Option<Failure>,
}

impl RunState {
    /// A run before its first event.
    pub fn fresh() -> Self {
        Self {
            started: None,
            started_at: None,
            updated_at: None,
            generation: Generation(0),
            nodes: BTreeMap::new(),
            storage: Value::Object(Map::new()),
            run_id: Value::Null,
            in_flight: BTreeSet::new(),
            waiting: BTreeSet::new(),
            signals: BTreeSet::new(),
            cancel: None,
            failure: None,
            closed: None,
            next_seq: Seq::FIRST,
        }
    }

    pub fn status(&self) -> RunStatus {
        match &self.closed {
            Some(Closed { failure: Some(_), .. }) => RunStatus::Failed,
            Some(Closed { failure: None, .. }) => RunStatus::Completed,
            None if self.is_parked() => RunStatus::AwaitingApproval,
            None => RunStatus::Running,
        }
    }

    /// Nothing in flight and something to wait for: such a run needs no
    /// owner.
    pub fn is_parked(&self) -> bool {
        self.closed.is_none()
            && self.failure.is_none()
            && self.in_flight.is_empty()
            && !self.waiting.is_empty()
    }

    /// Whether nobody knows what some attempt did.
    pub fn has_unknown_effect(&self) -> bool {
        self.nodes.values().any(|node| node.status == NodeStatus::Unknown)
    }

    pub fn node(&self, id: &NodeId) -> Option<&NodeState> {
        self.nodes.get(id)
    }

    pub fn node_status(&self, id: &NodeId) -> NodeStatus {
        self.nodes.get(id).map_or(NodeStatus::Pending, |node| node.status)
    }
}

impl NodeState {
    pub(crate) fn pending() -> Self {
        Self {
            status: NodeStatus::Pending,
            attempt: Attempt(0),
            in_flight: None,
            output: None,
            port: None,
            error: None,
            error_value: None,
            prompt: None,
            session: None,
            correction: None,
            started_at: None,
            ended_at: None,
        }
    }
}

impl NodeStatus {
    /// Whether nothing more will happen to the node.
    pub fn is_settled(self) -> bool {
        match self {
            Self::Pending | Self::Running | Self::Waiting => false,
            Self::Completed | Self::Failed | Self::Skipped | Self::Cancelled | Self::Unknown => {
                true
            }
        }
    }
}

words!(NodeStatus {
    Pending => "pending",
    Running => "running",
    Waiting => "waiting",
    Completed => "completed",
    Failed => "failed",
    Skipped => "skipped",
    Cancelled => "cancelled",
    Unknown => "unknown",
});

words!(RunStatus {
    Running => "running",
    AwaitingApproval => "awaiting_approval",
    Waiting => "waiting",
    Completed => "completed",
    Failed => "failed",
});
