//! Where a run works: in a checkout that it shares, or in a git worktree of
//! its own, from which its changes are taken home when a person says so.
//!
//! A worktree is made in this order, each step durable before the next:
//! first its record beside it in the home, locked by the command that
//! launches; then git makes branch and folder, holding the same lock; then
//! the run is published, with the worktree in its `invocation.json`; then the
//! run gets its worker, which joins in the lock. A process that dies on the
//! way leaves nothing, or a record without a run, which `worktree list` shows
//! as an orphan and `recover` removes with all that git made: the record
//! comes first so that nothing can be there that it does not name, and the
//! run comes after the folder so that no run stands without the place it
//! works in. Removal goes the other way round: git's part, the folder, the
//! branch, and the record last.

mod apply;
mod busy;
mod changes;
mod checkout;
mod git;
mod lease;
mod parse;
mod remove;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use blueprint::{Kind, Mode, Program, Workspace};
use durable::Digest;
use runstore::{Invocation, RunPlace, ScriptFile, SharedCheckout, Worktree};

use crate::Host;
use crate::api::worktree::Isolation;
use crate::api::{Code, HostError};
use checkout::{Checkout, Unfit};
use git::Git;
use lease::{Asked, Lease};

pub(crate) use busy::Shared;

/// A bad word about a worktree that is only a default.
const SHARED_INSTEAD: &str = "the run works in the checkout itself";

/// Where a run is to work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wish {
    isolation: Isolation,
    /// Somebody said so; else it is the default.
    is_asked: bool,
}

/// Where a run is to work, as far as it can be known before the run has a
/// name.
#[derive(Debug, Default)]
pub(crate) struct Ground {
    /// Make a worktree of this.
    fresh: Option<Checkout>,
    /// Write to this checkout, which others may use.
    shared: Option<PathBuf>,
    /// What a person should know.
    pub(crate) notes: Vec<String>,
}

/// What a run stands on while it is launched or has an owner.
#[derive(Debug, Default)]
pub(crate) struct Standing {
    lease: Option<Lease>,
    shared: Option<Shared>,
    made: Option<Worktree>,
}

/// What was asked for by the command, else by the author, or else what is
/// prudent: a run whose agents are given tasks may write, and then the
/// checkout is left alone.
pub(crate) fn wanted(flag: Option<Isolation>, key: Option<Workspace>, may_write: bool) -> Wish {
    let key = key.map(|workspace| match workspace {
        Workspace::Shared => Isolation::Shared,
        Workspace::Worktree => Isolation::Worktree,
    });
    let asked = flag.or(key);
    let default = if may_write { Isolation::Worktree } else { Isolation::Shared };
    Wish { isolation: asked.unwrap_or(default), is_asked: asked.is_some() }
}

/// Whether an agent may write: in this graph, or in one that it runs.
pub(crate) fn may_write(program: &Program, others: &[(String, Vec<u8>)]) -> bool {
    let has_task = |program: &Program| {
        program.nodes().iter().any(
            |node| matches!(&node.kind, Kind::Task { terms, .. } if terms.mode != Some(Mode::Plan)),
        )
    };
    let others = others.iter().filter_map(|(_, bytes)| Program::from_snapshot(bytes).ok());
    has_task(program) || others.into_iter().any(|program| has_task(&program))
}

impl Host {
    /// Looks at the workspace of a new run. Nothing is made.
    pub(crate) fn ground(
        &self,
        wish: Wish,
        may_write: bool,
        workspace: &Path,
    ) -> Result<Ground, HostError> {
        let is_wanted = wish.isolation == Isolation::Worktree;
        if !is_wanted && !may_write {
            return Ok(Ground::default());
        }
        let (root, why) = match checkout::find(workspace) {
            Ok(found) if is_wanted => {
                let notes = dirty_note(&found.root).into_iter().collect();
                return Ok(Ground { fresh: Some(found), shared: None, notes });
            }
            Ok(found) => (Some(found.root), None),
            Err(Unfit::NoCheckout) if !wish.is_asked => (None, None),
            Err(unfit) => {
                let why = unfit.why();
                let root = if let Unfit::Checkout { root, .. } = unfit { Some(root) } else { None };
                (root, Some(why))
            }
        };
        let notes = match why {
            Some(why) if is_wanted && wish.is_asked => return Err(no_worktree(workspace, &why)),
            Some(why) if is_wanted => {
                vec![format!("no worktree: {why}; {SHARED_INSTEAD}")]
            }
            Some(_) | None => Vec::new(),
        };
        Ok(Ground { fresh: None, shared: root.filter(|_| may_write), notes })
    }

