//! What two blueprints have different, in the words of graphs: nodes, their
//! fields, edges, top-level keys. It compares what the content hash is taken
//! of, so that it is silent exactly when the hashes agree.

mod parts;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use crate::Program;
use parts::{Edge, Parts};

/// One difference, from the old graph to the new one.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    pub place: Place,
    /// `None` for what is new.
    pub old: Option<Value>,
    /// `None` for what is gone.
    pub new: Option<Value>,
}

/// What differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A key of the blueprint itself.
    Key(String),
    /// A whole node; the values are its types.
    Node(String),
    /// Something of a node that both graphs have: `fields.env.PATH`.
    Part { node: String, path: String },
    /// An edge, as `triage.fix → patch`; the usual ports are left out.
    Edge(String),
    /// The same nodes in another order, which is the order in which they
    /// start; the values are lists of ids.
    NodeOrder,
    /// The same edges in another order.
    EdgeOrder,
}

/// All differences: keys, nodes in the order of the new graph with their
/// parts, edges, orders.
pub fn diff(old: &Program, new: &Program) -> Vec<Difference> {
    let mut found = Vec::new();
    let (old, new) = (old.graph.value(), new.graph.value());
    let (old, new) = (Parts::of(&old), Parts::of(&new));
    for (key, before, after) in pairs(old.top, new.top) {
        let whole = matches!(key, "nodes" | "edges");
        if !whole && before != after {
            found.push(difference(Place::Key(key.to_owned()), before, after));
        }
    }
    nodes(&old, &new, &mut found);
    edges(&old, &new, &mut found);
    found
}

fn nodes(old: &Parts<'_>, new: &Parts<'_>, found: &mut Vec<Difference>) {
    let id = |id: &str| id.to_owned();
    let kind = |node: &Value| node.get("type").cloned();
    for (name, node) in &new.nodes {
        let Some(before) = old.node(name) else {
            let place = Place::Node(id(name));
            found.push(Difference { place, old: None, new: kind(node) });
            continue;
        };
        compare(name, "", Some(before), Some(node), found);
    }
    for (name, node) in old.nodes.iter().filter(|(name, _)| new.node(name).is_none()) {
        found.push(Difference { place: Place::Node(id(name)), old: kind(node), new: None });
    }
    let kept = |from: &Parts<'_>, other: &Parts<'_>| -> Vec<Value> {
        let kept = from.nodes.iter().filter(|(name, _)| other.node(name).is_some());
        kept.map(|(name, _)| (*name).into()).collect()
    };
    order(Place::NodeOrder, kept(old, new), kept(new, old), found);
}

fn edges(old: &Parts<'_>, new: &Parts<'_>, found: &mut Vec<Difference>) {
    let text = |edge: &Edge<'_>| Value::from(edge.to_string());
    for edge in new.edges.iter().filter(|edge| !old.has(edge)) {
        let place = Place::Edge(edge.to_string());
        found.push(Difference { place, old: None, new: Some(text(edge)) });
    }
    for edge in old.edges.iter().filter(|edge| !new.has(edge)) {
        let place = Place::Edge(edge.to_string());
        found.push(Difference { place, old: Some(text(edge)), new: None });
    }
    let kept = |from: &Parts<'_>, other: &Parts<'_>| -> Vec<Value> {
        from.edges.iter().filter(|edge| other.has(edge)).map(text).collect()
    };
    order(Place::EdgeOrder, kept(old, new), kept(new, old), found);
}

fn order(place: Place, old: Vec<Value>, new: Vec<Value>, found: &mut Vec<Difference>) {
    if old != new {
        found.push(difference(place, Some(&Value::Array(old)), Some(&Value::Array(new))));
    }
}

/// Goes into mappings, so that one changed entry is one difference.
fn compare(
    node: &str,
    path: &str,
    old: Option<&Value>,
    new: Option<&Value>,
    found: &mut Vec<Difference>,
) {
    if old == new {
        return;
    }
    if let (Some(Value::Object(old)), Some(Value::Object(new))) = (old, new) {
        for (key, old, new) in pairs(old, new) {
            let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
            compare(node, &path, old, new, found);
        }
        return;
    }
    let place = Place::Part { node: node.to_owned(), path: path.to_owned() };
    found.push(difference(place, old, new));
}

fn difference(place: Place, old: Option<&Value>, new: Option<&Value>) -> Difference {
    Difference { place, old: old.cloned(), new: new.cloned() }
}

/// The values of two mappings under each key of either.
fn pairs<'a>(
    old: &'a Map<String, Value>,
    new: &'a Map<String, Value>,
) -> impl Iterator<Item = (&'a str, Option<&'a Value>, Option<&'a Value>)> {
    let gone = old.keys().filter(|key| !new.contains_key(*key));
    new.keys().chain(gone).map(|key| (key.as_str(), old.get(key), new.get(key)))
}
