//! What the next command does about runs whose owner died: it looks at every
//! run of the home, and records or goes on with those that need it. This
//! follows `host`'s recovery step by step, with its workers run here.

use std::sync::Arc;

use engine::{Event, Fact, FailReason, Input, RunStatus};
use host::worker::Left;
use runstore::{Adopted, OpenError, RunPlace, adopt};

use blueprint::OnInterrupt;
use durable::Clock as _;
use durable::disk::Lock;

use crate::life::{Failure, Owned, Theatre};
use crate::performer::Performer;

impl Theatre<'_> {
    /// Recovers every run of the home that needs it.
    pub fn recover(&self) -> Result<Vec<Owned>, Failure> {
        let mut recovered = Vec::new();
        for place in runstore::list::all(&*self.disk, &self.home)? {
            recovered.extend(self.recover_run(&place)?);
        }
        Ok(recovered)
    }

    fn recover_run(&self, place: &RunPlace) -> Result<Option<Owned>, Failure> {
        let summary = match runstore::list::summary(&*self.disk, place) {
            Ok(summary) => summary,
            Err(OpenError::NoRun { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if matches!(summary.status, RunStatus::Completed | RunStatus::Failed)
            || runstore::lock::is_owned(&*self.disk, place)?
            || (summary.parked && !self.has_signals(place)?)
        {
            return Ok(None);
        }
        let lock = self.take(place)?;
        let state = runstore::open(&*self.disk, place)?.state;
        if state.closed.is_some() {
            return Ok(None);
        }
        let resumes = self.scenario.program.on_interrupt() == OnInterrupt::Resume;
        if (resumes && state.started.is_some()) || state.is_parked() {
            return self.own(place, lock, &mut Performer::new(self, place, &[])).map(Some);
        }
        self.record_interruption(place, lock).map(Some)
    }

    fn record_interruption(&self, place: &RunPlace, lock: Lock) -> Result<Owned, Failure> {
        let Adopted { mut writer, opened, cut } = adopt(&self.disk, place, lock)?;
        let found = opened.state;
        if found.started.is_none() {
            let fact = Fact::RunFailed {
                reason: FailReason::Launch,
                error: "the worker of the run ended before the run began".to_owned(),
                node: None,
            };
            let event = Event { seq: found.next_seq, at: self.clock.now(), fact };
            writer.append(std::slice::from_ref(&event))?;
            let mut last = found.clone();
            engine::fold(&mut last, &event)?;
            let left = Left::Closed(last.status());
            self.record.lock().left.insert(place.clone(), left);
            return Ok(Owned { place: place.clone(), found, last, left });
        }
        let program = self.program(opened.blueprint.as_deref())?;
        let first = Input::Opened { cut: cut.map_or(0, |cut| cut.bytes) };
        let mut nobody = Performer::recorder(self, place);
        self.drive(place, writer, Arc::clone(&program), found, first, &mut nobody)
    }

    pub(crate) fn has_signals(&self, place: &RunPlace) -> Result<bool, Failure> {
        Ok(!runstore::inbox::pending(&*self.disk, place)?.signals.is_empty())
    }
}
