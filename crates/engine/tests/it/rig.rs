//! A run on a workbench: the machine, its durable log, and the attempts that
//! are being performed. Every step is held against the engine's laws, so a
//! test that merely plays something tests them all:
//!
//! - one append is outstanding at a time, and its events are contiguous;
//! - work starts only after the event that names it is durable, once per
//!   attempt over all owners (a run that works for this one is asked for once
//!   by each of them), and never beyond the limits of blueprint and `for_each`;
//! - a node with checks completes only once they have held;
//! - nothing starts where something failed and found no way out;
//! - the machine's state is the fold of the durable log, at every event;
//! - the frontier kept event by event is the frontier from nothing;
//! - a stored state is the state again;
//! - with no append outstanding, what the state has in flight is what is
//!   being performed, and it calls for nothing more;
//! - a run is told to park when it is parked, and after `Close` nothing comes;
//! - at rest no moment that is past is waited for, so no worker spins;
//! - no run stalls, and one that is completed has completed or skipped all.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use blueprint::{Budget, Kind, Program};
use durable::{Digest, Generation, Seq, Span, Timestamp};
use engine::container::Container;
use engine::decide::{Frontier, decide};
use engine::{
    Action, AttemptKey, Event, Fact, FailReason, Input, Launch, NodeStatus, Outcome, Proof, RunId,
    RunMachine, RunState, RunStatus, Site, Task, Work, checkpoint, fold, retry,
};
use serde_json::Value;

/// 2026-01-01T00:00:00Z: the clock moves only when it is told to.
pub(crate) const START: i64 = 1_767_225_600_000;
pub(crate) const ARTIFACTS: &str = "/artifacts";

pub(crate) struct Rig {
    pub(crate) program: Arc<Program>,
    pub(crate) now: Timestamp,
    /// What is durable, over all owners.
    pub(crate) log: Vec<Event>,
    /// Attempts being performed for the present owner.
    pub(crate) working: BTreeMap<AttemptKey, Work>,
    /// Those of them that were told to end.
    pub(crate) stopped: BTreeSet<AttemptKey>,
    /// Keeps appends outstanding until the rig is told to go on.
    pub(crate) held: bool,
    machine: RunMachine,
    launch: Launch,
    /// The fold of `log`.
    shadow: RunState,
    frontier: Frontier,
    outstanding: Option<Vec<Event>>,
    ever_started: BTreeSet<AttemptKey>,
    closed: Option<RunStatus>,
    parked: bool,
}

impl Rig {
    /// A run that has a name and nothing else yet.
    pub(crate) fn new(program: &Arc<Program>) -> Self {
        Self::named(program, "run-1", Value::Null, None)
    }

    pub(crate) fn named(
        program: &Arc<Program>,
        run: &str,
        input: Value,
        retry: Option<retry::Kept>,
    ) -> Self {
        let launch = Launch {
            run_id: RunId::new(run).expect("a name for a folder"),
            input,
            blueprint_digest: Digest::of(b"blueprint.json"),
            invocation_digest: Digest::of(b"invocation.json"),
            principal: None,
            retry: retry.map(Box::new),
            parent: None,
            deadline: None,
            budget: Budget::default(),
        };
        Self::launched(program, launch)
    }

    /// A run that is given all this at its start.
    pub(crate) fn launched(program: &Arc<Program>, launch: Launch) -> Self {
        let shadow = RunState::fresh();
        Self {
            program: Arc::clone(program),
            now: Timestamp::from_millis(START),
            log: Vec::new(),
            working: BTreeMap::new(),
            stopped: BTreeSet::new(),
            held: false,
            machine: RunMachine::open(Arc::clone(program), shadow.clone(), ARTIFACTS.into()),
            launch,
            frontier: Frontier::of(program, &shadow),
            shadow,
            outstanding: None,
            ever_started: BTreeSet::new(),
            closed: None,
            parked: false,
        }
    }

    /// A run of which this much was durable when its owner died, with a new
    /// owner that has not been told of it yet.
    pub(crate) fn of_log(program: &Arc<Program>, launch: &Launch, log: &[Event]) -> Self {
        let mut rig = Self::launched(program, launch.clone());
        rig.now = log.last().map_or(rig.now, |event| event.at);
        for event in log {
            rig.durable(event);
            rig.ever_started.extend(rig.key_of(event));
        }
        rig.open();
        rig
    }

    pub(crate) fn launch_of(&self) -> &Launch {
        &self.launch
    }

    pub(crate) fn start(&mut self, input: Value) -> Vec<Action> {
        self.launch.input = input;
        self.give(Input::Launch(Box::new(self.launch.clone())))
    }

