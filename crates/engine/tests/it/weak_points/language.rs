//! The same for loops, items, other runs and ways out of a failure.

use blueprint::check;
use durable::{Generation, Span};
use engine::{Action, Fact, FailReason, NodeStatus, Outcome, RunStatus, Site, Verb};
use serde_json::{Value, json};

use super::{key, kinds, reason, signal, started, status, succeed};
use crate::blueprints::program;
use crate::laws::drive;
use crate::rig::{Rig, refold};

const LOOP_BESIDE: &str = "
    node start manual_trigger
    node again loop max_iterations=2
    node work shell command=work parent=again
    node other shell command=other
    node both join
    node after notify message=after
    edge start -> again
    edge start -> other
    edge again:body -> work
    edge again:done -> both
    edge other -> both -> after
";

#[test]
fn e0_a_join_beside_a_loop_waits_for_its_end() {
    let mut rig = started(LOOP_BESIDE, json!({}));
    succeed(&mut rig, "other");
    for _ in 0..2 {
        assert_eq!(status(&rig, "both"), NodeStatus::Pending);
        succeed(&mut rig, "work");
    }
    assert_eq!(rig.status(), RunStatus::Completed);
}

#[test]
fn e0a_what_is_behind_a_loop_runs_once() {
    let mut rig = started(LOOP_BESIDE, json!({}));
    drive::to_end(&mut rig);
    let ends = |node: &str| {
        let is_it = |fact: &Fact| matches!(fact, Fact::NodeCompleted { node: at, .. } if *at == Site::parse(node));
        rig.log.iter().filter(|event| is_it(&event.fact)).count()
    };
    assert_eq!((ends("work"), ends("both"), ends("after")), (2, 1, 1));
}

#[test]
fn e0b_nothing_behind_a_loop_is_skipped_and_revived() {
    let mut rig = started(LOOP_BESIDE, json!({}));
    drive::to_end(&mut rig);
    assert!(!kinds(&rig).contains(&"node_skipped"));
}

#[test]
fn e0c_a_round_sees_nothing_of_the_one_before_but_as_such() {
    let lines = "
        node start manual_trigger
        node again loop max_iterations=3 until=nodes.found.output.stdout
        node look shell command=look parent=again
        node is branch condition=\"nodes.look.output.exit_code == 0\" parent=again
        node found shell command=found parent=again
        node said notify message=\"{{nodes.found.prev.stdout | default(\\\"nothing\\\")}}\" parent=again
        edge start -> again
        edge again:body -> look -> is
        edge is:on_true -> found
        edge is:on_false -> said
    ";
    let mut rig = started(lines, json!({}));
    let finish = |rig: &mut Rig, node: &str, output: Value| {
        let key = key(rig, node);
        rig.finish(&key, Outcome::Output(output));
    };
    finish(&mut rig, "look", json!({ "exit_code": 0 }));
    finish(&mut rig, "found", json!({ "stdout": "" }));
    let found = rig.state().node(&Site::parse("found")).expect("it has run");
    assert_eq!((&found.output, found.prev.as_deref()), (&None, Some(&json!({ "stdout": "" }))));
    finish(&mut rig, "look", json!({ "exit_code": 1 }));
    // The round in which it was skipped left nothing, neither now nor as the
    // round before the next one.
    let found = rig.state().node(&Site::parse("found")).expect("it is of the third round");
    assert_eq!((&found.output, &found.prev, found.round.0), (&None, &None, 2));
}

#[test]
fn e0d_no_edge_leads_out_of_a_body() {
    let file = "---
id: x
name: X
nodes:
  - { id: start, type: manual_trigger }
  - { id: again, type: loop, fields: { max_iterations: 2 } }
  - { id: work, type: shell, parent: again, fields: { command: work } }
  - { id: outside, type: notify, fields: { message: early } }
edges:
  - { from: start, to: again }
  - { from: again, from_port: body, to: work }
  - { from: work, to: outside }
---
";
    assert!(check(file.as_bytes()).program.is_none());
}

