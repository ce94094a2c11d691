//! The nodes and edges of a draft as a graph: do the ends of every edge
//! exist, and does the whole hang together? A broken edge is reported once;
//! what it touches is then given the benefit of the doubt.

use std::ops::Range;

use indexmap::IndexMap;

use super::Sink;
use super::bodies;
use super::node::{Judged, Ports};
use super::values::is_name;
use crate::draft::{Draft, DraftEdge, DraftNode, Port, Word};
use crate::node_type::{Actor, Runs};
use crate::program::ERROR;
use crate::yaml::{Data, Yaml, shorten};
use crate::{Rule, suggest};

/// The ports that an edge means when it names none.
const USUAL_OUT: &str = "out";
const USUAL_IN: &str = "in";

/// The sound part of a graph. Nodes are numbered as in the draft.
#[derive(Debug)]
pub(super) struct Graph<'t> {
    /// Asked several times by every edge.
    pub(super) ids: IndexMap<&'t str, usize>,
    pub(super) links: Vec<Link<'t>>,
    /// The links into and out of each node.
    pub(super) incoming: Vec<Vec<usize>>,
    pub(super) outgoing: Vec<Vec<usize>>,
    /// A broken edge leads into, or out of, the node.
    pub(super) broken_in: Vec<bool>,
    pub(super) broken_out: Vec<bool>,
    /// The node has no id of its own, so that nothing can lead to it.
    pub(super) stray: Vec<bool>,
    /// The container in which each node stands.
    pub(super) parent: Vec<Option<usize>>,
    /// The node has a `parent` that is no container, so that nothing can be
    /// said of where it stands.
    pub(super) lost: Vec<bool>,
    /// The nodes inside of each container, in the order of the file.
    pub(super) inside: Vec<Vec<usize>>,
}

/// A sound edge.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link<'t> {
    pub(super) from: usize,
    pub(super) from_port: &'t str,
    pub(super) to: usize,
    pub(super) to_port: &'t str,
    /// The edge, by its place in the draft.
    pub(super) edge: usize,
}

impl<'t> Graph<'t> {
    /// The ids of all nodes, in their order.
    pub(super) fn names(&self) -> impl Iterator<Item = &'t str> + use<'t> {
        let mut names: Vec<&str> = self.ids.keys().copied().collect();
        names.sort_unstable();
        names.into_iter()
    }

    /// Whether an edge leads on from a failure of the node.
    pub(super) fn catches(&self, at: usize) -> bool {
        self.outgoing[at].iter().any(|link| self.links[*link].from_port == ERROR)
    }
}

/// What the steps of building share.
struct Builder<'a, 't> {
    draft: &'a Draft<'t>,
    judged: &'a [Judged<'t>],
    graph: Graph<'t>,
    /// Some node has no readable id, which an edge may mean.
    nameless: bool,
}

/// Builds the graph and reports what is wrong with single nodes and edges.
pub(super) fn build<'t>(
    draft: &Draft<'t>,
    judged: &[Judged<'t>],
    sink: &mut Sink<'_>,
) -> Graph<'t> {
    let count = draft.nodes.len();
    let graph = Graph {
        ids: IndexMap::with_capacity(count),
        links: Vec::with_capacity(draft.edges.len()),
        incoming: vec![Vec::new(); count],
        outgoing: vec![Vec::new(); count],
        broken_in: vec![false; count],
        broken_out: vec![false; count],
        stray: vec![false; count],
        parent: vec![None; count],
        lost: vec![false; count],
        inside: vec![Vec::new(); count],
    };
    let nameless = draft.nodes.iter().any(|node| node.id.is_none());
    let mut builder = Builder { draft, judged, graph, nameless };
    builder.index(sink);
    builder.connect(sink);
    let mut graph = builder.graph;
    bodies::place(&mut graph, draft, judged);
    graph
}

