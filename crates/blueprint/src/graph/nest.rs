//! Which shape stands inside of which, whatever the file says: a parent that
//! is its own descendant, or nested beyond any use, is no parent.

use super::Drawing;

/// Containers inside of containers that are drawn as such.
const DEEPEST: usize = 8;

#[derive(Debug)]
pub(super) struct Nest {
    pub(super) parent: Vec<Option<usize>>,
    pub(super) depth: Vec<usize>,
    /// What stands directly inside of each shape, in the order of the file.
    pub(super) inside: Vec<Vec<usize>>,
    /// What stands inside of none.
    pub(super) top: Vec<usize>,
}

impl Nest {
    pub(super) fn of(drawing: &Drawing) -> Self {
        let count = drawing.shapes.len();
        let named = |at: usize| drawing.shapes[at].parent.filter(|parent| *parent < count);
        let mut depth = vec![None; count];
        let mut parent = vec![None; count];
        for start in 0..count {
            // Up to a shape whose depth is known, or to the top, or round.
            let mut path = vec![start];
            let mut end = named(start);
            while let Some(next) = end.filter(|next| depth[*next].is_none() && !path.contains(next))
            {
                path.push(next);
                end = named(next);
            }
            let mut above = end.filter(|end| !path.contains(end));
            while let Some(at) = path.pop() {
                let level = above.map_or(0, |above: usize| depth[above].unwrap_or(0) + 1);
                if depth[at].is_none() {
                    let deep = level > DEEPEST;
                    parent[at] = if deep { above.and_then(|above| parent[above]) } else { above };
                    depth[at] = Some(level.min(DEEPEST));
                }
                above = Some(at);
            }
        }
        let depth: Vec<usize> = depth.into_iter().map(Option::unwrap_or_default).collect();
        let mut nest = Self { parent, depth, inside: vec![Vec::new(); count], top: Vec::new() };
        for at in 0..count {
            match nest.parent[at] {
                Some(parent) => nest.inside[parent].push(at),
                None => nest.top.push(at),
            }
        }
        nest
    }

    /// The two shapes that stand side by side and hold `a` and `b`, or are
    /// them; `None` when one holds the other.
    pub(super) fn beside(&self, a: usize, b: usize) -> Option<(usize, usize)> {
        let (mut a, mut b) = (a, b);
        while self.depth[a] > self.depth[b] {
            a = self.parent[a]?;
        }
        while self.depth[b] > self.depth[a] {
            b = self.parent[b]?;
        }
        while self.parent[a] != self.parent[b] {
            (a, b) = (self.parent[a]?, self.parent[b]?);
        }
        (a != b).then_some((a, b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Shape;

    fn nest(parents: &[Option<usize>]) -> Nest {
        let shape = |(at, parent): (usize, &Option<usize>)| Shape {
            id: format!("n{at}"),
            name: None,
            kind: "join".to_owned(),
            category: None,
            parent: *parent,
            mark: None,
        };
        let shapes = parents.iter().enumerate().map(shape).collect();
        Nest::of(&Drawing { shapes, ..Drawing::default() })
    }

    #[test]
    fn parents_that_lead_in_a_circle_are_none() {
        let nest = nest(&[Some(1), Some(0), Some(2), Some(1)]);
        assert_eq!(nest.top.len() + nest.inside.iter().map(Vec::len).sum::<usize>(), 4);
        for at in 0..4 {
            let mut up = Some(at);
            for _ in 0..5 {
                up = up.and_then(|at| nest.parent[at]);
            }
            assert_eq!(up, None);
        }
    }

    #[test]
    fn two_shapes_meet_where_they_stand_side_by_side() {
        let nest = nest(&[None, Some(0), Some(1), None, Some(0)]);
        assert_eq!(nest.beside(2, 3), Some((0, 3)));
        assert_eq!(nest.beside(2, 4), Some((1, 4)));
        assert_eq!(nest.beside(0, 2), None);
    }

    #[test]
    fn a_deep_nest_becomes_flat_at_its_bottom() {
        let parents: Vec<_> = (0..1000_usize).map(|at| at.checked_sub(1)).collect();
        let nest = nest(&parents);
        assert_eq!(nest.depth[999], DEEPEST);
        assert!(nest.depth.iter().enumerate().all(|(at, depth)| {
            *depth == nest.parent[at].map_or(0, |parent| nest.depth[parent] + 1)
        }));
    }
}
