//! The weak points of the engine that this one was made to replace, each by
//! its name, as far as they are this crate's business.

mod agents;
mod language;

use std::sync::Arc;

use blueprint::PortName;
use durable::{Attempt, Digest, Generation, Seq, Span};
use engine::decide::{Frontier, decide};
use engine::{
    Action, AttemptKey, Event, Fact, FailReason, Input, NodeStatus, Outcome, RunStatus, Signal,
    SignalId, Site, Verb, fold,
};
use serde_json::{Value, json};

use crate::blueprints::program;
use crate::laws::drive;
use crate::rig::{ARTIFACTS, Rig, refold};

fn started(lines: &str, input: Value) -> Rig {
    let mut rig = Rig::new(&program(lines));
    rig.start(input);
    rig
}

fn key(rig: &Rig, node: &str) -> AttemptKey {
    let found = rig.working.keys().find(|key| key.node == Site::parse(node)).cloned();
    found.unwrap_or_else(|| panic!("{node} is not being performed"))
}

fn succeed(rig: &mut Rig, node: &str) {
    let key = key(rig, node);
    rig.finish(&key, Outcome::Output(json!({ "exit_code": 0 })));
}

fn signal(rig: &mut Rig, verb: Verb) -> Vec<Action> {
    let id = SignalId::new(&format!("signal-{}", rig.log.len())).expect("a name for a file");
    rig.give(Input::Signal(Signal { id, verb, actor: "ann".to_owned(), note: None }))
}

fn status(rig: &Rig, node: &str) -> NodeStatus {
    rig.state().node_status(&Site::parse(node))
}

fn reason(rig: &Rig) -> Option<FailReason> {
    rig.machine().view().reason()
}

fn kinds(rig: &Rig) -> Vec<&'static str> {
    rig.log.iter().map(|event| event.fact.kind()).collect()
}

const TWO_WAYS: &str = "
    node start manual_trigger
    node a shell command=a
    node b shell command=b
    node both join
    edge start -> a -> both
    edge start -> b -> both
";

const GATE: &str = "
    node start manual_trigger
    node gate approval prompt=\"Ship {{trigger.output.what}}?\"
    node after notify message=\"{{nodes.gate.output.decision}} by {{nodes.gate.output.actor}}\"
    edge start -> gate -> after
";

const ONE: &str = "
    node start manual_trigger
    node a shell command=a
    edge start -> a
";

#[test]
fn e0_a_join_waits_until_every_edge_into_it_is_settled() {
    let mut rig = started(TWO_WAYS, json!({}));
    succeed(&mut rig, "a");
    assert_eq!(status(&rig, "both"), NodeStatus::Pending);
    succeed(&mut rig, "b");
    assert_eq!(status(&rig, "both"), NodeStatus::Completed);
    assert_eq!(kinds(&rig).iter().filter(|kind| **kind == "run_completed").count(), 1);
}

#[test]
fn e0b_what_is_skipped_is_never_run() {
    let rig = started(ONE, json!({}));
    let mut state = refold(&rig.log[..2]);
    let at = rig.now;
    let node = Site::parse("a");
    let skip = Event { seq: Seq(2), at, fact: Fact::NodeSkipped { node } };
    fold(&mut state, &skip).expect("a pending node can be skipped");
    let start = Event { seq: Seq(3), ..rig.log[2].clone() };
    assert!(fold(&mut state, &start).is_err());
}

#[test]
fn e0e_what_is_never_reached_fails_nothing() {
    let lines = "
        node start manual_trigger
        node b branch condition=trigger.output.go
        node never shell command=\"echo {{trigger.output.nothing}}\"
        node never_shown notify message=\"{{trigger.output.nothing}}\"
        edge start -> b
        edge b:on_true -> never -> never_shown
    ";
    let rig = started(lines, json!({}));
    assert_eq!(rig.status(), RunStatus::Completed);
}

/// In a valid program nothing stalls: its edges form no cycle, so that while
/// a node is unsettled there is a first one whose edges are all settled, and
/// that one runs or is skipped; and a node that settles without settling its
/// edges has failed, which ends the run. So the state here is one that no
/// owner of ours writes: a node is cancelled in a run that nobody cancelled.
#[test]
fn e0f_a_stalled_graph_is_an_error_with_an_event() {
    let lines = format!("set on_interrupt resume\n{TWO_WAYS}");
    let rig = started(&lines, json!({}));
    let mut log = rig.log.clone();
    for node in ["a", "b"] {
        let fact = Fact::NodeCancelled { node: Site::parse(node), attempt: Attempt(1) };
        log.push(Event { seq: Seq(log.len() as u64), at: rig.now, fact });
    }
    let state = refold(&log);
    let frontier = Frontier::of(&rig.program, &state);
    let step = decide(&rig.program, &state, &frontier, ARTIFACTS, rig.now);
    let facts = step.map(|step| step.facts).unwrap_or_default();
    let [Fact::RunFailed { reason, error, .. }] = facts.as_slice() else {
        panic!("it goes on with {facts:?}");
    };
    assert_eq!(*reason, FailReason::Stalled);
    assert_eq!(error, "nothing can run and these nodes are not settled: both");
}

