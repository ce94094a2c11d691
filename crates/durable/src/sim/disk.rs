//! The simulated disk itself: the calls, their numbers, and what goes wrong
//! at which of them.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{Error, ErrorKind, Result as IoResult};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::fault::{Crash, Crashed, Fault};
use super::node::Ino;
use super::power::PowerLosses;
use super::tree::{Change, Tree};
use crate::Digest;
use crate::disk::{
    Append, Disk, DiskError, Guard, Kind, Lock, Stat, cut_longer, failed_before, short_write,
};

/// A disk in memory. Clones are the same disk.
#[derive(Clone, Default)]
pub struct SimDisk {
    state: Arc<Mutex<State>>,
}

/// A call that changed the disk, or tried to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub name: &'static str,
    pub path: PathBuf,
}

#[derive(Debug, Default)]
struct State {
    tree: Tree,
    calls: Vec<Call>,
    crash: Option<(usize, Crash)>,
    fault: Option<(usize, Fault)>,
    looks: usize,
    blind: Option<(usize, ErrorKind)>,
    crashed: bool,
    locked: BTreeSet<Ino>,
}

/// What a plan has for a call.
enum Turn {
    Go,
    Crash(Crash),
    Fail(Fault),
}

#[derive(Debug)]
struct SimAppend {
    disk: SimDisk,
    path: PathBuf,
    ino: Ino,
    bytes: u64,
    failed: bool,
}

#[derive(Debug)]
struct SimLock {
    disk: SimDisk,
    path: PathBuf,
    ino: Ino,
}

/// Setting up, planning and looking.
impl SimDisk {
    /// An empty disk with the folder `/`.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a file on the disk as if it had always been there, its folders
    /// too. No call is counted.
    pub fn put(&self, path: &Path, bytes: &[u8]) {
        let mut state = self.state();
        let above: Vec<&Path> = path.ancestors().skip(1).collect();
        for folder in above.into_iter().rev() {
            if state.tree.find(folder).is_err() {
                made(state.tree.apply(Change::CreateDir(folder), usize::MAX));
            }
        }
        if state.tree.find(path).is_err() {
            made(state.tree.apply(Change::Create(path, &[]), usize::MAX));
        }
        let found = state.tree.find(path).and_then(|ino| state.tree.edit(ino, bytes.to_vec()));
        made(found);
        state.tree.settle();
    }

    /// Everything on the disk is as if it had been synced long ago.
    pub fn settle(&self) {
        self.state().tree.settle();
    }

    /// How many calls were made that change the disk.
    pub fn calls(&self) -> usize {
        self.state().calls.len()
    }

    /// These calls, by their number.
    pub fn history(&self) -> Vec<Call> {
        self.state().calls.clone()
    }

    /// Crashes at the call with this number: it and all calls after it, of
    /// any kind, give an error that [`super::is_crash`] knows.
    pub fn crash_at(&self, call: usize, crash: Crash) {
        self.state().crash = Some((call, crash));
    }

    /// Fails the call with this number.
    pub fn fail_at(&self, call: usize, fault: Fault) {
        self.state().fault = Some((call, fault));
    }

    /// How many calls were made that only look; they have numbers of their
    /// own, from 0.
    pub fn looks(&self) -> usize {
        self.state().looks
    }

    /// Fails the call with this number among those that only look, opening a
    /// file among them.
    pub fn fail_look_at(&self, look: usize, kind: ErrorKind) {
        self.state().blind = Some((look, kind));
    }

    /// Whether the crash has come.
    pub fn crashed(&self) -> bool {
        self.state().crashed
    }

    /// The disk that the next process finds: all calls that were made, no
    /// lock held, no plan. Bytes that a failed sync dropped are gone from
    /// memory too.
    #[must_use]
    pub fn after_process_crash(&self) -> Self {
        let mut tree = self.state().tree.clone();
        tree.evict();
        Self::from_tree(tree)
    }

    /// The disks that a loss of power now may leave.
    pub fn power_losses(&self) -> PowerLosses {
        PowerLosses::of(self.state().tree.clone())
    }

