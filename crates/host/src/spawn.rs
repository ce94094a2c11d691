//! Starts the worker process of a run. The worker has the run's lock as its
//! standard input, inherited or handed over, so that the run is owned at
//! every moment from its birth on; it lives in a session of its own, so that
//! it outlives the terminal. Who launches a run makes a copy of itself, which
//! knows the graph already; who takes over a run starts the program anew.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::Result as IoResult;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use durable::disk::Lock;
use providers::session::{Start, close_inherited, lead, start};
use runstore::RunPlace;
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use safe_fork::fork;

use crate::Host;
use crate::api::{Code, HostError};
use crate::complaint;
use crate::head_start::HeadStart;
use crate::launch::Prepared;
use crate::tether::{Held, Tether};

/// The hidden subcommand that a worker process is started with.
pub(crate) const WORKER_VERB: &str = "__worker";

/// A worker process that waits to be given a run, at the other end of this
/// tether.
#[derive(Debug)]
pub struct Recruit(Tether);

impl Recruit {
    /// Nobody was started.
    pub fn none() -> Self {
        Self(Tether::none())
    }

    /// Gives it the run; `None` when nobody takes it.
    fn take(self, place: &RunPlace, lock: &Lock) -> Result<Option<Tether>, HostError> {
        if !self.0.holds() {
            return Ok(None);
        }
        Ok(self.0.give(&place.folder(), handed(lock)?.as_fd()))
    }
}

impl Host {
    /// Somebody to give this run to: a copy of this process, so that it knows
    /// the graph and need not start from nothing while the run is made. It
    /// has its own session, nothing that this process has open, and the ways
    /// of this process with signals; so nobody should listen for any yet.
    /// Nobody, where this process has threads, which no copy would have: the
    /// run gets its owner when it is there.
    pub fn recruit(&self, prepared: &Prepared) -> Result<Recruit, HostError> {
        let (tether, line) = Tether::pair().map_err(|e| fail("no pair of sockets", &e))?;
        let nothing = null()?;
        // The worker needs it, and whoever launches a run mostly looks on.
        let (snapshot, program) = (Arc::clone(&prepared.snapshot), Arc::clone(&prepared.program));
        self.foresight.keep(snapshot, program);
        match fork() {
            Ok(None) => self.serve(line, nothing, prepared),
            Ok(Some(_)) => Ok(Recruit(tether)),
            Err(_) => Ok(Recruit::none()),
        }
    }

    /// All that a copy of a launcher does. What the launcher was about to do
    /// stays undone in it.
    #[expect(clippy::disallowed_methods, reason = "what lies on the stack is the launcher's")]
    fn serve(&self, line: UnixStream, nothing: OwnedFd, prepared: &Prepared) -> ! {
        let serving = AssertUnwindSafe(|| {
            let deaf = |fault| fail("the worker cannot hear whether it has a run", &fault);
            enlist(line, nothing).map_err(deaf)?;
            let head_start = HeadStart::of(prepared, self.clock.now());
            match Held::wait().map_err(deaf)? {
                Some((held, run_dir)) => {
                    complaint::keep(&prepared.place);
                    self.work_as(&run_dir, Some(held), head_start)
                }
                None => Ok(()),
            }
        });
        let served = match catch_unwind(serving) {
            Ok(Ok(())) => 0,
            Ok(Err(fault)) => {
                complaint::say(&fault);
                1
            }
            // It has been said.
            Err(_) => 101,
        };
        std::process::exit(served)
    }

    pub(crate) fn spawn_worker(&self, place: &RunPlace, lock: Lock) -> Result<(), HostError> {
        self.processes.spawn(self.home.path(), place, lock)
    }

    /// Gives the run to the worker that waits for it, or else to another. A
    /// run that nobody can be started for is recorded as failed.
    pub(crate) fn set_to_work(
        &self,
        recruit: Recruit,
        place: &RunPlace,
        lock: Lock,
    ) -> Result<Tether, HostError> {
        match recruit.take(place, &lock) {
            Ok(Some(tether)) => Ok(tether),
            Ok(None) => self.spawn_worker(place, lock).map(|()| Tether::none()),
            Err(fault) => {
                // The next recovery does it, should it not be done here.
                drop(self.record_interruption(place, lock));
                Err(fault)
            }
        }
    }
}

/// Starts a worker that owns the run.
pub(crate) fn worker(
    program: &Path,
    home: &Path,
    place: &RunPlace,
    lock: &Lock,
) -> Result<(), HostError> {
    let files = [handed(lock)?, null()?, worker_log(place)?];
    let run_dir = place.folder();
    let args = [program.as_os_str(), WORKER_VERB.as_ref(), run_dir.as_os_str()];
    let vars: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    // The worker outlives us; whoever reaps orphans reaps it.
    let _pid = start(&Start {
        program,
        args: args.into_iter().chain(["--home".as_ref(), home.as_os_str()]).collect(),
        env: vars.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str())).collect(),
        stdio: files.each_ref().map(OwnedFd::as_fd),
    })
    .map_err(|e| fail("the worker process cannot be started", &e))?;
    Ok(())
}

/// Makes this copy of a launcher a worker, with the line as its standard
/// output.
fn enlist(line: UnixStream, nothing: OwnedFd) -> IoResult<()> {
    lead()?;
    dup2_stdin(&nothing)?;
    dup2_stdout(&line)?;
    dup2_stderr(&nothing)?;
    drop((line, nothing));
    close_inherited()
}

fn handed(lock: &Lock) -> Result<OwnedFd, HostError> {
    let lock = lock.file().ok_or_else(|| {
        HostError::new(Code::Internal, "a simulated lock cannot be handed to a process")
    })?;
    lock.as_fd().try_clone_to_owned().map_err(|e| fail("the lock cannot be handed on", &e))
}

fn null() -> Result<OwnedFd, HostError> {
    let null = OpenOptions::new().read(true).write(true).open("/dev/null");
    null.map(OwnedFd::from).map_err(|e| fail("/dev/null cannot be opened", &e))
}

fn worker_log(place: &RunPlace) -> Result<OwnedFd, HostError> {
    let mut options = OpenOptions::new();
    let log = options.create(true).append(true).mode(0o600).open(place.worker_log());
    log.map(OwnedFd::from).map_err(|e| fail("no worker log", &e))
}

fn fail(what: &str, fault: &dyn std::error::Error) -> HostError {
    HostError::from_fault(Code::Worker, what, fault)
}

/// What a worker process does before all else: it lets go of what its
/// starter had open and did not mean for it.
pub fn let_go_of_inherited() -> Result<(), HostError> {
    close_inherited().map_err(|fault| fail("the worker cannot see what it has open", &fault))
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
