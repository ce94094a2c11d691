//! What a workspace was when a node began, and what differs from that later.
//! A git checkout is asked what has changed against its commit, so that what
//! git ignores does not count; elsewhere the times and sizes of files tell.
//! The note is written once for a node and its round, so that what an earlier
//! attempt has changed counts too.

mod git;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use durable::Round;
use engine::AttemptKey;
use providers::Stop;
use serde::{Deserialize, Serialize};

use crate::perform::Stage;

/// The state of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Baseline {
    Git {
        /// The commit that is checked out, if there is one.
        head: Option<String>,
        /// What differs from it: paths with what is known of their content.
        changed: BTreeMap<String, String>,
    },
    Files {
        seen: BTreeMap<String, String>,
        /// Whether these are all.
        whole: bool,
    },
}

/// What has changed since a node began.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    /// From the workspace.
    pub paths: BTreeSet<String>,
    /// Whether nothing was left out.
    pub whole: bool,
}

/// The largest note that is read back.
const NOTE_BYTES: u64 = 32 << 20;

/// Notes the state of the workspace, unless there is a note already. Where
/// that fails there is none, and the check will say that it does not know.
pub(crate) fn take(stage: &Stage, key: &AttemptKey, stop: &Stop) {
    let path = path(stage, key);
    if matches!(stage.disk.stat(&path), Ok(Some(_))) {
        return;
    }
    let noted = now(stage, key, stop, None).and_then(|baseline| {
        let bytes = serde_json::to_vec(&baseline).map_err(|error| error.to_string())?;
        let folder = stage.place.baselines();
        if matches!(stage.disk.stat(&folder), Ok(None)) {
            drop(stage.disk.create_dir(&folder));
        }
        stage.disk.create(&path, &bytes).map_err(|error| error.to_string())
    });
    if let Err(why) = noted {
        stage.note(&format!("{}: the state of the workspace was not noted: {why}", key.node));
    }
}

/// What differs now from the note; an error when nobody can tell.
pub(crate) fn compare(stage: &Stage, key: &AttemptKey, stop: &Stop) -> Result<Difference, String> {
    let missing = |why: String| format!("what the workspace was before is not known: {why}");
    let bytes = stage.disk.read(&path(stage, key), NOTE_BYTES);
    let bytes = bytes.map_err(|error| missing(error.to_string()))?;
    let before: Baseline =
        serde_json::from_slice(&bytes).map_err(|error| missing(error.to_string()))?;
    let after = now(stage, key, stop, Some(&before))?;
    match (before, after) {
        (
            Baseline::Git { head: old, changed: before },
            Baseline::Git { head: new, changed: after },
        ) => {
            let mut paths = differing(&before, &after);
            if old != new {
                paths.extend(git::between(stage, key, stop, old.as_deref(), new.as_deref())?);
            }
            Ok(Difference { paths, whole: true })
        }
        (
            Baseline::Files { seen: before, whole: first },
            Baseline::Files { seen: after, whole: second },
        ) => Ok(Difference { paths: differing(&before, &after), whole: first && second }),
        (Baseline::Git { .. }, Baseline::Files { .. })
        | (Baseline::Files { .. }, Baseline::Git { .. }) => {
            Err("the workspace is no git checkout any more".to_owned())
        }
    }
}

/// The state as it is, looked at in the way of an earlier one.
fn now(
    stage: &Stage,
    key: &AttemptKey,
    stop: &Stop,
    like: Option<&Baseline>,
) -> Result<Baseline, String> {
    let by_files = matches!(like, Some(Baseline::Files { .. }));
    if !by_files && let Some(git) = git::state(stage, key, stop)? {
        return Ok(git);
    }
    walk::state(&stage.workspace).map_err(|error| error.to_string())
}

fn differing(
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
) -> BTreeSet<String> {
    let gone = before.keys().filter(|path| !after.contains_key(*path));
    let new = after.iter().filter(|(path, state)| before.get(*path) != Some(state));
    gone.chain(new.map(|(path, _)| path)).cloned().collect()
}

fn path(stage: &Stage, key: &AttemptKey) -> PathBuf {
    let name = match key.round {
        Round::FIRST => format!("{}.json", key.node),
        round => format!("{}.{round}.json", key.node),
    };
    stage.place.baselines().join(name)
}
