//! What one event does at one site.

use std::sync::Arc;

use blueprint::{PortName, StateOp};
use durable::{Attempt, Seq, Timestamp};
use serde_json::{Map, Value, json};

use super::{Illegal, run};
use crate::event::{AgainCause, Caught, Child, Fact, FailReason, UnknownCause};
use crate::proof::{CONTRADICTED, Proof};
use crate::site::Site;
use crate::state::{Failure, InFlight, NodeState, NodeStatus, RunState};
use crate::work::{Class, Effect, NodeError};

/// Where a node stands before its end. Logs of the reference start every
/// node that they end; ours start only those that need an attempt.
const OPEN: [NodeStatus; 2] = [NodeStatus::Pending, NodeStatus::Running];

/// One event at one site.
pub(super) struct At<'a> {
    pub(super) seq: Seq,
    pub(super) at: Timestamp,
    pub(super) kind: &'static str,
    pub(super) node: &'a Site,
}

impl At<'_> {
    /// A loop of the reference begins its rounds without a word about the
    /// nodes inside: what ends there may begin again.
    pub(super) fn reopen(&self, state: &mut RunState) {
        if run::is_ours(state) {
            return;
        }
        let Some(node) = state.nodes.get_mut(self.node).filter(|node| node.status.is_settled())
        else {
            return;
        };
        let (round, prev) = (node.round.next(), node.output.take());
        *node = NodeState { round, prev, ..NodeState::pending() };
    }

    pub(super) fn expect(&self, state: &RunState, allowed: &[NodeStatus]) -> Result<(), Illegal> {
        self.expect_of(state.node_status(self.node), allowed)
    }

    /// The same of a status that was looked up: a log is long, and every look
    /// is paid for at each of its events.
    fn expect_of(&self, status: NodeStatus, allowed: &[NodeStatus]) -> Result<(), Illegal> {
        if allowed.contains(&status) {
            return Ok(());
        }
        let (seq, kind, node) = (self.seq, self.kind, self.node.clone());
        Err(Illegal::Node { seq, kind, node, status: status.word() })
    }

    /// The node must be at exactly this attempt, in flight or in the hands
    /// of another run.
    pub(super) fn expect_attempt(&self, state: &RunState, found: Attempt) -> Result<(), Illegal> {
        let is_child = state.children.contains_key(self.node);
        let status = if is_child { NodeStatus::Waiting } else { NodeStatus::Running };
        let (found_status, expected) = state
            .node(self.node)
            .map_or((NodeStatus::Pending, Attempt(0)), |node| (node.status, node.attempt));
        self.expect_of(found_status, &[status])?;
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

    pub(super) fn entry<'a>(&self, state: &'a mut RunState) -> &'a mut NodeState {
        state.nodes.entry(self.node.clone()).or_insert_with(NodeState::pending)
    }

    /// What a `node_started` says of the attempt.
    pub(super) fn flight(&self, fact: &Fact) -> InFlight {
        let Fact::NodeStarted { generation, deadline, repeat, agent, .. } = fact else {
            unreachable!("only the start of an attempt is asked for one")
        };
        let (generation, deadline, repeat, agent) = (*generation, *deadline, *repeat, *agent);
        InFlight { generation, deadline, repeat, since: self.at, agent, proof: None }
    }

    pub(super) fn start(
        &self,
        state: &mut RunState,
        found: Attempt,
        flight: InFlight,
        child: Option<&Arc<Child>>,
    ) -> Result<(), Illegal> {
        let (status, wakes, attempt) =
            state.node(self.node).map_or((NodeStatus::Pending, false, Attempt(0)), |node| {
                (node.status, node.wake.is_some(), node.attempt)
            });
        let backs_off = wakes && attempt.0 > 0;
        let from = if backs_off { NodeStatus::Waiting } else { NodeStatus::Pending };
        self.expect_of(status, &[from])?;
        let expected = attempt.next();
        // Logs of the reference number no attempts.
        let found = if found == Attempt(0) { expected } else { found };
        if expected != found {
            let (seq, kind, node) = (self.seq, self.kind, self.node.clone());
            return Err(Illegal::Attempt { seq, kind, node, expected, found });
        }
        match child {
            Some(child) => drop(state.children.insert(self.node.clone(), child.run_id.clone())),
            None => drop(state.in_flight.insert(self.node.clone())),
        }
        if flight.agent {
            state.spending.call();
        }
        let at = self.at;
        let node = self.entry(state);
        node.status = if child.is_some() { NodeStatus::Waiting } else { NodeStatus::Running };
        node.attempt = found;
        node.in_flight = Some(flight);
        node.child = child.cloned();
        node.again = None;
        node.proof = None;
        node.checks = Vec::new();
        node.started_at.get_or_insert(at);
        let wake = node.wake.take();
        self.no_longer_waits(state, wake);
        Ok(())
    }

    pub(super) fn update(
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
    pub(super) fn half_done(&self, state: &mut RunState, output: Value) -> Result<(), Illegal> {
        self.expect(state, &OPEN)?;
        self.entry(state).output = Some(Arc::new(output));
        Ok(())
    }

    pub(super) fn complete(
        &self,
        state: &mut RunState,
        attempt: Option<Attempt>,
        output: Arc<Value>,
        port: PortName,
    ) -> Result<(), Illegal> {
        self.expect_end(state, attempt)?;
        self.settle_with(state, NodeStatus::Completed, |node| {
            node.output = Some(output);
            node.port = Some(port);
            // The word of a person is a claim too.
            let by_agent = node.in_flight.is_some_and(|own| own.agent);
            let claims = node.claim.take().is_some() || by_agent;
            if claims && node.proof != Some(Proof::Proven) {
                node.proof = Some(Proof::Claimed);
            }
            // An attempt before this one may have left it.
            node.error = None;
        });
        Ok(())
    }

    pub(super) fn skip(&self, state: &mut RunState) -> Result<(), Illegal> {
        self.expect(state, &[NodeStatus::Pending])?;
        self.settle(state, NodeStatus::Skipped);
        Ok(())
    }

    pub(super) fn fail(
        &self,
        state: &mut RunState,
        attempt: Option<Attempt>,
        error: &NodeError,
        caught: Option<Caught>,
    ) -> Result<(), Illegal> {
        self.expect_end(state, attempt)?;
        self.close_body(state)?;
        self.note_error(state, error);
        let is_contradicted = error.code == CONTRADICTED;
        let reason = if is_contradicted { FailReason::Contradicted } else { FailReason::Error };
        self.blame(state, reason, error, caught);
        self.settle(state, NodeStatus::Failed);
        Ok(())
    }

    pub(super) fn again(
        &self,
        state: &mut RunState,
        attempt: Attempt,
        error: &NodeError,
        cause: AgainCause,
        wake: Option<Timestamp>,
        session: Option<&String>,
    ) -> Result<(), Illegal> {
        self.expect_attempt(state, attempt)?;
        if let Some(wake) = wake {
            state.timers.insert((wake, self.node.clone()));
        }
        let node = self.entry(state);
        let flight = node.in_flight.take();
        node.status = if wake.is_some() { NodeStatus::Waiting } else { NodeStatus::Pending };
        node.wake = wake;
        // The next attempt is another run.
        node.child = None;
        node.session = session.cloned();
        node.again = Some(cause);
        node.disclaim();
        node.correction = None;
        match cause {
            AgainCause::Correction => node.correction = Some(error.message.clone()),
            AgainCause::Retry => node.error = Some(error.clone()),
            AgainCause::Limit => {
                node.error = Some(error.clone());
                node.limits += 1;
            }
            AgainCause::Interrupted => {}
        }
        self.no_longer_works(state, flight);
        Ok(())
    }

    pub(super) fn lose(
        &self,
        state: &mut RunState,
        attempt: Attempt,
        (cause, code): (UnknownCause, &str),
        message: &str,
        caught: Option<Caught>,
    ) -> Result<(), Illegal> {
        self.expect_attempt(state, attempt)?;
        let reason = match cause {
            UnknownCause::Interrupted => FailReason::Interrupted,
            UnknownCause::Timeout | UnknownCause::Lost => FailReason::Error,
        };
        let error = NodeError {
            class: Class::Unknown,
            code: code.to_owned(),
            message: message.to_owned(),
            effect: Effect::Uncertain,
            output: None,
            retry_after: None,
        };
        state.unknown_effect = true;
        let node = self.entry(state);
        if node.claim.is_some() {
            node.proof = Some(Proof::Unknown);
        }
        self.note_error(state, &error);
        self.blame(state, reason, &error, caught);
        self.settle(state, NodeStatus::Unknown);
        Ok(())
    }

    pub(super) fn wait_until(&self, state: &mut RunState, until: Timestamp) -> Result<(), Illegal> {
        self.expect(state, &[NodeStatus::Pending])?;
        state.timers.insert((until, self.node.clone()));
        let at = self.at;
        let node = self.entry(state);
        node.status = NodeStatus::Waiting;
        node.wake = Some(until);
        node.started_at.get_or_insert(at);
        Ok(())
    }

    pub(super) fn await_decision(
        &self,
        state: &mut RunState,
        prompt: Option<&String>,
    ) -> Result<(), Illegal> {
        self.expect(state, &[NodeStatus::Pending])?;
        state.waiting.insert(self.node.clone());
        let at = self.at;
        let node = self.entry(state);
        node.status = NodeStatus::Waiting;
        node.prompt = prompt.cloned();
        node.started_at.get_or_insert(at);
        Ok(())
    }

    pub(super) fn grant(
        &self,
        state: &mut RunState,
        actor: &str,
        note: Option<&String>,
    ) -> Result<(), Illegal> {
        self.expect_gate(state)?;
        let output = Arc::new(gate_output("approved", actor, note, self.at));
        self.complete(state, None, output, PortName::new("out"))
    }

    pub(super) fn reject(
        &self,
        state: &mut RunState,
        actor: &str,
        note: Option<&String>,
    ) -> Result<(), Illegal> {
        self.expect_gate(state)?;
        let output = gate_output("rejected", actor, note, self.at);
        let message = match note {
            Some(note) => format!("{}: approval rejected by {actor}: {note}", self.node),
            None => format!("{}: approval rejected by {actor}", self.node),
        };
        let error = NodeError::before_effect(Class::Policy, "rejected", message);
        self.blame(state, FailReason::Rejected, &error, None);
        self.entry(state).output = Some(Arc::new(output));
        self.settle(state, NodeStatus::Failed);
        Ok(())
    }

    fn expect_gate(&self, state: &RunState) -> Result<(), Illegal> {
        self.expect(state, &[NodeStatus::Waiting])?;
        if state.waiting.contains(self.node) {
            return Ok(());
        }
        let (seq, kind, node) = (self.seq, self.kind, self.node.clone());
        Err(Illegal::Node { seq, kind, node, status: "no gate that waits" })
    }

    fn note_error(&self, state: &mut RunState, error: &NodeError) {
        let node = self.entry(state);
        node.error_value = Some(error.told());
        node.error = Some(error.clone());
    }

    /// Who has to do with the failure; without anyone it is the run's, and
    /// the first one stays.
    fn blame(
        &self,
        state: &mut RunState,
        reason: FailReason,
        error: &NodeError,
        caught: Option<Caught>,
    ) {
        state.degraded |= caught.is_some();
        match caught {
            Some(Caught::Port) => self.entry(state).port = Some(PortName::new(blueprint::ERROR)),
            Some(Caught::Item) => self.blame_item(state, error),
            Some(Caught::Container) => self.blame_container(state, error),
            None => {
                let (node, message) = (Some(self.node.clone()), error.message.clone());
                state.failure.get_or_insert(Failure { reason, node, message });
            }
        }
    }

    /// The attempt is over.
    pub(super) fn stop_working(&self, state: &mut RunState) {
        let flight = state.nodes.get_mut(self.node).and_then(|node| node.in_flight.take());
        self.no_longer_works(state, flight);
    }

    /// The node has let go of an attempt; its time counts when an agent made
    /// it. How long it was at work after its owner died, nobody saw.
    fn no_longer_works(&self, state: &mut RunState, flight: Option<InFlight>) {
        state.in_flight.remove(self.node);
        state.children.remove(self.node);
        state.claims.remove(self.node);
        let seen = |flight: &InFlight| flight.agent && flight.generation == state.generation;
        if let Some(flight) = flight.filter(seen) {
            state.spending.took(self.at.since(flight.since));
        }
    }

    /// The node has let go of a moment.
    fn no_longer_waits(&self, state: &mut RunState, wake: Option<Timestamp>) {
        state.waiting.remove(self.node);
        if let Some(wake) = wake {
            state.timers.remove(&(wake, self.node.clone()));
        }
    }

    pub(super) fn settle(&self, state: &mut RunState, status: NodeStatus) {
        self.settle_with(state, status, |_| {});
    }

    /// The end of the node, with what else it does to it. In a large graph
    /// most of the cost of an event is to find the node, so all is done where
    /// it was found.
    fn settle_with(
        &self,
        state: &mut RunState,
        status: NodeStatus,
        end: impl FnOnce(&mut NodeState),
    ) {
        let at = self.at;
        let node = self.entry(state);
        end(node);
        let (flight, wake) = (node.in_flight.take(), node.wake.take());
        node.status = status;
        node.disclaim();
        node.correction = None;
        node.again = None;
        node.started_at.get_or_insert(at);
        node.ended_at = Some(at);
        self.no_longer_works(state, flight);
        self.no_longer_waits(state, wake);
    }
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
