//! Runs that work for other runs. A child is started once, however often it
//! is asked for, since its name follows from the attempt that it carries out;
//! it has an owner of its own, so it outlives its parent's. Whoever ends a
//! child sees to it that its parent has someone who takes notice.

use std::time::Duration;

use blueprint::Program;
use engine::state::{Failure, RunState};
use engine::{
    AttemptKey, ChildTask, Class, Effect, FailReason, NodeError, Outcome, Parent, Signal, SignalId,
    Usage, Verb,
};
use providers::Stop;
use runstore::{CreateError, Invocation, NewRun, PutError, RunPlace, WorksFor, create};
use serde_json::json;

use crate::api::{Code, Followed, HostError};
use crate::library::store;
use crate::work::snapshots;
use crate::{Follower, Host};

/// Between two looks at a child, and at whether it is still wanted.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Owners in a row that a child is given though none of them records a thing.
const HELPED_MOST: u32 = 20;

/// How long the owner of a child waits for its parent's owner to take notice
/// of its end. One that is alive does so at once; one that is leaving is gone
/// by then, and the parent is given another.
const NOTICED_WITHIN: Duration = Duration::from_secs(10);

/// What a parent gives to its children.
#[derive(Debug, Clone)]
pub struct Family {
    host: Host,
    /// The parent's own place and how it was started.
    place: RunPlace,
    invocation: Invocation,
}

/// A child that is there, as its parent's owner sees it.
#[derive(Debug)]
pub struct Child {
    family: Family,
    key: AttemptKey,
    task: ChildTask,
    place: RunPlace,
    follower: Follower,
    /// It was asked to end.
    told: bool,
    /// Owners that it was given since it last went on.
    helped: u32,
}

/// What a look at a child shows.
#[derive(Debug)]
pub enum Look {
    Over(Outcome),
    /// Nothing new, and someone is at it.
    Quiet,
    /// It went on.
    Busy,
    /// It waits; for a person unless it will go on by itself.
    Rests {
        for_person: bool,
    },
}

/// How a child was left.
pub(crate) enum Watched {
    Over(Outcome),
    /// Its parent's owner leaves; the child goes on.
    Left,
}

impl Family {
    pub fn new(host: Host, place: RunPlace, invocation: Invocation) -> Self {
        Self { host, place, invocation }
    }

    /// Sees to it that the child is there and has an owner, and waits for its
    /// end. `rests` is told whether the child waits for a person.
    pub(crate) fn perform(
        &self,
        key: &AttemptKey,
        task: &ChildTask,
        stop: &Stop,
        leave: &Stop,
        rests: &dyn Fn(bool),
    ) -> Watched {
        let place = self.place.home.place(&task.automation, &task.run);
        if stop.requested() && self.host.disk.stat(&place.folder()).is_ok_and(|at| at.is_none()) {
            return Watched::Over(Outcome::Stopped);
        }
        let mut child = match self.child(key, task) {
            Ok(child) => child,
            Err(outcome) => return Watched::Over(outcome),
        };
        loop {
            match child.look(LOOK_EVERY, stop.requested()) {
                Look::Over(outcome) => return Watched::Over(outcome),
                Look::Busy => rests(false),
                Look::Quiet => {}
                Look::Rests { for_person } => {
                    rests(for_person);
                    self.host.processes.pause(LOOK_EVERY);
                }
            }
            if leave.requested() {
                return Watched::Left;
            }
        }
    }

    /// Sees to it that the child is there; gives the end of the attempt when
    /// it is not to be had.
    pub fn child(&self, key: &AttemptKey, task: &ChildTask) -> Result<Child, Outcome> {
        let place = self.place.home.place(&task.automation, &task.run);
        let follower = self.ensure(key, task, &place);
        let follower = follower
            .and_then(|()| self.host.follow_place(place.clone()).map_err(Trouble::Unseen))
            .map_err(|trouble| trouble.outcome(key, task))?;
        let (family, key, task) = (self.clone(), key.clone(), task.clone());
        Ok(Child { family, key, task, place, follower, told: false, helped: 0 })
    }

