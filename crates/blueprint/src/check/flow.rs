//! Which nodes have certainly run before a node runs. A node waits for every
//! edge into it and runs when one of them was taken, so:
//!
//! - what a node leads to by its only way out runs for certain once it ran,
//!   and so does what every way out of a branch leads to (*certain*);
//! - before a node, all is known that is known at the end of every edge into
//!   it (*known*), as far as it leads there (*before*).
//!
//! This keeps parallel paths that meet again apart from alternatives. Where
//! the graph is broken, everything counts as known, so that nothing follows
//! from a fault that is already reported.

use super::bits::Bits;
use super::graph::{Graph, Link, chooses};
use super::node::Judged;
use crate::draft::Draft;
use crate::node_type::Runs;

pub(super) struct Flow {
    known: Vec<Bits>,
    before: Vec<Bits>,
    /// What runs for certain once a link is taken.
    by_link: Vec<Bits>,
}

impl Flow {
    /// Follows the graph along `order`, in which every link leads forward.
    pub(super) fn new(
        graph: &Graph<'_>,
        draft: &Draft<'_>,
        judged: &[Judged<'_>],
        order: &[usize],
    ) -> Self {
        let width = judged.len();
        let (certain, by_link) = certain(graph, judged, order);
        let mut always = Bits::none(width);
        let begins = |at: &usize| graph.incoming[*at].is_empty() && !excused(graph, draft, *at);
        for at in order.iter().copied().filter(begins) {
            always.add(&certain[at]);
        }
        // What no order reaches is behind a cycle, which is reported.
        let mut known = vec![Bits::all(width); width];
        let mut before = vec![Bits::all(width); width];
        for at in order.iter().copied() {
            if excused(graph, draft, at) {
                continue;
            }
            let mut here = Bits::none(width);
            let mut all: Option<Bits> = None;
            for link in &graph.incoming[at] {
                let from = graph.links[*link].from;
                here.insert(from);
                here.add(&before[from]);
                let mut end = known[from].clone();
                end.add(&by_link[*link]);
                match &mut all {
                    None => all = Some(end),
                    Some(all) => all.keep(&end),
                }
            }
            let mut all = all.unwrap_or_else(|| Bits::none(width));
            all.add(&always);
            all.add(&certain[at]);
            known[at] = all;
            before[at] = here;
        }
        Self { known, before, by_link }
    }

    /// Whether `reader` waits for `node`.
    pub(super) fn is_before(&self, node: usize, reader: usize) -> bool {
        self.before[reader].has(node)
    }

    /// Whether `node` has run whenever `reader` runs.
    pub(super) fn is_known(&self, node: usize, reader: usize) -> bool {
        self.known[reader].has(node)
    }

    /// The links of a path from a beginning to `reader` on which `node` need
    /// not run.
    pub(super) fn path_without(&self, graph: &Graph<'_>, node: usize, reader: usize) -> Vec<usize> {
        let mut links = Vec::new();
        let mut at = reader;
        let misses = |link: &usize| {
            let from = graph.links[*link].from;
            !self.known[from].has(node) && !self.by_link[*link].has(node)
        };
        while let Some(link) = graph.incoming[at].iter().copied().find(misses) {
            links.push(link);
            at = graph.links[link].from;
        }
        links.reverse();
        links
    }
}

/// Nothing can be said of the node, since something about it is broken.
fn excused(graph: &Graph<'_>, draft: &Draft<'_>, at: usize) -> bool {
    graph.broken_in[at] || graph.stray[at] || draft.nodes[at].parent.is_some()
}

/// What runs for certain once a node ran, and once a link was taken.
fn certain(graph: &Graph<'_>, judged: &[Judged<'_>], order: &[usize]) -> (Vec<Bits>, Vec<Bits>) {
    let width = judged.len();
    let mut nodes = vec![Bits::all(width); width];
    let mut links = vec![Bits::none(width); graph.links.len()];
    for at in order.iter().rev().copied() {
        let mut here = if graph.broken_out[at] {
            Bits::all(width)
        } else if chooses(&judged[at]) {
            choice(graph, judged, at, &nodes, &mut links)
        } else {
            let mut all = Bits::none(width);
            for link in &graph.outgoing[at] {
                all.add(&nodes[graph.links[*link].to]);
            }
            all
        };
        here.insert(at);
        nodes[at] = here;
    }
    (nodes, links)
}

/// What runs whichever way a branch goes; each of its links gets what runs
/// when that way is taken.
fn choice(
    graph: &Graph<'_>,
    judged: &[Judged<'_>],
    at: usize,
    nodes: &[Bits],
    links: &mut [Bits],
) -> Bits {
    let width = judged.len();
    let link = |ix: &usize| -> Link<'_> { graph.links[*ix] };
    let mut ports: Vec<&str> = graph.outgoing[at].iter().map(|ix| link(ix).from_port).collect();
    ports.sort_unstable();
    ports.dedup();
    // A way out without edges ends the run there; that of a decision is a
    // fault, which is reported.
    let is_branch = judged[at].node_type.and_then(|t| t.runs) == Some(Runs::Branch);
    let mut every = if ports.is_empty() || (is_branch && ports.len() < 2) {
        Bits::none(width)
    } else {
        Bits::all(width)
    };
    for port in ports {
        let mut way = Bits::none(width);
        let of_port = || graph.outgoing[at].iter().filter(|ix| link(ix).from_port == port);
        for ix in of_port() {
            way.add(&nodes[link(ix).to]);
        }
        for ix in of_port() {
            links[*ix].add(&way);
        }
        every.keep(&way);
    }
    every
}

#[cfg(test)]
mod tests;