    /// Every file and its bytes, by path.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let found = self.state().tree.walk();
        let files = found.into_iter().filter_map(|(path, bytes)| Some((path, bytes?)));
        files.map(|(path, bytes)| (path, bytes.as_ref().clone())).collect()
    }

    /// The digest of all names and bytes.
    pub fn digest(&self) -> Digest {
        let found = self.state().tree.walk();
        let mut parts: Vec<&[u8]> = Vec::new();
        for (path, bytes) in &found {
            parts.push(path.as_os_str().as_encoded_bytes());
            parts.push(if bytes.is_some() { b"file" } else { b"folder" });
            parts.push(bytes.as_ref().map_or(&[], |bytes| bytes.as_slice()));
        }
        Digest::of_parts(&parts)
    }

    pub(super) fn from_tree(tree: Tree) -> Self {
        Self { state: Arc::new(Mutex::new(State { tree, ..State::default() })) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call that only looks.
    fn look<T>(
        &self,
        call: &'static str,
        path: &Path,
        look: impl FnOnce(&Tree) -> IoResult<T>,
    ) -> Result<T, DiskError> {
        let mut state = self.state();
        let number = state.looks;
        state.looks += 1;
        let seen = match state.blind {
            _ if state.crashed => Err(Error::other(Crashed)),
            Some((at, kind)) if at == number => Err(Error::from(kind)),
            Some(_) | None => look(&state.tree),
        };
        seen.map_err(|source| DiskError { call, path: path.to_owned(), source })
    }

    /// A call that changes the disk.
    fn change(&self, call: &'static str, path: &Path, change: Change<'_>) -> Result<(), DiskError> {
        let done = self.state().change(call, path, change);
        done.map_err(|source| DiskError { call, path: path.to_owned(), source })
    }
}

impl State {
    fn change(&mut self, name: &'static str, path: &Path, change: Change<'_>) -> IoResult<()> {
        if self.crashed {
            return Err(Error::other(Crashed));
        }
        let turn = self.turn();
        self.calls.push(Call { name, path: path.to_owned() });
        match turn {
            Turn::Go => self.tree.apply(change, usize::MAX),
            Turn::Crash(crash) => {
                self.crashed = true;
                let most = match (crash, change.written()) {
                    (Crash::After, _) => Some(usize::MAX),
                    (Crash::Prefix(most), Some(_)) => Some(most),
                    (Crash::Prefix(_), None) | (Crash::Before, _) => None,
                };
                if let Some(most) = most {
                    // Whether the call would have failed no one learns.
                    let _unseen = self.tree.apply(change, most);
                }
                Err(Error::other(Crashed))
            }
            Turn::Fail(fault) => {
                self.tree.fail(change);
                match change.written() {
                    Some(wanted) if fault.written > 0 => {
                        self.tree.apply(change, fault.written)?;
                        Err(short_write(fault.written.min(wanted), wanted))
                    }
                    Some(_) | None => Err(Error::from(fault.kind)),
                }
            }
        }
    }

    fn turn(&self) -> Turn {
        let number = self.calls.len();
        match (self.crash, self.fault) {
            (Some((at, crash)), _) if number == at => Turn::Crash(crash),
            (_, Some((at, fault))) if number == at || (fault.forever && number > at) => {
                Turn::Fail(fault)
            }
            (_, _) => Turn::Go,
        }
    }
}

impl Disk for SimDisk {
    fn stat(&self, path: &Path) -> Result<Option<Stat>, DiskError> {
        self.look("look at", path, |tree| match tree.find(path) {
            Ok(ino) => Ok(match tree.file(ino) {
                Ok(file) => Some(Stat { kind: Kind::File, bytes: file.now.len() as u64 }),
                Err(_) => Some(Stat { kind: Kind::Folder, bytes: 0 }),
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        })
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, DiskError> {
        self.look("read", path, |tree| {
            let file = tree.file(tree.find(path)?)?;
            if file.now.len() as u64 > limit {
                return Err(ErrorKind::FileTooLarge.into());
            }
            Ok(file.now.as_ref().clone())
        })
    }

    fn read_from(&self, path: &Path, offset: u64, limit: u64) -> Result<Vec<u8>, DiskError> {
        self.look("read", path, |tree| {
            let bytes = &tree.file(tree.find(path)?)?.now;
            let at = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).min(bytes.len());
            Ok(bytes[at(offset)..at(offset.saturating_add(limit))].to_vec())
        })
    }

    fn list(&self, folder: &Path) -> Result<Vec<String>, DiskError> {
        self.look("list", folder, |tree| {
            Ok(tree.folder(tree.find(folder)?)?.now.keys().cloned().collect())
        })
    }

    fn create_dir(&self, path: &Path) -> Result<(), DiskError> {
        self.change("create a folder at", path, Change::CreateDir(path))
    }

    fn create(&self, path: &Path, bytes: &[u8]) -> Result<(), DiskError> {
        self.change("create", path, Change::Create(path, bytes))
    }

    fn sync_file(&self, path: &Path) -> Result<(), DiskError> {
        self.change("sync", path, Change::SyncFile(path))
    }

    fn recall(&self, path: &Path) -> Result<(), DiskError> {
        self.change("sync", path, Change::Recall(path))
    }

    fn sync_dir(&self, path: &Path) -> Result<(), DiskError> {
        self.change("sync the folder", path, Change::SyncDir(path))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), DiskError> {
        self.change("rename a file to", to, Change::Rename(from, to))
    }

    fn remove_file(&self, path: &Path) -> Result<(), DiskError> {
        self.change("remove", path, Change::RemoveFile(path))
    }

    fn remove_dir(&self, path: &Path) -> Result<(), DiskError> {
        self.change("remove the folder", path, Change::RemoveDir(path))
    }

    fn append(&self, path: &Path) -> Result<Box<dyn Append>, DiskError> {
        let (ino, bytes) = self.look("open", path, |tree| {
            let ino = tree.find(path)?;
            Ok((ino, tree.file(ino)?.now.len() as u64))
        })?;
        let (disk, path) = (self.clone(), path.to_owned());
        Ok(Box::new(SimAppend { disk, path, ino, bytes, failed: false }))
    }

    fn try_lock(&self, path: &Path) -> Result<Option<Lock>, DiskError> {
        let find = |tree: &Tree| {
            let ino = tree.find(path)?;
            tree.file(ino).map(|_| ino)
        };
        let ino = match self.look("lock", path, find) {
            Err(error) if error.source.kind() == ErrorKind::NotFound => {
                self.change("lock", path, Change::Create(path, &[]))?;
                self.look("lock", path, find)?
            }
            found => found?,
        };
        if !self.state().locked.insert(ino) {
            return Ok(None);
        }
        let guard = SimLock { disk: self.clone(), path: path.to_owned(), ino };
        Ok(Some(Lock::from_token(Box::new(guard))))
    }
}

impl SimAppend {
    fn change(&mut self, call: &'static str, change: Change<'_>) -> Result<(), DiskError> {
        let done = if self.failed {
            let source = failed_before();
            Err(DiskError { call, path: self.path.clone(), source })
        } else {
            self.disk.change(call, &self.path, change)
        };
        self.failed = done.is_err();
        done
    }
}

impl Append for SimAppend {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), DiskError> {
        if bytes.is_empty() && !self.failed {
            return Ok(());
        }
        self.change("write to", Change::Write(self.ino, bytes))?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    fn sync(&mut self) -> Result<(), DiskError> {
        self.change("sync", Change::SyncOpen(self.ino))
    }

    fn cut(&mut self, bytes: u64) -> Result<(), DiskError> {
        if bytes > self.bytes {
            self.failed = true;
            let source = cut_longer(bytes, self.bytes);
            return Err(DiskError { call: "cut", path: self.path.clone(), source });
        }
        self.change("cut", Change::Cut(self.ino, bytes))?;
        self.bytes = bytes;
        Ok(())
    }
}

impl Guard for SimLock {
    fn note(&self, text: &str) -> IoResult<()> {
        let done = self.disk.change("note in", &self.path, Change::Note(self.ino, text));
        done.map_err(|error| error.source)
    }
}

impl Drop for SimLock {
    fn drop(&mut self) {
        self.disk.state().locked.remove(&self.ino);
    }
}

impl fmt::Debug for SimDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        let paths: Vec<PathBuf> = state.tree.walk().into_iter().map(|(path, _)| path).collect();
        f.debug_struct("SimDisk").field("calls", &state.calls.len()).field("paths", &paths).finish()
    }
}

/// A step of setting up a disk that has no reason to fail.
fn made(step: IoResult<()>) {
    step.expect("a test puts files where files can be");
}
