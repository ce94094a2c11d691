//! `invocation.json`: how a run was started. Written once, before the run is
//! published, and named by digest in `run_started`. The members of the
//! reference keep their names. Pure.

use std::collections::BTreeMap;

use blueprint::Budget;
use durable::version::{Access, Format};
use durable::{Digest, Seq, Timestamp};
use engine::Parent;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

pub const INVOCATION_FORMAT: Format = Format { major: 1, minor: 0 };

/// The reference's number for the shape of this file.
const SCHEMA: u32 = 2;

/// What `invocation.json` holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Invocation {
    /// The reference's number for the shape of the file.
    #[serde(default = "reference_schema")]
    pub schema: u32,
    /// Ours; absent in files that the reference wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listener_id: Option<String>,
    /// Role → who plays it, in the reference's older and newer form.
    #[serde(default)]
    pub bindings: Map<String, Value>,
    #[serde(default)]
    pub assignments: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_principal: Option<String>,
    /// The input as the invoker gave it.
    #[serde(default)]
    pub input: Value,
    /// Script files that the graph runs, by the path that it names.
    #[serde(default)]
    pub scripts: BTreeMap<String, ScriptFile>,
    /// What the scripted provider plays, when it was asked for: the whole
    /// script, so that the run needs no file that someone may change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<Value>,
    /// The run that this one tries again, and what a person said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryOf>,
    /// The run from whose past this one goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<ForkOf>,
    /// The blueprints that nodes of this one run, and those of these, by id.
    /// Each stands beside this file as `automation.<id>.json`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub automations: BTreeMap<String, Automation>,
    /// The attempt on whose behalf the run works, and what that allows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub works_for: Option<Box<WorksFor>>,
    /// The worktree that the run works in, when it does not work in the
    /// checkout itself. Runs that work for it, and those that try it again,
    /// work in the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<Box<Worktree>>,
    /// The checkout that the run may write to and shares with others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkout: Option<Box<SharedCheckout>>,
}

/// A folder and a branch of a git repository, made for one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worktree {
    /// The checkout that it was made from.
    pub repo_root: String,
    /// The folder, in the home.
    pub path: String,
    pub branch: String,
    /// The commit that it began at.
    pub base: String,
    /// The workspace that was asked for, in the checkout.
    pub original_cwd: String,
    /// The same place in the worktree: there the run works.
    pub target_cwd: String,
}

/// A checkout to which one family of runs writes at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedCheckout {
    pub root: String,
    /// The run on whose behalf it is written to: the first of its family.
    pub family: String,
}

/// Another blueprint as it was at the start of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Automation {
    /// Digest of the bytes of its snapshot.
    pub digest: Digest,
    /// Script files that it runs, by the path that it names.
    #[serde(default)]
    pub scripts: BTreeMap<String, ScriptFile>,
}

/// The attempt of another run that a run carries out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorksFor {
    pub attempt: Parent,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    #[serde(default)]
    pub budget: Budget,
}

/// A moment of another run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkOf {
    pub run_id: String,
    /// The last event that is kept.
    pub at: Seq,
}

/// A script file as it was at the start of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptFile {
    /// Where it was found.
    pub file: String,
    pub digest: Digest,
}

/// A closed run to be tried again, and a word on each node of it whose
/// outcome is unknown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RetryOf {
    pub run_id: String,
    /// Nodes that did their work, with their outputs.
    #[serde(default)]
    pub happened: Map<String, Value>,
    #[serde(default)]
    pub did_not: Vec<String>,
    #[serde(default)]
    pub redo: Vec<String>,
}

/// Why bytes are not an invocation.
#[derive(Debug, Error)]
pub enum InvocationError {
    #[error("the invocation is not of the known shape")]
    Shape(#[from] serde_json::Error),
    #[error(
        "the invocation has format {}.{}; this program reads formats up to {}.x, \
         so use a release that reads format {}",
        found.major, found.minor, INVOCATION_FORMAT.major, found.major
    )]
    TooNew { found: Format },
}

impl Default for Invocation {
    fn default() -> Self {
        Self {
            schema: SCHEMA,
            format: Some(INVOCATION_FORMAT),
            provider: None,
            workspace: None,
            schedule_id: None,
            listener_id: None,
            bindings: Map::new(),
            assignments: Map::new(),
            memory_principal: None,
            input: Value::Null,
            scripts: BTreeMap::new(),
            script: None,
            retry: None,
            fork: None,
            automations: BTreeMap::new(),
            works_for: None,
            worktree: None,
            checkout: None,
        }
    }
}

impl Invocation {
    /// The bytes of the file; their digest goes into `run_started`.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self)
            .expect("values of text, numbers and JSON can be written to memory");
        bytes.push(b'\n');
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Result<Self, InvocationError> {
        let found: Self = serde_json::from_slice(bytes)?;
        match found.format {
            Some(format) if INVOCATION_FORMAT.access(format) == Access::TooNew => {
                Err(InvocationError::TooNew { found: format })
            }
            Some(_) | None => Ok(found),
        }
    }
}

fn reference_schema() -> u32 {
    SCHEMA
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_invocation_reads_as_it_was_written() {
        let invocation = Invocation {
            provider: Some("claude".into()),
            workspace: Some("/home/a/work".into()),
            listener_id: Some("inbox-watch".into()),
            assignments: Map::from_iter([("reviewer".into(), json!({ "agent": "kim" }))]),
            input: json!({ "text": "nul \u{0}, big 12345678901234567890123" }),
            scripts: BTreeMap::from([(
                "tools/a.py".into(),
                ScriptFile { file: "/w/tools/a.py".into(), digest: Digest::of(b"print()") },
            )]),
            ..Invocation::default()
        };
        assert_eq!(Invocation::decode(&invocation.encode()).unwrap(), invocation);
    }

    #[test]
    fn a_file_of_the_reference_reads_without_our_members() {
        let text = br#"{"schema":2,"provider":"codex","workspace":"/w","bindings":{"role:x":"a"},
            "assignments":{},"memory_principal":"a-1","something_later":true}"#;
        let found = Invocation::decode(text).unwrap();
        assert_eq!(found.format, None);
        assert_eq!(found.memory_principal.as_deref(), Some("a-1"));
        assert_eq!(found.input, Value::Null);
    }

    #[test]
    fn a_worktree_is_an_object_of_texts_and_absent_without_one() {
        let worktree = Worktree {
            repo_root: "/src/app".into(),
            path: "/h/worktrees/fix/1-ab".into(),
            branch: "wardian/fix/1-ab".into(),
            base: "0f".into(),
            original_cwd: "/src/app/web".into(),
            target_cwd: "/h/worktrees/fix/1-ab/web".into(),
        };
        let with = Invocation { worktree: Some(Box::new(worktree)), ..Invocation::default() };
        assert_eq!(Invocation::decode(&with.encode()).unwrap(), with);
        let value: Value = serde_json::from_slice(&with.encode()).unwrap();
        assert_eq!(value["worktree"]["target_cwd"], "/h/worktrees/fix/1-ab/web");
        let without: Value = serde_json::from_slice(&Invocation::default().encode()).unwrap();
        assert_eq!((without.get("worktree"), without.get("checkout")), (None, None));
    }

    #[test]
    fn a_newer_format_is_refused_with_the_release_that_reads_it() {
        let error = Invocation::decode(br#"{"format":{"major":2,"minor":1}}"#).unwrap_err();
        insta::assert_snapshot!(error, @"the invocation has format 2.1; this program reads formats up to 1.x, so use a release that reads format 2");
    }
}
