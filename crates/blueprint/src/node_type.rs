//! The one registry of node types: what each is for, which fields it has and
//! which ports. The check, the listings and the reference page derive from
//! it, so that no two of them can disagree.

mod actions;
mod agents;
mod control;
mod words;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::Repeat;

pub use words::NodeKey;

/// A type of node.
#[derive(Debug, Clone, Serialize)]
pub struct NodeType {
    /// The word after `type:`.
    pub id: &'static str,
    #[serde(rename = "kind")]
    pub actor: Actor,
    pub category: Category,
    pub label: &'static str,
    pub description: &'static str,
    /// What it compiles to; `None` for a type that cannot run yet.
    #[serde(rename = "supported", serialize_with = "is_some")]
    pub runs: Option<Runs>,
    pub version: u32,
    pub fields: &'static [Field],
    pub inputs: &'static [&'static str],
    #[serde(flatten)]
    pub outputs: Outputs,
    /// The node key `timeout` may be given.
    pub timeout: bool,
    /// The node key `prove` may be given.
    pub prove: bool,
    /// The node key `retry` may be given.
    pub retry: bool,
    /// A failure can lead on, by the way out `error`.
    pub errors: bool,
    pub repeat: RepeatKey,
}

/// Who acts when the node runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    Agent,
    Engine,
    Trigger,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    Triggers,
    Agents,
    Control,
    Actions,
    Data,
}

/// The types that run, one for each [`crate::Kind`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    ManualTrigger,
    Task,
    Decision,
    Branch,
    Loop,
    ForEach,
    Join,
    Approval,
    Wait,
    Shell,
    Script,
    Http,
    State,
    Notify,
    SubAutomation,
}

impl Runs {
    /// Whether nodes stand inside of nodes of this type.
    pub fn is_container(self) -> bool {
        matches!(self, Self::Loop | Self::ForEach)
    }

    /// Whether only one of the ways out is taken, whatever happens.
    pub fn chooses(self) -> bool {
        matches!(self, Self::Branch | Self::Decision)
    }
}

/// The ways out of a node.
#[derive(Debug, Clone, Copy)]
pub enum Outputs {
    Fixed(&'static [&'static str]),
    /// One port for each item of a field.
    FromField(&'static str),
}

/// May an uncertain attempt be made again, and does the author decide?
#[derive(Debug, Clone, Copy, Serialize)]
pub struct RepeatKey {
    /// The node key `repeat` may be given.
    pub settable: bool,
    pub default: Repeat,
}

/// A field of a node type.
#[derive(Debug, Clone, Serialize)]
pub struct Field {
    pub id: &'static str,
    pub label: &'static str,
    #[serde(rename = "type")]
    pub kind: FieldKind,
    pub required: bool,
    /// The value is a list of this kind.
    pub multiple: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<&'static str>,
    pub help: &'static str,
    /// `{{…}}` in its texts is a place for a value.
    pub templated: bool,
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FieldKind {
    Text,
    LongText,
    Prompt,
    Code {
        language: &'static str,
    },
    Enum {
        options: &'static [&'static str],
    },
    Bool,
    Number {
        least: u64,
        most: u64,
    },
    Duration,
    Path,
    AgentRef,
    AutomationRef,
    JsonSchema,
    KvMap,
    /// Names of environment variables with texts.
    EnvMap,
    /// The name of an environment variable.
    EnvName,
    BranchPort,
    Condition,
    /// A place that gives a list: a path, or one `{{…}}` and nothing else.
    Items,
    /// Names of headers with texts.
    HeaderMap,
    /// A text in which no value can stand.
    Plain,
    /// Which session of its provider an agent works in.
    Session,
}

/// Every node type, in the order of the reference page.
pub fn all() -> impl Iterator<Item = &'static NodeType> {
    [control::TYPES, agents::TYPES, actions::TYPES].into_iter().flatten()
}

/// The type with this id.
pub fn find(id: &str) -> Option<&'static NodeType> {
    all().find(|node_type| node_type.id == id)
}

impl NodeType {
    pub fn supported(&self) -> bool {
        self.runs.is_some()
    }

    /// Whether a provider's limit can stop it, so that `on_limit` may be given.
    pub fn meets_limits(&self) -> bool {
        self.supported() && self.actor == Actor::Agent
    }

    pub fn field(&self, id: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.id == id)
    }
}

impl Field {
    /// An optional text without places; the builders below change that.
    const fn new(
        id: &'static str,
        label: &'static str,
        kind: FieldKind,
        help: &'static str,
    ) -> Self {
        Self {
            id,
            label,
            kind,
            required: false,
            multiple: false,
            default: None,
            help,
            templated: false,
        }
    }

    const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    const fn list(mut self) -> Self {
        self.multiple = true;
        self
    }

    const fn templated(mut self) -> Self {
        self.templated = true;
        self
    }

    const fn default(mut self, default: &'static str) -> Self {
        self.default = Some(default);
        self
    }
}

impl Serialize for Outputs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (ports, field) = match self {
            Self::Fixed(ports) => (*ports, None),
            Self::FromField(field) => (&[][..], Some(field)),
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("outputs", ports)?;
        if let Some(field) = field {
            map.serialize_entry("outputs_from_field", field)?;
        }
        map.end()
    }
}

/// The way out of a container that leads to the nodes inside of it.
pub(crate) const BODY: &str = "body";
/// One way in and one way out.
const IN: &[&str] = &["in"];
const OUT: Outputs = Outputs::Fixed(&["out"]);
/// The engine's own work: nothing outside changes, so it may be done again.
const SAFE: RepeatKey = RepeatKey { settable: false, default: Repeat::Safe };
/// Work whose repetition only its author can judge.
const ASK: RepeatKey = RepeatKey { settable: true, default: Repeat::Never };

#[expect(clippy::ref_option, reason = "the signature that serde asks for")]
fn is_some<S: Serializer>(runs: &Option<Runs>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(runs.is_some())
}

#[cfg(test)]
mod tests;
