//! What events do to a claim and to the proof of it.

use std::sync::Arc;

use blueprint::{PortName, Repeat};
use durable::{Attempt, Generation, Timestamp};
use serde_json::Value;

use super::Illegal;
use super::node::At;
use crate::proof::{CheckResult, Claim, Proof};
use crate::state::{InFlight, NodeStatus, RunState};

impl At<'_> {
    pub(super) fn claim(
        &self,
        state: &mut RunState,
        attempt: Attempt,
        output: &Arc<Value>,
        port: &PortName,
    ) -> Result<(), Illegal> {
        self.expect_attempt(state, attempt)?;
        self.expect_claim(state, false)?;
        let by_agent = state.node(self.node).and_then(|node| node.in_flight);
        let by_agent = by_agent.is_some_and(|flight| flight.agent);
        self.stop_working(state);
        state.claims.insert(self.node.clone());
        let node = self.entry(state);
        node.status = NodeStatus::Running;
        node.output = Some(Arc::clone(output));
        node.claim = Some(Claim { port: port.clone(), asked: Attempt(0) });
        node.proof = by_agent.then_some(Proof::Claimed);
        Ok(())
    }

    pub(super) fn start_proof(
        &self,
        state: &mut RunState,
        attempt: Attempt,
        found: Attempt,
        generation: Generation,
        deadline: Option<Timestamp>,
    ) -> Result<(), Illegal> {
        self.expect_attempt(state, attempt)?;
        self.expect_claim(state, true)?;
        let claim = state.node(self.node).and_then(|node| node.claim.as_ref());
        let expected = claim.map_or(Attempt::FIRST, |claim| claim.asked.next());
        if expected != found || !state.claims.remove(self.node) {
            let (seq, kind, node) = (self.seq, self.kind, self.node.clone());
            return Err(Illegal::Attempt { seq, kind, node, expected, found });
        }
        state.in_flight.insert(self.node.clone());
        let since = self.at;
        let node = self.entry(state);
        if let Some(claim) = &mut node.claim {
            claim.asked = found;
        }
        let (repeat, agent, proof) = (Repeat::Safe, false, Some(found));
        node.in_flight = Some(InFlight { generation, deadline, repeat, since, agent, proof });
        Ok(())
    }

    pub(super) fn interrupt_proof(
        &self,
        state: &mut RunState,
        attempt: Attempt,
    ) -> Result<(), Illegal> {
        self.expect_attempt(state, attempt)?;
        self.expect_claim(state, true)?;
        self.stop_working(state);
        state.claims.insert(self.node.clone());
        Ok(())
    }

    pub(super) fn report_proof(
        &self,
        state: &mut RunState,
        attempt: Attempt,
        proof: Proof,
        checks: &[CheckResult],
    ) -> Result<(), Illegal> {
        self.interrupt_proof(state, attempt)?;
        let node = self.entry(state);
        node.proof = Some(proof);
        node.checks = checks.to_vec();
        Ok(())
    }

    fn expect_claim(&self, state: &RunState, wanted: bool) -> Result<(), Illegal> {
        let claims = state.node(self.node).is_some_and(|node| node.claim.is_some());
        if claims == wanted {
            return Ok(());
        }
        let (seq, kind, node) = (self.seq, self.kind, self.node.clone());
        let status = if claims { "claimed already" } else { "not claimed" };
        Err(Illegal::Node { seq, kind, node, status })
    }
}
