//! An order of the nodes in which every edge leads forward, and the cycles
//! that prevent one.

use super::Sink;
use super::graph::Graph;
use crate::Rule;
use crate::draft::Draft;

/// As many nodes of a path as a message shows.
const SHOWN: usize = 12;

/// The nodes that no cycle holds up, each after all that lead to it.
pub(super) fn order(graph: &Graph<'_>) -> Vec<usize> {
    let mut waits: Vec<usize> = graph.incoming.iter().map(Vec::len).collect();
    let mut order: Vec<usize> = (0..waits.len()).filter(|at| waits[*at] == 0).collect();
    let mut next = 0;
    while let Some(at) = order.get(next).copied() {
        next += 1;
        for link in &graph.outgoing[at] {
            let to = graph.links[*link].to;
            waits[to] -= 1;
            if waits[to] == 0 {
                order.push(to);
            }
        }
    }
    order
}

/// Reports each group of nodes that wait for each other, once.
pub(super) fn judge(graph: &Graph<'_>, draft: &Draft<'_>, order: &[usize], sink: &mut Sink<'_>) {
    let count = graph.incoming.len();
    let mut open = vec![true; count];
    for at in order {
        open[*at] = false;
    }
    peel_ends(graph, &mut open);
    let mut group = vec![usize::MAX; count];
    for start in 0..count {
        if !open[start] || group[start] != usize::MAX {
            continue;
        }
        // A shortest way back to the first node of the file is the clearest.
        if let Some(links) = way_back(graph, &open, start) {
            report(graph, draft, start, &links, sink);
            mark_group(graph, &open, start, &mut group);
        }
    }
}

/// Drops the nodes behind the cycles, which lead back to none.
fn peel_ends(graph: &Graph<'_>, open: &mut [bool]) {
    let leads = |open: &[bool], at: usize| {
        graph.outgoing[at].iter().filter(|link| open[graph.links[**link].to]).count()
    };
    let mut left: Vec<usize> = (0..open.len()).map(|at| leads(open, at)).collect();
    let mut ends: Vec<usize> = (0..open.len()).filter(|at| open[*at] && left[*at] == 0).collect();
    while let Some(at) = ends.pop() {
        open[at] = false;
        for link in &graph.incoming[at] {
            let from = graph.links[*link].from;
            left[from] -= 1;
            if open[from] && left[from] == 0 {
                ends.push(from);
            }
        }
    }
}

/// The links of a shortest cycle through `start`.
fn way_back(graph: &Graph<'_>, open: &[bool], start: usize) -> Option<Vec<usize>> {
    let mut by: Vec<Option<usize>> = vec![None; open.len()];
    let mut queue = vec![start];
    let mut next = 0;
    while let Some(at) = queue.get(next).copied() {
        next += 1;
        for link in &graph.outgoing[at] {
            let to = graph.links[*link].to;
            if !open[to] || by[to].is_some() {
                continue;
            }
            by[to] = Some(*link);
            if to == start {
                return Some(trace(graph, &by, start));
            }
            queue.push(to);
        }
    }
    None
}

fn trace(graph: &Graph<'_>, by: &[Option<usize>], start: usize) -> Vec<usize> {
    let mut links = Vec::new();
    let mut at = start;
    while let Some(link) = by[at] {
        links.push(link);
        at = graph.links[link].from;
        if at == start {
            break;
        }
    }
    links.reverse();
    links
}

/// Marks all nodes that lead to `start` and that `start` leads to.
fn mark_group(graph: &Graph<'_>, open: &[bool], start: usize, group: &mut [usize]) {
    let forward = reach(open, start, |at| {
        graph.outgoing[at].iter().map(|link| graph.links[*link].to).collect()
    });
    let back = reach(open, start, |at| {
        graph.incoming[at].iter().map(|link| graph.links[*link].from).collect()
    });
    for at in 0..open.len() {
        if forward[at] && back[at] {
            group[at] = start;
        }
    }
}

fn reach(open: &[bool], start: usize, next: impl Fn(usize) -> Vec<usize>) -> Vec<bool> {
    let mut seen = vec![false; open.len()];
    let mut stack = vec![start];
    while let Some(at) = stack.pop() {
        if !open[at] || seen[at] {
            continue;
        }
        seen[at] = true;
        stack.extend(next(at));
    }
    seen
}

fn report(
    graph: &Graph<'_>,
    draft: &Draft<'_>,
    start: usize,
    links: &[usize],
    sink: &mut Sink<'_>,
) {
    let id = |at: usize| draft.nodes[at].id.map_or("", |id| id.text);
    let mut names: Vec<&str> = links.iter().map(|link| id(graph.links[*link].from)).collect();
    names.push(id(start));
    let Some(last) = links.last() else { return };
    let closing = &draft.edges[graph.links[*last].edge];
    let message = format!("these nodes wait for each other: {}", show_path(&names));
    let finding = sink.error(Rule::CycleDetected, closing.span, message);
    finding.suggest("remove one of the edges").of(id(start));
}

/// A path as text; a long one without its middle.
pub(super) fn show_path(names: &[&str]) -> String {
    if names.len() <= SHOWN {
        return names.join(" → ");
    }
    let (head, tail) = (&names[..SHOWN / 2], &names[names.len() - SHOWN / 2..]);
    format!("{} → … → {}", head.join(" → "), tail.join(" → "))
}
