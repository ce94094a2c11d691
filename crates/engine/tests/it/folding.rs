//! Folding as the one validator of a sequence, and stored states that are
//! not ours to read.

use std::sync::Arc;

use durable::{Attempt, Generation, Round, Seq};
use engine::checkpoint::{CheckpointError, from_stored, to_stored};
use engine::{Class, Event, Fact, FailReason, NodeError, RunState, Site, fold};
use serde_json::{Value, json};

use crate::blueprints::program;
use crate::laws::drive;
use crate::rig::{Rig, refold};

fn played() -> Rig {
    let lines = "
        node start manual_trigger
        node gate approval
        node a shell command=a
        node b shell command=b
        node keep state op=set entries={\"k\":1}
        edge start -> a -> b
        edge start -> gate -> keep
    ";
    let mut rig = Rig::new(&program(lines));
    rig.start(json!({}));
    drive::to_end(&mut rig);
    rig
}

/// What folding says to a fact after so many events of the run.
fn after(rig: &Rig, length: usize, fact: Fact) -> String {
    let mut state = refold(&rig.log[..length]);
    let event = Event { seq: state.next_seq, at: rig.now, fact };
    match fold(&mut state, &event) {
        Ok(()) => "it follows".to_owned(),
        Err(illegal) => illegal.to_string(),
    }
}

#[test]
fn each_way_to_be_out_of_place_is_named() {
    let rig = played();
    let all = rig.log.len();
    let adopted = |generation| Fact::RunAdopted { generation: Generation(generation), cut: 0 };
    let cancelled =
        |attempt| Fact::NodeCancelled { node: Site::parse("a"), attempt: Attempt(attempt) };
    let failed = || Fact::RunFailed { reason: FailReason::Error, error: "e".into(), node: None };
    let skipped = |node: &str| Fact::NodeSkipped { node: Site::parse(node) };
    let started = || rig.log[0].fact.clone();
    let said = [
        after(&rig, 0, adopted(1)),
        after(&rig, 0, failed()),
        after(&rig, 1, started()),
        after(&rig, 4, adopted(1)),
        after(&rig, 4, adopted(2)),
        after(&rig, 4, skipped("a")),
        after(&rig, 4, skipped("start")),
        after(&rig, 4, cancelled(2)),
        after(&rig, 4, cancelled(1)),
        after(&rig, 4, failed()),
        after(&rig, 4, Fact::RunCompleted),
        after(&rig, all, failed()),
    ];
    insta::assert_snapshot!(said.join("\n"));
}

/// What no owner of ours could have written about a body is refused.
#[test]
fn a_container_ends_only_when_its_body_has() {
    let lines = "
        node start manual_trigger
        node again loop max_iterations=2
        node a shell command=a parent=again
        node each for_each items=trigger.output.list on_item_error=collect
        node b shell command=b parent=each
        edge start -> again
        edge start -> each
        edge again:body -> a
        edge each:body -> b
    ";
    let mut rig = Rig::new(&program(lines));
    rig.start(json!({ "list": [1] }));
    let error = || NodeError::before_effect(Class::Bug, "e", "e".to_owned());
    let (again, each, output) = (Site::parse("again"), Site::parse("each"), Arc::new(json!(1)));
    let failed = |node: &Site| Fact::NodeFailed {
        node: node.clone(),
        attempt: None,
        error: error(),
        caught: None,
    };
    let iteration =
        |iteration, begin| Fact::LoopIteration { node: again.clone(), iteration, begin };
    let completed =
        |index| Fact::ItemCompleted { node: each.clone(), index, output: Arc::clone(&output) };
    let said = [
        after(&rig, rig.log.len(), iteration(Round(1), None)),
        after(&rig, rig.log.len(), iteration(Round::FIRST, None)),
        after(&rig, rig.log.len(), Fact::LoopCompleted { node: again.clone() }),
        after(&rig, rig.log.len(), Fact::LoopCompleted { node: each.clone() }),
        after(&rig, rig.log.len(), failed(&again)),
        after(&rig, rig.log.len(), completed(0)),
        after(&rig, rig.log.len(), completed(1)),
        after(
            &rig,
            rig.log.len(),
            Fact::ItemFailed { node: each.clone(), index: 0, error: error() },
        ),
        after(&rig, rig.log.len(), Fact::ForEachCompleted { node: each.clone() }),
        after(&rig, rig.log.len(), Fact::RunCompleted),
    ];
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn a_gap_or_a_repetition_is_refused() {
    let rig = played();
    for (length, at) in [(2, 3), (2, 1), (0, 1)] {
        let mut state = refold(&rig.log[..length]);
        let error = fold(&mut state, &rig.log[at]).expect_err("it is out of order");
        let found = format!("event {at} stands where event {length} belongs");
        assert_eq!(error.to_string(), found);
    }
}

#[test]
fn a_fact_that_is_refused_leaves_no_trace() {
    let rig = played();
    for length in 0..=rig.log.len() {
        for other in &rig.log {
            let mut state = refold(&rig.log[..length]);
            let before = state.clone();
            let event = Event { seq: state.next_seq, ..other.clone() };
            if fold(&mut state, &event).is_err() {
                assert_eq!(state, before, "{event:?}");
            }
        }
    }
}

#[test]
fn a_log_of_the_reference_may_end_with_nodes_that_run() {
    let rig = played();
    let Fact::RunStarted(mut started) = rig.log[0].fact.clone() else {
        panic!("a log begins with its start");
    };
    started.format.major = 0;
    let mut log = rig.log[..4].to_vec();
    log[0].fact = Fact::RunStarted(started);
    let fact = Fact::RunFailed { reason: FailReason::Interrupted, error: "e".into(), node: None };
    log.push(Event { seq: Seq(4), at: rig.now, fact });
    let state = refold(&log);
    assert!(state.in_flight.is_empty() && state.waiting.is_empty());
    assert_eq!(crate::rig::stored(&state), state);
}

#[test]
fn the_record_of_a_launch_that_failed_is_a_run_of_one_event() {
    let error = "the file is not there".to_owned();
    let fact = Fact::RunFailed { reason: FailReason::Launch, error, node: None };
    let mut state = RunState::fresh();
    fold(&mut state, &Event { seq: Seq(0), at: played().now, fact }).expect("it may come first");
    assert!(state.started.is_none() && state.closed.is_some());
    assert_eq!(crate::rig::stored(&state), state);
}

#[test]
fn a_stored_state_of_another_kind_is_refused_and_named() {
    let rig = played();
    let stored = serde_json::to_value(to_stored(rig.state())).expect("a state is JSON");
    let read = |change: &dyn Fn(&mut Value)| -> Result<RunState, CheckpointError> {
        let mut stored = stored.clone();
        change(&mut stored);
        from_stored(serde_json::from_value(stored).expect("the shape is right"))
    };
    assert_eq!(read(&|_| ()).expect("unchanged"), *rig.state());
    let error = read(&|stored| stored["format"]["major"] = json!(2)).expect_err("too new");
    assert!(matches!(error, CheckpointError::TooNew { .. }));
    let error = read(&|stored| stored["nodes"]["a"] = json!("done")).expect_err("no such word");
    assert_eq!(error.to_string(), "the checkpoint holds the unknown word `done`");
    let error = read(&|stored| stored["blueprint_hash"] = json!("sha1:x")).expect_err("no digest");
    assert_eq!(error.to_string(), "the checkpoint holds the unknown word `sha1:x`");
}
