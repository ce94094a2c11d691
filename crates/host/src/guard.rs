//! The guard over the agents of a home, `runtime/workflow-execution.lock`:
//! whoever works with agents holds it together with all others that do, and
//! whoever removes a worktree on somebody's word holds it alone. It is a lock
//! of the kernel on a file that is never removed, so the dead hold nothing.
//!
//! A run's own worktree is guarded by a lease of its own as well. What a run
//! clears away at its end, and what recovery does, keeps to that alone: such a
//! worktree is empty and nobody else's, and a clean-up that waited for all
//! agents of the home would rarely come to an end.

use std::collections::BTreeSet;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use runstore::Home;
use rustix::fs::OFlags;

use crate::Host;
use crate::api::{Code, HostError, WorkerState, WorkersQuery};
use crate::library::store;

/// How long a worker waits for whoever removes a worktree.
const TOGETHER_WITHIN: Duration = Duration::from_secs(10);

/// How long a removal waits for agents that are about to end.
const ALONE_WITHIN: Duration = Duration::from_secs(2);

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What whoever is alone writes about itself.
const NOTE_BYTES: u64 = 512;

/// The most attempts that are looked through for who is at work, and the most
/// runs that are named.
const ATTEMPTS_LOOKED_AT: usize = 200;
const RUNS_NAMED: usize = 3;

/// The lock, for as long as this lives.
#[derive(Debug)]
pub(crate) struct Guard {
    _file: File,
}

/// A worker's part in the guard. While its run is parked it has none.
#[derive(Debug, Default)]
pub(crate) struct Part(Mutex<Option<Guard>>);

impl Part {
    /// Before an agent is asked.
    pub(crate) fn take(&self, host: &Host) -> Result<(), HostError> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_none() {
            *held = Some(host.work_together()?);
        }
        Ok(())
    }

    /// Nothing of the run is in flight.
    pub(crate) fn let_go(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

impl Host {
    /// Takes part in the work of the home's agents.
    pub(crate) fn work_together(&self) -> Result<Guard, HostError> {
        let path = path_of(&self.home);
        let file = open(&path).map_err(|fault| unusable(&path, &fault))?;
        if self.patiently(TOGETHER_WITHIN, || file.try_lock_shared())? {
            return Ok(Guard { _file: file });
        }
        let who = self.disk.read(&path, NOTE_BYTES).unwrap_or_default();
        let who = String::from_utf8_lossy(&who).trim().replace('\n', ", ");
        let who = if who.is_empty() { "somebody".to_owned() } else { who };
        let message = format!(
            "no agent may start: {who} has held {} alone for more than {} s",
            path.display(),
            TOGETHER_WITHIN.as_secs()
        );
        Err(HostError::new(Code::Worker, message)
            .hint("when that is over, start the automation anew"))
    }

    /// Keeps all agents of the home away, or says whose are at work. `what`
    /// is told to those who wait meanwhile.
    pub(crate) fn work_alone(&self, what: &str) -> Result<Guard, HostError> {
        let path = path_of(&self.home);
        let mut file = open(&path).map_err(|fault| unusable(&path, &fault))?;
        if !self.patiently(ALONE_WITHIN, || file.try_lock())? {
            let message = format!("agents are at work in this home ({})", self.at_work());
            return Err(HostError::new(Code::RunBusy, message).hint(
                "try again when they are over; `wardian workers list` shows them, and \
                 `wardian run cancel ID` ends a run",
            ));
        }
        // For people who wait; the lock is what counts.
        let note = format!("pid {}\n{what}\n", std::process::id());
        drop(file.set_len(0).and_then(|()| file.write_all(note.as_bytes())));
        Ok(Guard { _file: file })
    }

    fn patiently(
        &self,
        within: Duration,
        ask: impl Fn() -> Result<(), TryLockError>,
    ) -> Result<bool, HostError> {
        let mut left = within;
        loop {
            match ask() {
                Ok(()) => return Ok(true),
                Err(TryLockError::WouldBlock) if left.is_zero() => return Ok(false),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(fault)) => return Err(store(&fault)),
            }
            self.processes.pause(LOOK_EVERY);
            left = left.saturating_sub(LOOK_EVERY);
        }
    }

    /// The runs of which an attempt is under way, as far as the book knows.
    fn at_work(&self) -> String {
        let query = WorkersQuery { run: None, state: None, limit: ATTEMPTS_LOOKED_AT };
        let rows = self.workers(&query).map(|page| page.rows).unwrap_or_default();
        let is_at_work = |state: WorkerState| state.is_active() && state != WorkerState::Waiting;
        let active = rows.into_iter().filter(|row| is_at_work(row.state()));
        let runs: BTreeSet<String> = active.map(|row| row.worker.run).collect();
        let named: Vec<&str> = runs.iter().take(RUNS_NAMED).map(String::as_str).collect();
        match (named.len(), runs.len().saturating_sub(RUNS_NAMED)) {
            (0, _) => "of a run that has not asked one yet".to_owned(),
            (1, _) => format!("run {}", named[0]),
            (_, 0) => format!("runs {}", named.join(", ")),
            (_, more) => format!("runs {} and {more} more", named.join(", ")),
        }
    }
}

fn path_of(home: &Home) -> PathBuf {
    home.path().join("runtime/workflow-execution.lock")
}

fn unusable(path: &Path, fault: &io::Error) -> HostError {
    let what = format!("the guard {} cannot be opened", path.display());
    HostError::from_fault(Code::Store, &what, fault)
        .hint("make the file readable and writable for its owner")
}

fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(flags);
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let folder = path.parent().unwrap_or(path);
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            options.open(path)
        }
        opened => opened,
    }
}

#[cfg(test)]
mod tests;
