//! Inputs → facts. It translates and is never surprised: an input that is
//! stale, repeated or meaningless yields nothing, at any time.

use std::sync::Arc;

use blueprint::{Kind, Node, NodeId, OnInterrupt, PortName, Program, Repeat, Schema};
use durable::{Attempt, Generation, Timestamp};
use serde_json::{Value, json};

use crate::event::{AgainCause, Fact, FailReason, LOG_FORMAT, RunStarted, UnknownCause};
use crate::input::{Input, Launch, Outcome, Signal, Verb};
use crate::reply;
use crate::retry::is_half_kept;
use crate::state::{NodeState, RunState};
use crate::trigger::trigger_output;
use crate::work::{AttemptKey, Class, Effect, NodeError};

/// Tries of one node over all interruptions, so that a node that kills its
/// owner is not repeated for ever.
const ATTEMPTS_MAX: Attempt = Attempt(20);

/// The facts that an input adds to a run in this state.
pub fn receive(program: &Program, state: &RunState, input: &Input, now: Timestamp) -> Vec<Fact> {
    if state.closed.is_some() {
        return Vec::new();
    }
    match input {
        Input::Launch(launch) if state.started.is_none() => begin(program, launch, now),
        Input::Opened { cut } if state.started.is_some() => adopt(program, state, *cut),
        Input::Outcome { key, generation, outcome } if is_current(state, key, *generation) => {
            end(program, state, key, outcome).into_iter().collect()
        }
        Input::Signal(signal) if state.started.is_some() => {
            answer(program, state, signal).into_iter().collect()
        }
        Input::Launch(_)
        | Input::Opened { .. }
        | Input::Outcome { .. }
        | Input::Signal(_)
        | Input::Appended { .. }
        | Input::Tick => Vec::new(),
    }
}

fn begin(program: &Program, launch: &Launch, now: Timestamp) -> Vec<Fact> {
    let retry = launch.retry.as_deref();
    let trigger = retry.and_then(|kept| kept.trigger.clone());
    let started = RunStarted {
        run_id: launch.run_id.clone(),
        blueprint_id: program.id().clone(),
        blueprint_hash: Some(program.hash()),
        schema: program.schema(),
        trigger: trigger.unwrap_or_else(|| Arc::new(trigger_output(&launch.input, now))),
        format: LOG_FORMAT,
        generation: Generation::FIRST,
        blueprint_digest: Some(launch.blueprint_digest),
        invocation_digest: Some(launch.invocation_digest),
        principal: launch.principal.clone(),
        retry_of: retry.map(|kept| kept.of.clone()),
    };
    let mut facts = vec![Fact::RunStarted(Box::new(started))];
    if let Some(kept) = retry {
        facts.extend(kept.facts.iter().cloned());
        facts.push(Fact::RunAdopted { generation: Generation::FIRST.next(), cut: 0 });
    }
    facts
}

/// After the death of an owner nothing is in flight, whatever the state
/// says: the difference is the recovery.
fn adopt(program: &Program, state: &RunState, cut: u64) -> Vec<Fact> {
    if is_half_kept(state) {
        return give_up(state);
    }
    let adopted = Fact::RunAdopted { generation: state.generation.next(), cut };
    let lost = state.in_flight.iter().filter_map(|id| Some((id, state.node(id)?)));
    let repeatable = program.on_interrupt() == OnInterrupt::Resume
        && state.failure.is_none()
        && lost.clone().all(|(_, node)| {
            node.attempt < ATTEMPTS_MAX
                && node.in_flight.is_some_and(|flight| flight.repeat == Repeat::Safe)
        });
    let judge = |(id, node): (&NodeId, &NodeState)| {
        if repeatable { again(id, node.attempt) } else { unknown(id, node.attempt) }
    };
    let mut facts = vec![adopted];
    facts.extend(lost.map(judge));
    if is_abandoned(program, state) {
        facts.push(interrupted(
            "the owner of the run ended before the run did; nothing was in flight",
        ));
    }
    facts
}

/// To go on from a part of what the run was to keep would do the rest of it
/// again. What is in flight by that part was so in the run before.
fn give_up(state: &RunState) -> Vec<Fact> {
    let kept = state.in_flight.iter().filter_map(|id| Some(again(id, state.node(id)?.attempt)));
    let error = "the owner of the run ended before all was recorded that the run keeps of the one \
                 that it tries again; nothing was started";
    kept.chain([interrupted(error)]).collect()
}

fn interrupted(error: &str) -> Fact {
    Fact::RunFailed { reason: FailReason::Interrupted, error: error.to_owned(), node: None }
}

/// Open, with nothing in flight, nothing to wait for and no end under way:
/// the author decides whether such a run goes on.
fn is_abandoned(program: &Program, state: &RunState) -> bool {
    program.on_interrupt() == OnInterrupt::Fail
        && state.in_flight.is_empty()
        && state.waiting.is_empty()
        && state.failure.is_none()
}

