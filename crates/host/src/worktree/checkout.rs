//! What a folder is to git: the checkout around it, the commit it is at, and
//! whether a worktree can be made from there. It only looks.

use std::path::{Path, PathBuf};

use super::git::{Git, GitError};

/// A checkout from which a worktree can be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Checkout {
    /// Its uppermost folder.
    pub(super) root: PathBuf,
    /// Where the folder that was asked about lies in it.
    pub(super) inside: PathBuf,
    pub(super) head: String,
}

/// Why there is no worktree to be had.
#[derive(Debug)]
pub(super) enum Unfit {
    /// The folder is in no checkout.
    NoCheckout,
    /// It is in this one, which allows none.
    Checkout { root: PathBuf, why: String },
    /// Git does not say what it is.
    Unknown(String),
}

impl Unfit {
    pub(super) fn why(&self) -> String {
        match self {
            Self::NoCheckout => "it is not in a git checkout".to_owned(),
            Self::Checkout { why, .. } | Self::Unknown(why) => why.clone(),
        }
    }
}

/// The checkout around a folder. Where nothing looks like git, git is not
/// even started.
pub(super) fn find(folder: &Path) -> Result<Checkout, Unfit> {
    if !folder.ancestors().any(looks_like_git) {
        return Err(Unfit::NoCheckout);
    }
    let git = Git::at(folder);
    let said = git.word(&["rev-parse", "--is-bare-repository", "--is-inside-work-tree"]);
    match said.map_err(unknown)?.split_whitespace().collect::<Vec<_>>()[..] {
        [_, "true"] => {}
        ["true", _] => return Err(Unfit::Unknown("the repository is bare".to_owned())),
        _ => return Err(Unfit::Unknown("it is inside a git folder".to_owned())),
    }
    let root = git.path(&["rev-parse", "--show-toplevel"]).map_err(unknown)?;
    let unfit = |why: &str| Unfit::Checkout { root: root.clone(), why: why.to_owned() };
    let Ok(inside) = folder.strip_prefix(&root).map(Path::to_owned) else {
        return Err(unfit("git names another folder as its checkout"));
    };
    if root.to_str().is_none() || inside.to_str().is_none() {
        return Err(unfit("its path is not UTF-8"));
    }
    let head = git.ask(&["rev-parse", "--quiet", "--verify", "HEAD^{commit}"]).map_err(unknown)?;
    if head.code != 0 {
        return Err(unfit("the checkout has no commit yet"));
    }
    let head = String::from_utf8_lossy(&head.out).trim().to_owned();
    if !inside.as_os_str().is_empty() {
        let named = format!("{head}:{}", inside.display());
        let kind = git.ask(&["cat-file", "-t", &named]).map_err(unknown)?;
        if kind.code != 0 || kind.out != b"tree\n" {
            return Err(unfit("the folder is not in the last commit"));
        }
    }
    Ok(Checkout { root, inside, head })
}

/// How many paths of the checkout differ from its commit, if git says so.
pub(super) fn dirty(root: &Path) -> Option<usize> {
    let status = Git::at(root).ask(&["status", "--porcelain=v1", "-z", "--no-renames"]).ok()?;
    (status.code == 0).then(|| super::parse::records(&status.out).count())
}

/// The folder in which the repository keeps what all its checkouts share.
pub(super) fn common_folder(at: &Path) -> Result<PathBuf, GitError> {
    let path = Git::at(at).path(&["rev-parse", "--git-common-dir"])?;
    let path = at.join(path);
    Ok(std::fs::canonicalize(&path).unwrap_or(path))
}

/// A checkout, a linked one, or a bare repository.
fn looks_like_git(folder: &Path) -> bool {
    let has = |name: &str| std::fs::symlink_metadata(folder.join(name)).is_ok();
    has(".git") || (has("HEAD") && has("objects"))
}

fn unknown(fault: GitError) -> Unfit {
    Unfit::Unknown(crate::api::HostError::from(fault).message)
}