    /// The fold of the durable log.
    pub(crate) fn state(&self) -> &RunState {
        &self.shadow
    }

    pub(crate) fn machine(&self) -> &RunMachine {
        &self.machine
    }

    pub(crate) fn status(&self) -> RunStatus {
        self.shadow.status()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.is_some()
    }

    pub(crate) fn is_parked(&self) -> bool {
        self.parked
    }

    pub(crate) fn is_appending(&self) -> bool {
        self.outstanding.is_some()
    }

    /// The attempts that were started, not only recorded as kept.
    pub(crate) fn started_here(&self) -> &BTreeSet<AttemptKey> {
        &self.ever_started
    }

    /// Hands in the end of an attempt that is being performed.
    pub(crate) fn finish(&mut self, key: &AttemptKey, outcome: Outcome) -> Vec<Action> {
        let work = self.working.remove(key).expect("the attempt is being performed");
        self.stopped.remove(key);
        let (key, generation) = (key.clone(), work.generation);
        self.give(Input::Outcome { key, generation, outcome })
    }

    pub(crate) fn tick(&mut self, span: Span) -> Vec<Action> {
        self.now = self.now.after(span);
        self.give(Input::Tick)
    }

    /// The clock is set, and nobody is told.
    pub(crate) fn set_clock(&mut self, now: Timestamp) {
        self.now = now;
    }

    /// Hands in anything, and does what the machine then asks for.
    pub(crate) fn give(&mut self, input: Input) -> Vec<Action> {
        self.machine.handle(input, self.now);
        let actions = self.drain();
        self.check_rest();
        actions
    }

    /// Confirms an append that was held back.
    pub(crate) fn release(&mut self) -> Vec<Action> {
        self.held = false;
        self.confirm();
        let actions = self.drain();
        self.check_rest();
        actions
    }

    /// An input that means nothing now changes nothing.
    pub(crate) fn give_stale(&mut self, input: Input) {
        let before = self.machine.state().clone();
        let said = format!("{input:?}");
        self.machine.handle(input, self.now);
        if self.outstanding.is_none() || self.is_closed() {
            assert!(self.machine.poll().is_none(), "an answer to {said}");
        }
        assert_eq!(*self.machine.state(), before, "changed by {said}");
    }

    /// The owner dies; of the batch under way `kept` events reach the disk.
    /// A new owner reads the checkpoint and the log and goes on.
    pub(crate) fn crash(&mut self, kept: usize) -> Vec<Action> {
        let lost = self.outstanding.take().unwrap_or_default();
        for event in lost.iter().take(kept) {
            self.durable(event);
            self.ever_started.extend(self.key_of(event));
        }
        self.open();
        self.adopt()
    }

    /// The new owner is told that the run is its own.
    pub(crate) fn adopt(&mut self) -> Vec<Action> {
        // Nothing happens before that, whatever comes.
        self.give_stale(Input::Tick);
        self.give_stale(Input::Appended { next: self.shadow.next_seq });
        if self.log.is_empty() {
            return self.give(Input::Launch(Box::new(self.launch.clone())));
        }
        self.give(Input::Opened { cut: 0 })
    }

    fn open(&mut self) {
        let refolded = refold(&self.log);
        assert_eq!(refolded, self.shadow, "replay");
        self.working.clear();
        self.stopped.clear();
        self.held = false;
        self.parked = false;
        self.closed = self.shadow.closed.is_some().then(|| self.shadow.status());
        let program = Arc::clone(&self.program);
        self.machine = RunMachine::open(program, stored(&refolded), ARTIFACTS.into());
    }

    fn drain(&mut self) -> Vec<Action> {
        let mut seen = Vec::new();
        while let Some(action) = self.machine.poll() {
            assert!(self.closed.is_none(), "after the end: {action:?}");
            match &action {
                Action::Append(events) => self.append(events),
                Action::Start(work) => self.perform(work),
                Action::Stop(key) => {
                    // Its end may be on the way: then the stop finds nothing.
                    assert!(self.ever_started.contains(key), "{key} is stopped and never ran");
                    let running = self.working.contains_key(key);
                    assert!(!running || self.stopped.insert(key.clone()), "{key} is stopped twice");
                }
                Action::Checkpoint => {}
                Action::Park => {
                    assert!(self.shadow.is_parked() && !self.parked, "parked for no reason");
                    self.parked = true;
                }
                Action::Close(status) => {
                    assert_eq!(*status, self.shadow.status());
                    assert!(self.shadow.closed.is_some(), "closed before its last event");
                    self.closed = Some(*status);
                }
            }
            let confirm = matches!(action, Action::Append(_)) && !self.held;
            seen.push(action);
            if confirm {
                self.confirm();
            }
        }
        seen
    }

