//! The large members of a checkpoint on their way out: written from the state
//! as it is, with no copy of theirs made first.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::node::stored_node;
use crate::site::Site;
use crate::state::NodeState;

type Nodes = BTreeMap<Site, NodeState>;

/// The status of each node.
#[derive(Debug)]
pub struct Statuses<'a>(pub(super) &'a Nodes);

/// The outputs of those that have one.
#[derive(Debug)]
pub struct Outputs<'a>(pub(super) &'a Nodes);

/// What the reference does not know of them.
#[derive(Debug)]
pub struct Details<'a>(pub(super) &'a Nodes);

#[derive(Serialize)]
struct Output<'a> {
    output: &'a Value,
}

impl Serialize for Statuses<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(site, node)| (site, node.status.word())))
    }
}

impl Serialize for Outputs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let outputs = self.0.iter().filter_map(|(site, node)| {
            let output = node.output.as_deref()?;
            Some((site, Output { output }))
        });
        serializer.collect_map(outputs)
    }
}

impl Serialize for Details<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(site, node)| (site, stored_node(node))))
    }
}
