//! The run machine: the only face of the engine that a worker needs. Inputs
//! go in at any time, actions come out in an order that keeps the promises:
//! work starts only after the event that names it is durable; the run's own
//! state is folded only from durable events; one append is outstanding at a
//! time; after `Close` nothing comes.
//!
//! To pay one sync for many internal steps, the machine folds ahead on a
//! second state until nothing internal is left, and asks for all of it as
//! one batch. Once that is durable the second state is what the log says, so
//! a large batch is not folded again.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use blueprint::Program;
use durable::{Seq, Timestamp, limits};

use crate::decide::{Frontier, child_work, decide, flight_key};
use crate::event::{Event, Fact};
use crate::fold::fold;
use crate::input::Input;
use crate::receive::{must_stop, receive};
use crate::site::Site;
use crate::state::{RunState, RunStatus};
use crate::view::RunView;
use crate::work::{AttemptKey, Work};

/// Something for the worker to do, in this order.
#[derive(Debug)]
pub enum Action {
    /// Make these events durable, then hand in [`Input::Appended`]. The machine
    /// keeps them too until then.
    Append(Arc<Vec<Event>>),
    /// Perform this work and hand in its outcome.
    Start(Box<Work>),
    /// End this attempt's processes; its outcome is still awaited.
    Stop(AttemptKey),
    /// Store the state. Should that fail the disk is full or broken, and the
    /// next append will say so.
    Checkpoint,
    /// Nothing is in flight and someone must decide: the owner may leave.
    Park,
    /// The run is over.
    Close(RunStatus),
}

/// Checkpoints come at the latest when the log has doubled since the last
/// one, so that all of them together cost what the log does.
const FIRST_CHECKPOINT: Seq = Seq(64);

#[derive(Debug)]
pub struct RunMachine {
    program: Arc<Program>,
    /// The folder in which files named by digest stand.
    artifacts: String,
    /// What the durable log says.
    state: RunState,
    /// The same and the batch under way.
    ahead: RunState,
    /// The frontier of `ahead`.
    frontier: Frontier,
    /// The batch under way, empty when none is outstanding.
    batch: Arc<Vec<Event>>,
    /// Work that the batch under way names.
    named: Vec<Work>,
    inputs: VecDeque<(Input, Timestamp)>,
    actions: VecDeque<Action>,
    stopping: BTreeSet<AttemptKey>,
    next_checkpoint: Seq,
    /// The last moment at which the run was judged.
    judged_at: Option<Timestamp>,
    /// Whether the run was given to this machine.
    owned: bool,
    /// Sites whose work is a run that an owner before has asked for.
    asked_again: Vec<Site>,
    /// Whether the worker was told of the present rest.
    told_parked: bool,
    closed: bool,
}

impl RunMachine {
    /// A machine for a run in this state, which must be what the log says.
    /// It does nothing until it is told [`Input::Launch`] or
    /// [`Input::Opened`], whichever fits the state; what comes before that
    /// waits. Otherwise work would start in the name of the owner before.
    pub fn open(program: Arc<Program>, state: RunState, artifacts: String) -> Self {
        let frontier = Frontier::of(&program, &state);
        let closed = state.closed.is_some();
        let next_checkpoint = Seq(state.next_seq.0.saturating_mul(2)).max(FIRST_CHECKPOINT);
        Self {
            program,
            artifacts,
            ahead: state.clone(),
            state,
            frontier,
            batch: Arc::default(),
            named: Vec::new(),
            inputs: VecDeque::new(),
            actions: VecDeque::new(),
            stopping: BTreeSet::new(),
            next_checkpoint,
            judged_at: None,
            owned: false,
            asked_again: Vec::new(),
            told_parked: false,
            closed,
        }
    }

    /// Something happened. Anything may be handed in at any time.
    pub fn handle(&mut self, input: Input, now: Timestamp) {
        if self.closed {
            return;
        }
        match input {
            Input::Appended { next } => {
                if !self.batch.is_empty() && next == self.ahead.next_seq {
                    self.commit(now);
                }
            }
            Input::Launch(_) => self.own(input, now, self.state.started.is_none()),
            Input::Opened { .. } => self.own(input, now, self.state.started.is_some()),
            Input::Outcome { .. } | Input::Signal(_) | Input::Tick => {
                self.inputs.push_back((input, now));
            }
        }
        if self.owned && self.batch.is_empty() && !self.closed {
            self.advance(now);
        }
    }

