//! Trying a closed run again: which of its facts a new run keeps. Completed
//! and skipped nodes keep theirs, so their work is not done twice; what
//! failed, was cancelled or never came starts anew. A node whose outcome is
//! unknown needs a word from a person first.

use std::collections::BTreeMap;
use std::sync::Arc;

use blueprint::{Kind, NodeId, PortName, Program};
use durable::{Attempt, Generation};
use serde_json::Value;
use thiserror::Error;

use crate::event::{Event, Fact, RunId};
use crate::state::{NodeState, NodeStatus, RunState};

/// What a new run takes from the one that it tries again. Only [`keep`] makes
/// one, so that its facts can always follow the start of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    pub(crate) of: RunId,
    pub(crate) trigger: Option<Arc<Value>>,
    pub(crate) facts: Vec<Fact>,
}

/// What a person says about an attempt whose outcome is unknown.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It did its work, and this is its output.
    Happened(Value),
    /// It did nothing; it may be started.
    DidNot,
    /// Whatever it did, it may be started again.
    Redo,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RetryError {
    #[error("the run has not ended; it can be cancelled or resumed, not retried")]
    Open,
    #[error("the run is completed; there is nothing to try again")]
    Completed,
    #[error(
        "the run never came to start, so it keeps nothing; start the automation anew, or retry \
         the run that it was to retry"
    )]
    NeverStarted,
    #[error("what node `{0}` did is unknown; say happened, did-not or redo")]
    Undecided(NodeId),
    #[error("node `{0}` has no unknown outcome")]
    NotUnknown(NodeId),
    #[error(
        "node `{node}` is a decision: its output must be {{\"chosen\": …}} with one of {choices}"
    )]
    NoChoice { node: NodeId, choices: String },
}

/// Whether the first write of a run that tries another again was cut short, so
/// that it holds a part of what it was to keep. The whole ends with a second
/// generation, which such a run never comes to.
pub(crate) fn is_half_kept(state: &RunState) -> bool {
    let retries = state.started.as_ref().is_some_and(|started| started.retry_of.is_some());
    retries && state.generation == Generation::FIRST
}

/// What a run that tries `state` again keeps of its `events`.
pub fn keep(
    program: &Program,
    state: &RunState,
    events: &[Event],
    verdicts: &BTreeMap<NodeId, Verdict>,
) -> Result<Kept, RetryError> {
    let started = state.started.as_ref().ok_or(RetryError::NeverStarted)?;
    let closed = state.closed.as_ref().ok_or(RetryError::Open)?;
    if closed.failure.is_none() {
        return Err(RetryError::Completed);
    }
    if is_half_kept(state) {
        return Err(RetryError::NeverStarted);
    }
    let unknown = |id: &NodeId| state.node_status(id) == NodeStatus::Unknown;
    if let Some(id) = verdicts.keys().find(|id| !unknown(id)) {
        return Err(RetryError::NotUnknown(id.clone()));
    }
    if let Some(id) = state.nodes.keys().find(|id| unknown(id) && !verdicts.contains_key(*id)) {
        return Err(RetryError::Undecided(id.clone()));
    }
    let kept = |id: &NodeId| match state.node_status(id) {
        NodeStatus::Completed | NodeStatus::Skipped => true,
        NodeStatus::Unknown => matches!(verdicts.get(id), Some(Verdict::Happened(_))),
        NodeStatus::Pending
        | NodeStatus::Running
        | NodeStatus::Waiting
        | NodeStatus::Failed
        | NodeStatus::Cancelled => false,
    };
    let of_node = |event: &&Event| {
        let lost = matches!(event.fact, Fact::AttemptUnknown { .. } | Fact::RunFailed { .. });
        !lost && event.fact.node().is_some_and(kept)
    };
    let mut facts: Vec<Fact> =
        events.iter().filter(of_node).map(|event| event.fact.clone()).collect();
    for (id, verdict) in verdicts {
        if let Verdict::Happened(output) = verdict {
            facts.push(happened(program, id, state.node(id), output)?);
        }
    }
    Ok(Kept { of: started.run_id.clone(), trigger: Some(Arc::clone(&started.trigger)), facts })
}

fn happened(
    program: &Program,
    id: &NodeId,
    node: Option<&NodeState>,
    output: &Value,
) -> Result<Fact, RetryError> {
    let attempt = node.map_or(Attempt::FIRST, |node| node.attempt);
    let (node, output_kept) = (id.clone(), Arc::new(output.clone()));
    let kind = program.node_ix(id).map(|ix| &program.node(ix).kind);
    let Some(Kind::Decision { choices, .. }) = kind else {
        return Ok(Fact::NodeCompleted { node, attempt: Some(attempt), output: output_kept });
    };
    let chosen = output.get("chosen").and_then(Value::as_str).unwrap_or_default();
    let port = choices.iter().find(|choice| choice.as_str() == chosen).cloned();
    let words = || choices.iter().map(PortName::as_str).collect::<Vec<_>>().join(", ");
    let port = port.ok_or_else(|| RetryError::NoChoice { node: id.clone(), choices: words() })?;
    Ok(Fact::DecisionCompleted { node, attempt, output: output_kept, port })
}
