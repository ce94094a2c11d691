//! Who has a worktree. Beside its folder stands a record, `.<run>.json`, made
//! before git is asked for anything, and removed after everything else: what
//! has no record was never begun or is wholly gone. Whoever works in the
//! worktree holds a shared lock of the kernel on the record, so that no
//! process that died keeps anything; whoever takes it away or takes its
//! changes elsewhere holds the lock alone. Nothing is judged by age.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use blueprint::BlueprintId;
use durable::Timestamp;
use durable::disk::{create_dir_all, replace};
use durable::version::Format;
use engine::RunId;
use runstore::{RunPlace, Worktree};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use crate::Host;
use crate::api::{Code, HostError};
use crate::library::store;

const FORMAT: Format = Format { major: 1, minor: 0 };

/// A record is a few paths.
const RECORD_BYTES: u64 = 64 << 10;

/// What stands beside a worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    format: Format,
    /// The run that it was made for.
    pub(super) run: String,
    pub(super) blueprint: String,
    made_at: Timestamp,
    pub(super) worktree: Worktree,
}

/// What was taken elsewhere, and where to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    format: Format,
    /// The content of the worktree at that time.
    pub(super) tree: String,
    /// The checkout or the branch.
    pub(super) target: String,
    /// It is in a commit there, and not only in files.
    pub(super) committed: bool,
    at: Timestamp,
}

/// A lock on a record, for as long as this lives.
#[derive(Debug)]
pub(crate) struct Lease(File);

/// What came of asking for a lease.
#[derive(Debug)]
pub(super) enum Asked {
    Got(Lease),
    /// Others have it.
    Busy,
    /// There is no such worktree.
    Absent,
}

impl Lease {
    pub(super) fn file(&self) -> &File {
        &self.0
    }

    /// Takes part in the use of a worktree.
    pub(super) fn join(worktree: &Worktree) -> io::Result<Asked> {
        ask(&record_of(Path::new(&worktree.path)), File::try_lock_shared)
    }

    /// Takes a worktree for oneself.
    pub(super) fn alone(worktree: &Worktree) -> io::Result<Asked> {
        ask(&record_of(Path::new(&worktree.path)), File::try_lock)
    }
}

impl Record {
    pub(super) fn place(&self, host: &Host) -> Option<RunPlace> {
        let blueprint = BlueprintId::new(&self.blueprint).ok()?;
        Some(host.home.place(&blueprint, &RunId::new(&self.run).ok()?))
    }
}

impl Host {
    /// Announces a worktree. On return the record is durable and locked.
    pub(super) fn announce(
        &self,
        place: &RunPlace,
        worktree: &Worktree,
    ) -> Result<Lease, HostError> {
        let folder = place.worktree().parent().map(Path::to_owned).unwrap_or_default();
        create_dir_all(&*self.disk, &folder).map_err(|fault| store(&fault))?;
        refuse_links(self, place.worktree().as_path())?;
        let record = Record {
            format: FORMAT,
            run: place.run.to_string(),
            blueprint: place.blueprint.to_string(),
            made_at: self.clock.now(),
            worktree: worktree.clone(),
        };
        let aside = folder.join(format!(".{}.{}.new", place.run, self.entropy.hex8()));
        self.disk.create(&aside, &encode(&record)).map_err(|fault| store(&fault))?;
        self.disk.sync_file(&aside).map_err(|fault| store(&fault))?;
        let locked = open(&aside).and_then(|file| file.lock_shared().map(|()| file));
        let file = locked.map_err(|fault| store(&fault))?;
        let named = record_of(&place.worktree());
        self.disk.rename(&aside, &named).map_err(|fault| store(&fault))?;
        self.disk.sync_dir(&folder).map_err(|fault| store(&fault))?;
        Ok(Lease(file))
    }

    /// Whether there may be worktrees of runs.
    pub(crate) fn has_worktrees(&self) -> bool {
        !entries(&self.home.worktrees()).is_empty()
    }

    /// Every record of the home, and what a crash has left of records that
    /// were never announced.
    pub(super) fn records(&self) -> (Vec<Record>, Vec<PathBuf>) {
        let (mut records, mut unborn) = (Vec::new(), Vec::new());
        for folder in entries(&self.home.worktrees()) {
            for path in entries(&folder) {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if !name.starts_with('.') {
                    continue;
                }
                if name.ends_with(".new") {
                    unborn.push(path);
                } else if name.ends_with(".json") && !name.ends_with(MARK) {
                    records.extend(self.record(&path));
                }
            }
        }
        records.sort_by(|a, b| (&a.blueprint, &a.run).cmp(&(&b.blueprint, &b.run)));
        (records, unborn)
    }

    /// The record at this path. One that names another folder than its own
    /// is not believed.
    fn record(&self, path: &Path) -> Option<Record> {
        let bytes = self.disk.read(path, RECORD_BYTES).ok()?;
        let record: Record = serde_json::from_slice(&bytes).ok()?;
        let place = record.place(self)?;
        let is_its_own = record_of(&place.worktree()) == path
            && Path::new(&record.worktree.path) == place.worktree();
        is_its_own.then_some(record)
    }