fn again(node: &NodeId, attempt: Attempt) -> Fact {
    let error = NodeError {
        class: Class::Unknown,
        code: "interrupted".to_owned(),
        message: "the owner of the run ended while this attempt was in flight".to_owned(),
        effect: Effect::Uncertain,
        output: None,
    };
    let cause = AgainCause::Interrupted;
    Fact::AttemptFailed { node: node.clone(), attempt, error, cause, session: None }
}

fn unknown(node: &NodeId, attempt: Attempt) -> Fact {
    let message = format!(
        "{node}: the owner of the run ended while attempt {attempt} was in flight; \
         what it did is unknown and it is not repeated"
    );
    Fact::AttemptUnknown { node: node.clone(), attempt, cause: UnknownCause::Interrupted, message }
}

/// Whether an outcome speaks of the attempt that is in flight now.
fn is_current(state: &RunState, key: &AttemptKey, generation: Generation) -> bool {
    let run = state.started.as_ref().is_some_and(|started| started.run_id == key.run);
    let flight = state.node(&key.node).filter(|node| node.attempt == key.attempt);
    run && flight
        .and_then(|node| node.in_flight)
        .is_some_and(|flight| flight.generation == generation)
}

fn end(program: &Program, state: &RunState, key: &AttemptKey, outcome: &Outcome) -> Option<Fact> {
    let node = program.node(program.node_ix(&key.node)?);
    let (id, attempt) = (key.node.clone(), key.attempt);
    Some(match outcome {
        Outcome::Output(output) => match &node.kind {
            // A choice is never taken unread.
            Kind::Decision { choices, .. } => {
                decided(node, state, key, choices, &output.to_string(), None)
            }
            Kind::Task { output_schema, .. } => {
                fitting(node, key, output_schema.as_ref(), output.clone(), &output.to_string())
            }
            Kind::Shell { .. }
            | Kind::Script { .. }
            | Kind::ManualTrigger { .. }
            | Kind::Branch { .. }
            | Kind::Join
            | Kind::Approval { .. }
            | Kind::State { .. }
            | Kind::Notify { .. } => completed(key, output.clone()),
        },
        Outcome::Replied { text, session } => replied(node, state, key, text, session.as_ref()),
        Outcome::Failed(error) => {
            Fact::NodeFailed { node: id, attempt: Some(attempt), error: error.clone() }
        }
        Outcome::Lost { message } => {
            let cause = UnknownCause::Lost;
            Fact::AttemptUnknown { node: id, attempt, cause, message: message.clone() }
        }
        Outcome::Stopped => stopped(node, state, key),
    })
}

fn completed(key: &AttemptKey, output: Value) -> Fact {
    let (node, attempt) = (key.node.clone(), Some(key.attempt));
    Fact::NodeCompleted { node, attempt, output: Arc::new(output) }
}

/// A stop was asked for by a person, or because the time was up; which of
/// them does not hang on a clock that may have gone back since. One that
/// nobody asked for leaves an attempt of which nothing is known.
fn stopped(node: &Node, state: &RunState, key: &AttemptKey) -> Fact {
    let (id, attempt) = (key.node.clone(), key.attempt);
    if state.cancel.is_some() {
        return Fact::NodeCancelled { node: id, attempt };
    }
    let flight = state.node(&id).and_then(|node| node.in_flight);
    let timed = flight.is_some_and(|flight| flight.deadline.is_some());
    let (cause, why) = match node.timeout {
        Some(limit) if timed => {
            (UnknownCause::Timeout, format!("ran past its timeout of {limit} and was ended"))
        }
        Some(_) | None => (UnknownCause::Lost, "was ended, and not by this run".to_owned()),
    };
    let message = format!("{id}: attempt {attempt} {why}; what it did until then is unknown");
    Fact::AttemptUnknown { node: id, attempt, cause, message }
}

fn replied(
    node: &Node,
    state: &RunState,
    key: &AttemptKey,
    text: &str,
    session: Option<&String>,
) -> Fact {
    let id = &node.id;
    if text.trim().is_empty() {
        return misread(
            key,
            text,
            "empty_reply",
            format!("{id}: the agent ended without an answer"),
        );
    }
    match &node.kind {
        Kind::Decision { choices, .. } => decided(node, state, key, choices, text, session),
        Kind::Task { output_schema, .. } => {
            fitting(node, key, output_schema.as_ref(), reply::output(text), text)
        }
        Kind::ManualTrigger { .. }
        | Kind::Branch { .. }
        | Kind::Join
        | Kind::Approval { .. }
        | Kind::Shell { .. }
        | Kind::Script { .. }
        | Kind::State { .. }
        | Kind::Notify { .. } => {
            misread(key, text, "unexpected_reply", format!("{id}: this node asks no agent"))
        }
    }
}

