//! The life of runs on one disk, up to the first error: what a command and
//! its workers do, with the real store, machine and loop, in one thread.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use blueprint::{Budget, Program};
use durable::disk::{Lock, SharedDisk};
use durable::sim::{ManualClock, SeededEntropy};
use durable::{Clock as _, Digest, Span, Timestamp};
use engine::retry::{Kept, Verdict, keep};
use engine::{Event, Input, Launch, NodeStatus, RunMachine, RunState, Signal, Site, Verb};
use host::worker::{Left, drive};
use runstore::{
    Adopted, Home, Invocation, NewRun, RetryOf, RunPlace, RunWriter, adopt, create, new_run_id,
};

use crate::performer::Performer;
use crate::scenario::{Act, Scenario, Word};
use crate::witness::{Record, Told, Witness};

pub type Failure = Box<dyn Error + Send + Sync>;

/// When every scenario begins, in milliseconds.
const BEGIN: i64 = 1_764_500_000_000;

/// Everyone who touches the runs of one home, from one crash to the next.
#[derive(Debug)]
pub struct Theatre<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) home: Home,
    pub(crate) disk: SharedDisk,
    pub(crate) record: Record,
    pub(crate) clock: ManualClock,
    pub(crate) entropy: SeededEntropy,
}

/// What an owner found and left.
#[derive(Debug, Clone)]
pub struct Owned {
    pub place: RunPlace,
    /// The state that it found.
    pub found: RunState,
    pub last: RunState,
    pub left: Left,
}

impl<'a> Theatre<'a> {
    /// `part` is how many crashes lie behind: later parts have other times
    /// and other chance.
    pub fn new(
        scenario: &'a Scenario,
        disk: SharedDisk,
        home: PathBuf,
        told: Told,
        part: u64,
    ) -> Self {
        let record = Record::new(told);
        let clock = ManualClock::new(Timestamp::from_millis(BEGIN));
        clock.advance(Span::from_secs(part * 3600));
        Self {
            scenario,
            home: Home::at(home),
            disk: Arc::new(Witness::new(disk, record.clone())),
            record,
            clock,
            entropy: SeededEntropy::new(part),
        }
    }

    pub fn told(&self) -> Told {
        self.record.told()
    }

    /// Performs these acts in order.
    pub fn perform(&self, acts: &[Act]) -> Result<(), Failure> {
        let mut lock = None;
        for act in acts {
            if !matches!(act, Act::Create | Act::Retry) && self.has_ended() {
                continue;
            }
            match act {
                Act::Create => lock = Some(self.create(None)?),
                Act::Drive => {
                    let place = self.newest();
                    let lock = match lock.take() {
                        Some(lock) => lock,
                        None => self.take(&place)?,
                    };
                    let words = &self.scenario.words;
                    self.own(&place, lock, &mut Performer::new(self, &place, words))?;
                }
                Act::Say(word) => self.say(&self.newest(), word)?,
                Act::Retry => lock = Some(self.retry(&self.newest())?),
            }
        }
        Ok(())
    }

    /// Takes a run and drives it as a worker does.
    pub(crate) fn own(
        &self,
        place: &RunPlace,
        lock: Lock,
        world: &mut Performer<'_>,
    ) -> Result<Owned, Failure> {
        let Adopted { writer, opened, cut } = adopt(&self.disk, place, lock)?;
        let program = self.program(opened.blueprint.as_deref())?;
        let call = opened.invocation.as_deref().ok_or("the invocation is missing")?;
        let invocation = Invocation::decode(call)?;
        let first = if opened.state.started.is_none() {
            let retry = invocation.retry.as_ref().map(|retry| self.kept_for(place, retry));
            Input::Launch(Box::new(Launch {
                run_id: place.run.clone(),
                input: invocation.input,
                blueprint_digest: Digest::of(opened.blueprint.as_deref().unwrap_or_default()),
                invocation_digest: Digest::of(call),
                principal: invocation.memory_principal,
                retry: retry.transpose()?.map(Box::new),
                parent: None,
                deadline: None,
                budget: Budget::default(),
            }))
        } else {
            Input::Opened { cut: cut.map_or(0, |cut| cut.bytes) }
        };
        if matches!(self.disk.stat(&place.inbox()), Ok(None)) {
            drop(self.disk.create_dir(&place.inbox()));
        }
        self.drive(place, writer, program, opened.state, first, world)
    }

