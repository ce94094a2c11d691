//! Logs that were written once and must read the same for ever: one of each
//! released format of ours, with the state that it folds to, and one of the
//! reference.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use blueprint::{BlueprintId, PortName, StateOp};
use durable::disk::{Disk, SharedDisk};
use durable::sim::SimDisk;
use durable::tail::Trust;
use durable::{Attempt, Seq, Timestamp};
use engine::checkpoint::to_stored;
use engine::{
    AgainCause, Class, Effect, Event, Fact, FailReason, NodeError, RunId, RunStatus, Site,
    UnknownCause,
};
use serde_json::{Map, Value, json};

use super::samples::{
    BLUEPRINT, agents, completed, folded, invocation, language, node_started, note, numbered,
    place, signal, started, written,
};
use crate::verify::FileCheck;
use crate::{AdoptError, CheckpointUse, RunPlace, adopt, lock, open, read, verify};

const V1_LOG: &[u8] = include_bytes!("../../tests/fixtures/v1/events.jsonl");
const V1_SAVED: &[u8] = include_bytes!("../../tests/fixtures/v1/state.json");
const V1_FOLDED: &str = include_str!("../../tests/fixtures/v1/folded.json");
const LANGUAGE_LOG: &[u8] = include_bytes!("../../tests/fixtures/language/events.jsonl");
const LANGUAGE_SAVED: &[u8] = include_bytes!("../../tests/fixtures/language/state.json");
const LANGUAGE_FOLDED: &str = include_str!("../../tests/fixtures/language/folded.json");
const AGENTS_LOG: &[u8] = include_bytes!("../../tests/fixtures/agents/events.jsonl");
const AGENTS_SAVED: &[u8] = include_bytes!("../../tests/fixtures/agents/state.json");
const AGENTS_FOLDED: &str = include_str!("../../tests/fixtures/agents/folded.json");
const REFERENCE_LOG: &[u8] = include_bytes!("../../tests/fixtures/reference/events.jsonl");
const REFERENCE_SAVED: &[u8] = include_bytes!("../../tests/fixtures/reference/state.json");
const REFERENCE_CALL: &[u8] = include_bytes!("../../tests/fixtures/reference/invocation.json");

/// A run in which every kind of event stands where it can, in two batches.
fn history(place: &RunPlace) -> Vec<Vec<Event>> {
    numbered(vec![first_batch(place), second_batch()], 0)
}

fn first_batch(place: &RunPlace) -> Vec<Fact> {
    let node = Site::parse;
    let entries = Map::from_iter(BTreeMap::from([("k\u{0}".to_owned(), json!([1.50, null]))]));
    vec![
        started(place),
        completed("start", None, json!({ "name": "Ada" })),
        Fact::BranchTaken { node: node("fork"), port: PortName::new("on_true") },
        Fact::NodeSkipped { node: node("other") },
        Fact::StateUpdated { node: node("keep"), op: StateOp::Set, entries: entries.clone() },
        completed("keep", None, Value::Object(entries)),
        note("tell", "half \u{0} way"),
        completed("tell", None, json!({})),
        Fact::AwaitingApproval { node: node("gate"), prompt: Some("Open it?".into()) },
        Fact::ApprovalGranted {
            node: node("gate"),
            actor: "ada".into(),
            note: Some("yes".into()),
            signal: signal("s-1"),
        },
        node_started("ask", 1, 1),
        node_started("write", 1, 1),
        node_started("lost", 1, 1),
    ]
}

