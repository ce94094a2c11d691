//! Takes the changes of a run elsewhere: into the checkout that it came from,
//! uncommitted unless a commit is asked for, or onto a branch. The merge is
//! made in the repository's store first, so that a conflict is known before a
//! file is touched; a path that somebody else has changed is refused; and
//! changes that are there already, however they came, are not made twice.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use runstore::{RunPlace, Worktree};
use serde_json::json;

use super::changes::{names, snapshot, sound};
use super::checkout::common_folder;
use super::git::Git;
use super::lease::{Asked, Lease};
use super::parse;
use crate::Host;
use crate::api::worktree::{Applied, ApplyRequest, ApplyTo};
use crate::api::{Code, HostError};
use crate::library::store;

/// Paths that a message names.
const NAMED: usize = 10;

/// Where the changes go.
enum Target {
    /// Into the files of a checkout.
    Folder(PathBuf),
    /// Onto a branch that is checked out nowhere.
    Branch(String),
}

/// The merge of the changes with what the target has.
struct Merge {
    /// The commit of the target.
    ours: String,
    tree: String,
    files: Vec<String>,
}

impl Host {
    /// Takes what the run has changed elsewhere.
    pub fn apply(&self, request: &ApplyRequest) -> Result<Applied, HostError> {
        self.refuse_managed_caller("apply changes")?;
        let place = self.find(&request.run)?;
        let worktree = self.worktree_of(&place)?;
        sound(self, &worktree)?;
        let _alone = self.take_alone(&place, &worktree)?;
        let target = self.target(request, &worktree)?;
        let git = match &target {
            Target::Folder(root) => Git::at(root),
            Target::Branch(_) => Git::at(&worktree.repo_root),
        };
        let now = snapshot(&Git::at(&worktree.path))?;
        let named = target.name();
        let mut applied = Applied {
            run_id: place.run.to_string(),
            target: named.clone(),
            files: names(&git, &worktree.base, &now.tree)?,
            commit: None,
            already: true,
        };
        let before = self.mark(&worktree).filter(|mark| mark.target == named);
        let is_done = before.as_ref().is_some_and(|mark| {
            mark.tree == now.tree && (mark.committed || request.commit.is_none())
        });
        if applied.files.is_empty() || is_done {
            return Ok(applied);
        }
        // What was applied before is where the rest begins, unless git has
        // thrown that away, or it is all there and only to be committed.
        let from = before.map(|mark| mark.tree).filter(|tree| *tree != now.tree);
        let is_known =
            |tree: &String| git.ask(&["cat-file", "-e", tree]).is_ok_and(|said| said.code == 0);
        let from = from.filter(is_known).unwrap_or_else(|| worktree.base.clone());
        let merge = merge(&git, &target, &worktree, &from, &now.tree)?;
        if !merge.files.is_empty() {
            let message = request.commit.as_deref();
            (applied.already, applied.commit) = match &target {
                Target::Folder(_) => into_folder(&git, &merge, message)?,
                Target::Branch(branch) => {
                    (false, Some(onto_branch(&git, &merge, branch, message)?))
                }
            };
        }
        // Without files to change, a commit of the target has them all.
        let committed = applied.commit.is_some() || merge.files.is_empty();
        self.note_applied(&worktree, &now.tree, &named, committed)?;
        Ok(applied)
    }

    /// The worktree for oneself, once its runs are over.
    pub(super) fn take_alone(
        &self,
        place: &RunPlace,
        worktree: &Worktree,
    ) -> Result<Lease, HostError> {
        let open = |run: &str| {
            HostError::new(
                Code::RunOpen,
                format!("run {run} is not over, and works in the worktree"),
            )
            .hint(format!("`wardian run watch {run}` waits for its end"))
        };
        if let Some(run) = self.open_run_in(place, worktree)? {
            return Err(open(&run));
        }
        match self.alone_soon(worktree)? {
            Asked::Got(lease) => Ok(lease),
            Asked::Busy => Err(open(place.run.as_str())),
            Asked::Absent => {
                let message = format!("nothing is known of the worktree {}", worktree.path);
                Err(HostError::new(Code::NoWorktree, message))
            }
        }
    }