    /// The record of this worktree.
    pub(super) fn record_of(&self, worktree: &Worktree) -> Option<Record> {
        self.record(&record_of(Path::new(&worktree.path)))
    }

    pub(super) fn mark(&self, worktree: &Worktree) -> Option<Mark> {
        let bytes = self.disk.read(&mark_of(Path::new(&worktree.path)), RECORD_BYTES).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Notes that this content is in the target as well.
    pub(super) fn note_applied(
        &self,
        worktree: &Worktree,
        tree: &str,
        target: &str,
        committed: bool,
    ) -> Result<(), HostError> {
        let mark = Mark {
            format: FORMAT,
            tree: tree.to_owned(),
            target: target.to_owned(),
            committed,
            at: self.clock.now(),
        };
        let path = mark_of(Path::new(&worktree.path));
        replace(&*self.disk, &path, &encode(&mark), &self.entropy.hex8())
            .map_err(|fault| store(&fault))
    }

    /// The last step of a removal.
    pub(super) fn forget(&self, worktree: &Worktree) -> Result<(), HostError> {
        let path = Path::new(&worktree.path);
        for file in [mark_of(path), record_of(path)] {
            if std::fs::symlink_metadata(&file).is_ok() {
                self.disk.remove_file(&file).map_err(|fault| store(&fault))?;
            }
        }
        let folder = path.parent().unwrap_or(path);
        self.disk.sync_dir(folder).map_err(|fault| store(&fault))
    }
}

/// A link on the way to a worktree would lead git, or a removal, to a place
/// that is not ours.
pub(super) fn refuse_links(host: &Host, path: &Path) -> Result<(), HostError> {
    let home = host.home.path();
    let below = path.ancestors().take_while(|path| *path != home);
    let link = below.into_iter().find(|path| {
        std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_symlink())
    });
    let is_inside = path.starts_with(home);
    match link {
        None if is_inside => Ok(()),
        None => Err(HostError::new(
            Code::Conflict,
            format!("{} is not in the home, so it is not touched", path.display()),
        )),
        Some(link) => {
            let message =
                format!("{} is a link; a worktree is never reached by one", link.display());
            Err(HostError::new(Code::Conflict, message)
                .hint("put a folder there in place of the link"))
        }
    }
}

/// Whether a name stands for this record: the run's id, its beginning, or
/// the beginning of its last part.
pub(super) fn is_meant(run: &str, query: &str) -> bool {
    let last = run.rsplit('-').next().unwrap_or(run);
    !query.is_empty() && (run.starts_with(query) || last.starts_with(query))
}

const MARK: &str = ".applied.json";

fn record_of(path: &Path) -> PathBuf {
    beside(path, ".json")
}

fn mark_of(path: &Path) -> PathBuf {
    beside(path, MARK)
}

/// Names that begin with a dot are never those of a run.
fn beside(path: &Path, end: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}{end}"))
}

fn encode(value: &impl Serialize) -> Vec<u8> {
    let mut bytes =
        serde_json::to_vec_pretty(value).expect("texts and times can be written to memory");
    bytes.push(b'\n');
    bytes
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(found) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = found.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths
}

fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Locks a record, and looks whether it is still the one at its path: one
/// that was removed meanwhile keeps nobody out.
fn ask(path: &Path, lock: impl Fn(&File) -> Result<(), TryLockError>) -> io::Result<Asked> {
    let absent = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if absent(&error) => return Ok(Asked::Absent),
        Err(error) => return Err(error),
    };
    match lock(&file) {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(Asked::Busy),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    let held = file.metadata()?;
    match std::fs::symlink_metadata(path) {
        Ok(found) if (found.dev(), found.ino()) == (held.dev(), held.ino()) => {
            Ok(Asked::Got(Lease(file)))
        }
        Ok(_) => Ok(Asked::Busy),
        Err(error) if absent(&error) => Ok(Asked::Absent),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_beside_a_worktree_is_no_run() {
        let path = Path::new("/h/worktrees/fix/1-ab");
        assert_eq!(record_of(path), Path::new("/h/worktrees/fix/.1-ab.json"));
        assert_eq!(mark_of(path), Path::new("/h/worktrees/fix/.1-ab.applied.json"));
        assert!(RunId::new(".1-ab.json").is_err());
    }

    #[test]
    fn a_run_is_meant_by_its_beginnings() {
        for (query, meant) in
            [("17-ab", true), ("ab", true), ("1", true), ("b", false), ("", false)]
        {
            assert_eq!(is_meant("17-abcd", query), meant, "{query}");
        }
    }

    #[test]
    fn a_lock_on_a_record_that_was_replaced_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".1-ab.json");
        assert!(matches!(ask(&path, File::try_lock).unwrap(), Asked::Absent));
        std::fs::write(&path, "{}").unwrap();
        let held = ask(&path, File::try_lock_shared).unwrap();
        assert!(matches!(ask(&path, File::try_lock_shared).unwrap(), Asked::Got(_)));
        assert!(matches!(ask(&path, File::try_lock).unwrap(), Asked::Busy));
        drop(held);
        let replaced = |file: &File| {
            std::fs::remove_file(&path).unwrap();
            file.try_lock()
        };
        assert!(matches!(ask(&path, replaced).unwrap(), Asked::Absent));
    }
}