fn second_batch() -> Vec<Fact> {
    let node = Site::parse;
    let error = |message: &str, output| NodeError {
        class: Class::Bug,
        code: "exit".into(),
        message: message.into(),
        effect: Effect::Done,
        output,
        retry_after: None,
    };
    let ask = node("ask");
    vec![
        Fact::RunAdopted { generation: durable::Generation(2), cut: 12 },
        Fact::AttemptFailed {
            node: ask.clone(),
            attempt: Attempt(1),
            error: error("the reply names no choice", None),
            cause: AgainCause::Correction,
            wake: None,
            session: Some("native-7".into()),
        },
        node_started("ask", 2, 2),
        Fact::DecisionCompleted {
            node: ask,
            attempt: Attempt(2),
            output: Arc::new(json!({ "chosen": "ship", "reason": "green" })),
            port: PortName::new("ship"),
        },
        Fact::AttemptUnknown {
            node: node("lost"),
            attempt: Attempt(1),
            cause: UnknownCause::Interrupted,
            code: None,
            message: "the owner of the run died".into(),
            caught: None,
        },
        Fact::RunResumed { actor: "ada".into(), signal: signal("s-2") },
        Fact::SignalRefused {
            signal: signal("s-3"),
            verb: "approve".into(),
            actor: "a worker".into(),
            code: "managed_caller".into(),
            message: "a run may not approve".into(),
        },
        Fact::CancelRequested { actor: "ada".into(), note: None, signal: signal("s-4") },
        Fact::NodeCancelled { node: node("write"), attempt: Attempt(1) },
        Fact::NodeFailed {
            node: node("check"),
            attempt: None,
            error: error("check exited with code 3", Some(json!({ "exit_code": 3 }))),
            caught: None,
        },
        Fact::RunFailed {
            reason: FailReason::Cancelled,
            error: "cancelled by ada".into(),
            node: None,
        },
    ]
}

/// A disk with these files of a run.
fn on_disk(place: &RunPlace, files: [(&str, &[u8]); 4]) -> (SimDisk, SharedDisk) {
    let disk = SimDisk::new();
    for (name, bytes) in files {
        disk.put(&place.folder().join(name), bytes);
    }
    disk.put(&place.driver_lock(), b"");
    (disk.clone(), Arc::new(disk))
}

/// A run as it was written once, and what it folds to.
struct Golden {
    log: &'static [u8],
    saved: &'static [u8],
    folded: &'static str,
    history: fn(&RunPlace) -> Vec<Vec<Event>>,
}

const GOLDEN: [Golden; 3] = [
    Golden { log: V1_LOG, saved: V1_SAVED, folded: V1_FOLDED, history },
    Golden {
        log: LANGUAGE_LOG,
        saved: LANGUAGE_SAVED,
        folded: LANGUAGE_FOLDED,
        history: language::history,
    },
    Golden {
        log: AGENTS_LOG,
        saved: AGENTS_SAVED,
        folded: AGENTS_FOLDED,
        history: agents::history,
    },
];

impl Golden {
    fn on_disk(&self) -> (SimDisk, SharedDisk) {
        let call = invocation();
        let files = [
            ("events.jsonl", self.log),
            ("state.json", self.saved),
            ("blueprint.json", BLUEPRINT),
            ("invocation.json", &call),
        ];
        on_disk(&place(), files)
    }
}

fn reference() -> (SimDisk, SharedDisk, RunPlace) {
    let blueprint = BlueprintId::new("dependency-triage").unwrap();
    let run = RunId::new("1785578400000-5f0c9a11").unwrap();
    let place = place().home.place(&blueprint, &run);
    let files = [
        ("events.jsonl", REFERENCE_LOG),
        ("state.json", REFERENCE_SAVED),
        ("invocation.json", REFERENCE_CALL),
        ("blueprint.json", b"{}"),
    ];
    let (sim, disk) = on_disk(&place, files);
    (sim, disk, place)
}

fn json_of(state: &engine::RunState) -> Value {
    serde_json::to_value(to_stored(state)).unwrap()
}

