//! What a template or a condition can see: the registry of one run, as
//! values by root. The engine implements it over a run's state.

use serde_json::Value;

use crate::NodeId;

/// Where a path begins.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Root {
    /// `nodes.<id>.output`
    Output(NodeId),
    /// `nodes.<id>.prev`: the output of the round before.
    Prev(NodeId),
    /// `nodes.<id>.error`
    Error(NodeId),
    /// `trigger.output`
    Trigger,
    /// `storage`
    Storage,
    /// `run.id`
    RunId,
    /// `item`
    Item,
    /// `item_index`
    ItemIndex,
}

/// The values of one run at one moment.
pub trait Scope {
    /// The value at a root, when there is one.
    fn value(&self, root: &Root) -> Option<&Value>;

    /// The path at which a file with this text will stand before the work
    /// that mentions it starts (filter `file`).
    fn file(&self, text: &str) -> String;
}
