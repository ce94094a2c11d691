//! The order in each layer: every item moves to the mean place of its
//! neighbours, layer by layer, down and up, and the order with the fewest
//! crossings stays.

use super::rank::Level;

/// Passes down and up. More change little, and large graphs get fewer.
const PASSES: usize = 12;
const PASSES_LARGE: usize = 4;
const LARGE: usize = 4_000;

pub(super) fn settle(level: &mut Level) {
    begin(level);
    let passes = if level.layer.len() > LARGE { PASSES_LARGE } else { PASSES };
    let mut best = level.layers.clone();
    let mut fewest = crossings(level);
    for pass in 0..passes {
        if fewest == 0 {
            break;
        }
        let depth = level.layers.len();
        if pass % 2 == 0 {
            (1..depth).for_each(|at| sort(level, at, true));
        } else {
            (0..depth.saturating_sub(1)).rev().for_each(|at| sort(level, at, false));
        }
        let now = crossings(level);
        if now < fewest {
            fewest = now;
            best.clone_from(&level.layers);
        }
    }
    level.layers = best;
}

/// The order in which a walk in depth meets the items, so that what belongs
/// together begins together.
fn begin(level: &mut Level) {
    let mut met = vec![usize::MAX; level.layer.len()];
    let mut next = 0;
    let tops = level.layers.iter().flatten().filter(|item| level.above[**item].is_empty());
    let mut walk: Vec<usize> = tops.copied().collect();
    walk.reverse();
    while let Some(at) = walk.pop() {
        if met[at] != usize::MAX {
            continue;
        }
        met[at] = next;
        next += 1;
        walk.extend(level.below[at].iter().rev().filter(|to| met[**to] == usize::MAX));
    }
    for layer in &mut level.layers {
        layer.sort_by_key(|item| met[*item]);
    }
}

fn sort(level: &mut Level, at: usize, by_above: bool) {
    let neighbours = if by_above { &level.above } else { &level.below };
    let other = if by_above { at - 1 } else { at + 1 };
    let place = places(level, other);
    // Means as whole numbers: the same on every machine.
    let mean = |index: usize, item: usize| {
        let near = &neighbours[item];
        let sum: usize = near.iter().map(|near| place[*near] * 1024).sum();
        sum.checked_div(near.len()).unwrap_or(index * 1024)
    };
    let items = level.layers[at].iter().enumerate();
    let mut wanted: Vec<_> = items.map(|(index, item)| (mean(index, *item), *item)).collect();
    wanted.sort_by_key(|(mean, _)| *mean);
    level.layers[at] = wanted.into_iter().map(|(_, item)| item).collect();
}

/// The place of each item in its layer; only those of one layer are filled in.
fn places(level: &Level, layer: usize) -> Vec<usize> {
    let mut place = vec![0; level.layer.len()];
    for (index, item) in level.layers[layer].iter().enumerate() {
        place[*item] = index;
    }
    place
}

/// Pairs of lines that cross, counted with a tree of sums.
fn crossings(level: &Level) -> usize {
    let mut place = vec![0; level.layer.len()];
    for (index, item) in level.layers.iter().flat_map(|layer| layer.iter().enumerate()) {
        place[*item] = index;
    }
    let mut total = 0;
    for pair in level.layers.windows(2) {
        let mut sums = vec![0; pair[1].len() + 1];
        let mut seen = 0;
        for item in &pair[0] {
            let ends = || level.below[*item].iter().map(|to| place[*to] + 1);
            // Of the lines before, those that end further right cross.
            for end in ends() {
                let (mut at, mut before) = (end, 0);
                while at > 0 {
                    before += sums[at];
                    at &= at - 1;
                }
                total += seen - before;
            }
            for end in ends() {
                let mut at = end;
                while at < sums.len() {
                    sums[at] += 1;
                    at += at & at.wrapping_neg();
                }
                seen += 1;
            }
        }
    }
    total
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
    fn crossings_are_counted() {
        assert_eq!(crossings(&level(4, &[(0, 3), (1, 2)])), 1);
        let all: Vec<_> = (0..3).flat_map(|a| (3..6).map(move |b| (a, b))).collect();
        assert_eq!(crossings(&level(6, &all)), 9);
    }

    #[test]
    fn lines_that_need_not_cross_do_not() {
        let mut ends = vec![(0, 1), (0, 2), (0, 3)];
        ends.extend([(1, 6), (2, 5), (3, 4), (4, 9), (5, 8), (6, 7)]);
        let mut level = level(10, &ends);
        settle(&mut level);
        assert_eq!(crossings(&level), 0);
    }
}
