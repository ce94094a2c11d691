//! `state.json`: the folded state as stored. A cache of the log, so it may
//! always be thrown away; its own type, because a stored shape is a promise.
//! The members that the reference has keep its names (`status`, `nodes`,
//! `registry`, `next_seq`, …); `detail` holds what it does not know.

mod node;
mod progress;
mod written;

use std::collections::BTreeMap;
use std::sync::Arc;

use blueprint::{Budget, NodeId};
use durable::version::{Access, Format};
use durable::{Generation, Seq, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::event::{FailReason, Parent, RunStarted};
use crate::id::{RunId, SignalId};
use crate::proof::Proof;
use crate::site::Site;
use crate::state::{Cancel, Closed, Failure, NodeState, NodeStatus, RunState, RunStatus};
use node::{StoredError, StoredNode, error, node, stored_error};
use progress::{
    StoredContainer, StoredSpending, container, spending, stored_container, stored_spending,
};
use written::{Details, Outputs, Statuses};

pub const CHECKPOINT_FORMAT: Format = Format { major: 1, minor: 0 };

/// Why a stored state cannot be used.
#[derive(Debug, Error)]
pub enum CheckpointError {
    #[error("the checkpoint is not of the known shape")]
    Shape(#[from] serde_json::Error),
    #[error(
        "the checkpoint has format {}.{}, this program reads up to {}.x",
        found.major, found.minor, CHECKPOINT_FORMAT.major
    )]
    TooNew { found: Format },
    #[error("the checkpoint holds the unknown word `{0}`")]
    Word(String),
}

/// The stored form, as it is read, and with other members for the large ones
/// as it is written.
#[derive(Debug, Serialize, Deserialize)]
pub struct Stored<
    S = BTreeMap<Site, String>,
    O = BTreeMap<Site, StoredOutput>,
    D = BTreeMap<Site, StoredNode>,
> {
    format: Format,
    run_id: Option<RunId>,
    blueprint_id: Option<String>,
    blueprint_hash: Option<String>,
    status: String,
    nodes: S,
    registry: StoredRegistry<O>,
    next_seq: Seq,
    failure: Option<StoredFailure>,
    detail: Detail<D>,
}

/// That form of a state, to be written.
pub type Written<'a> = Stored<Statuses<'a>, Outputs<'a>, Details<'a>>;

