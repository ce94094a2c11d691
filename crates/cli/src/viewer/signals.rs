//! The signals that a viewer hears. A signal that whoever started us has
//! switched off, as `nohup` does, stays off.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM};

use crate::exit::Exit;

/// What the kernel says of a process takes about a third of this.
const STATUS_BYTES: usize = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    Interrupt,
    Terminate,
    HangUp,
}

#[derive(Debug)]
pub(crate) struct Signals {
    flags: [(Heard, Arc<AtomicBool>); 3],
    /// The process was stopped, and goes on.
    resumed: Arc<AtomicBool>,
    /// Readable after a signal, so that a wait for one misses none.
    wake: UnixStream,
}

impl Heard {
    const ALL: [Self; 3] = [Self::Interrupt, Self::Terminate, Self::HangUp];

    pub(crate) fn exit(self) -> Exit {
        match self {
            Self::Interrupt => Exit::Interrupted,
            Self::Terminate => Exit::Terminated,
            Self::HangUp => Exit::HungUp,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
            Self::HangUp => "SIGHUP",
        }
    }

    fn number(self) -> i32 {
        match self {
            Self::Interrupt => SIGINT,
            Self::Terminate => SIGTERM,
            Self::HangUp => SIGHUP,
        }
    }
}

impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        let ignored = ignored_signals();
        let (wake, waker) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        let flags = Heard::ALL.map(|heard| (heard, Arc::new(AtomicBool::new(false))));
        for (heard, flag) in &flags {
            if ignored & (1 << (heard.number() - 1)) == 0 {
                signal_hook::flag::register(heard.number(), Arc::clone(flag))?;
                signal_hook::low_level::pipe::register(heard.number(), waker.try_clone()?)?;
            }
        }
        let resumed = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(SIGCONT, Arc::clone(&resumed))?;
        Ok(Self { flags, resumed, wake })
    }

    /// Whether the process was stopped since the last look: the terminal may
    /// have been somebody else's meanwhile.
    pub(crate) fn was_away(&self) -> bool {
        self.resumed.swap(false, Ordering::SeqCst)
    }

    /// Whether there is a signal to be taken.
    pub(crate) fn have_come(&self) -> bool {
        self.flags.iter().any(|(_, flag)| flag.load(Ordering::SeqCst))
    }

    /// A signal that has come since the last look.
    pub(crate) fn take(&self) -> Option<Heard> {
        let came = self.flags.iter().find(|(_, flag)| flag.swap(false, Ordering::SeqCst));
        came.map(|(heard, _)| *heard)
    }

    /// The next signal, if it comes within `patience`.
    pub(crate) fn wait(&self, patience: Duration) -> Option<Heard> {
        self.drain();
        let timeout = Timespec::try_from(patience).ok();
        loop {
            if let Some(heard) = self.take() {
                return Some(heard);
            }
            let mut waits = [PollFd::new(&self.wake, PollFlags::IN)];
            match poll(&mut waits, timeout.as_ref()) {
                // A signal of ours has written to the stream as well.
                Ok(1..) | Err(rustix::io::Errno::INTR) => self.drain(),
                Ok(0) | Err(_) => return self.take(),
            }
        }
    }

    fn drain(&self) {
        let mut bytes = [0; 64];
        while matches!((&self.wake).read(&mut bytes), Ok(1..)) {}
    }
}

/// The signals that this process ignores from its start, as a mask; signal n
/// is bit n-1.
fn ignored_signals() -> u64 {
    // The file does not say how long it is, and would be read in small pieces.
    let mut status = String::with_capacity(STATUS_BYTES);
    let read = File::open("/proc/self/status").and_then(|mut f| f.read_to_string(&mut status));
    read.map_or(0, |_| mask_of(&status))
}

fn mask_of(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_mask_is_read() {
        assert_eq!(mask_of("Name:\tx\nSigIgn:\t0000000000001001\nSigCgt:\t1\n"), 0x1001);
        assert_eq!(mask_of(""), 0);
    }
}
