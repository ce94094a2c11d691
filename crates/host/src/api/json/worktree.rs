//! The documents about worktrees and the changes in them. Pure.

use serde::Serialize;

use super::SCHEMA;
use crate::api::worktree::{Applied, Changes, Worktree, WorktreeRemoved, WorktreeRow};

pub fn worktrees(rows: &[WorktreeRow]) -> WorktreesDocument<'_> {
    let worktrees = rows.iter().map(|row| WorktreeEntry {
        run_id: &row.run_id,
        blueprint_id: &row.blueprint_id,
        state: row.state.word(),
        worktree: Places::of(&row.worktree),
        fault: row.fault.as_deref(),
    });
    WorktreesDocument { schema: SCHEMA, worktrees: worktrees.collect() }
}

pub fn worktree_removed(removed: &WorktreeRemoved) -> RemovedDocument<'_> {
    RemovedDocument {
        schema: SCHEMA,
        ok: true,
        run_id: &removed.run_id,
        path: removed.path.display().to_string(),
        branch: &removed.branch,
    }
}

/// What a run has changed. A diff that is not UTF-8 has U+FFFD in it.
pub fn changes(changes: &Changes) -> ChangesDocument<'_> {
    let files = changes.files.iter().map(|file| FileEntry {
        path: &file.path,
        change: file.kind.word(),
        added: file.added,
        removed: file.removed,
        committed: file.is_committed,
    });
    ChangesDocument {
        schema: SCHEMA,
        run_id: &changes.run_id,
        worktree: Places::of(&changes.worktree),
        commits: changes.commits,
        applied: changes.is_applied,
        files: files.collect(),
        diff: String::from_utf8_lossy(&changes.diff).into_owned(),
        cut: changes.is_cut,
    }
}

pub fn applied(applied: &Applied) -> AppliedDocument<'_> {
    AppliedDocument {
        schema: SCHEMA,
        ok: true,
        run_id: &applied.run_id,
        target: &applied.target,
        already: applied.already,
        files: &applied.files,
        commit: applied.commit.as_deref(),
    }
}

#[derive(Debug, Serialize)]
pub struct WorktreesDocument<'a> {
    schema: u32,
    worktrees: Vec<WorktreeEntry<'a>>,
}

#[derive(Debug, Serialize)]
struct WorktreeEntry<'a> {
    run_id: &'a str,
    blueprint_id: &'a str,
    state: &'static str,
    #[serde(flatten)]
    worktree: Places<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct Places<'a> {
    repo_root: &'a str,
    path: &'a str,
    branch: &'a str,
    base: &'a str,
    original_cwd: &'a str,
    target_cwd: &'a str,
}

/// The worktree in the document of a run.
#[derive(Debug, Serialize)]
pub(super) struct WorktreePart<'a> {
    #[serde(flatten)]
    places: Places<'a>,
    /// It is still there.
    kept: bool,
}

#[derive(Debug, Serialize)]
pub struct RemovedDocument<'a> {
    schema: u32,
    ok: bool,
    run_id: &'a str,
    path: String,
    branch: &'a str,
}

#[derive(Debug, Serialize)]
pub struct ChangesDocument<'a> {
    schema: u32,
    run_id: &'a str,
    worktree: Places<'a>,
    /// Commits since the base.
    commits: u64,
    applied: bool,
    files: Vec<FileEntry<'a>>,
    diff: String,
    /// There is more of the diff.
    cut: bool,
}

#[derive(Debug, Serialize)]
struct FileEntry<'a> {
    path: &'a str,
    change: &'static str,
    /// Lines; `null` where the file is not text.
    added: Option<u64>,
    removed: Option<u64>,
    committed: bool,
}

#[derive(Debug, Serialize)]
pub struct AppliedDocument<'a> {
    schema: u32,
    ok: bool,
    run_id: &'a str,
    target: &'a str,
    /// Everything was there; nothing was done.
    already: bool,
    files: &'a [String],
    commit: Option<&'a str>,
}

impl<'a> Places<'a> {
    fn of(worktree: &'a Worktree) -> Self {
        Self {
            repo_root: &worktree.repo_root,
            path: &worktree.path,
            branch: &worktree.branch,
            base: &worktree.base,
            original_cwd: &worktree.original_cwd,
            target_cwd: &worktree.target_cwd,
        }
    }
}

impl<'a> WorktreePart<'a> {
    pub(super) fn of(worktree: &'a Worktree, kept: bool) -> Self {
        Self { places: Places::of(worktree), kept }
    }
}
