//! After the death of an owner: records what it left. A run is alive if its
//! lock is held, and parked if it only waits for someone; every other open
//! run is recorded as interrupted by the next holder of its lock.

use std::sync::Arc;

use durable::{Clock, Timestamp};
use engine::{AttemptKey, Input, RunMachine, RunStatus, Work};
use runstore::index::Believe;
use runstore::{Adopted, OpenError, RunPlace, adopt};

use crate::Host;
use crate::api::{HostError, Recovered, RecoveryAction};
use crate::library::store;
use crate::work::{adopt_fault, snapshots};
use crate::worker::{Arrival, World, drive};

/// What is said of a run that nobody has begun.
const NEVER_BEGAN: &str = "the worker of the run ended before the run began";

impl Host {
    /// Looks at every open run of the home and recovers those without an
    /// owner.
    pub fn recover(&self) -> Result<Vec<Recovered>, HostError> {
        let places = match self.fresh_open_runs() {
            Some(open) => open.places().to_vec(),
            None => runstore::list::all(&*self.disk, &self.home).map_err(|fault| store(&fault))?,
        };
        let recovered = places.iter().filter_map(|place| {
            let action = match self.recover_run(place) {
                Ok(action) => action?,
                Err(HostError { code, message, hint, .. }) => {
                    RecoveryAction::Left { code, why: message, hint }
                }
            };
            Some(Recovered { run_id: place.run.to_string(), action })
        });
        let mut recovered: Vec<Recovered> = recovered.collect();
        recovered.extend(self.sweep_worktrees()?);
        Ok(recovered)
    }

    /// Whether recovery would find nothing to do but with this run: all others
    /// that go on have an owner. Who asks while there is nothing else to do
    /// spares the look afterwards. An index that is not sound is left to
    /// recovery: the worker may just be writing to it.
    pub fn others_are_owned(&self, run: &str) -> bool {
        // One whose making was cut short never came to be.
        let is_missing = |place: &RunPlace| matches!(self.disk.stat(&place.folder()), Ok(None));
        let is_owned = |place: &RunPlace| {
            place.run.as_str() == run
                || matches!(self.is_owned(place), Ok(true))
                || is_missing(place)
        };
        let open = self.open_runs().filter(|open| !open.is_long());
        open.is_some_and(|open| open.places().iter().all(is_owned)) && !self.has_worktrees()
    }

    /// The same for every run of the home, whatever the index says, which is
    /// made anew.
    pub fn recover_all(&self) -> Result<Vec<Recovered>, HostError> {
        self.rebuild_index(Believe::Nothing)?;
        self.recover()
    }

    pub(crate) fn recover_run(
        &self,
        place: &RunPlace,
    ) -> Result<Option<RecoveryAction>, HostError> {
        // Most open runs are being worked on, and need no look into their logs.
        if self.is_owned(place)? {
            return Ok(None);
        }
        let summary = match runstore::list::summary(&*self.disk, place) {
            Ok(summary) => summary,
            // A creator that died before its run was whole left nothing.
            Err(OpenError::NoRun { .. }) => return Ok(None),
            Err(fault) => return Err(crate::reading::open_fault(&fault)),
        };
        if matches!(summary.status, RunStatus::Completed | RunStatus::Failed) {
            self.settle(&summary);
            return Ok(None);
        }
        if summary.parked && !self.has_signals(place)? && !self.is_due(place)? {
            return Ok(None);
        }
        let Some(lock) = runstore::lock::take(&*self.disk, place).map_err(|fault| store(&fault))?
        else {
            return Ok(None);
        };
        let opened = self.opened(place)?;
        let resumable = match snapshots(place, &opened) {
            Ok((program, _)) => program.on_interrupt() == blueprint::OnInterrupt::Resume,
            Err(_) => false,
        };
        if opened.state.closed.is_some() {
            return Ok(None);
        }
        // One whose children go on comes to its end only after theirs.
        let waits = opened.state.is_parked() || !opened.state.children.is_empty();
        if waits || (resumable && opened.state.started.is_some()) {
            self.spawn_worker(place, lock)?;
            return Ok(Some(RecoveryAction::Resumed));
        }
        self.record_interruption(place, lock).map(Some)
    }

    /// An owner that died in its last step has told nobody of the end.
    fn settle(&self, ended: &runstore::Summary) {
        if runstore::repair::tidy(&*self.disk, &ended.place).is_ok() {
            runstore::index::note(&*self.disk, ended);
        }
    }

    pub(crate) fn record_interruption(
        &self,
        place: &RunPlace,
        lock: durable::disk::Lock,
    ) -> Result<RecoveryAction, HostError> {
        let adopted = adopt(&self.disk, place, lock).map_err(|fault| adopt_fault(&fault))?;
        let Adopted { mut writer, opened, cut } = adopted;
        let killed = self.processes.reap(place)?;
        if opened.state.started.is_none() {
            let event = self.launch_failure(&opened.state, NEVER_BEGAN.to_owned());
            writer.append(std::slice::from_ref(&event)).map_err(|fault| store(&fault))?;
            let mut state = opened.state;
            if engine::fold(&mut state, &event).is_ok() {
                runstore::index::ended(&*self.disk, &writer, &state);
            }
            drop(writer);
            self.tell_parent(place)?;
            // Nothing has worked in it.
            self.clear_worktree_of(place);
            return Ok(RecoveryAction::Interrupted { killed });
        }
        let (program, _) = snapshots(place, &opened)?;
        let mut machine = RunMachine::open(Arc::new(program), opened.state, String::new());
        let mut nobody = Nobody { clock: Arc::clone(&self.clock) };
        let cut = cut.map_or(0, |cut| cut.bytes);
        machine.handle(Input::Opened { cut }, self.clock.now());
        drive(&mut nobody, &*self.disk, &mut writer, &mut machine)
            .map_err(|fault| store(&fault))?;
        drop(writer);
        self.processes.settle(place);
        self.tell_parent(place)?;
        Ok(RecoveryAction::Interrupted { killed })
    }

    /// The record of a run whose worker could not begin.
    pub(crate) fn launch_failure(&self, state: &engine::RunState, error: String) -> engine::Event {
        let reason = engine::FailReason::Launch;
        let fact = engine::Fact::RunFailed { reason, error, node: None };
        engine::Event { seq: state.next_seq, at: self.clock.now(), fact }
    }

    pub(crate) fn has_signals(&self, place: &RunPlace) -> Result<bool, HostError> {
        let inbox = runstore::inbox::pending(&*self.disk, place).map_err(|fault| store(&fault))?;
        Ok(!inbox.signals.is_empty())
    }
}

/// The world of an owner that only records: a run that ends starts nothing.
#[derive(Debug)]
struct Nobody {
    clock: Arc<dyn Clock>,
}

impl World for Nobody {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn start(&mut self, work: Work) {
        unreachable!("a run that is being recorded as interrupted starts nothing, not {}", work.key)
    }

    fn stop(&mut self, _: &AttemptKey) {}

    fn wait(&mut self, _: Option<Timestamp>) -> Arrival {
        Arrival::Time
    }

    fn stays(&self, _: Option<Timestamp>) -> bool {
        false
    }

    fn leave(&mut self) {}

    fn note(&mut self, _: &str) {}
}