    /// Something to do, until there is nothing.
    pub fn poll(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// When to hand in [`Input::Tick`], if time matters to this run.
    pub fn wake_at(&self) -> Option<Timestamp> {
        let deadlines = self.under_way().filter_map(|site| {
            let node = self.state.node(site)?;
            let deadline = node.in_flight?.deadline?;
            (!self.stopping.contains(&flight_key(&self.state, site))).then_some(deadline)
        });
        // A moment that has come and led to nothing waits for something else:
        // a free place, or the budget.
        let is_to_come = |at: &Timestamp| self.judged_at.is_none_or(|judged| *at > judged);
        let timer = self.state.timers.iter().map(|(at, _)| *at).find(is_to_come);
        deadlines.chain(timer).chain(self.state.end_of_time()).min()
    }

    /// Sites with an attempt in flight, or in the hands of another run.
    fn under_way(&self) -> impl Iterator<Item = &Site> {
        self.state.in_flight.iter().chain(self.state.children.keys())
    }

    /// The state that the durable log says.
    pub fn state(&self) -> &RunState {
        &self.state
    }

    pub fn view(&self) -> RunView {
        RunView::of(&self.program, &self.state)
    }

    /// The run is given to this machine, once, before all that waits.
    fn own(&mut self, input: Input, now: Timestamp, fits: bool) {
        if fits && !self.owned {
            self.owned = true;
            self.asked_again = self.state.children.keys().cloned().collect();
            self.inputs.push_front((input, now));
        }
    }

    /// The batch under way is durable.
    fn commit(&mut self, now: Timestamp) {
        let batch = std::mem::take(&mut self.batch);
        if self.ahead.closed.is_some() {
            // Nothing is judged any more, so what was folded ahead can be given.
            std::mem::swap(&mut self.state, &mut self.ahead);
        } else if batch.len() > self.ahead.nodes.len() {
            self.state = self.ahead.clone();
        } else {
            for event in batch.iter() {
                fold(&mut self.state, event).expect("what was folded ahead folds again");
            }
        }
        for site in std::mem::take(&mut self.asked_again) {
            let work = child_work(&self.program, &self.state, &site);
            self.actions.extend(work.map(|work| Action::Start(Box::new(work))));
        }
        let starts = std::mem::take(&mut self.named).into_iter();
        self.actions.extend(starts.map(|work| Action::Start(Box::new(work))));
        if self.state.closed.is_some() {
            self.closed = true;
            self.actions.extend([Action::Checkpoint, Action::Close(self.state.status())]);
        } else if self.state.next_seq >= self.next_checkpoint {
            self.next_checkpoint = Seq(self.state.next_seq.0.saturating_mul(2));
            self.actions.push_back(Action::Checkpoint);
        }
        self.stop_what_must_end(now);
    }

    /// With no append outstanding: takes the inputs that waited, settles all
    /// that is internal, and asks for the outcome as one batch.
    fn advance(&mut self, now: Timestamp) {
        self.judged_at = Some(now);
        while let Some((input, at)) = self.inputs.pop_front() {
            for fact in receive(&self.program, &self.ahead, &input, at) {
                self.record(fact, at);
            }
        }
        while self.batch.len() < limits::BATCH_EVENTS {
            let step = decide(&self.program, &self.ahead, &self.frontier, &self.artifacts, now);
            let Some(step) = step else { break };
            for fact in step.facts {
                self.record(fact, now);
            }
            self.named.extend(step.work);
        }
        if !self.batch.is_empty() {
            self.told_parked = false;
            self.actions.push_back(Action::Append(Arc::clone(&self.batch)));
            return;
        }
        self.stop_what_must_end(now);
        if self.state.is_parked() && !self.told_parked {
            self.told_parked = true;
            self.actions.extend([Action::Checkpoint, Action::Park]);
        }
    }

    fn record(&mut self, fact: Fact, at: Timestamp) {
        let event = Event { seq: self.ahead.next_seq, at, fact };
        fold(&mut self.ahead, &event).expect("receive and decide record only what can follow");
        self.frontier.note(&self.program, &self.ahead, &event);
        Arc::make_mut(&mut self.batch).push(event);
    }

    /// Attempts whose time is up, or that are in vain, are told once.
    fn stop_what_must_end(&mut self, now: Timestamp) {
        let late = |deadline: Option<Timestamp>| deadline.is_some_and(|deadline| deadline <= now);
        let stops: Vec<AttemptKey> = self
            .under_way()
            .filter_map(|site| {
                let node = self.state.node(site)?;
                let deadline = node.in_flight.and_then(|flight| flight.deadline);
                let ends = late(deadline) || must_stop(&self.program, &self.state, site);
                ends.then(|| flight_key(&self.state, site))
            })
            .collect();
        for key in stops {
            if self.stopping.insert(key.clone()) {
                self.actions.push_back(Action::Stop(key));
            }
        }
    }
}
