//! Front matter as it was meant: a graph of words and places, before anyone
//! asks whether it makes sense. Wrong shapes are reported here and leave gaps,
//! so that the rest can still be judged.

mod keys;

use std::ops::Range;

use durable::limits;

use crate::check::Sink;
use crate::node_type::{self, NodeType};
use crate::yaml::{Data, Map, Yaml};
use crate::{OnInterrupt, OnLimit, Rule, Workspace, suggest};
use keys::Keys;

/// The only number of the file format so far.
pub const SCHEMA: u32 = 2;

/// A text of the file and its place.
#[derive(Debug, Clone, Copy)]
pub struct Word<'t> {
    pub text: &'t str,
    pub span: &'t Range<usize>,
}

#[derive(Debug, Clone)]
pub struct Draft<'t> {
    pub span: Range<usize>,
    pub id: Option<Word<'t>>,
    pub name: Option<Word<'t>>,
    pub workspace: Option<Workspace>,
    pub on_interrupt: OnInterrupt,
    pub on_limit: Option<OnLimit>,
    pub max_parallel: usize,
    pub deadline: Option<DraftKey<'t>>,
    pub budget: Option<DraftKey<'t>>,
    pub nodes: Vec<DraftNode<'t>>,
    pub edges: Vec<DraftEdge<'t>>,
    /// Nodes or edges may be missing from these lists.
    pub cut: bool,
}

#[derive(Debug, Clone)]
pub struct DraftNode<'t> {
    pub span: &'t Range<usize>,
    pub id: Option<Word<'t>>,
    pub node_type: Option<Word<'t>>,
    pub name: Option<Word<'t>>,
    pub parent: Option<Word<'t>>,
    /// `None` for a node without fields.
    pub fields: Option<&'t Map<'t>>,
    /// The fields cannot be judged, since they could not be read.
    pub fields_refused: bool,
    pub timeout: Option<DraftKey<'t>>,
    pub repeat: Option<DraftKey<'t>>,
    pub retry: Option<DraftKey<'t>>,
    pub on_limit: Option<DraftKey<'t>>,
    pub prove: Option<DraftKey<'t>>,
}

/// A key whose value only the node's type can judge.
#[derive(Debug, Clone, Copy)]
pub struct DraftKey<'t> {
    pub key_span: &'t Range<usize>,
    pub value: &'t Yaml<'t>,
}

#[derive(Debug, Clone)]
pub struct DraftEdge<'t> {
    pub span: &'t Range<usize>,
    pub from: Option<Word<'t>>,
    pub from_port: Port<'t>,
    pub to: Option<Word<'t>>,
    pub to_port: Port<'t>,
}

/// The port at one end of an edge.
#[derive(Debug, Clone, Copy)]
pub enum Port<'t> {
    /// Not written, so it is the usual one.
    Usual,
    Named(Word<'t>),
    /// Written, but no text.
    Refused,
}

/// What to do about a file without a graph.
pub(crate) const BEGIN: &str = "begin it with `id:`, `name:`, `nodes:` and `edges:`";

/// Keys of the front matter, in their usual order.
pub(crate) static TOP_KEYS: &[&str] = &[
    "schema",
    "id",
    "name",
    "description",
    "workspace",
    "on_interrupt",
    "on_limit",
    "max_parallel",
    "deadline",
    "budget",
    "nodes",
    "edges",
];

/// Keys of a node. `position` is where a canvas draws it and `description` is
/// for its readers: both are kept and mean nothing to a run.
static NODE_KEYS: &[&str] = &[
    "id",
    "type",
    "name",
    "parent",
    "fields",
    "timeout",
    "retry",
    "repeat",
    "on_limit",
    "prove",
    "position",
    "description",
];
static EDGE_KEYS: &[&str] = &["from", "from_port", "to", "to_port"];

