//! (state, event) → state: one table, and the one validator of the sequence.
//! Replay, resume, approval and recovery all go through it. It applies and
//! has no rules: it sees no program, and refuses only what no owner of ours
//! could have written.

mod container;
mod node;
mod proof;
mod run;

use std::sync::Arc;

use blueprint::PortName;
use durable::{Attempt, Generation, Seq, Timestamp};
use serde_json::json;
use thiserror::Error;

use crate::event::{Event, Fact};
use crate::site::Site;
use crate::state::{Failure, NodeStatus, RunState};
use node::At;

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
    Node { seq: Seq, kind: &'static str, node: Site, status: &'static str },
    #[error(
        "event {seq} ({kind}) speaks of attempt {found} of node `{node}`, which is at {expected}"
    )]
    Attempt { seq: Seq, kind: &'static str, node: Site, expected: Attempt, found: Attempt },
    #[error("event {seq} ({kind}) is no next step of the container `{node}`")]
    Container { seq: Seq, kind: &'static str, node: Site },
    #[error("event {seq} gives the run to generation {found}, after {current}")]
    Generation { seq: Seq, current: Generation, found: Generation },
    #[error("event {seq} ends the run while node `{node}` is in flight")]
    EndInFlight { seq: Seq, node: Site },
}

/// Applies one event. On an error the state is as it was before.
pub fn fold(state: &mut RunState, event: &Event) -> Result<(), Illegal> {
    let Event { seq, at, fact } = event;
    if *seq != state.next_seq {
        return Err(Illegal::Seq { expected: state.next_seq, found: *seq });
    }
    check_place(state, *seq, fact)?;
    match fact.node() {
        Some(site) if !matches!(fact, Fact::RunFailed { .. }) => {
            let at = At { seq: *seq, at: *at, kind: fact.kind(), node: site };
            at_node(state, &at, fact)?;
        }
        Some(_) | None => of_run(state, *seq, *at, fact)?,
    }
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

/// Facts about the run as a whole.
fn of_run(state: &mut RunState, seq: Seq, at: Timestamp, fact: &Fact) -> Result<(), Illegal> {
    match fact {
        Fact::RunStarted(started) => run::start(state, at, started),
        Fact::RunAdopted { generation, cut: _ } => return run::adopt(state, seq, *generation),
        Fact::RunResumed { .. } => run::resume(state, at),
        Fact::CancelRequested { actor, note, .. } => run::cancel(state, actor, note.as_ref()),
        Fact::BudgetNotice { .. } => state.spending.noticed = Some(state.spending.grants),
        Fact::BudgetReached { limit } => state.spending.held = Some(*limit),
        Fact::DeadlinePassed { deadline } => run::out_of_time(state, *deadline),
        Fact::RunCompleted => return run::close(state, seq, at, None),
        Fact::RunFailed { reason, error, node } => {
            let failure = Failure { reason: *reason, node: node.clone(), message: error.clone() };
            return run::close(state, seq, at, Some(failure));
        }
        Fact::SignalRefused { .. }
        | Fact::NodeStarted { .. }
        | Fact::NodeCompleted { .. }
        | Fact::DecisionCompleted { .. }
        | Fact::BranchTaken { .. }
        | Fact::StateUpdated { .. }
        | Fact::Notification { .. }
        | Fact::NodeSkipped { .. }
        | Fact::NodeFailed { .. }
        | Fact::AttemptFailed { .. }
        | Fact::AttemptUnknown { .. }
        | Fact::NodeCancelled { .. }
        | Fact::LoopIteration { .. }
        | Fact::LoopCompleted { .. }
        | Fact::ForEachStarted { .. }
        | Fact::ItemCompleted { .. }
        | Fact::ItemFailed { .. }
        | Fact::ForEachCompleted { .. }
        | Fact::WaitStarted { .. }
        | Fact::UsageReported { .. }
        | Fact::SessionReported { .. }
        | Fact::NodeClaimed { .. }
        | Fact::ProofStarted { .. }
        | Fact::ProofInterrupted { .. }
        | Fact::ProofReported { .. }
        | Fact::AwaitingApproval { .. }
        | Fact::ApprovalGranted { .. }
        | Fact::ApprovalRejected { .. } => {}
    }
    Ok(())
}

/// Facts about one node.
fn at_node(state: &mut RunState, at: &At<'_>, fact: &Fact) -> Result<(), Illegal> {
    at.reopen(state);
    let out = || PortName::new("out");
    match fact {
        Fact::NodeStarted { attempt, child, .. } => {
            at.start(state, *attempt, at.flight(fact), child.as_ref())
        }
        Fact::NodeCompleted { attempt, output, .. } => {
            at.complete(state, *attempt, Arc::clone(output), out())
        }
        Fact::DecisionCompleted { attempt, output, port, .. } => {
            at.complete(state, Some(*attempt), Arc::clone(output), port.clone())
        }
        Fact::BranchTaken { port, .. } => {
            let output = Arc::new(json!({ "port": port.as_str() }));
            at.complete(state, None, output, port.clone())
        }
        Fact::StateUpdated { op, entries, .. } => at.update(state, *op, entries),
        Fact::Notification { .. } => at.half_done(state, json!({})),
        Fact::NodeSkipped { .. } => at.skip(state),
        Fact::NodeFailed { attempt, error, caught, .. } => at.fail(state, *attempt, error, *caught),
        Fact::AttemptFailed { attempt, error, cause, wake, session, .. } => {
            at.again(state, *attempt, error, *cause, *wake, session.as_ref())
        }
        Fact::AttemptUnknown { attempt, cause, code, message, caught, .. } => {
            let code = code.as_deref().unwrap_or(cause.word());
            at.lose(state, *attempt, (*cause, code), message, *caught)
        }
        Fact::NodeCancelled { attempt, .. } => {
            at.expect_attempt(state, *attempt)?;
            at.settle(state, NodeStatus::Cancelled);
            Ok(())
        }
        Fact::LoopIteration { iteration, begin, .. } => {
            at.iterate(state, *iteration, begin.as_ref())
        }
        Fact::LoopCompleted { .. } => at.complete_loop(state),
        Fact::ForEachStarted { items, body, .. } => at.start_items(state, items, body),
        Fact::ItemCompleted { index, output, .. } => at.complete_item(state, *index, output),
        Fact::ItemFailed { index, error, .. } => at.fail_item(state, *index, error),
        Fact::ForEachCompleted { .. } => at.complete_items(state),
        Fact::WaitStarted { until, .. } => at.wait_until(state, *until),
        Fact::UsageReported { usage, .. } => {
            state.spending.report(*usage);
            Ok(())
        }
        Fact::SessionReported { .. }
        | Fact::NodeClaimed { .. }
        | Fact::ProofStarted { .. }
        | Fact::ProofInterrupted { .. }
        | Fact::ProofReported { .. } => of_claim(state, at, fact),
        Fact::AwaitingApproval { prompt, .. } => at.await_decision(state, prompt.as_ref()),
        Fact::ApprovalGranted { actor, note, .. } => at.grant(state, actor, note.as_ref()),
        Fact::ApprovalRejected { actor, note, .. } => at.reject(state, actor, note.as_ref()),
        Fact::RunStarted(_)
        | Fact::RunAdopted { .. }
        | Fact::RunResumed { .. }
        | Fact::BudgetNotice { .. }
        | Fact::BudgetReached { .. }
        | Fact::DeadlinePassed { .. }
        | Fact::CancelRequested { .. }
        | Fact::SignalRefused { .. }
        | Fact::RunCompleted
        | Fact::RunFailed { .. } => Ok(()),
    }
}

/// Facts about what a node says of itself.
#[expect(clippy::wildcard_enum_match_arm, reason = "it is called with claims alone")]
fn of_claim(state: &mut RunState, at: &At<'_>, fact: &Fact) -> Result<(), Illegal> {
    match fact {
        Fact::SessionReported { session, .. } => {
            at.entry(state).session = Some(session.clone());
            Ok(())
        }
        Fact::NodeClaimed { attempt, output, port, .. } => at.claim(state, *attempt, output, port),
        Fact::ProofStarted { attempt, proof, generation, deadline, .. } => {
            at.start_proof(state, *attempt, *proof, *generation, *deadline)
        }
        Fact::ProofInterrupted { attempt, .. } => at.interrupt_proof(state, *attempt),
        Fact::ProofReported { attempt, proof, checks, .. } => {
            at.report_proof(state, *attempt, *proof, checks)
        }
        _ => Ok(()),
    }
}