    fn target(&self, request: &ApplyRequest, worktree: &Worktree) -> Result<Target, HostError> {
        let root = PathBuf::from(&worktree.repo_root);
        match &request.to {
            ApplyTo::Origin => Ok(Target::Folder(root)),
            ApplyTo::Here => {
                let here = &self.config.current_dir;
                let found = super::checkout::find(here).map_err(|unfit| {
                    let message = format!("{}: {}", here.display(), unfit.why());
                    HostError::new(Code::InvalidRequest, message)
                        .hint("go to a checkout of the repository, or leave --here out")
                })?;
                if common_folder(&found.root)? != common_folder(&root)? {
                    let message = format!(
                        "{} is not a checkout of the repository of {}",
                        found.root.display(),
                        root.display()
                    );
                    return Err(HostError::new(Code::InvalidRequest, message)
                        .hint("go to one, or leave --here out"));
                }
                Ok(Target::Folder(found.root))
            }
            ApplyTo::Branch(branch) => branch_target(&root, branch, request.commit.is_some()),
        }
    }
}

impl Target {
    fn name(&self) -> String {
        match self {
            Self::Folder(root) => root.display().to_string(),
            Self::Branch(branch) => format!("refs/heads/{branch}"),
        }
    }
}

/// A branch that the checkout is at means the checkout.
fn branch_target(root: &Path, branch: &str, commits: bool) -> Result<Target, HostError> {
    let git = Git::at(root);
    let full = format!("refs/heads/{branch}");
    if git.ask(&["rev-parse", "--quiet", "--verify", &format!("{full}^{{commit}}")])?.code != 0 {
        let message = format!("there is no branch `{branch}` in {}", root.display());
        return Err(HostError::new(Code::InvalidRequest, message)
            .hint("name a branch that exists, such as one of `git branch`"));
    }
    let list = git.read(&["worktree", "list", "--porcelain", "-z"])?;
    match parse::checked_out(&list, branch) {
        Some(at) if Path::new(&at) == root => Ok(Target::Folder(root.to_owned())),
        Some(at) => Err(HostError::new(
            Code::InvalidRequest,
            format!("the branch `{branch}` is checked out in {at}"),
        )
        .hint("go there and use --here")),
        None if commits => Ok(Target::Branch(branch.to_owned())),
        None => Err(HostError::new(
            Code::InvalidRequest,
            format!("`{branch}` is checked out nowhere, so changes can only be committed to it"),
        )
        .hint("add --commit -m MESSAGE")),
    }
}

/// Merges in the store. No file and no branch is touched.
fn merge(
    git: &Git,
    target: &Target,
    worktree: &Worktree,
    from: &str,
    tree: &str,
) -> Result<Merge, HostError> {
    let own = git.in_own_name();
    let means = ["commit-tree", "-m", "wardian", "-p", &worktree.base];
    let commit = |tree: &str| own.word(&[&means[..], &[tree]].concat());
    let from = if from == worktree.base { from.to_owned() } else { commit(from)? };
    let theirs = commit(tree)?;
    let head = match target {
        Target::Folder(_) => "HEAD^{commit}".to_owned(),
        Target::Branch(branch) => format!("refs/heads/{branch}^{{commit}}"),
    };
    let ours = git.word(&["rev-parse", "--verify", &head])?;
    let base = format!("--merge-base={from}");
    let said = git.ask(&[
        "merge-tree",
        "--write-tree",
        "-z",
        "--name-only",
        "--no-messages",
        &base,
        &ours,
        &theirs,
    ])?;
    let merged = if said.code > 1 { None } else { parse::merged(&said.out) };
    let Some((tree, conflicts)) = merged else {
        let message = format!("git cannot merge the changes: {}", said.talk.trim());
        return Err(HostError::new(Code::Git, message).hint("git 2.40 or newer is needed for this"));
    };
    if !conflicts.is_empty() || said.code == 1 {
        let message = format!(
            "the changes do not go together with {}: {}",
            target.name(),
            listed(&conflicts)
        );
        return Err(HostError::new(Code::DoesNotApply, message)
            .hint(format!(
                "nothing was changed; commit in {} and merge the branch {} by hand",
                worktree.path, worktree.branch
            ))
            .details(json!({ "files": conflicts })));
    }
    let files = names(git, &ours, &tree)?;
    Ok(Merge { ours, tree, files })
}

