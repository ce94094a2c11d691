//! Edges: taken, not taken, open. The frontier is what follows from the
//! settled nodes of a state, kept up to date event by event so that a step
//! costs the edges of one node and not the whole graph.

use std::collections::BTreeSet;

use blueprint::{Kind, NodeIx, Program};

use crate::event::Event;
use crate::state::{NodeStatus, RunState};

/// Which nodes can run and which will not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frontier {
    /// For each node: edges into it that are still open.
    open: Vec<u32>,
    /// For each node: edges into it that were taken.
    taken: Vec<u32>,
    /// Whether the node's own outgoing edges have been settled.
    settled: Vec<bool>,
    unsettled: usize,
    skips: BTreeSet<NodeIx>,
    internal: BTreeSet<NodeIx>,
    external: BTreeSet<NodeIx>,
}

impl Frontier {
    /// The frontier of a state, from nothing.
    pub fn of(program: &Program, state: &RunState) -> Self {
        let count = program.nodes().len();
        let indexes = || (0..count).filter_map(|ix| u32::try_from(ix).ok()).map(NodeIx);
        let degree = |ix| u32::try_from(program.incoming(ix).len()).unwrap_or(u32::MAX);
        let mut frontier = Self {
            open: indexes().map(degree).collect(),
            taken: vec![0; count],
            settled: vec![false; count],
            unsettled: count,
            skips: BTreeSet::new(),
            internal: BTreeSet::new(),
            external: BTreeSet::new(),
        };
        for ix in indexes() {
            frontier.look(program, state, ix);
        }
        for ix in indexes() {
            frontier.update(program, state, ix);
        }
        frontier
    }

    /// Takes note of an event that was just folded into `state`.
    pub fn note(&mut self, program: &Program, state: &RunState, event: &Event) {
        if let Some(ix) = event.fact.node().and_then(|id| program.node_ix(id)) {
            self.update(program, state, ix);
        }
    }

    /// The first node that will not run.
    pub fn skip(&self) -> Option<NodeIx> {
        self.skips.first().copied()
    }

    /// The first ready node that needs nothing from outside.
    pub fn internal(&self) -> Option<NodeIx> {
        self.internal.first().copied()
    }

    /// The first ready node that needs an attempt.
    pub fn external(&self) -> Option<NodeIx> {
        self.external.first().copied()
    }

    /// Nodes to which something can still happen.
    pub fn unsettled(&self) -> usize {
        self.unsettled
    }

    fn update(&mut self, program: &Program, state: &RunState, ix: NodeIx) {
        let at = ix.0 as usize;
        let node = program.node(ix);
        let status = state.node_status(&node.id);
        if status.is_settled() && !self.settled[at] {
            self.settled[at] = true;
            self.unsettled -= 1;
            self.settle_edges(program, state, ix, status);
        }
        self.look(program, state, ix);
    }

    /// Settles the edges out of a node. One that failed takes none of them
    /// and leaves them open: the run is ending, nothing behind it is skipped.
    fn settle_edges(
        &mut self,
        program: &Program,
        state: &RunState,
        ix: NodeIx,
        status: NodeStatus,
    ) {
        let port = match status {
            NodeStatus::Completed => state.node(&program.node(ix).id).and_then(|n| n.port.clone()),
            NodeStatus::Skipped => None,
            NodeStatus::Pending
            | NodeStatus::Running
            | NodeStatus::Waiting
            | NodeStatus::Failed
            | NodeStatus::Cancelled
            | NodeStatus::Unknown => return,
        };
        for edge in program.outgoing(ix).iter().map(|edge| program.edge(*edge)) {
            let to = edge.to.0 as usize;
            self.open[to] = self.open[to].saturating_sub(1);
            if port.as_ref() == Some(&edge.from_port) {
                self.taken[to] += 1;
            }
            self.look(program, state, edge.to);
        }
    }

    /// Puts a node into the set it belongs to.
    fn look(&mut self, program: &Program, state: &RunState, ix: NodeIx) {
        let at = ix.0 as usize;
        let node = program.node(ix);
        let pending = state.node_status(&node.id) == NodeStatus::Pending;
        let decided = pending && self.open[at] == 0;
        let root = program.incoming(ix).is_empty();
        let ready = decided && (root || self.taken[at] > 0);
        let inside = is_internal(&node.kind);
        put(&mut self.skips, ix, decided && !ready);
        put(&mut self.internal, ix, ready && inside);
        put(&mut self.external, ix, ready && !inside);
    }
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
        | Kind::Join
        | Kind::Approval { .. }
        | Kind::State { .. }
        | Kind::Notify { .. } => true,
        Kind::Task { .. } | Kind::Decision { .. } | Kind::Shell { .. } | Kind::Script { .. } => {
            false
        }
    }
}
