//! An expression as it was read: every part with its place, and what kind of
//! value it gives where that can be told before a run.

use std::ops::Range;

use serde_json::Value;

use super::functions::{Function, Loop};

#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) form: Form,
    pub(super) range: Range<usize>,
    /// The kind of its value, whatever the data; `None` when data decides.
    pub(super) kind: Option<Kind>,
    /// Levels below and including this one.
    pub(super) levels: usize,
}

#[derive(Debug, Clone)]
pub(super) enum Form {
    Literal(Value),
    /// `3u`
    Unsigned(u64),
    /// A path, by its place in the list of paths, and the first in the list
    /// that means the same.
    Path {
        at: usize,
        first: usize,
    },
    /// `has(path)`, by that first one.
    HasPath(usize),
    /// The name that a loop gives to the item in hand.
    Local(String),
    Field(Box<Part>, String),
    /// `has(x.name)`
    HasField(Box<Part>, String),
    Index(Box<Part>, Box<Part>),
    Not(Box<Part>),
    Negative(Box<Part>),
    Arithmetic(Box<Part>, Arithmetic, Box<Part>),
    Compare(Box<Part>, super::Operator, Box<Part>),
    In(Box<Part>, Box<Part>),
    All(Vec<Part>),
    Any(Vec<Part>),
    Choice(Box<Part>, Box<Part>, Box<Part>),
    List(Vec<Part>),
    Map(Vec<(Part, Part)>),
    Call(Function, Vec<Part>),
    Loop {
        over: Box<Part>,
        what: Loop,
        local: String,
        /// Which items, for a `map` with three arguments.
        only: Option<Box<Part>>,
        body: Box<Part>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Boolean,
    Number,
    Text,
    List,
    Map,
}

impl Kind {
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::Text,
            Value::Array(_) => Self::List,
            Value::Object(_) => Self::Map,
        }
    }

    /// As a sentence has it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::Text => "a string",
            Self::List => "an array",
            Self::Map => "an object",
        }
    }

    pub(super) fn has_order(self) -> bool {
        matches!(self, Self::Boolean | Self::Number | Self::Text)
    }
}

impl Arithmetic {
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
        }
    }

    /// Whether two values of this kind go together.
    pub(super) fn takes(self, kind: Kind) -> bool {
        match self {
            Self::Add => matches!(kind, Kind::Number | Kind::Text | Kind::List),
            Self::Subtract | Self::Multiply | Self::Divide | Self::Remainder => {
                kind == Kind::Number
            }
        }
    }
}

impl Form {
    /// The parts right below.
    pub(super) fn below(&self) -> Vec<&Part> {
        match self {
            Self::Literal(_)
            | Self::Unsigned(_)
            | Self::Path { .. }
            | Self::HasPath(_)
            | Self::Local(_) => Vec::new(),
            Self::Field(of, _) | Self::HasField(of, _) | Self::Not(of) | Self::Negative(of) => {
                vec![of]
            }
            Self::Index(left, right)
            | Self::Arithmetic(left, _, right)
            | Self::Compare(left, _, right)
            | Self::In(left, right) => vec![left, right],
            Self::Choice(asked, yes, no) => vec![asked, yes, no],
            Self::All(parts) | Self::Any(parts) | Self::List(parts) | Self::Call(_, parts) => {
                parts.iter().collect()
            }
            Self::Map(entries) => entries.iter().flat_map(|(key, value)| [key, value]).collect(),
            Self::Loop { over, only, body, .. } => {
                let mut parts: Vec<&Part> = vec![over, body];
                parts.extend(only.as_deref());
                parts
            }
        }
    }
}
