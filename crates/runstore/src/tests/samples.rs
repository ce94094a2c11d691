//! A run to try things on, small and with every kind of fact.

pub(crate) mod agents;
pub(crate) mod language;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use blueprint::{BlueprintId, Budget, NodeId, PortName, Repeat, StateOp};
use durable::disk::SharedDisk;
use durable::sim::SeededEntropy;
use durable::{Attempt, Digest, Generation, Seq, Timestamp};
use engine::event::LOG_FORMAT;
use engine::{
    AgainCause, Class, Effect, Event, Fact, FailReason, NodeError, RunId, RunStarted, RunState,
    SignalId, Site, UnknownCause, fold,
};
use serde_json::{Map, Value, json};

use crate::layout::{Home, RunPlace};
use crate::{Created, Invocation, NewRun, RunWriter, create};

pub(crate) const BLUEPRINT: &[u8] = b"{\"id\":\"tidy-up\"}\n";

pub(crate) fn place_in(home: PathBuf) -> RunPlace {
    let blueprint = BlueprintId::new("tidy-up").unwrap();
    Home::at(home).place(&blueprint, &RunId::new("1764500000000-0a1b2c3d").unwrap())
}

pub(crate) fn place() -> RunPlace {
    place_in(PathBuf::from("/home"))
}

pub(crate) fn invocation() -> Vec<u8> {
    Invocation { input: json!({ "name": "Ada" }), ..Invocation::default() }.encode()
}

pub(crate) fn created(disk: &SharedDisk, place: &RunPlace, seed: u64) -> Created {
    let invocation = invocation();
    let new = NewRun { blueprint: Some(BLUEPRINT), invocation: &invocation, automations: &[] };
    create(&**disk, place, &new, &SeededEntropy::new(seed)).unwrap()
}

/// A new run with a writer that has written `batches`.
pub(crate) fn written(disk: &SharedDisk, place: &RunPlace, batches: &[Vec<Event>]) -> RunWriter {
    let mut writer = created(disk, place, 1).into_writer(disk.clone()).unwrap();
    for batch in batches {
        writer.append(batch).unwrap();
    }
    writer
}

pub(crate) fn event(seq: u64, fact: Fact) -> Event {
    let at = Timestamp::from_millis(1_764_500_000_000 + i64::try_from(seq).unwrap());
    Event { seq: Seq(seq), at, fact }
}

pub(crate) fn started(place: &RunPlace) -> Fact {
    Fact::RunStarted(Box::new(start_of(place)))
}

pub(crate) fn start_of(place: &RunPlace) -> RunStarted {
    RunStarted {
        run_id: place.run.clone(),
        blueprint_id: place.blueprint.clone(),
        blueprint_hash: Some(Digest::of(b"graph")),
        schema: 2,
        trigger: Arc::new(json!({ "name": "Ada" })),
        format: LOG_FORMAT,
        generation: Generation::FIRST,
        blueprint_digest: Some(Digest::of(BLUEPRINT)),
        invocation_digest: Some(Digest::of(&invocation())),
        principal: None,
        retry_of: None,
        fork_of: None,
        parent: None,
        deadline: None,
        budget: Budget::default(),
    }
}

pub(crate) fn node_started(node: &str, attempt: u64, generation: u64) -> Fact {
    Fact::NodeStarted {
        node: site(node),
        attempt: Attempt(attempt),
        generation: Generation(generation),
        work: Digest::of(node.as_bytes()),
        deadline: None,
        repeat: Repeat::Safe,
        agent: false,
        child: None,
    }
}

pub(crate) fn completed(node: &str, attempt: Option<u64>, output: Value) -> Fact {
    Fact::NodeCompleted {
        node: site(node),
        attempt: attempt.map(Attempt),
        output: Arc::new(output),
    }
}

pub(crate) fn note(node: &str, message: &str) -> Fact {
    Fact::Notification { node: site(node), message: message.to_owned() }
}

/// The one site of a node, whatever its name looks like.
pub(crate) fn site(node: &str) -> Site {
    Site::of(&NodeId::new(node))
}

/// Three batches of a run that goes well, from its start.
pub(crate) fn batches(place: &RunPlace) -> Vec<Vec<Event>> {
    let facts = vec![
        vec![
            started(place),
            completed("start", None, json!({ "name": "Ada" })),
            node_started("a", 1, 1),
        ],
        vec![completed("a", Some(1), json!({ "text": "line\nbreak" })), node_started("b", 1, 1)],
        vec![note("tell", "half \u{0} way"), completed("tell", None, json!({}))],
    ];
    numbered(facts, 0)
}

/// Two batches of its next owner.
pub(crate) fn more_batches(from: u64) -> Vec<Vec<Event>> {
    let facts = vec![
        vec![Fact::RunAdopted { generation: Generation(2), cut: 0 }],
        vec![Fact::CancelRequested { actor: "ada".into(), note: None, signal: signal("s-1") }],
    ];
    numbered(facts, from)
}

