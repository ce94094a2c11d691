//! A disk that watches: it hands every call on, and remembers of each run's
//! log what was tried and what was acknowledged, byte by byte. So the judges
//! need not believe anyone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use durable::disk::{Append, Disk, DiskError, Lock, SharedDisk, Stat};
use engine::SignalId;
use host::worker::Left;
use runstore::RunPlace;

/// What the outside was told, and what was tried.
#[derive(Debug, Clone, Default)]
pub struct Told {
    /// By the path of the log.
    pub logs: BTreeMap<PathBuf, LogBytes>,
    /// Runs whose creation was acknowledged.
    pub created: Vec<RunPlace>,
    /// Runs that are known to work for others.
    pub children: Vec<RunPlace>,
    /// Signals that were acknowledged.
    pub signals: Vec<(RunPlace, SignalId)>,
    /// How often the power was lost.
    pub power_losses: u64,
    /// How an owner said that it left.
    pub left: BTreeMap<RunPlace, Left>,
    /// Something that must never happen, seen at the disk itself.
    pub fault: Option<String>,
}

/// One log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogBytes {
    /// All bytes that were written, or should have been.
    pub tried: Vec<u8>,
    /// So many of them are durable, as a sync said.
    pub acknowledged: usize,
}

/// What the watchers share.
#[derive(Debug, Clone, Default)]
pub struct Record(Arc<Mutex<Told>>);

#[derive(Debug)]
pub struct Witness {
    disk: SharedDisk,
    record: Record,
}

#[derive(Debug)]
struct WatchedLog {
    log: Box<dyn Append>,
    path: PathBuf,
    record: Record,
}

impl Record {
    pub fn new(told: Told) -> Self {
        Self(Arc::new(Mutex::new(told)))
    }

    pub fn told(&self) -> Told {
        self.lock().clone()
    }

    pub fn lock(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Witness {
    pub fn new(disk: SharedDisk, record: Record) -> Self {
        Self { disk, record }
    }
}

impl Told {
    /// The same after a loss of power, or after a crash of the process only.
    #[must_use]
    pub fn after(&self, is_power: bool) -> Self {
        Self { power_losses: self.power_losses + u64::from(is_power), ..self.clone() }
    }

    /// What tells one time between two losses of power from another.
    pub fn era(&self) -> String {
        format!("era-{}", self.power_losses)
    }

    fn log(&mut self, path: &Path) -> &mut LogBytes {
        self.logs.entry(path.to_owned()).or_default()
    }

    /// The log now has so many bytes.
    fn shortened(&mut self, path: &Path, bytes: u64, how: &str) {
        let log = self.log(path);
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        if bytes < log.acknowledged {
            let acknowledged = log.acknowledged;
            self.fault.get_or_insert(format!(
                "{} is {how} at {bytes} bytes, though {acknowledged} were acknowledged",
                path.display()
            ));
        }
        self.log(path).tried.truncate(bytes);
    }
}

impl Disk for Witness {
    fn stat(&self, path: &Path) -> Result<Option<Stat>, DiskError> {
        self.disk.stat(path)
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, DiskError> {
        self.disk.read(path, limit)
    }

    fn read_from(&self, path: &Path, offset: u64, limit: u64) -> Result<Vec<u8>, DiskError> {
        self.disk.read_from(path, offset, limit)
    }

    fn list(&self, folder: &Path) -> Result<Vec<String>, DiskError> {
        self.disk.list(folder)
    }

    fn folders(&self, folder: &Path) -> Result<Vec<String>, DiskError> {
        self.disk.folders(folder)
    }

    fn create_dir(&self, path: &Path) -> Result<(), DiskError> {
        self.disk.create_dir(path)
    }

    fn create(&self, path: &Path, bytes: &[u8]) -> Result<(), DiskError> {
        self.disk.create(path, bytes)
    }

    fn sync_file(&self, path: &Path) -> Result<(), DiskError> {
        self.disk.sync_file(path)
    }

    fn recall(&self, path: &Path) -> Result<(), DiskError> {
        self.disk.recall(path)
    }

    fn sync_dir(&self, path: &Path) -> Result<(), DiskError> {
        self.disk.sync_dir(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), DiskError> {
        self.disk.rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> Result<(), DiskError> {
        self.disk.remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> Result<(), DiskError> {
        self.disk.remove_dir(path)
    }

    fn append(&self, path: &Path) -> Result<Box<dyn Append>, DiskError> {
        let log = self.disk.append(path)?;
        if path.file_name().is_none_or(|name| name != "events.jsonl") {
            return Ok(log);
        }
        let tried = self.record.lock().log(path).tried.len() as u64;
        if log.bytes() < tried {
            self.record.lock().shortened(path, log.bytes(), "found");
        }
        Ok(Box::new(WatchedLog { log, path: path.to_owned(), record: self.record.clone() }))
    }

    fn try_lock(&self, path: &Path) -> Result<Option<Lock>, DiskError> {
        self.disk.try_lock(path)
    }
}

impl Append for WatchedLog {
    fn bytes(&self) -> u64 {
        self.log.bytes()
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), DiskError> {
        self.record.lock().log(&self.path).tried.extend_from_slice(bytes);
        self.log.write(bytes)
    }

    fn sync(&mut self) -> Result<(), DiskError> {
        self.log.sync()?;
        let mut told = self.record.lock();
        let log = told.log(&self.path);
        log.acknowledged = log.tried.len();
        Ok(())
    }

    fn cut(&mut self, bytes: u64) -> Result<(), DiskError> {
        self.record.lock().shortened(&self.path, bytes, "cut");
        self.log.cut(bytes)
    }
}
