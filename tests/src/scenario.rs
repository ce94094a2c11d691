//! A scenario as data: a graph, how its attempts end, and what people do.

use std::collections::BTreeMap;
use std::sync::Arc;

use blueprint::{BlueprintId, Program};
use engine::{Site, Verb};
use serde_json::Value;

/// All that happens to one automation.
#[derive(Debug, Clone)]
pub struct Scenario {
    pub name: String,
    pub program: Arc<Program>,
    /// The program as a run keeps it.
    pub snapshot: Vec<u8>,
    /// The other blueprints that it runs, by their ids.
    pub others: BTreeMap<String, Other>,
    pub input: Value,
    /// How the attempts of a node end, by its name, by its name with an item
    /// as in `fix[1]`, or by either with a round as in `fix@2`: the n-th as
    /// the n-th play says, and as the last from there on. Without plays they
    /// succeed.
    pub plays: BTreeMap<String, Vec<Play>>,
    /// Of several outcomes that are due, the last one comes first.
    pub last_first: bool,
    /// What people say while a worker drives the run: the number of the wait
    /// at which it is said.
    pub words: Vec<(usize, Word)>,
    pub acts: Vec<Act>,
    /// Acts that lie behind, long since durable, when the crashing begins.
    pub settled: usize,
    /// Once started it is completed, whatever crashes.
    pub completes: bool,
    /// Costly to read: a quick sweep takes every so many of its power losses.
    pub weight: usize,
}

/// A blueprint that a node of another one runs.
#[derive(Debug, Clone)]
pub struct Other {
    pub program: Arc<Program>,
    pub snapshot: Vec<u8>,
}

/// How an attempt ends.
#[derive(Debug, Clone, PartialEq)]
pub enum Play {
    Output(Value),
    Reply(String),
    Fail,
    /// The provider's limit is reached, for a second.
    Limit,
    Lost,
    /// It does not end before it is stopped.
    Hang,
}

/// What happens from outside, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    Create,
    /// An owner takes the run and drives it until it leaves.
    Drive,
    Say(Word),
    /// To the last run that works for another.
    SayToChild(Word),
    /// The next command comes and looks after the runs of the home.
    Recover,
    /// A new run that tries the closed one again; unknown nodes are redone.
    Retry,
}

/// A word to a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    Verb(Verb),
    /// The reference's way to cancel: an empty file.
    Marker,
}

impl Scenario {
    /// A run that is created, then driven; the creation lies behind.
    pub fn new(name: &str, program: Arc<Program>) -> Self {
        Self {
            name: name.to_owned(),
            snapshot: program.snapshot(),
            program,
            others: BTreeMap::new(),
            input: serde_json::json!({ "who": "Ada" }),
            plays: BTreeMap::new(),
            last_first: false,
            words: Vec::new(),
            acts: vec![Act::Create, Act::Drive],
            settled: 1,
            completes: false,
            weight: 1,
        }
    }

    /// The graph and its snapshot that runs of a blueprint have.
    pub fn graph(&self, blueprint: &BlueprintId) -> Option<(&Arc<Program>, &[u8])> {
        if self.program.id() == blueprint {
            return Some((&self.program, &self.snapshot));
        }
        self.others.get(blueprint.as_str()).map(|other| (&other.program, &other.snapshot[..]))
    }

    #[must_use]
    pub fn runs(mut self, program: Arc<Program>) -> Self {
        let (id, snapshot) = (program.id().to_string(), program.snapshot());
        self.others.insert(id, Other { program, snapshot });
        self
    }

    #[must_use]
    pub fn plays(mut self, node: &str, plays: Vec<Play>) -> Self {
        self.plays.insert(node.to_owned(), plays);
        self
    }

    #[must_use]
    pub fn word(mut self, wait: usize, word: Word) -> Self {
        self.words.push((wait, word));
        self
    }

    #[must_use]
    pub fn then(mut self, acts: impl IntoIterator<Item = Act>) -> Self {
        self.acts.extend(acts);
        self
    }

    #[must_use]
    pub fn settled(self, settled: usize) -> Self {
        Self { settled, ..self }
    }

    #[must_use]
    pub fn weight(self, weight: usize) -> Self {
        Self { weight, ..self }
    }

    #[must_use]
    pub fn completes(self) -> Self {
        Self { completes: true, ..self }
    }

    #[must_use]
    pub fn last_first(self) -> Self {
        Self { last_first: true, ..self }
    }
}

impl Word {
    pub fn approve(node: Option<&str>) -> Self {
        Self::Verb(Verb::Approve { node: node.map(Site::parse) })
    }

    pub fn reject(node: Option<&str>) -> Self {
        Self::Verb(Verb::Reject { node: node.map(Site::parse) })
    }
}
