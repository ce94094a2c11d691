//! Waiting for a descriptor, but no longer than a deadline that covers the
//! whole exchange, and not once the attempt is asked to stop. No clock is
//! read: the deadline is a descriptor too.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use providers::Stop;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

#[derive(Debug)]
pub(super) struct Patience {
    stop: Stop,
    deadline: OwnedFd,
}

/// How a wait ended. A stop counts before a deadline, and both before what
/// was waited for: who keeps sending is still late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waited {
    Ready,
    Stopped,
    Late,
}

impl Patience {
    pub(super) fn new(stop: &Stop, timeout: Duration) -> io::Result<Self> {
        let deadline = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
        // A zero value would disarm the timer; the shortest wait is 1 ns.
        let timeout = timeout.max(Duration::from_nanos(1));
        let value = Timespec {
            tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        };
        let never_again = Timespec { tv_sec: 0, tv_nsec: 0 };
        let spec = Itimerspec { it_interval: never_again, it_value: value };
        timerfd_settime(&deadline, TimerfdTimerFlags::empty(), &spec)?;
        Ok(Self { stop: stop.clone(), deadline })
    }

    /// Waits until `fd` can be read.
    pub(super) fn until_readable(&self, fd: BorrowedFd<'_>) -> io::Result<Waited> {
        self.wait(fd, PollFlags::IN)
    }

    /// Waits until `fd` can be written.
    pub(super) fn until_writable(&self, fd: BorrowedFd<'_>) -> io::Result<Waited> {
        self.wait(fd, PollFlags::OUT)
    }

    fn wait(&self, fd: BorrowedFd<'_>, what: PollFlags) -> io::Result<Waited> {
        let mut set = [
            PollFd::from_borrowed_fd(self.stop.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.deadline.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(fd, what),
        ];
        rustix::io::retry_on_intr(|| poll(&mut set, None))?;
        let [stopped, late, _] = set.map(|fd| !fd.revents().is_empty());
        Ok(match (stopped, late) {
            (true, _) => Waited::Stopped,
            (false, true) => Waited::Late,
            (false, false) => Waited::Ready,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_counts_before_a_deadline_and_both_before_what_is_ready() {
        let (reader, writer) = io::pipe().unwrap();
        drop(writer);
        let stop = Stop::new().unwrap();
        let waited = |timeout| {
            Patience::new(&stop, timeout).unwrap().until_readable(reader.as_fd()).unwrap()
        };
        let far = Duration::from_secs(3600);
        assert_eq!(waited(far), Waited::Ready);
        let late = Patience::new(&stop, Duration::ZERO).unwrap();
        let (silent, _held) = io::pipe().unwrap();
        assert_eq!(late.until_readable(silent.as_fd()).unwrap(), Waited::Late);
        assert_eq!(late.until_readable(reader.as_fd()).unwrap(), Waited::Late);
        stop.request();
        assert_eq!(late.until_readable(reader.as_fd()).unwrap(), Waited::Stopped);
        assert_eq!(waited(Duration::MAX), Waited::Stopped);
    }
}