#[test]
fn e1_ready_nodes_run_side_by_side() {
    let rig = started(TWO_WAYS, json!({}));
    let working: Vec<_> = rig.working.keys().map(|key| key.node.to_string()).collect();
    assert_eq!(working, ["a", "b"]);
}

#[test]
fn e2_a_gate_parks_its_own_branch_only() {
    let lines = format!("{GATE}\nnode work shell command=work\nedge start -> work");
    let mut rig = started(&lines, json!({ "what": "it" }));
    assert!(!rig.is_parked());
    assert_eq!(status(&rig, "gate"), NodeStatus::Waiting);
    succeed(&mut rig, "work");
    assert!(rig.is_parked());
    assert_eq!(rig.status(), RunStatus::AwaitingApproval);
}

#[test]
fn e3_an_attempt_has_an_end_of_its_time() {
    let lines = ONE.replace("command=a", "command=a timeout=5m");
    let mut rig = started(&lines, json!({}));
    assert_eq!(rig.machine().wake_at(), Some(rig.now.after(Span::from_secs(300))));
    let actions = rig.tick(Span::from_secs(300));
    assert!(matches!(actions.as_slice(), [Action::Stop(_)]));
    assert_eq!(rig.machine().wake_at(), None);
}

#[test]
fn e4_a_shell_command_is_stopped_by_a_cancel() {
    let mut rig = started(ONE, json!({}));
    signal(&mut rig, Verb::Cancel);
    let key = key(&rig, "a");
    assert!(rig.stopped.contains(&key));
    rig.finish(&key, Outcome::Stopped);
    assert_eq!(status(&rig, "a"), NodeStatus::Cancelled);
}

#[test]
fn e5_what_was_half_done_is_unknown_and_not_done_again() {
    for on_interrupt in ["fail", "resume"] {
        let mut rig = started(&format!("set on_interrupt {on_interrupt}\n{ONE}"), json!({}));
        rig.crash(0);
        assert_eq!(status(&rig, "a"), NodeStatus::Unknown);
        assert_eq!(reason(&rig), Some(FailReason::Interrupted));
        assert!(rig.state().unknown_effect && rig.working.is_empty());
    }
}

#[test]
fn e5_a_node_that_ends_its_owner_is_not_repeated_for_ever() {
    let lines = format!("set on_interrupt resume\n{}", ONE.replace("=a", "=a repeat=safe"));
    let mut rig = started(&lines, json!({}));
    let mut deaths = 0;
    while !rig.is_closed() {
        rig.crash(0);
        deaths += 1;
    }
    assert_eq!((deaths, status(&rig, "a")), (20, NodeStatus::Unknown));
}

#[test]
fn e7_checkpoints_cost_no_more_than_the_log() {
    let mut lines = String::from("node n0 manual_trigger\n");
    for at in 1..150 {
        lines += &format!("node n{at} shell command=x\nedge n{} -> n{at}\n", at - 1);
    }
    let mut rig = Rig::new(&program(&lines));
    let mut checkpoints = Vec::new();
    let mut actions = rig.start(json!({}));
    while !rig.is_closed() {
        let key = rig.working.keys().next().expect("one runs").clone();
        let count = actions.iter().filter(|action| matches!(action, Action::Checkpoint)).count();
        checkpoints.extend(std::iter::repeat_n(rig.log.len(), count));
        actions = rig.finish(&key, drive::success(&rig.program, &key));
    }
    assert!(checkpoints.len() >= 3, "{checkpoints:?}");
    assert!(checkpoints.windows(2).all(|pair| pair[1] >= 2 * pair[0] - 2), "{checkpoints:?}");
}

#[test]
fn e8_only_the_last_owner_is_heard() {
    let lines = format!("set on_interrupt resume\n{}", ONE.replace("=a", "=a repeat=safe"));
    let mut rig = started(&lines, json!({}));
    let first = key(&rig, "a");
    rig.crash(0);
    for (attempt, generation) in [(1, 1), (2, 1), (1, 2)] {
        let key = AttemptKey { attempt: Attempt(attempt), ..first.clone() };
        rig.give_stale(crate::rig::late(&key, Generation(generation)));
    }
    succeed(&mut rig, "a");
    assert_eq!(rig.status(), RunStatus::Completed);
    assert_eq!(rig.state().generation, Generation(2));
}

#[test]
fn e9_a_cancel_that_comes_too_late_cancels_nothing_later() {
    let mut rig = started(ONE, json!({}));
    rig.held = true;
    succeed(&mut rig, "a");
    signal(&mut rig, Verb::Cancel);
    rig.release();
    assert_eq!(rig.status(), RunStatus::Completed);
    let before = rig.log.len();
    rig.crash(0);
    assert_eq!((rig.status(), rig.log.len()), (RunStatus::Completed, before));
}

#[test]
fn e9_a_cancel_is_one_event_and_outlives_its_owner() {
    let mut rig = started(ONE, json!({}));
    signal(&mut rig, Verb::Cancel);
    rig.crash(0);
    assert_eq!(reason(&rig), Some(FailReason::Cancelled));
    assert_eq!(kinds(&rig).iter().filter(|kind| **kind == "cancel_requested").count(), 1);
}

