//! The way of each line: out of the bottom of a shape, at a place of its own
//! for each port, past the bends, into the top of another.

use std::collections::BTreeMap;

use super::{HEAD, Point, Rect};
use crate::graph::Drawing;
use crate::graph::nest::Nest;

/// A line as a row of places. It leaves each place downwards and arrives so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    pub points: Vec<Point>,
    /// It leads back up, or beside.
    pub backward: bool,
    /// The first line of its port, which carries the label.
    pub labels: bool,
}

/// What the steps of routing share.
#[derive(Debug)]
struct Router<'a> {
    drawing: &'a Drawing,
    nest: &'a Nest,
    boxes: &'a [Rect],
    bends: &'a [Vec<(Point, i32)>],
}

pub(super) fn routes(
    drawing: &Drawing,
    nest: &Nest,
    boxes: &[Rect],
    bends: &[Vec<(Point, i32)>],
) -> Vec<Route> {
    let router = Router { drawing, nest, boxes, bends };
    let ports = router.ports();
    let mut labelled = BTreeMap::new();
    let route = |at: usize| {
        let line = &drawing.lines[at];
        let enters = router.enters(at);
        let points = router.points(at, &ports[line.from]);
        let first = labelled.insert((line.from, line.port.as_deref(), enters), at).is_none();
        let (start, end) = (points[0], points[points.len() - 1]);
        Route { points, backward: end.y <= start.y, labels: first && line.port.is_some() }
    };
    (0..drawing.lines.len()).map(route).collect()
}

impl Router<'_> {
    /// Whether a line leads from a container to what stands inside of it.
    fn enters(&self, at: usize) -> bool {
        let line = &self.drawing.lines[at];
        self.nest.parent[line.to] == Some(line.from)
    }

    /// The ports of each shape, in the order of what they lead to.
    fn ports(&self) -> Vec<Vec<&str>> {
        let mut leads = vec![BTreeMap::<&str, (i64, i64)>::new(); self.drawing.shapes.len()];
        for (at, line) in self.drawing.lines.iter().enumerate().filter(|(at, _)| !self.enters(*at))
        {
            let bend = self.bends[at].first();
            let x = bend.map_or(self.boxes[line.to].middle(), |(point, _)| point.x);
            let lead = leads[line.from].entry(line.port.as_deref().unwrap_or("")).or_default();
            *lead = (lead.0 + i64::from(x), lead.1 + 1);
        }
        leads.into_iter().map(by_mean).collect()
    }

    fn points(&self, at: usize, ports: &[&str]) -> Vec<Point> {
        let line = &self.drawing.lines[at];
        let (from, to) = (self.boxes[line.from], self.boxes[line.to]);
        let end = Point { x: to.middle(), y: to.y };
        if self.enters(at) {
            return vec![Point { x: end.x, y: from.y + HEAD }, end];
        }
        let name = line.port.as_deref().unwrap_or("");
        let nth = ports.iter().position(|port| *port == name).unwrap_or(0);
        let share = |n: usize| i32::try_from(n).unwrap_or(1);
        let x = from.x + from.w * share(2 * nth + 1) / share(2 * ports.len().max(1));
        let mut points = vec![Point { x, y: from.bottom() }];
        for (bend, tall) in &self.bends[at] {
            points.push(*bend);
            points.push(Point { x: bend.x, y: bend.y + tall });
        }
        points.push(end);
        points
    }
}

/// Ports by the mean of where they lead, given as sum and count.
fn by_mean(leads: BTreeMap<&str, (i64, i64)>) -> Vec<&str> {
    let mean = |(port, (sum, count))| (sum / i64::max(count, 1), port);
    let mut order: Vec<_> = leads.into_iter().map(mean).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, port)| port).collect()
}
