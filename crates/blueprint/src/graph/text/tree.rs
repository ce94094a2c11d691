//! The tree in a graph: each node hangs from the last one that every way to
//! it goes through (its dominator), by a way of its own or as a meeting of
//! several.

use crate::graph::Drawing;
use crate::graph::nest::Nest;

/// A way that leads to one node alone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    pub(super) line: usize,
    pub(super) to: usize,
}

#[derive(Debug, Default)]
pub(super) struct Tree {
    /// What begins outside of all containers, and in each container.
    pub(super) tops: Vec<usize>,
    pub(super) bodies: Vec<Vec<usize>>,
    /// Of each node the ways that lead to one node alone.
    pub(super) ways: Vec<Vec<Way>>,
    /// Of each node the nodes at which the ways from it meet again.
    pub(super) meets: Vec<Vec<usize>>,
    /// Of each node the lines to nodes that stand elsewhere.
    pub(super) leads: Vec<Vec<usize>>,
    /// How many lines leave each node, those into its own body not counted.
    pub(super) out: Vec<usize>,
}

impl Tree {
    pub(super) fn of(drawing: &Drawing, nest: &Nest) -> Self {
        let count = drawing.shapes.len();
        let mut tree = Self {
            bodies: vec![Vec::new(); count],
            ways: vec![Vec::new(); count],
            meets: vec![Vec::new(); count],
            leads: vec![Vec::new(); count],
            out: vec![0; count],
            ..Self::default()
        };
        // Of each node the lines into it, and out of it, on its own level.
        let (mut into, mut out) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for (at, line) in drawing.lines.iter().enumerate() {
            if nest.parent[line.to] == Some(line.from) {
                continue;
            }
            tree.out[line.from] += 1;
            if nest.parent[line.from] == nest.parent[line.to] && line.from != line.to {
                into[line.to].push(at);
                out[line.from].push(at);
            } else {
                tree.leads[line.from].push(at);
            }
        }
        tree.tops = tree.level(drawing, &nest.top, &mut into, &out);
        for at in 0..count {
            tree.bodies[at] = tree.level(drawing, &nest.inside[at], &mut into, &out);
        }
        tree.leads.iter_mut().for_each(|leads| leads.sort_unstable());
        tree
    }

    /// Hangs the nodes of one level up, and gives those that hang from none.
    fn level(
        &mut self,
        drawing: &Drawing,
        nodes: &[usize],
        into: &mut [Vec<usize>],
        out: &[Vec<usize>],
    ) -> Vec<usize> {
        let order = order(drawing, nodes, into, out);
        let mut place = std::collections::BTreeMap::new();
        for (nth, at) in order.iter().enumerate() {
            place.insert(*at, nth);
        }
        // Lines that close a circle lead elsewhere.
        for at in nodes {
            let (on, back): (Vec<usize>, Vec<usize>) = std::mem::take(&mut into[*at])
                .into_iter()
                .partition(|line| place[&drawing.lines[*line].from] < place[at]);
            into[*at] = on;
            back.iter().for_each(|line| self.leads[drawing.lines[*line].from].push(*line));
        }
        let mut above: Vec<Option<usize>> = Vec::with_capacity(order.len());
        let mut begins = Vec::new();
        for at in &order {
            let sources = into[*at].iter().map(|line| Some(place[&drawing.lines[*line].from]));
            let meet = sources.reduce(|a, b| common(&above, a, b)).flatten();
            above.push(meet);
            match (&into[*at][..], meet) {
                ([line], Some(from)) => self.ways[order[from]].push(Way { line: *line, to: *at }),
                (_, Some(from)) => self.meets[order[from]].push(*at),
                (_, None) => begins.push(*at),
            }
            if into[*at].len() > 1 {
                for line in &into[*at] {
                    self.leads[drawing.lines[*line].from].push(*line);
                }
            }
        }
        for at in nodes {
            self.ways[*at].sort_by_key(|way| way.line);
        }
        begins
    }
}

/// The nodes of a level, each behind all that leads to it; of a circle the
/// node that the file names first.
fn order(
    drawing: &Drawing,
    nodes: &[usize],
    into: &[Vec<usize>],
    out: &[Vec<usize>],
) -> Vec<usize> {
    let mut waiting: std::collections::BTreeMap<usize, usize> =
        nodes.iter().map(|at| (*at, into[*at].len())).collect();
    let mut ready: std::collections::BTreeSet<usize> =
        nodes.iter().copied().filter(|at| into[*at].is_empty()).collect();
    let mut order = Vec::with_capacity(nodes.len());
    let mut rest = nodes.iter().copied();
    while order.len() < nodes.len() {
        let next = ready.pop_first().or_else(|| rest.find(|at| waiting.contains_key(at)));
        let Some(at) = next else { break };
        waiting.remove(&at);
        order.push(at);
        for line in &out[at] {
            let to = drawing.lines[*line].to;
            if let Some(left) = waiting.get_mut(&to) {
                *left -= 1;
                if *left == 0 {
                    ready.insert(to);
                }
            }
        }
    }
    order
}

/// The lowest node that stands above both, by places in the order.
fn common(above: &[Option<usize>], a: Option<usize>, b: Option<usize>) -> Option<usize> {
    let (mut a, mut b) = (a?, b?);
    while a != b {
        if a > b {
            a = above[a]?;
        } else {
            b = above[b]?;
        }
    }
    Some(a)
}