#[test]
fn e10_a_decision_is_never_read_out_of_another_word() {
    let lines = "
        node start manual_trigger
        node d decision agent=claude prompt=? choices=[\"approve\",\"reject\"]
        node yes notify message=yes
        node no notify message=no
        edge start -> d
        edge d:approve -> yes
        edge d:reject -> no
    ";
    for text in ["disapprove", "do not approve", "approve or reject", "I approve of it"] {
        let mut rig = started(lines, json!({}));
        let first = key(&rig, "d");
        let (text, session) = (text.to_owned(), Some("s".to_owned()));
        rig.finish(&first, Outcome::Replied { text: text.clone(), session, usage: None });
        assert_eq!(status(&rig, "d"), NodeStatus::Running, "{text}");
        assert_eq!(key(&rig, "d").attempt, Attempt(2), "{text}");
    }
}

#[test]
fn e11_the_order_of_the_edges_means_nothing() {
    let (nodes, edges): (Vec<&str>, Vec<&str>) = TWO_WAYS
        .lines()
        .filter(|line| !line.trim().is_empty())
        .partition(|line| line.trim().starts_with("node"));
    let reversed: Vec<&str> = nodes.into_iter().chain(edges.into_iter().rev()).collect();
    let (one, other) = (program(TWO_WAYS), program(&reversed.join("\n")));
    let mut rig = Rig::new(&one);
    rig.start(json!({}));
    let first = key(&rig, "a");
    drive::succeed(&mut rig, &first);
    // The log of one goes on with the other: no event and no state names an
    // edge by its place.
    let state = refold(&rig.log);
    assert_eq!(Frontier::of(&one, &state), Frontier::of(&other, &state));
    drive::to_end(&mut rig);
    let mut turned = Rig::new(&other);
    turned.start(json!({}));
    drive::to_end(&mut turned);
    assert_eq!(
        rig.state().nodes.keys().collect::<Vec<_>>(),
        turned.state().nodes.keys().collect::<Vec<_>>()
    );
    assert_eq!(turned.status(), RunStatus::Completed);
}

#[test]
fn e12_cancelled_and_interrupted_are_told_apart_without_reading_messages() {
    let mut cancelled = started(GATE, json!({ "what": 1 }));
    signal(&mut cancelled, Verb::Cancel);
    let mut interrupted = started(ONE, json!({}));
    interrupted.crash(0);
    let mut rejected = started(GATE, json!({ "what": 1 }));
    signal(&mut rejected, Verb::Reject { node: None });
    let mut failed = started(ONE, json!({}));
    let lost = key(&failed, "a");
    failed.finish(&lost, Outcome::Lost { message: "lost".to_owned() });
    let reasons = [&cancelled, &interrupted, &rejected, &failed].map(reason);
    let expected =
        [FailReason::Cancelled, FailReason::Interrupted, FailReason::Rejected, FailReason::Error];
    assert_eq!(reasons, expected.map(Some));
}

#[test]
fn e14_the_event_of_a_gate_carries_what_the_person_is_shown() {
    let rig = started(GATE, json!({ "what": "v1.2" }));
    let shown = rig.log.iter().find_map(|event| {
        let Fact::AwaitingApproval { prompt, .. } = &event.fact else { return None };
        prompt.clone()
    });
    assert_eq!(shown.as_deref(), Some("Ship v1.2?"));
    assert_eq!(rig.machine().view().nodes[1].prompt, shown);
}

#[test]
fn e16_templates_can_read_who_decided_and_which_way_it_went() {
    let mut rig = started(GATE, json!({ "what": 1 }));
    signal(&mut rig, Verb::Approve { node: None });
    let told = rig.log.iter().find_map(|event| {
        let Fact::Notification { message, .. } = &event.fact else { return None };
        Some(message.as_str())
    });
    assert_eq!(told, Some("approved by ann"));
    let lines = "
        node start manual_trigger
        node b branch condition=trigger.output.go
        node say notify message=\"{{nodes.b.output.port}}\"
        edge start -> b
        edge b:on_false -> say
    ";
    let rig = started(lines, json!({}));
    let output = |id: &str| rig.state().node(&Site::parse(id)).and_then(|node| node.output.clone());
    assert_eq!(output("b"), Some(Arc::new(json!({ "port": "on_false" }))));
    assert!(rig.log.iter().any(|event| matches!(
        &event.fact,
        Fact::BranchTaken { port, .. } if *port == PortName::new("on_false")
    )));
}

#[test]
fn the_digest_of_work_is_the_one_that_its_event_names() {
    let lines = ONE.replace("command=a", "command=\"echo {{trigger.output.x}}\"");
    let digest_of = |input: Value| -> Digest {
        started(&lines, input).working.values().next().expect("one runs").digest()
    };
    assert_eq!(digest_of(json!({ "x": 1 })), digest_of(json!({ "x": 1, "y": 2 })));
    assert_ne!(digest_of(json!({ "x": 1 })), digest_of(json!({ "x": 2 })));
}
