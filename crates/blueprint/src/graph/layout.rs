//! Where everything stands. Each container is laid out by itself, from the
//! innermost outwards, and is then one large box for what stands around it.
//! Inside of one, shapes stand in layers from above to below: [`rank`] says
//! in which layer, [`order`] in which order there, [`place`] how far right.

mod order;
mod place;
mod rank;
mod route;

use super::label;
use super::nest::Nest;
use super::{Drawing, Shape};
use crate::node_type::Category;
use rank::Level;

pub use route::Route;

/// Sizes, in the picture's own unit: one pixel of a screen at rest.
pub(super) const MARGIN: i32 = 24;
const HEIGHT: i32 = 46;
const WIDTH_LEAST: i32 = 92;
const WIDTH_MOST: i32 = 260;
/// Left and right of a label, together; more where the sides are slanted.
const SLACK: i32 = 34;
pub(super) const LEAN: i32 = 12;
/// Of a container: room for its own label, around its body, above its body.
pub(super) const HEAD: i32 = 40;
const PADDING: i32 = 22;
const ENTRY: i32 = 30;

/// Letter heights of the first and second line of a shape.
pub(super) const TALL: i32 = 13;
pub(super) const SMALL: i32 = 11;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Point {
    pub x: i32,
    pub y: i32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rect {
    pub x: i32,
    pub y: i32,
    pub w: i32,
    pub h: i32,
}

/// A drawing with its places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    pub width: i32,
    pub height: i32,
    /// Of each shape.
    pub boxes: Vec<Rect>,
    /// Shapes that hold others, the outermost first.
    pub containers: Vec<usize>,
    /// Of each line.
    pub routes: Vec<Route>,
}

/// A body, or the whole, laid out as if it stood alone.
#[derive(Debug, Default)]
struct Inner {
    /// The shapes, each with its box.
    boxes: Vec<(usize, Rect)>,
    /// Lines with the places that they pass on their way.
    bends: Vec<(usize, Vec<(Point, i32)>)>,
    width: i32,
    height: i32,
}

impl Rect {
    pub fn bottom(self) -> i32 {
        self.y + self.h
    }

    pub fn middle(self) -> i32 {
        self.x + self.w / 2
    }
}

impl Layout {
    pub fn of(drawing: &Drawing) -> Self {
        let nest = Nest::of(drawing);
        let mut containers: Vec<usize> =
            (0..drawing.shapes.len()).filter(|at| !nest.inside[*at].is_empty()).collect();
        containers.sort_by_key(|at| nest.depth[*at]);
        let mut sizes: Vec<(i32, i32)> =
            drawing.shapes.iter().enumerate().map(|(at, s)| size(drawing, at, s)).collect();
        let lines = lines_by_level(drawing, &nest);
        let mut inners: Vec<Option<Inner>> = drawing.shapes.iter().map(|_| None).collect();
        for at in containers.iter().rev() {
            let inner = lay_out(drawing, &nest.inside[*at], &lines[*at], &sizes);
            let own = sizes[*at].0 + PADDING;
            sizes[*at] =
                ((inner.width + 2 * PADDING).max(own), HEAD + ENTRY + inner.height + PADDING);
            inners[*at] = Some(inner);
        }
        let whole = lay_out(drawing, &nest.top, &lines[drawing.shapes.len()], &sizes);
        let mut boxes = vec![Rect::default(); drawing.shapes.len()];
        let mut bends = vec![Vec::new(); drawing.lines.len()];
        let (width, height) = (whole.width + 2 * MARGIN, whole.height + 2 * MARGIN);
        put(whole, Point { x: MARGIN, y: MARGIN }, &mut boxes, &mut bends);
        for at in &containers {
            let Some(inner) = inners[*at].take() else { continue };
            let outer = boxes[*at];
            let x = outer.x + (outer.w - inner.width) / 2;
            put(inner, Point { x, y: outer.y + HEAD + ENTRY }, &mut boxes, &mut bends);
        }
        let routes = route::routes(drawing, &nest, &boxes, &bends);
        Self { width, height, boxes, containers, routes }
    }
}

