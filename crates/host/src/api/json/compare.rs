//! The document about two runs side by side. Pure.

use serde::Serialize;
use serde_json::{Value, json};

use super::SCHEMA;
use crate::api::RunsCompared;
use crate::api::diff::{Change, NodeDiff, Side};

pub fn run_diff(found: &RunsCompared) -> RunDiffDocument<'_> {
    let diff = &found.diff;
    RunDiffDocument {
        schema: SCHEMA,
        first: &found.first,
        second: &found.second,
        same: diff.is_empty(),
        same_graph: diff.same_graph,
        same_input: diff.same_input,
        same_end: diff.same_end,
        same_nodes: diff.same_nodes,
        nodes: diff.nodes.iter().map(node).collect(),
    }
}

#[derive(Debug, Serialize)]
pub struct RunDiffDocument<'a> {
    schema: u32,
    first: &'a str,
    second: &'a str,
    same: bool,
    same_graph: bool,
    same_input: bool,
    same_end: bool,
    same_nodes: usize,
    nodes: Vec<NodeEntry<'a>>,
}

/// One node, and each thing in which it differs as `{what, first, second}`.
#[derive(Debug, Serialize)]
struct NodeEntry<'a> {
    node: &'a str,
    changes: Vec<Value>,
}

fn node(diff: &NodeDiff) -> NodeEntry<'_> {
    NodeEntry { node: &diff.id, changes: diff.changes.iter().flat_map(changes).collect() }
}

fn changes(change: &Change) -> Vec<Value> {
    let entry = |what: &str, first: Value, second: Value| {
        vec![json!({ "what": what, "first": first, "second": second })]
    };
    match change {
        Change::OnlyIn(side) => {
            let first = *side == Side::First;
            entry("presence", json!(first), json!(!first))
        }
        Change::Status(first, second) => entry("status", json!(first), json!(second)),
        Change::Port(first, second) => entry("port", json!(first), json!(second)),
        Change::Error(first, second) => entry("error", json!(first), json!(second)),
        Change::Attempts(first, second) => entry("attempts", json!(first), json!(second)),
        Change::Took(first, second) => entry("took", json!(first), json!(second)),
        Change::Output(places) => {
            let place = |at: &crate::api::diff::ValueDiff| {
                let what = format!("output {}", at.path);
                json!({ "what": what.trim_end(), "first": at.first, "second": at.second })
            };
            places.iter().map(place).collect()
        }
    }
}
