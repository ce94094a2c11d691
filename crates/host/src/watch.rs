//! Waiting for files and for time.

use rustix::event::{PollFd, Timespec, poll};

/// Waits for a while.
pub(crate) fn pause_for(time: std::time::Duration) {
    pause(&mut [], Timespec::try_from(time).ok().as_ref());
}

/// Waits for one of the files, or for the time. A wait that fails or is cut
/// short is a shorter wait: whoever waited looks for itself.
pub(crate) fn pause(waits: &mut [PollFd<'_>], time: Option<&Timespec>) {
    match poll(waits, time) {
        Ok(_) | Err(_) => {}
    }
}