/// The lines between the shapes of each container, and last of the whole.
/// A line that crosses a border counts between the containers themselves.
fn lines_by_level(drawing: &Drawing, nest: &Nest) -> Vec<Vec<(usize, usize, usize)>> {
    let count = drawing.shapes.len();
    let mut levels = vec![Vec::new(); count + 1];
    for (at, line) in drawing.lines.iter().enumerate() {
        if let Some((from, to)) = nest.beside(line.from, line.to) {
            levels[nest.parent[from].unwrap_or(count)].push((at, from, to));
        }
    }
    levels
}

fn lay_out(
    drawing: &Drawing,
    shapes: &[usize],
    lines: &[(usize, usize, usize)],
    sizes: &[(i32, i32)],
) -> Inner {
    let mut level = Level::new(shapes, lines, sizes);
    order::settle(&mut level);
    let places = place::columns(&level);
    let labelled: Vec<bool> =
        lines.iter().map(|(line, _, _)| drawing.lines[*line].port.is_some()).collect();
    let (tops, height) = place::rows(&level, &labelled);
    let mut inner = Inner { height, ..Inner::default() };
    for (at, shape) in shapes.iter().enumerate() {
        let (w, h) = sizes[*shape];
        let (top, tall) = tops[level.layer[at]];
        let rect = Rect { x: places[at] - w / 2, y: top + (tall - h) / 2, w, h };
        inner.width = inner.width.max(rect.x + w);
        inner.boxes.push((*shape, rect));
    }
    for (at, (line, _, _)) in lines.iter().enumerate() {
        let bend = |item: &usize| {
            let (y, tall) = tops[level.layer[*item]];
            (Point { x: places[*item], y }, tall)
        };
        let bends: Vec<_> = level.bends[at].iter().map(bend).collect();
        inner.width = bends.iter().map(|(point, _)| point.x).max().unwrap_or(0).max(inner.width);
        inner.bends.push((*line, bends));
    }
    inner
}

fn put(inner: Inner, by: Point, boxes: &mut [Rect], bends: &mut [Vec<(Point, i32)>]) {
    for (at, rect) in inner.boxes {
        boxes[at] = Rect { x: rect.x + by.x, y: rect.y + by.y, ..rect };
    }
    for (line, points) in inner.bends {
        let moved = |(p, tall): (Point, i32)| (Point { x: p.x + by.x, y: p.y + by.y }, tall);
        bends[line] = points.into_iter().map(moved).collect();
    }
}

/// A shape that holds nothing: as wide as its texts and its ways out ask for.
fn size(drawing: &Drawing, at: usize, shape: &Shape) -> (i32, i32) {
    let wide = |text: &str, height: i32| label::width(text).cast_signed() * height / 10;
    let texts = wide(shape.label(), TALL).max(wide(&second_line(shape), SMALL));
    let mut ports: Vec<&str> =
        drawing.lines.iter().filter(|l| l.from == at).filter_map(|l| l.port.as_deref()).collect();
    ports.sort_unstable();
    ports.dedup();
    // Each label stands right of its line.
    let ways: i32 = ports.iter().map(|port| wide(port, SMALL) + 22).sum();
    ((texts + SLACK + 2 * lean(shape)).max(ways).clamp(WIDTH_LEAST, WIDTH_MOST), HEIGHT)
}

/// How far the sides of a shape lean inwards.
pub(super) fn lean(shape: &Shape) -> i32 {
    match shape.category {
        Some(Category::Control | Category::Data) => LEAN,
        Some(Category::Triggers | Category::Agents | Category::Actions) | None => 0,
    }
}

/// What stands below a shape's name.
pub(super) fn second_line(shape: &Shape) -> String {
    let mut parts = vec![shape.kind.as_str()];
    if shape.name.is_some() {
        parts.push(&shape.id);
    }
    parts.extend(shape.mark.map(|mark| mark.word));
    parts.join(" · ")
}
