//! A blueprint compiled and free of errors: what runs. Indexed, complete,
//! immutable. It is made only by [`crate::check()`], from a file or from the
//! snapshot that a run keeps.

use std::collections::BTreeMap;

use durable::{Digest, Span};
use serde::Serialize;
use serde_json::Value;

use crate::node_type::{self, NodeType, Outputs, Runs};
use crate::{BlueprintId, Condition, NodeId, PortName, Schema, ShellCommand, Template};

/// The place of a node in its program, in the order of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIx(pub u32);

/// The place of an edge in its program, in the order of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeIx(pub u32);

/// A blueprint that can run.
#[derive(Debug, Clone)]
pub struct Program {
    pub(crate) id: BlueprintId,
    pub(crate) name: String,
    pub(crate) schema: u32,
    pub(crate) on_interrupt: OnInterrupt,
    pub(crate) max_parallel: usize,
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) index: BTreeMap<NodeId, NodeIx>,
    pub(crate) incoming: Vec<Vec<EdgeIx>>,
    pub(crate) outgoing: Vec<Vec<EdgeIx>>,
    /// The canonical graph (see [`crate::hash`]), from which the snapshot is
    /// written and the content hash taken.
    pub(crate) graph: Value,
    pub(crate) hash: Digest,
}

impl Program {
    pub fn id(&self) -> &BlueprintId {
        &self.id
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of the file format.
    pub fn schema(&self) -> u32 {
        self.schema
    }

    /// The digest of the graph: what a run is pinned to.
    pub fn hash(&self) -> Digest {
        self.hash
    }

    pub fn on_interrupt(&self) -> OnInterrupt {
        self.on_interrupt
    }

    /// The most attempts in flight in one run.
    pub fn max_parallel(&self) -> usize {
        self.max_parallel
    }

    /// The nodes, each at its [`NodeIx`].
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node at a place of this program.
    pub fn node(&self, ix: NodeIx) -> &Node {
        &self.nodes[ix.0 as usize]
    }

    pub fn node_ix(&self, id: &NodeId) -> Option<NodeIx> {
        self.index.get(id).copied()
    }

    /// Every place of a node, in the order of the file.
    pub fn node_ixs(&self) -> impl Iterator<Item = NodeIx> + use<> {
        let count = u32::try_from(self.nodes.len()).expect("a graph has few nodes");
        (0..count).map(NodeIx)
    }

    /// The edges, each at its [`EdgeIx`].
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The edge at a place of this program.
    pub fn edge(&self, ix: EdgeIx) -> &Edge {
        &self.edges[ix.0 as usize]
    }

    pub fn incoming(&self, node: NodeIx) -> &[EdgeIx] {
        &self.incoming[node.0 as usize]
    }

    pub fn outgoing(&self, node: NodeIx) -> &[EdgeIx] {
        &self.outgoing[node.0 as usize]
    }

    /// The first trigger of the file.
    pub fn trigger(&self) -> Option<NodeIx> {
        self.node_ixs().find(|ix| matches!(self.node(*ix).kind, Kind::ManualTrigger { .. }))
    }

    /// The ways out of a node, whether or not an edge uses them.
    pub fn out_ports(&self, node: NodeIx) -> Vec<PortName> {
        self.node(node).kind.out_ports()
    }
}

impl OnInterrupt {
    /// The value of the front matter's `on_interrupt`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Resume => "resume",
        }
    }
}

impl Repeat {
    /// The value of a node's `repeat`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Safe => "safe",
        }
    }
}

impl Kind {
    /// The node type that compiles to this.
    pub fn runs(&self) -> Runs {
        match self {
            Self::ManualTrigger { .. } => Runs::ManualTrigger,
            Self::Task { .. } => Runs::Task,
            Self::Decision { .. } => Runs::Decision,
            Self::Branch { .. } => Runs::Branch,
            Self::Join => Runs::Join,
            Self::Approval { .. } => Runs::Approval,
            Self::Shell { .. } => Runs::Shell,
            Self::Script { .. } => Runs::Script,
            Self::State { .. } => Runs::State,
            Self::Notify { .. } => Runs::Notify,
        }
    }

    /// The registry's entry for this kind of node.
    pub fn node_type(&self) -> &'static NodeType {
        let runs = Some(self.runs());
        node_type::all().find(|t| t.runs == runs).expect("every kind has a node type")
    }

    fn out_ports(&self) -> Vec<PortName> {
        match (self, self.node_type().outputs) {
            (Self::Decision { choices, .. }, Outputs::FromField(_)) => choices.clone(),
            (_, Outputs::Fixed(ports)) => ports.iter().map(|port| PortName::new(port)).collect(),
            (_, Outputs::FromField(_)) => Vec::new(),
        }
    }
}

/// What happens to a run whose owner died while work was in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnInterrupt {
    /// The run fails; what was in flight is unknown.
    #[default]
    Fail,
    /// The run goes on when every attempt in flight may be repeated.
    Resume,
}

/// May an attempt whose outcome is uncertain be tried again?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Repeat {
    Never,
    Safe,
}

/// One node, its fields compiled.
#[derive(Debug, Clone)]
pub struct Node {
    pub id: NodeId,
    /// The author's name for it, or its id.
    pub name: String,
    pub kind: Kind,
    /// How long one attempt may take; `None` for no limit.
    pub timeout: Option<Span>,
    pub repeat: Repeat,
}

/// What a node does.
#[derive(Debug, Clone)]
pub enum Kind {
    ManualTrigger {
        input_schema: Option<Schema>,
    },
    Task {
        agent: Template,
        prompt: Template,
        output_schema: Option<Schema>,
    },
    Decision {
        agent: Template,
        prompt: Template,
        choices: Vec<PortName>,
    },
    Branch {
        condition: Condition,
    },
    Join,
    Approval {
        prompt: Option<Template>,
    },
    Shell {
        command: ShellCommand,
        cwd: Option<Template>,
        env: Environment,
    },
    /// Runs `<runtime> <path> -- <args>`; each argument is in the
    /// environment too, as `WARDIAN_V1` and so on.
    Script {
        runtime: Runtime,
        path: Template,
        args: Vec<Template>,
        env: Environment,
    },
    /// Entries in the order of their keys, so that a snapshot runs as its file
    /// does; string values inside are templates.
    State {
        op: StateOp,
        entries: Vec<(String, Value)>,
    },
    Notify {
        message: Template,
    },
}

/// What a child's environment has beyond the default list.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// Names given a value here, in the order of the names.
    pub set: Vec<(String, Template)>,
    /// Names passed on from the host's own environment, when set there.
    pub pass: Vec<String>,
}

/// What runs a script file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runtime {
    Python,
    Node,
    Sh,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateOp {
    Get,
    Set,
    Merge,
    Delete,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    pub from: NodeIx,
    pub from_port: PortName,
    pub to: NodeIx,
    pub to_port: PortName,
}
