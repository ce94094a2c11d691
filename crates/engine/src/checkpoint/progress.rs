//! How far loops and items have come, and what agents have used, as stored.

use std::collections::BTreeMap;
use std::sync::Arc;

use blueprint::{NodeId, PortName};
use durable::{Attempt, Round, Span};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CheckpointError, StoredError, error, stored_error};
use crate::container::{Container, ForEach, ItemEnd, Loop};
use crate::event::LoopBegin;
use crate::proof::Claim;
use crate::spending::BudgetLimit;
use crate::spending::Spending;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredContainer {
    Loop {
        begin: Arc<LoopBegin>,
        round: Round,
        failed: Option<StoredError>,
    },
    ForEach {
        items: Arc<Vec<Value>>,
        body: Arc<Vec<NodeId>>,
        ended: BTreeMap<u32, StoredItem>,
        failing: BTreeMap<u32, StoredError>,
        failed: Option<StoredError>,
    },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredItem {
    Completed(Arc<Value>),
    Failed(StoredError),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredClaim {
    port: PortName,
    asked: Attempt,
}

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct StoredSpending {
    calls: u64,
    time: Span,
    tokens: u64,
    cost_micros: u64,
    untold_tokens: u64,
    untold_cost: u64,
    grants: u64,
    noticed: Option<u64>,
    held: Option<String>,
}

pub(super) fn stored_claim(claim: &Claim) -> StoredClaim {
    StoredClaim { port: claim.port.clone(), asked: claim.asked }
}

pub(super) fn claim(stored: &StoredClaim) -> Claim {
    Claim { port: stored.port.clone(), asked: stored.asked }
}

pub(super) fn stored_container(container: &Container) -> StoredContainer {
    match container {
        Container::Loop(own) => StoredContainer::Loop {
            begin: Arc::clone(&own.begin),
            round: own.round,
            failed: own.failed.as_ref().map(stored_error),
        },
        Container::ForEach(own) => StoredContainer::ForEach {
            items: Arc::clone(&own.items),
            body: Arc::clone(&own.body),
            ended: own.ended.iter().map(|(index, end)| (*index, stored_item(end))).collect(),
            failing: own.failing.iter().map(|(index, e)| (*index, stored_error(e))).collect(),
            failed: own.failed.as_ref().map(stored_error),
        },
    }
}

fn stored_item(end: &ItemEnd) -> StoredItem {
    match end {
        ItemEnd::Completed(output) => StoredItem::Completed(Arc::clone(output)),
        ItemEnd::Failed(error) => StoredItem::Failed(stored_error(error)),
    }
}

pub(super) fn container(stored: &StoredContainer) -> Result<Container, CheckpointError> {
    Ok(match stored {
        StoredContainer::Loop { begin, round, failed } => Container::Loop(Loop {
            begin: Arc::clone(begin),
            round: *round,
            failed: failed.as_ref().map(error).transpose()?,
        }),
        StoredContainer::ForEach { items, body, ended, failing, failed } => {
            let item = |(index, end): (&u32, &StoredItem)| {
                let end = match end {
                    StoredItem::Completed(output) => ItemEnd::Completed(Arc::clone(output)),
                    StoredItem::Failed(stored) => ItemEnd::Failed(error(stored)?),
                };
                Ok::<_, CheckpointError>((*index, end))
            };
            let mut own = ForEach::new(Arc::clone(items), Arc::clone(body));
            for stored in ended {
                let (index, end) = item(stored)?;
                own.end(index, end);
            }
            for (index, stored) in failing {
                own.failing.insert(*index, error(stored)?);
            }
            own.failed = failed.as_ref().map(error).transpose()?;
            Container::ForEach(own)
        }
    })
}

pub(super) fn stored_spending(spending: &Spending) -> StoredSpending {
    StoredSpending {
        calls: spending.calls,
        time: spending.time,
        tokens: spending.tokens,
        cost_micros: spending.cost_micros,
        untold_tokens: spending.untold_tokens,
        untold_cost: spending.untold_cost,
        grants: spending.grants,
        noticed: spending.noticed,
        held: spending.held.map(|limit| limit.word().to_owned()),
    }
}

pub(super) fn spending(stored: &StoredSpending) -> Result<Spending, CheckpointError> {
    let limit = |word: &String| {
        BudgetLimit::from_word(word).ok_or_else(|| CheckpointError::Word(word.clone()))
    };
    Ok(Spending {
        calls: stored.calls,
        time: stored.time,
        tokens: stored.tokens,
        cost_micros: stored.cost_micros,
        untold_tokens: stored.untold_tokens,
        untold_cost: stored.untold_cost,
        grants: stored.grants,
        noticed: stored.noticed,
        held: stored.held.as_ref().map(limit).transpose()?,
    })
}
