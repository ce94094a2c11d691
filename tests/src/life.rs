//! The life of runs on one disk, up to the first error: what commands and
//! their workers do, with the real host, store, machine and loop, in one
//! thread. A worker that the host starts waits in the wings until someone
//! who plays has nothing to do.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use durable::disk::{Lock, SharedDisk};
use durable::sim::{ManualClock, SeededEntropy};
use durable::{Clock as _, Digest, Span, Timestamp};
use engine::{Event, NodeStatus, RunState, Signal, Verb};
use host::api::{Recovered, RecoveryAction};
use host::worker::Left;
use host::{Host, HostConfig, Surroundings};
use runstore::{Automation, Home, Invocation, NewRun, RetryOf, RunPlace, create, new_run_id};

use crate::performer::Performer;
use crate::scenario::{Act, Scenario, Word};
use crate::wings::{Due, Wings};
use crate::witness::{Record, Told, Witness};

pub type Failure = Box<dyn Error + Send + Sync>;

/// When every scenario begins, in milliseconds.
const BEGIN: i64 = 1_764_500_000_000;

/// Everyone who touches the runs of one home, from one crash to the next.
#[derive(Debug)]
pub struct Theatre {
    pub(crate) scenario: Arc<Scenario>,
    pub(crate) host: Host,
    pub(crate) home: Home,
    pub(crate) disk: SharedDisk,
    pub(crate) record: Record,
    pub(crate) clock: ManualClock,
    pub(crate) entropy: Arc<SeededEntropy>,
    pub(crate) wings: Arc<Wings>,
}

