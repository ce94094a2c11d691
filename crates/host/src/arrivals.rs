//! What reaches a worker from outside: what its threads hand in, and that its
//! inbox may have changed. It is waited for in one place.
//!
//! The kernel's notice of a change is only a hint: who is told reads the
//! folder, so that a notice too many is harmless, and a slow look now and
//! then covers one that got lost.

use std::io::Result as IoResult;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::inotify;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

use crate::post::{self, Receiver, Sender};
use crate::watch::pause;
use crate::worker::Arrival;

/// How long a lost notice can go unseen.
const LOOK_EVERY: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// No second time.
const NEVER: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

#[derive(Debug)]
pub(crate) struct Arrivals {
    handed_in: Receiver<Arrival>,
    /// The kernel's notices of the inbox. Without it the slow look remains.
    notices: Option<OwnedFd>,
    /// Folders that are not there yet. Who makes one does so in another.
    missing: Vec<PathBuf>,
    /// Readable whenever it is time for the slow look.
    clock: OwnedFd,
}

impl Arrivals {
    /// Those of a worker whose signals lie in these folders, and what its
    /// threads hand theirs in by.
    pub(crate) fn at(folders: &[&Path]) -> IoResult<(Sender<Arrival>, Self)> {
        let (sender, handed_in) = post::post()?;
        let clock = timer(LOOK_EVERY, LOOK_EVERY)?;
        let flags = inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK;
        let notices = inotify::init(flags).ok();
        let missing = folders.iter().map(|folder| (*folder).to_owned()).collect();
        let mut arrivals = Self { handed_in, notices, missing, clock };
        arrivals.watch_missing();
        Ok((sender, arrivals))
    }

    /// The next one, waited for so long; [`Arrival::Time`] when nothing has
    /// come, which may also be somewhat early.
    pub(crate) fn wait(&mut self, time: Option<Duration>) -> Arrival {
        // A time that is too long for the kernel is no limit.
        let time = time.and_then(|time| Timespec::try_from(time).ok());
        let notices = self.notices.as_ref().unwrap_or(&self.clock);
        let mut waits = [wait_for(notices), wait_for(&self.clock), wait_for(&self.handed_in)];
        pause(&mut waits, time.as_ref());
        let [notice, clock, handed_in] = waits.map(|wait| !wait.revents().is_empty());
        // What is handed in without end does not keep a signal away.
        if notice || clock {
            self.forget_notices();
            // Whoever made one may have put something in it already.
            self.watch_missing();
            return Arrival::Inbox;
        }
        let arrival = if handed_in { self.handed_in.take() } else { None };
        arrival.unwrap_or(Arrival::Time)
    }

    /// The next thing that is handed in, unless the deadline passes first.
    pub(crate) fn before(&self, deadline: &OwnedFd) -> Option<Arrival> {
        let mut waits = [wait_for(deadline), wait_for(&self.handed_in)];
        while waits.iter().all(|wait| wait.revents().is_empty()) {
            pause(&mut waits, None);
        }
        if waits[0].revents().is_empty() { self.handed_in.take() } else { None }
    }

    /// Asks for notices of a file that is moved into, or made in, a folder
    /// that was missing.
    fn watch_missing(&mut self) {
        let Some(notices) = &self.notices else { return };
        let flags = inotify::WatchFlags::MOVED_TO | inotify::WatchFlags::CREATE;
        let is_watched =
            |folder: &PathBuf| inotify::add_watch(notices, folder.as_path(), flags).is_ok();
        self.missing.retain(|folder| !is_watched(folder));
    }

    fn forget_notices(&self) {
        let mut space = [MaybeUninit::uninit(); 4096];
        if let Some(notices) = &self.notices {
            let mut reader = inotify::Reader::new(notices, &mut space);
            while reader.next().is_ok() {}
        }
        let _times = rustix::io::read(&self.clock, &mut [0; 8]);
    }
}

fn wait_for(file: &impl AsFd) -> PollFd<'_> {
    PollFd::from_borrowed_fd(file.as_fd(), PollFlags::IN)
}

/// Readable once this time is over.
pub(crate) fn deadline(time: Timespec) -> IoResult<OwnedFd> {
    timer(time, NEVER)
}

/// Readable after `first`, and from then on once every `then`.
fn timer(first: Timespec, then: Timespec) -> IoResult<OwnedFd> {
    let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
    let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
    let times = Itimerspec { it_interval: then, it_value: first };
    timerfd_settime(&timer, TimerfdTimerFlags::empty(), &times)?;
    Ok(timer)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Option<Duration> = Some(Duration::from_secs(600));
    const NO_TIME: Option<Duration> = Some(Duration::ZERO);

    #[test]
    fn a_signal_comes_before_what_is_handed_in() {
        let folder = tempfile::tempdir().unwrap();
        let (sender, mut arrivals) = Arrivals::at(&[folder.path()]).unwrap();
        assert!(matches!(arrivals.wait(NO_TIME), Arrival::Time));
        assert!(sender.send(Arrival::Time));
        std::fs::write(folder.path().join("signal"), "").unwrap();
        assert!(matches!(arrivals.wait(LONG), Arrival::Inbox));
        assert!(matches!(arrivals.wait(LONG), Arrival::Time));
    }

    #[test]
    fn a_folder_that_is_made_later_is_watched_from_then_on() {
        let folder = tempfile::tempdir().unwrap();
        let inbox = folder.path().join("inbox");
        let (_sender, mut arrivals) = Arrivals::at(&[folder.path(), &inbox]).unwrap();
        assert!(matches!(arrivals.wait(NO_TIME), Arrival::Time));
        std::fs::create_dir(&inbox).unwrap();
        assert!(matches!(arrivals.wait(LONG), Arrival::Inbox));
        assert!(matches!(arrivals.wait(NO_TIME), Arrival::Time));
        std::fs::write(inbox.join("signal"), "").unwrap();
        assert!(matches!(arrivals.wait(LONG), Arrival::Inbox));
    }

    #[test]
    fn a_notice_that_is_lost_is_made_up_for() {
        let clock = timer(Timespec { tv_sec: 0, tv_nsec: 1 }, NEVER).unwrap();
        let (_sender, handed_in) = post::post().unwrap();
        let mut arrivals = Arrivals { handed_in, notices: None, missing: Vec::new(), clock };
        assert!(matches!(arrivals.wait(None), Arrival::Inbox));
        assert!(matches!(arrivals.wait(NO_TIME), Arrival::Time));
    }

    #[test]
    fn a_deadline_ends_the_wait_for_what_is_handed_in() {
        let (sender, arrivals) = Arrivals::at(&[]).unwrap();
        let far = deadline(Timespec { tv_sec: 600, tv_nsec: 0 }).unwrap();
        assert!(sender.send(Arrival::Inbox));
        assert!(matches!(arrivals.before(&far), Some(Arrival::Inbox)));
        let near = deadline(Timespec { tv_sec: 0, tv_nsec: 1 }).unwrap();
        assert!(arrivals.before(&near).is_none());
    }
}
