//! What can happen to a run, at random.

use durable::{Attempt, Generation, Span, Timestamp};
use engine::proof::Finding;
use engine::work::Class;
use engine::{
    AttemptKey, Effect, Input, NodeError, Outcome, Signal, SignalId, Site, Task, Verb, Work,
};
use proptest::prelude::*;
use serde_json::json;

use super::drive;
use crate::rig::{Rig, late};

#[derive(Debug, Clone)]
pub(super) enum Step {
    /// One of the attempts ends, in one of several ways.
    End(u8, u8),
    Reply(u8, String),
    Signal(u8, u8),
    /// A signal with an id that was used before.
    Repeat,
    Tick(u64),
    /// The clock is set by so much, back or on, and nobody is told.
    Clock(i64),
    Hold,
    Release,
    /// The owner dies, with so many events of its last write on the disk.
    Crash(u8),
    /// Something that is no longer, or never was, of this run.
    Stale(u8, u64, u64),
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let reply = prop_oneof![Just("x0"), Just("{\"chosen\":\"x1\"}"), Just("not x0"), Just("")];
    prop_oneof![
        12 => any::<u8>().prop_map(|which| Step::End(which, 0)),
        5 => (any::<u8>(), 1..10_u8).prop_map(|(which, how)| Step::End(which, how)),
        2 => (any::<u8>(), reply).prop_map(|(which, text)| Step::Reply(which, text.to_owned())),
        4 => (any::<u8>(), 0..3_u8).prop_map(|(node, verb)| Step::Signal(node, verb)),
        3 => (any::<u8>(), 3..12_u8).prop_map(|(node, verb)| Step::Signal(node, verb)),
        1 => Just(Step::Repeat),
        2 => (0..50_000_u64).prop_map(Step::Tick),
        1 => (-50_000..50_000_i64).prop_map(Step::Clock),
        2 => Just(Step::Hold),
        3 => Just(Step::Release),
        2 => (0..6_u8).prop_map(Step::Crash),
        2 => (any::<u8>(), 0..3_u64, 0..3_u64)
            .prop_map(|(node, attempt, generation)| Step::Stale(node, attempt, generation)),
    ]
}

impl Step {
    pub(super) fn take(&self, rig: &mut Rig) {
        match self {
            Self::End(which, how) => {
                if let Some(key) = pick(rig, *which) {
                    let outcome = ending(rig, &key, *how);
                    rig.finish(&key, outcome);
                }
            }
            Self::Reply(which, text) => {
                if let Some(key) = pick(rig, *which) {
                    rig.finish(
                        &key,
                        Outcome::Replied {
                            text: text.clone(),
                            session: Some("session".to_owned()),
                            usage: None,
                        },
                    );
                }
            }
            Self::Signal(node, verb) => {
                let waiting = rig.state().waiting.iter().nth(usize::from(node % 3)).cloned();
                let mut signal = signal(fresh_id(rig), *verb);
                match (&mut signal.verb, waiting) {
                    (Verb::Approve { node } | Verb::Reject { node }, Some(gate)) => {
                        *node = Some(gate);
                    }
                    (
                        Verb::Approve { .. }
                        | Verb::Reject { .. }
                        | Verb::Cancel
                        | Verb::Resume
                        | Verb::Denied { .. },
                        _,
                    ) => {}
                }
                rig.give(Input::Signal(signal));
            }
            Self::Repeat => {
                rig.tick(Span::ZERO);
                if let Some(id) = rig.state().signals.first().cloned() {
                    rig.give_stale(Input::Signal(signal(id, 3)));
                }
            }
            Self::Tick(millis) => drop(rig.tick(Span::from_millis(*millis))),
            Self::Clock(millis) => {
                let now = rig.now.millis().saturating_add(*millis);
                rig.set_clock(Timestamp::from_millis(now));
            }
            Self::Hold => rig.held = true,
            Self::Release => release(rig),
            Self::Crash(kept) => drop(rig.crash(usize::from(*kept))),
            Self::Stale(node, attempt, generation) => stale(rig, *node, *attempt, *generation),
        }
    }
}

