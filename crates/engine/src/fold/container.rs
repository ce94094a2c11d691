//! What events do to a loop, to a `for_each`, and to what is inside.

use std::sync::Arc;

use blueprint::{NodeId, PortName};
use durable::{Round, Timestamp};
use serde_json::{Value, json};

use super::node::At;
use super::{Illegal, run};
use crate::container::{Container, ForEach, ItemEnd, Loop};
use crate::event::LoopBegin;
use crate::site::Site;
use crate::state::{NodeState, NodeStatus, RunState};
use crate::work::NodeError;

impl At<'_> {
    pub(super) fn iterate(
        &self,
        state: &mut RunState,
        round: Round,
        begin: Option<&Arc<LoopBegin>>,
    ) -> Result<(), Illegal> {
        if round == Round::FIRST {
            return self.begin_loop(state, begin);
        }
        self.expect(state, &[NodeStatus::Running])?;
        let Some(Container::Loop(own)) = state.containers.get(&self.node.node) else {
            return Err(self.illegal());
        };
        let body = own.begin.body.iter().map(Site::of);
        let is_over = |site: &Site| state.node_status(site).is_settled();
        let next = own.round.next() == round && own.failed.is_none();
        if run::is_ours(state) && !(next && body.clone().all(|site| is_over(&site))) {
            return Err(self.illegal());
        }
        let body: Vec<Site> = body.collect();
        for site in body {
            let before = state.nodes.remove(&site).unwrap_or_else(NodeState::pending);
            let prev = before.output.filter(|_| before.status == NodeStatus::Completed);
            state.nodes.insert(site, NodeState { round, prev, ..NodeState::pending() });
        }
        if let Some(Container::Loop(own)) = state.containers.get_mut(&self.node.node) {
            own.round = round;
        }
        Ok(())
    }

    fn begin_loop(
        &self,
        state: &mut RunState,
        begin: Option<&Arc<LoopBegin>>,
    ) -> Result<(), Illegal> {
        self.expect(state, &[NodeStatus::Pending])?;
        let begin = match begin {
            Some(begin) => Arc::clone(begin),
            None if run::is_ours(state) => return Err(self.illegal()),
            // A loop of the reference does not name what is inside.
            None => Arc::new(LoopBegin { most: 0, body: Vec::new() }),
        };
        let own = Loop { begin, round: Round::FIRST, failed: None };
        state.containers.insert(self.node.node.clone(), Container::Loop(own));
        self.run(state);
        Ok(())
    }

    pub(super) fn complete_loop(&self, state: &mut RunState) -> Result<(), Illegal> {
        self.expect(state, &[NodeStatus::Running])?;
        let Some(Container::Loop(own)) = state.containers.get(&self.node.node) else {
            return Err(self.illegal());
        };
        let is_over = |id: &NodeId| state.node_status(&Site::of(id)).is_settled();
        if run::is_ours(state) && !(own.failed.is_none() && own.begin.body.iter().all(is_over)) {
            return Err(self.illegal());
        }
        let iterations = own.round.0 + 1;
        self.end(state, json!({ "iterations": iterations }));
        Ok(())
    }

    pub(super) fn start_items(
        &self,
        state: &mut RunState,
        items: &Arc<Vec<Value>>,
        body: &Arc<Vec<NodeId>>,
    ) -> Result<(), Illegal> {
        self.expect(state, &[NodeStatus::Pending])?;
        let own = ForEach::new(Arc::clone(items), Arc::clone(body));
        state.containers.insert(self.node.node.clone(), Container::ForEach(own));
        self.run(state);
        Ok(())
    }

    pub(super) fn complete_item(
        &self,
        state: &mut RunState,
        index: u32,
        output: &Arc<Value>,
    ) -> Result<(), Illegal> {
        self.end_item(state, index, ItemEnd::Completed(Arc::clone(output)))
    }

    pub(super) fn fail_item(
        &self,
        state: &mut RunState,
        index: u32,
        error: &NodeError,
    ) -> Result<(), Illegal> {
        self.end_item(state, index, ItemEnd::Failed(error.clone()))
    }

    fn end_item(&self, state: &mut RunState, index: u32, end: ItemEnd) -> Result<(), Illegal> {
        self.expect(state, &[NodeStatus::Running])?;
        let Some(Container::ForEach(own)) = state.containers.get(&self.node.node) else {
            return Err(self.illegal());
        };
        let sites: Vec<Site> = own.body.iter().map(|id| Site::at(id, Some(index))).collect();
        let is_over = |site: &Site| state.node_status(site).is_settled();
        let is_idle = |site: &Site| {
            let under_way = state.in_flight.contains(site) || state.children.contains_key(site);
            !under_way && !state.claims.contains(site)
        };
        let fits = match &end {
            ItemEnd::Completed(_) => !own.failing.contains_key(&index) && sites.iter().all(is_over),
            ItemEnd::Failed(_) => own.failing.contains_key(&index) && sites.iter().all(is_idle),
        };
        if !own.open.contains(&index) || !fits {
            return Err(self.illegal());
        }
        if let Some(Container::ForEach(own)) = state.containers.get_mut(&self.node.node) {
            own.end(index, end);
        }
        for site in sites {
            forget(state, &site);
            let proof = state.nodes.remove(&site).and_then(|node| node.stands());
            state.items_proof = state.items_proof.max(proof);
        }
        Ok(())
    }

    pub(super) fn complete_items(&self, state: &mut RunState) -> Result<(), Illegal> {
        self.expect(state, &[NodeStatus::Running])?;
        match state.containers.get(&self.node.node) {
            Some(Container::ForEach(own)) if own.is_over() && own.failed.is_none() => {
                let output = own.output();
                self.end(state, output);
                Ok(())
            }
            Some(_) | None => Err(self.illegal()),
        }
    }

    /// A container that fails leaves nothing inside that waits.
    pub(super) fn close_body(&self, state: &mut RunState) -> Result<(), Illegal> {
        let Some(own) = state.containers.get(&self.node.node) else { return Ok(()) };
        let inside = |site: &&Site| own.body().contains(&site.node);
        let waits = |site: &&Site| state.node_status(site) == NodeStatus::Waiting;
        let under_way = state.in_flight.iter().chain(state.children.keys()).chain(&state.claims);
        if under_way.into_iter().any(|site| inside(&site)) {
            return Err(self.illegal());
        }
        let waiting: Vec<Site> = state.nodes.keys().filter(inside).filter(waits).cloned().collect();
        for site in waiting {
            forget(state, &site);
            let at = self.at;
            let node = state.nodes.get_mut(&site).expect("it waits");
            node.status = NodeStatus::Cancelled;
            node.wake = None;
            node.ended_at = Some(at);
        }
        Ok(())
    }

    /// Notes a failure inside with the container that has to do with it.
    pub(super) fn blame_item(&self, state: &mut RunState, error: &NodeError) {
        if let (Some(index), Some(Container::ForEach(own))) =
            (self.node.item, container_of(state, &self.node.node))
        {
            own.failing.entry(index).or_insert_with(|| error.clone());
        }
    }

    pub(super) fn blame_container(&self, state: &mut RunState, error: &NodeError) {
        if let Some(container) = container_of(state, &self.node.node) {
            container.fail(error);
        }
    }

    fn run(&self, state: &mut RunState) {
        let at: Timestamp = self.at;
        let node = self.entry(state);
        node.status = NodeStatus::Running;
        node.started_at.get_or_insert(at);
    }

    fn end(&self, state: &mut RunState, output: Value) {
        let node = self.entry(state);
        node.output = Some(Arc::new(output));
        node.port = Some(PortName::new("done"));
        self.settle(state, NodeStatus::Completed);
    }

    fn illegal(&self) -> Illegal {
        Illegal::Container { seq: self.seq, kind: self.kind, node: self.node.clone() }
    }
}

/// Takes a site out of all that waits.
fn forget(state: &mut RunState, site: &Site) {
    state.waiting.remove(site);
    let wake = state.nodes.get(site).and_then(|node| node.wake);
    if let Some(wake) = wake {
        state.timers.remove(&(wake, site.clone()));
    }
}

/// The container whose body has this node.
fn container_of<'a>(state: &'a mut RunState, node: &NodeId) -> Option<&'a mut Container> {
    state.containers.values_mut().find(|container| container.body().contains(node))
}