    /// The ground of a run that goes on from the commit at which another
    /// began, in a new worktree.
    pub(crate) fn ground_anew(&self, old: &Invocation) -> Result<Ground, HostError> {
        let Some(worktree) = &old.worktree else { return Ok(Ground::again(old)) };
        let root = PathBuf::from(&worktree.repo_root);
        let gone = |why: &str| {
            HostError::new(Code::NoWorktree, format!("{}: {why}", worktree.repo_root))
                .hint("`wardian automation exec FILE` starts anew")
        };
        let known =
            Git::at(&root).ask(&["cat-file", "-e", &format!("{}^{{commit}}", worktree.base)])?;
        if known.code != 0 {
            return Err(gone("the commit that the run began at is not there any more"));
        }
        let inside = Path::new(&worktree.original_cwd).strip_prefix(&root);
        let inside = inside.map_err(|_| gone("the workspace is not in it"))?.to_owned();
        let fresh = Some(Checkout { root, inside, head: worktree.base.clone() });
        Ok(Ground { fresh, ..Ground::default() })
    }

    /// Makes the ground under a run that is about to be created, and writes
    /// into its invocation where that is.
    pub(crate) fn break_ground(
        &self,
        place: &RunPlace,
        invocation: &mut Invocation,
        ground: &Ground,
    ) -> Result<Standing, HostError> {
        if let Some(checkout) = &ground.fresh {
            let (lease, worktree) = self.make_worktree(place, checkout)?;
            let old = invocation.worktree.take().map(|old| old.path);
            let roots: Vec<PathBuf> = old.into_iter().map(PathBuf::from).collect();
            pin_inside(invocation, &worktree, &roots);
            invocation.workspace = Some(worktree.target_cwd.clone());
            invocation.worktree = Some(Box::new(worktree.clone()));
            invocation.checkout = None;
            return Ok(Standing { lease: Some(lease), shared: None, made: Some(worktree) });
        }
        let shared = ground.shared.as_ref().map(|root| {
            let root = root.display().to_string();
            Box::new(SharedCheckout { root, family: place.run.to_string() })
        });
        invocation.checkout = shared;
        let standing = self.stand_on(invocation)?;
        if let Some(shared) = &standing.shared {
            shared.enter().map_err(|refused| shared.error(&refused))?;
        }
        Ok(standing)
    }

    /// What the owner of a run holds: its part in the worktree, or in the
    /// checkout. Of the latter nothing is taken yet.
    pub(crate) fn stand_on(&self, invocation: &Invocation) -> Result<Standing, HostError> {
        let mut standing = Standing::default();
        if let Some(worktree) = &invocation.worktree {
            let gone = |why: &str| {
                HostError::new(Code::NoWorktree, format!("the worktree {}: {why}", worktree.path))
                    .hint("`wardian run fork RUN --from N` goes on in a new one")
            };
            // Whoever only looks at it is done in a moment.
            match self.ask_patiently(|| Lease::join(worktree))? {
                Asked::Got(lease) => standing.lease = Some(lease),
                Asked::Busy => {
                    return Err(gone("its changes are being taken elsewhere").hint("try again"));
                }
                Asked::Absent => return Err(gone("it was removed")),
            }
            if !Path::new(&worktree.target_cwd).is_dir() {
                return Err(gone("its folder is not there any more"));
            }
        }
        if let Some(checkout) = &invocation.checkout {
            standing.shared = Some(Shared::new(self, checkout)?);
        }
        Ok(standing)
    }

    /// Takes back what was made for a run that did not come to be.
    pub(crate) fn unsettle(&self, standing: Standing) {
        let Standing { lease, made, .. } = standing;
        drop(lease);
        if let Some(worktree) = made {
            // What cannot be removed is an orphan, and found by `recover`.
            drop(self.discard(&worktree));
        }
    }

    fn make_worktree(
        &self,
        place: &RunPlace,
        checkout: &Checkout,
    ) -> Result<(Lease, Worktree), HostError> {
        let path = place.worktree();
        let text = |path: &Path| path.display().to_string();
        let worktree = Worktree {
            repo_root: text(&checkout.root),
            path: text(&path),
            branch: branch_name(place.blueprint.as_str(), place.run.as_str()),
            base: checkout.head.clone(),
            original_cwd: text(&below(&checkout.root, &checkout.inside)),
            target_cwd: text(&below(&path, &checkout.inside)),
        };
        lease::refuse_links(self, &path)?;
        let git = Git::at(&checkout.root);
        let full = format!("refs/heads/{}", worktree.branch);
        if git.ask(&["rev-parse", "--quiet", "--verify", &full])?.code == 0 {
            let message = format!("the branch {} exists already", worktree.branch);
            return Err(HostError::new(Code::Conflict, message)
                .hint("run the command again; each run has a branch of its own name"));
        }
        let lease = self.announce(place, &worktree)?;
        let add = [
            "worktree",
            "add",
            "--quiet",
            "--no-track",
            "-b",
            &worktree.branch,
            &worktree.path,
            &worktree.base,
        ];
        let made = git.holding(lease.file(), &add).map_err(HostError::from).and_then(|()| {
            let is_there = Path::new(&worktree.target_cwd).is_dir();
            is_there.then_some(()).ok_or_else(|| {
                no_worktree(Path::new(&worktree.original_cwd), "the folder is not in the commit")
            })
        });
        if let Err(fault) = made {
            drop(lease);
            drop(self.discard(&worktree));
            return Err(fault.or_hint("`--isolation shared` works in the checkout itself"));
        }
        Ok((lease, worktree))
    }
}

