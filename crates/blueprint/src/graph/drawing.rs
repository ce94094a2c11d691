//! What there is to draw: shapes and the lines between them, as plain data.

use std::collections::BTreeMap;

use crate::check::Sink;
use crate::document::Document;
use crate::draft::{Draft, DraftEdge, Port, Word};
use crate::node_type::{self, Category};
use crate::{Program, yaml};

/// The way out that needs no label.
const USUAL: &str = "out";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Drawing {
    /// The name of the automation.
    pub title: String,
    pub shapes: Vec<Shape>,
    pub lines: Vec<Line>,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    pub id: String,
    /// The author's name for it, when there is one.
    pub name: Option<String>,
    /// Its type as written, whether or not there is such a type.
    pub kind: String,
    pub category: Option<Category>,
    /// The shape inside of which it stands.
    pub parent: Option<usize>,
    /// How it stands in a run.
    pub mark: Option<Mark>,
}

/// The state of a node in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    pub tone: Tone,
    pub sign: &'static str,
    /// The sign where only ASCII can be shown.
    pub ascii: &'static str,
    pub word: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Good,
    Bad,
    Waiting,
    Active,
    Quiet,
}

/// An edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub from: usize,
    /// The way out, when it is not the usual one.
    pub port: Option<String>,
    pub to: usize,
    pub course: Course,
}

/// Whether a run went this way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Course {
    #[default]
    Open,
    Taken,
    /// Another way was taken.
    Passed,
}

impl Drawing {
    pub fn of_program(program: &Program) -> Self {
        let shapes = program.nodes().iter().map(|node| {
            let node_type = node.kind.node_type();
            Shape {
                id: node.id.to_string(),
                name: Some(node.name.clone()).filter(|name| *name != node.id.as_str()),
                kind: node_type.id.to_owned(),
                category: Some(node_type.category),
                parent: node.parent.map(|parent| parent.0 as usize),
                mark: None,
            }
        });
        let lines = program.edges().iter().map(|edge| Line {
            from: edge.from.0 as usize,
            port: port(edge.from_port.as_str()),
            to: edge.to.0 as usize,
            course: Course::Open,
        });
        let (shapes, lines) = (shapes.collect(), lines.collect());
        Self { title: program.name().to_owned(), shapes, lines }
    }

    /// What can be seen of a file, right or wrong: its nodes, and the edges
    /// whose ends exist. `None` when there is no graph in it.
    pub fn of_file(bytes: &[u8]) -> Option<Self> {
        let document = Document::read(bytes).ok()?;
        let reading = yaml::read(document.text(), document.front());
        let mut unheard = Sink::new(document.text());
        let draft = Draft::read(reading.root.as_ref()?, reading.complete, &mut unheard)?;
        Some(Self::of_draft(&draft))
    }

    fn of_draft(draft: &Draft<'_>) -> Self {
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for (at, node) in draft.nodes.iter().enumerate() {
            if let Some(id) = node.id {
                places.entry(id.text).or_insert(at);
            }
        }
        let find = |word: Option<Word<'_>>| places.get(word?.text).copied();
        let text = |word: Option<Word<'_>>| word.map_or("?", |word| word.text).to_owned();
        let shapes = draft.nodes.iter().map(|node| Shape {
            id: text(node.id),
            name: node.name.map(|name| name.text.to_owned()),
            kind: text(node.node_type),
            category: node.node_type.and_then(|t| node_type::find(t.text)).map(|t| t.category),
            parent: find(node.parent),
            mark: None,
        });
        let line = |edge: &DraftEdge<'_>| {
            let port = match edge.from_port {
                Port::Named(word) => port(word.text),
                Port::Usual | Port::Refused => None,
            };
            let (from, to) = (find(edge.from)?, find(edge.to)?);
            Some(Line { from, port, to, course: Course::Open })
        };
        let (shapes, lines) = (shapes.collect(), draft.edges.iter().filter_map(line).collect());
        Self { title: text(draft.name), shapes, lines }
    }
}

impl Shape {
    /// What people call it.
    pub fn label(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.id)
    }
}

fn port(name: &str) -> Option<String> {
    (name != USUAL).then(|| name.to_owned())
}
