//! Worktrees and the changes in them, in the reader's terms. Pure.

use std::path::PathBuf;

pub use runstore::Worktree;

/// Where a run works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// In the workspace itself.
    Shared,
    /// In a worktree of its own.
    Worktree,
}

/// How a worktree stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorktreeState {
    /// A run works in it, or may go on to.
    Active,
    /// Its changes are nowhere else.
    Kept,
    /// All its changes are elsewhere: applied, or on another branch.
    Merged,
    /// Nothing was changed.
    Empty,
    /// There is no run that it belongs to.
    Orphan,
}

/// One worktree of the home.
#[derive(Debug, Clone)]
pub struct WorktreeRow {
    pub run_id: String,
    pub blueprint_id: String,
    pub worktree: Worktree,
    pub state: WorktreeState,
    /// Why its changes cannot be told; it then counts as kept.
    pub fault: Option<String>,
}

/// What became of a worktree that was to be removed.
#[derive(Debug, Clone)]
pub struct WorktreeRemoved {
    pub run_id: String,
    pub path: PathBuf,
    pub branch: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    Added,
    Modified,
    Removed,
}

/// One file that a run has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    pub path: String,
    pub kind: ChangeKind,
    /// Lines; `None` where the file is not text.
    pub added: Option<u64>,
    pub removed: Option<u64>,
    /// The change is in the commits of the branch, all of it.
    pub is_committed: bool,
}

/// How much of the changes is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangesDetail {
    /// Names and numbers.
    Files,
    /// The lines as well.
    Diff,
}

/// What a run has changed, from the commit that it began at to what stands
/// in its worktree now.
#[derive(Debug, Clone)]
pub struct Changes {
    pub run_id: String,
    pub worktree: Worktree,
    pub files: Vec<ChangedFile>,
    /// Commits since the base.
    pub commits: u64,
    /// As git writes it; empty unless it was asked for.
    pub diff: Vec<u8>,
    /// There is more of the diff than is shown.
    pub is_cut: bool,
    /// All of it was applied already.
    pub is_applied: bool,
}

/// Where changes are taken to.
#[derive(Debug, Clone, Default)]
pub struct ApplyRequest {
    pub run: String,
    pub to: ApplyTo,
    /// Commit them, with this message.
    pub commit: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ApplyTo {
    /// The checkout that the run was started in.
    #[default]
    Origin,
    /// The checkout around the current folder.
    Here,
    /// A branch.
    Branch(String),
}

/// What became of changes that were to be applied.
#[derive(Debug, Clone)]
pub struct Applied {
    pub run_id: String,
    /// The checkout or the branch.
    pub target: String,
    pub files: Vec<String>,
    /// The commit that was made.
    pub commit: Option<String>,
    /// They were there already; nothing was done.
    pub already: bool,
}

impl WorktreeState {
    pub fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Kept => "kept",
            Self::Merged => "merged",
            Self::Empty => "empty",
            Self::Orphan => "orphan",
        }
    }
}

impl ChangeKind {
    pub fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Modified => "modified",
            Self::Removed => "removed",
        }
    }
}
