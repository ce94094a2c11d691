//! A started child: how it is born, how its exit is seen without letting go
//! of its number, and how it is reaped. Dropping one that was not reaped
//! kills its group first, so that an error on our side leaves nothing.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{ChildStderr, ChildStdout, ExitStatus, Stdio};

use process_wrap::std::{ChildWrapper, CommandWrap, ProcessSession, ResetSigmask};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid,
};

use crate::process::{Exit, Launch, RunError, SpawnError, Stdin};

/// A child that is not reaped yet.
#[derive(Debug)]
pub(crate) struct Child {
    inner: Box<dyn ChildWrapper>,
    pid: Pid,
    fd: OwnedFd,
}

/// Our ends of what the child writes to.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
}

impl Child {
    pub(crate) fn spawn(launch: &Launch) -> Result<(Self, Pipes), RunError> {
        let stdin = stdin(&launch.stdin).map_err(SpawnError::Other)?;
        let mut command = CommandWrap::with_new(&launch.program, |command| {
            command
                .args(&launch.args)
                .env_clear()
                .envs(launch.env.vars())
                .current_dir(&launch.cwd)
                .stdin(stdin)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
        });
        let mut inner = command
            .wrap(ProcessSession)
            .wrap(ResetSigmask)
            .spawn()
            .map_err(|error| spawn_error(error, launch))?;
        let pid = i32::try_from(inner.id()).ok().and_then(Pid::from_raw);
        let pid = pid.expect("a child that was started has a positive process id");
        let pipes = Pipes {
            stdout: inner.stdout().take().expect("a pipe was asked for"),
            stderr: inner.stderr().take().expect("a pipe was asked for"),
        };
        // Not reaped, so the number cannot have gone to another process.
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(fd) => Ok((Self { inner, pid, fd }, pipes)),
            Err(error) => {
                let _gone = kill_process_group(pid, Signal::KILL);
                let _reaped = inner.inner_mut().wait();
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

    /// How the child ended. It stays unreaped, so that its number stays its
    /// own for as long as it may still be signalled.
    pub(crate) fn exit(&self) -> io::Result<Exit> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let seen = waitid(WaitId::PidFd(self.fd.as_fd()), options)?;
        let exit = seen.and_then(|status| {
            let code = status.exit_status().map(Exit::Code);
            code.or(status.terminating_signal().map(Exit::Signal))
        });
        exit.ok_or_else(|| io::Error::new(io::ErrorKind::TimedOut, "it did not end when killed"))
    }

    /// Takes notice of the exit, and gives the number back. The wrapper
    /// would wait for the whole group; the child alone is meant here.
    fn reap(&mut self) -> io::Result<Option<ExitStatus>> {
        self.inner.inner_mut().try_wait()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !matches!(self.reap(), Ok(Some(_))) {
            self.kill_group();
            let _still_there = self.reap();
        }
    }
}

/// Nothing, or a file in memory: the child finds the end of its input by
/// itself and never has to be fed.
fn stdin(stdin: &Stdin) -> io::Result<Stdio> {
    match stdin {
        Stdin::Null => Ok(Stdio::null()),
        Stdin::Text(text) => {
            let mut file = File::from(memfd_create("stdin", MemfdFlags::CLOEXEC)?);
            file.write_all(text.as_bytes())?;
            file.rewind()?;
            Ok(file.into())
        }
    }
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
