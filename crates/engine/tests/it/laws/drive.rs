//! Drives a run to its end, in a world where all work succeeds.

use std::collections::BTreeSet;
use std::sync::Arc;

use blueprint::{Kind, NodeId, OnInterrupt, Program, Repeat};
use engine::{
    AttemptKey, Event, FailReason, Input, Launch, NodeStatus, Outcome, Signal, SignalId, Verb,
};
use serde_json::json;

use crate::rig::{Rig, refold};

/// Far more steps than any run of a test has.
const STEPS_MAX: usize = 10_000;

/// What a node's work gives, whenever and however often it is done.
pub(crate) fn success(program: &Program, node: &NodeId) -> Outcome {
    let ix = program.node_ix(node).expect("the node is of the program");
    let letters: usize = node.as_str().bytes().map(usize::from).sum();
    match &program.node(ix).kind {
        Kind::Decision { choices, .. } => {
            let text = choices[letters % choices.len()].to_string();
            Outcome::Replied { text, session: None }
        }
        Kind::Task { .. } => {
            let text = json!({ "said": node, "title": "t", "n": letters }).to_string();
            Outcome::Replied { text, session: Some("session".to_owned()) }
        }
        Kind::Shell { .. }
        | Kind::Script { .. }
        | Kind::ManualTrigger { .. }
        | Kind::Branch { .. }
        | Kind::Join
        | Kind::Approval { .. }
        | Kind::State { .. }
        | Kind::Notify { .. } => {
            let stdout = node.as_str().repeat(letters % 2);
            Outcome::Output(json!({ "exit_code": 0, "stdout": stdout, "stderr": "" }))
        }
    }
}

/// All work succeeds and what is told to stop stops. Ends at the end of the
/// run, or when it parks.
pub(crate) fn to_rest(rig: &mut Rig) {
    if rig.is_appending() {
        rig.release();
    }
    rig.held = false;
    for _ in 0..STEPS_MAX {
        if let Some(key) = rig.stopped.first().cloned() {
            rig.finish(&key, Outcome::Stopped);
        } else if let Some(key) = rig.working.keys().next().cloned() {
            succeed(rig, &key);
        } else {
            return;
        }
    }
    panic!("the run comes to no rest");
}

/// The same, and every gate is granted.
pub(crate) fn to_end(rig: &mut Rig) {
    for step in 0..STEPS_MAX {
        to_rest(rig);
        let Some(gate) = rig.state().waiting.first().cloned() else { return };
        grant(rig, &gate, step);
    }
    panic!("the run comes to no end");
}

pub(crate) fn grant(rig: &mut Rig, gate: &NodeId, number: usize) {
    let at = rig.log.len();
    rig.give(Input::Signal(Signal {
        id: SignalId::new(&format!("grant-{at}-{number}")).expect("a name for a file"),
        verb: Verb::Approve { node: Some(gate.clone()) },
        actor: "drive".to_owned(),
        note: None,
    }));
}

/// Whether the author lets an attempt at the node be repeated.
pub(crate) fn is_safe(program: &Program, node: &NodeId) -> bool {
    program.node_ix(node).is_some_and(|ix| program.node(ix).repeat == Repeat::Safe)
}

pub(crate) fn succeed(rig: &mut Rig, key: &AttemptKey) {
    let outcome = success(&rig.program, &key.node);
    rig.finish(key, outcome);
}

/// The owner died with this much of the log on the disk: a new one opens the
/// run, and what it does follows from what was in flight and from the
/// author's word. Returns the run at its end.
pub(crate) fn from_prefix(program: &Arc<Program>, launch: &Launch, prefix: &[Event]) -> Rig {
    let before = refold(prefix);
    let was_failing = before.failure.is_some();
    let half_kept = launch.retry.is_some() && before.generation.0 == 1;
    let safe = |node: &NodeId| {
        let flight = before.node(node).and_then(|node| node.in_flight);
        flight.is_some_and(|flight| flight.repeat == Repeat::Safe)
    };
    let resumes = program.on_interrupt() == OnInterrupt::Resume;
    let repeats = resumes && !was_failing && before.in_flight.iter().all(safe);
    let mut rig = Rig::of_log(program, launch, prefix);
    rig.adopt();
    if before.closed.is_some() {
        assert_eq!(rig.log.len(), prefix.len(), "a closed run is as it was");
        return rig;
    }
    let unknown: BTreeSet<_> = unknown(&rig).difference(&unknown_of(&before)).cloned().collect();
    if repeats || half_kept {
        assert!(unknown.is_empty(), "nothing was lost, yet {unknown:?} are unknown");
    } else {
        assert_eq!(unknown, before.in_flight, "what was in flight, and no more, is unknown");
    }
    to_end(&mut rig);
    let reason = rig.state().closed.as_ref().expect("it is at its end").failure.as_ref();
    let reason = reason.map(|failure| failure.reason);
    let abandoned = before.in_flight.is_empty() && before.waiting.is_empty() && !resumes;
    if was_failing {
        assert_eq!(reason, before.failure.map(|failure| failure.reason), "the first failure stays");
    } else if half_kept || abandoned || !(repeats || before.in_flight.is_empty()) {
        assert_eq!(reason, Some(FailReason::Interrupted));
    }
    rig
}

fn unknown(rig: &Rig) -> BTreeSet<NodeId> {
    unknown_of(rig.state())
}

fn unknown_of(state: &engine::RunState) -> BTreeSet<NodeId> {
    let unknown = state.nodes.iter().filter(|(_, node)| node.status == NodeStatus::Unknown);
    unknown.map(|(id, _)| id.clone()).collect()
}
