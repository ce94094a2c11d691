//! Drives a run to its end, in a world where all work succeeds.

use std::collections::BTreeSet;
use std::sync::Arc;

use blueprint::{Kind, OnInterrupt, Program, Repeat};
use engine::proof::Finding;
use engine::{
    AttemptKey, Event, Fact, FailReason, Input, Launch, Outcome, RunState, Signal, SignalId, Site,
    Usage, Verb,
};
use serde_json::json;

use crate::rig::{Rig, refold};

/// Far more steps than any run of a test has.
const STEPS_MAX: usize = 10_000;

/// What a node's work gives, whenever and however often it is done.
pub(crate) fn success(program: &Program, key: &AttemptKey) -> Outcome {
    let node = &key.node.node;
    let ix = program.node_ix(node).expect("the node is of the program");
    if key.proof.is_some() {
        return Outcome::Proved(program.node(ix).prove.iter().map(|_| Finding::held()).collect());
    }
    let usage = Some(Box::new(Usage { tokens: Some(10), ..Usage::default() }));
    let letters: usize = node.as_str().bytes().map(usize::from).sum();
    match &program.node(ix).kind {
        Kind::Decision { choices, .. } => {
            let text = choices[letters % choices.len()].to_string();
            Outcome::Replied { text, session: None, usage }
        }
        Kind::Task { .. } => {
            let text = json!({ "said": node, "title": "t", "n": letters }).to_string();
            Outcome::Replied { text, session: Some("session".to_owned()), usage }
        }
        Kind::SubAutomation { automation, .. } => {
            let usage = Usage { tokens: Some(5), agent_calls: Some(1), ..Usage::default() };
            let output = json!({ "run_id": "child", "result": automation });
            Outcome::Ended { end: Ok(output), usage: Some(Box::new(usage)) }
        }
        Kind::Shell { .. }
        | Kind::Script { .. }
        | Kind::Http(_)
        | Kind::ManualTrigger { .. }
        | Kind::Branch { .. }
        | Kind::Loop { .. }
        | Kind::ForEach { .. }
        | Kind::Wait(_)
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

/// The same, every gate is granted, the budget is granted as often as it
/// takes, and time passes.
pub(crate) fn to_end(rig: &mut Rig) {
    for step in 0..STEPS_MAX {
        to_rest(rig);
        if rig.is_closed() {
            return;
        }
        if let Some(gate) = rig.state().waiting.first().cloned() {
            grant(rig, &gate, step);
        } else if rig.state().spending.is_held() {
            say(rig, Verb::Resume, step);
        } else if let Some(at) = rig.machine().wake_at() {
            rig.tick(at.since(rig.now));
        } else {
            return;
        }
    }
    panic!("the run comes to no end");
}

pub(crate) fn grant(rig: &mut Rig, gate: &Site, number: usize) {
    say(rig, Verb::Approve { node: Some(gate.clone()) }, number);
}

fn say(rig: &mut Rig, verb: Verb, number: usize) {
    let id = SignalId::new(&format!("grant-{}-{number}", rig.log.len()));
    let (id, actor) = (id.expect("a name for a file"), "drive".to_owned());
    rig.give(Input::Signal(Signal { id, verb, actor, note: None }));
}

/// Whether all that is in flight may be done again. Checks always may.
pub(crate) fn is_safe(state: &RunState) -> bool {
    let safe = |site: &Site| {
        let flight = state.node(site).and_then(|node| node.in_flight);
        flight.is_some_and(|flight| flight.repeat == Repeat::Safe)
    };
    state.in_flight.iter().all(safe)
}

pub(crate) fn succeed(rig: &mut Rig, key: &AttemptKey) {
    let outcome = success(&rig.program, key);
    rig.finish(key, outcome);
}

/// The owner died with this much of the log on the disk: a new one opens the
/// run, and what it does follows from what was in flight and from the
/// author's word. Returns the run at its end.
pub(crate) fn from_prefix(program: &Arc<Program>, launch: &Launch, prefix: &[Event]) -> Rig {
    let before = refold(prefix);
    let was_failing = before.failure.is_some();
    let half_kept = launch.retry.is_some() && before.generation.0 == 1;
    let under_way: BTreeSet<_> = before.in_flight.union(&before.claims).cloned().collect();
    let resumes = program.on_interrupt() == OnInterrupt::Resume;
    let repeats = resumes && !was_failing && is_safe(&before);
    let mut rig = Rig::of_log(program, launch, prefix);
    rig.adopt();
    if before.closed.is_some() {
        assert_eq!(rig.log.len(), prefix.len(), "a closed run is as it was");
        return rig;
    }
    let (unknown, caught) = unknown(&rig.log[prefix.len()..]);
    if repeats || half_kept {
        assert!(unknown.is_empty(), "nothing was lost, yet {unknown:?} are unknown");
    } else {
        assert_eq!(unknown, under_way, "what was under way, and no more, is unknown");
    }
    to_end(&mut rig);
    let reason = rig.state().closed.as_ref().expect("it is at its end").failure.as_ref();
    let reason = reason.map(|failure| failure.reason);
    let abandoned = under_way.is_empty() && !before.waits_for_something() && !resumes;
    let lost = !repeats && !caught;
    if was_failing {
        assert_eq!(reason, before.failure.map(|failure| failure.reason), "the first failure stays");
    } else if half_kept || abandoned || lost {
        assert_eq!(reason, Some(FailReason::Interrupted));
    }
    rig
}

/// The sites that a new owner found lost, and whether the graph goes on from
/// every one of them.
fn unknown(adopted: &[Event]) -> (BTreeSet<Site>, bool) {
    let lost = adopted.iter().filter_map(|event| {
        let Fact::AttemptUnknown { node, caught, .. } = &event.fact else { return None };
        Some((node.clone(), caught.is_some()))
    });
    let (sites, caught): (BTreeSet<_>, Vec<_>) = lost.unzip();
    (sites, caught.into_iter().all(|caught| caught))
}
