//! Starts the worker process of a run. The worker inherits the run's lock as
//! its standard input, so that the run is owned at every moment from its
//! birth on; it lives in a session of its own, so that it outlives the
//! terminal.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use durable::disk::Lock;
use providers::session::{Start, start};
use runstore::RunPlace;

use crate::Host;
use crate::api::{Code, HostError};

/// The hidden subcommand that a worker process is started with.
pub(crate) const WORKER_VERB: &str = "__worker";

impl Host {
    pub(crate) fn spawn_worker(&self, place: &RunPlace, lock: Lock) -> Result<(), HostError> {
        self.processes.spawn(self.home.path(), place, lock)
    }
}

pub(crate) fn worker(
    program: &Path,
    home: &Path,
    place: &RunPlace,
    lock: &Lock,
) -> Result<(), HostError> {
    let fail = |what: &str, fault: &dyn std::error::Error| {
        HostError::from_fault(Code::Worker, what, fault)
    };
    let file = lock.file().ok_or_else(|| {
        HostError::new(Code::Internal, "a simulated lock cannot be handed to a process")
    })?;
    let log = worker_log(&place.worker_log()).map_err(|e| fail("no worker log", &e))?;
    let null = OpenOptions::new().write(true).open("/dev/null");
    let null = null.map_err(|e| fail("/dev/null cannot be written to", &e))?;
    let folder = place.folder();
    let words = [program.as_os_str(), WORKER_VERB.as_ref(), folder.as_os_str()];
    let home = ["--home".as_ref(), home.as_os_str()];
    let vars: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    // The worker outlives us; whoever reaps orphans reaps it.
    let _pid = start(&Start {
        program,
        args: words.into_iter().chain(home).collect(),
        env: vars.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str())).collect(),
        stdio: [file.as_fd(), null.as_fd(), log.as_fd()],
    })
    .map_err(|e| fail("the worker process cannot be started", &e))?;
    Ok(())
}

/// The lock that this process was handed as its standard input.
pub(crate) fn inherited_lock(place: &RunPlace) -> Result<Lock, HostError> {
    let refuse = |why: &str| {
        HostError::new(
            Code::InvalidRequest,
            format!("a worker is started by wardian itself: {why}"),
        )
        .hint("start a run with `wardian automation exec FILE`")
    };
    let owned = std::io::stdin().as_fd().try_clone_to_owned();
    let file = File::from(owned.map_err(|_| refuse("it has no standard input"))?);
    let stat = rustix::fs::fstat(&file).map_err(|_| refuse("its standard input is closed"))?;
    let path = rustix::fs::stat(place.driver_lock()).map_err(|_| refuse("the run has no lock"))?;
    if (stat.st_dev, stat.st_ino) != (path.st_dev, path.st_ino) {
        return Err(refuse("its standard input is not the run's lock"));
    }
    // On the open file that already holds the lock this changes nothing.
    file.try_lock().map_err(|_| refuse("someone else owns the run"))?;
    Ok(Lock::from_file(file))
}

fn worker_log(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}
