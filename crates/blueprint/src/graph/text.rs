//! A drawing as lines for a terminal. A way straight on stays at its margin;
//! where ways part, each is a branch; where they meet again, the node stands
//! once, at the margin of the node where they parted. A line says what else
//! its node leads to. The body of a container stands below it, set in.

use super::Drawing;
use super::nest::Nest;

mod tree;

use tree::Tree;

/// The strokes that lines are made of.
#[derive(Debug, Clone, Copy)]
pub struct Strokes {
    branch: &'static str,
    last: &'static str,
    beside: &'static str,
    body: &'static str,
}

impl Strokes {
    pub const UNICODE: Self =
        Self { branch: "├─ ", last: "└─ ", beside: "│  ", body: "┊  " };
    pub const ASCII: Self = Self { branch: "|- ", last: "`- ", beside: "|  ", body: ":  " };
}

/// One line: a node and where it leads beyond the lines below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub stem: String,
    /// The way out that leads here, when it has a name.
    pub port: Option<String>,
    pub shape: usize,
    pub leads: Vec<Lead>,
}

/// A way to a node that stands elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lead {
    pub port: Option<String>,
    pub to: usize,
}

pub fn rows(drawing: &Drawing, strokes: Strokes) -> Vec<Row> {
    let nest = Nest::of(drawing);
    let tree = Tree::of(drawing, &nest);
    let mut writer = Writer { drawing, nest: &nest, tree: &tree, strokes, rows: Vec::new() };
    writer.level(&tree.tops, "");
    writer.rows
}

struct Writer<'a> {
    drawing: &'a Drawing,
    nest: &'a Nest,
    tree: &'a Tree,
    strokes: Strokes,
    rows: Vec<Row>,
}

impl Writer<'_> {
    /// What begins at one margin, each with its own way on.
    fn level(&mut self, begins: &[usize], stem: &str) {
        for begin in begins {
            self.way(*begin, None, stem, stem);
        }
    }

    /// A node, and all that only it leads to. The first line has a stem of
    /// its own, with the stroke that leads to it.
    fn way(&mut self, begin: usize, port: Option<&str>, first: &str, stem: &str) {
        let mut next = Some((begin, port.map(str::to_owned)));
        let mut head = first;
        while let Some((at, port)) = next.take() {
            self.rows.push(Row { stem: head.to_owned(), port, shape: at, leads: self.leads(at) });
            head = stem;
            self.body(at, stem);
            let ways = &self.tree.ways[at];
            if let ([only], true) = (&ways[..], self.tree.out[at] == 1) {
                next = Some((only.to, self.port(only.line)));
                continue;
            }
            for (nth, way) in ways.iter().enumerate() {
                let is_last = nth + 1 == ways.len();
                let (stroke, below) = match is_last {
                    true => (self.strokes.last, "   "),
                    false => (self.strokes.branch, self.strokes.beside),
                };
                let port = self.port(way.line);
                let (first, rest) = (format!("{stem}{stroke}"), format!("{stem}{below}"));
                self.way(way.to, port.as_deref(), &first, &rest);
            }
            self.level(&self.tree.meets[at], stem);
        }
    }

    fn body(&mut self, at: usize, stem: &str) {
        if !self.nest.inside[at].is_empty() {
            let stem = format!("{stem}{}", self.strokes.body);
            self.level(&self.tree.bodies[at], &stem);
        }
    }

    fn port(&self, line: usize) -> Option<String> {
        self.drawing.lines[line].port.clone()
    }

    fn leads(&self, at: usize) -> Vec<Lead> {
        let lead = |line: &usize| Lead { port: self.port(*line), to: self.drawing.lines[*line].to };
        self.tree.leads[at].iter().map(lead).collect()
    }
}