    /// Creates the child with its owner, unless it is there.
    fn ensure(&self, key: &AttemptKey, task: &ChildTask, place: &RunPlace) -> Result<(), Trouble> {
        let refuse = |code: &str, why: String| {
            let message = format!("{}: {why}", key.node);
            Trouble::BeforeStart(NodeError::before_effect(Class::Preflight, code, message))
        };
        if self.host.disk.stat(&place.folder()).is_ok_and(|at| at.is_some()) {
            return Ok(());
        }
        let id = task.automation.as_str();
        let kept = self.invocation.automations.get(id).ok_or_else(|| {
            refuse("automation_missing", format!("the run keeps no automation `{id}`"))
        })?;
        let mut automations = Vec::new();
        for name in self.invocation.automations.keys() {
            let bytes = self.kept(name).map_err(|why| refuse("automation_missing", why))?;
            automations.push((name.clone(), bytes));
        }
        let snapshot = automations.iter().find(|(name, _)| name == id).map(|(_, bytes)| bytes);
        let snapshot = snapshot.expect("it is one of them");
        let program = Program::from_snapshot(snapshot)
            .map_err(|fault| refuse("automation_invalid", format!("`{id}`: {fault}")))?;
        let invocation = self.invocation_of(key, task, kept.scripts.clone());
        crate::launch::refuse_child_input(&program, &invocation.input, self.host.clock.now())
            .map_err(|why| refuse("invalid_input", format!("automation `{id}`: {why}")))?;
        let new = NewRun {
            blueprint: Some(snapshot),
            invocation: &invocation.encode(),
            automations: &automations,
        };
        let created = match create(&*self.host.disk, place, &new, &*self.host.entropy) {
            Ok(created) => created,
            Err(CreateError::Exists { .. }) => return Ok(()),
            Err(fault) => {
                let message = format!("{}: run {} cannot be created: {fault}", key.node, task.run);
                let error = NodeError::before_effect(Class::Transient, "run_not_created", message);
                return Err(Trouble::BeforeStart(error));
            }
        };
        // A child without an owner is seen as abandoned, and recorded so.
        self.host.spawn_worker(place, created.lock).map_err(Trouble::Unseen)
    }

    /// The snapshot of another blueprint as the run keeps it.
    fn kept(&self, id: &str) -> Result<Vec<u8>, String> {
        let missing = || format!("the run keeps no automation `{id}`");
        let pinned = self.invocation.automations.get(id).ok_or_else(missing)?;
        let name = blueprint::BlueprintId::new(id).map_err(|error| error.to_string())?;
        let path = self.place.automation_json(&name);
        let most = 8 * durable::limits::BLUEPRINT_BYTES as u64;
        let bytes = self.host.disk.read(&path, most).map_err(|error| error.to_string())?;
        if durable::Digest::of(&bytes) != pinned.digest {
            return Err(format!("{} is not what the run started with", path.display()));
        }
        Ok(bytes)
    }

    fn invocation_of(
        &self,
        key: &AttemptKey,
        task: &ChildTask,
        scripts: std::collections::BTreeMap<String, runstore::ScriptFile>,
    ) -> Invocation {
        let attempt = Parent {
            blueprint_id: self.place.blueprint.clone(),
            run_id: self.place.run.clone(),
            node: key.node.clone(),
            round: key.round,
            attempt: key.attempt,
        };
        let works_for = WorksFor { attempt, deadline: task.deadline, budget: task.budget.clone() };
        Invocation {
            input: task.input.clone(),
            scripts,
            retry: None,
            fork: None,
            works_for: Some(Box::new(works_for)),
            ..self.invocation.clone()
        }
    }
}

impl Child {
    /// Where the run is.
    pub fn place(&self) -> &RunPlace {
        &self.place
    }

    /// Looks at the child, waiting for news at most as long as `patience`,
    /// and gives it what it needs: an owner, or the record of a dead one.
    /// `unwanted` asks it to end.
    pub fn look(&mut self, patience: Duration, unwanted: bool) -> Look {
        self.try_look(patience, unwanted)
            .unwrap_or_else(|trouble| Look::Over(trouble.outcome(&self.key, &self.task)))
    }

