//! Providers that a person describes in `settings/providers.toml`: any other
//! program that answers a prompt. What is described is checked as a whole
//! when it is read, so that a mistake is told with its place and not at the
//! first run at night.

mod dialect;
mod launch;
mod parse;
mod pointer;

use std::collections::BTreeMap;

use super::request::Mode;

pub(super) use launch::{launch, reader};
pub use parse::ProvidersError;
use pointer::Pointer;

/// The file, read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Providers {
    /// By name.
    pub configured: BTreeMap<String, Configured>,
    /// What is changed of those that are built in, by their names.
    pub changed: BTreeMap<String, Changed>,
    /// Who works where nobody is named; one that there is.
    pub default: Option<String>,
}

/// One program that a person described.
#[derive(Debug, Clone, PartialEq)]
pub struct Configured {
    pub name: String,
    pub program: String,
    args: Vec<String>,
    model_args: Option<Vec<String>>,
    resume_args: Option<Vec<String>>,
    schema_args: Option<Vec<String>>,
    tool_args: Option<Vec<String>>,
    modes: Option<BTreeMap<Mode, Vec<String>>>,
    prompt: PromptBy,
    reply: Reply,
    limits: Vec<String>,
    env: BTreeMap<String, String>,
    env_pass: Vec<String>,
}

/// What may be said of a provider that is built in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changed {
    /// Another program than the one found by name.
    pub program: Option<String>,
    /// Variables that it gets besides its own.
    pub env_pass: Vec<String>,
}

/// How the prompt gets there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PromptBy {
    Stdin,
    File,
    /// Everybody on the machine can read it there.
    Argument,
}

/// What the program's output is.
#[derive(Debug, Clone, PartialEq)]
enum Reply {
    /// All of it is the answer.
    Text,
    /// One document.
    Json(Pointers),
    /// A document on each line.
    JsonLines(Pointers),
}

/// Where things stand in a document.
#[derive(Debug, Clone, PartialEq)]
struct Pointers {
    /// Those texts that are there, one after the other.
    text: Vec<Pointer>,
    /// The only documents that are looked at for more than the session.
    when: Option<Is>,
    /// The text comes in pieces that belong together.
    join: bool,
    session: Option<Pointer>,
    /// Numbers to be added up.
    tokens: Vec<Pointer>,
    cost_usd: Option<Pointer>,
    error: Option<Pointer>,
    /// By which a finished turn is known.
    done: Option<Is>,
}

/// A value at a place.
#[derive(Debug, Clone, PartialEq)]
struct Is {
    at: Pointer,
    is: serde_json::Value,
}

#[cfg(test)]
mod tests;