impl<'t> Draft<'t> {
    /// Reads the tree of a file; `None` when there is nothing to judge.
    pub(crate) fn read(root: &'t Yaml<'t>, complete: bool, sink: &mut Sink<'_>) -> Option<Self> {
        let map = match &root.data {
            Data::Map(map) => map,
            Data::Refused => return None,
            Data::Null | Data::Bool(_) | Data::Number(_) | Data::Text(_) | Data::List(_) => {
                let message =
                    format!("the front matter is {}, not keys with values", root.describe());
                sink.error(Rule::InvalidValue, &root.span, message).suggest(BEGIN);
                return None;
            }
        };
        let mut keys = Keys::new(map, TOP_KEYS, "a blueprint", sink);
        let anchor = map.entries.first().map_or(&root.span, |entry| &entry.key_span);
        keys.schema();
        let id = keys.required("id", anchor);
        let name = keys.required("name", anchor);
        keys.not_blank(name, "name");
        let workspace = keys.word("workspace", Workspace::ALL, Workspace::word);
        let on_interrupt = keys.on_interrupt();
        let on_limit = keys.word("on_limit", OnLimit::ALL, OnLimit::word);
        let max_parallel = keys.max_parallel();
        let (deadline, budget) = (keys.any("deadline"), keys.any("budget"));
        let mut cut = !complete || map.partial;
        let nodes = keys.list("nodes", limits::NODES, &mut cut);
        let edges = keys.list("edges", limits::EDGES, &mut cut);
        let (written, links) = (nodes, edges);
        let mut nodes = Vec::with_capacity(written.len());
        nodes.extend(written.iter().filter_map(|node| DraftNode::read(node, &mut cut, sink)));
        let mut edges = Vec::with_capacity(links.len());
        edges.extend(links.iter().filter_map(|edge| DraftEdge::read(edge, &mut cut, sink)));
        let span = anchor.clone();
        Some(Self {
            span,
            id,
            name,
            workspace,
            on_interrupt,
            on_limit,
            max_parallel,
            deadline,
            budget,
            nodes,
            edges,
            cut,
        })
    }
}

impl<'t> DraftNode<'t> {
    fn read(node: &'t Yaml<'t>, cut: &mut bool, sink: &mut Sink<'_>) -> Option<Self> {
        let Some(map) = keys::mapping(node, "a node", sink) else {
            *cut = true;
            return None;
        };
        let mark = sink.mark();
        let is_field = |key: &str| written_type(map).is_some_and(|kind| kind.field(key).is_some());
        let misplaced = map.entries.iter().map(|entry| &*entry.key);
        // What stands under a mistyped `fields` may be all that a node needs.
        let is_fields = |key: &str| suggest::closest(key, ["fields"]).is_some();
        let misplaced = misplaced
            .filter(|key| !NODE_KEYS.contains(key))
            .any(|key| is_field(key) || is_fields(key));
        let mut keys = Keys::with_fields(map, NODE_KEYS, "a node", sink, is_field);
        let id = keys.required("id", &node.span);
        let node_type = keys.required("type", &node.span);
        let name = keys.text("name");
        keys.not_blank(name, "name");
        let parent = keys.text("parent");
        let (fields, refused) = keys.map("fields");
        // A field in the wrong place is one fault, not two.
        let fields_refused = refused || misplaced;
        let (timeout, repeat, retry) = (keys.any("timeout"), keys.any("repeat"), keys.any("retry"));
        let (on_limit, prove) = (keys.any("on_limit"), keys.any("prove"));
        sink.assign_since(mark, id.map(|id| id.text));
        let span = &node.span;
        Some(Self {
            span,
            id,
            node_type,
            name,
            parent,
            fields,
            fields_refused,
            timeout,
            repeat,
            retry,
            on_limit,
            prove,
        })
    }

    /// The best place for a finding about the node as a whole.
    pub fn place(&self) -> &'t Range<usize> {
        self.id.map_or(self.span, |id| id.span)
    }
}

/// The node type that a node names, if there is such a type.
fn written_type(node: &Map<'_>) -> Option<&'static NodeType> {
    match &node.get("type")?.value.data {
        Data::Text(name) => node_type::find(name),
        Data::Null
        | Data::Bool(_)
        | Data::Number(_)
        | Data::List(_)
        | Data::Map(_)
        | Data::Refused => None,
    }
}

impl<'t> DraftEdge<'t> {
    fn read(edge: &'t Yaml<'t>, cut: &mut bool, sink: &mut Sink<'_>) -> Option<Self> {
        let Some(map) = keys::mapping(edge, "an edge", sink) else {
            *cut = true;
            return None;
        };
        let mut keys = Keys::new(map, EDGE_KEYS, "an edge", sink);
        Some(Self {
            span: &edge.span,
            from: keys.required("from", &edge.span),
            from_port: keys.port("from_port"),
            to: keys.required("to", &edge.span),
            to_port: keys.port("to_port"),
        })
    }
}

/// The keys of a blueprint, of a node and of an edge, for what derives from
/// them.
pub(crate) fn keys() -> [&'static [&'static str]; 3] {
    [TOP_KEYS, NODE_KEYS, EDGE_KEYS]
}
