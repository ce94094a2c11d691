//! The line between a worker and who started it: over it the worker is given
//! its run, and its starter hears, without looking, that the run has ended and that the worker has let go of
//! it. It only saves waits. What is true of the run is read from its folder.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Error, IoSlice, IoSliceMut, Read as _, Result as IoResult};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use rustix::stdio::{dup2_stdin, dup2_stdout};

use crate::outcome::Outcome;
use crate::watch::pause;

/// The longest path that a system takes.
const PATH_BYTES: usize = 4096;

/// The longest word about an outcome. Who has more to say leaves it to the
/// log.
const OUTCOME_BYTES: usize = 16 << 10;

/// What is handed over: the run's lock.
const FILES: usize = 1;

/// How long a worker that is done lets its starter end first.
const LINGER: Duration = Duration::from_millis(100);

/// The starter's end. It may be cloned; the first to hear the end hears it
/// for itself alone.
#[derive(Debug, Clone, Default)]
pub struct Tether(Option<Arc<UnixStream>>);

/// The worker's end, until it lets go.
#[derive(Debug, Clone)]
pub struct Held(Arc<UnixStream>);

impl Tether {
    /// To nobody.
    pub(crate) fn none() -> Self {
        Self(None)
    }

    /// Both ends. No other program is given either by accident.
    pub(crate) fn pair() -> IoResult<(Self, UnixStream)> {
        let (ours, theirs) = UnixStream::pair()?;
        Ok((Self(Some(Arc::new(ours))), theirs))
    }

    /// Hands over the run in this folder; `None` when nobody takes it.
    pub(crate) fn give(self, folder: &Path, lock: BorrowedFd<'_>) -> Option<Self> {
        let line = self.0.as_deref()?;
        send(line, folder.as_os_str().as_bytes(), &[lock]).ok().map(|()| self)
    }

    /// The worker has not let go of the run.
    pub fn holds(&self) -> bool {
        self.0.is_some()
    }

    /// Waits until the worker tells how the run ended or lets go, at most for
    /// `time`. A part of what it tells is nothing.
    pub fn hear(&mut self, time: Duration) -> Option<Outcome> {
        self.wait(Timespec::try_from(time).ok().as_ref())
    }

    pub(crate) fn wait(&mut self, time: Option<&Timespec>) -> Option<Outcome> {
        let Some(line) = &self.0 else {
            pause(&mut [], time);
            return None;
        };
        let mut waits = [PollFd::new(line, PollFlags::IN)];
        pause(&mut waits, time);
        if waits[0].revents().is_empty() {
            return None;
        }
        let mut words = vec![0; OUTCOME_BYTES];
        match (&**line).read(&mut words) {
            Ok(length @ 1..) => serde_json::from_slice(&words[..length]).ok(),
            // Nothing to be read is the end of the line.
            Ok(0) | Err(_) => {
                self.0 = None;
                None
            }
        }
    }
}

impl Held {
    /// Waits, at the standard output, for the folder of a run. Its lock is
    /// the standard input from then on. `None` when there will be no run.
    pub(crate) fn wait() -> IoResult<Option<(Self, PathBuf)>> {
        let line = UnixStream::from(std::io::stdout().as_fd().try_clone_to_owned()?);
        let Some((folder, lock)) = receive(&line)? else { return Ok(None) };
        dup2_stdin(lock)?;
        dup2_stdout(File::options().write(true).open("/dev/null")?)?;
        Ok(Some((Self(Arc::new(line)), folder)))
    }

    /// Tells the starter, should there still be one, how the run has ended,
    /// and that the end can be read.
    pub(crate) fn tell(&self, outcome: &Outcome) {
        let words = serde_json::to_vec(outcome).unwrap_or_default();
        let fits = (1..=OUTCOME_BYTES).contains(&words.len());
        let _told = send(&self.0, if fits { &words } else { b"-" }, &[]);
    }

    /// Tells the starter that nothing more will come, and lets it go first:
    /// the end of a process keeps a processor busy on which the starter may be
    /// about to go on.
    pub(crate) fn let_go(self) {
        if self.0.shutdown(Shutdown::Write).is_ok() {
            let time = Timespec::try_from(LINGER).ok();
            pause(&mut [PollFd::new(&self.0, PollFlags::IN)], time.as_ref());
        }
    }
}

