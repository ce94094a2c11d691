//! Columns and rows. Each item wants to stand in the middle of its
//! neighbours; those of one layer keep their order and their distance, with
//! the least total displacement.

use super::rank::Level;

/// Between two shapes of a layer, and between lines that pass.
const APART: i32 = 34;
const LINES_APART: i32 = 18;

/// Between two layers, and more where lines have labels or fan out.
const BETWEEN: i32 = 38;
const LABEL: i32 = 16;
const FAN: i32 = 26;
const FAN_LINES: usize = 5;

const PASSES: usize = 10;

/// The middle of every item.
pub(super) fn columns(level: &Level) -> Vec<i32> {
    let mut x = vec![0.0_f64; level.layer.len()];
    for layer in &level.layers {
        let mut at = 0.0;
        for (index, item) in layer.iter().enumerate() {
            if index > 0 {
                at += distance(level, layer[index - 1], *item);
            }
            x[*item] = at;
        }
    }
    let depth = level.layers.len();
    for pass in 0..PASSES {
        let down = pass % 2 == 0;
        let both = pass + 2 >= PASSES;
        for at in 0..depth {
            let at = if down { at } else { depth - 1 - at };
            settle(level, at, Sides { above: down || both, below: !down || both }, &mut x);
        }
    }
    straighten(level, &mut x);
    let left = |item: usize| x[item] - f64::from(level.sizes[item].0) / 2.0;
    let least = (0..x.len()).map(left).fold(f64::INFINITY, f64::min);
    #[expect(clippy::cast_possible_truncation, reason = "a picture is far smaller than an i32")]
    x.iter().map(|x| (x - least).round() as i32).collect()
}

/// Top and height of every layer, and the height of all.
pub(super) fn rows(level: &Level, labelled: &[bool]) -> (Vec<(i32, i32)>, i32) {
    let mut gaps = vec![BETWEEN; level.layers.len()];
    for first in level.leaves.iter().zip(labelled).filter(|(_, on)| **on).filter_map(|(f, _)| *f) {
        gaps[first] = BETWEEN + LABEL;
    }
    let most = |layer: Option<&Vec<usize>>, near: &[Vec<usize>]| {
        layer.into_iter().flatten().map(|item| near[*item].len()).max().unwrap_or(0)
    };
    let mut tops = Vec::with_capacity(level.layers.len());
    let (mut y, mut end) = (0, 0);
    for (at, layer) in level.layers.iter().enumerate() {
        let tall = layer.iter().map(|item| level.sizes[*item].1).max().unwrap_or(0);
        tops.push((y, tall));
        end = y + tall;
        let lines =
            most(Some(layer), &level.below).max(most(level.layers.get(at + 1), &level.above));
        y = end + gaps[at] + if lines >= FAN_LINES { FAN } else { 0 };
    }
    (tops, end)
}

/// Which neighbours count.
#[derive(Debug, Clone, Copy)]
struct Sides {
    above: bool,
    below: bool,
}

/// Items of one layer that touch and so move together.
#[derive(Debug, Clone, Copy)]
struct Group {
    /// Where its first item wants to stand, times the weight.
    sum: f64,
    weight: f64,
    items: usize,
}

/// Moves one layer: groups of items that would overlap are merged, and each
/// group stands where its items want to be on the average.
fn settle(level: &Level, at: usize, sides: Sides, x: &mut [f64]) {
    let layer = &level.layers[at];
    let mut groups: Vec<Group> = Vec::with_capacity(layer.len());
    let mut offsets = Vec::with_capacity(layer.len());
    let mut offset = 0.0;
    for (index, item) in layer.iter().enumerate() {
        if index > 0 {
            offset += distance(level, layer[index - 1], *item);
        }
        offsets.push(offset);
        let (wanted, weight) = wish(level, *item, sides, x);
        let mut group = Group { sum: (wanted - offset) * weight, weight, items: 1 };
        while let Some(before) = groups.pop() {
            if before.sum / before.weight < group.sum / group.weight {
                groups.push(before);
                break;
            }
            group.sum += before.sum;
            group.weight += before.weight;
            group.items += before.items;
        }
        groups.push(group);
    }
    let mut items = layer.iter().zip(offsets);
    for group in groups {
        for (item, offset) in items.by_ref().take(group.items) {
            x[*item] = group.sum / group.weight + offset;
        }
    }
}

/// Where an item wants to stand, and how much. Lines that pass want to stay
/// straight more than anything.
fn wish(level: &Level, item: usize, sides: Sides, x: &[f64]) -> (f64, f64) {
    /// An item that nothing draws anywhere stays, unless others need the room.
    const IDLE: f64 = 0.05;
    let (mut sum, mut total) = (0.0, 0.0);
    let is_bend = |item: usize| item >= level.shapes;
    let sides = [(sides.above, &level.above[item]), (sides.below, &level.below[item])];
    for near in sides.iter().filter(|(on, _)| *on).flat_map(|(_, near)| near.iter()) {
        let weight = if is_bend(item) && is_bend(*near) { 4.0 } else { 1.0 };
        sum += x[*near] * weight;
        total += weight;
    }
    if total > 0.0 { (sum / total, total) } else { (x[item], IDLE) }
}

/// Lets each passing line run straight down as far as there is room for it.
fn straighten(level: &Level, x: &mut [f64]) {
    let mut place = vec![0; level.layer.len()];
    for (index, item) in level.layers.iter().flat_map(|layer| layer.iter().enumerate()) {
        place[*item] = index;
    }
    let room = |bend: usize, x: &[f64]| {
        let layer = &level.layers[level.layer[bend]];
        let at = place[bend];
        let left = at.checked_sub(1).map(|left| layer[left]);
        let least = left.map_or(f64::NEG_INFINITY, |left| x[left] + distance(level, left, bend));
        let right = layer.get(at + 1);
        let most = right.map_or(f64::INFINITY, |right| x[*right] - distance(level, bend, *right));
        (least, most)
    };
    for bends in &level.bends {
        let mut rest = &bends[..];
        while !rest.is_empty() {
            let (mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
            let mut run = 0;
            for bend in rest {
                let (from, to) = room(*bend, x);
                // Rounding may leave a place a hair too narrow.
                let (from, to) = (from.min(x[*bend]).max(least), to.max(x[*bend]).min(most));
                if from > to {
                    break;
                }
                (least, most) = (from, to);
                run += 1;
            }
            let (straight, later) = rest.split_at(run.max(1));
            #[expect(clippy::cast_precision_loss, reason = "a line has few bends")]
            let mean = straight.iter().map(|bend| x[*bend]).sum::<f64>() / straight.len() as f64;
            if run > 0 {
                straight.iter().for_each(|bend| x[*bend] = mean.clamp(least, most));
            }
            rest = later;
        }
    }
}

fn distance(level: &Level, a: usize, b: usize) -> f64 {
    let halves = f64::from(level.sizes[a].0 + level.sizes[b].0) / 2.0;
    let passing = a >= level.shapes || b >= level.shapes;
    halves + f64::from(if passing { LINES_APART } else { APART })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fork_stands_in_the_middle_of_its_ways() {
        let lines = [(0, 0, 1), (1, 0, 2), (2, 1, 3), (3, 2, 3)];
        let level = Level::new(&[0, 1, 2, 3], &lines, &[(100, 46); 4]);
        let x = columns(&level);
        assert_eq!(x[0], i32::midpoint(x[1], x[2]));
        assert_eq!(x[0], x[3]);
        assert_eq!(x[2] - x[1], 100 + APART);
    }
}