impl Ground {
    /// That of a run which is tried again: the same place.
    pub(crate) fn again(old: &Invocation) -> Self {
        let shared = old.checkout.as_ref().map(|checkout| PathBuf::from(&checkout.root));
        Self { fresh: None, shared, notes: Vec::new() }
    }
}

impl Standing {
    /// The part in the checkout, for those who write; and what is held until
    /// the run's owner leaves.
    pub(crate) fn parts(self) -> (Option<Shared>, Option<Lease>) {
        (self.shared, self.lease)
    }
}

/// A folder itself has no end that a path to what is in it would have.
fn below(folder: &Path, inside: &Path) -> PathBuf {
    if inside.as_os_str().is_empty() { folder.to_owned() } else { folder.join(inside) }
}

fn no_worktree(workspace: &Path, why: &str) -> HostError {
    let message = format!("{} cannot have a worktree: {why}", workspace.display());
    HostError::new(Code::NoWorktree, message)
        .hint("commit first, or work in the folder itself with `--isolation shared`")
}

fn dirty_note(root: &Path) -> Option<String> {
    let count = checkout::dirty(root).filter(|count| *count > 0)?;
    let (noun, verb) = if count == 1 { ("path", "is") } else { ("paths", "are") };
    Some(format!(
        "{count} {noun} of {} that {verb} not committed {verb} not in the run's worktree",
        root.display()
    ))
}

/// Ids are safe as names of files; of branches git asks a little more.
fn branch_name(blueprint: &str, run: &str) -> String {
    let part = |id: &str| {
        let id = id.replace("..", "--");
        let cut = if id.ends_with(".lock") { ".lock" } else { "." };
        match id.strip_suffix(cut) {
            Some(rest) => format!("{rest}{}", cut.replace('.', "-")),
            None => id,
        }
    };
    format!("wardian/{}/{}", part(blueprint), part(run))
}

/// Script files that lie in the checkout are run from the worktree, so that
/// what they do beside themselves stays there. One that is not committed is
/// run from where it was found.
fn pin_inside(invocation: &mut Invocation, worktree: &Worktree, also: &[PathBuf]) {
    let mut roots = also.to_vec();
    roots.push(PathBuf::from(&worktree.repo_root));
    let pin = |scripts: &mut BTreeMap<String, ScriptFile>| {
        for script in scripts.values_mut() {
            let inside =
                roots.iter().find_map(|root| Path::new(&script.file).strip_prefix(root).ok());
            let Some(inside) = inside else { continue };
            let file = Path::new(&worktree.path).join(inside);
            if let Ok(bytes) = std::fs::read(&file) {
                let file = file.display().to_string();
                *script = ScriptFile { file, digest: Digest::of(&bytes) };
            }
        }
    };
    pin(&mut invocation.scripts);
    invocation.automations.values_mut().for_each(|automation| pin(&mut automation.scripts));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_run_that_may_write_gets_a_worktree_unless_somebody_says_otherwise() {
        let got = |flag, key, may_write| {
            let wish = wanted(flag, key, may_write);
            (wish.isolation, wish.is_asked)
        };
        let (shared, apart) = (Isolation::Shared, Isolation::Worktree);
        assert_eq!(got(None, None, true), (apart, false));
        assert_eq!(got(None, None, false), (shared, false));
        assert_eq!(got(Some(shared), None, true), (shared, true));
        assert_eq!(got(Some(apart), None, false), (apart, true));
        assert_eq!(got(None, Some(Workspace::Shared), true), (shared, true));
        assert_eq!(got(None, Some(Workspace::Worktree), false), (apart, true));
        assert_eq!(got(Some(shared), Some(Workspace::Worktree), true), (shared, true));
    }

    #[test]
    fn names_of_branches_are_those_of_runs() {
        assert_eq!(branch_name("fix", "1-ab"), "wardian/fix/1-ab");
        assert_eq!(branch_name("a..b.lock", "x."), "wardian/a--b-lock/x-");
    }

    proptest! {
        #[test]
        fn every_id_makes_a_name_that_git_allows(id in "[A-Za-z0-9][A-Za-z0-9._-]{0,20}") {
            let name = branch_name(&id, &id);
            prop_assert!(!name.contains(".."));
            for part in name.split('/') {
                prop_assert!(!part.ends_with('.') && !part.ends_with(".lock"), "{}", name);
            }
        }
    }
}
