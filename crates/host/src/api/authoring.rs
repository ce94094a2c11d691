//! What the author's tools answer. Pure.

use std::path::PathBuf;

pub use blueprint::fix::Done;
pub use blueprint::{Difference, Place};

use super::{CheckedSource, Source};

/// The words of the templates, and what each is.
pub const TEMPLATES: &[(&str, &str)] = &[
    ("blank", "a command and a notice, with a word on each part"),
    ("review", "an agent writes, a person approves, a command keeps it"),
    ("nightly", "commands side by side that look at a git checkout and tell"),
    ("triage", "an agent decides, another works, a command proves it, a person approves"),
];

/// A file and its usual layout.
#[derive(Debug)]
pub struct FormatReport {
    pub source: Source,
    pub outcome: Formatted,
}

#[derive(Debug)]
pub enum Formatted {
    /// The bytes in their layout, perhaps the same as before.
    Done(Vec<u8>),
    /// The file cannot be read; its findings say why.
    Refused(Box<CheckedSource>),
}

/// A file, its findings, and the fixes that were made before.
#[derive(Debug)]
pub struct Linted {
    pub checked: CheckedSource,
    pub done: Vec<Done>,
}

/// What a new blueprint begins with.
#[derive(Debug, Clone, Default)]
pub struct NewRequest {
    pub id: String,
    pub name: Option<String>,
    pub template: String,
    /// `None` for a file of the library.
    pub file: Option<PathBuf>,
}

/// A file that was made.
#[derive(Debug)]
pub struct NewAutomation {
    pub id: String,
    pub path: PathBuf,
    pub name: String,
    /// An input to try it with.
    pub input: Option<&'static str>,
    /// Somebody must act as its role.
    pub needs_agent: bool,
}

/// What the first automation of a repository is to be.
#[derive(Debug, Default)]
pub struct FirstRequest {
    /// Made of the repository's name when it is not said.
    pub id: Option<String>,
    /// The one that is found first otherwise.
    pub provider: Option<String>,
    /// `None` for a file of the library.
    pub file: Option<PathBuf>,
}

/// The first automation of a repository, and what it was made of.
#[derive(Debug)]
pub struct FirstAutomation {
    pub new: NewAutomation,
    pub repository: PathBuf,
    /// Who does the work; nobody is installed otherwise.
    pub provider: Option<String>,
    /// All that are installed.
    pub found: Vec<String>,
    /// The command that runs the tests, where there are some.
    pub tests: Option<String>,
}

/// What differs from one graph to another.
#[derive(Debug)]
pub struct DiffReport {
    pub old: Side,
    pub new: Side,
    /// Empty exactly when the hashes agree.
    pub differences: Vec<Difference>,
}

#[derive(Debug)]
pub struct Side {
    /// The file, or the run.
    pub label: String,
    pub blueprint_id: String,
    pub hash: String,
}

impl FormatReport {
    pub fn is_changed(&self) -> bool {
        matches!(&self.outcome, Formatted::Done(new) if *new != self.source.bytes)
    }
}
