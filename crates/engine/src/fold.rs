//! (state, event) → state: one table, and the one validator of the sequence.
//! Replay, resume, approval and recovery all go through it. It applies and
//! has no rules: it sees no program, and refuses only what no owner of ours
//! could have written.

use std::sync::Arc;

use blueprint::{NodeId, PortName, StateOp};
use durable::{Attempt, Generation, Seq, Timestamp};
use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::event::{AgainCause, Event, Fact, FailReason, RunStarted, UnknownCause};
use crate::state::{Cancel, Closed, Failure, InFlight, NodeState, NodeStatus, RunState};
use crate::work::{Class, Effect, NodeError};

/// An event that cannot stand where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Illegal {
    #[error("event {found} stands where event {expected} belongs")]
    Seq { expected: Seq, found: Seq },
    #[error("event {seq} ({kind}) comes before the run has started")]
    BeforeStart { seq: Seq, kind: &'static str },
    #[error("event {seq} starts a run that has already started")]
    StartedTwice { seq: Seq },
    #[error("event {seq} ({kind}) comes after the run has ended")]
    AfterEnd { seq: Seq, kind: &'static str },
    #[error("event {seq} ({kind}) cannot happen to node `{node}`, which is {status}")]
    Node { seq: Seq, kind: &'static str, node: NodeId, status: &'static str },
    #[error(
        "event {seq} ({kind}) speaks of attempt {found} of node `{node}`, which is at {expected}"
    )]
    Attempt { seq: Seq, kind: &'static str, node: NodeId, expected: Attempt, found: Attempt },
    #[error("event {seq} gives the run to generation {found}, after {current}")]
    Generation { seq: Seq, current: Generation, found: Generation },
    #[error("event {seq} ends the run while node `{node}` is in flight")]
    EndInFlight { seq: Seq, node: NodeId },
}

/// Where a node stands before its end. Logs of the reference start every
/// node that they end; ours start only those that need an attempt.
const OPEN: [NodeStatus; 2] = [NodeStatus::Pending, NodeStatus::Running];

/// Applies one event. On an error the state is as it was before.
pub fn fold(state: &mut RunState, event: &Event) -> Result<(), Illegal> {
    let Event { seq, at, fact } = event;
    if *seq != state.next_seq {
        return Err(Illegal::Seq { expected: state.next_seq, found: *seq });
    }
    check_place(state, *seq, fact)?;
    apply(state, *seq, *at, fact)?;
    if let Some(signal) = fact.signal() {
        state.signals.insert(signal.clone());
    }
    state.next_seq = seq.next();
    state.updated_at = Some(*at);
    Ok(())
}

fn check_place(state: &RunState, seq: Seq, fact: &Fact) -> Result<(), Illegal> {
    let kind = fact.kind();
    if state.closed.is_some() {
        return Err(Illegal::AfterEnd { seq, kind });
    }
    match (fact, &state.started) {
        (Fact::RunStarted(_), Some(_)) => Err(Illegal::StartedTwice { seq }),
        (Fact::RunStarted(_) | Fact::RunFailed { .. }, None) => Ok(()),
        (_, None) => Err(Illegal::BeforeStart { seq, kind }),
        (_, Some(_)) => Ok(()),
    }
}

