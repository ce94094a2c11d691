//! One lane: the nodes of the blueprint itself, or those of a body that runs
//! once, with the edges between them.

use std::collections::BTreeSet;

use blueprint::{Kind, NodeIx, PortName, Program};

use super::Key;
use crate::state::{NodeStatus, RunState};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lane {
    key: Key,
    /// The nodes, in the order of the file.
    nodes: Vec<NodeIx>,
    /// For each of them: edges into it that are still open.
    open: Vec<u32>,
    /// For each: edges into it that were taken.
    taken: Vec<u32>,
    /// Whether the node's own outgoing edges have been settled.
    settled: Vec<bool>,
    unsettled: usize,
    pub(super) skips: BTreeSet<NodeIx>,
    pub(super) internal: BTreeSet<NodeIx>,
    pub(super) external: BTreeSet<NodeIx>,
}

impl Lane {
    pub(super) fn of(program: &Program, state: &RunState, key: Key) -> Self {
        let nodes: Vec<NodeIx> = match key.body {
            Some(container) => program.body(container).to_vec(),
            None => program.node_ixs().filter(|ix| program.node(*ix).parent.is_none()).collect(),
        };
        let count = nodes.len();
        let mut lane = Self {
            key,
            open: nodes.iter().map(|ix| edges_in(program, key, *ix).0).collect(),
            taken: nodes.iter().map(|ix| edges_in(program, key, *ix).1).collect(),
            nodes,
            settled: vec![false; count],
            unsettled: count,
            skips: BTreeSet::new(),
            internal: BTreeSet::new(),
            external: BTreeSet::new(),
        };
        let nodes = lane.nodes.clone();
        for ix in &nodes {
            lane.update(program, state, *ix);
        }
        lane
    }

    /// Whether nothing more will happen here.
    pub(super) fn is_over(&self) -> bool {
        self.unsettled == 0
    }

    pub(super) fn unsettled(&self) -> usize {
        self.unsettled
    }

    /// Takes note of what happened to a node.
    pub(super) fn update(&mut self, program: &Program, state: &RunState, ix: NodeIx) {
        let Some(at) = self.at(ix) else { return };
        let node = state.node(&self.key.site(program, ix));
        let status = node.map_or(NodeStatus::Pending, |node| node.status);
        if status.is_settled() && !self.settled[at] {
            self.settled[at] = true;
            self.unsettled -= 1;
            let port = node.and_then(|node| node.port.as_ref());
            self.settle_edges(program, state, ix, status, port);
        }
        self.place(program, ix, at, status == NodeStatus::Pending);
    }

    /// Settles the edges out of a node. One that failed and found no way out
    /// takes none of them and leaves them open: the run is ending, or what
    /// is around it, and nothing behind it is skipped.
    fn settle_edges(
        &mut self,
        program: &Program,
        state: &RunState,
        ix: NodeIx,
        status: NodeStatus,
        port: Option<&PortName>,
    ) {
        match status {
            NodeStatus::Completed | NodeStatus::Skipped => {}
            NodeStatus::Failed | NodeStatus::Unknown if port.is_some() => {}
            NodeStatus::Pending
            | NodeStatus::Running
            | NodeStatus::Waiting
            | NodeStatus::Failed
            | NodeStatus::Cancelled
            | NodeStatus::Unknown => return,
        }
        for edge in program.outgoing(ix).iter().map(|edge| program.edge(*edge)) {
            // An edge into a body belongs to the lanes of that body.
            let Some(to) = self.at(edge.to) else { continue };
            self.open[to] = self.open[to].saturating_sub(1);
            if port == Some(&edge.from_port) {
                self.taken[to] += 1;
            }
            self.look(program, state, edge.to);
        }
    }

    /// Puts a node into the set it belongs to. What became of one before
    /// which an edge is open makes no difference.
    fn look(&mut self, program: &Program, state: &RunState, ix: NodeIx) {
        let Some(at) = self.at(ix) else { return };
        let pending = self.open[at] == 0
            && state.node_status(&self.key.site(program, ix)) == NodeStatus::Pending;
        self.place(program, ix, at, pending);
    }

    fn place(&mut self, program: &Program, ix: NodeIx, at: usize, pending: bool) {
        let decided = pending && self.open[at] == 0;
        let root = self.key.body.is_none() && program.incoming(ix).is_empty();
        let ready = decided && (root || self.taken[at] > 0);
        let inside = is_internal(&program.node(ix).kind);
        put(&mut self.skips, ix, decided && !ready);
        put(&mut self.internal, ix, ready && inside);
        put(&mut self.external, ix, ready && !inside);
    }

    fn at(&self, ix: NodeIx) -> Option<usize> {
        self.nodes.binary_search(&ix).ok()
    }
}

/// The edges into a node of a lane: those that are open at its beginning, and
/// those that are taken, which come from the container itself.
fn edges_in(program: &Program, key: Key, ix: NodeIx) -> (u32, u32) {
    let from = |edge: &blueprint::EdgeIx| program.edge(*edge).from;
    let entries = program.incoming(ix).iter().filter(|edge| Some(from(edge)) == key.body).count();
    let others = program.incoming(ix).len() - entries;
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    (number(others), number(entries))
}

fn put(set: &mut BTreeSet<NodeIx>, ix: NodeIx, wanted: bool) {
    if wanted {
        set.insert(ix);
    } else {
        set.remove(&ix);
    }
}

/// Whether a node settles without anything from outside.
fn is_internal(kind: &Kind) -> bool {
    match kind {
        Kind::ManualTrigger { .. }
        | Kind::Branch { .. }
        | Kind::Loop { .. }
        | Kind::ForEach { .. }
        | Kind::Join
        | Kind::Approval { .. }
        | Kind::Wait(_)
        | Kind::State { .. }
        | Kind::Notify { .. } => true,
        Kind::Task { .. }
        | Kind::Decision { .. }
        | Kind::Shell { .. }
        | Kind::Script { .. }
        | Kind::Http(_)
        | Kind::SubAutomation { .. } => false,
    }
}