    fn append(&mut self, events: &[Event]) {
        assert!(self.outstanding.is_none(), "a second append is asked for");
        assert!(!events.is_empty(), "nothing is appended");
        self.parked = false;
        self.outstanding = Some(events.to_vec());
    }

    fn confirm(&mut self) {
        for event in self.outstanding.take().unwrap_or_default() {
            self.durable(&event);
        }
        assert_ne!(self.shadow, *self.machine.state(), "folded before it was durable");
        let next = self.shadow.next_seq;
        self.machine.handle(Input::Appended { next }, self.now);
        assert_eq!(self.shadow, *self.machine.state(), "the live state is not that of the log");
    }

    /// One event more is on the disk.
    fn durable(&mut self, event: &Event) {
        assert_eq!(event.seq, self.shadow.next_seq, "not contiguous");
        if let Fact::NodeStarted { node, .. } = &event.fact {
            assert!(!self.is_halted(node), "{node} starts where something failed");
        }
        self.check_proven(event);
        fold(&mut self.shadow, event).expect("the machine writes what can follow");
        self.frontier.note(&self.program, &self.shadow, event);
        let rebuilt = Frontier::of(&self.program, &self.shadow);
        assert_eq!(self.frontier, rebuilt, "the frontier after {event:?}");
        assert_eq!(stored(&self.shadow), self.shadow, "stored and read again after {event:?}");
        assert!(!self.shadow.is_parked() || self.shadow.failure.is_none(), "an ending run parks");
        for node in self.shadow.nodes.values().filter(|node| node.status.is_settled()) {
            assert!(node.in_flight.is_none() && node.correction.is_none(), "{event:?}");
            assert!(node.claim.is_none() && node.again.is_none(), "{event:?}");
        }
        self.log.push(event.clone());
    }

    fn perform(&mut self, work: &Work) {
        let is_child = matches!(work.task, Task::Child(_));
        let names = |event: &Event| {
            let (Fact::NodeStarted { generation, work: digest, .. }
            | Fact::ProofStarted { generation, work: digest, .. }) = &event.fact
            else {
                return false;
            };
            let of_generation = is_child || *generation == work.generation;
            // The round of an event is that of the state before it.
            let key = self.key_of(event).map(|key| AttemptKey { round: work.key.round, ..key });
            of_generation && key.as_ref() == Some(&work.key) && *digest == work.digest()
        };
        let named = self.log.iter().any(names);
        assert!(named, "{} starts and no durable event names it", work.key);
        let first = self.ever_started.insert(work.key.clone());
        assert!(first || is_child, "{} starts twice", work.key);
        let again = self.working.insert(work.key.clone(), work.clone());
        assert!(again.is_none(), "{} starts twice for one owner", work.key);
        assert!(self.working.len() <= self.program.max_parallel(), "too many at a time");
        self.check_items();
    }

    /// What is kept of another run was proven there, or a person has said so.
    fn check_proven(&self, event: &Event) {
        let (Fact::NodeCompleted { node, .. } | Fact::DecisionCompleted { node, .. }) = &event.fact
        else {
            return;
        };
        let ix = self.program.node_ix(&node.node).expect("a node of the program");
        let proof = self.shadow.node(node).and_then(|node| node.proof);
        let is_kept = self.launch.retry.is_some() && self.shadow.generation == Generation::FIRST;
        let proven = self.program.node(ix).prove.is_empty() || proof == Some(Proof::Proven);
        assert!(proven || is_kept, "{node} completes and is not proven");
    }

    /// No `for_each` has more items under way than it may have.
    fn check_items(&self) {
        for node in self.program.nodes() {
            let Kind::ForEach { max_parallel, .. } = &node.kind else { continue };
            let Some(container) = self.shadow.containers.get(&node.id) else { continue };
            let inside = |site: &&Site| container.body().contains(&site.node);
            let items: BTreeSet<_> =
                self.shadow.nodes.keys().filter(inside).map(|site| site.item).collect();
            let failed = container.failed().is_some();
            assert!(failed || items.len() <= *max_parallel, "too many items of {}", node.id);
        }
    }

    /// Whether nothing may start at the site any more.
    fn is_halted(&self, site: &Site) -> bool {
        let mut around = self.shadow.containers.values();
        let around = around.find(|container| container.body().contains(&site.node));
        let failing = |own: &Container| match own {
            Container::Loop(_) => false,
            Container::ForEach(own) => {
                site.item.is_some_and(|item| own.failing.contains_key(&item))
            }
        };
        let inside = around.is_some_and(|own| own.failed().is_some() || failing(own));
        self.shadow.failure.is_some() || inside
    }

