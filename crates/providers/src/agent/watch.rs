//! Limits of time of our own. None of the programs gives up by itself when a
//! service hangs, so somebody else must: over all, until the first sign of
//! life, between two of them, and after the turn is over.

use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};

use durable::Span;

use crate::poll::{self, Deadline};
use crate::process::{Ended, Launch, RunError, Sink, SpawnError, run};
use crate::stop::Stop;

/// How long an agent may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For the whole turn.
    pub total: Span,
    /// Until the first event.
    pub start: Span,
    /// From one event to the next. A tool that works is silent as well.
    pub idle: Span,
    /// From the end of the turn to the end of the process, whatever it says.
    pub linger: Span,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            total: Span::from_secs(2 * 3600),
            start: Span::from_secs(5 * 60),
            idle: Span::from_secs(30 * 60),
            linger: Span::from_secs(20),
        }
    }
}

/// Why the process was asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Stopped,
    Total,
    NoStart,
    Idle,
    Lingered,
}

/// What the reading side tells the watching one.
#[derive(Debug, Default)]
pub(super) struct Pulse {
    events: AtomicU64,
    complete: AtomicU64,
}

impl Pulse {
    pub(super) fn beat(&self, events: u64, complete: bool) {
        self.events.store(events, Ordering::Relaxed);
        self.complete.store(u64::from(complete), Ordering::Relaxed);
    }

    fn now(&self) -> (u64, bool) {
        (self.events.load(Ordering::Relaxed), self.complete.load(Ordering::Relaxed) > 0)
    }
}

/// The wishes that a watch looks at and the one that it utters.
#[derive(Debug)]
struct Wishes<'a> {
    /// From outside: the attempt should end.
    stop: &'a Stop,
    /// From the reading side: the process has ended.
    over: &'a Stop,
    /// To the process layer: end it.
    end: &'a Stop,
}

/// How often the shortest limit is looked at, so that silence is found at
/// most a step late.
const STEPS: u64 = 8;

/// Runs a process to its end beside a watch, and says why the watch ended
/// it, if it did. A watch that cannot go on ends it as one whose time is up.
pub(super) fn run_watched(
    launch: &Launch,
    stop: &Stop,
    pulse: &Pulse,
    patience: Patience,
    hear: &mut Sink<'_>,
) -> (Result<Ended, RunError>, Option<Ending>) {
    let (over, end) = match (Stop::new(), Stop::new()) {
        (Ok(over), Ok(end)) => (over, end),
        (Err(error), _) | (_, Err(error)) => return (Err(SpawnError::Other(error).into()), None),
    };
    let wishes = Wishes { stop, over: &over, end: &end };
    std::thread::scope(|scope| {
        let watching = scope.spawn(|| watch(&wishes, pulse, patience));
        let ended = run(launch, &end, hear);
        over.request();
        let ending = match watching.join() {
            Ok(Ok(ending)) => ending,
            Ok(Err(_)) | Err(_) => Some(Ending::Total),
        };
        (ended, ending)
    })
}

/// Watches until the process is over, or asks for its end and says why.
fn watch(wishes: &Wishes<'_>, pulse: &Pulse, patience: Patience) -> io::Result<Option<Ending>> {
    let watched = watching(wishes, pulse, patience);
    // An attempt that cannot be watched must not go on unwatched.
    if !matches!(watched, Ok(None)) {
        wishes.end.request();
    }
    watched
}

fn watching(wishes: &Wishes<'_>, pulse: &Pulse, patience: Patience) -> io::Result<Option<Ending>> {
    let Patience { start, idle, linger, .. } = patience;
    let total = Deadline::after(patience.total)?;
    let step = start.min(idle).min(linger).millis().div_ceil(STEPS);
    let mut seen = pulse.now();
    let mut quiet = 0;
    loop {
        let step_over = Deadline::after(Span::from_millis(step))?;
        let ready = poll::wait(&[
            wishes.over.as_fd(),
            wishes.stop.as_fd(),
            total.as_fd(),
            step_over.as_fd(),
        ])?;
        match ready[..] {
            [true, ..] => return Ok(None),
            [_, true, ..] => return Ok(Some(Ending::Stopped)),
            [_, _, true, _] => return Ok(Some(Ending::Total)),
            _ => {}
        }
        let now = pulse.now();
        // After the end of a turn nothing that comes is a sign of work.
        let (_, complete) = now;
        quiet = if now == seen || complete && seen.1 { quiet + step } else { 0 };
        seen = now;
        let (limit, ending) = match seen {
            (_, true) => (linger, Ending::Lingered),
            (0, false) => (start, Ending::NoStart),
            (_, false) => (idle, Ending::Idle),
        };
        if quiet >= limit.millis() {
            return Ok(Some(ending));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Span = Span::from_secs(3600);
    const SHORT: Span = Span::from_millis(16);

    fn ends(patience: Patience, events: u64, complete: bool) -> Option<Ending> {
        let [stop, over, end] = [(); 3].map(|()| Stop::new().unwrap());
        let pulse = Pulse::default();
        pulse.beat(events, complete);
        let wishes = Wishes { stop: &stop, over: &over, end: &end };
        let ending = watch(&wishes, &pulse, patience).unwrap();
        assert!(end.requested());
        ending
    }

    #[test]
    fn each_limit_ends_what_it_is_for() {
        let never = Patience { total: LONG, start: LONG, idle: LONG, linger: LONG };
        let patience = Patience { total: SHORT, ..never };
        assert_eq!(ends(patience, 0, false), Some(Ending::Total));
        let patience = Patience { start: SHORT, ..never };
        assert_eq!(ends(patience, 0, false), Some(Ending::NoStart));
        let patience = Patience { idle: SHORT, ..never };
        assert_eq!(ends(patience, 3, false), Some(Ending::Idle));
        let patience = Patience { linger: SHORT, ..never };
        assert_eq!(ends(patience, 3, true), Some(Ending::Lingered));
    }

    #[test]
    fn what_is_over_is_not_ended_and_a_stop_is_passed_on() {
        let [stop, over, end] = [(); 3].map(|()| Stop::new().unwrap());
        let pulse = Pulse::default();
        stop.request();
        let wishes = Wishes { stop: &stop, over: &over, end: &end };
        assert_eq!(watch(&wishes, &pulse, Patience::default()).unwrap(), Some(Ending::Stopped));
        assert!(end.requested());
        over.request();
        let unheard = Stop::new().unwrap();
        let wishes = Wishes { stop: &stop, over: &over, end: &unheard };
        assert_eq!(watch(&wishes, &pulse, Patience::default()).unwrap(), None);
        assert!(!unheard.requested());
    }
}
