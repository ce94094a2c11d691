//! From a draft without errors to the program.

use std::collections::BTreeMap;

use super::graph::Graph;
use super::node::Judged;
use crate::draft::{Draft, SCHEMA};
use crate::hash::Canonical;
use crate::{BlueprintId, Edge, EdgeIx, Node, NodeId, NodeIx, PortName, Program};

/// The program; `None` when something did not compile, which a finding then
/// says.
pub(super) fn program(
    id: BlueprintId,
    draft: &Draft<'_>,
    judged: Vec<Judged<'_>>,
    graph: &Graph<'_>,
) -> Option<Program> {
    let mut canonical = Canonical::new(&id, draft);
    let mut nodes = Vec::with_capacity(judged.len());
    let mut index = BTreeMap::new();
    for (at, (node, judged)) in draft.nodes.iter().zip(judged).enumerate() {
        canonical.node(node, &judged.fields, judged.timeout, judged.repeat);
        let id = NodeId::new(node.id?.text);
        let name = node.name.map_or(id.as_str(), |name| name.text).to_owned();
        index.insert(id.clone(), NodeIx(u32::try_from(at).ok()?));
        let (kind, timeout, repeat) = (judged.kind?, judged.timeout, judged.repeat);
        nodes.push(Node { id, name, kind, timeout, repeat });
    }
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
    let places = |lists: &[Vec<usize>]| -> Option<Vec<Vec<EdgeIx>>> {
        let list = |list: &Vec<usize>| list.iter().map(|at| ix(*at).map(EdgeIx)).collect();
        lists.iter().map(list).collect()
    };
    let (graph_value, hash) = canonical.finish();
    Some(Program {
        id,
        name: draft.name?.text.to_owned(),
        schema: SCHEMA,
        on_interrupt: draft.on_interrupt,
        max_parallel: draft.max_parallel,
        nodes,
        edges,
        index,
        incoming: places(&graph.incoming)?,
        outgoing: places(&graph.outgoing)?,
        graph: graph_value,
        hash,
    })
}
