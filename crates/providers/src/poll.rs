//! Waiting, without sleeping and without reading a clock: everything that
//! can end a wait is a descriptor, and a deadline is one too.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use durable::Span;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

/// A moment to come, on the clock that nobody can set. Its descriptor is
/// readable from that moment on.
#[derive(Debug)]
pub(crate) struct Deadline(OwnedFd);

impl Deadline {
    pub(crate) fn after(span: Span) -> io::Result<Self> {
        let fd = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
        // A zero value would disarm the timer; the shortest wait is 1 ns.
        let value = if span == Span::ZERO { timespec(0, 1) } else { timespec(span.millis(), 0) };
        let spec = Itimerspec { it_interval: timespec(0, 0), it_value: value };
        timerfd_settime(&fd, TimerfdTimerFlags::empty(), &spec)?;
        Ok(Self(fd))
    }

    pub(crate) fn passed(&self) -> bool {
        is_readable(self.0.as_fd())
    }
}

impl AsFd for Deadline {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Waits until at least one descriptor is readable, hung up or broken, and
/// says which.
pub(crate) fn wait(fds: &[BorrowedFd<'_>]) -> io::Result<Vec<bool>> {
    look(fds, None)
}

/// Whether a read, or a look at a level, would not wait. A descriptor that
/// cannot be polled counts as not readable.
pub(crate) fn is_readable(fd: BorrowedFd<'_>) -> bool {
    look(&[fd], Some(&timespec(0, 0))).is_ok_and(|ready| ready == [true])
}

fn look(fds: &[BorrowedFd<'_>], timeout: Option<&Timespec>) -> io::Result<Vec<bool>> {
    let mut set: Vec<_> =
        fds.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
    rustix::io::retry_on_intr(|| poll(&mut set, timeout))?;
    Ok(set.iter().map(|fd| !fd.revents().is_empty()).collect())
}

fn timespec(millis: u64, nanos: i64) -> Timespec {
    let secs = i64::try_from(millis / 1000).unwrap_or(i64::MAX);
    // A remainder below 1000 ms always fits.
    let rest = i64::try_from(millis % 1000).unwrap_or(0) * 1_000_000;
    Timespec { tv_sec: secs, tv_nsec: rest + nanos }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_a_level_that_stays_once_it_has_come() {
        let soon = Deadline::after(Span::ZERO).unwrap();
        assert_eq!(wait(&[soon.as_fd()]).unwrap(), [true]);
        assert!(soon.passed() && soon.passed());
        let far = Deadline::after(Span::from_secs(3600)).unwrap();
        assert!(!far.passed());
        assert_eq!(wait(&[far.as_fd(), soon.as_fd()]).unwrap(), [false, true]);
    }

    #[test]
    fn the_longest_span_is_far_away_and_no_error() {
        assert!(!Deadline::after(Span::from_millis(u64::MAX)).unwrap().passed());
    }
}
