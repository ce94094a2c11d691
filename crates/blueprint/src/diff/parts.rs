//! A canonical graph (see [`crate::hash`]) taken apart.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Map, Value};

pub(super) struct Parts<'a> {
    pub(super) top: &'a Map<String, Value>,
    /// Ids with their nodes, in order.
    pub(super) nodes: Vec<(&'a str, &'a Value)>,
    pub(super) edges: Vec<Edge<'a>>,
    by_id: BTreeMap<&'a str, &'a Value>,
    all: BTreeSet<Edge<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge<'a> {
    from: &'a str,
    from_port: &'a str,
    to: &'a str,
    to_port: &'a str,
}

impl<'a> Parts<'a> {
    pub(super) fn of(graph: &'a Value) -> Self {
        let list = |key: &str| graph.get(key).and_then(Value::as_array).into_iter().flatten();
        let nodes: Vec<_> = list("nodes").map(|node| (text(node, "id"), node)).collect();
        let edges: Vec<_> = list("edges").map(Edge::of).collect();
        Self {
            top: graph.as_object().expect("a graph is a mapping"),
            by_id: nodes.iter().copied().collect(),
            all: edges.iter().copied().collect(),
            nodes,
            edges,
        }
    }

    pub(super) fn node(&self, id: &str) -> Option<&'a Value> {
        self.by_id.get(id).copied()
    }

    pub(super) fn has(&self, edge: &Edge<'_>) -> bool {
        self.all.contains(edge)
    }
}

impl<'a> Edge<'a> {
    fn of(value: &'a Value) -> Self {
        Self {
            from: text(value, "from"),
            from_port: text(value, "from_port"),
            to: text(value, "to"),
            to_port: text(value, "to_port"),
        }
    }
}

impl fmt::Display for Edge<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |f: &mut fmt::Formatter<'_>, node: &str, port: &str, usual: &str| {
            f.write_str(node)?;
            if port == usual { Ok(()) } else { write!(f, ".{port}") }
        };
        end(f, self.from, self.from_port, "out")?;
        f.write_str(" → ")?;
        end(f, self.to, self.to_port, "in")
    }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or("")
}