#[derive(Debug, Serialize, Deserialize)]
struct StoredRegistry<O> {
    nodes: O,
    trigger: StoredOutput,
    storage: Value,
    run: Map<String, Value>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct StoredOutput {
    output: Arc<Value>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredFailure {
    reason: String,
    node: Option<Site>,
    message: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Detail<D> {
    started: Option<StoredStart>,
    updated_at: Option<Timestamp>,
    generation: Generation,
    nodes: D,
    signals: Vec<SignalId>,
    cancel: Option<(String, Option<String>)>,
    closed_at: Option<Timestamp>,
    close_failure: Option<StoredFailure>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    containers: BTreeMap<NodeId, StoredContainer>,
    #[serde(default, skip_serializing_if = "is_default")]
    spending: StoredSpending,
    /// Said where no node says it.
    #[serde(default, skip_serializing_if = "is_default")]
    unknown_effect: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    degraded: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    items_proof: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredStart {
    at: Timestamp,
    schema: u32,
    format: Format,
    generation: Generation,
    blueprint_digest: Option<String>,
    invocation_digest: Option<String>,
    principal: Option<String>,
    retry_of: Option<RunId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fork_of: Option<(RunId, Seq)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<Box<Parent>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deadline: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "is_default")]
    budget: Budget,
}

/// Whether a member says nothing that its absence does not say.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The state as it is stored.
pub fn to_stored(state: &RunState) -> Written<'_> {
    let started = state.started.as_deref();
    Stored {
        format: CHECKPOINT_FORMAT,
        run_id: started.map(|started| started.run_id.clone()),
        blueprint_id: started.map(|started| started.blueprint_id.as_str().to_owned()),
        blueprint_hash: started.and_then(|s| s.blueprint_hash).map(|hash| hash.to_string()),
        status: state.status().word().to_owned(),
        nodes: Statuses(&state.nodes),
        registry: StoredRegistry {
            nodes: Outputs(&state.nodes),
            trigger: StoredOutput {
                output: started.map(|s| Arc::clone(&s.trigger)).unwrap_or_default(),
            },
            storage: state.storage.clone(),
            run: Map::from_iter([("id".to_owned(), state.run_id.clone())]),
        },
        next_seq: state.next_seq,
        failure: state.failure.as_ref().map(stored_failure),
        detail: detail(state),
    }
}

/// The state that was stored.
pub fn from_stored(stored: Stored) -> Result<RunState, CheckpointError> {
    if CHECKPOINT_FORMAT.access(stored.format) == Access::TooNew {
        return Err(CheckpointError::TooNew { found: stored.format });
    }
    let Stored { registry, detail, nodes: statuses, .. } = &stored;
    let mut state = RunState::fresh();
    // A closed run has nothing in flight, whatever its nodes say.
    let open = detail.closed_at.is_none();
    for (id, word) in statuses {
        let status =
            NodeStatus::from_word(word).ok_or_else(|| CheckpointError::Word(word.clone()))?;
        let output = registry.nodes.get(id).map(|stored| Arc::clone(&stored.output));
        let node = node(status, output, detail.nodes.get(id))?;
        if open {
            place(&mut state, id, &node);
        }
        state.nodes.insert(id.clone(), node);
    }
    state.started = started(&stored)?.map(Arc::new);
    state.started_at = detail.started.as_ref().map(|start| start.at);
    state.updated_at = detail.updated_at;
    state.generation = detail.generation;
    state.storage = registry.storage.clone();
    state.run_id = registry.run.get("id").cloned().unwrap_or(Value::Null);
    state.signals = detail.signals.iter().cloned().collect();
    state.cancel = detail.cancel.clone().map(|(actor, note)| Cancel { actor, note });
    state.failure = stored.failure.as_ref().map(failure).transpose()?;
    state.unknown_effect = detail.unknown_effect || has_unknown(&state);
    state.degraded = detail.degraded;
    state.items_proof = word(detail.items_proof.as_ref(), Proof::from_word)?;
    state.spending = spending(&detail.spending)?;
    let containers = detail.containers.iter();
    state.containers = containers
        .map(|(id, stored)| Ok((id.clone(), container(stored)?)))
        .collect::<Result<_, CheckpointError>>()?;
    let closed = |at| {
        Ok::<_, CheckpointError>(Closed {
            at,
            failure: detail.close_failure.as_ref().map(failure).transpose()?,
        })
    };
    state.closed = detail.closed_at.map(closed).transpose()?;
    state.next_seq = stored.next_seq;
    Ok(state)
}

/// Puts an open site into what its state says that it waits for.
fn place(state: &mut RunState, site: &Site, node: &NodeState) {
    match (node.status, &node.child, node.wake) {
        // Also one whose last attempt was a run that has ended.
        (NodeStatus::Waiting, _, Some(wake)) => {
            state.timers.insert((wake, site.clone()));
        }
        (NodeStatus::Waiting, Some(child), None) => {
            state.children.insert(site.clone(), child.run_id.clone());
        }
        (NodeStatus::Waiting, None, None) => {
            state.waiting.insert(site.clone());
        }
        (NodeStatus::Running, _, _) if node.in_flight.is_some() => {
            state.in_flight.insert(site.clone());
        }
        (NodeStatus::Running, _, _) if node.claim.is_some() => {
            state.claims.insert(site.clone());
        }
        (
            NodeStatus::Pending
            | NodeStatus::Running
            | NodeStatus::Completed
            | NodeStatus::Failed
            | NodeStatus::Skipped
            | NodeStatus::Cancelled
            | NodeStatus::Unknown,
            _,
            _,
        ) => {}
    }
}

impl Stored {
    /// What a listing needs, without the whole state.
    pub fn status(&self) -> Option<RunStatus> {
        RunStatus::from_word(&self.status)
    }

