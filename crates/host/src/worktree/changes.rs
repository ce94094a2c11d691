//! What a run has changed: from the commit that its worktree began at to what
//! stands there now, committed or not, new files included. The content is
//! written as a tree by an index of our own; the one of the worktree, which an
//! agent or a person may be using, is only copied.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use runstore::{Invocation, RunPlace, Worktree};

use super::checkout::common_folder;
use super::git::{Git, GitError};
use super::{lease, parse};
use crate::Host;
use crate::api::worktree::{ChangedFile, Changes, ChangesDetail};
use crate::api::{Code, HostError};
use crate::library::store;

/// What stands in a worktree at one time.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) tree: String,
    /// The commit that it is at.
    pub(super) head: String,
}

impl Host {
    /// What the run has changed so far.
    pub fn changes(&self, query: &str, detail: ChangesDetail) -> Result<Changes, HostError> {
        let place = self.find(query)?;
        let worktree = self.worktree_of(&place)?;
        self.changes_in(&place, worktree, detail)
    }

    /// How many files a run has changed in its worktree; `None` where it has
    /// none, or where that cannot be told.
    pub fn changed_files(&self, query: &str) -> Option<usize> {
        let place = self.find(query).ok()?;
        let worktree = self.worktree_of(&place).ok()?;
        if self.open_run_in(&place, &worktree).ok()?.is_none() {
            drop(self.alone_soon(&worktree).ok()?);
        }
        sound(self, &worktree).ok()?;
        let git = Git::at(&worktree.path);
        let snapshot = snapshot(&git).ok()?;
        Some(names(&git, &worktree.base, &snapshot.tree).ok()?.len())
    }

    fn changes_in(
        &self,
        place: &RunPlace,
        worktree: Worktree,
        detail: ChangesDetail,
    ) -> Result<Changes, HostError> {
        sound(self, &worktree)?;
        let git = Git::at(&worktree.path);
        let now = snapshot(&git)?;
        let open: BTreeSet<String> = names(&git, &now.head, &now.tree)?.into_iter().collect();
        let mut files = compare(&git, &worktree.base, &now.tree)?;
        for file in &mut files {
            file.is_committed = !open.contains(&file.path);
        }
        let range = format!("{}..{}", worktree.base, now.head);
        let commits = git.word(&["rev-list", "--count", &range])?.parse().unwrap_or(0);
        let (diff, is_cut) = match detail {
            ChangesDetail::Files => (Vec::new(), false),
            ChangesDetail::Diff => diff(&git, &worktree.base, &now.tree)?,
        };
        let is_applied = self.mark(&worktree).is_some_and(|mark| mark.tree == now.tree);
        let run_id = place.run.to_string();
        Ok(Changes { run_id, worktree, files, commits, diff, is_cut, is_applied })
    }

    /// The worktree that a run works in.
    pub(super) fn worktree_of(&self, place: &RunPlace) -> Result<Worktree, HostError> {
        let none = |message: String| HostError::new(Code::NoWorktree, message);
        let invocation = self.invocation_of(place)?;
        let Some(worktree) = invocation.worktree else {
            let workspace = invocation.workspace.unwrap_or_else(|| "its workspace".to_owned());
            let message = format!("run {} has no worktree; it works in {workspace}", place.run);
            return Err(
                none(message).hint(format!("look there, or at `wardian run show {}`", place.run))
            );
        };
        if !Path::new(&worktree.path).is_dir() {
            let message = format!("the worktree {} of run {} is gone", worktree.path, place.run);
            return Err(none(message).hint("`wardian worktree list` shows those that are there"));
        }
        Ok(*worktree)
    }

    pub(super) fn invocation_of(&self, place: &RunPlace) -> Result<Invocation, HostError> {
        let limit = runstore::limits::INVOCATION_BYTES;
        let bytes =
            self.disk.read(&place.invocation_json(), limit).map_err(|fault| store(&fault))?;
        Invocation::decode(&bytes).map_err(|fault| store(&fault))
    }
}

/// Refuses a folder that is not what was made: a link, or a checkout of
/// another repository.
pub(super) fn sound(host: &Host, worktree: &Worktree) -> Result<(), HostError> {
    let path = Path::new(&worktree.path);
    lease::refuse_links(host, path)?;
    let strange = |why: &str| {
        HostError::new(Code::Conflict, format!("{}: {why}", worktree.path))
            .hint("`wardian worktree remove RUN --force` takes it away")
    };
    if Git::at(path).path(&["rev-parse", "--show-toplevel"])? != path {
        return Err(strange("it is not the uppermost folder of a worktree"));
    }
    if common_folder(path)? != common_folder(Path::new(&worktree.repo_root))? {
        return Err(strange(&format!("it is not a worktree of {}", worktree.repo_root)));
    }
    Ok(())
}

/// What stands in the folder now, as objects of the repository.
pub(super) fn snapshot(git: &Git) -> Result<Snapshot, GitError> {
    let room = tempfile::tempdir().map_err(GitError::Start)?;
    let index = room.path().join("index");
    let own = git.with_index(&index);
    let theirs: PathBuf =
        git.path(&["rev-parse", "--path-format=absolute", "--git-path", "index"])?;
    // With the copy git need not read the files that have not changed.
    if std::fs::copy(theirs, &index).is_err() {
        own.read(&["read-tree", "HEAD"])?;
    }
    own.read(&["add", "--all"])?;
    let tree = own.word(&["write-tree"])?;
    let head = git.word(&["rev-parse", "--verify", "HEAD^{commit}"])?;
    Ok(Snapshot { tree, head })
}

/// The files that two trees have different.
pub(super) fn compare(git: &Git, old: &str, new: &str) -> Result<Vec<ChangedFile>, GitError> {
    let listed = |what: &str| {
        git.read(&[
            "diff-tree",
            "-r",
            "-z",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            what,
            old,
            new,
        ])
    };
    Ok(parse::changed(&listed("--name-status")?, &listed("--numstat")?))
}

pub(super) fn names(git: &Git, old: &str, new: &str) -> Result<Vec<String>, GitError> {
    let args = ["diff-tree", "-r", "-z", "--no-renames", "--name-only", old, new];
    Ok(parse::names(&git.read(&args)?))
}

fn diff(git: &Git, old: &str, new: &str) -> Result<(Vec<u8>, bool), GitError> {
    let said = git.ask(&[
        "diff-tree",
        "-r",
        "-p",
        "-M",
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
        old,
        new,
    ])?;
    match said.code {
        0 => Ok((said.out, said.is_cut)),
        _ => Err(GitError::Failed { what: "diff-tree".to_owned(), said: said.talk }),
    }
}
