//! Laws over random graphs, outcomes, signals, times and deaths. The rig
//! holds every step against what must always be true; the tests here say
//! what is played, and what must be true in the end. The seeds are fixed:
//! a run of these tests is the same everywhere.

pub(crate) mod drive;
mod graphs;
mod language;
mod retried;
mod rich;
mod steps;

use std::collections::BTreeMap;

use blueprint::{Node, OnInterrupt, PortName};
use durable::{Attempt, Generation, Seq, Span, Timestamp};
use engine::{
    Action, AttemptKey, FailReason, Input, NodeStatus, Outcome, RunMachine, RunState, RunStatus,
    SignalId, Site,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use serde_json::{Value, json};

use crate::rig::{ARTIFACTS, Rig, START};
use graphs::{Grown, graph};
use steps::step;

pub(crate) fn config(cases: u32) -> Config {
    let rng_seed = RngSeed::Fixed(0x5eed);
    Config { cases, rng_seed, failure_persistence: None, ..Config::default() }
}

/// What a node came to, without times and numbers of attempts.
type End = (NodeStatus, Option<Value>, Option<PortName>, Option<Value>);

fn ends(state: &RunState) -> BTreeMap<Site, End> {
    let end = |(site, node): (&Site, &engine::NodeState)| {
        let output = node.output.as_deref().map(without_times);
        (site.clone(), (node.status, output, node.port.clone(), node.error_value.clone()))
    };
    state.nodes.iter().map(end).collect()
}

/// The value without the moments that depend on when things happened.
fn without_times(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(without_times).collect(),
        Value::Object(members) => {
            let kept = members.iter().filter(|(key, _)| !["at", "until"].contains(&key.as_str()));
            Value::Object(kept.map(|(key, value)| (key.clone(), without_times(value))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// A run of the graph in which all goes well.
fn smooth(graph: &impl Grown) -> Rig {
    let mut rig = Rig::new(&graph.program());
    rig.start(graph.input());
    drive::to_end(&mut rig);
    rig
}

/// The same, with the attempt that ends next taken from `order`.
fn in_order(graph: &impl Grown, order: &[u8]) -> Rig {
    let mut rig = Rig::new(&graph.program());
    rig.start(graph.input());
    let mut order = order.iter().copied().cycle();
    while !rig.is_closed() {
        let choice = usize::from(order.next().unwrap_or(0));
        let gate = rig.state().waiting.iter().nth(choice % 3).cloned();
        let working = rig.working.len();
        match gate {
            Some(gate) if working == 0 || choice % 2 == 0 => drive::grant(&mut rig, &gate, choice),
            Some(_) | None if working > 0 => {
                let key = rig.working.keys().nth(choice % working).expect("it is in").clone();
                drive::succeed(&mut rig, &key);
            }
            Some(_) | None => drive::to_end(&mut rig),
        }
    }
    rig
}

proptest! {
    #![proptest_config(config(192))]

    /// The laws of the rig, and liveness: when the inputs stop, every run
    /// ends or parks.
    #[test]
    fn whatever_happens_the_laws_hold(graph in graph(), steps in vec(step(), 0..40)) {
        let mut rig = Rig::new(&graph.program());
        rig.start(graph.input());
        for step in &steps {
            step.take(&mut rig);
        }
        drive::to_rest(&mut rig);
        assert!(rig.is_closed() || rig.is_parked());
        drive::to_end(&mut rig);
        assert!(rig.is_closed());
    }
}

proptest! {
    #![proptest_config(config(48))]

    /// A valid graph in which all work succeeds settles every node, and the
    /// outcomes of independent work commute.
    #[test]
    fn independent_outcomes_commute(graph in graph(), order in vec(any::<u8>(), 1..12)) {
        let one = smooth(&graph);
        let other = in_order(&graph, &order);
        assert_eq!(one.status(), RunStatus::Completed);
        let settled = |node: &Node| one.state().node_status(&Site::of(&node.id)).is_settled();
        let mut nodes = one.program.nodes().iter().filter(|node| node.parent.is_none());
        assert!(nodes.all(settled));
        assert_eq!(one.status(), other.status());
        assert_eq!(ends(one.state()), ends(other.state()));
        assert_eq!(one.state().storage, other.state().storage);
    }

    /// Outcomes that wait together may be taken in any order.
    #[test]
    fn outcomes_of_one_moment_commute(
        graph in graph(),
        early in 0..8_usize,
        kinds in vec(0..4_u8, 1..8),
    ) {
        let play = |reversed: bool| {
            let mut rig = Rig::new(&graph.program());
            rig.start(graph.input());
            for _ in 0..early {
                let Some(key) = rig.working.keys().next().cloned() else { break };
                drive::succeed(&mut rig, &key);
            }
            let mut keys: Vec<_> = rig.working.keys().cloned().collect();
            let kinds: BTreeMap<_, _> =
                keys.iter().cloned().zip(kinds.iter().copied().cycle()).collect();
            if reversed {
                keys.reverse();
            }
            rig.held = true;
            steps::refused(&mut rig);
            for key in &keys {
                let outcome = steps::ending(&rig, key, kinds[key]);
                rig.finish(key, outcome);
            }
            if rig.is_appending() {
                rig.release();
            }
            let of_keys = |site: &Site| keys.iter().any(|key| key.node == *site);
            let mut ends = ends(rig.state());
            ends.retain(|site, _| of_keys(site));
            (ends, rig.state().failure.is_some())
        };
        assert_eq!(play(false), play(true));
    }
}

proptest! {
    #![proptest_config(config(24))]

    /// Wherever the owner dies, and however much of its last write is on the
    /// disk: a run that may go on ends as if nothing had happened, and one
    /// that may not ends with exactly that unknown which was in flight.
    #[test]
    fn a_death_changes_nothing_or_is_told(graph in graph()) {
        let whole = smooth(&graph);
        let resumes = whole.program.on_interrupt() == OnInterrupt::Resume;
        for length in 1..=whole.log.len() {
            let prefix = &whole.log[..length];
            let before = crate::rig::refold(prefix);
            let safe = drive::is_safe(&before);
            let rig = drive::from_prefix(&whole.program, whole.launch_of(), prefix);
            let idle = before.in_flight.is_empty() && before.claims.is_empty();
            let rests = idle && before.waits_for_something();
            if (resumes && safe) || before.closed.is_some() || rests {
                assert_eq!(ends(rig.state()), ends(whole.state()), "after {length} events");
                assert_eq!(rig.state().storage, whole.state().storage);
            } else {
                let failure = rig.state().failure.as_ref().map(|failure| failure.reason);
                assert!(failure == Some(FailReason::Interrupted) || failure.is_none());
                assert_eq!(rig.status(), RunStatus::Failed);
            }
        }
    }
}

proptest! {
    #![proptest_config(config(128))]

    /// Anything may be handed in at any time.
    #[test]
    fn the_machine_takes_anything_at_any_time(
        graph in graph(),
        inputs in vec((garbage(), 0..2_000_000_u64, 0..4_usize), 0..60),
    ) {
        let rig = Rig::new(&graph.program());
        let fresh = RunState::fresh();
        let mut machine = RunMachine::open(graph.program(), fresh, ARTIFACTS.to_owned());
        for (garbage, millis, polls) in inputs {
            let now = Timestamp::from_millis(START - 1_000_000).after(Span::from_millis(millis));
            machine.handle(garbage.input(&rig, &machine), now);
            for _ in 0..polls {
                if let Some(Action::Append(events)) = machine.poll() {
                    let next = events.last().map_or(Seq(0), |event| event.seq.next());
                    machine.handle(Input::Appended { next }, now);
                }
            }
        }
    }
}

/// An input without sense, or by chance with some.
#[derive(Debug, Clone)]
enum Garbage {
    Launch(u8),
    Opened(u64),
    Appended(u64),
    Tick,
    Outcome { node: u8, attempt: u64, generation: u64, ours: bool, outcome: Outcome },
    Signal(u8, u8),
}

fn garbage() -> impl Strategy<Value = Garbage> {
    let text = prop_oneof![Just(String::new()), ".{0,20}", Just("x0".to_owned())];
    let outcome = prop_oneof![
        Just(Outcome::Stopped),
        Just(Outcome::Output(Value::Null)),
        Just(Outcome::Proved(Vec::new())),
        Just(Outcome::Output(json!({ "chosen": "x0" }))),
        text.clone().prop_map(|message| Outcome::Lost { message }),
        text.clone().prop_map(|text| Outcome::Replied {
            text,
            session: Some("s".to_owned()),
            usage: None,
        }),
        text.prop_map(|message| Outcome::Failed(steps::failure(message))),
    ];
    prop_oneof![
        2 => (0..3_u8).prop_map(Garbage::Launch),
        1 => any::<u64>().prop_map(Garbage::Opened),
        2 => (0..20_u64).prop_map(Garbage::Appended),
        2 => Just(Garbage::Tick),
        8 => (0..12_u8, 0..3_u64, 0..3_u64, any::<bool>(), outcome).prop_map(
            |(node, attempt, generation, ours, outcome)| {
                Garbage::Outcome { node, attempt, generation, ours, outcome }
            }
        ),
        3 => (0..9_u8, 0..12_u8).prop_map(|(id, verb)| Garbage::Signal(id, verb)),
    ]
}

impl Garbage {
    fn input(self, rig: &Rig, machine: &RunMachine) -> Input {
        match self {
            Self::Launch(run) => {
                let mut launch = rig.launch_of().clone();
                launch.input = json!(run);
                Input::Launch(Box::new(launch))
            }
            Self::Opened(cut) => Input::Opened { cut },
            Self::Appended(next) => Input::Appended { next: Seq(next) },
            Self::Tick => Input::Tick,
            Self::Outcome { node, attempt, generation, ours, outcome } => {
                let run = &rig.launch_of().run_id;
                let other = engine::RunId::new("another").expect("a name for a folder");
                // Half of the time it is one that is in flight.
                let flight = machine.state().in_flight.iter().nth(usize::from(node % 4)).cloned();
                let node = flight.unwrap_or_else(|| Site::parse(&format!("n{node}")));
                let key = AttemptKey {
                    run: if ours { run.clone() } else { other },
                    node,
                    round: durable::Round::FIRST,
                    attempt: Attempt(attempt),
                    proof: (attempt == 2).then_some(Attempt::FIRST),
                };
                Input::Outcome { key, generation: Generation(generation), outcome }
            }
            Self::Signal(id, verb) => {
                let id = SignalId::new(&format!("s{id}")).expect("a name for a file");
                Input::Signal(steps::signal(id, verb))
            }
        }
    }
}
