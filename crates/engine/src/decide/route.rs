//! Edges: taken, not taken, open. The frontier is what follows from the
//! settled nodes of a state, kept up to date event by event so that a step
//! costs the edges of one node and not the whole graph. It has a lane for
//! the blueprint itself, one for each loop that runs, and one for each item
//! of a `for_each` that is under way.

mod lane;

use std::collections::BTreeMap;

use blueprint::{Kind, NodeId, NodeIx, Program};

use crate::container::Container;
use crate::event::{Event, Fact};
use crate::site::Site;
use crate::state::{NodeStatus, RunState};
use lane::Lane;

/// Which sites can run and which will not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frontier {
    lanes: BTreeMap<Key, Lane>,
}

/// A lane by name: the container whose body it is, and the item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) body: Option<NodeIx>,
    pub(super) item: Option<u32>,
}

impl Key {
    const MAIN: Self = Self { body: None, item: None };

    pub(super) fn site(self, program: &Program, ix: NodeIx) -> Site {
        Site::at(&program.node(ix).id, self.item)
    }
}

/// A container in which nothing is left to do for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Over {
    pub(super) container: NodeIx,
    /// The item whose body is over; `None` for the round of a loop, and for
    /// a container that fails.
    pub(super) item: Option<u32>,
}

impl Frontier {
    /// The frontier of a state, from nothing.
    pub fn of(program: &Program, state: &RunState) -> Self {
        let main = Lane::of(program, state, Key::MAIN);
        let mut frontier = Self { lanes: BTreeMap::from([(Key::MAIN, main)]) };
        for id in state.containers.keys() {
            frontier.open(program, state, id);
        }
        frontier
    }

    /// Takes note of an event that was just folded into `state`.
    pub fn note(&mut self, program: &Program, state: &RunState, event: &Event) {
        let Some(site) = event.fact.node() else { return };
        let Some(ix) = program.node_ix(&site.node) else { return };
        let begins = matches!(
            event.fact,
            Fact::LoopIteration { .. }
                | Fact::ForEachStarted { .. }
                | Fact::ItemCompleted { .. }
                | Fact::ItemFailed { .. }
        );
        if begins {
            self.open(program, state, &site.node);
        }
        if program.node(ix).kind.is_container() && state.node_status(site).is_settled() {
            self.lanes.retain(|key, _| key.body != Some(ix));
        }
        let key = Key { body: program.node(ix).parent, item: site.item };
        if let Some(lane) = self.lanes.get_mut(&key) {
            lane.update(program, state, ix);
        }
    }

    /// The first site that will not run.
    pub(super) fn skip(&self, program: &Program, state: &RunState) -> Option<Site> {
        self.first(program, state, |lane| lane.skips.first().copied()).map(|(_, site)| site)
    }

    /// The first ready site that needs nothing from outside.
    pub(super) fn internal(&self, program: &Program, state: &RunState) -> Option<(NodeIx, Site)> {
        self.first(program, state, |lane| lane.internal.first().copied())
    }

    /// The first ready site that needs an attempt.
    pub(super) fn external(&self, program: &Program, state: &RunState) -> Option<Site> {
        self.first(program, state, |lane| lane.external.first().copied()).map(|(_, site)| site)
    }

    /// The first container to be looked at: its round or one of its items is
    /// over, or it must fail and nothing inside is under way.
    pub(super) fn over(&self, program: &Program, state: &RunState) -> Option<Over> {
        state.containers.iter().find_map(|(id, own)| {
            let container = program.node_ix(id)?;
            if state.node_status(&Site::of(id)) != NodeStatus::Running {
                return None;
            }
            if own.failed().is_some() {
                let idle = !is_busy(state, own.body(), None);
                return idle.then_some(Over { container, item: None });
            }
            let lanes = self.lanes_of(container);
            let over = |(key, lane): (&Key, &Lane)| match own {
                Container::Loop(_) => lane.is_over().then_some(Over { container, item: None }),
                Container::ForEach(own) => {
                    let index = key.item?;
                    let ends = if own.failing.contains_key(&index) {
                        !is_busy(state, &own.body, Some(index))
                    } else {
                        lane.is_over()
                    };
                    ends.then_some(Over { container, item: Some(index) })
                }
            };
            let item = lanes.into_iter().find_map(over);
            let all = matches!(own, Container::ForEach(own) if own.is_over());
            item.or_else(|| all.then_some(Over { container, item: None }))
        })
    }

    /// Nodes of the blueprint itself to which something can still happen.
    pub fn unsettled(&self) -> usize {
        self.lanes.get(&Key::MAIN).map_or(0, Lane::unsettled)
    }

    fn lanes_of(&self, container: NodeIx) -> impl Iterator<Item = (&Key, &Lane)> {
        let from = Key { body: Some(container), item: None };
        self.lanes.range(from..).take_while(move |(key, _)| key.body == Some(container))
    }

    fn first(
        &self,
        program: &Program,
        state: &RunState,
        pick: impl Fn(&Lane) -> Option<NodeIx>,
    ) -> Option<(NodeIx, Site)> {
        self.lanes.iter().find_map(|(key, lane)| {
            let ix = pick(lane)?;
            (!is_halted(program, state, *key)).then(|| (ix, key.site(program, ix)))
        })
    }

    /// Opens the lanes that a container has now, and closes the others.
    fn open(&mut self, program: &Program, state: &RunState, id: &NodeId) {
        let Some(container) = program.node_ix(id) else { return };
        if state.node_status(&Site::of(id)) != NodeStatus::Running {
            return;
        }
        let body = Some(container);
        match (state.containers.get(id), &program.node(container).kind) {
            (Some(Container::Loop(_)), _) => {
                let key = Key { body, item: None };
                self.lanes.insert(key, Lane::of(program, state, key));
            }
            (Some(Container::ForEach(own)), Kind::ForEach { max_parallel, .. }) => {
                let ended = |key: &Key| {
                    key.body == body && key.item.is_some_and(|at| own.ended.contains_key(&at))
                };
                self.lanes.retain(|key, _| !ended(key));
                for index in own.active(*max_parallel) {
                    let key = Key { body, item: Some(index) };
                    self.lanes.entry(key).or_insert_with(|| Lane::of(program, state, key));
                }
            }
            (Some(Container::ForEach(_)) | None, _) => {}
        }
    }
}

/// Whether nothing new is begun in a lane, since something in it failed.
pub(super) fn is_halted(program: &Program, state: &RunState, key: Key) -> bool {
    let Some(body) = key.body else { return false };
    match state.containers.get(&program.node(body).id) {
        Some(Container::Loop(own)) => own.failed.is_some(),
        Some(Container::ForEach(own)) => {
            own.failed.is_some() || key.item.is_some_and(|item| own.failing.contains_key(&item))
        }
        None => false,
    }
}

/// Whether the site stands in a lane in which nothing new is begun.
pub(crate) fn is_in_halted_lane(program: &Program, state: &RunState, site: &Site) -> bool {
    let body = program.node_ix(&site.node).and_then(|ix| program.node(ix).parent);
    is_halted(program, state, Key { body, item: site.item })
}

/// Whether work of these nodes is under way, for one item or for any.
fn is_busy(state: &RunState, body: &[NodeId], item: Option<u32>) -> bool {
    let inside = |site: &Site| body.contains(&site.node) && (item.is_none() || site.item == item);
    state.in_flight.iter().any(inside) || state.children.keys().any(inside)
}
