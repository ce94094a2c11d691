//! Where a loop or a `for_each` stands. Everything here is a fold of events.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use blueprint::NodeId;
use durable::Round;
use serde_json::{Value, json};

use crate::event::LoopBegin;
use crate::work::NodeError;

/// A container that has begun. It stays when it is over, so that its last
/// round can be told.
#[derive(Debug, Clone, PartialEq)]
pub enum Container {
    Loop(Loop),
    ForEach(ForEach),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Loop {
    pub begin: Arc<LoopBegin>,
    pub round: Round,
    /// A failure inside that the loop must fail with.
    pub failed: Option<NodeError>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ForEach {
    pub items: Arc<Vec<Value>>,
    /// The nodes inside.
    pub body: Arc<Vec<NodeId>>,
    /// The items that are over, and the others, so that the next one is found
    /// without going through those before it.
    pub ended: BTreeMap<u32, ItemEnd>,
    pub open: BTreeSet<u32>,
    /// Items in which something failed, until what is in flight there ends.
    pub failing: BTreeMap<u32, NodeError>,
    /// A failure inside that the whole must fail with.
    pub failed: Option<NodeError>,
}

/// What became of an item.
#[derive(Debug, Clone, PartialEq)]
pub enum ItemEnd {
    Completed(Arc<Value>),
    Failed(NodeError),
}

impl Container {
    /// The nodes inside.
    pub fn body(&self) -> &[NodeId] {
        match self {
            Self::Loop(own) => &own.begin.body,
            Self::ForEach(own) => &own.body,
        }
    }

    /// The failure that ends the container.
    pub fn failed(&self) -> Option<&NodeError> {
        match self {
            Self::Loop(own) => own.failed.as_ref(),
            Self::ForEach(own) => own.failed.as_ref(),
        }
    }

    pub(crate) fn fail(&mut self, error: &NodeError) {
        let failed = match self {
            Self::Loop(own) => &mut own.failed,
            Self::ForEach(own) => &mut own.failed,
        };
        failed.get_or_insert_with(|| error.clone());
    }
}

impl ForEach {
    /// A `for_each` at its beginning.
    pub(crate) fn new(items: Arc<Vec<Value>>, body: Arc<Vec<NodeId>>) -> Self {
        let mut own = Self {
            items,
            body,
            ended: BTreeMap::new(),
            open: BTreeSet::new(),
            failing: BTreeMap::new(),
            failed: None,
        };
        own.open = (0..own.count()).collect();
        own
    }

    pub(crate) fn end(&mut self, index: u32, end: ItemEnd) {
        self.failing.remove(&index);
        self.open.remove(&index);
        self.ended.insert(index, end);
    }

    pub fn count(&self) -> u32 {
        u32::try_from(self.items.len()).unwrap_or(u32::MAX)
    }

    pub fn is_over(&self) -> bool {
        self.open.is_empty()
    }

    /// Items that are over and failed.
    pub fn failed_items(&self) -> usize {
        self.ended.values().filter(|end| matches!(end, ItemEnd::Failed(_))).count()
    }

    /// The first items that are not over, as many as may run at a time.
    pub fn active(&self, most: usize) -> impl Iterator<Item = u32> {
        self.open.iter().copied().take(most)
    }

    /// What templates read as the output: how each item ended, in the order
    /// of the items.
    pub(crate) fn output(&self) -> Value {
        let row = |(index, end): (&u32, &ItemEnd)| match end {
            ItemEnd::Completed(output) => {
                json!({ "index": index, "status": "completed", "output": &**output })
            }
            ItemEnd::Failed(error) => {
                json!({ "index": index, "status": "failed", "error": error.told() })
            }
        };
        Value::Array(self.ended.iter().map(row).collect())
    }
}
