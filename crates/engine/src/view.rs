//! A run as people and programs see it: plain data. Here is the one table of
//! status and reason to exit code, word and icon, for the command line, the
//! web and evidence alike.

use blueprint::{NodeIx, Program};
use durable::{Attempt, Round, Timestamp};
use serde_json::Value;

use crate::container::Container;
use crate::event::{AgainCause, FailReason};
use crate::proof::{CheckResult, Proof};
use crate::site::Site;
use crate::spending::BudgetLimit;
use crate::spending::Spending;
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
    /// A failure was caught on the way.
    pub degraded: bool,
    /// The limit for which the run waits until someone resumes it.
    pub held: Option<BudgetLimit>,
    /// Something waits until the limit of a provider is over.
    pub waits_for_limit: bool,
    /// The weakest proof of what its nodes claim, if any claims anything.
    pub proof: Option<Proof>,
    pub spending: Spending,
    pub deadline: Option<Timestamp>,
    /// The next moment at which something is due.
    pub wake_at: Option<Timestamp>,
    pub started_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
    pub retry_of: Option<String>,
    pub fork_of: Option<String>,
    /// The run that this one works for.
    pub parent: Option<String>,
    pub next_seq: u64,
    /// In the order of the blueprint; what is inside of a `for_each` stands
    /// behind it, once for each item under way.
    pub nodes: Vec<NodeView>,
    pub storage: Value,
    pub trigger: Option<Value>,
}

/// A node at one event.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeView {
    /// The site as text: a node, and its item inside of a `for_each`.
    pub id: String,
    pub name: String,
    /// The container in which it stands.
    pub parent: Option<String>,
    pub status: NodeStatus,
    pub attempt: Attempt,
    /// The round of its loop.
    pub round: Round,
    /// How far a container has come.
    pub progress: Option<Progress>,
    /// What it waits for, if that is a moment.
    pub wake: Option<Timestamp>,
    /// Why it is to be tried again, if it is.
    pub again: Option<AgainCause>,
    /// How what it says of itself stands, and what was checked.
    pub proof: Option<Proof>,
    pub checks: Vec<CheckResult>,
    /// The run that does its work.
    pub child: Option<String>,
    pub port: Option<String>,
    pub output: Option<Value>,
    pub error: Option<NodeError>,
    pub prompt: Option<String>,
    pub started_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
}

impl NodeView {
    /// The run that works for it now.
    pub fn open_child(&self) -> Option<&str> {
        self.child.as_deref().filter(|_| self.status == NodeStatus::Waiting)
    }

    /// Whether it waits for a person's decision.
    pub fn is_open_gate(&self) -> bool {
        self.status == NodeStatus::Waiting && self.wake.is_none() && self.child.is_none()
    }
}

/// How far a container has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The round under way, from 1, and the most there can be.
    Rounds {
        round: u64,
        most: u64,
    },
    Items {
        done: usize,
        failed: usize,
        count: usize,
    },
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
        let nodes = program.node_ixs().flat_map(|ix| rows(program, state, ix));
        Self { nodes: nodes.collect(), ..Self::outline(Some(program), state) }
    }

    /// The run without its nodes, for who needs none of them. Where the graph
    /// is lost its id is its name.
    pub fn outline(program: Option<&Program>, state: &RunState) -> Self {
        let id = || state.started.as_ref().map(|started| started.blueprint_id.to_string());
        let name = program.map(|program| program.name().to_owned()).or_else(id);
        Self { name: name.unwrap_or_default(), ..Self::bare(state) }
    }

    fn bare(state: &RunState) -> Self {
        let started = state.started.as_deref();
        Self {
            run_id: started.map(|started| started.run_id.to_string()),
            blueprint_id: started.map(|started| started.blueprint_id.to_string()),
            name: String::new(),
            status: state.status(),
            failure: state.closed.as_ref().and_then(|closed| closed.failure.clone()),
            unknown_effect: state.unknown_effect,
            degraded: state.degraded,
            held: state.spending.held,
            waits_for_limit: state.closed.is_none() && state.waits_for_limit(),
            proof: state.proof(),
            spending: state.spending.clone(),
            deadline: state.deadline(),
            wake_at: if state.closed.is_some() { None } else { state.wake_at() },
            started_at: state.started_at,
            updated_at: state.updated_at,
            retry_of: started.and_then(|s| s.retry_of.as_ref()).map(ToString::to_string),
            fork_of: started.and_then(|s| s.fork_of.as_ref()).map(|(run, _)| run.to_string()),
            parent: started.and_then(|s| s.parent.as_ref()).map(|p| p.run_id.to_string()),
            next_seq: state.next_seq.0,
            nodes: Vec::new(),
            storage: state.storage.clone(),
            trigger: started.map(|started| (*started.trigger).clone()),
        }
    }

    /// A run whose graph cannot be read: the nodes that the log names, in the
    /// order of their names.
    pub fn without_program(state: &RunState) -> Self {
        let node = |site: &Site| node_view(site, site.node.as_str(), None, state);
        Self { nodes: state.nodes.keys().map(node).collect(), ..Self::outline(None, state) }
    }

    pub fn reason(&self) -> Option<FailReason> {
        self.failure.as_ref().map(|failure| failure.reason)
    }

    pub fn look(&self) -> Look {
        look(self.status, self.reason(), self.unknown_effect)
    }
}

