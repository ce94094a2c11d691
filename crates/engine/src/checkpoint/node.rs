//! A node as stored.

use std::sync::Arc;

use blueprint::{PortName, Repeat};
use durable::{Attempt, Generation, Round, Timestamp};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::progress::{StoredClaim, claim, stored_claim};
use super::{CheckpointError, is_default, word};
use crate::event::{AgainCause, Child};
use crate::proof::{CheckResult, Proof};
use crate::state::{InFlight, NodeState, NodeStatus};
use crate::work::{Class, Effect, NodeError};

#[derive(Debug, Serialize, Deserialize)]
pub struct StoredNode {
    attempt: Attempt,
    generation: Option<Generation>,
    deadline: Option<Timestamp>,
    repeat_safe: bool,
    /// Absent where the attempt began with the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "is_default")]
    agent: bool,
    /// Of an asking for checks, which it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asking: Option<Attempt>,
    #[serde(default, skip_serializing_if = "is_default")]
    round: u64,
    /// Absent for none: a null is an output too.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present_arc")]
    prev: Option<Arc<Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    wake: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    child: Option<Arc<Child>>,
    port: Option<PortName>,
    error: Option<StoredError>,
    error_value: Option<Value>,
    prompt: Option<String>,
    session: Option<String>,
    correction: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    again: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    limits: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    claim: Option<StoredClaim>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proof: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    checks: Vec<CheckResult>,
    started_at: Option<Timestamp>,
    ended_at: Option<Timestamp>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredError {
    class: String,
    code: String,
    message: String,
    effect: String,
    /// Absent for none: a null is an output too.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    output: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after: Option<durable::Span>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

fn present_arc<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Arc<Value>>, D::Error> {
    Value::deserialize(deserializer).map(Arc::new).map(Some)
}

pub(super) fn stored_node(node: &NodeState) -> StoredNode {
    StoredNode {
        attempt: node.attempt,
        generation: node.in_flight.map(|flight| flight.generation),
        deadline: node.in_flight.and_then(|flight| flight.deadline),
        repeat_safe: node.in_flight.is_some_and(|flight| flight.repeat == Repeat::Safe),
        since: node.in_flight.map(|flight| flight.since).filter(|at| node.started_at != Some(*at)),
        agent: node.in_flight.is_some_and(|flight| flight.agent),
        asking: node.in_flight.and_then(|flight| flight.proof),
        round: node.round.0,
        prev: node.prev.clone(),
        wake: node.wake,
        child: node.child.clone(),
        port: node.port.clone(),
        error: node.error.as_ref().map(stored_error),
        error_value: node.error_value.clone(),
        prompt: node.prompt.clone(),
        session: node.session.clone(),
        correction: node.correction.clone(),
        again: node.again.map(|cause| cause.word().to_owned()),
        limits: node.limits,
        claim: node.claim.as_ref().map(stored_claim),
        proof: node.proof.map(|proof| proof.word().to_owned()),
        checks: node.checks.clone(),
        started_at: node.started_at,
        ended_at: node.ended_at,
    }
}

pub(super) fn stored_error(error: &NodeError) -> StoredError {
    StoredError {
        class: error.class.word().to_owned(),
        code: error.code.clone(),
        message: error.message.clone(),
        effect: error.effect.word().to_owned(),
        output: error.output.clone(),
        retry_after: error.retry_after,
    }
}

pub(super) fn node(
    status: NodeStatus,
    output: Option<Arc<Value>>,
    stored: Option<&StoredNode>,
) -> Result<NodeState, CheckpointError> {
    let mut node = NodeState { status, output, ..NodeState::pending() };
    let Some(stored) = stored else { return Ok(node) };
    node.attempt = stored.attempt;
    node.in_flight = stored.generation.map(|generation| InFlight {
        generation,
        deadline: stored.deadline,
        repeat: if stored.repeat_safe { Repeat::Safe } else { Repeat::Never },
        since: stored.since.or(stored.started_at).unwrap_or_else(|| Timestamp::from_millis(0)),
        agent: stored.agent,
        proof: stored.asking,
    });
    node.round = Round(stored.round);
    node.prev = stored.prev.clone();
    node.wake = stored.wake;
    node.child = stored.child.clone();
    node.port = stored.port.clone();
    node.error = stored.error.as_ref().map(error).transpose()?;
    node.error_value = stored.error_value.clone();
    node.prompt = stored.prompt.clone();
    node.session = stored.session.clone();
    node.correction = stored.correction.clone();
    node.again = word(stored.again.as_ref(), AgainCause::from_word)?;
    node.limits = stored.limits;
    node.claim = stored.claim.as_ref().map(claim);
    node.proof = word(stored.proof.as_ref(), Proof::from_word)?;
    node.checks = stored.checks.clone();
    node.started_at = stored.started_at;
    node.ended_at = stored.ended_at;
    Ok(node)
}

pub(super) fn error(stored: &StoredError) -> Result<NodeError, CheckpointError> {
    let class = Class::from_word(&stored.class);
    let effect = Effect::from_word(&stored.effect);
    Ok(NodeError {
        class: class.ok_or_else(|| CheckpointError::Word(stored.class.clone()))?,
        code: stored.code.clone(),
        message: stored.message.clone(),
        effect: effect.ok_or_else(|| CheckpointError::Word(stored.effect.clone()))?,
        output: stored.output.clone(),
        retry_after: stored.retry_after,
    })
}
