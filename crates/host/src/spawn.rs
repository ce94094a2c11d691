//! Starts the worker process of a run. The worker inherits the run's lock as
//! its standard input, so that the run is owned at every moment from its
//! birth on; it lives in a session of its own, so that it outlives the
//! terminal.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use durable::disk::Lock;
use providers::session::{Start, start};
use runstore::{Begun, RunPlace};
use rustix::pipe::{PipeFlags, pipe_with};

use crate::Host;
use crate::api::{Code, HostError};

/// The hidden subcommand that a worker process is started with.
pub(crate) const WORKER_VERB: &str = "__worker";

/// The flag of a worker that waits for a word on its standard output, which
/// is the reading end of a pipe until then.
const AWAITS_WORD: &str = "--awaits-word";

/// A worker process that waits for its run to be there.
#[derive(Debug, Default)]
pub struct Recruit(Option<File>);

impl Recruit {
    /// Nobody was started.
    pub fn none() -> Self {
        Self(None)
    }

    /// Says that the run is there. False when nobody hears it.
    fn go(self) -> bool {
        self.0.is_some_and(|mut word| word.write_all(b"g").is_ok())
    }
}

impl Host {
    pub(crate) fn spawn_worker(&self, place: &RunPlace, lock: Lock) -> Result<(), HostError> {
        self.processes.spawn(self.home.path(), place, lock)
    }

    /// Gives the run to the worker that waits for it, or else to another.
    pub(crate) fn set_to_work(
        &self,
        recruit: Recruit,
        place: &RunPlace,
        lock: Lock,
    ) -> Result<(), HostError> {
        if recruit.go() { Ok(()) } else { self.spawn_worker(place, lock) }
    }
}

pub(crate) fn worker(
    program: &Path,
    home: &Path,
    place: &RunPlace,
    lock: &Lock,
) -> Result<(), HostError> {
    let null = OpenOptions::new().write(true).open("/dev/null");
    let null = null.map_err(|e| fail("/dev/null cannot be written to", &e))?;
    let files = Files { lock, output: null.as_fd(), log: &place.worker_log() };
    process(program, home, place, &files, None)
}

pub(crate) fn recruit(
    program: &Path,
    home: &Path,
    place: &RunPlace,
    begun: &Begun,
) -> Result<Recruit, HostError> {
    let (hears, says) = pipe_with(PipeFlags::CLOEXEC).map_err(|e| fail("no pipe", &e))?;
    let log = begun.aside().join(place.worker_log().file_name().unwrap_or_default());
    let files = Files { lock: begun.lock(), output: hears.as_fd(), log: &log };
    process(program, home, place, &files, Some(AWAITS_WORD))?;
    Ok(Recruit(Some(says.into())))
}

/// What a worker process has open at its start.
struct Files<'a> {
    lock: &'a Lock,
    output: BorrowedFd<'a>,
    log: &'a Path,
}

fn process(
    program: &Path,
    home: &Path,
    place: &RunPlace,
    files: &Files<'_>,
    flag: Option<&str>,
) -> Result<(), HostError> {
    let lock = files.lock.file().ok_or_else(|| {
        HostError::new(Code::Internal, "a simulated lock cannot be handed to a process")
    })?;
    let log = worker_log(files.log).map_err(|e| fail("no worker log", &e))?;
    let folder = place.folder();
    let words = [program.as_os_str(), WORKER_VERB.as_ref(), folder.as_os_str()];
    let home = ["--home".as_ref(), home.as_os_str()];
    let vars: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    // The worker outlives us; whoever reaps orphans reaps it.
    let _pid = start(&Start {
        program,
        args: words.into_iter().chain(home).chain(flag.map(OsStr::new)).collect(),
        env: vars.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str())).collect(),
        stdio: [lock.as_fd(), files.output, log.as_fd()],
    })
    .map_err(|e| fail("the worker process cannot be started", &e))?;
    Ok(())
}

fn fail(what: &str, fault: &dyn std::error::Error) -> HostError {
    HostError::from_fault(Code::Worker, what, fault)
}

/// Waits until the run of this worker is there; false when it will never be.
pub fn await_word() -> Result<bool, HostError> {
    let listen = || {
        let mut word = File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
        let said = word.read(&mut [0])? == 1;
        let null = OpenOptions::new().write(true).open("/dev/null")?;
        rustix::stdio::dup2_stdout(null)?;
        Ok(said)
    };
    listen().map_err(|fault: std::io::Error| {
        fail("the worker cannot hear whether it has a run", &fault)
    })
}

/// What a worker process does before all else: it lets go of what its
/// starter had open and did not mean for it.
pub fn close_inherited() -> Result<(), HostError> {
    providers::session::close_inherited().map_err(|fault| {
        HostError::from_fault(Code::Worker, "the worker cannot see what it has open", &fault)
    })
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
