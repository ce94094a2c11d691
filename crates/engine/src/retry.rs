//! Trying a closed run again: which of its facts a new run keeps. Completed
//! and skipped nodes keep theirs, so their work is not done twice; what
//! failed, was cancelled or never came starts anew. A node whose outcome is
//! unknown needs a word from a person first.

use std::collections::BTreeMap;
use std::sync::Arc;

use blueprint::{Kind, PortName, Program};
use durable::{Attempt, Generation, Seq};
use serde_json::Value;
use thiserror::Error;

use crate::event::{Event, Fact};
use crate::id::RunId;
use crate::kept::Keeper;
use crate::site::Site;
use crate::state::{NodeState, NodeStatus, RunState};

/// What a new run takes from the one that it tries again. Only [`keep`] makes
/// one, so that its facts can always follow the start of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    pub(crate) of: RunId,
    pub(crate) trigger: Option<Arc<Value>>,
    pub(crate) facts: Vec<Fact>,
    /// The last event that a fork takes; `None` for a retry.
    pub(crate) forked_at: Option<Seq>,
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
    Undecided(Site),
    #[error("node `{0}` has no unknown outcome")]
    NotUnknown(Site),
    #[error(
        "node `{node}` is a decision: its output must be {{\"chosen\": …}} with one of {choices}"
    )]
    NoChoice { node: Site, choices: String },
}

/// Whether the first write of a run that tries another again was cut short, so
/// that it holds a part of what it was to keep. The whole ends with a second
/// generation, which such a run never comes to.
pub(crate) fn is_half_kept(state: &RunState) -> bool {
    let takes = |started: &crate::event::RunStarted| {
        started.retry_of.is_some() || started.fork_of.is_some()
    };
    let retries = state.started.as_deref().is_some_and(takes);
    retries && state.generation == Generation::FIRST
}

/// What a run that tries `state` again keeps of its `events`.
pub fn keep(
    program: &Program,
    state: &RunState,
    events: &[Event],
    verdicts: &BTreeMap<Site, Verdict>,
) -> Result<Kept, RetryError> {
    let started = state.started.as_ref().ok_or(RetryError::NeverStarted)?;
    let closed = state.closed.as_ref().ok_or(RetryError::Open)?;
    if closed.failure.is_none() {
        return Err(RetryError::Completed);
    }
    if is_half_kept(state) {
        return Err(RetryError::NeverStarted);
    }
    let unknown = |site: &Site| {
        state.node_status(site) == NodeStatus::Unknown && !is_dealt_with(program, state, site)
    };
    if let Some(site) = verdicts.keys().find(|site| !unknown(site)) {
        return Err(RetryError::NotUnknown(site.clone()));
    }
    let undecided = |site: &&Site| unknown(site) && !verdicts.contains_key(*site);
    if let Some(site) = state.nodes.keys().find(undecided) {
        return Err(RetryError::Undecided(site.clone()));
    }
    let happened_there = |site: &Site| matches!(verdicts.get(site), Some(Verdict::Happened(_)));
    let mut facts = Keeper::new(program, state, &happened_there).facts(events);
    for (site, verdict) in verdicts {
        if let Verdict::Happened(output) = verdict {
            facts.push(happened(program, site, state.node(site), output)?);
        }
    }
    let trigger = Some(Arc::clone(&started.trigger));
    Ok(Kept { of: started.run_id.clone(), trigger, facts, forked_at: None })
}

/// An unknown outcome with which the graph has dealt needs no word: the node
/// found a way out, or the container did that failed with it.
fn is_dealt_with(program: &Program, state: &RunState, site: &Site) -> bool {
    let parent = program.node_ix(&site.node).and_then(|ix| program.node(ix).parent);
    let around = parent.map(|parent| Site::of(&program.node(parent).id));
    let mut sites = [Some(site.clone()), around].into_iter().flatten();
    sites.any(|site| state.node(&site).is_some_and(|node| node.port.is_some()))
}

fn happened(
    program: &Program,
    id: &Site,
    node: Option<&NodeState>,
    output: &Value,
) -> Result<Fact, RetryError> {
    let attempt = node.map_or(Attempt::FIRST, |node| node.attempt);
    let (node, output_kept) = (id.clone(), Arc::new(output.clone()));
    let kind = program.node_ix(&id.node).map(|ix| &program.node(ix).kind);
    let Some(Kind::Decision { choices, .. }) = kind else {
        return Ok(Fact::NodeCompleted { node, attempt: Some(attempt), output: output_kept });
    };
    let chosen = output.get("chosen").and_then(Value::as_str).unwrap_or_default();
    let port = choices.iter().find(|choice| choice.as_str() == chosen).cloned();
    let words = || choices.iter().map(PortName::as_str).collect::<Vec<_>>().join(", ");
    let port = port.ok_or_else(|| RetryError::NoChoice { node: id.clone(), choices: words() })?;
    Ok(Fact::DecisionCompleted { node, attempt, output: output_kept, port })
}