/// Reports what is wrong with the graph as a whole.
pub(super) fn judge(
    graph: &mut Graph<'_>,
    draft: &Draft<'_>,
    judged: &[Judged<'_>],
    sink: &mut Sink<'_>,
) {
    if draft.cut {
        return;
    }
    if draft.nodes.is_empty() {
        sink.error(Rule::EmptyGraph, &draft.span, "the blueprint has no nodes")
            .suggest("add a `manual_trigger` and a node that does something");
        return;
    }
    bodies::judge(graph, draft, judged, sink);
    triggers(graph, draft, judged, sink);
    choices(graph, draft, judged, sink);
}

impl<'t> Builder<'_, 't> {
    fn index(&mut self, sink: &mut Sink<'_>) {
        for (at, node) in self.draft.nodes.iter().enumerate() {
            let Some(id) = node.id else {
                self.graph.stray[at] = true;
                continue;
            };
            let Some(first) = self.graph.ids.get(id.text).copied() else {
                self.graph.ids.insert(id.text, at);
                continue;
            };
            self.graph.stray[at] = true;
            let first = self.draft.nodes[first].place();
            let (before, here) = (sink.line(first.start), sink.line(id.span.start));
            let name = shorten(id.text);
            let message =
                format!("`{name}` is the id of two nodes, on line {before} and line {here}");
            sink.error(Rule::DuplicateNodeId, id.span, message)
                .suggest("give one of them another id")
                .relate(first.clone(), "first here")
                .of(id.text);
        }
    }

    fn connect(&mut self, sink: &mut Sink<'_>) {
        let draft = self.draft;
        for (at, edge) in draft.edges.iter().enumerate() {
            let Some(link) = self.link(at, edge, sink) else { continue };
            if let Some(first) = self.same(&link) {
                let first = draft.edges[first].span;
                let line = sink.line(first.start);
                let removal = sink.removal(edge.span);
                sink.error(
                    Rule::DuplicateEdge,
                    edge.span,
                    format!("this edge is already on line {line}"),
                )
                .suggest("remove one of the two")
                .relate(first.clone(), "first here")
                .fix(removal);
                continue;
            }
            let ix = self.graph.links.len();
            self.graph.outgoing[link.from].push(ix);
            self.graph.incoming[link.to].push(ix);
            self.graph.links.push(link);
        }
    }

    /// The edge that is already there with the same ends. Of the two nodes the
    /// one with fewer edges is asked, so that a node with many costs little.
    fn same(&self, link: &Link<'t>) -> Option<usize> {
        let (from, to) = (&self.graph.outgoing[link.from], &self.graph.incoming[link.to]);
        let fewer = if from.len() < to.len() { from } else { to };
        let mut links = fewer.iter().map(|at| &self.graph.links[*at]);
        let ends = |one: &Link<'t>| (one.from, one.to, one.from_port, one.to_port);
        links.find(|one| ends(one) == ends(link)).map(|one| one.edge)
    }

    /// The edge as a link, or its faults.
    fn link(&mut self, at: usize, edge: &DraftEdge<'t>, sink: &mut Sink<'_>) -> Option<Link<'t>> {
        let from = self.end(edge.from, "from", sink);
        let to = self.end(edge.to, "to", sink);
        let from_port = from.and_then(|from| self.output(from, edge, sink));
        let to_port = to.and_then(|to| self.input(to, edge, sink));
        let (Some(from), Some(from_port), Some(to), Some(to_port)) = (from, from_port, to, to_port)
        else {
            if let Some(from) = from {
                self.graph.broken_out[from] = true;
            }
            if let Some(to) = to {
                self.graph.broken_in[to] = true;
            }
            return None;
        };
        Some(Link { from, from_port, to, to_port, edge: at })
    }

    fn end(&self, word: Option<Word<'t>>, key: &str, sink: &mut Sink<'_>) -> Option<usize> {
        let word = word?;
        let found = self.graph.ids.get(word.text).copied();
        if found.is_none() && !self.draft.cut && !self.nameless {
            let message =
                format!("`{key}: {}` names no node of this blueprint", shorten(word.text));
            let near = near_id(&self.graph, word.text, sink);
            let fix = sink.rename(word.span, word.text, self.graph.names());
            sink.error(Rule::DanglingEdge, word.span, message).fix(fix).suggestion = near;
        }
        found
    }

    fn output(&self, from: usize, edge: &DraftEdge<'t>, sink: &mut Sink<'_>) -> Option<&'t str> {
        let word = match edge.from_port {
            Port::Refused => return None,
            Port::Usual => Word { text: USUAL_OUT, span: edge.from?.span },
            Port::Named(word) => word,
        };
        let ports = match &self.judged[from].outputs {
            Ports::Known(ports) if !ports.contains(&word.text) => ports,
            Ports::Any | Ports::Known(_) => return Some(word.text),
        };
        let named = matches!(edge.from_port, Port::Named(_));
        let what = what(&self.draft.nodes[from]);
        let message = if named {
            format!("{what} has no way out `{}`", shorten(word.text))
        } else {
            format!("an edge from {what} must say which way out it takes")
        };
        let near =
            if named { suggest::did_you_mean(word.text, ports.iter().copied()) } else { None };
        let list = || format!("write `from_port:` with one of {}", ports.join(", "));
        let rename = || sink.rename(word.span, word.text, ports.iter().copied());
        let fix = named.then(rename).flatten();
        let finding = sink.error(Rule::UnknownOutputPort, word.span, message);
        finding.suggest(near.unwrap_or_else(list)).fix(fix).of(self.id(from));
        None
    }

    fn id(&self, at: usize) -> &'t str {
        self.draft.nodes[at].id.map_or("", |id| id.text)
    }

    fn input(&self, to: usize, edge: &DraftEdge<'t>, sink: &mut Sink<'_>) -> Option<&'t str> {
        let word = match edge.to_port {
            Port::Refused => return None,
            Port::Usual => Word { text: USUAL_IN, span: edge.to?.span },
            Port::Named(word) => word,
        };
        let ports = match &self.judged[to].inputs {
            Ports::Known(ports) if !ports.contains(&word.text) => ports,
            Ports::Any | Ports::Known(_) => return Some(word.text),
        };
        let what = what(&self.draft.nodes[to]);
        let (message, suggestion) = if ports.is_empty() {
            let message = format!("{what} has no way in: runs begin there");
            (message, "remove the edge, or let it end at another node".to_owned())
        } else {
            let message = format!("{what} has no way in `{}`", shorten(word.text));
            (message, format!("write `to_port: {}`, or leave the key out", ports.join(", ")))
        };
        let fix = sink.rename(word.span, word.text, ports.iter().copied());
        let finding = sink.error(Rule::UnknownInputPort, word.span, message);
        finding.suggest(suggestion).fix(fix).of(self.id(to));
        None
    }
}

