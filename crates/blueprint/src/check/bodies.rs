//! The nodes inside of a `loop` or a `for_each`. A body is a graph of its
//! own: it is entered by the way out `body` of its container, its nodes lead
//! only to each other, and what comes after leaves from the container.

use super::Sink;
use super::graph::{Graph, Link, near_id, what};
use super::node::Judged;
use crate::Rule;
use crate::draft::{Draft, Word};
use crate::node_type::{Actor, BODY, NodeType, Runs};
use crate::yaml::shorten;

/// What the key `parent` of a node comes to.
enum Parent {
    Inside(usize),
    /// No node has that id.
    Missing,
    /// The type of that node is unknown, so it may be meant as a container.
    Unclear,
    Itself,
    NoContainer(&'static NodeType),
    /// The node is a trigger, which stands nowhere inside.
    OfTrigger,
}

/// Notes in which container each node stands.
pub(super) fn place(graph: &mut Graph<'_>, draft: &Draft<'_>, judged: &[Judged<'_>]) {
    for (at, node) in draft.nodes.iter().enumerate() {
        let Some(word) = node.parent else { continue };
        if let Parent::Inside(parent) = parent(graph, judged, at, word) {
            graph.parent[at] = Some(parent);
            graph.inside[parent].push(at);
        } else {
            graph.lost[at] = true;
            graph.broken_in[at] = true;
            graph.broken_out[at] = true;
        }
    }
}

/// Reports what is wrong with bodies, and takes the edges out of the graph
/// that lead across the border of one.
pub(super) fn judge(
    graph: &mut Graph<'_>,
    draft: &Draft<'_>,
    judged: &[Judged<'_>],
    sink: &mut Sink<'_>,
) {
    let astray = parents(graph, draft, judged, sink);
    borders(graph, draft, judged, sink);
    for (at, judged) in judged.iter().enumerate() {
        if is_container(judged) && !graph.stray[at] {
            entry(graph, draft, at, astray, sink);
        }
    }
}

/// Whether nodes stand inside of nodes of this type.
pub(super) fn is_container(judged: &Judged<'_>) -> bool {
    runs(judged).is_some_and(Runs::is_container)
}

pub(super) fn runs(judged: &Judged<'_>) -> Option<Runs> {
    judged.node_type.and_then(|node_type| node_type.runs)
}

fn parent(graph: &Graph<'_>, judged: &[Judged<'_>], at: usize, word: Word<'_>) -> Parent {
    let Some(parent) = graph.ids.get(word.text).copied() else { return Parent::Missing };
    if judged[at].node_type.is_some_and(|t| t.actor == Actor::Trigger) {
        return Parent::OfTrigger;
    }
    match judged[parent].node_type {
        None => Parent::Unclear,
        Some(_) if parent == at => Parent::Itself,
        Some(_) if is_container(&judged[parent]) => Parent::Inside(parent),
        Some(node_type) => Parent::NoContainer(node_type),
    }
}

/// Reports parents that are none; `true` when a node may belong to any body.
fn parents(
    graph: &mut Graph<'_>,
    draft: &Draft<'_>,
    judged: &[Judged<'_>],
    sink: &mut Sink<'_>,
) -> bool {
    let nameless = draft.nodes.iter().any(|node| node.id.is_none());
    let mut astray = nameless;
    for (at, node) in draft.nodes.iter().enumerate() {
        let Some(word) = node.parent else { continue };
        let (mut near, mut fix) = (None, None);
        let message = match parent(graph, judged, at, word) {
            Parent::Unclear => continue,
            Parent::Inside(_) if is_container(&judged[at]) => {
                nested(graph, draft, at, word, sink);
                continue;
            }
            Parent::Inside(_) => continue,
            Parent::Missing if nameless => continue,
            Parent::Missing => {
                astray = true;
                near = near_id(graph, word.text, sink);
                fix = sink.rename(word.span, word.text, graph.names());
                format!("`parent: {}` names no node of this blueprint", shorten(word.text))
            }
            Parent::Itself => format!("{} cannot stand inside of itself", what(node)),
            Parent::OfTrigger => {
                format!("{} cannot stand inside of `{}`", what(node), shorten(word.text))
            }
            Parent::NoContainer(t) => format!(
                "the parent `{}` is a `{}`, not a `loop` or a `for_each`",
                shorten(word.text),
                t.id
            ),
        };
        sink.error(Rule::InvalidParent, word.span, message)
            .suggest(near.unwrap_or_else(|| "remove `parent`".to_owned()))
            .fix(fix)
            .of(node.id.map_or("", |id| id.text));
    }
    astray
}

/// A container inside of another. What follows from it is not judged.
fn nested(
    graph: &mut Graph<'_>,
    draft: &Draft<'_>,
    at: usize,
    word: Word<'_>,
    sink: &mut Sink<'_>,
) {
    graph.broken_in[at] = true;
    graph.broken_out[at] = true;
    let node = &draft.nodes[at];
    let message = format!("{} stands inside of `{}`", what(node), shorten(word.text));
    let finding = sink.error(Rule::NestedLoopUnsupported, word.span, message);
    finding
        .suggest("put the inner nodes into a blueprint of their own and run it by `sub_automation`")
        .of(node.id.map_or("", |id| id.text));
}

/// Reports every edge that crosses the border of a body.
fn borders(graph: &mut Graph<'_>, draft: &Draft<'_>, judged: &[Judged<'_>], sink: &mut Sink<'_>) {
    let id = |at: usize| draft.nodes[at].id.map_or("", |id| id.text);
    let mut crosses = vec![false; graph.links.len()];
    for (ix, link) in graph.links.iter().enumerate() {
        if graph.lost[link.from] || graph.lost[link.to] {
            continue;
        }
        let by_body = link.from_port == BODY && is_container(&judged[link.from]);
        let begins = if by_body { Some(link.from) } else { graph.parent[link.from] };
        let ends = graph.parent[link.to];
        let (rule, node, (message, suggestion)) = match (begins, ends) {
            _ if begins == ends => continue,
            (_, Some(body)) => {
                (Rule::LoopBodyExternalInput, link.to, from_outside(link, &id, body, judged))
            }
            (Some(body), None) => {
                (Rule::LoopBodyExternalOutput, link.from, to_outside(link, &id, body, judged))
            }
            (None, None) => continue,
        };
        crosses[ix] = true;
        graph.broken_out[link.from] = true;
        graph.broken_in[link.to] = true;
        let span = draft.edges[link.edge].span;
        sink.error(rule, span, message).suggest(suggestion).of(id(node));
    }
    for list in graph.incoming.iter_mut().chain(&mut graph.outgoing) {
        list.retain(|ix| !crosses[*ix]);
    }
}

/// What is wrong with an edge that ends inside of `body`, and the way out.
fn from_outside<'t>(
    link: &Link<'_>,
    id: &impl Fn(usize) -> &'t str,
    body: usize,
    judged: &[Judged<'_>],
) -> (String, String) {
    let (from, to, container) = (id(link.from), id(link.to), id(body));
    if link.from == body {
        let port = link.from_port;
        return (
            format!("`{port}` of `{container}` leads on from the body and cannot lead into it"),
            format!("write `from_port: {BODY}`, or let the edge end outside"),
        );
    }
    let word = judged[body].node_type.map_or("node", |t| t.id);
    (
        format!("`{to}` stands inside of the {word} `{container}` and `{from}` does not"),
        format!("lead the edge to `{container}`, which leads on by `{BODY}`"),
    )
}

/// What is wrong with an edge that begins inside of `body`, and the way out.
fn to_outside<'t>(
    link: &Link<'_>,
    id: &impl Fn(usize) -> &'t str,
    body: usize,
    judged: &[Judged<'_>],
) -> (String, String) {
    let (from, to, container) = (id(link.from), id(link.to), id(body));
    if link.from == body {
        return (
            format!("`{BODY}` of `{container}` leads to `{to}`, which stands outside of it"),
            format!("give `{to}` the key `parent: {container}`, or write `from_port: done`"),
        );
    }
    if link.to == body {
        let again = match runs(&judged[body]) {
            Some(Runs::Loop) => "begins its next round",
            Some(_) | None => "goes on",
        };
        let message = format!("`{container}` {again} by itself when its body is over");
        return (message, "remove the edge".to_owned());
    }
    let word = judged[body].node_type.map_or("node", |t| t.id);
    (
        format!("`{from}` stands inside of the {word} `{container}` and `{to}` does not"),
        format!("lead on from `{container}`, with `from_port: done`"),
    )
}

/// Has the container a body, and does its entry lead to every node of it?
fn entry(graph: &mut Graph<'_>, draft: &Draft<'_>, at: usize, astray: bool, sink: &mut Sink<'_>) {
    let node = &draft.nodes[at];
    let id = node.id.map_or("", |id| id.text);
    let children: Vec<usize> =
        graph.inside[at].iter().copied().filter(|child| !graph.stray[*child]).collect();
    // A wrong edge may be the entry, a wrong parent that of a node inside.
    let enters = |ix: &usize| graph.links[*ix].from_port == BODY;
    let entered = graph.outgoing[at].iter().any(enters);
    let unclear = graph.broken_out[at] || children.iter().any(|child| graph.broken_in[*child]);
    if children.is_empty() {
        if !astray && !graph.broken_out[at] && graph.inside[at].is_empty() {
            let message = format!("no node stands inside of {}", what(node));
            sink.error(Rule::EmptyLoopBody, node.place(), message)
                .suggest(format!("give the nodes of its body the key `parent: {id}`"))
                .of(id);
        }
        return;
    }
    if !entered && !unclear {
        let first = draft.nodes[children[0]].id.map_or("", |id| id.text);
        let message = format!("no edge leads into the body of {}", what(node));
        sink.error(Rule::MissingLoopBodyEntry, node.place(), message)
            .suggest(format!("add {{ from: {id}, from_port: {BODY}, to: {first} }}"))
            .of(id);
    }
    for child in children {
        if !graph.incoming[child].is_empty() || graph.broken_in[child] {
            continue;
        }
        graph.broken_in[child] = true;
        if entered && !graph.broken_out[at] {
            let node = &draft.nodes[child];
            let message = format!("nothing leads to {} inside of `{}`", what(node), shorten(id));
            sink.error(Rule::UnreachableLoopBody, node.place(), message)
                .suggest(format!("add an edge into it from `{id}` or from a node beside it"))
                .of(node.id.map_or("", |id| id.text));
        }
    }
}