impl Theatre {
    /// `part` is how many crashes lie behind: later parts have other times
    /// and other chance.
    pub fn new(
        scenario: &Arc<Scenario>,
        disk: SharedDisk,
        home: PathBuf,
        told: Told,
        part: u64,
    ) -> Arc<Self> {
        let record = Record::new(told);
        let clock = ManualClock::new(Timestamp::from_millis(BEGIN));
        clock.advance(Span::from_secs(part * 3600));
        let disk: SharedDisk = Arc::new(Witness::new(disk, record.clone()));
        let entropy = Arc::new(SeededEntropy::new(part));
        let config = HostConfig {
            home: home.clone(),
            executable: PathBuf::from("wardian"),
            current_dir: home.clone(),
        };
        let home = Home::at(home);
        Arc::new_cyclic(|theatre| {
            let wings = Arc::new(Wings::new(theatre.clone()));
            let surroundings = Surroundings {
                disk: disk.clone(),
                clock: Arc::new(clock.clone()),
                entropy: entropy.clone(),
                processes: wings.clone(),
            };
            let host = Host::within(home.clone(), config, surroundings);
            let scenario = Arc::clone(scenario);
            Self { scenario, host, home, disk, record, clock, entropy, wings }
        })
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
                    let driven = self.work(&place, lock, &self.scenario.words);
                    // Whoever else is there goes on.
                    self.settle();
                    driven?;
                }
                Act::Say(word) => self.say(&self.newest(), word)?,
                Act::SayToChild(word) => {
                    let child = self.record.lock().children.last().cloned();
                    self.say(&child.ok_or("no run works for another")?, word)?;
                }
                Act::Recover => drop(self.recover()?),
                Act::Retry => lock = Some(self.retry(&self.newest())?),
            }
        }
        Ok(())
    }

    /// What the next command does about runs whose owner died.
    pub fn recover(&self) -> Result<Vec<Recovered>, Failure> {
        let recovered = self.host.recover()?;
        self.settle();
        for one in &recovered {
            if let RecoveryAction::Left { why, .. } = &one.action {
                return Err(format!("run {} is left alone: {why}", one.run_id).into());
            }
        }
        match self.wings.trouble() {
            Some(trouble) => Err(trouble.into()),
            None => Ok(recovered),
        }
    }

    /// Drives a run as a worker process does.
    pub(crate) fn work(
        &self,
        place: &RunPlace,
        lock: Lock,
        words: &[(usize, Word)],
    ) -> Result<Left, Failure> {
        let left = self.host.drive_run(place, lock, |_, invocation| {
            Ok(Performer::new(self, place, invocation, words))
        })?;
        self.record.lock().left.insert(place.clone(), left);
        if matches!(left, Left::Closed(_)) {
            self.wings.push(Due::Tell(place.clone()));
        }
        Ok(left)
    }

    /// Lets a worker that waits in the wings live its life.
    pub(crate) fn next_worker(&self) -> bool {
        let Some((place, lock)) = self.wings.next_worker() else { return false };
        if let Err(error) = self.work(&place, lock, &[]) {
            self.wings.note(&place, &*error);
        }
        true
    }

    /// Goes on until nobody waits in the wings. Who has ended tells that when
    /// its parent's owner, if there was one, has left the stage.
    pub(crate) fn settle(&self) {
        loop {
            if self.next_worker() {
                continue;
            }
            let Some(place) = self.wings.next_to_tell() else { return };
            if let Err(error) = self.host.tell_parent(&place) {
                self.wings.note(&place, &error);
            }
        }
    }

    pub(crate) fn say(&self, place: &RunPlace, word: &Word) -> Result<(), Failure> {
        let Word::Verb(verb) = word else {
            return Ok(self.disk.create(&place.cancel_marker(), b"")?);
        };
        self.clock.advance(Span::from_millis(1));
        let id = runstore::inbox::new_signal_id(self.clock.now(), &*self.entropy);
        let signal = Signal { id, verb: verb.clone(), actor: "ada".to_owned(), note: None };
        runstore::inbox::put(&*self.disk, place, &signal, &*self.entropy)?;
        self.record.lock().signals.push((place.clone(), signal.id));
        Ok(())
    }

    /// Says yes at every gate, grants what was spent once more, and gives the
    /// run to an owner.
    pub(crate) fn go_on(&self, place: &RunPlace, state: &RunState) -> Result<(), Failure> {
        for gate in &state.waiting {
            self.say(place, &Word::Verb(Verb::Approve { node: Some(gate.clone()) }))?;
        }
        if state.spending.is_held() {
            self.say(place, &Word::Verb(Verb::Resume))?;
        }
        let lock = self.take(place)?;
        self.work(place, lock, &[])?;
        self.settle();
        self.wings.trouble().map_or(Ok(()), |trouble| Err(trouble.into()))
    }

    pub(crate) fn events(&self, place: &RunPlace) -> Result<Vec<Event>, Failure> {
        let mut events = Vec::new();
        runstore::read::each(&*self.disk, place, |event| {
            events.push(event);
            std::ops::ControlFlow::Continue(())
        })?;
        Ok(events)
    }

    pub(crate) fn has_signals(&self, place: &RunPlace) -> Result<bool, Failure> {
        Ok(!runstore::inbox::pending(&*self.disk, place)?.signals.is_empty())
    }

    fn take(&self, place: &RunPlace) -> Result<Lock, Failure> {
        let lock = runstore::lock::take(&*self.disk, place)?;
        Ok(lock.ok_or_else(|| format!("run {} is owned by someone", place.run))?)
    }

    fn create(&self, retry: Option<RetryOf>) -> Result<Lock, Failure> {
        self.clock.advance(Span::from_secs(1));
        let run = new_run_id(self.clock.now(), &*self.entropy);
        let place = self.home.place(self.scenario.program.id(), &run);
        let others = self.scenario.others.iter();
        let automations: Vec<(String, Vec<u8>)> =
            others.map(|(id, other)| (id.clone(), other.snapshot.clone())).collect();
        let kept = automations.iter().map(|(id, bytes)| {
            (id.clone(), Automation { digest: Digest::of(bytes), scripts: Default::default() })
        });
        let invocation = Invocation {
            input: self.scenario.input.clone(),
            retry,
            automations: kept.collect(),
            ..Invocation::default()
        };
        let new = NewRun {
            blueprint: Some(&self.scenario.snapshot),
            invocation: &invocation.encode(),
            automations: &automations,
        };
        let created = create(&*self.disk, &place, &new, &*self.entropy)?;
        self.record.lock().created.push(place);
        Ok(created.lock)
    }

    fn retry(&self, place: &RunPlace) -> Result<Lock, Failure> {
        let state = runstore::open(&*self.disk, place)?.state;
        let unknown = state
            .nodes
            .iter()
            .filter(|(_, node)| node.status == NodeStatus::Unknown && node.port.is_none());
        let redo = unknown.map(|(node, _)| node.to_string()).collect();
        let retry = RetryOf { run_id: place.run.to_string(), redo, ..RetryOf::default() };
        let lock = self.create(Some(retry))?;
        runstore::retries::note(&*self.disk, place, &self.newest().run)?;
        Ok(lock)
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
