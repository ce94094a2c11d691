//! A run as people and programs see it: plain data. Here is the one table of
//! status and reason to exit code, word and icon, for the command line, the
//! web and evidence alike.

use blueprint::{NodeId, Program};
use durable::{Attempt, Timestamp};
use serde_json::Value;

use crate::event::FailReason;
use crate::state::{Failure, NodeState, NodeStatus, RunState, RunStatus};
use crate::work::NodeError;

/// A run at one event.
#[derive(Debug, Clone, PartialEq)]
pub struct RunView {
    pub run_id: Option<String>,
    pub blueprint_id: Option<String>,
    pub name: String,
    pub status: RunStatus,
    pub failure: Option<Failure>,
    /// Some attempt's effect is not known.
    pub unknown_effect: bool,
    pub started_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
    pub retry_of: Option<String>,
    pub next_seq: u64,
    /// In the order of the blueprint.
    pub nodes: Vec<NodeView>,
    pub storage: Value,
    pub trigger: Option<Value>,
}

/// A node at one event.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeView {
    pub id: NodeId,
    pub name: String,
    pub status: NodeStatus,
    pub attempt: Attempt,
    pub port: Option<String>,
    pub output: Option<Value>,
    pub error: Option<NodeError>,
    pub prompt: Option<String>,
    pub started_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
}

/// How a state of a run looks and what it exits with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// What a command that waited for the run exits with.
    pub exit: u8,
    pub icon: &'static str,
    /// The icon where only ASCII can be shown.
    pub ascii: &'static str,
}

impl RunView {
    pub fn of(program: &Program, state: &RunState) -> Self {
        let nodes = program.nodes().iter();
        Self {
            name: program.name().to_owned(),
            nodes: nodes.map(|node| node_view(&node.id, &node.name, state)).collect(),
            ..Self::bare(state)
        }
    }

    fn bare(state: &RunState) -> Self {
        let started = state.started.as_deref();
        Self {
            run_id: started.map(|started| started.run_id.to_string()),
            blueprint_id: started.map(|started| started.blueprint_id.to_string()),
            name: String::new(),
            status: state.status(),
            failure: state.closed.as_ref().and_then(|closed| closed.failure.clone()),
            unknown_effect: state.has_unknown_effect(),
            started_at: state.started_at,
            updated_at: state.updated_at,
            retry_of: started.and_then(|s| s.retry_of.as_ref()).map(ToString::to_string),
            next_seq: state.next_seq.0,
            nodes: Vec::new(),
            storage: state.storage.clone(),
            trigger: started.map(|started| (*started.trigger).clone()),
        }
    }

    /// A run whose graph cannot be read: the nodes that the log names, in the
    /// order of their names.
    pub fn without_program(state: &RunState) -> Self {
        let started = state.started.as_deref();
        let node = |id: &NodeId| node_view(id, id.as_str(), state);
        Self {
            name: started.map(|started| started.blueprint_id.to_string()).unwrap_or_default(),
            nodes: state.nodes.keys().map(node).collect(),
            ..Self::bare(state)
        }
    }

    pub fn reason(&self) -> Option<FailReason> {
        self.failure.as_ref().map(|failure| failure.reason)
    }

    pub fn look(&self) -> Look {
        look(self.status, self.reason(), self.unknown_effect)
    }
}

fn node_view(id: &NodeId, name: &str, state: &RunState) -> NodeView {
    let node = state.node(id);
    let field = |get: fn(&NodeState) -> Option<Timestamp>| node.and_then(get);
    NodeView {
        id: id.clone(),
        name: name.to_owned(),
        status: shown_status(node, state.closed.is_some()),
        attempt: node.map_or(Attempt(0), |node| node.attempt),
        port: node.and_then(|node| node.port.as_ref()).map(ToString::to_string),
        output: node.and_then(|node| node.output.as_deref()).cloned(),
        error: node.and_then(|node| node.error.clone()),
        prompt: node.and_then(|node| node.prompt.clone()),
        started_at: field(|node| node.started_at),
        ended_at: field(|node| node.ended_at),
    }
}

/// A gate that nobody will decide any more does not wait.
fn shown_status(node: Option<&NodeState>, closed: bool) -> NodeStatus {
    let status = node.map_or(NodeStatus::Pending, |node| node.status);
    if closed && status == NodeStatus::Waiting { NodeStatus::Cancelled } else { status }
}

/// The table. An outcome that nobody knows outweighs its reason.
pub fn look(status: RunStatus, reason: Option<FailReason>, unknown_effect: bool) -> Look {
    let look = |exit, icon, ascii| Look { exit, icon, ascii };
    match (status, reason) {
        (RunStatus::Running, _) => look(0, "▶", ">"),
        (RunStatus::AwaitingApproval, _) => look(11, "◆", "?"),
        (RunStatus::Waiting, _) => look(11, "◷", "~"),
        (RunStatus::Completed, _) => look(0, "✓", "+"),
        (RunStatus::Failed, _) if unknown_effect => look(12, "‽", "!"),
        (RunStatus::Failed, Some(FailReason::Cancelled)) => look(10, "⊘", "-"),
        (RunStatus::Failed, Some(FailReason::Launch)) => look(1, "✗", "x"),
        (
            RunStatus::Failed,
            Some(
                FailReason::Error
                | FailReason::Rejected
                | FailReason::Interrupted
                | FailReason::Deadline
                | FailReason::Stalled
                | FailReason::Contradicted,
            )
            | None,
        ) => look(10, "✗", "x"),
    }
}

/// The icon of a node, and where only ASCII can be shown.
pub fn node_icon(status: NodeStatus) -> (&'static str, &'static str) {
    match status {
        NodeStatus::Pending => ("·", "."),
        NodeStatus::Running => ("▶", ">"),
        NodeStatus::Waiting => ("◆", "?"),
        NodeStatus::Completed => ("✓", "+"),
        NodeStatus::Failed => ("✗", "x"),
        NodeStatus::Skipped => ("–", "-"),
        NodeStatus::Cancelled => ("⊘", "-"),
        NodeStatus::Unknown => ("‽", "!"),
    }
}