    fn try_look(&mut self, patience: Duration, unwanted: bool) -> Result<Look, Trouble> {
        let followed = self.follower.next(patience).map_err(Trouble::Unseen)?;
        if self.follower.state().closed.is_some() {
            // What is told of the end must not outlive it.
            match self.follower.settle() {
                Ok(()) => return Ok(Look::Over(self.end(unwanted)?)),
                Err(fault) if fault.code == Code::DamagedLog => {}
                Err(fault) => return Err(Trouble::Unseen(fault)),
            }
            self.begin_anew()?;
            return Ok(Look::Quiet);
        }
        if unwanted && !self.told {
            self.told = true;
            self.cancel().map_err(Trouble::Unseen)?;
        }
        let host = &self.family.host;
        Ok(match followed {
            Followed::Events(_) => {
                self.helped = 0;
                Look::Busy
            }
            Followed::Quiet => Look::Quiet,
            Followed::Rest => {
                let has_signals = host.has_signals(&self.place).map_err(Trouble::Unseen)?;
                let for_person = self.follower.state().wake_at().is_none();
                if has_signals || host.is_due(&self.place).map_err(Trouble::Unseen)? {
                    self.help(Host::give_owner)?;
                }
                Look::Rests { for_person }
            }
            Followed::Abandoned => {
                if self.help(Host::recover_run)?.is_none() {
                    // Someone else was faster, or the log is another than the
                    // one that was read.
                    self.begin_anew()?;
                }
                Look::Quiet
            }
        })
    }

    /// Reads the child's log from its beginning again: the disk never got all
    /// that was read of it.
    fn begin_anew(&mut self) -> Result<(), Trouble> {
        let place = self.place.clone();
        self.follower = self.family.host.follow_place(place).map_err(Trouble::Unseen)?;
        Ok(())
    }

    /// Gives it an owner. One whose owners die before they record anything is
    /// not helped for ever.
    fn help<T>(
        &mut self,
        act: impl FnOnce(&Host, &RunPlace) -> Result<T, HostError>,
    ) -> Result<T, Trouble> {
        if self.helped == HELPED_MOST {
            let message = format!("its last {HELPED_MOST} owners ended and recorded nothing");
            let hint = format!("look into {}", self.place.worker_log().display());
            return Err(Trouble::Unseen(HostError::new(Code::Worker, message).hint(hint)));
        }
        self.helped += 1;
        act(&self.family.host, &self.place).map_err(Trouble::Unseen)
    }

    /// Asks the child to end, and gives it an owner who hears that.
    fn cancel(&self) -> Result<(), HostError> {
        let Self { family: Family { host, place: parent, .. }, task, place, .. } = self;
        let id = SignalId::new(&format!("parent-{}", task.run)).expect("a run's name is safe");
        let actor = format!("run {}", parent.run);
        let signal = Signal { id, verb: Verb::Cancel, actor, note: None };
        match runstore::inbox::put(&*host.disk, place, &signal, &*host.entropy) {
            Ok(_) | Err(PutError::NoRun { .. }) => {}
            Err(fault) => return Err(store(&fault)),
        }
        host.give_owner(place)
    }

    fn end(&self, unwanted: bool) -> Result<Outcome, Trouble> {
        let Self { family: Family { host, .. }, key, task, place, .. } = self;
        let state = self.follower.state();
        let usage = Some(Box::new(usage(state)));
        let failure = state.closed.as_ref().and_then(|closed| closed.failure.as_ref());
        let Some(failure) = failure else {
            let opened = host.opened(place).map_err(Trouble::Unseen)?;
            let (program, _) = snapshots(place, &opened).map_err(Trouble::Unseen)?;
            let result = engine::result(&program, state);
            let output = json!({ "run_id": task.run.as_str(), "result": result });
            return Ok(Outcome::Ended { end: Ok(output), usage });
        };
        if unwanted && failure.reason == FailReason::Cancelled {
            return Ok(Outcome::Stopped);
        }
        Ok(Outcome::Ended { end: Err(error(key, task, state, failure)), usage })
    }
}

