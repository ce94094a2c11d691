//! From a draft without errors to the program.

use durable::Span;
use indexmap::IndexMap;
use serde_json::Value;

use super::graph::Graph;
use super::node::Judged;
use crate::draft::{Draft, SCHEMA};
use crate::hash::Canonical;
use crate::{BlueprintId, Budget, Edge, EdgeIx, Node, NodeId, NodeIx, PortName, Program};

/// What the blueprint allows a run as a whole.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    pub(crate) deadline: Option<Span>,
    pub(crate) budget: Budget,
    /// The same as the author wrote it.
    pub(crate) budget_source: Option<Value>,
}

/// The program; `None` when something did not compile, which a finding then
/// says.
pub(super) fn program(
    id: BlueprintId,
    draft: &Draft<'_>,
    judged: Vec<Judged<'_>>,
    graph: &Graph<'_>,
    limits: Limits,
) -> Option<Program> {
    let mut canonical = Canonical::new(draft, &limits);
    let ix = |at: usize| u32::try_from(at).ok();
    let mut edges = Vec::with_capacity(graph.links.len());
    for link in &graph.links {
        canonical.edge(draft, link.from, link.from_port, link.to, link.to_port);
        edges.push(Edge {
            from: NodeIx(ix(link.from)?),
            from_port: PortName::new(link.from_port),
            to: NodeIx(ix(link.to)?),
            to_port: PortName::new(link.to_port),
        });
    }
    canonical.nodes(&id, draft);
    let mut nodes = Vec::with_capacity(judged.len());
    let mut index = IndexMap::with_capacity(judged.len());
    for (at, (node, mut judged)) in draft.nodes.iter().zip(judged).enumerate() {
        canonical.node(node, &mut judged);
        let parent = node.parent.and_then(|parent| graph.ids.get(parent.text).copied());
        let parent = match parent {
            Some(parent) => Some(NodeIx(u32::try_from(parent).ok()?)),
            None => None,
        };
        let id = NodeId::new(node.id?.text);
        let name = node.name.map_or(id.as_str(), |name| name.text).to_owned();
        index.insert(id.clone(), NodeIx(u32::try_from(at).ok()?));
        let Judged { kind, timeout, repeat, retry, on_limit, prove, .. } = judged;
        nodes.push(Node {
            id,
            name,
            kind: kind?,
            timeout,
            repeat,
            retry,
            on_limit: on_limit.or(draft.on_limit).unwrap_or_default(),
            prove: prove.map(|prove| prove.checks).unwrap_or_default(),
            parent,
        });
    }
    let bodies = bodies(&nodes)?;
    let places = |lists: &[Vec<usize>]| -> Option<Vec<Vec<EdgeIx>>> {
        let list = |list: &Vec<usize>| list.iter().map(|at| ix(*at).map(EdgeIx)).collect();
        lists.iter().map(list).collect()
    };
    let (canonical, hash) = canonical.finish(draft);
    Some(Program {
        id,
        name: draft.name?.text.to_owned(),
        schema: SCHEMA,
        workspace: draft.workspace,
        on_interrupt: draft.on_interrupt,
        max_parallel: draft.max_parallel,
        deadline: limits.deadline,
        budget: limits.budget,
        nodes,
        edges,
        index,
        incoming: places(&graph.incoming)?,
        outgoing: places(&graph.outgoing)?,
        bodies,
        graph: canonical,
        hash,
    })
}

/// The nodes inside of each container.
fn bodies(nodes: &[Node]) -> Option<Vec<Vec<NodeIx>>> {
    let mut bodies = vec![Vec::new(); nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        if let Some(parent) = node.parent {
            bodies[parent.0 as usize].push(NodeIx(u32::try_from(at).ok()?));
        }
    }
    Some(bodies)
}