/// Writes the merge into the files of a checkout; says whether it was there
/// already, and the commit that was made.
fn into_folder(
    git: &Git,
    merge: &Merge,
    message: Option<&str>,
) -> Result<(bool, Option<String>), HostError> {
    if message.is_some() {
        may_commit(git)?;
    }
    let found = touched_now(git, merge)?;
    let is_there = found == merge.tree;
    if !is_there {
        refuse_dirty(git, merge, &found)?;
        let room = tempfile::tempdir().map_err(|fault| store(&fault))?;
        let patch = room.path().join("patch").display().to_string();
        let output = format!("--output={patch}");
        let args = ["diff-tree", "-r", "-p", "--binary", "--full-index", "--no-renames"];
        let plain = ["--no-ext-diff", "--no-textconv", "--no-color"];
        git.read(&[&args[..], &plain, &[&output, &merge.ours, &merge.tree]].concat())?;
        let apply = ["apply", "--whitespace=nowarn"];
        git.read(&[&apply[..], &["--check", &patch]].concat())?;
        git.read(&[&apply[..], &[&patch]].concat())?;
    }
    let Some(message) = message else { return Ok((is_there, None)) };
    let paths: Vec<u8> =
        merge.files.iter().flat_map(|path| [path.as_bytes(), b"\0"].concat()).collect();
    let by_file = ["--pathspec-from-file=-", "--pathspec-file-nul"];
    let committed = git
        .feed(&[&["add", "--all", "--force"], &by_file[..]].concat(), &paths)
        .and_then(|_| {
            let commit = ["commit", "--quiet", "--no-verify", "--only", "-m", message];
            git.feed(&[&commit[..], &by_file].concat(), &paths)
        })
        .and_then(|_| git.word(&["rev-parse", "HEAD"]));
    let commit = committed.map_err(|fault| {
        let fault = HostError::from(fault);
        let message = format!("the changes are in the files and not committed: {}", fault.message);
        HostError::new(Code::Git, message).hint("mend what git names, then commit them yourself")
    })?;
    Ok((false, Some(commit)))
}

/// The target's commit with what its files hold at the paths of the merge.
fn touched_now(git: &Git, merge: &Merge) -> Result<String, HostError> {
    let room = tempfile::tempdir().map_err(|fault| store(&fault))?;
    let own = git.with_index(&room.path().join("index"));
    own.read(&["read-tree", &merge.ours])?;
    let paths: Vec<u8> =
        merge.files.iter().flat_map(|path| [path.as_bytes(), b"\0"].concat()).collect();
    let args = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
    own.feed(&args, &paths)?;
    Ok(own.word(&["write-tree"])?)
}

/// Changes of others, in the files or in the index, at the paths of the
/// merge.
fn refuse_dirty(git: &Git, merge: &Merge, found: &str) -> Result<(), HostError> {
    let staged = git.read(&["diff-index", "--cached", "-z", "--name-only", &merge.ours])?;
    let staged: BTreeSet<String> = parse::names(&staged).into_iter().collect();
    let mut dirty: BTreeSet<String> = names(git, &merge.ours, found)?.into_iter().collect();
    dirty.extend(merge.files.iter().filter(|path| staged.contains(*path)).cloned());
    if dirty.is_empty() {
        return Ok(());
    }
    let dirty: Vec<String> = dirty.into_iter().collect();
    let message =
        format!("the checkout has changes of its own in the same files: {}", listed(&dirty));
    Err(HostError::new(Code::DirtyTarget, message)
        .hint("nothing was changed; commit or stash them, then run the command again")
        .details(json!({ "files": dirty })))
}

/// What a commit needs is asked before a file is touched.
fn may_commit(git: &Git) -> Result<(), HostError> {
    if git.ask(&["var", "GIT_COMMITTER_IDENT"])?.code != 0 {
        return Err(HostError::new(Code::InvalidRequest, "git does not know who commits")
            .hint("set user.name and user.email with `git config`, or leave --commit out"));
    }
    if git.ask(&["rev-parse", "--quiet", "--verify", "MERGE_HEAD"])?.code == 0 {
        return Err(HostError::new(Code::InvalidRequest, "a merge is under way in the checkout")
            .hint("end the merge, or leave --commit out"));
    }
    Ok(())
}

/// A new commit on a branch, unless the branch has moved meanwhile.
fn onto_branch(
    git: &Git,
    merge: &Merge,
    branch: &str,
    message: Option<&str>,
) -> Result<String, HostError> {
    may_commit(git)?;
    let message = message.unwrap_or("changes of a run");
    let commit = git.word(&["commit-tree", "-m", message, "-p", &merge.ours, &merge.tree])?;
    git.read(&["update-ref", &format!("refs/heads/{branch}"), &commit, &merge.ours])?;
    Ok(commit)
}

/// Some paths, for a message.
pub(super) fn listed(paths: &[String]) -> String {
    let more = paths.len().saturating_sub(NAMED);
    let shown = paths.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}