pub(crate) fn numbered(batches: Vec<Vec<Fact>>, from: u64) -> Vec<Vec<Event>> {
    let mut seq = from..;
    let mut number = |fact| event(seq.next().unwrap(), fact);
    batches.into_iter().map(|batch| batch.into_iter().map(&mut number).collect()).collect()
}

pub(crate) fn folded<'a>(events: impl IntoIterator<Item = &'a Event>) -> RunState {
    let mut state = RunState::fresh();
    for event in events {
        fold(&mut state, event).unwrap();
    }
    state
}

pub(crate) fn signal(id: &str) -> SignalId {
    SignalId::new(id).unwrap()
}

/// Every kind of fact, once full and once bare where it has options, made
/// of these texts and this value.
pub(crate) fn every_fact(text: &str, value: &Value) -> Vec<Fact> {
    let mut facts = plain_facts(text, value);
    facts.extend(varied_facts(text, value));
    facts.extend(language::facts(text, value));
    facts.extend(agents::facts(text, value));
    facts
}

pub(crate) fn sample_error(text: &str, output: Option<Value>) -> NodeError {
    NodeError {
        class: Class::Transient,
        code: text.to_owned(),
        message: text.to_owned(),
        effect: Effect::Uncertain,
        output,
        retry_after: None,
    }
}

/// Those whose shape is fixed, and both shapes of those with options.
fn plain_facts(text: &str, value: &Value) -> Vec<Fact> {
    let node = site(text);
    let (attempt, generation) = (Attempt(3), Generation(2));
    let (actor, message) = (text.to_owned(), text.to_owned());
    let error = |output| sample_error(text, output);
    vec![
        started(&place()),
        Fact::RunAdopted { generation, cut: 0 },
        Fact::RunAdopted { generation, cut: 17 },
        Fact::RunResumed { actor: actor.clone(), signal: signal("s-1") },
        node_started(text, 3, 2),
        Fact::NodeStarted {
            node: node.clone(),
            attempt,
            generation,
            work: Digest::of(b"work"),
            deadline: Some(Timestamp::from_millis(1_764_500_123_456)),
            repeat: Repeat::Never,
            agent: false,
            child: None,
        },
        completed(text, None, value.clone()),
        completed(text, Some(3), value.clone()),
        Fact::DecisionCompleted {
            node: node.clone(),
            attempt,
            output: Arc::new(value.clone()),
            port: PortName::new(text),
        },
        Fact::BranchTaken { node: node.clone(), port: PortName::new(text) },
        note(text, text),
        Fact::NodeSkipped { node: node.clone() },
        Fact::NodeFailed { node: node.clone(), attempt: None, error: error(None), caught: None },
        Fact::NodeFailed {
            node: node.clone(),
            attempt: Some(attempt),
            error: error(Some(value.clone())),
            caught: None,
        },
        Fact::AttemptUnknown {
            node: node.clone(),
            attempt,
            cause: UnknownCause::Timeout,
            code: None,
            message: message.clone(),
            caught: None,
        },
        Fact::NodeCancelled { node: node.clone(), attempt },
        Fact::AwaitingApproval { node: node.clone(), prompt: None },
        Fact::AwaitingApproval { node, prompt: Some(text.to_owned()) },
        Fact::CancelRequested { actor: actor.clone(), note: None, signal: signal("s-3") },
        Fact::SignalRefused {
            signal: signal("s-4"),
            verb: text.to_owned(),
            actor,
            code: text.to_owned(),
            message,
        },
        Fact::RunCompleted,
    ]
}

/// Those that come once for each word that they can hold.
fn varied_facts(text: &str, value: &Value) -> Vec<Fact> {
    let (node, attempt) = (site(text), Attempt(3));
    let entries = Map::from_iter(BTreeMap::from([(text.to_owned(), value.clone())]));
    let mut facts = Vec::new();
    for (cause, session) in
        [(AgainCause::Interrupted, None), (AgainCause::Correction, Some(text.to_owned()))]
    {
        let (node, error) = (node.clone(), sample_error(text, None));
        facts.push(Fact::AttemptFailed { node, attempt, error, cause, wake: None, session });
    }
    for op in [StateOp::Get, StateOp::Set, StateOp::Merge, StateOp::Delete] {
        let (node, entries) = (node.clone(), entries.clone());
        facts.push(Fact::StateUpdated { node, op, entries });
    }
    for note in [None, Some(text.to_owned())] {
        let (node, actor, signal) = (node.clone(), text.to_owned(), signal("s-2"));
        facts.push(Fact::ApprovalGranted {
            node: node.clone(),
            actor: actor.clone(),
            note: note.clone(),
            signal: signal.clone(),
        });
        facts.push(Fact::ApprovalRejected { node, actor, note, signal });
    }
    for reason in FailReason::ALL {
        let node = Some(node.clone()).filter(|_| *reason != FailReason::Launch);
        facts.push(Fact::RunFailed { reason: *reason, error: text.to_owned(), node });
    }
    facts
}
