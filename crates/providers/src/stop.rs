//! The wish that an attempt should end, set from another thread. It is a
//! level: once requested it stays so, for whoever looks and however late.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use durable::Span;
use rustix::event::{EventfdFlags, eventfd};

use crate::poll::{self, Deadline};

/// A handle on the wish; clones share it.
#[derive(Debug, Clone)]
pub struct Stop(Arc<Level>);

#[derive(Debug)]
struct Level {
    raised: AtomicBool,
    /// Readable once raised.
    fd: OwnedFd,
}

impl Stop {
    /// Fails only when the process has no descriptors left.
    pub fn new() -> io::Result<Self> {
        let fd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self(Arc::new(Level { raised: AtomicBool::new(false), fd })))
    }

    /// Asks for the end. Nothing ever reads the counter, so it stays raised;
    /// the one error a write can meet is a counter that is full already.
    pub fn request(&self) {
        self.0.raised.store(true, Ordering::SeqCst);
        let _full = rustix::io::write(&self.0.fd, &1u64.to_ne_bytes());
    }

    /// Does `work` with a wish of its own, which is raised with this one, or
    /// when so much time has passed. Also says whether it was the time.
    pub fn within<T>(&self, span: Span, work: impl FnOnce(&Self) -> T) -> io::Result<(T, bool)> {
        let (inner, over, deadline) = (Self::new()?, Self::new()?, Deadline::after(span)?);
        let watched = thread::scope(|scope| {
            let watch = scope.spawn(|| {
                let ready = poll::wait(&[over.as_fd(), self.as_fd(), deadline.as_fd()]);
                let ended = ready.is_ok_and(|ready| ready.first() == Some(&true));
                if !ended {
                    inner.request();
                }
                !ended && !self.requested() && deadline.passed()
            });
            // Raised also when the work panics, or nobody would come back.
            let over = RequestOnDrop(&over);
            let done = work(&inner);
            drop(over);
            (done, watch.join().unwrap_or(false))
        });
        Ok(watched)
    }

    pub fn requested(&self) -> bool {
        self.0.raised.load(Ordering::SeqCst)
    }
}

struct RequestOnDrop<'a>(&'a Stop);

impl Drop for RequestOnDrop<'_> {
    fn drop(&mut self) {
        self.0.request();
    }
}

/// For a poll beside other descriptors: readable once requested.
impl AsFd for Stop {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.fd.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_a_level_that_every_clone_sees_however_often_it_is_asked() {
        let stop = Stop::new().unwrap();
        let other = stop.clone();
        assert!(!other.requested());
        stop.request();
        stop.request();
        assert!(other.requested() && other.requested() && stop.requested());
    }

    #[test]
    fn work_within_a_time_is_stopped_by_the_time_or_by_the_wish_around_it() {
        let stop = Stop::new().unwrap();
        let wait = |inner: &Stop| poll::wait(&[inner.as_fd()]).is_ok();
        assert_eq!(stop.within(Span::from_millis(1), wait).unwrap(), (true, true));
        assert_eq!(stop.within(Span::from_secs(3600), |_| 5).unwrap(), (5, false));
        stop.request();
        assert_eq!(stop.within(Span::from_secs(3600), wait).unwrap(), (true, false));
    }
}
