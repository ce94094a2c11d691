//! Layers: every line leads downwards, and each shape stands as high as the
//! longest way to it allows. Lines that close a circle are left out. A line
//! that passes layers gets a place in each, so that it bends around what
//! stands there.

use std::collections::BTreeMap;

/// Places that lines may take up in one level. A graph that asks for more is
/// a ball of wool: its long lines are then drawn straight.
const BENDS: usize = 20_000;

/// What stands side by side: the shapes first, then the bends of lines.
#[derive(Debug)]
pub(super) struct Level {
    /// Of each item its layer.
    pub(super) layer: Vec<usize>,
    /// The items of each layer, from left to right.
    pub(super) layers: Vec<Vec<usize>>,
    /// Of each item its neighbours in the layer above, and in the one below.
    pub(super) above: Vec<Vec<usize>>,
    pub(super) below: Vec<Vec<usize>>,
    /// Of each line the bends on its way.
    pub(super) bends: Vec<Vec<usize>>,
    /// Of each line the layer that it leaves, when it leads downwards.
    pub(super) leaves: Vec<Option<usize>>,
    /// Of each item its width and height.
    pub(super) sizes: Vec<(i32, i32)>,
    /// Items up to this one are shapes.
    pub(super) shapes: usize,
}

impl Level {
    /// `lines` are those between `shapes`: which line, from where, to where.
    pub(super) fn new(
        shapes: &[usize],
        lines: &[(usize, usize, usize)],
        sizes: &[(i32, i32)],
    ) -> Self {
        let local: BTreeMap<usize, usize> =
            shapes.iter().enumerate().map(|(at, shape)| (*shape, at)).collect();
        let ends: Vec<(usize, usize)> =
            lines.iter().map(|(_, from, to)| (local[from], local[to])).collect();
        let forward = forward(shapes.len(), &ends);
        let mut level = Self {
            layer: ranks(shapes.len(), &ends, &forward),
            layers: Vec::new(),
            above: vec![Vec::new(); shapes.len()],
            below: vec![Vec::new(); shapes.len()],
            bends: vec![Vec::new(); ends.len()],
            leaves: vec![None; ends.len()],
            sizes: shapes.iter().map(|shape| sizes[*shape]).collect(),
            shapes: shapes.len(),
        };
        let passed =
            |(from, to): &(usize, usize)| level.layer[*to].saturating_sub(level.layer[*from] + 1);
        let straight = ends.iter().map(passed).sum::<usize>() > BENDS;
        for (line, (from, to)) in ends.iter().enumerate().filter(|(line, _)| forward[*line]) {
            level.connect(line, *from, *to, straight);
        }
        let depth = level.layer.iter().max().map_or(0, |last| last + 1);
        level.layers = vec![Vec::new(); depth];
        for (item, layer) in level.layer.iter().enumerate() {
            level.layers[*layer].push(item);
        }
        level
    }

    fn connect(&mut self, line: usize, from: usize, to: usize, straight: bool) {
        let (first, last) = (self.layer[from], self.layer[to]);
        self.leaves[line] = Some(first);
        if straight && last > first + 1 {
            return;
        }
        let mut previous = from;
        for layer in first + 1..last {
            let bend = self.layer.len();
            self.layer.push(layer);
            self.sizes.push((0, 0));
            self.above.push(Vec::new());
            self.below.push(Vec::new());
            self.bends[line].push(bend);
            self.join(previous, bend);
            previous = bend;
        }
        self.join(previous, to);
    }

    fn join(&mut self, upper: usize, lower: usize) {
        self.below[upper].push(lower);
        self.above[lower].push(upper);
    }
}

/// Which lines can all lead downwards: those that a walk in depth does not
/// find to lead back to a shape on its own way.
fn forward(count: usize, ends: &[(usize, usize)]) -> Vec<bool> {
    let mut out = vec![Vec::new(); count];
    let mut has_in = vec![false; count];
    for (line, (from, to)) in ends.iter().enumerate() {
        out[*from].push((line, *to));
        has_in[*to] = true;
    }
    let mut forward = vec![true; ends.len()];
    let (mut seen, mut open) = (vec![false; count], vec![false; count]);
    let begins = (0..count).filter(|at| !has_in[*at]).chain(0..count);
    for start in begins {
        if seen[start] {
            continue;
        }
        (seen[start], open[start]) = (true, true);
        let mut walk = vec![(start, 0)];
        while let Some((at, next)) = walk.pop() {
            let Some((line, to)) = out[at].get(next).copied() else {
                open[at] = false;
                continue;
            };
            walk.push((at, next + 1));
            if open[to] {
                forward[line] = false;
            } else if !seen[to] {
                (seen[to], open[to]) = (true, true);
                walk.push((to, 0));
            }
        }
    }
    forward
}

/// The length of the longest way to each shape.
fn ranks(count: usize, ends: &[(usize, usize)], forward: &[bool]) -> Vec<usize> {
    let mut waiting = vec![0_usize; count];
    let mut out = vec![Vec::new(); count];
    for ((from, to), _) in ends.iter().zip(forward).filter(|(_, forward)| **forward) {
        waiting[*to] += 1;
        out[*from].push(*to);
    }
    let begins: Vec<usize> = (0..count).filter(|at| waiting[*at] == 0).collect();
    let mut rank = vec![0_usize; count];
    let mut ready = begins.clone();
    while let Some(at) = ready.pop() {
        for to in &out[at] {
            rank[*to] = rank[*to].max(rank[at] + 1);
            waiting[*to] -= 1;
            if waiting[*to] == 0 {
                ready.push(*to);
            }
        }
    }
    // A beginning stands right above the first that it leads to.
    for at in begins {
        let first = out[at].iter().map(|to| rank[*to]).min();
        rank[at] = first.map_or(0, |first| first.saturating_sub(1));
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(count: usize, ends: &[(usize, usize)]) -> Level {
        let shapes: Vec<usize> = (0..count).collect();
        let lines: Vec<_> = ends.iter().enumerate().map(|(at, (a, b))| (at, *a, *b)).collect();
        Level::new(&shapes, &lines, &vec![(90, 46); count])
    }

    #[test]
    fn a_shape_stands_below_all_that_leads_to_it() {
        let level = level(4, &[(0, 1), (1, 2), (0, 2), (2, 3)]);
        assert_eq!(level.layer[..4], [0, 1, 2, 3]);
        assert_eq!(level.bends[2].len(), 1);
    }

    #[test]
    fn a_circle_is_cut_at_one_line() {
        let level = level(3, &[(0, 1), (1, 2), (2, 0), (1, 1)]);
        assert_eq!(level.layer, [0, 1, 2]);
        let leads: Vec<bool> = level.leaves.iter().map(Option::is_some).collect();
        assert_eq!(leads, [true, true, false, false]);
    }

    #[test]
    fn a_late_beginning_stands_near_to_what_it_leads_to() {
        assert_eq!(level(4, &[(0, 1), (1, 2), (3, 2)]).layer[3], 1);
    }
}