/// One way for an attempt to end.
pub(super) fn ending(rig: &Rig, key: &AttemptKey, how: u8) -> Outcome {
    match how {
        1 => Outcome::Failed(failure(format!("{}: it failed", key.node))),
        2 => Outcome::Lost { message: format!("{}: it was lost", key.node) },
        3 => Outcome::Stopped,
        4 => Outcome::Output(json!({ "chosen": "x0", "as": "output" })),
        5 => {
            let error = NodeError { effect: Effect::Uncertain, ..failure("who knows".to_owned()) };
            Outcome::Ended { end: Err(error), usage: None }
        }
        6 => {
            let asked = Some(Span::from_secs(90));
            let failure = failure("later".to_owned());
            Outcome::Failed(NodeError { effect: Effect::None, retry_after: asked, ..failure })
        }
        7 => {
            let failure =
                NodeError { code: "limit_reached".to_owned(), ..failure("no more".to_owned()) };
            let retry_after = key.attempt.0.is_multiple_of(2).then_some(Span::from_secs(300));
            Outcome::Failed(NodeError { effect: Effect::None, retry_after, ..failure })
        }
        8 | 9 if key.proof.is_some() => {
            let why = "it is not so".to_owned();
            let found = if how == 8 { Finding::broken(why) } else { Finding::unknown(why) };
            Outcome::Proved(vec![found])
        }
        _ => drive::success(&rig.program, key),
    }
}

pub(super) fn failure(message: String) -> NodeError {
    let (class, effect) = (Class::Transient, Effect::Done);
    let output = Some(json!(null));
    NodeError { class, code: "failed".to_owned(), message, effect, output, retry_after: None }
}

/// A signal of each kind; those to a gate name none, or none that exists.
pub(super) fn signal(id: SignalId, verb: u8) -> Signal {
    let verb = match verb {
        0..=2 => Verb::Approve { node: None },
        3 => Verb::Reject { node: None },
        4 => Verb::Cancel,
        5 | 6 => Verb::Resume,
        7 => Verb::Approve { node: Some(Site::parse("n1")) },
        8 => Verb::Reject { node: Some(Site::parse("nowhere")) },
        _ => Verb::Denied { verb: "approve".to_owned() },
    };
    Signal { id, verb, actor: "ann".to_owned(), note: Some("because".to_owned()) }
}

/// A signal that is recorded and changes nothing.
pub(super) fn refused(rig: &mut Rig) {
    let id = fresh_id(rig);
    rig.give(Input::Signal(signal(id, 9)));
}

fn fresh_id(rig: &Rig) -> SignalId {
    let count = rig.log.len() + rig.state().signals.len();
    // Signals that wait beside an append have the length of the log in common.
    let count = count * 1000 + rig.working.len();
    SignalId::new(&format!("s{count}")).expect("a name for a file")
}

fn release(rig: &mut Rig) {
    if rig.is_appending() {
        rig.release();
    }
    rig.held = false;
}

fn pick(rig: &Rig, which: u8) -> Option<AttemptKey> {
    let count = rig.working.len().max(1);
    rig.working.keys().nth(usize::from(which) % count).cloned()
}

/// What makes of a node one inside of it, for an item or for none.
const INSIDE: [&str; 4] = ["", "b0", "b0[0]", "b1[1]"];

/// An outcome that names no attempt in flight.
fn stale(rig: &mut Rig, node: u8, attempt: u64, generation: u64) {
    let key = AttemptKey {
        run: rig.launch_of().run_id.clone(),
        node: Site::parse(&format!("n{}{}", node % 8, INSIDE[usize::from(node / 8) % 4])),
        round: durable::Round(u64::from(node / 128)),
        attempt: Attempt(attempt),
        proof: None,
    };
    // A clock that was set is no answer to what comes next.
    rig.tick(Span::ZERO);
    let (generation, current) = (Generation(generation), rig.working.get(&key));
    // With an append outstanding, the state that it leads to judges later.
    let is_child = |work: &Work| matches!(work.task, Task::Child(_));
    let is_other = |work: &Work| work.generation != generation && !is_child(work);
    if current.is_none_or(is_other) && !rig.is_appending() {
        rig.give_stale(late(&key, generation));
    }
}
