//! Starts the worker process of a run. The worker inherits the run's lock as
//! its standard input, so that the run is owned at every moment from its
//! birth on; it lives in a session of its own, so that it outlives the
//! terminal.

use std::fs::{File, OpenOptions};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Stdio;

use durable::disk::Lock;
use process_wrap::std::{CommandWrap, ProcessSession};
use runstore::RunPlace;

use crate::Host;
use crate::api::{Code, HostError};

/// The hidden subcommand that a worker process is started with.
pub(crate) const WORKER_VERB: &str = "__worker";

impl Host {
    pub(crate) fn spawn_worker(&self, place: &RunPlace, lock: &Lock) -> Result<(), HostError> {
        let fail = |what: &str, fault: &dyn std::error::Error| {
            HostError::from_fault(Code::Worker, what, fault)
        };
        let file = lock.file().ok_or_else(|| {
            HostError::new(Code::Internal, "a simulated lock cannot be handed to a process")
        })?;
        let stdin = file.try_clone().map_err(|e| fail("the run's lock cannot be handed on", &e))?;
        let log = worker_log(&place.worker_log()).map_err(|e| fail("no worker log", &e))?;
        let mut command = CommandWrap::with_new(&self.config.executable, |command| {
            command.arg(WORKER_VERB).arg(place.folder());
            command.arg("--home").arg(self.home.path());
            command.current_dir("/").stdin(stdin).stdout(Stdio::null()).stderr(log);
        });
        command.wrap(ProcessSession);
        let child =
            command.spawn().map_err(|e| fail("the worker process cannot be started", &e))?;
        // The worker outlives us; whoever reaps orphans reaps it.
        drop(child);
        Ok(())
    }
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