/// A node id near to a mistyped one.
pub(super) fn near_id(graph: &Graph<'_>, text: &str, sink: &Sink<'_>) -> Option<String> {
    if sink.is_full() {
        return None;
    }
    suggest::did_you_mean(text, graph.names())
}

/// Whether the ways out of the node exclude each other.
pub(super) fn chooses(judged: &Judged<'_>) -> bool {
    judged.node_type.and_then(|node_type| node_type.runs).is_some_and(Runs::chooses)
}

/// The node as a message calls it.
pub(super) fn what(node: &DraftNode<'_>) -> String {
    let id = node.id.map_or("", |id| id.text);
    format!("the {} `{}`", node.node_type.map_or("node", |t| t.text), shorten(id))
}

fn triggers(graph: &mut Graph<'_>, draft: &Draft<'_>, judged: &[Judged<'_>], sink: &mut Sink<'_>) {
    let is_trigger = |at: &usize| judged[*at].node_type.is_some_and(|t| t.actor == Actor::Trigger);
    let nodes = || 0..draft.nodes.len();
    let Some(first) = nodes().find(is_trigger) else {
        // A mistyped type may be the trigger.
        if judged.iter().all(|judged| judged.node_type.is_some()) {
            let place = draft.nodes[0].place();
            sink.warn(
                Rule::MissingTrigger,
                place,
                "no node is a `manual_trigger`; every node without an edge into it starts at once",
            )
            .suggest("add `{ id: start, type: manual_trigger }` and an edge from it");
        }
        return;
    };
    for at in nodes().filter(|at| *at != first).filter(is_trigger) {
        let before = draft.nodes[first].place();
        let message = format!("a second trigger; the first is on line {}", sink.line(before.start));
        let finding = sink.warn(Rule::MultipleTriggers, draft.nodes[at].place(), message);
        finding
            .suggest("keep one trigger and lead edges from it")
            .relate(before.clone(), "first here")
            .of(draft.nodes[at].id.map_or("", |id| id.text));
    }
    for at in nodes().filter(|at| !is_trigger(at)) {
        let node = &draft.nodes[at];
        let excused = graph.stray[at] || graph.broken_in[at] || node.parent.is_some();
        if excused || !graph.incoming[at].is_empty() {
            continue;
        }
        let message = format!("nothing leads to {} from the trigger", what(node));
        sink.error(Rule::UnreachableNode, node.place(), message)
            .suggest("add an edge into it, or remove the node")
            .of(node.id.map_or("", |id| id.text));
        graph.broken_in[at] = true;
    }
}

fn choices(graph: &Graph<'_>, draft: &Draft<'_>, judged: &[Judged<'_>], sink: &mut Sink<'_>) {
    for (at, node) in draft.nodes.iter().enumerate() {
        let decision = judged[at].node_type.and_then(|t| t.runs) == Some(Runs::Decision);
        // An edge with a mistyped port may be the missing one.
        if !decision || graph.stray[at] || graph.broken_out[at] {
            continue;
        }
        let Ports::Known(choices) = &judged[at].outputs else { continue };
        for (nth, choice) in choices.iter().enumerate().filter(|(_, choice)| **choice != ERROR) {
            let taken = |link: &usize| graph.links[*link].from_port == *choice;
            let reported = choices[..nth].contains(choice) || !is_name(choice);
            if reported || graph.outgoing[at].iter().any(taken) {
                continue;
            }
            let id = node.id.map_or("", |id| id.text);
            let span = choice_span(node, choice).unwrap_or_else(|| node.place());
            let message = format!("no edge leads on from the choice `{choice}`");
            sink.error(Rule::UnconnectedDecisionChoice, span, message)
                .suggest(format!("add {{ from: {id}, from_port: {choice}, to: … }}"))
                .of(id);
        }
    }
}

fn choice_span<'t>(node: &DraftNode<'t>, choice: &str) -> Option<&'t Range<usize>> {
    let entry = node.fields?.get("choices")?;
    let Data::List(list) = &entry.value.data else { return None };
    let is_it = |item: &&Yaml<'_>| matches!(&item.data, Data::Text(text) if text == choice);
    list.items.iter().find(is_it).map(|item| &item.span)
}
