//! How worktrees stand, and their going. Whatever holds changes that are
//! nowhere else stays until a person says that it may go.

use std::path::Path;
use std::time::Duration;

use durable::disk::Kind;
use engine::RunStatus;
use runstore::{OpenError, RunPlace, Worktree};
use serde_json::json;

use super::apply::listed;
use super::changes::{names, snapshot, sound};
use super::checkout::common_folder;
use super::git::Git;
use super::lease::{Asked, Lease, Record, is_meant, refuse_links};
use crate::Host;
use crate::api::worktree::{WorktreeRemoved, WorktreeRow, WorktreeState};
use crate::api::{Code, HostError, Recovered, RecoveryAction};
use crate::library::store;

/// Runs that try others again, one after the other, in one worktree.
const RETRIES_MAX: usize = 10_000;

/// How long an owner that has ended its run may take to leave, and how often
/// that is looked for.
const LEAVES_WITHIN: Duration = Duration::from_secs(15);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What a worktree holds.
enum Content {
    Empty,
    Merged,
    /// Paths that are changed and nowhere else.
    Kept(Vec<String>),
}

impl Host {
    /// Every worktree of the home.
    pub fn worktrees(&self) -> Result<Vec<WorktreeRow>, HostError> {
        let (records, _) = self.records();
        Ok(records.into_iter().filter_map(|record| self.row_of(record)).collect())
    }

    /// Removes a worktree: folder, git's own files about it, and branch. One
    /// with changes that are nowhere else only by force.
    pub fn remove_worktree(&self, query: &str, force: bool) -> Result<WorktreeRemoved, HostError> {
        self.refuse_managed_caller("remove a worktree")?;
        let record = self.meant(query)?;
        let worktree = &record.worktree;
        let place = record.place(self);
        let _alone = match &place {
            Some(place) if self.has_run(place)? => self.take_alone(place, worktree)?,
            Some(_) | None => match Lease::alone(worktree).map_err(|fault| store(&fault))? {
                Asked::Got(lease) => lease,
                Asked::Busy | Asked::Absent => {
                    let message =
                        format!("the worktree {} is being made or removed", worktree.path);
                    return Err(HostError::new(Code::RunBusy, message));
                }
            },
        };
        if !force {
            self.refuse_unmerged(&record)?;
        }
        let _guard = self.work_alone(&format!("worktree remove {}", record.run))?;
        self.discard(worktree)?;
        Ok(WorktreeRemoved {
            run_id: record.run.clone(),
            path: worktree.path.clone().into(),
            branch: worktree.branch.clone(),
        })
    }

    /// After a run that ended well: a worktree that holds nothing of its own
    /// goes by itself.
    pub(crate) fn clear_worktree(&self, worktree: &Worktree) {
        let Some(record) = self.record_of(worktree) else { return };
        let Some(place) = record.place(self) else { return };
        let is_open = self.open_run_in(&place, worktree).map_or(true, |run| run.is_some());
        let Ok(Asked::Got(_alone)) = Lease::alone(worktree) else { return };
        if !is_open && matches!(self.content(worktree), Ok(Content::Empty | Content::Merged)) {
            // What is left is listed, and can be removed by name.
            drop(self.discard(worktree));
        }
    }

    /// The same for a run of which only the place is known.
    pub(crate) fn clear_worktree_of(&self, place: &RunPlace) {
        let invocation = self.invocation_of(place).ok();
        let own = invocation.filter(|invocation| invocation.works_for.is_none());
        if let Some(worktree) = own.and_then(|invocation| invocation.worktree) {
            self.clear_worktree(&worktree);
        }
    }

    /// Whether a run's worktree is still there.
    pub(crate) fn keeps_worktree(&self, place: &RunPlace) -> bool {
        let invocation = self.invocation_of(place).ok();
        let worktree = invocation.and_then(|invocation| invocation.worktree);
        worktree.is_some_and(|worktree| self.record_of(&worktree).is_some())
    }

    /// Removes worktrees whose run never came to be. One that holds changes
    /// is left, since somebody may have removed its run.
    pub(crate) fn sweep_worktrees(&self) -> Result<Vec<Recovered>, HostError> {
        let (records, unborn) = self.records();
        for path in unborn {
            self.sweep_unborn(&path);
        }
        let mut swept = Vec::new();
        for record in records {
            let Some(place) = record.place(self) else { continue };
            let worktree = &record.worktree;
            if self.has_run(&place)? {
                continue;
            }
            let Asked::Got(_alone) = Lease::alone(worktree).map_err(|fault| store(&fault))? else {
                continue;
            };
            // Its creator published the run and let go in between.
            if self.has_run(&place)? {
                continue;
            }
            let removed =
                if is_unfinished(worktree) { Ok(()) } else { self.refuse_unmerged(&record) };
            let action = match removed.and_then(|()| self.discard(worktree)) {
                Ok(()) => RecoveryAction::WorktreeRemoved,
                Err(HostError { code, message, hint, .. }) => {
                    RecoveryAction::Left { code, why: message, hint }
                }
            };
            swept.push(Recovered { run_id: record.run.clone(), action });
        }
        Ok(swept)
    }

