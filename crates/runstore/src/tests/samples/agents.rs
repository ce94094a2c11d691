//! Facts of what agents say of themselves: sessions, claims, proofs and
//! limits; one of each shape, and a run in which they stand where they can.

use std::sync::Arc;

use blueprint::PortName;
use durable::{Attempt, Digest, Generation, Span};
use engine::{
    AgainCause, CheckEnd, CheckResult, Event, Fact, FailReason, NodeError, Proof, Site,
    UnknownCause,
};
use serde_json::{Value, json};

use super::language::{agent_started, at_item, moment};
use super::{completed, node_started, numbered, sample_error, signal, site, started};
use crate::layout::RunPlace;

/// Every shape of these facts, made of this text and this value.
pub(crate) fn facts(text: &str, value: &Value) -> Vec<Fact> {
    let (node, attempt) = (at_item(text, 3), Attempt(2));
    let mut facts = vec![
        Fact::SessionReported { node: node.clone(), attempt, session: text.to_owned() },
        Fact::NodeClaimed {
            node: node.clone(),
            attempt,
            output: Arc::new(value.clone()),
            port: PortName::new(text),
        },
        claimed(site(text), 1, &Value::Null),
        asked(site(text), 1, 1),
        Fact::ProofStarted {
            node: node.clone(),
            attempt,
            proof: Attempt(3),
            generation: Generation(2),
            work: Digest::of(b"checks"),
            deadline: None,
        },
        Fact::ProofInterrupted { node: node.clone(), attempt },
        limited(node.clone(), attempt.0),
    ];
    for proof in Proof::ALL {
        let (node, proof) = (node.clone(), *proof);
        let end = |end: &CheckEnd| CheckResult {
            check: text.to_owned(),
            end: *end,
            note: (*end != CheckEnd::Held).then(|| text.to_owned()),
        };
        let checks = CheckEnd::ALL.iter().map(end).collect();
        facts.push(Fact::ProofReported { node: node.clone(), attempt, proof, checks });
        facts.push(Fact::ProofReported { node, attempt, proof, checks: Vec::new() });
    }
    facts
}

fn claimed(node: Site, attempt: u64, output: &Value) -> Fact {
    let (attempt, output) = (Attempt(attempt), Arc::new(output.clone()));
    Fact::NodeClaimed { node, attempt, output, port: PortName::new("out") }
}

fn asked(node: Site, attempt: u64, proof: u64) -> Fact {
    Fact::ProofStarted {
        node,
        attempt: Attempt(attempt),
        proof: Attempt(proof),
        generation: Generation(proof),
        work: Digest::of(b"checks"),
        deadline: Some(moment(600)),
    }
}

fn limited(node: Site, attempt: u64) -> Fact {
    Fact::AttemptFailed {
        node,
        attempt: Attempt(attempt),
        error: NodeError {
            retry_after: Some(Span::from_secs(3600)),
            ..sample_error("the limit is reached", None)
        },
        cause: AgainCause::Limit,
        wake: Some(moment(3700)),
        session: None,
    }
}

fn reported(node: &str, attempt: u64, proof: Proof, end: CheckEnd) -> Fact {
    let note = (end != CheckEnd::Held).then(|| "there is no such file".to_owned());
    let checks = vec![CheckResult { check: "file report.md".to_owned(), end, note }];
    Fact::ProofReported { node: site(node), attempt: Attempt(attempt), proof, checks }
}

/// A run in two batches; the first ends where a claim waits for its proof, the
/// checks of another are made, and a third node waits for a limit.
pub(crate) fn history(place: &RunPlace) -> Vec<Vec<Event>> {
    let session = |node: &str, session: &str| {
        let (node, attempt, session) = (site(node), Attempt(1), session.to_owned());
        Fact::SessionReported { node, attempt, session }
    };
    let first = vec![
        started(place),
        agent_started(site("plan"), 1),
        session("plan", "native-1"),
        claimed(site("plan"), 1, &json!({ "text": "a plan" })),
        asked(site("plan"), 1, 1),
        reported("plan", 1, Proof::Proven, CheckEnd::Held),
        completed("plan", Some(1), json!({ "text": "a plan" })),
        agent_started(site("write"), 1),
        agent_started(site("judge"), 1),
        agent_started(site("wait"), 1),
        node_started("make", 1, 1),
        limited(site("wait"), 1),
        session("write", "native-1"),
        claimed(site("write"), 1, &json!({ "text": "done" })),
        asked(site("write"), 1, 1),
        claimed(site("make"), 1, &json!({ "exit_code": 0 })),
        asked(site("make"), 1, 1),
        reported("make", 1, Proof::Unknown, CheckEnd::Unknown),
    ];
    numbered(vec![first, rest()], 0)
}

fn rest() -> Vec<Fact> {
    let contradicted = || NodeError {
        code: "contradicted".to_owned(),
        ..sample_error("write: it claims success, and that is not so", Some(json!(null)))
    };
    vec![
        Fact::RunAdopted { generation: Generation(2), cut: 0 },
        Fact::ProofInterrupted { node: site("write"), attempt: Attempt(1) },
        Fact::AttemptUnknown {
            node: site("make"),
            attempt: Attempt(1),
            cause: UnknownCause::Lost,
            code: None,
            message: "nobody knows".to_owned(),
            caught: Some(engine::Caught::Port),
        },
        Fact::RunResumed { actor: "ada".into(), signal: signal("s-1") },
        asked(site("write"), 1, 2),
        reported("write", 1, Proof::Contradicted, CheckEnd::Broken),
        Fact::NodeFailed {
            node: site("write"),
            attempt: Some(Attempt(1)),
            error: contradicted(),
            caught: None,
        },
        Fact::NodeCancelled { node: site("judge"), attempt: Attempt(1) },
        Fact::RunFailed {
            reason: FailReason::Contradicted,
            error: contradicted().message,
            node: Some(site("write")),
        },
    ]
}

/// Every event of the run is one that can follow.
#[test]
fn the_run_folds() {
    let history = history(&super::place());
    let half = super::folded(&history[0]);
    assert_eq!((half.claims.len(), half.in_flight.len()), (1, 2));
    assert!(half.waits_for_limit() && half.proof() == Some(Proof::Unknown));
    let state = super::folded(history.iter().flatten());
    assert_eq!(state.proof(), Some(Proof::Contradicted));
    assert!(state.closed.is_some() && state.unknown_effect);
}