/// The rows of one node: one, or inside of a `for_each` one for each item
/// under way, all of them behind the row of the container.
fn rows(program: &Program, state: &RunState, ix: NodeIx) -> Vec<NodeView> {
    let node = program.node(ix);
    let parent = node.parent.map(|parent| program.node(parent).id.as_str());
    let row = |item| node_view(&Site::at(&node.id, item), &node.name, parent, state);
    let container = node.parent.and_then(|parent| state.containers.get(&program.node(parent).id));
    let Some(Container::ForEach(own)) = container else { return vec![row(None)] };
    let there = own
        .open
        .iter()
        .copied()
        .filter(|index| state.node(&Site::at(&node.id, Some(*index))).is_some());
    there.map(|index| row(Some(index))).collect()
}

fn node_view(site: &Site, name: &str, parent: Option<&str>, state: &RunState) -> NodeView {
    let node = state.node(site);
    let field = |get: fn(&NodeState) -> Option<Timestamp>| node.and_then(get);
    NodeView {
        id: site.to_string(),
        name: name.to_owned(),
        parent: parent.map(str::to_owned),
        status: shown_status(node, state.closed.is_some()),
        attempt: node.map_or(Attempt(0), |node| node.attempt),
        round: node.map_or(Round::FIRST, |node| node.round),
        progress: progress(site, state),
        wake: field(|node| node.wake).filter(|_| state.closed.is_none()),
        again: node
            .filter(|node| node.wake.is_some() && state.closed.is_none())
            .and_then(|node| node.again),
        proof: node.and_then(NodeState::stands),
        checks: node.map(|node| node.checks.clone()).unwrap_or_default(),
        child: node.and_then(|node| node.child.as_ref()).map(|child| child.run_id.to_string()),
        port: node.and_then(|node| node.port.as_ref()).map(ToString::to_string),
        output: node.and_then(|node| node.output.as_deref()).cloned(),
        error: node.and_then(|node| node.error.clone()),
        prompt: node.and_then(|node| node.prompt.clone()),
        started_at: field(|node| node.started_at),
        ended_at: field(|node| node.ended_at),
    }
}

fn progress(site: &Site, state: &RunState) -> Option<Progress> {
    Some(match state.containers.get(&site.node)? {
        Container::Loop(own) => Progress::Rounds { round: own.round.0 + 1, most: own.begin.most },
        Container::ForEach(own) => Progress::Items {
            done: own.ended.len(),
            failed: own.failed_items(),
            count: own.items.len(),
        },
    })
}

/// In a run that is over no gate waits any more, and no loop goes on.
fn shown_status(node: Option<&NodeState>, closed: bool) -> NodeStatus {
    let status = node.map_or(NodeStatus::Pending, |node| node.status);
    match status {
        NodeStatus::Waiting | NodeStatus::Running if closed => NodeStatus::Cancelled,
        NodeStatus::Pending
        | NodeStatus::Running
        | NodeStatus::Waiting
        | NodeStatus::Completed
        | NodeStatus::Failed
        | NodeStatus::Skipped
        | NodeStatus::Cancelled
        | NodeStatus::Unknown => status,
    }
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
