//! What events do to a run as a whole.

use std::sync::Arc;

use durable::{Generation, Seq, Timestamp};
use serde_json::Value;

use super::Illegal;
use crate::event::{FailReason, RunStarted};
use crate::site::Site;
use crate::state::{Cancel, Closed, Failure, NodeState, RunState};

pub(super) fn start(state: &mut RunState, at: Timestamp, started: &RunStarted) {
    state.run_id = Value::String(started.run_id.as_str().to_owned());
    state.generation = started.generation;
    state.started = Some(Arc::new(started.clone()));
    state.started_at = Some(at);
}

pub(super) fn adopt(state: &mut RunState, seq: Seq, found: Generation) -> Result<(), Illegal> {
    if found <= state.generation {
        return Err(Illegal::Generation { seq, current: state.generation, found });
    }
    state.generation = found;
    Ok(())
}

pub(super) fn close(
    state: &mut RunState,
    seq: Seq,
    at: Timestamp,
    failure: Option<Failure>,
) -> Result<(), Illegal> {
    let under_way = state.in_flight.first().or_else(|| state.children.keys().next());
    let under_way = under_way.or_else(|| state.claims.first());
    if let (true, Some(node)) = (is_ours(state), under_way) {
        return Err(Illegal::EndInFlight { seq, node: node.clone() });
    }
    state.in_flight.clear();
    state.claims.clear();
    state.waiting.clear();
    state.timers.clear();
    state.spending.held = None;
    if let Some(failure) = &failure {
        state.failure.get_or_insert_with(|| failure.clone());
    }
    state.closed = Some(Closed { at, failure });
    Ok(())
}

/// What waits for a budget, or for the limit of a provider, goes on.
pub(super) fn resume(state: &mut RunState, at: Timestamp) {
    state.spending.grant();
    let waits = |(wake, site): &&(Timestamp, Site)| {
        *wake > at && state.node(site).is_some_and(NodeState::waits_for_limit)
    };
    let waiting: Vec<_> = state.timers.iter().filter(waits).cloned().collect();
    for (wake, site) in waiting {
        state.timers.remove(&(wake, site.clone()));
        if let Some(node) = state.nodes.get_mut(&site) {
            node.wake = Some(at);
        }
        state.timers.insert((at, site));
    }
}

pub(super) fn cancel(state: &mut RunState, actor: &str, note: Option<&String>) {
    let message = match note {
        Some(note) => format!("cancelled by {actor}: {note}"),
        None => format!("cancelled by {actor}"),
    };
    let failure = Failure { reason: FailReason::Cancelled, node: None, message };
    state.failure.get_or_insert(failure);
    let cancel = Cancel { actor: actor.to_owned(), note: note.cloned() };
    state.cancel.get_or_insert(cancel);
}

pub(super) fn out_of_time(state: &mut RunState, deadline: Timestamp) {
    let message = format!("the run was not over at its deadline, {deadline}");
    let failure = Failure { reason: FailReason::Deadline, node: None, message };
    state.failure.get_or_insert(failure);
}

/// Logs of the reference have no format, and keep fewer promises.
pub(super) fn is_ours(state: &RunState) -> bool {
    state.started.as_ref().is_some_and(|started| started.format.major > 0)
}
