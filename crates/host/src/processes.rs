//! The processes of a host and the machine under them, as far as it meddles
//! with them: it starts workers, ends what dead ones left, waits a while for
//! others, and must know whether the power was lost. A proof
//! hands in processes that live in its own thread, beside a disk, a clock and
//! chance of its own, so that it judges the very code that people run.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use durable::disk::Lock;
use runstore::RunPlace;

use crate::api::HostError;
use crate::spawn;
use crate::{attempts, watch, work};

pub trait Processes: std::fmt::Debug + Send + Sync {
    /// Starts one that owns the run, by handing it the run's lock.
    fn spawn(&self, home: &Path, place: &RunPlace, lock: Lock) -> Result<(), HostError>;
    /// Ends what the attempts of a dead owner have left, then notes that
    /// nobody knows how they ended; says how many processes these were.
    fn reap(&self, place: &RunPlace) -> Result<usize, HostError>;
    /// Notes that nothing of a run that is over waits any more.
    fn settle(&self, _: &RunPlace) {}
    /// Names the time since the last loss of power, for what lies in this
    /// folder.
    fn era(&self, folder: &Path) -> Option<String>;
    /// Lets the others go on.
    fn pause(&self, time: Duration);
}

/// Those of this machine.
#[derive(Debug)]
pub(crate) struct RealProcesses {
    /// The program that a worker process runs.
    pub(crate) executable: PathBuf,
    /// Names this boot of the machine; asked for once.
    boot: OnceLock<Option<String>>,
}

impl RealProcesses {
    pub(crate) fn new(executable: PathBuf) -> Self {
        Self { executable, boot: OnceLock::new() }
    }
}

impl Processes for RealProcesses {
    fn spawn(&self, home: &Path, place: &RunPlace, lock: Lock) -> Result<(), HostError> {
        spawn::worker(&self.executable, home, place, &lock)
    }

    fn reap(&self, place: &RunPlace) -> Result<usize, HostError> {
        let killed = work::reap(place)?;
        attempts::reconcile(place);
        Ok(killed)
    }

    fn settle(&self, place: &RunPlace) {
        attempts::settle(place);
    }

    fn era(&self, folder: &Path) -> Option<String> {
        let boot = self.boot.get_or_init(work::boot).as_deref()?;
        let folder = rustix::fs::stat(folder).ok()?;
        Some(format!("{}-{:x}-{:x}", boot, folder.st_dev, folder.st_ino))
    }

    fn pause(&self, time: Duration) {
        watch::pause_for(time);
    }
}
