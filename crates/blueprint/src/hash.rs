//! The canonical graph: what a blueprint means, as one JSON value, whatever
//! its file looks like. The content hash is the digest of that value, so
//! layout, comments, key order, prose and the places on a canvas do not
//! count; the order of nodes does, since it is the order in which they start.

use durable::{Digest, canon};
use serde_json::{Map, Value, json};

use crate::check::{Judged, Limits};
use crate::draft::{Draft, DraftNode, SCHEMA};
use crate::{BlueprintId, Retry};

/// The canonical graph while it grows.
#[derive(Debug)]
pub(crate) struct Canonical {
    top: Map<String, Value>,
    nodes: Vec<Value>,
    edges: Vec<Value>,
}

impl Canonical {
    pub(crate) fn new(id: &BlueprintId, draft: &Draft<'_>) -> Self {
        let mut top = Map::new();
        top.insert("schema".to_owned(), SCHEMA.into());
        top.insert("id".to_owned(), id.as_str().into());
        top.insert("name".to_owned(), draft.name.map_or("", |name| name.text).into());
        top.insert("on_interrupt".to_owned(), draft.on_interrupt.word().into());
        top.insert("max_parallel".to_owned(), draft.max_parallel.into());
        // Keys that are not written do not count, so that a graph without
        // them has the hash that it had before they existed.
        if let Some(workspace) = draft.workspace {
            top.insert("workspace".to_owned(), workspace.word().into());
        }
        if let Some(on_limit) = draft.on_limit {
            top.insert("on_limit".to_owned(), on_limit.word().into());
        }
        Self { top, nodes: Vec::new(), edges: Vec::new() }
    }

    /// The same for these.
    pub(crate) fn limits(&mut self, limits: &Limits) {
        if let Some(deadline) = limits.deadline {
            self.top.insert("deadline".to_owned(), deadline.to_string().into());
        }
        if let Some(budget) = &limits.budget_source {
            self.top.insert("budget".to_owned(), budget.clone());
        }
    }

    pub(crate) fn node(&mut self, node: &DraftNode<'_>, judged: &Judged<'_>) {
        let text = |word: crate::draft::Word<'_>| Value::from(word.text);
        let mut map = Map::new();
        map.insert("fields".to_owned(), Value::Object(judged.fields.clone()));
        let repeat = node.repeat.map(|_| judged.repeat.word().into());
        let optional = [
            ("id", node.id.map(text)),
            ("type", node.node_type.map(text)),
            ("name", node.name.map(text)),
            ("parent", node.parent.map(text)),
            ("timeout", judged.timeout.map(|span| span.to_string().into())),
            ("repeat", repeat),
            ("retry", judged.retry.as_ref().map(retry)),
            ("on_limit", judged.on_limit.map(|on_limit| on_limit.word().into())),
            ("prove", judged.prove.as_ref().map(|prove| prove.source.clone())),
        ];
        for (key, value) in optional {
            if let Some(value) = value {
                map.insert(key.to_owned(), value);
            }
        }
        self.nodes.push(Value::Object(map));
    }

    pub(crate) fn edge(
        &mut self,
        draft: &Draft<'_>,
        from: usize,
        from_port: &str,
        to: usize,
        to_port: &str,
    ) {
        let id = |at: usize| draft.nodes[at].id.map_or("", |id| id.text);
        self.edges.push(json!({
            "from": id(from), "from_port": from_port, "to": id(to), "to_port": to_port,
        }));
    }

    pub(crate) fn finish(mut self) -> (Value, Digest) {
        self.top.insert("nodes".to_owned(), self.nodes.into());
        self.top.insert("edges".to_owned(), self.edges.into());
        let graph = Value::Object(self.top);
        let hash = canon::digest(&graph);
        (graph, hash)
    }
}

/// As front matter would have it, with nothing left to a default.
fn retry(retry: &Retry) -> Value {
    json!({
        "attempts": retry.attempts,
        "backoff": retry.backoff,
        "max_backoff": retry.max_backoff,
        "jitter": retry.jitter,
        "on": retry.on.iter().map(|class| class.word()).collect::<Vec<_>>(),
    })
}
