//! Which facts of a run another one keeps: those of what is over. A site that
//! was under way, failed for good or never came starts anew, and so does the
//! round or item in which it stands, but for what is over there.

use std::collections::BTreeMap;

use blueprint::{NodeId, Program};
use durable::Round;

use crate::container::Container;
use crate::event::{Event, Fact};
use crate::site::Site;
use crate::state::{NodeStatus, RunState};

/// Sorts the facts of a run by what its state says of their sites.
pub(crate) struct Keeper<'a> {
    program: &'a Program,
    state: &'a RunState,
    /// Whether a site counts as over though its outcome is unknown.
    settled_by_hand: &'a dyn Fn(&Site) -> bool,
}

impl<'a> Keeper<'a> {
    pub(crate) fn new(
        program: &'a Program,
        state: &'a RunState,
        settled_by_hand: &'a dyn Fn(&Site) -> bool,
    ) -> Self {
        Self { program, state, settled_by_hand }
    }

    /// The facts to keep, in their order.
    pub(crate) fn facts(&self, events: &[Event]) -> Vec<Fact> {
        let mut rounds: BTreeMap<&NodeId, Round> = BTreeMap::new();
        let mut facts = Vec::new();
        for Event { fact, .. } in events {
            let Some(site) = fact.node() else { continue };
            if let Fact::LoopIteration { iteration, .. } = fact {
                rounds.insert(&site.node, *iteration);
            }
            if self.keeps(fact, site, &rounds) {
                facts.push(fact.clone());
            }
        }
        facts
    }

    fn keeps(&self, fact: &Fact, site: &Site, rounds: &BTreeMap<&NodeId, Round>) -> bool {
        // What a container has gone through, it has, however it ended.
        let is_progress = matches!(
            fact,
            Fact::LoopIteration { .. }
                | Fact::ForEachStarted { .. }
                | Fact::ItemCompleted { .. }
                | Fact::ItemFailed { .. }
        );
        let is_end_of_run = matches!(fact, Fact::RunFailed { .. });
        let is_open = matches!(fact, Fact::AttemptUnknown { caught: None, .. });
        let is_kept = || self.is_past(site, rounds) || (!is_open && self.is_over(site));
        !is_end_of_run && (is_progress || is_kept())
    }

    /// Whether the round, or the item, to which a fact belongs is over.
    fn is_past(&self, site: &Site, rounds: &BTreeMap<&NodeId, Round>) -> bool {
        let ix = self.program.node_ix(&site.node);
        let Some(parent) = ix.and_then(|ix| self.program.node(ix).parent) else { return false };
        let id = &self.program.node(parent).id;
        match self.state.containers.get(id) {
            Some(Container::Loop(own)) => rounds.get(id).is_some_and(|round| *round < own.round),
            Some(Container::ForEach(own)) => {
                site.item.is_some_and(|item| own.ended.contains_key(&item))
            }
            None => false,
        }
    }

    fn is_over(&self, site: &Site) -> bool {
        let found_a_way = || self.state.node(site).is_some_and(|node| node.port.is_some());
        match self.state.node_status(site) {
            NodeStatus::Completed | NodeStatus::Skipped => true,
            NodeStatus::Failed => found_a_way(),
            NodeStatus::Unknown => found_a_way() || (self.settled_by_hand)(site),
            NodeStatus::Pending
            | NodeStatus::Running
            | NodeStatus::Waiting
            | NodeStatus::Cancelled => false,
        }
    }
}