#[test]
fn a_log_of_format_1_folds_to_the_state_that_it_always_did() {
    for golden in GOLDEN {
        let (sim, disk) = golden.on_disk();
        let expected: Value = serde_json::from_str(golden.folded).unwrap();
        let history = (golden.history)(&place());
        let opened = open(&*disk, &place()).unwrap();
        let behind = history[1].len() as u64;
        assert_eq!(opened.checkpoint, CheckpointUse::Used { behind });
        assert_eq!(json_of(&opened.state), expected);
        let replayed = read::state_at(&*disk, &place(), Seq(u64::MAX)).unwrap();
        assert_eq!(json_of(&replayed), expected);
        assert_eq!(replayed, opened.state);
        assert!(verify(&*disk, &place()).unwrap().is_sound());
        let mut events = Vec::new();
        read::each(&sim, &place(), |event| {
            events.push(event);
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(events, history.concat());
    }
}

#[test]
fn format_1_is_still_written_byte_for_byte() {
    for golden in GOLDEN {
        let (sim, place) = (SimDisk::new(), place());
        let disk: SharedDisk = Arc::new(sim.clone());
        let history = (golden.history)(&place);
        let mut writer = written(&disk, &place, &history[..1]);
        writer.checkpoint(&folded(&history[0])).unwrap();
        writer.append(&history[1]).unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        assert_eq!(text(&sim.read(&place.events(), 1 << 20).unwrap()), text(golden.log));
        assert_eq!(text(&sim.read(&place.state(), 1 << 20).unwrap()), text(golden.saved));
    }
}

#[test]
fn a_log_of_the_reference_is_replayed_as_unverified() {
    let (_, disk, place) = reference();
    let opened = open(&*disk, &place).unwrap();
    assert_eq!((opened.trust, opened.position.next_seq), (Trust::Unverified, Seq(20)));
    assert!(matches!(opened.checkpoint, CheckpointUse::Passed(_)));
    assert_eq!(opened.state.status(), RunStatus::Completed);
    let at = Timestamp::from_millis(1_785_578_400_123);
    assert_eq!(opened.state.started_at, Some(at));
    let judge = opened.state.node(&Site::parse("judge")).unwrap();
    assert_eq!(judge.output.as_deref(), Some(&json!({ "worth_it": true, "summary": "two" })));
    let gated = read::state_at(&*disk, &place, Seq(8)).unwrap();
    assert_eq!(gated.status(), RunStatus::AwaitingApproval);
    let report = verify(&*disk, &place).unwrap();
    assert!(!report.is_sound());
    let unproven = |(_, check): &&(String, FileCheck)| *check == FileCheck::Unproven;
    assert_eq!(report.files.iter().filter(unproven).count(), 2);
}

#[test]
fn a_run_that_the_reference_found_interrupted_is_failed() {
    let (sim, disk, place) = reference();
    let lines = REFERENCE_LOG.split_inclusive(|byte| *byte == b'\n').take(5);
    let end = br#"{"seq":5,"ts":"2026-08-01T11:15:00Z","kind":"run_failed","error":"automation run interrupted by application restart"}"#;
    let log: Vec<u8> = lines.flatten().chain(end).chain(b"\n").copied().collect();
    sim.put(&place.events(), &log);
    let closed = open(&*disk, &place).unwrap().state.closed.unwrap();
    assert_eq!(closed.failure.unwrap().reason, FailReason::Interrupted);
}

#[test]
fn a_log_of_the_reference_is_never_appended_to() {
    let (sim, disk, place) = reference();
    let before = sim.digest();
    let lock = lock::take(&*disk, &place).unwrap().unwrap();
    let refused = adopt(&disk, &place, lock).unwrap_err();
    assert!(matches!(refused, AdoptError::Unverified { .. }), "{refused}");
    assert_eq!(sim.digest(), before);
}

#[test]
fn a_torn_log_of_the_reference_is_shown_and_left() {
    let (sim, disk, place) = reference();
    sim.put(&place.events(), &REFERENCE_LOG[..REFERENCE_LOG.len() - 9]);
    let before = sim.digest();
    let opened = open(&*disk, &place).unwrap();
    assert!(opened.torn.is_some());
    assert_eq!(opened.position.next_seq, Seq(19));
    let lock = lock::take(&*disk, &place).unwrap().unwrap();
    assert!(matches!(adopt(&disk, &place, lock), Err(AdoptError::Unverified { .. })));
    assert_eq!(sim.digest(), before);
}
