//! One child process from start to end: its own session, no open input, a
//! bounded capture of its output. The end is the exit of the child itself,
//! never the end of a pipe that others may hold open. When a call returns,
//! the child's session is gone; after a stop its whole tree is, also what
//! wandered off into sessions of its own.

use std::ffi::OsString;
use std::io;
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::path::PathBuf;

use durable::Span;
use rustix::process::Signal;
use thiserror::Error;

use crate::capture::Captured;
use crate::child::Child;
use crate::ending::{Killed, Quarry};
use crate::environment::ChildEnv;
use crate::poll::Deadline;
use crate::stop::Stop;
use crate::streams::Streams;

/// Between asking a tree to end and killing it. Long enough for a program to
/// remove a lock file, short enough that a person who cancels does not wait.
const GRACE: Span = Span::from_secs(2);

/// What to start.
#[derive(Debug, Clone)]
pub struct Launch {
    pub program: OsString,
    pub args: Vec<OsString>,
    pub env: ChildEnv,
    pub cwd: PathBuf,
    pub stdin: Stdin,
    /// Bytes of each stream that are kept for [`Ended`], half from either end;
    /// the sink hears all in any case.
    pub kept_bytes: usize,
}

/// What the child reads. Never anything of ours that is open, and never a
/// pipe: a child that does not read cannot hold us up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    Null,
    Text(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
}

/// Hears output as it comes, in the pieces in which it comes. It breaks off
/// where it keeps nothing more: what follows need not be made for it.
pub type Sink<'a> = dyn FnMut(Stream, &[u8]) -> ControlFlow<()> + 'a;

/// How the child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
}

/// A child that has ended, with what it left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    pub exit: Exit,
    /// It was ended on request; the exit is then our doing.
    pub stopped: bool,
    pub stdout: Captured,
    pub stderr: Captured,
    /// Processes that were killed and did not go in time.
    pub left: usize,
}

/// Why there is no end to report.
#[derive(Debug, Error)]
pub enum RunError {
    /// Nothing was started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// It was started, and killed because it could no longer be watched.
    #[error("process {pid} could not be watched to its end")]
    Lost { pid: i32, source: io::Error },
}

/// Why a child did not start.
#[derive(Debug, Error)]
pub enum SpawnError {
    #[error("program `{0}` was not found")]
    ProgramMissing(String),
    #[error("program `{0}` may not be executed")]
    NotExecutable(String),
    #[error("folder {} is not there", .0.display())]
    CwdMissing(PathBuf),
    #[error("arguments and environment are larger than the system allows")]
    TooLarge,
    #[error("the process could not be started")]
    Other(#[source] io::Error),
}

/// Starts a child and stays with it to its end.
pub fn run(launch: &Launch, stop: &Stop, sink: &mut Sink<'_>) -> Result<Ended, RunError> {
    let (child, pipes) = Child::spawn(launch)?;
    let mut quarry = Quarry::attempt(child.pid(), &launch.env.marks().attempt);
    let streams = Streams::new(pipes, launch.kept_bytes, sink);
    watch(&child, streams, stop, &mut quarry).map_err(|source| {
        // What failed was ours; what matters now is to leave nothing behind.
        let _unseen = quarry.kill_all();
        RunError::Lost { pid: child.pid(), source }
    })
}

fn watch(
    child: &Child,
    mut streams: Streams<'_>,
    stop: &Stop,
    quarry: &mut Quarry,
) -> io::Result<Ended> {
    let stopped = loop {
        let ready = streams.wait(&[child.ended_fd(), stop.as_fd()])?;
        match ready[..] {
            // What ended by itself was not stopped, whatever was asked.
            [true, _] => break false,
            [_, true] => break true,
            _ => {}
        }
    };
    let killed = if stopped {
        end_tree(child, &mut streams, quarry)?
    } else {
        end_session(child, &mut streams, quarry)?
    };
    let exit = child.exit()?;
    let (stdout, stderr) = streams.finish();
    Ok(Ended { exit, stopped, stdout, stderr, left: killed.left })
}

/// The child has ended by itself. What it wrote is still read; what it left
/// running in its session is killed. A process that took a session of its
/// own was meant to outlive the child, and does.
fn end_session(
    child: &Child,
    streams: &mut Streams<'_>,
    quarry: &mut Quarry,
) -> io::Result<Killed> {
    streams.drain_seen()?;
    let nothing = Killed { found: 0, left: 0 };
    if quarry.orphans()?.is_some_and(|orphans| orphans.is_empty()) {
        return Ok(nothing);
    }
    child.kill_group();
    if let Some(orphans) = quarry.orphans()?
        && !quarry.has_in_session(&orphans)?
    {
        return Ok(nothing);
    }
    quarry.forget_mark();
    quarry.kill_all()
}

/// Asks the whole tree to end, gives it its grace, and kills what is left.
fn end_tree(child: &Child, streams: &mut Streams<'_>, quarry: &mut Quarry) -> io::Result<Killed> {
    let grace = Deadline::after(GRACE)?;
    quarry.look()?;
    quarry.signal(Signal::TERM);
    loop {
        let mut fds = quarry.living();
        if fds.is_empty() {
            break;
        }
        fds.push(grace.as_fd());
        if streams.wait(&fds)?.last() == Some(&true) {
            break;
        }
    }
    child.kill_group();
    let killed = quarry.kill_all()?;
    streams.drain()?;
    Ok(killed)
}

#[cfg(test)]
mod tests;
