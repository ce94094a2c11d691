//! The canonical graph: what a blueprint means, as one JSON text, whatever
//! its file looks like. The content hash is the digest of its canonical form,
//! so layout, comments, key order, prose and the places on a canvas do not
//! count; the order of nodes does, since it is the order in which they start.

mod text;

use std::ops::Range;

use durable::{Digest, canon};
use serde_json::{Value, json};

use crate::check::{Judged, Limits};
use crate::draft::{Draft, DraftNode, SCHEMA};
use crate::yaml::Yaml;
use crate::{BlueprintId, Retry};
use text::Writer;

/// The canonical graph of a program: compact JSON, its keys in order, its
/// numbers as they were written.
#[derive(Debug, Clone)]
pub(crate) struct Graph {
    text: String,
    /// Where each node stands in the text.
    nodes: Vec<Range<usize>>,
}

/// What a field has in the canonical graph.
#[derive(Debug)]
pub(crate) enum Source<'t> {
    Written(&'t Yaml<'t>),
    Made(Value),
}

/// The canonical graph while it grows: its keys in order, so the edges come
/// first and the nodes after them.
#[derive(Debug)]
pub(crate) struct Canonical {
    out: Writer,
    nodes: Vec<Range<usize>>,
}

impl Graph {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The text of the node at a place of the file.
    pub(crate) fn node(&self, at: usize) -> &str {
        &self.text[self.nodes[at].clone()]
    }

    pub(crate) fn value(&self) -> Value {
        serde_json::from_str(&self.text).expect("the writer writes JSON of bounded depth")
    }
}

impl Canonical {
    /// Keys that are not written do not count, so that a graph without them
    /// has the hash that it had before they existed.
    pub(crate) fn new(draft: &Draft<'_>, limits: &Limits) -> Self {
        let mut out = Writer::new('{');
        out.reserve(EDGE * draft.edges.len() + NODE * draft.nodes.len());
        if let Some(budget) = &limits.budget_source {
            out.key("budget");
            out.value(budget);
        }
        let deadline = limits.deadline.map(|span| span.to_string());
        out.texts([("deadline", deadline.as_deref())]);
        out.key("edges");
        out.open('[');
        Self { out, nodes: Vec::with_capacity(draft.nodes.len()) }
    }

    /// Ends the edges.
    pub(crate) fn nodes(&mut self, id: &BlueprintId, draft: &Draft<'_>) {
        let out = &mut self.out;
        out.close(']');
        out.texts([("id", Some(id.as_str()))]);
        out.key("max_parallel");
        out.value(&draft.max_parallel.into());
        out.texts([("name", Some(draft.name.map_or("", |name| name.text)))]);
        out.key("nodes");
        out.open('[');
    }

    /// Its keys in order.
    pub(crate) fn node(&mut self, node: &DraftNode<'_>, judged: &mut Judged<'_>) {
        judged.fields.sort_unstable_by_key(|(id, _)| *id);
        let out = &mut self.out;
        out.item();
        let start = out.len();
        out.open('{');
        out.key("fields");
        out.open('{');
        for (id, source) in &judged.fields {
            out.key(id);
            match source {
                Source::Written(value) => out.yaml(value),
                Source::Made(value) => out.value(value),
            }
        }
        out.close('}');
        out.texts([("id", node.id.map(|word| word.text)), ("name", node.name.map(|n| n.text))]);
        out.texts([
            ("on_limit", judged.on_limit.map(|on_limit| on_limit.word())),
            ("parent", node.parent.map(|word| word.text)),
        ]);
        if let Some(prove) = &judged.prove {
            out.key("prove");
            out.value(&prove.source);
        }
        out.texts([("repeat", node.repeat.map(|_| judged.repeat.word()))]);
        if let Some(one) = &judged.retry {
            out.key("retry");
            out.value(&retry(one));
        }
        let timeout = judged.timeout.map(|span| span.to_string());
        out.texts([
            ("timeout", timeout.as_deref()),
            ("type", node.node_type.map(|word| word.text)),
        ]);
        out.close('}');
        self.nodes.push(start..out.len());
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
        let out = &mut self.out;
        out.item();
        out.open('{');
        out.texts([("from", Some(id(from))), ("from_port", Some(from_port))]);
        out.texts([("to", Some(id(to))), ("to_port", Some(to_port))]);
        out.close('}');
    }

    pub(crate) fn finish(self, draft: &Draft<'_>) -> (Graph, Digest) {
        let Self { mut out, nodes } = self;
        out.close(']');
        out.texts([
            ("on_interrupt", Some(draft.on_interrupt.word())),
            ("on_limit", draft.on_limit.map(|on_limit| on_limit.word())),
        ]);
        out.key("schema");
        out.value(&SCHEMA.into());
        out.texts([("workspace", draft.workspace.map(|workspace| workspace.word()))]);
        out.close('}');
        let is_canonical = out.is_canonical();
        let graph = Graph { text: out.into_text(), nodes };
        let hash = match is_canonical {
            true => Digest::of(graph.text.as_bytes()),
            false => canon::digest(&graph.value()),
        };
        (graph, hash)
    }
}

/// Bytes of an edge and of a node, in most files.
const EDGE: usize = 72;
const NODE: usize = 96;

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

#[cfg(test)]
mod tests;