fn apply(state: &mut RunState, seq: Seq, at: Timestamp, fact: &Fact) -> Result<(), Illegal> {
    let on = |node: &NodeId| At { seq, at, kind: fact.kind(), node: node.clone() };
    match fact {
        Fact::RunStarted(started) => start(state, at, started),
        Fact::RunAdopted { generation, cut: _ } => return adopt(state, seq, *generation),
        Fact::RunResumed { .. } | Fact::SignalRefused { .. } => {}
        Fact::NodeStarted { node, attempt, generation, deadline, repeat, work: _ } => {
            let flight = InFlight { generation: *generation, deadline: *deadline, repeat: *repeat };
            return on(node).start(state, *attempt, flight);
        }
        Fact::NodeCompleted { node, attempt, output } => {
            let out = PortName::new("out");
            return on(node).complete(state, *attempt, Arc::clone(output), out);
        }
        Fact::DecisionCompleted { node, attempt, output, port } => {
            return on(node).complete(state, Some(*attempt), Arc::clone(output), port.clone());
        }
        Fact::BranchTaken { node, port } => {
            let output = Arc::new(json!({ "port": port.as_str() }));
            return on(node).complete(state, None, output, port.clone());
        }
        Fact::StateUpdated { node, op, entries } => {
            return on(node).update(state, *op, entries);
        }
        Fact::Notification { node, .. } => return on(node).half_done(state, json!({})),
        Fact::NodeSkipped { node } => {
            on(node).expect(state, &[NodeStatus::Pending])?;
            on(node).settle(state, NodeStatus::Skipped);
        }
        Fact::NodeFailed { node, attempt, error } => {
            return on(node).fail(state, *attempt, error);
        }
        Fact::AttemptFailed { node, attempt, error, cause, session } => {
            return on(node).again(state, *attempt, error, *cause, session.as_ref());
        }
        Fact::AttemptUnknown { node, attempt, cause, message } => {
            return on(node).lose(state, *attempt, *cause, message);
        }
        Fact::NodeCancelled { node, attempt } => {
            on(node).expect_attempt(state, *attempt)?;
            on(node).settle(state, NodeStatus::Cancelled);
        }
        Fact::AwaitingApproval { node, prompt } => {
            on(node).expect(state, &[NodeStatus::Pending])?;
            on(node).wait(state, prompt.as_ref());
        }
        Fact::ApprovalGranted { node, actor, note, .. } => {
            let output = gate_output("approved", actor, note.as_ref(), at);
            on(node).expect(state, &[NodeStatus::Waiting])?;
            return on(node).complete(state, None, Arc::new(output), PortName::new("out"));
        }
        Fact::ApprovalRejected { node, actor, note, .. } => {
            on(node).expect(state, &[NodeStatus::Waiting])?;
            on(node).reject(state, actor, note.as_ref());
        }
        Fact::CancelRequested { actor, note, .. } => {
            cancel(state, actor, note.as_ref());
        }
        Fact::RunCompleted => return close(state, seq, at, None),
        Fact::RunFailed { reason, error, node } => {
            let failure = Failure { reason: *reason, node: node.clone(), message: error.clone() };
            return close(state, seq, at, Some(failure));
        }
    }
    Ok(())
}

fn start(state: &mut RunState, at: Timestamp, started: &RunStarted) {
    state.run_id = Value::String(started.run_id.as_str().to_owned());
    state.generation = started.generation;
    state.started = Some(Arc::new(started.clone()));
    state.started_at = Some(at);
}

fn adopt(state: &mut RunState, seq: Seq, found: Generation) -> Result<(), Illegal> {
    if found <= state.generation {
        return Err(Illegal::Generation { seq, current: state.generation, found });
    }
    state.generation = found;
    Ok(())
}

fn close(
    state: &mut RunState,
    seq: Seq,
    at: Timestamp,
    failure: Option<Failure>,
) -> Result<(), Illegal> {
    let ours = state.started.as_ref().is_some_and(|started| started.format.major > 0);
    if let (true, Some(node)) = (ours, state.in_flight.first()) {
        return Err(Illegal::EndInFlight { seq, node: node.clone() });
    }
    state.in_flight.clear();
    state.waiting.clear();
    if let Some(failure) = &failure {
        state.failure.get_or_insert_with(|| failure.clone());
    }
    state.closed = Some(Closed { at, failure });
    Ok(())
}

