//! When a run is over, and how.

use blueprint::Program;

use super::{Frontier, Step};
use crate::event::{Fact, FailReason};
use crate::site::Site;
use crate::state::{Failure, RunState};

/// A run that can no longer succeed starts nothing new: what is in flight
/// comes to its end, then the run does. `None` when the run is not ending.
pub(super) fn ending(state: &RunState) -> Option<Option<Step>> {
    let failure = state.failure.clone()?;
    if !state.in_flight.is_empty() || !state.children.is_empty() {
        return Some(None);
    }
    let Failure { reason, node, message: error } = failure;
    Some(Some(Step::fact(Fact::RunFailed { reason, error, node })))
}

/// A run with nothing to do is completed, parked, or stalled.
pub(super) fn finish(program: &Program, state: &RunState, frontier: &Frontier) -> Option<Step> {
    if !state.in_flight.is_empty() || state.waits_for_something() {
        return None;
    }
    if frontier.unsettled() == 0 {
        return Some(Step::fact(Fact::RunCompleted));
    }
    let is_stuck = |node: &&blueprint::Node| {
        node.parent.is_none() && !state.node_status(&Site::of(&node.id)).is_settled()
    };
    let stuck = program.nodes().iter().filter(is_stuck);
    let names: Vec<&str> = stuck.map(|node| node.id.as_str()).take(10).collect();
    let error = format!("nothing can run and these nodes are not settled: {}", names.join(", "));
    Some(Step::fact(Fact::RunFailed { reason: FailReason::Stalled, error, node: None }))
}
