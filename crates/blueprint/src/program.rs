//! A blueprint compiled and free of errors: what runs. Indexed, complete,
//! immutable. It is made only by [`crate::check()`], from a file or from the
//! snapshot that a run keeps.

use durable::{Digest, Span};
use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;

use crate::hash::Graph;
use crate::node_type::{self, NodeType, Outputs, Runs};
use crate::{
    AgentTerms, BlueprintId, Budget, Check, Condition, NodeId, OnLimit, PortName, Retry, Schema,
    ShellCommand, Template, Workspace,
};

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
    pub(crate) workspace: Option<Workspace>,
    pub(crate) on_interrupt: OnInterrupt,
    pub(crate) max_parallel: usize,
    pub(crate) deadline: Option<Span>,
    pub(crate) budget: Budget,
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    /// Asked at every event.
    pub(crate) index: IndexMap<NodeId, NodeIx>,
    pub(crate) incoming: Vec<Vec<EdgeIx>>,
    pub(crate) outgoing: Vec<Vec<EdgeIx>>,
    /// The nodes inside of each container, in the order of the file.
    pub(crate) bodies: Vec<Vec<NodeIx>>,
    /// The canonical graph (see [`crate::hash`]), from which the snapshot is
    /// written and the content hash taken.
    pub(crate) graph: Graph,
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

    /// Where its nodes do their work, if the author says so.
    pub fn workspace(&self) -> Option<Workspace> {
        self.workspace
    }

    pub fn on_interrupt(&self) -> OnInterrupt {
        self.on_interrupt
    }

    /// The most attempts in flight in one run.
    pub fn max_parallel(&self) -> usize {
        self.max_parallel
    }

    /// How long a run may take, from its start to its end.
    pub fn deadline(&self) -> Option<Span> {
        self.deadline
    }

    /// What a run may spend on agents.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The nodes, each at its [`NodeIx`].
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node at a place of this program.
    pub fn node(&self, ix: NodeIx) -> &Node {
        &self.nodes[ix.0 as usize]
    }

    /// A node as the canonical graph has it: all that its author wrote of it
    /// and that counts, in one JSON text.
    pub fn source(&self, ix: NodeIx) -> &str {
        self.graph.node(ix.0 as usize)
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

    /// The nodes whose `parent` this is, in the order of the file.
    pub fn body(&self, container: NodeIx) -> &[NodeIx] {
        &self.bodies[container.0 as usize]
    }

    /// The nodes of a body, or of the blueprint, from which no edge leads on
    /// in the same body: what they give is what the whole gives.
    pub fn last(&self, container: Option<NodeIx>) -> Vec<NodeIx> {
        let inside = |ix: &NodeIx| self.node(*ix).parent == container;
        let goes_on = |ix: NodeIx| {
            self.outgoing(ix).iter().any(|edge| {
                let edge = self.edge(*edge);
                inside(&edge.to) && edge.from_port.as_str() != ERROR
            })
        };
        self.node_ixs().filter(inside).filter(|ix| !goes_on(*ix)).collect()
    }

    /// Whether an edge leads on from a failure of the node.
    pub fn catches(&self, node: NodeIx) -> bool {
        self.outgoing(node).iter().any(|edge| self.edge(*edge).from_port.as_str() == ERROR)
    }

    /// The other blueprints that nodes of this one run.
    pub fn automations(&self) -> impl Iterator<Item = (&Node, &BlueprintId)> {
        self.nodes.iter().filter_map(|node| match &node.kind {
            Kind::SubAutomation { automation, .. } => Some((node, automation)),
            Kind::ManualTrigger { .. }
            | Kind::Task { .. }
            | Kind::Decision { .. }
            | Kind::Branch { .. }
            | Kind::Loop { .. }
            | Kind::ForEach { .. }
            | Kind::Join
            | Kind::Approval { .. }
            | Kind::Wait(_)
            | Kind::Shell { .. }
            | Kind::Script { .. }
            | Kind::Http(_)
            | Kind::State { .. }
            | Kind::Notify { .. } => None,
        })
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
            Self::Loop { .. } => Runs::Loop,
            Self::ForEach { .. } => Runs::ForEach,
            Self::Wait(_) => Runs::Wait,
            Self::Http(_) => Runs::Http,
            Self::SubAutomation { .. } => Runs::SubAutomation,
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

    /// Whether nodes stand inside of this one.
    pub fn is_container(&self) -> bool {
        self.runs().is_container()
    }

    fn out_ports(&self) -> Vec<PortName> {
        let node_type = self.node_type();
        let mut ports: Vec<PortName> = match (self, node_type.outputs) {
            (Self::Decision { choices, .. }, Outputs::FromField(_)) => choices.clone(),
            (_, Outputs::Fixed(ports)) => ports.iter().map(|port| PortName::new(port)).collect(),
            (_, Outputs::FromField(_)) => Vec::new(),
        };
        ports.extend(node_type.errors.then(|| PortName::new(ERROR)));
        ports
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
    pub retry: Option<Retry>,
    pub on_limit: OnLimit,
    /// What must hold once it claims success; nothing for most nodes.
    pub prove: Vec<Check>,
    /// The container in which it stands.
    pub parent: Option<NodeIx>,
}

/// The way out that a node takes when it failed and an edge waits for that.
pub const ERROR: &str = "error";

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
        terms: Box<AgentTerms>,
    },
    Decision {
        agent: Template,
        prompt: Template,
        choices: Vec<PortName>,
        terms: Box<AgentTerms>,
    },
    Branch {
        condition: Condition,
    },
    /// Runs its body round after round.
    Loop {
        max_iterations: Count,
        /// Asked after each round; without it all rounds are run.
        until: Option<Condition>,
    },
    /// Runs its body once for each item of a list.
    ForEach {
        /// One place and nothing else, so that the list stays one.
        items: Template,
        max_parallel: usize,
        max_items: usize,
        on_item_error: OnItemError,
    },
    Join,
    /// Lets time pass.
    Wait(Wait),
    /// Asks a web address.
    Http(Box<Http>),
    /// Runs another blueprint as a run of its own.
    SubAutomation {
        automation: BlueprintId,
        /// As the entries of `State`.
        input: Vec<(String, Value)>,
    },
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

/// A whole number that the author wrote, or that a template gives.
#[derive(Debug, Clone)]
pub enum Count {
    Is(u64),
    From(Template),
}

/// What becomes of the other items when one fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnItemError {
    /// No further item is begun, and the node fails.
    Stop,
    /// All items run; the output says how each ended.
    Collect,
}

/// What a `wait` waits for.
#[derive(Debug, Clone)]
pub enum Wait {
    /// A length of time from its start.
    For(Template),
    /// A moment, as RFC 3339 with its offset.
    Until(Template),
}

#[derive(Debug, Clone)]
pub struct Http {
    pub method: Method,
    pub url: Template,
    /// In the order of their names.
    pub headers: Vec<(String, Template)>,
    pub body: Option<Template>,
    /// Addresses of this machine and of private networks may be asked.
    pub allow_private: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    pub const ALL: &[Self] =
        &[Self::Get, Self::Head, Self::Post, Self::Put, Self::Patch, Self::Delete];

    pub fn word(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Whether asking twice is as good as asking once (RFC 9110, 9.2.1).
    pub fn is_safe(self) -> bool {
        matches!(self, Self::Get | Self::Head)
    }
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