    /// A run that is not over and works in the worktree: the one that it was
    /// made for, or one that tries that again.
    pub(super) fn open_run_in(
        &self,
        place: &RunPlace,
        worktree: &Worktree,
    ) -> Result<Option<String>, HostError> {
        let owner = self.record_of(worktree).and_then(|record| record.place(self));
        let mut look: Vec<RunPlace> = owner.into_iter().chain([place.clone()]).collect();
        let mut seen = 0;
        while let Some(place) = look.pop() {
            seen += 1;
            if seen > RETRIES_MAX {
                break;
            }
            match runstore::list::summary(&*self.disk, &place) {
                Ok(summary) if !is_over(summary.status) => return Ok(Some(place.run.to_string())),
                Ok(_) => {}
                Err(OpenError::NoRun { .. }) => continue,
                // One that cannot be read may be open, and has no owner.
                Err(_) if self.is_owned(&place)? => return Ok(Some(place.run.to_string())),
                Err(_) => {}
            }
            let retries =
                runstore::retries::list(&*self.disk, &place).map_err(|fault| store(&fault))?;
            look.extend(retries.iter().map(|run| self.home.place(&place.blueprint, run)));
        }
        Ok(None)
    }

    /// Takes a worktree away. Every step may have been done before.
    pub(super) fn discard(&self, worktree: &Worktree) -> Result<(), HostError> {
        let (root, path) = (Path::new(&worktree.repo_root), Path::new(&worktree.path));
        refuse_links(self, path)?;
        if root.is_dir() {
            let git = Git::at(root);
            // Twice: also one that git holds to be locked. What git knows
            // nothing of is removed below.
            git.ask(&["worktree", "remove", "--force", "--force", &worktree.path])?;
        }
        match std::fs::remove_dir_all(path) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(store(&error)),
        }
        if root.is_dir() {
            remove_leftovers(root, path);
            let git = Git::at(root);
            let full = format!("refs/heads/{}", worktree.branch);
            if git.ask(&["rev-parse", "--quiet", "--verify", &full])?.code == 0 {
                // One that somebody has checked out elsewhere is theirs now,
                // and git refuses to remove it.
                git.ask(&["branch", "--quiet", "-D", "--", &worktree.branch])?;
            }
        }
        self.forget(worktree)
    }

    /// `None` for one that has just gone by itself.
    fn row_of(&self, record: Record) -> Option<WorktreeRow> {
        let (state, fault) = match self.state_of(&record) {
            Ok(state) => (state?, None),
            Err(fault) => (WorktreeState::Kept, Some(fault.message)),
        };
        let Record { run: run_id, blueprint: blueprint_id, worktree, .. } = record;
        Some(WorktreeRow { run_id, blueprint_id, worktree, state, fault })
    }

    fn state_of(&self, record: &Record) -> Result<Option<WorktreeState>, HostError> {
        let worktree = &record.worktree;
        let Some(place) = record.place(self) else { return Ok(None) };
        if !self.has_run(&place)? {
            let asked = Lease::alone(worktree).map_err(|fault| store(&fault))?;
            return Ok(match asked {
                Asked::Busy => Some(WorktreeState::Active),
                Asked::Got(_) => Some(WorktreeState::Orphan),
                Asked::Absent => None,
            });
        }
        if self.open_run_in(&place, worktree)?.is_some() {
            return Ok(Some(WorktreeState::Active));
        }
        let _alone = match self.alone_soon(worktree)? {
            Asked::Busy => return Ok(Some(WorktreeState::Active)),
            Asked::Absent => return Ok(None),
            Asked::Got(lease) => lease,
        };
        Ok(Some(match self.content(worktree)? {
            Content::Empty => WorktreeState::Empty,
            Content::Merged => WorktreeState::Merged,
            Content::Kept(_) => WorktreeState::Kept,
        }))
    }

    /// The worktree for oneself, when its runs are over. An owner that has
    /// just ended its run may still be looking what it leaves behind.
    pub(super) fn alone_soon(&self, worktree: &Worktree) -> Result<Asked, HostError> {
        self.ask_patiently(|| Lease::alone(worktree))
    }

    pub(super) fn ask_patiently(
        &self,
        ask: impl Fn() -> std::io::Result<Asked>,
    ) -> Result<Asked, HostError> {
        let mut left = LEAVES_WITHIN;
        loop {
            let asked = ask().map_err(|fault| store(&fault))?;
            if !matches!(asked, Asked::Busy) || left.is_zero() {
                return Ok(asked);
            }
            self.processes.pause(LOOK_EVERY);
            left = left.saturating_sub(LOOK_EVERY);
        }
    }

    fn content(&self, worktree: &Worktree) -> Result<Content, HostError> {
        if !Path::new(&worktree.path).exists() {
            return Ok(Content::Empty);
        }
        sound(self, worktree)?;
        let git = Git::at(&worktree.path);
        let now = snapshot(&git)?;
        if self.mark(worktree).is_some_and(|mark| mark.tree == now.tree) {
            return Ok(Content::Merged);
        }
        let full = format!("refs/heads/{}", worktree.branch);
        let has_branch = git.ask(&["rev-parse", "--quiet", "--verify", &full])?.code == 0;
        let tips: Vec<&str> =
            [Some("HEAD"), has_branch.then_some(&*full)].into_iter().flatten().collect();
        let count = |not: &[&str]| {
            let args =
                [&["rev-list", "--count"], &tips[..], &["--not", &worktree.base], not].concat();
            git.word(&args)
        };
        let open = names(&git, &now.head, &now.tree)?;
        if !open.is_empty() {
            return Ok(Content::Kept(names(&git, &worktree.base, &now.tree)?));
        }
        if count(&[])? == "0" {
            return Ok(Content::Empty);
        }
        let origin = Git::at(&worktree.repo_root).word(&["rev-parse", "--verify", "HEAD"])?;
        let own = format!("--exclude={}", worktree.branch);
        if count(&[&origin, &own, "--branches", "--remotes", "--tags"])? == "0" {
            return Ok(Content::Merged);
        }
        Ok(Content::Kept(names(&git, &worktree.base, &now.tree)?))
    }

    fn refuse_unmerged(&self, record: &Record) -> Result<(), HostError> {
        let run = &record.run;
        let files = match self.content(&record.worktree) {
            Ok(Content::Empty | Content::Merged) => return Ok(()),
            Ok(Content::Kept(files)) => files,
            Err(fault) => {
                let message = format!("nobody can tell what it holds: {}", fault.message);
                return Err(HostError::new(Code::Unmerged, message)
                    .hint(format!("`wardian worktree remove {run} --force` removes it as it is")));
            }
        };
        let what = if files.is_empty() { "its commits".to_owned() } else { listed(&files) };
        let message =
            format!("the worktree of run {run} holds changes that are nowhere else: {what}");
        Err(HostError::new(Code::Unmerged, message)
            .hint(format!(
                "`wardian run changes {run}` shows them, `wardian run apply {run}` takes them \
                 home, `wardian worktree remove {run} --force` throws them away"
            ))
            .details(json!({ "files": files })))
    }

    /// The record that a person means: by its run, or by one that works in
    /// the same worktree.
    fn meant(&self, query: &str) -> Result<Record, HostError> {
        let (records, _) = self.records();
        let mut found: Vec<&Record> =
            records.iter().filter(|record| is_meant(&record.run, query)).collect();
        if let Some(exact) = found.iter().find(|record| record.run == query) {
            found = vec![exact];
        }
        match found[..] {
            [one] => Ok(one.clone()),
            [] => {
                let place = self.find(query)?;
                let worktree = self.worktree_of(&place)?;
                self.record_of(&worktree).ok_or_else(|| {
                    HostError::new(
                        Code::NoWorktree,
                        format!("nothing is known of the worktree {}", worktree.path),
                    )
                })
            }
            _ => {
                let runs: Vec<&str> = found.iter().map(|record| &*record.run).collect();
                let message = format!(
                    "`{query}` is the beginning of {} runs: {}",
                    runs.len(),
                    runs.join(", ")
                );
                Err(HostError::new(Code::AmbiguousRun, message).hint("type more of the id"))
            }
        }
    }

    fn has_run(&self, place: &RunPlace) -> Result<bool, HostError> {
        let found = self.disk.stat(&place.folder()).map_err(|fault| store(&fault))?;
        Ok(found.is_some_and(|found| found.kind == Kind::Folder))
    }

    /// A record that was not announced belongs to nobody once nobody has it.
    fn sweep_unborn(&self, path: &Path) {
        let is_free = std::fs::File::open(path).is_ok_and(|file| file.try_lock().is_ok());
        if is_free {
            // The next sweep finds it again.
            drop(self.disk.remove_file(path));
        }
    }
}

