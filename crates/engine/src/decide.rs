//! What a state calls for. It judges and has no memory: from program and
//! state alone it says the next step, so that a new owner after a crash
//! comes to the same judgement as the old one.

mod finish;
mod node;
mod prompt;
mod route;

use blueprint::Program;
use durable::Timestamp;

use crate::event::Fact;
use crate::state::RunState;
use crate::work::Work;

pub use route::Frontier;

/// The next step: facts to record, and work to start once they are durable.
#[derive(Debug)]
pub struct Step {
    pub facts: Vec<Fact>,
    pub work: Option<Work>,
}

impl Step {
    fn facts(facts: Vec<Fact>) -> Self {
        Self { facts, work: None }
    }
}

/// Judges one step, or none when the run is at rest. `frontier` must be that
/// of `state`; `artifacts` is the folder of files named by digest.
pub fn decide(
    program: &Program,
    state: &RunState,
    frontier: &Frontier,
    artifacts: &str,
    now: Timestamp,
) -> Option<Step> {
    if state.started.is_none() || state.closed.is_some() {
        return None;
    }
    if let Some(end) = finish::ending(state) {
        return end;
    }
    if let Some(skip) = frontier.skip() {
        let node = program.node(skip).id.clone();
        return Some(Step::facts(vec![Fact::NodeSkipped { node }]));
    }
    if let Some(ready) = frontier.internal() {
        return Some(node::settle(program, state, ready, artifacts));
    }
    let room = state.in_flight.len() < program.max_parallel();
    if let (true, Some(ready)) = (room, frontier.external()) {
        return Some(node::start(program, state, ready, artifacts, now));
    }
    finish::finish(program, state, frontier)
}
