//! Two runs side by side: where they went the same way, and where not.

use std::collections::BTreeMap;

use durable::Span;
use serde_json::Value;

use crate::view::{NodeView, RunView};

/// How two runs differ.
#[derive(Debug, Clone, PartialEq)]
pub struct RunDiff {
    /// Whether both ran the same graph.
    pub same_graph: bool,
    pub same_input: bool,
    pub same_end: bool,
    /// The nodes that did not go the same way, in the order of the first run.
    pub nodes: Vec<NodeDiff>,
    /// How many went the same way.
    pub same_nodes: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct NodeDiff {
    pub id: String,
    pub changes: Vec<Change>,
}

/// One thing in which a node differs; each side is `None` where it has none.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// The node is in one of the runs only.
    OnlyIn(Side),
    Status(&'static str, &'static str),
    Port(Option<String>, Option<String>),
    /// Paths into the output at which the two differ, the first ones.
    Output(Vec<ValueDiff>),
    Error(Option<String>, Option<String>),
    Attempts(u64, u64),
    /// Times that differ by more than chance explains.
    Took(Span, Span),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    First,
    Second,
}

/// A place in a value, and what stands there in each.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueDiff {
    pub path: String,
    pub first: Option<Value>,
    pub second: Option<Value>,
}

/// Places of one output that are told.
const PLACES: usize = 8;

/// Times that are worth a word: twice as long, and by more than this.
const SLOWER_BY: Span = Span::from_secs(5);

/// Compares two runs as they are; `same_graph` says whether the hashes of
/// their graphs agree.
pub fn diff(first: &RunView, second: &RunView, same_graph: bool) -> RunDiff {
    let others: BTreeMap<&str, &NodeView> =
        second.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let firsts: BTreeMap<&str, &NodeView> =
        first.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let mut nodes = Vec::new();
    let mut same_nodes = 0;
    for node in &first.nodes {
        let changes = match others.get(node.id.as_str()) {
            Some(other) => changes(node, other),
            None => vec![Change::OnlyIn(Side::First)],
        };
        if changes.is_empty() {
            same_nodes += 1;
        } else {
            nodes.push(NodeDiff { id: node.id.clone(), changes });
        }
    }
    let new = second.nodes.iter().filter(|node| !firsts.contains_key(node.id.as_str()));
    let only = |node: &NodeView| NodeDiff {
        id: node.id.clone(),
        changes: vec![Change::OnlyIn(Side::Second)],
    };
    nodes.extend(new.map(only));
    RunDiff {
        same_graph,
        same_input: without_time(first.trigger.as_ref()) == without_time(second.trigger.as_ref()),
        same_end: (first.status, first.reason()) == (second.status, second.reason()),
        nodes,
        same_nodes,
    }
}

impl RunDiff {
    /// Whether nothing is told apart.
    pub fn is_empty(&self) -> bool {
        self.same_graph && self.same_input && self.same_end && self.nodes.is_empty()
    }
}

/// The time of the start is never the same.
fn without_time(trigger: Option<&Value>) -> Option<Value> {
    let mut value = trigger?.clone();
    if let Value::Object(members) = &mut value {
        members.remove("timestamp");
    }
    Some(value)
}

fn changes(first: &NodeView, second: &NodeView) -> Vec<Change> {
    let mut changes = Vec::new();
    if first.status != second.status {
        changes.push(Change::Status(first.status.word(), second.status.word()));
    }
    if first.port != second.port {
        changes.push(Change::Port(first.port.clone(), second.port.clone()));
    }
    let mut places = Vec::new();
    compare("", first.output.as_ref(), second.output.as_ref(), &mut places);
    if !places.is_empty() {
        changes.push(Change::Output(places));
    }
    let message = |node: &NodeView| node.error.as_ref().map(|error| error.message.clone());
    if message(first) != message(second) {
        changes.push(Change::Error(message(first), message(second)));
    }
    if first.attempt != second.attempt {
        changes.push(Change::Attempts(first.attempt.0, second.attempt.0));
    }
    if let (Some(one), Some(other)) = (took(first), took(second))
        && one.max(other).millis() > one.min(other).millis() * 2 + SLOWER_BY.millis()
    {
        changes.push(Change::Took(one, other));
    }
    changes
}

fn took(node: &NodeView) -> Option<Span> {
    Some(node.ended_at?.since(node.started_at?))
}

fn compare(path: &str, first: Option<&Value>, second: Option<&Value>, places: &mut Vec<ValueDiff>) {
    if first == second || places.len() >= PLACES {
        return;
    }
    match (first, second) {
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            let mut keys: Vec<&String> = one.keys().chain(other.keys()).collect();
            keys.sort_unstable();
            keys.dedup();
            for key in keys {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                compare(&path, one.get(key), other.get(key), places);
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(other))) => {
            for index in 0..one.len().max(other.len()) {
                compare(&format!("{path}[{index}]"), one.get(index), other.get(index), places);
            }
        }
        (first, second) => places.push(ValueDiff {
            path: path.to_owned(),
            first: first.cloned(),
            second: second.cloned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn places(first: &Value, second: &Value) -> Vec<String> {
        let mut places = Vec::new();
        compare("", Some(first), Some(second), &mut places);
        let side = |value: &Option<Value>| value.as_ref().map_or("-".to_owned(), Value::to_string);
        let text =
            |at: &ValueDiff| format!("{}: {} {}", at.path, side(&at.first), side(&at.second));
        places.iter().map(text).collect()
    }

    #[test]
    fn values_are_compared_place_by_place() {
        let first = json!({ "a": 1, "b": { "c": [1, 2], "d": "x" } });
        let second = json!({ "a": 1, "b": { "c": [1, 3, 4], "e": null } });
        let told = places(&first, &second);
        assert_eq!(told, ["b.c[1]: 2 3", "b.c[2]: - 4", "b.d: \"x\" -", "b.e: - null"]);
        assert_eq!(places(&first, &first), Vec::<String>::new());
    }

    #[test]
    fn not_more_places_are_told_than_anyone_reads() {
        let many: Vec<u32> = (0..100).collect();
        let none: Vec<u32> = Vec::new();
        assert_eq!(places(&json!(many), &json!(none)).len(), PLACES);
    }
}