    pub fn next_seq(&self) -> Seq {
        self.next_seq
    }
}

fn detail(state: &RunState) -> Detail<Details<'_>> {
    let start = |started: &RunStarted| {
        Some(StoredStart {
            at: state.started_at?,
            schema: started.schema,
            format: started.format,
            generation: started.generation,
            blueprint_digest: started.blueprint_digest.map(|digest| digest.to_string()),
            invocation_digest: started.invocation_digest.map(|digest| digest.to_string()),
            principal: started.principal.clone(),
            retry_of: started.retry_of.clone(),
            fork_of: started.fork_of.clone(),
            parent: started.parent.clone(),
            deadline: started.deadline,
            budget: started.budget.clone(),
        })
    };
    Detail {
        started: state.started.as_deref().and_then(start),
        updated_at: state.updated_at,
        generation: state.generation,
        nodes: Details(&state.nodes),
        signals: state.signals.iter().cloned().collect(),
        cancel: state.cancel.as_ref().map(|c| (c.actor.clone(), c.note.clone())),
        closed_at: state.closed.as_ref().map(|closed| closed.at),
        close_failure: state
            .closed
            .as_ref()
            .and_then(|closed| closed.failure.as_ref())
            .map(stored_failure),
        containers: state
            .containers
            .iter()
            .map(|(id, c)| (id.clone(), stored_container(c)))
            .collect(),
        spending: stored_spending(&state.spending),
        unknown_effect: state.unknown_effect && !has_unknown(state),
        degraded: state.degraded,
        items_proof: state.items_proof.map(|proof| proof.word().to_owned()),
    }
}

fn has_unknown(state: &RunState) -> bool {
    state.nodes.values().any(|node| node.status == NodeStatus::Unknown)
}

fn stored_failure(failure: &Failure) -> StoredFailure {
    StoredFailure {
        reason: failure.reason.word().to_owned(),
        node: failure.node.clone(),
        message: failure.message.clone(),
    }
}

fn failure(stored: &StoredFailure) -> Result<Failure, CheckpointError> {
    let reason = FailReason::from_word(&stored.reason);
    Ok(Failure {
        reason: reason.ok_or_else(|| CheckpointError::Word(stored.reason.clone()))?,
        node: stored.node.clone(),
        message: stored.message.clone(),
    })
}

fn word<T>(
    stored: Option<&String>,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, CheckpointError> {
    let read = |text: &String| read(text).ok_or_else(|| CheckpointError::Word(text.clone()));
    stored.map(read).transpose()
}

fn started(stored: &Stored) -> Result<Option<RunStarted>, CheckpointError> {
    let (Some(start), Some(run_id), Some(blueprint_id)) =
        (&stored.detail.started, &stored.run_id, &stored.blueprint_id)
    else {
        return Ok(None);
    };
    let digest = |text: &Option<String>| {
        let parse = |text: &String| text.parse().map_err(|_| CheckpointError::Word(text.clone()));
        text.as_ref().map(parse).transpose()
    };
    let id = blueprint::BlueprintId::new(blueprint_id);
    Ok(Some(RunStarted {
        run_id: run_id.clone(),
        blueprint_id: id.map_err(|_| CheckpointError::Word(blueprint_id.clone()))?,
        blueprint_hash: digest(&stored.blueprint_hash)?,
        schema: start.schema,
        trigger: Arc::clone(&stored.registry.trigger.output),
        format: start.format,
        generation: start.generation,
        blueprint_digest: digest(&start.blueprint_digest)?,
        invocation_digest: digest(&start.invocation_digest)?,
        principal: start.principal.clone(),
        retry_of: start.retry_of.clone(),
        fork_of: start.fork_of.clone(),
        parent: start.parent.clone(),
        deadline: start.deadline,
        budget: start.budget.clone(),
    }))
}

#[cfg(test)]
mod tests;
