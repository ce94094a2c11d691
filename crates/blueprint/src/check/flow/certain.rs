//! What runs for certain once a node ran, and once a way out of it was taken.

use crate::check::bits::Bits;
use crate::check::bodies::runs;
use crate::check::graph::{Graph, chooses};
use crate::check::node::Judged;
use crate::node_type::{BODY, Runs};
use crate::program::ERROR;

use super::Gives;

/// Sets of values: each node's output at the place of the node, and behind
/// all of them the errors of the nodes whose failure leads on.
#[derive(Debug)]
pub(super) struct Certain {
    pub(super) width: usize,
    /// What is certain once a node ran.
    pub(super) nodes: Vec<Bits>,
    /// What is certain beyond that once one of its ways out was taken.
    ways: Vec<Bits>,
    /// The way of each link; the first one adds nothing.
    by_link: Vec<usize>,
    /// The way that enters the body of each container.
    rounds: Vec<usize>,
    errors: Vec<Option<usize>>,
}

impl Certain {
    pub(super) fn new(graph: &Graph<'_>, judged: &[Judged<'_>], order: &[usize]) -> Self {
        let count = judged.len();
        let mut width = count;
        let mut error = |at: usize| {
            graph.catches(at).then(|| {
                width += 1;
                width - 1
            })
        };
        let errors: Vec<_> = (0..count).map(&mut error).collect();
        let mut this = Self {
            width,
            nodes: vec![Bits::ALL; count],
            ways: vec![Bits::none(width)],
            by_link: vec![0; graph.links.len()],
            rounds: vec![0; count],
            errors,
        };
        for at in order.iter().rev().copied() {
            this.nodes[at] = this.node(graph, judged, at);
        }
        this
    }

    pub(super) fn link(&self, link: usize) -> &Bits {
        &self.ways[self.by_link[link]]
    }

    /// What is certain in each round of a container's body.
    pub(super) fn round(&self, container: usize) -> &Bits {
        &self.ways[self.rounds[container]]
    }

    /// The place of a value in the sets; `None` for the error of a node whose
    /// failure leads nowhere.
    pub(super) fn bit(&self, node: usize, gives: Gives) -> Option<usize> {
        match gives {
            Gives::Output => Some(node),
            Gives::Error => self.errors[node],
        }
    }

    fn node(&mut self, graph: &Graph<'_>, judged: &[Judged<'_>], at: usize) -> Bits {
        let mut body = None;
        if let Some(kind) = runs(&judged[at]).filter(|runs| runs.is_container()) {
            let way = self.way(graph, at, |port| port == BODY);
            self.rounds[at] = way;
            // A loop runs at least one round, a list may be empty.
            body = (kind == Runs::Loop).then_some(way);
        }
        if graph.broken_out[at] {
            return Bits::ALL;
        }
        let mut every: Option<Bits> = None;
        let mut either = |way: &Bits| match &mut every {
            None => every = Some(way.clone()),
            Some(every) => every.keep(way),
        };
        if chooses(&judged[at]) {
            for port in choices(graph, judged, at) {
                let way = self.way(graph, at, |other| port == Some(other));
                self.ways[way].insert(at);
                either(&self.ways[way]);
            }
        } else {
            let way = self.way(graph, at, |port| port != BODY && port != ERROR);
            self.ways[way].insert(at);
            if let Some(body) = body {
                let (first, second) = self.ways.split_at_mut(way);
                second[0].add(&first[body]);
            }
            either(&self.ways[way]);
        }
        if let Some(bit) = self.errors[at] {
            let way = self.way(graph, at, |port| port == ERROR);
            self.ways[way].insert(bit);
            either(&self.ways[way]);
        }
        every.unwrap_or_else(|| Bits::none(self.width))
    }

    /// Notes what all links lead to that are taken together.
    fn way(&mut self, graph: &Graph<'_>, at: usize, takes: impl Fn(&str) -> bool) -> usize {
        let (way, mut bits) = (self.ways.len(), Bits::none(self.width));
        for link in graph.outgoing[at].iter().copied() {
            if takes(graph.links[link].from_port) {
                bits.add(&self.nodes[graph.links[link].to]);
                self.by_link[link] = way;
            }
        }
        self.ways.push(bits);
        way
    }
}

/// The ways out of a branch or decision; `None` stands for those that no edge
/// uses. A run may end there by a branch; by a decision that is a fault, which
/// is reported.
fn choices<'t>(graph: &Graph<'t>, judged: &[Judged<'_>], at: usize) -> Vec<Option<&'t str>> {
    let ports = graph.outgoing[at].iter().map(|link| graph.links[*link].from_port);
    let mut ports: Vec<_> = ports.filter(|port| *port != ERROR).map(Some).collect();
    ports.sort_unstable();
    ports.dedup();
    if ports.is_empty() || (runs(&judged[at]) == Some(Runs::Branch) && ports.len() < 2) {
        ports.push(None);
    }
    ports
}
