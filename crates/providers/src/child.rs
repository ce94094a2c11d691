//! A started child: how it is born, how its exit is seen without letting go
//! of its number, and how it is reaped. Dropping one that was not reaped
//! kills its group first, so that an error on our side leaves nothing.

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::OnceLock;

use process_wrap::std::{CommandWrap, ProcessSession, ResetSigmask};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid,
};

use crate::process::{Exit, Launch, RunError, SpawnError, Stdin};
use crate::session::{Start, start};

/// A child that is not reaped yet.
#[derive(Debug)]
pub(crate) struct Child {
    pid: Pid,
    fd: OwnedFd,
    reaped: Cell<bool>,
}

/// Our ends of what the child writes to.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub stdout: OwnedFd,
    pub stderr: OwnedFd,
    /// The other ends as well. While these are open no stream ends, so that
    /// nobody is woken for its end: the end of a child is its exit.
    pub kept_open: [OwnedFd; 2],
}

/// The child's own ends.
#[derive(Debug)]
struct Ends {
    stdin: Input,
    stdout: OwnedFd,
    stderr: OwnedFd,
}

/// What the child reads.
#[derive(Debug)]
enum Input {
    Nothing(&'static File),
    Text(OwnedFd),
}

impl Child {
    pub(crate) fn spawn(launch: &Launch) -> Result<(Self, Pipes), RunError> {
        let (ends, ours) = ends(&launch.stdin).map_err(SpawnError::Other)?;
        let pid = match at_once(launch, &ends) {
            Some(pid) => pid,
            // Whatever was in the way: this one says what it is.
            None => {
                launch.env.forget(&launch.program);
                by_copy(launch, &ends).map_err(|error| spawn_error(error, launch))?
            }
        };
        let [stdout, stderr] = ours;
        let pipes = Pipes { stdout, stderr, kept_open: [ends.stdout, ends.stderr] };
        let pid = Pid::from_raw(pid).expect("a child that was started has a positive process id");
        // Not reaped, so the number cannot have gone to another process.
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(fd) => Ok((Self { pid, fd, reaped: Cell::new(false) }, pipes)),
            Err(error) => {
                let _gone = kill_process_group(pid, Signal::KILL);
                let _reaped = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED);
                Err(RunError::Lost { pid: pid.as_raw_pid(), source: error.into() })
            }
        }
    }

    pub(crate) fn pid(&self) -> i32 {
        self.pid.as_raw_pid()
    }

    /// For a poll: readable once the child has ended.
    pub(crate) fn ended_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// One call for the whole group, so that nothing in it can start
    /// anything between the kill of one and of the next. The child is not
    /// reaped yet, so the number is still the group's own.
    pub(crate) fn kill_group(&self) {
        // The only expected failure is that nobody is left in it.
        let _gone = kill_process_group(self.pid, Signal::KILL);
    }

    /// How the child ended. Its number is given back, and must not be
    /// signalled any more.
    pub(crate) fn exit(&self) -> io::Result<Exit> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        let seen = waitid(WaitId::PidFd(self.fd.as_fd()), options)?;
        self.reaped.set(seen.is_some());
        let exit = seen.and_then(|status| {
            let code = status.exit_status().map(Exit::Code);
            code.or(status.terminating_signal().map(Exit::Signal))
        });
        exit.ok_or_else(|| io::Error::new(io::ErrorKind::TimedOut, "it did not end when killed"))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.reaped.get() && self.exit().is_err() {
            self.kill_group();
            let _still_there = self.exit();
        }
    }
}

fn ends(stdin: &Stdin) -> io::Result<(Ends, [OwnedFd; 2])> {
    let (stdout, to_stdout) = pipe_with(PipeFlags::CLOEXEC)?;
    let (stderr, to_stderr) = pipe_with(PipeFlags::CLOEXEC)?;
    let ends = Ends { stdin: input(stdin)?, stdout: to_stdout, stderr: to_stderr };
    Ok((ends, [stdout, stderr]))
}

/// Nothing, or a file in memory: the child finds the end of its input by
/// itself and never has to be fed.
fn input(stdin: &Stdin) -> io::Result<Input> {
    match stdin {
        Stdin::Null => nothing().map(Input::Nothing),
        Stdin::Text(text) => {
            let mut file = File::from(memfd_create("stdin", MemfdFlags::CLOEXEC)?);
            file.write_all(text.as_bytes())?;
            file.rewind()?;
            Ok(Input::Text(file.into()))
        }
    }
}

/// Opened once: every child can be given the same.
fn nothing() -> io::Result<&'static File> {
    static NOTHING: OnceLock<File> = OnceLock::new();
    match NOTHING.get() {
        Some(file) => Ok(file),
        None => {
            let file = File::open("/dev/null")?;
            Ok(NOTHING.get_or_init(|| file))
        }
    }
}

impl AsFd for Input {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Nothing(file) => file.as_fd(),
            Self::Text(file) => file.as_fd(),
        }
    }
}

/// The short way, for a program in the folder in which this process stands.
/// Nothing was started when it gives nothing.
fn at_once(launch: &Launch, ends: &Ends) -> Option<i32> {
    let program = launch.env.find(&launch.program)?;
    if !stands_in(&launch.cwd) {
        return None;
    }
    let args = launch.args.iter().map(|arg| &**arg);
    start(&Start {
        program: &program,
        args: std::iter::once(&*launch.program).chain(args).collect(),
        env: launch.env.vars().collect::<Vec<(&OsStr, &OsStr)>>(),
        stdio: [ends.stdin.as_fd(), ends.stdout.as_fd(), ends.stderr.as_fd()],
    })
    .ok()
}

/// Whether this process stands in the folder that the path leads to now.
fn stands_in(folder: &Path) -> bool {
    let same = |here: fs::Metadata, there: fs::Metadata| {
        (here.dev(), here.ino()) == (there.dev(), there.ino())
    };
    fs::metadata(".").and_then(|here| Ok(same(here, fs::metadata(folder)?))).unwrap_or(false)
}

/// The way that always works.
fn by_copy(launch: &Launch, ends: &Ends) -> io::Result<i32> {
    let own = |fd: BorrowedFd<'_>| fd.try_clone_to_owned();
    let [stdin, stdout, stderr] =
        [own(ends.stdin.as_fd())?, own(ends.stdout.as_fd())?, own(ends.stderr.as_fd())?];
    let mut command = CommandWrap::with_new(&launch.program, |command| {
        command
            .args(&launch.args)
            .env_clear()
            .envs(launch.env.vars())
            .current_dir(&launch.cwd)
            .stdin(Stdio::from(stdin))
            .stdout(Stdio::from(stdout))
            .stderr(Stdio::from(stderr));
    });
    let child = command.wrap(ProcessSession).wrap(ResetSigmask).spawn()?;
    i32::try_from(child.id()).map_err(io::Error::other)
}

/// The system has one word for a missing folder and a missing program.
fn spawn_error(error: io::Error, launch: &Launch) -> SpawnError {
    let program = || launch.program.to_string_lossy().into_owned();
    if !launch.cwd.is_dir() {
        return SpawnError::CwdMissing(launch.cwd.clone());
    }
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT) => SpawnError::ProgramMissing(program()),
        Some(Errno::ACCESS) => SpawnError::NotExecutable(program()),
        Some(Errno::TOOBIG) => SpawnError::TooLarge,
        _ => SpawnError::Other(error),
    }
}
