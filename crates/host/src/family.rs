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

use crate::Host;
use crate::api::{Code, Followed, HostError};
use crate::library::store;
use crate::watch::pause_for;
use crate::work::snapshots;

/// Between two looks at a child, and at whether it is still wanted.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How long the owner of a child waits for its parent's owner to take notice
/// of its end. One that is alive does so at once; one that is leaving is gone
/// by then, and the parent is given another.
const NOTICED_WITHIN: Duration = Duration::from_secs(10);

/// What a parent gives to its children.
#[derive(Debug)]
pub(crate) struct Family {
    pub host: Host,
    /// The parent's own place and how it was started.
    pub place: RunPlace,
    pub invocation: Invocation,
}

/// How a child was left.
pub(crate) enum Watched {
    Over(Outcome),
    /// Its parent's owner leaves; the child goes on.
    Left,
}

impl Family {
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
        match self.watch(key, task, &place, stop, leave, rests) {
            Ok(watched) => watched,
            Err(Trouble::BeforeStart(error)) => Watched::Over(Outcome::Failed(error)),
            Err(Trouble::Unseen(error)) => {
                let message = format!("{}: run {} cannot be followed: {error}", key.node, task.run);
                Watched::Over(Outcome::Lost { message })
            }
        }
    }

    fn watch(
        &self,
        key: &AttemptKey,
        task: &ChildTask,
        place: &RunPlace,
        stop: &Stop,
        leave: &Stop,
        rests: &dyn Fn(bool),
    ) -> Result<Watched, Trouble> {
        if stop.requested() && self.host.disk.stat(&place.folder()).is_ok_and(|at| at.is_none()) {
            return Ok(Watched::Over(Outcome::Stopped));
        }
        self.ensure(key, task, place)?;
        let mut follower = self.host.follow_place(place.clone()).map_err(Trouble::Unseen)?;
        let mut told = false;
        loop {
            let followed = follower.next(LOOK_EVERY).map_err(Trouble::Unseen)?;
            let state = follower.state();
            if state.closed.is_some() {
                return Ok(Watched::Over(self.end(key, task, place, state, stop)?));
            }
            if leave.requested() {
                return Ok(Watched::Left);
            }
            if stop.requested() && !told {
                told = true;
                self.cancel(place, task).map_err(Trouble::Unseen)?;
            }
            match followed {
                Followed::Events(_) => rests(false),
                Followed::Quiet => {}
                Followed::Rest => {
                    rests(state.wake_at().is_none());
                    let has_signals = self.host.has_signals(place).map_err(Trouble::Unseen)?;
                    if has_signals || self.host.is_due(place).map_err(Trouble::Unseen)? {
                        self.host.give_owner(place).map_err(Trouble::Unseen)?;
                    }
                    pause_for(LOOK_EVERY);
                }
                Followed::Abandoned => {
                    self.host.recover_run(place).map_err(Trouble::Unseen)?;
                }
            }
        }
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
        self.host.spawn_worker(place, &created.lock).map_err(Trouble::Unseen)
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

    /// Asks the child to end, and gives it an owner who hears that.
    fn cancel(&self, place: &RunPlace, task: &ChildTask) -> Result<(), HostError> {
        let id = SignalId::new(&format!("parent-{}", task.run)).expect("a run's name is safe");
        let signal =
            Signal { id, verb: Verb::Cancel, actor: format!("run {}", self.place.run), note: None };
        match runstore::inbox::put(&*self.host.disk, place, &signal, &*self.host.entropy) {
            Ok(_) | Err(PutError::NoRun { .. }) => {}
            Err(fault) => return Err(store(&fault)),
        }
        self.host.give_owner(place)
    }

    fn end(
        &self,
        key: &AttemptKey,
        task: &ChildTask,
        place: &RunPlace,
        state: &RunState,
        stop: &Stop,
    ) -> Result<Outcome, Trouble> {
        let usage = Some(Box::new(usage(state)));
        let failure = state.closed.as_ref().and_then(|closed| closed.failure.as_ref());
        let Some(failure) = failure else {
            let opened = self.host.opened(place).map_err(Trouble::Unseen)?;
            let (program, _) = snapshots(place, &opened).map_err(Trouble::Unseen)?;
            let result = engine::result(&program, state);
            let output = json!({ "run_id": task.run.as_str(), "result": result });
            return Ok(Outcome::Ended { end: Ok(output), usage });
        };
        if stop.requested() && failure.reason == FailReason::Cancelled {
            return Ok(Outcome::Stopped);
        }
        Ok(Outcome::Ended { end: Err(error(key, task, state, failure)), usage })
    }
}

impl Host {
    /// Sees to it that the parent of a run that has just ended takes notice,
    /// if it has one. A parent without an owner is given one, which asks for
    /// its children anew.
    pub(crate) fn tell_parent(&self, place: &RunPlace) -> Result<(), HostError> {
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
            pause_for(LOOK_EVERY);
            left = left.saturating_sub(LOOK_EVERY);
        }
    }

    /// Gives a run that nobody owns to a worker process.
    pub(crate) fn give_owner(&self, place: &RunPlace) -> Result<(), HostError> {
        let lock = runstore::lock::take(&*self.disk, place).map_err(|fault| store(&fault))?;
        lock.map_or(Ok(()), |lock| self.spawn_worker(place, &lock))
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

    fn works_for(&self, place: &RunPlace) -> Result<Option<Box<WorksFor>>, HostError> {
        let opened = self.opened(place)?;
        let Some(bytes) = opened.invocation.as_deref() else { return Ok(None) };
        let invocation = Invocation::decode(bytes).map_err(|fault| store(&fault))?;
        Ok(invocation.works_for)
    }
}

/// Why a child cannot be watched to its end.
enum Trouble {
    /// It never came to be.
    BeforeStart(NodeError),
    Unseen(HostError),
}

fn usage(state: &RunState) -> Usage {
    let spent = &state.spending;
    Usage {
        tokens: Some(spent.tokens),
        cost_micros: Some(spent.cost_micros),
        agent_calls: Some(spent.calls),
        agent_time: Some(spent.time),
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