#[test]
fn e0f_a_body_that_stalls_ends_the_run_with_an_event() {
    let mut rig = started(LOOP_BESIDE, json!({}));
    succeed(&mut rig, "other");
    let mut log = rig.log.clone();
    let cancelled = Fact::NodeCancelled { node: Site::parse("work"), attempt: durable::Attempt(1) };
    let seq = durable::Seq(log.len() as u64);
    log.push(engine::Event { seq, at: rig.now, fact: cancelled });
    let state = refold(&log);
    let frontier = engine::decide::Frontier::of(&rig.program, &state);
    let step =
        engine::decide::decide(&rig.program, &state, &frontier, crate::rig::ARTIFACTS, rig.now);
    // A round in which nothing can happen any more is over.
    assert!(step.is_some(), "the run stays running for ever");
}

#[test]
fn e2_gates_of_items_park_their_own_item_only() {
    let lines = "
        node start manual_trigger
        node each for_each items=trigger.output.list max_parallel=2
        node gate approval parent=each
        node work shell command=\"work {{item}}\" parent=each
        edge start -> each
        edge each:body -> gate -> work
    ";
    let mut rig = started(lines, json!({ "list": [1, 2, 3] }));
    signal(&mut rig, Verb::Approve { node: Some(Site::parse("gate[1]")) });
    succeed(&mut rig, "work[1]");
    assert_eq!(status(&rig, "gate[0]"), NodeStatus::Waiting);
    assert_eq!(status(&rig, "gate[2]"), NodeStatus::Waiting);
    assert!(rig.is_parked());
}

