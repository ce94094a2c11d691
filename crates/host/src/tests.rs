//! A host for tests in a home of its own, on the real disk, without another
//! process.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use durable::disk::{Lock, RealDisk};
use runstore::{Home, RunPlace};

use crate::api::HostError;
use crate::clock::{RealClock, RealEntropy};
use crate::{Host, HostConfig, Processes, Surroundings};

/// Processes that start nothing, keep the lock of a run that is to be
/// started, and count the time that is waited instead of waiting.
#[derive(Debug, Default)]
pub(crate) struct Idle {
    pub(crate) waited: AtomicU64,
    pub(crate) owed: Mutex<Option<(RunPlace, Lock)>>,
}

impl Processes for Idle {
    fn spawn(&self, _: &Path, place: &RunPlace, lock: Lock) -> Result<(), HostError> {
        *self.owed.lock().unwrap() = Some((place.clone(), lock));
        Ok(())
    }

    fn reap(&self, _: &RunPlace) -> Result<usize, HostError> {
        Ok(0)
    }

    fn era(&self, _: &Path) -> Option<String> {
        None
    }

    fn pause(&self, time: Duration) {
        let millis = u64::try_from(time.as_millis()).unwrap();
        self.waited.fetch_add(millis, Ordering::Relaxed);
    }
}

pub(crate) struct Room {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) idle: Arc<Idle>,
    pub(crate) host: Host,
}

pub(crate) fn room() -> Room {
    let folder = tempfile::tempdir().unwrap();
    let idle = Arc::new(Idle::default());
    let (path, here) = (folder.path().join("home"), folder.path().to_owned());
    std::fs::create_dir(&path).unwrap();
    let config =
        HostConfig { home: path.clone(), executable: "/no/such/program".into(), current_dir: here };
    let surroundings = Surroundings {
        disk: Arc::new(RealDisk),
        clock: Arc::new(RealClock),
        entropy: Arc::new(RealEntropy),
        processes: Arc::clone(&idle) as Arc<dyn Processes>,
    };
    let host = Host::within(Home::open(&path).unwrap(), config, surroundings);
    Room { folder, idle, host }
}