fn cancel(state: &mut RunState, actor: &str, note: Option<&String>) {
    let message = match note {
        Some(note) => format!("cancelled by {actor}: {note}"),
        None => format!("cancelled by {actor}"),
    };
    let failure = Failure { reason: FailReason::Cancelled, node: None, message };
    state.failure.get_or_insert(failure);
    let cancel = Cancel { actor: actor.to_owned(), note: note.cloned() };
    state.cancel.get_or_insert(cancel);
}

/// What a gate's decision gives to templates.
fn gate_output(decision: &str, actor: &str, note: Option<&String>, at: Timestamp) -> Value {
    json!({ "decision": decision, "actor": actor, "note": note, "at": at.to_string() })
}

fn store(storage: &mut Value, op: StateOp, entries: &Map<String, Value>) {
    let Value::Object(storage) = storage else { return };
    match op {
        StateOp::Get => {}
        StateOp::Set | StateOp::Merge => {
            storage.extend(entries.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        StateOp::Delete => {
            for key in entries.keys() {
                storage.remove(key);
            }
        }
    }
}

/// One event at one node.
struct At {
    seq: Seq,
    at: Timestamp,
    kind: &'static str,
    node: NodeId,
}

impl At {
    fn expect(&self, state: &RunState, allowed: &[NodeStatus]) -> Result<(), Illegal> {
        let status = state.node_status(&self.node);
        if allowed.contains(&status) {
            return Ok(());
        }
        let (seq, kind, node) = (self.seq, self.kind, self.node.clone());
        Err(Illegal::Node { seq, kind, node, status: status.word() })
    }

    /// The node must be running exactly this attempt.
    fn expect_attempt(&self, state: &RunState, found: Attempt) -> Result<(), Illegal> {
        self.expect(state, &[NodeStatus::Running])?;
        let expected = state.node(&self.node).map_or(Attempt(0), |node| node.attempt);
        if expected == found {
            return Ok(());
        }
        let (seq, kind, node) = (self.seq, self.kind, self.node.clone());
        Err(Illegal::Attempt { seq, kind, node, expected, found })
    }

    /// An end with an attempt ends exactly that; one without ends a node
    /// that needs none.
    fn expect_end(&self, state: &RunState, attempt: Option<Attempt>) -> Result<(), Illegal> {
        match attempt {
            Some(attempt) => self.expect_attempt(state, attempt),
            // The oldest logs name no attempt, and end running nodes too.
            None => {
                self.expect(state, &[NodeStatus::Pending, NodeStatus::Waiting, NodeStatus::Running])
            }
        }
    }

    fn entry<'a>(&self, state: &'a mut RunState) -> &'a mut NodeState {
        state.nodes.entry(self.node.clone()).or_insert_with(NodeState::pending)
    }

    fn start(self, state: &mut RunState, found: Attempt, flight: InFlight) -> Result<(), Illegal> {
        self.expect(state, &[NodeStatus::Pending])?;
        let expected = state.node(&self.node).map_or(Attempt(0), |node| node.attempt).next();
        // Logs of the reference number no attempts.
        let found = if found == Attempt(0) { expected } else { found };
        if expected != found {
            let Self { seq, kind, node, .. } = self;
            return Err(Illegal::Attempt { seq, kind, node, expected, found });
        }
        state.in_flight.insert(self.node.clone());
        let node = self.entry(state);
        node.status = NodeStatus::Running;
        node.attempt = found;
        node.in_flight = Some(flight);
        node.started_at.get_or_insert(self.at);
        Ok(())
    }

    fn update(
        &self,
        state: &mut RunState,
        op: StateOp,
        entries: &Map<String, Value>,
    ) -> Result<(), Illegal> {
        let output = match op {
            StateOp::Get | StateOp::Set | StateOp::Merge => Value::Object(entries.clone()),
            StateOp::Delete => json!({}),
        };
        self.half_done(state, output)?;
        store(&mut state.storage, op, entries);
        Ok(())
    }

    /// The effect is there and the end is to follow. Should the write of both
    /// be cut short between them, the output says that it is not to be done
    /// again.
    fn half_done(&self, state: &mut RunState, output: Value) -> Result<(), Illegal> {
        self.expect(state, &OPEN)?;
        self.entry(state).output = Some(Arc::new(output));
        Ok(())
    }

    fn complete(
        self,
        state: &mut RunState,
        attempt: Option<Attempt>,
        output: Arc<Value>,
        port: PortName,
    ) -> Result<(), Illegal> {
        self.expect_end(state, attempt)?;
        let node = self.entry(state);
        node.output = Some(output);
        node.port = Some(port);
        self.settle(state, NodeStatus::Completed);
        Ok(())
    }

    fn fail(
        self,
        state: &mut RunState,
        attempt: Option<Attempt>,
        error: &NodeError,
    ) -> Result<(), Illegal> {
        self.expect_end(state, attempt)?;
        self.note_error(state, error);
        self.blame(state, FailReason::Error, &error.message);
        self.settle(state, NodeStatus::Failed);
        Ok(())
    }

    fn again(
        self,
        state: &mut RunState,
        attempt: Attempt,
        error: &NodeError,
        cause: AgainCause,
        session: Option<&String>,
    ) -> Result<(), Illegal> {
        self.expect_attempt(state, attempt)?;
        state.in_flight.remove(&self.node);
        let node = self.entry(state);
        node.status = NodeStatus::Pending;
        node.in_flight = None;
        node.session = session.cloned();
        node.correction = match cause {
            AgainCause::Correction => Some(error.message.clone()),
            AgainCause::Interrupted => None,
        };
        Ok(())
    }

    fn lose(
        self,
        state: &mut RunState,
        attempt: Attempt,
        cause: UnknownCause,
        message: &str,
    ) -> Result<(), Illegal> {
        self.expect_attempt(state, attempt)?;
        let reason = match cause {
            UnknownCause::Interrupted => FailReason::Interrupted,
            UnknownCause::Timeout | UnknownCause::Lost => FailReason::Error,
        };
        let error = NodeError {
            class: Class::Unknown,
            code: cause.word().to_owned(),
            message: message.to_owned(),
            effect: Effect::Uncertain,
            output: None,
        };
        self.note_error(state, &error);
        self.blame(state, reason, message);
        self.settle(state, NodeStatus::Unknown);
        Ok(())
    }

    fn wait(self, state: &mut RunState, prompt: Option<&String>) {
        state.waiting.insert(self.node.clone());
        let node = self.entry(state);
        node.status = NodeStatus::Waiting;
        node.prompt = prompt.cloned();
        node.started_at.get_or_insert(self.at);
    }

    fn reject(self, state: &mut RunState, actor: &str, note: Option<&String>) {
        let output = gate_output("rejected", actor, note, self.at);
        let message = match note {
            Some(note) => format!("{}: approval rejected by {actor}: {note}", self.node),
            None => format!("{}: approval rejected by {actor}", self.node),
        };
        self.blame(state, FailReason::Rejected, &message);
        self.entry(state).output = Some(Arc::new(output));
        self.settle(state, NodeStatus::Failed);
    }

    fn note_error(&self, state: &mut RunState, error: &NodeError) {
        let node = self.entry(state);
        node.error_value = Some(json!({
            "class": error.class.word(),
            "code": error.code,
            "message": error.message,
        }));
        node.error = Some(error.clone());
    }

    /// The first failure is the run's failure.
    fn blame(&self, state: &mut RunState, reason: FailReason, message: &str) {
        let failure =
            || Failure { reason, node: Some(self.node.clone()), message: message.to_owned() };
        state.failure.get_or_insert_with(failure);
    }

    fn settle(&self, state: &mut RunState, status: NodeStatus) {
        state.in_flight.remove(&self.node);
        state.waiting.remove(&self.node);
        let node = self.entry(state);
        node.status = status;
        node.in_flight = None;
        node.correction = None;
        node.started_at.get_or_insert(self.at);
        node.ended_at = Some(self.at);
    }
}
