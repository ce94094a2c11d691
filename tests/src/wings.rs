//! The processes of a simulated host: they live in the judge's own thread,
//! one after the other, when whoever is on the stage waits or has left.

use std::collections::VecDeque;
use std::error::Error;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use durable::Span;
use durable::disk::Lock;
use host::Processes;
use host::api::HostError;
use runstore::RunPlace;

use crate::life::Theatre;
use crate::oracle::chain;

/// Someone who has something to do.
#[derive(Debug)]
pub(crate) enum Due {
    /// A worker that was started and holds its run.
    Work(RunPlace, Lock),
    /// A worker whose run is over, and whose parent may not know.
    Tell(RunPlace),
}

#[derive(Debug)]
pub(crate) struct Wings {
    theatre: Weak<Theatre>,
    due: Mutex<VecDeque<Due>>,
    trouble: Mutex<Option<String>>,
}

impl Wings {
    pub(crate) fn new(theatre: Weak<Theatre>) -> Self {
        Self { theatre, due: Mutex::default(), trouble: Mutex::default() }
    }

    pub(crate) fn push(&self, due: Due) {
        self.due().push_back(due);
    }

    pub(crate) fn next_worker(&self) -> Option<(RunPlace, Lock)> {
        let mut due = self.due();
        let at = due.iter().position(|one| matches!(one, Due::Work(..)))?;
        match due.remove(at)? {
            Due::Work(place, lock) => Some((place, lock)),
            Due::Tell(_) => None,
        }
    }

    pub(crate) fn next_to_tell(&self) -> Option<RunPlace> {
        let mut due = self.due();
        let at = due.iter().position(|one| matches!(one, Due::Tell(_)))?;
        match due.remove(at)? {
            Due::Tell(place) => Some(place),
            Due::Work(..) => None,
        }
    }

    /// A process came to a bad end, of which nobody else hears.
    pub(crate) fn note(&self, place: &RunPlace, error: &(dyn Error + 'static)) {
        let text = format!("run {}: {}", place.run, chain(error));
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(text);
    }

    pub(crate) fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn due(&self) -> MutexGuard<'_, VecDeque<Due>> {
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Processes for Wings {
    fn spawn(&self, _: &Path, place: &RunPlace, lock: Lock) -> Result<(), HostError> {
        self.push(Due::Work(place.clone(), lock));
        Ok(())
    }

    /// Attempts end with the worker in whose thread they are.
    fn reap(&self, _: &RunPlace) -> Result<usize, HostError> {
        Ok(0)
    }

    fn era(&self, _: &Path) -> Option<String> {
        self.theatre.upgrade().map(|theatre| theatre.record.lock().era())
    }

    fn pause(&self, time: Duration) {
        let Some(theatre) = self.theatre.upgrade() else { return };
        theatre.clock.advance(Span::from_millis(u64::try_from(time.as_millis()).unwrap_or(0)));
        theatre.next_worker();
    }
}