#[test]
fn e3_a_failure_is_tried_again_and_has_a_way_out() {
    let lines = "
        node start manual_trigger
        node a shell command=a retry={\"attempts\":2,\"backoff\":\"10s\",\"jitter\":false}
        node instead notify message=\"{{nodes.a.error.code}}\"
        edge start -> a
        edge a:error -> instead
    ";
    let mut rig = started(lines, json!({}));
    for _ in 0..2 {
        let first = key(&rig, "a");
        let error = engine::NodeError::before_effect(
            engine::Class::Transient,
            "busy",
            "a: busy".to_owned(),
        );
        rig.finish(&first, Outcome::Failed(error));
        rig.tick(Span::from_secs(10));
    }
    assert_eq!((rig.status(), rig.state().degraded), (RunStatus::Completed, true));
}

#[test]
fn e5_an_attempt_inside_that_was_half_done_is_unknown_and_not_done_again() {
    let bodies = [
        "node again loop max_iterations=3",
        "node again for_each items=trigger.output.list",
        "node again for_each items=trigger.output.list on_item_error=collect",
    ];
    for container in bodies {
        for on_interrupt in ["fail", "resume"] {
            let lines = format!(
                "set on_interrupt {on_interrupt}
                node start manual_trigger
                {container}
                node a shell command=a parent=again
                edge start -> again
                edge again:body -> a"
            );
            let mut rig = started(&lines, json!({ "list": [1] }));
            rig.crash(0);
            let unknown = kinds(&rig).iter().filter(|kind| **kind == "attempt_unknown").count();
            assert_eq!(unknown, 1, "{container} {on_interrupt}");
            assert!(rig.state().unknown_effect && rig.is_closed(), "{container} {on_interrupt}");
            // Its effect is told whatever becomes of the run.
            assert!(rig.working.is_empty());
        }
    }
}

/// One thousand items, and one thousand rounds: each costs the same few
/// events, whatever came before, and all checkpoints together cost no more
/// than the log does.
#[test]
fn e7_the_cost_of_items_and_rounds_is_linear() {
    let rounds = "
        node start manual_trigger
        node again loop max_iterations=1000
        node count state op=set entries={\"n\":\"x\"} parent=again
        edge start -> again
        edge again:body -> count
    ";
    let items = "
        node start manual_trigger
        node each for_each items=trigger.output.list max_parallel=3
        node say notify message=\"{{item}}\" parent=each
        edge start -> each
        edge each:body -> say
    ";
    let list: Vec<u32> = (0..1000).collect();
    for (lines, input) in [(rounds, json!({})), (items, json!({ "list": list }))] {
        let (log, checkpoints) = played(lines, &input);
        assert!(log <= 3 * 1000 + 10, "{log} events");
        assert!(checkpoints.iter().sum::<usize>() <= 2 * log, "{checkpoints:?} of {log} events");
    }
}

/// The number of events of a run without outside work, and how long the log
/// was at each checkpoint; without the rig, which looks at all of it every
/// time.
fn played(lines: &str, input: &Value) -> (usize, Vec<usize>) {
    let program = program(lines);
    let mut launch = Rig::new(&program).launch_of().clone();
    launch.input = input.clone();
    let fresh = engine::RunState::fresh();
    let mut machine = engine::RunMachine::open(program, fresh, String::new());
    let now = durable::Timestamp::from_millis(crate::rig::START);
    machine.handle(engine::Input::Launch(Box::new(launch)), now);
    let (mut log, mut checkpoints, mut closed) = (0, Vec::new(), false);
    while let Some(action) = machine.poll() {
        match action {
            Action::Append(events) => {
                log += events.len();
                let next = events.last().expect("no batch is empty").seq.next();
                machine.handle(engine::Input::Appended { next }, now);
            }
            Action::Checkpoint => checkpoints.push(log),
            Action::Close(_) => closed = true,
            Action::Start(_) | Action::Stop(_) | Action::Park => {}
        }
    }
    assert!(closed, "the run comes to its end by itself");
    (log, checkpoints)
}

#[test]
fn e8_only_the_last_owner_is_heard_also_inside() {
    let lines = "
        set on_interrupt resume
        node start manual_trigger
        node each for_each items=trigger.output.list
        node a shell command=\"a {{item}}\" parent=each repeat=safe
        edge start -> each
        edge each:body -> a
    ";
    let mut rig = started(lines, json!({ "list": [1] }));
    let first = key(&rig, "a[0]");
    rig.crash(0);
    rig.give_stale(crate::rig::late(&first, Generation(1)));
    succeed(&mut rig, "a[0]");
    assert_eq!(rig.status(), RunStatus::Completed);
}

#[test]
fn e16_loops_and_items_tell_what_became_of_them() {
    let mut rig = started(LOOP_BESIDE, json!({}));
    drive::to_end(&mut rig);
    let again = rig.state().node(&Site::parse("again")).expect("it has run");
    assert_eq!(again.output.as_deref(), Some(&json!({ "iterations": 2 })));
}

/// Killed while a node runs, inside a loop, an item or a run that works for
/// another: the next owner ends it as interrupted or unknown, nothing says
/// that it runs, and it can be tried again.
#[test]
fn c_02_nothing_says_running_after_a_death_and_a_retry_works() {
    let graphs = [
        "node in shell command=in\nedge start -> in",
        "node again loop max_iterations=3\nnode in shell command=in parent=again
        edge start -> again\nedge again:body -> in",
        "node each for_each items=trigger.output.list\nnode in shell command=in parent=each
        edge start -> each\nedge each:body -> in",
    ];
    for graph in graphs {
        let lines = format!("node start manual_trigger\n{graph}");
        let mut rig = started(&lines, json!({ "list": [1, 2] }));
        rig.crash(0);
        assert_eq!(reason(&rig), Some(FailReason::Interrupted));
        let view = rig.machine().view();
        assert_eq!(view.status, RunStatus::Failed);
        assert!(view.nodes.iter().all(|node| node.status != NodeStatus::Running), "{view:#?}");
        let unknown = rig.state().nodes.iter();
        let unknown = unknown.filter(|(_, node)| node.status == NodeStatus::Unknown);
        let verdicts = unknown.map(|(site, _)| (site.clone(), engine::retry::Verdict::Redo));
        let kept = engine::retry::keep(&rig.program, rig.state(), &rig.log, &verdicts.collect())
            .expect("it can be tried again");
        let mut second = Rig::named(&rig.program, "run-2", Value::Null, Some(kept));
        second.start(Value::Null);
        drive::to_end(&mut second);
        assert_eq!(second.status(), RunStatus::Completed);
    }
}

/// A parent outlives the death of its owner, since its child has one of its
/// own; the child's end as interrupted is then the parent's.
#[test]
fn c_02_a_child_that_was_interrupted_leaves_its_parent_not_knowing() {
    let lines = "
        node start manual_trigger
        node work sub_automation automation=other
        edge start -> work
    ";
    let mut rig = started(lines, json!({}));
    rig.crash(0);
    assert!(rig.is_parked());
    let child = key(&rig, "work");
    let error = engine::NodeError {
        effect: engine::Effect::Uncertain,
        ..engine::NodeError::before_effect(
            engine::Class::Unknown,
            "run_failed",
            "work: interrupted".to_owned(),
        )
    };
    rig.finish(&child, Outcome::Ended { end: Err(error), usage: None });
    assert_eq!((rig.status(), status(&rig, "work")), (RunStatus::Failed, NodeStatus::Unknown));
    assert_eq!(rig.machine().view().look().exit, 12);
}