    pub(crate) fn drive(
        &self,
        place: &RunPlace,
        mut writer: RunWriter,
        program: Arc<Program>,
        found: RunState,
        first: Input,
        world: &mut Performer<'_>,
    ) -> Result<Owned, Failure> {
        let artifacts = place.artifacts().display().to_string();
        let mut machine = RunMachine::open(program, found.clone(), artifacts);
        machine.handle(first, self.clock.now());
        let left = drive(world, &*self.disk, &mut writer, &mut machine)?;
        self.record.lock().left.insert(place.clone(), left);
        let last = machine.state().clone();
        Ok(Owned { place: place.clone(), found, last, left })
    }

    pub(crate) fn say(&self, place: &RunPlace, word: &Word) -> Result<(), Failure> {
        let Word::Verb(verb) = word else {
            return Ok(self.disk.create(&place.cancel_marker(), b"")?);
        };
        self.clock.advance(Span::from_millis(1));
        let id = runstore::inbox::new_signal_id(self.clock.now(), &self.entropy);
        let signal = Signal { id, verb: verb.clone(), actor: "ada".to_owned(), note: None };
        runstore::inbox::put(&*self.disk, place, &signal, &self.entropy)?;
        self.record.lock().signals.push((place.clone(), signal.id));
        Ok(())
    }

    /// Says yes at every gate and gives the run to an owner.
    pub(crate) fn go_on(&self, place: &RunPlace, state: &RunState) -> Result<Owned, Failure> {
        for gate in &state.waiting {
            self.say(place, &Word::Verb(Verb::Approve { node: Some(gate.clone()) }))?;
        }
        let lock = self.take(place)?;
        self.own(place, lock, &mut Performer::new(self, place, &[]))
    }

    pub(crate) fn take(&self, place: &RunPlace) -> Result<Lock, Failure> {
        let lock = runstore::lock::take(&*self.disk, place)?;
        Ok(lock.ok_or_else(|| format!("run {} is owned by someone", place.run))?)
    }

    /// The graph that a run keeps, which is the scenario's.
    pub(crate) fn program(&self, snapshot: Option<&[u8]>) -> Result<Arc<Program>, Failure> {
        match snapshot {
            Some(bytes) if bytes == self.scenario.snapshot => {
                Ok(Arc::clone(&self.scenario.program))
            }
            Some(_) => Err("the run's blueprint.json is another one".into()),
            None => Err("the run's blueprint.json is missing".into()),
        }
    }

    fn create(&self, retry: Option<RetryOf>) -> Result<Lock, Failure> {
        self.clock.advance(Span::from_secs(1));
        let run = new_run_id(self.clock.now(), &self.entropy);
        let place = self.home.place(self.scenario.program.id(), &run);
        let invocation =
            Invocation { input: self.scenario.input.clone(), retry, ..Invocation::default() };
        let new = NewRun {
            blueprint: Some(&self.scenario.snapshot),
            invocation: &invocation.encode(),
            automations: &[],
        };
        let created = create(&*self.disk, &place, &new, &self.entropy)?;
        self.record.lock().created.push(place);
        Ok(created.lock)
    }

    fn retry(&self, place: &RunPlace) -> Result<Lock, Failure> {
        let state = runstore::open(&*self.disk, place)?.state;
        let unknown = state.nodes.iter().filter(|(_, node)| node.status == NodeStatus::Unknown);
        let redo = unknown.map(|(node, _)| node.to_string()).collect();
        let retry = RetryOf { run_id: place.run.to_string(), redo, ..RetryOf::default() };
        let lock = self.create(Some(retry))?;
        runstore::retries::note(&*self.disk, place, &self.newest().run)?;
        Ok(lock)
    }

    fn kept_for(&self, place: &RunPlace, retry: &RetryOf) -> Result<Kept, Failure> {
        let old = place.home.place(&place.blueprint, &engine::RunId::new(&retry.run_id)?);
        let opened = runstore::open(&*self.disk, &old)?;
        let redo = retry.redo.iter().map(|node| (Site::parse(node), Verdict::Redo));
        let events = self.events(&old)?;
        Ok(keep(&self.scenario.program, &opened.state, &events, &redo.collect())?)
    }

    pub(crate) fn events(&self, place: &RunPlace) -> Result<Vec<Event>, Failure> {
        let mut events = Vec::new();
        runstore::read::each(&*self.disk, place, |event| {
            events.push(event);
            std::ops::ControlFlow::Continue(())
        })?;
        Ok(events)
    }

    /// Nobody says or starts anything after the end of a run.
    fn has_ended(&self) -> bool {
        let newest = self.newest();
        matches!(self.record.lock().left.get(&newest), Some(Left::Closed(_)))
    }

    /// The run that was created last.
    fn newest(&self) -> RunPlace {
        self.record.lock().created.last().cloned().expect("a scenario creates a run first")
    }
}