    /// What holds whenever the machine has nothing more to say.
    fn check_rest(&mut self) {
        if self.outstanding.is_some() || self.shadow.started.is_none() {
            return;
        }
        let nodes: BTreeSet<_> = self.working.keys().map(|key| key.node.clone()).collect();
        let under_way = self.shadow.in_flight.iter().chain(self.shadow.children.keys());
        let under_way: BTreeSet<_> = under_way.cloned().collect();
        assert_eq!(nodes, under_way, "in flight and not performed, or the reverse");
        assert!(self.shadow.claims.is_empty(), "a claim is left without its proof");
        assert_eq!(self.closed.is_some(), self.shadow.closed.is_some(), "the end is not told");
        assert_eq!(self.parked, self.shadow.is_parked(), "the rest is not told");
        let resting = self.parked || self.closed.is_some();
        assert!(resting || !nodes.is_empty(), "the run is open and nothing will ever happen");
        let step = decide(&self.program, &self.shadow, &self.frontier, ARTIFACTS, self.now);
        assert!(step.is_none(), "the machine rests before {step:?}");
        assert_eq!(self.machine.wake_at(), self.next_moment());
        let late = self.machine.wake_at().filter(|at| *at <= self.now);
        assert_eq!(late, None, "a moment that is past is waited for");
        if self.closed.is_some() {
            self.check_closed();
        }
    }

    /// The first end of time of the attempts that were not told to stop, and
    /// of the run; and the first moment to come that something waits for.
    fn next_moment(&self) -> Option<Timestamp> {
        if self.closed.is_some() {
            return None;
        }
        let open = self.working.keys().filter(|key| !self.stopped.contains(key));
        let flights = open.filter_map(|key| self.shadow.node(&key.node)?.in_flight);
        let deadlines = flights.filter_map(|flight| flight.deadline);
        let timers = self.shadow.timers.iter().map(|(at, _)| *at).filter(|at| *at > self.now);
        let own = self.shadow.deadline().filter(|_| self.shadow.failure.is_none());
        deadlines.chain(timers).chain(own).min()
    }

    /// A closed run wants nothing and hears nothing. It did not stall, and if
    /// it is completed, every node is.
    fn check_closed(&mut self) {
        let closed = self.shadow.closed.as_ref().expect("it is closed");
        match &closed.failure {
            Some(failure) => assert_ne!(failure.reason, FailReason::Stalled),
            None => {
                let done = |id: &blueprint::NodeId| {
                    let site = Site::of(id);
                    let status = self.shadow.node_status(&site);
                    let found_a_way = self.shadow.node(&site).is_some_and(|n| n.port.is_some());
                    matches!(status, NodeStatus::Completed | NodeStatus::Skipped)
                        || (status.is_settled() && found_a_way)
                };
                let mut nodes = self.program.nodes().iter().filter(|node| node.parent.is_none());
                assert!(nodes.all(|node| done(&node.id)));
            }
        }
        for input in [Input::Tick, Input::Opened { cut: 0 }, Input::Appended { next: Seq(0) }] {
            self.give_stale(input);
        }
        self.give_stale(Input::Launch(Box::new(self.launch.clone())));
        assert_eq!(self.machine.wake_at(), None);
    }

    fn key_of(&self, event: &Event) -> Option<AttemptKey> {
        let (Fact::NodeStarted { node, attempt, .. } | Fact::ProofStarted { node, attempt, .. }) =
            &event.fact
        else {
            return None;
        };
        let proof =
            if let Fact::ProofStarted { proof, .. } = &event.fact { Some(*proof) } else { None };
        let round = self.shadow.node(node).map_or(durable::Round::FIRST, |node| node.round);
        let run = self.launch.run_id.clone();
        Some(AttemptKey { run, node: node.clone(), round, attempt: *attempt, proof })
    }
}

/// The fold of a log from nothing.
pub(crate) fn refold(log: &[Event]) -> RunState {
    let mut state = RunState::fresh();
    for event in log {
        fold(&mut state, event).expect("a log folds");
    }
    state
}

/// The state after a visit to the disk.
pub(crate) fn stored(state: &RunState) -> RunState {
    let text = serde_json::to_string(&checkpoint::to_stored(state)).expect("a state is JSON");
    let stored = serde_json::from_str(&text).expect("what was stored can be read");
    checkpoint::from_stored(stored).expect("what was stored is known")
}

/// The outcome as an owner of another time would hand it in.
pub(crate) fn late(key: &AttemptKey, generation: Generation) -> Input {
    let outcome = Outcome::Output(Value::from("late"));
    Input::Outcome { key: key.clone(), generation, outcome }
}
