//! The wish that an attempt should end, set from another thread. It is a
//! level: once requested it stays so, for whoever looks and however late.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{EventfdFlags, eventfd};

use crate::poll;

/// A handle on the wish; clones share it.
#[derive(Debug, Clone)]
pub struct Stop(Arc<OwnedFd>);

impl Stop {
    /// Fails only when the process has no descriptors left.
    pub fn new() -> io::Result<Self> {
        Ok(Self(Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)))
    }

    /// Asks for the end. Nothing ever reads the counter, so it stays raised;
    /// the one error a write can meet is a counter that is full already.
    pub fn request(&self) {
        let _full = rustix::io::write(&*self.0, &1u64.to_ne_bytes());
    }

    pub fn requested(&self) -> bool {
        poll::is_readable(self.as_fd())
    }
}

/// For a poll beside other descriptors: readable once requested.
impl AsFd for Stop {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
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
}