impl Host {
    /// Sees to it that the parent of a run that has just ended takes notice,
    /// if it has one. A parent without an owner is given one, which asks for
    /// its children anew.
    pub fn tell_parent(&self, place: &RunPlace) -> Result<(), HostError> {
        let Some(works_for) = self.works_for(place)? else { return Ok(()) };
        let Parent { blueprint_id, run_id, .. } = &works_for.attempt;
        let parent = place.home.place(blueprint_id, run_id);
        let mut left = NOTICED_WITHIN;
        loop {
            let state = match self.opened(&parent) {
                Ok(opened) => opened.state,
                // A parent that someone removed waits for nothing.
                Err(fault) if fault.code == Code::RunNotFound => return Ok(()),
                Err(fault) => return Err(fault),
            };
            let waits = state.children.values().any(|child| *child == place.run);
            if state.closed.is_some() || !waits || left.is_zero() {
                return Ok(());
            }
            self.give_owner(&parent)?;
            self.processes.pause(LOOK_EVERY);
            left = left.saturating_sub(LOOK_EVERY);
        }
    }

    /// Gives a run that nobody owns to a worker process.
    pub(crate) fn give_owner(&self, place: &RunPlace) -> Result<(), HostError> {
        let lock = runstore::lock::take(&*self.disk, place).map_err(|fault| store(&fault))?;
        lock.map_or(Ok(()), |lock| self.spawn_worker(place, lock))
    }

    /// Whether something waits in a parked run that need not wait any longer:
    /// its moment has come, or a run that works for it has ended.
    pub(crate) fn is_due(&self, place: &RunPlace) -> Result<bool, HostError> {
        let summary = runstore::list::summary(&*self.disk, place)
            .map_err(|fault| crate::reading::open_fault(&fault))?;
        if summary.wake_at.is_some_and(|at| at <= self.clock.now()) {
            return Ok(true);
        }
        for child in &summary.children {
            // One that was never created is asked for again by an owner.
            let is_there = self.disk.stat(&child.folder()).map_err(|fault| store(&fault))?;
            let over = is_there.is_none()
                || runstore::list::summary(&*self.disk, child)
                    .map_err(|fault| crate::reading::open_fault(&fault))?
                    .status
                    .is_over();
            if over {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// From the invocation alone: most runs work for nobody, and whether one
    /// does is asked at the end of each.
    fn works_for(&self, place: &RunPlace) -> Result<Option<Box<WorksFor>>, HostError> {
        let limit = runstore::limits::INVOCATION_BYTES;
        let bytes = match self.disk.read(&place.invocation_json(), limit) {
            Err(fault) if fault.source.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|fault| store(&fault))?,
        };
        let invocation = Invocation::decode(&bytes).map_err(|fault| store(&fault))?;
        Ok(invocation.works_for)
    }
}

/// Why a child cannot be watched to its end.
enum Trouble {
    /// It never came to be.
    BeforeStart(NodeError),
    Unseen(HostError),
}

impl Trouble {
    fn outcome(self, key: &AttemptKey, task: &ChildTask) -> Outcome {
        match self {
            Self::BeforeStart(error) => Outcome::Failed(error),
            Self::Unseen(error) => {
                let message = format!("{}: run {} cannot be followed: {error}", key.node, task.run);
                Outcome::Lost { message }
            }
        }
    }
}

fn usage(state: &RunState) -> Usage {
    let spent = &state.spending;
    Usage {
        tokens: Some(spent.tokens),
        cost_micros: Some(spent.cost_micros),
        agent_calls: Some(spent.calls),
        agent_time: Some(spent.time),
        unasked: false,
    }
}

/// What a failed child says: the class is that of the node that failed it.
fn error(key: &AttemptKey, task: &ChildTask, state: &RunState, failure: &Failure) -> NodeError {
    let node = failure.node.as_ref().and_then(|site| state.node(site));
    let class = match failure.reason {
        FailReason::Cancelled | FailReason::Rejected => Class::Policy,
        FailReason::Error
        | FailReason::Interrupted
        | FailReason::Deadline
        | FailReason::Launch
        | FailReason::Stalled
        | FailReason::Contradicted => {
            node.and_then(|node| node.error.as_ref()).map_or(Class::Bug, |error| error.class)
        }
    };
    let (run, id, why) = (&task.run, &task.automation, &failure.message);
    NodeError {
        class,
        code: failure.reason.word().to_owned(),
        message: format!("{}: run {run} of `{id}` failed: {why}", key.node),
        effect: if state.unknown_effect { Effect::Uncertain } else { Effect::Done },
        output: Some(json!({ "run_id": run.as_str() })),
        retry_after: None,
    }
}
