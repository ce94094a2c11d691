//! A new run from a moment of another one, with the same graph or a changed
//! one: what was over at that moment and is the same in both graphs is kept,
//! and everything behind a change runs anew.

use std::collections::BTreeSet;
use std::sync::Arc;

use blueprint::{NodeId, NodeIx, Program};
use durable::Seq;
use thiserror::Error;

use crate::event::Event;
use crate::fold::{Illegal, fold};
use crate::kept::Keeper;
use crate::retry::{Kept, is_half_kept};
use crate::site::Site;
use crate::state::{NodeStatus, RunState};

/// What a fork does, for the person who asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Nodes whose outcome is kept.
    pub kept: Vec<NodeId>,
    /// Nodes that were over and run again, since they or what leads to them
    /// changed. What is no longer in the graph is in neither list.
    pub again: Vec<NodeId>,
    /// Sites that were under way: their work starts once more.
    pub under_way: Vec<Site>,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ForkError {
    #[error("the run has no event {at}; its last one is {last}")]
    NoSuchEvent { at: Seq, last: Seq },
    #[error("the run never came to start, so there is nothing to fork")]
    NeverStarted,
    #[error("the log cannot be read up to that event")]
    Log(#[from] Illegal),
}

/// What a run of `new` keeps of a run of `old`, whose events these are, at
/// the event `at`.
pub fn fork(
    old: &Program,
    new: &Program,
    events: &[Event],
    at: Seq,
) -> Result<(Kept, Report), ForkError> {
    let last = events.last().map(|event| event.seq).ok_or(ForkError::NeverStarted)?;
    if at > last {
        return Err(ForkError::NoSuchEvent { at, last });
    }
    let until: Vec<Event> = events.iter().take_while(|event| event.seq <= at).cloned().collect();
    let mut state = RunState::fresh();
    for event in &until {
        fold(&mut state, event)?;
    }
    let started = state.started.clone().filter(|_| !is_half_kept(&state));
    let started = started.ok_or(ForkError::NeverStarted)?;
    let same = unchanged(old, new);
    let is_kept = |site: &Site| same.contains(&site.node);
    let facts = Keeper::new(old, &state, &|_| false).facts(&until);
    let facts = facts.into_iter().filter(|fact| fact.node().is_some_and(is_kept)).collect();
    let report = report(old, new, &state, &same);
    let trigger = Some(Arc::clone(&started.trigger));
    Ok((Kept { of: started.run_id.clone(), trigger, facts, forked_at: Some(at) }, report))
}

fn report(old: &Program, new: &Program, state: &RunState, same: &BTreeSet<NodeId>) -> Report {
    let over = |id: &NodeId| {
        let node = state.node(&Site::of(id));
        node.is_some_and(|node| node.port.is_some() || node.status == NodeStatus::Skipped)
    };
    let ids = old.nodes().iter().map(|node| &node.id);
    let ids = ids.filter(|id| over(id) && new.node_ix(id).is_some());
    let (kept, again) = ids.cloned().partition(|id| same.contains(id));
    let under_way = state.in_flight.iter().chain(state.children.keys()).chain(&state.claims);
    let under_way = under_way.cloned().collect();
    Report { kept, again, under_way }
}

/// The nodes that are the same in both graphs, and to which only such nodes
/// lead. A container and what is inside stand and fall together.
fn unchanged(old: &Program, new: &Program) -> BTreeSet<NodeId> {
    let mut same: BTreeSet<NodeId> = old
        .node_ixs()
        .filter(|ix| is_same(old, new, *ix))
        .map(|ix| old.node(ix).id.clone())
        .collect();
    loop {
        let falls = |id: &&NodeId| {
            old.node_ix(id).is_some_and(|ix| leans_on(old, ix).any(|on| !same.contains(on)))
        };
        let fallen: Vec<NodeId> = same.iter().filter(falls).cloned().collect();
        if fallen.is_empty() {
            return same;
        }
        for id in &fallen {
            same.remove(id);
        }
    }
}

/// The nodes with which a node stands and falls.
fn leans_on(program: &Program, ix: NodeIx) -> impl Iterator<Item = &NodeId> {
    let before = program.incoming(ix).iter().map(|edge| program.edge(*edge).from);
    let around = program.node(ix).parent;
    let inside = program.body(ix).iter().copied();
    before.chain(around).chain(inside).map(|ix| &program.node(ix).id)
}

fn is_same(old: &Program, new: &Program, ix: NodeIx) -> bool {
    let Some(other) = new.node_ix(&old.node(ix).id) else { return false };
    let edges = |program: &Program, ix: NodeIx| -> BTreeSet<String> {
        let text = |edge: &blueprint::EdgeIx| {
            let edge = program.edge(*edge);
            format!("{}.{} {}", program.node(edge.from).id, edge.from_port, edge.to_port)
        };
        program.incoming(ix).iter().map(text).collect()
    };
    let body = |program: &Program, ix: NodeIx| -> BTreeSet<NodeId> {
        program.body(ix).iter().map(|inside| program.node(*inside).id.clone()).collect()
    };
    old.source(ix) == new.source(other)
        && edges(old, ix) == edges(new, other)
        // What was caught goes on only where something still catches it.
        && old.catches(ix) == new.catches(other)
        && body(old, ix) == body(new, other)
}