/// The output of a task, if it is as its schema wants it.
fn fitting(
    node: &Node,
    key: &AttemptKey,
    schema: Option<&Schema>,
    output: Value,
    text: &str,
) -> Fact {
    match schema.map_or(Ok(()), |schema| schema.check(&output)) {
        Ok(()) => completed(key, output),
        Err(faults) => {
            let id = &node.id;
            let message =
                format!("{id}: the reply breaks the output schema: {}", faults.join("; "));
            misread(key, text, "output_schema", message)
        }
    }
}

/// The choice of a decision, or one corrective turn. A run that is ending
/// starts no such turn, so there the first answer is the last.
fn decided(
    node: &Node,
    state: &RunState,
    key: &AttemptKey,
    choices: &[PortName],
    text: &str,
    session: Option<&String>,
) -> Fact {
    let (id, attempt) = (key.node.clone(), key.attempt);
    if let Some((port, reason)) = reply::choice(text, choices) {
        let output = Arc::new(json!({ "chosen": port.as_str(), "reason": reason }));
        return Fact::DecisionCompleted { node: id, attempt, output, port };
    }
    let words: Vec<&str> = choices.iter().map(PortName::as_str).collect();
    let message = format!("{id}: the reply names none of the choices {}", words.join(", "));
    let code = "invalid_choice";
    let corrected = state.node(&node.id).is_some_and(|node| node.correction.is_some());
    if corrected || state.failure.is_some() {
        return misread(key, text, code, message);
    }
    let (error, session) = (misread_error(text, code, message), session.cloned());
    Fact::AttemptFailed { node: id, attempt, error, cause: AgainCause::Correction, session }
}

fn misread(key: &AttemptKey, text: &str, code: &str, message: String) -> Fact {
    let error = misread_error(text, code, message);
    Fact::NodeFailed { node: key.node.clone(), attempt: Some(key.attempt), error }
}

/// An answer came, and it is no use.
fn misread_error(text: &str, code: &str, message: String) -> NodeError {
    let output = Some(json!({ "text": text }));
    let (class, effect) = (Class::Bug, Effect::Done);
    NodeError { class, code: code.to_owned(), message, effect, output }
}

fn answer(program: &Program, state: &RunState, signal: &Signal) -> Option<Fact> {
    if state.signals.contains(&signal.id) {
        return None;
    }
    let Signal { id, actor, note, .. } = signal.clone();
    let refuse = |code: &str, message: String| Fact::SignalRefused {
        signal: signal.id.clone(),
        verb: signal.verb.word().to_owned(),
        actor: signal.actor.clone(),
        code: code.to_owned(),
        message,
    };
    Some(match &signal.verb {
        Verb::Approve { node } => match gate(program, state, node.as_ref()) {
            Ok(node) => Fact::ApprovalGranted { node, actor, note, signal: id },
            Err((code, message)) => refuse(code, message),
        },
        Verb::Reject { node } => match gate(program, state, node.as_ref()) {
            Ok(node) => Fact::ApprovalRejected { node, actor, note, signal: id },
            Err((code, message)) => refuse(code, message),
        },
        Verb::Cancel => Fact::CancelRequested { actor, note, signal: id },
        Verb::Resume => Fact::RunResumed { actor, signal: id },
        Verb::Denied { verb } => {
            let message = format!("a caller inside a run may not {verb}; a person decides that");
            refuse("managed_caller", message)
        }
    })
}

/// The gate that a decision is about: the one named, or the only one.
fn gate(
    program: &Program,
    state: &RunState,
    named: Option<&NodeId>,
) -> Result<NodeId, (&'static str, String)> {
    if state.failure.is_some() {
        return Err(("run_ending", "the run is ending and takes no decisions".to_owned()));
    }
    let waiting = || {
        let ids: Vec<&str> = state.waiting.iter().map(NodeId::as_str).collect();
        ids.join(", ")
    };
    match named {
        Some(node) if state.waiting.contains(node) => Ok(node.clone()),
        Some(node) if is_decided(program, state, node) => {
            Err(("already_decided", format!("node `{node}` is already decided")))
        }
        Some(node) => Err(("not_waiting", format!("node `{node}` does not wait for a decision"))),
        None => match (state.waiting.first(), state.waiting.len()) {
            (Some(node), 1) => Ok(node.clone()),
            (Some(_), _) => {
                Err(("ambiguous_gate", format!("several gates wait: {}; name one", waiting())))
            }
            (None, _) => Err(("not_waiting", "no gate waits for a decision".to_owned())),
        },
    }
}

/// A gate that someone has decided. A gate whose prompt has no value fails
/// without a decision, and then has no output.
fn is_decided(program: &Program, state: &RunState, id: &NodeId) -> bool {
    let gate = program
        .node_ix(id)
        .is_some_and(|ix| matches!(program.node(ix).kind, Kind::Approval { .. }));
    gate && state.node(id).is_some_and(|node| node.status.is_settled() && node.output.is_some())
}
