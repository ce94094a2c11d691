//! Which values are certainly there before a node runs. A node waits for
//! every edge into it and runs when one of them was taken, so:
//!
//! - what a node leads to by its only way out runs for certain once it ran,
//!   and so does what every way out of a branch leads to (*certain*);
//! - before a node, all is known that is known at the end of every edge into
//!   it (*known*), as far as it leads there (*before*).
//!
//! A node whose failure leads on chooses between its other ways out and
//! `error`: its output is known behind the one, its error, which has a bit of
//! its own, behind the other. The nodes inside of a loop run in every round,
//! so what is certain once its body is entered is known behind its `done`.
//!
//! This keeps parallel paths that meet again apart from alternatives. Where
//! the graph is broken, everything counts as known, so that nothing follows
//! from a fault that is already reported.

mod certain;

use super::bits::Bits;
use super::bodies::{is_container, runs};
use super::graph::Graph;
use super::node::Judged;
use super::uses::Asker;
use crate::node_type::{BODY, Runs};
use certain::Certain;

pub(super) struct Flow {
    known: Vec<Bits>,
    before: Vec<Bits>,
    certain: Certain,
    parent: Vec<Option<usize>>,
}

/// A value that a node gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gives {
    Output,
    Error,
}

impl Flow {
    /// Follows the graph along `order`, in which every link leads forward.
    pub(super) fn new(graph: &Graph<'_>, judged: &[Judged<'_>], order: &[usize]) -> Self {
        let certain = Certain::new(graph, judged, order);
        let (count, width) = (judged.len(), certain.width);
        let mut always = Bits::none(width);
        let begins = |at: &usize| graph.incoming[*at].is_empty() && !excused(graph, *at);
        for at in order.iter().copied().filter(begins) {
            always.add(&certain.nodes[at]);
        }
        // What no order reaches is behind a cycle, which is reported.
        let mut known = vec![Bits::ALL; count];
        let mut before = vec![Bits::ALL; count];
        for at in order.iter().copied().filter(|at| !excused(graph, *at)) {
            let mut here = Bits::none(width);
            let mut all: Option<Bits> = None;
            for link in &graph.incoming[at] {
                let from = graph.links[*link].from;
                here.add(&before[from]);
                leads(graph, judged, *link, &mut here);
                let mut end = known[from].clone();
                end.add(certain.link(*link));
                match &mut all {
                    None => all = Some(end),
                    Some(all) => all.keep(&end),
                }
            }
            let mut all = all.unwrap_or_else(|| Bits::none(width));
            all.add(&always);
            all.add(&certain.nodes[at]);
            known[at] = all;
            before[at] = here;
        }
        Self { known, before, certain, parent: graph.parent.clone() }
    }

    /// Whether `reader` waits for `node`.
    pub(super) fn is_before(&self, node: usize, reader: Asker) -> bool {
        self.before[reader.node].has(node)
            || (reader.after_round && self.parent[node] == Some(reader.node))
    }

    /// Whether the value of `node` is there whenever `reader` asks. An error
    /// that leads nowhere is a fault of its own.
    pub(super) fn is_known(&self, node: usize, gives: Gives, reader: Asker) -> bool {
        self.certain.bit(node, gives).is_none_or(|bit| {
            self.known[reader.node].has(bit)
                || (reader.after_round && self.certain.round(reader.node).has(bit))
        })
    }

    /// Whether the value of `node` is there at the end of every round of the
    /// loop in whose body it stands.
    pub(super) fn in_every_round(&self, node: usize, gives: Gives) -> bool {
        let bit = self.certain.bit(node, gives);
        self.parent[node].zip(bit).is_some_and(|(body, bit)| self.certain.round(body).has(bit))
    }

    /// The links of a path from a beginning to `reader` on which the value of
    /// `node` need not be there.
    pub(super) fn path_without(
        &self,
        graph: &Graph<'_>,
        node: usize,
        gives: Gives,
        reader: usize,
    ) -> Vec<usize> {
        let mut links = Vec::new();
        let Some(bit) = self.certain.bit(node, gives) else { return links };
        let mut at = reader;
        let misses = |link: &usize| {
            let from = graph.links[*link].from;
            !self.known[from].has(bit) && !self.certain.link(*link).has(bit)
        };
        while let Some(link) = graph.incoming[at].iter().copied().find(misses) {
            links.push(link);
            at = graph.links[link].from;
        }
        links.reverse();
        links
    }
}

/// Notes what runs before a link is taken, beyond what ran before the node
/// from which it leads: that node, or nothing when the link enters a body; and
/// behind a loop the nodes of its last round.
fn leads(graph: &Graph<'_>, judged: &[Judged<'_>], link: usize, before: &mut Bits) {
    let link = graph.links[link];
    let container = is_container(&judged[link.from]);
    if container && link.from_port == BODY {
        return;
    }
    before.insert(link.from);
    if container && link.from_port == DONE && runs(&judged[link.from]) == Some(Runs::Loop) {
        for child in &graph.inside[link.from] {
            before.insert(*child);
        }
    }
}

/// The way out of a container whose body is over.
const DONE: &str = "done";

/// Nothing can be said of the node, since something about it is broken.
fn excused(graph: &Graph<'_>, at: usize) -> bool {
    graph.broken_in[at] || graph.stray[at]
}

#[cfg(test)]
mod tests;