fn is_over(status: RunStatus) -> bool {
    matches!(status, RunStatus::Completed | RunStatus::Failed)
}

/// Whether git was stopped while it made the worktree: it marks one as locked
/// until all its files are there. Nobody has worked in it.
fn is_unfinished(worktree: &Worktree) -> bool {
    let path = Path::new(&worktree.path);
    let Ok(link) = std::fs::read_to_string(path.join(".git")) else {
        return std::fs::read_dir(path).map_or(true, |mut files| files.next().is_none());
    };
    let admin = link.strip_prefix("gitdir:").map(|admin| Path::new(admin.trim()));
    let reason = admin.and_then(|admin| std::fs::read_to_string(admin.join("locked")).ok());
    reason.is_some_and(|reason| reason.trim() == "initializing")
}

/// What git keeps of a worktree that it was stopped while making: nothing
/// leads from there to a folder, so git's own removal does not see it.
fn remove_leftovers(root: &Path, path: &Path) {
    let (Ok(common), Some(name)) = (common_folder(root), path.file_name()) else { return };
    let admin = common.join("worktrees").join(name);
    let points = std::fs::read_to_string(admin.join("gitdir")).unwrap_or_default();
    let is_ours = points.trim().is_empty() || Path::new(points.trim()) == path.join(".git");
    if admin.is_dir() && is_ours {
        // `git worktree prune` does the same later.
        drop(std::fs::remove_dir_all(&admin));
    }
}