/// Sends words, with files.
fn send(line: &UnixStream, words: &[u8], files: &[BorrowedFd<'_>]) -> IoResult<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES))];
    let mut rights = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() && !rights.push(SendAncillaryMessage::ScmRights(files)) {
        return Err(Error::other("too many files"));
    }
    sendmsg(line, &[IoSlice::new(words)], &mut rights, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// The run's folder and its lock; nothing when the other end is closed.
fn receive(line: &UnixStream) -> IoResult<Option<(PathBuf, OwnedFd)>> {
    let mut words = vec![0; PATH_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES))];
    let mut rights = RecvAncillaryBuffer::new(&mut space);
    let mut into = [IoSliceMut::new(&mut words)];
    let received = recvmsg(line, &mut into, &mut rights, RecvFlags::CMSG_CLOEXEC)?;
    if received.bytes == 0 {
        return Ok(None);
    }
    let mut files = Vec::new();
    for message in rights.drain() {
        if let RecvAncillaryMessage::ScmRights(given) = message {
            files.extend(given);
        }
    }
    words.truncate(received.bytes);
    let files = <[OwnedFd; FILES]>::try_from(files);
    let [lock] = files.map_err(|_| Error::other("a run came without its lock"))?;
    Ok(Some((OsString::from_vec(words).into(), lock)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Timespec = Timespec { tv_sec: 600, tv_nsec: 0 };
    const NO_TIME: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

    #[test]
    fn a_starter_hears_that_its_worker_lets_go_and_asks_no_more() {
        let (mut tether, worker) = Tether::pair().unwrap();
        tether.wait(Some(&NO_TIME));
        assert!(tether.holds());
        let mut other = tether.clone();
        drop(worker);
        for tether in [&mut tether, &mut other] {
            tether.wait(Some(&LONG));
            assert!(!tether.holds());
            tether.wait(Some(&NO_TIME));
        }
    }

    #[test]
    fn a_starter_hears_of_the_end_before_its_worker_lets_go() {
        let (mut tether, worker) = Tether::pair().unwrap();
        let worker = Held(Arc::new(worker));
        let failed = |length: usize| {
            let failure = "x".repeat(length);
            let text = format!(
                r#"{{"exit":10,"status":"failed","failure":"{failure}","unknown_effect":false}}"#
            );
            serde_json::from_str::<Outcome>(&text).unwrap()
        };
        for (outcome, is_told) in [(failed(9), true), (failed(OUTCOME_BYTES), false)] {
            worker.tell(&outcome);
            assert_eq!(tether.wait(Some(&LONG)), Some(outcome).filter(|_| is_told));
        }
        assert!(tether.holds());
        tether.wait(Some(&NO_TIME));
        assert!(tether.holds());
        let starter = std::thread::spawn(move || {
            tether.wait(Some(&LONG));
            tether.holds()
        });
        worker.let_go();
        assert!(!starter.join().unwrap());
    }

    #[test]
    fn a_run_comes_with_its_lock_and_only_to_a_worker_that_is_there() {
        let lock = tempfile::tempfile().unwrap();
        let give = |tether: Tether| tether.give(Path::new("/runs/a b\u{fc}"), lock.as_fd());
        let number = |file: &OwnedFd| rustix::fs::fstat(file).unwrap().st_ino;
        let (tether, worker) = Tether::pair().unwrap();
        assert!(give(tether.clone()).is_some());
        let (folder, given) = receive(&worker).unwrap().unwrap();
        assert_eq!(folder, Path::new("/runs/a b\u{fc}"));
        assert_eq!(number(&given), number(&lock.try_clone().unwrap().into()));
        drop(worker);
        assert!(give(tether).is_none());
        assert!(give(Tether::none()).is_none());
    }

    #[test]
    fn a_worker_whose_starter_is_gone_gets_no_run() {
        let (tether, worker) = Tether::pair().unwrap();
        drop(tether);
        assert!(receive(&worker).unwrap().is_none());
    }
}
