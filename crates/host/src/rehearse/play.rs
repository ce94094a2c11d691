//! One play: the run machine over a log in memory, with commands that really
//! run and a crash behind one event. After the crash a new owner goes on as
//! it would in the home of a user, and where the run ends for want of an
//! owner it is retried, as a user would.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use blueprint::{OnInterrupt, Program};
use durable::{Digest, Timestamp};
use engine::retry::{Kept, Verdict, keep};
use engine::{
    Action, AttemptKey, ChildTask, Event, FailReason, Input, Launch, NodeError, NodeStatus,
    Outcome, RunId, RunMachine, RunState, Signal, SignalId, Site, Task, Verb, Work, fold,
};
use redact::Masker;
use runstore::Home;
use serde_json::json;

use super::Rehearsal;
use super::tree::Tree;
use crate::agents::{Agents, Company};
use crate::api::{Code, HostError};
use crate::perform::{Stage, perform};

/// Where a play is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Crash {
    Never,
    /// Once so many events are durable.
    Behind {
        events: usize,
        stop: Stop,
    },
}

/// Whether what was started by then has acted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Before,
    After,
}

/// What a play was and what it leaves.
pub(crate) struct Played {
    /// Of the last run.
    pub events: Vec<Event>,
    pub state: RunState,
    pub tree: Tree,
    /// How often each site acted, over all runs of the play.
    pub acts: BTreeMap<Site, usize>,
    /// What was in flight at the crash.
    pub in_flight: Vec<Site>,
    /// Sites whose outcome nobody knew, and that were done again by hand.
    pub redone: Vec<Site>,
}

/// Waits of one play, so that a blueprint that waits for ever ends the test.
const TURNS_MAX: usize = 200_000;

/// Retries of one play: a run can be cut once, and each retry ends a gap.
const RETRIES_MAX: usize = 3;

pub(super) fn play(rehearsal: &Rehearsal<'_>, crash: Crash) -> Result<Played, HostError> {
    let folder = rehearsal.stage_folder()?;
    let fail = |what: &str, fault: &std::io::Error| HostError::from_fault(Code::Store, what, fault);
    rehearsal
        .start
        .write(&folder.join("workspace"))
        .map_err(|fault| fail("the workspace cannot be copied", &fault))?;
    let mut theatre = Theatre::new(rehearsal, &folder)?;
    let played = theatre.whole(crash);
    let tree = Tree::read(&folder.join("workspace")).map_err(super::too_large);
    // What a command left running may still write here.
    drop(fs::remove_dir_all(&folder));
    let (events, state) = played?;
    let Theatre { acts, in_flight, redone, .. } = theatre;
    Ok(Played { events, state, tree: tree?, acts, in_flight, redone })
}

struct Theatre<'a> {
    rehearsal: &'a Rehearsal<'a>,
    stage: Stage,
    now: Timestamp,
    acts: BTreeMap<Site, usize>,
    in_flight: Vec<Site>,
    redone: Vec<Site>,
}

/// How one owner left a run.
enum Left {
    Over,
    Crashed,
}

impl<'a> Theatre<'a> {
    fn new(rehearsal: &'a Rehearsal<'a>, folder: &Path) -> Result<Self, HostError> {
        let host = rehearsal.host;
        let home = Home::at(folder.join("home"));
        let run = RunId::new("play").expect("letters are a safe name");
        let place = home.place(rehearsal.program.id(), &run);
        fs::create_dir_all(place.folder()).map_err(|fault| {
            HostError::from_fault(Code::Store, "no temporary folder can be made", &fault)
        })?;
        let wishes = rehearsal.wishes.clone();
        let company = Company { agents: Agents::default(), wishes };
        let stage = Stage {
            host: host.clone(),
            disk: host.disk.clone(),
            entropy: Arc::clone(&host.entropy),
            place,
            workspace: folder.join("workspace"),
            invocation: rehearsal.invocation.clone(),
            company: OnceLock::from(Ok(company)),
            script: rehearsal.script.clone(),
            host_env: rehearsal.host_env(),
            masker: Masker::new(Vec::new()),
            checkout: None,
            guard: Arc::default(),
            effects: None,
            attempts: None,
        };
        let now = host.clock.now();
        let (acts, in_flight, redone) = (BTreeMap::new(), Vec::new(), Vec::new());
        Ok(Self { rehearsal, stage, now, acts, in_flight, redone })
    }

    /// The run with its crash, and what a user does about it.
    fn whole(&mut self, crash: Crash) -> Result<(Vec<Event>, RunState), HostError> {
        let program = Arc::clone(&self.rehearsal.program);
        let mut log = Vec::new();
        let launch = self.launch(None);
        if let Left::Crashed = self.own(&program, &mut log, launch, crash)? {
            let state = folded(&log);
            self.in_flight = state.in_flight.iter().cloned().collect();
            let first = Input::Opened { cut: 0 };
            self.own(&program, &mut log, first, Crash::Never)?;
        }
        for _ in 0..RETRIES_MAX {
            let state = folded(&log);
            let Some(kept) = self.kept(&program, &state, &log) else { break };
            log.clear();
            let launch = self.launch(Some(kept));
            self.own(&program, &mut log, launch, Crash::Never)?;
        }
        let state = folded(&log);
        Ok((log, state))
    }

    /// What a retry keeps of a run that ended for want of an owner.
    fn kept(&mut self, program: &Program, state: &RunState, log: &[Event]) -> Option<Kept> {
        let failure = state.closed.as_ref()?.failure.as_ref()?;
        if failure.reason != FailReason::Interrupted {
            return None;
        }
        let unknown = state
            .nodes
            .iter()
            .filter(|(_, node)| node.status == NodeStatus::Unknown && node.port.is_none());
        let verdicts: BTreeMap<Site, Verdict> =
            unknown.map(|(site, _)| (site.clone(), Verdict::Redo)).collect();
        self.redone.extend(verdicts.keys().cloned());
        keep(program, state, log, &verdicts).ok()
    }

    fn launch(&self, retry: Option<Kept>) -> Input {
        Input::Launch(Box::new(Launch {
            run_id: self.stage.place.run.clone(),
            input: self.rehearsal.input.clone(),
            blueprint_digest: Digest::of(b""),
            invocation_digest: Digest::of(b""),
            principal: None,
            retry: retry.map(Box::new),
            parent: None,
            deadline: None,
            budget: blueprint::Budget::default(),
        }))
    }

    /// One owner, from its first input to its end or to the crash.
    fn own(
        &mut self,
        program: &Arc<Program>,
        log: &mut Vec<Event>,
        first: Input,
        crash: Crash,
    ) -> Result<Left, HostError> {
        let artifacts = self.stage.place.artifacts().display().to_string();
        let mut machine = RunMachine::open(Arc::clone(program), folded(log), artifacts);
        machine.handle(first, self.now);
        let mut outcomes: VecDeque<(Work, Outcome)> = VecDeque::new();
        let cut = match crash {
            Crash::Never => None,
            Crash::Behind { events, stop } => Some((events, stop)),
        };
        for _ in 0..TURNS_MAX {
            match machine.poll() {
                Some(Action::Append(events)) => {
                    log.extend(events.iter().cloned());
                    if let Some((most, Stop::Before)) = cut.filter(|(most, _)| log.len() >= *most) {
                        log.truncate(most);
                        return Ok(Left::Crashed);
                    }
                    // A cut within this write loses the rest of it, and with
                    // it whatever that would have started.
                    if let Some((most, _)) = cut.filter(|(most, _)| log.len() > *most) {
                        log.truncate(most);
                        return Ok(Left::Crashed);
                    }
                    let next = log.last().map_or(durable::Seq::FIRST, |event| event.seq.next());
                    machine.handle(Input::Appended { next }, self.now);
                }
                Some(Action::Start(work)) => {
                    let outcome = self.act(&work)?;
                    outcomes.push_back((*work, outcome));
                }
                Some(Action::Stop(_) | Action::Checkpoint | Action::Park) => {}
                Some(Action::Close(_)) => return Ok(Left::Over),
                None if cut.is_some_and(|(most, _)| log.len() >= most) => return Ok(Left::Crashed),
                None => self.turn(&mut machine, &mut outcomes)?,
            }
        }
        Err(HostError::new(Code::InvalidRequest, "the blueprint does not come to an end")
            .hint("give it an input, or a script, with which it ends"))
    }

    /// The next thing that happens when the machine is at rest.
    fn turn(
        &mut self,
        machine: &mut RunMachine,
        outcomes: &mut VecDeque<(Work, Outcome)>,
    ) -> Result<(), HostError> {
        self.now = self.now.after(durable::Span::from_millis(1));
        if let Some((work, outcome)) = outcomes.pop_front() {
            let (key, generation) = (work.key, work.generation);
            machine.handle(Input::Outcome { key, generation, outcome }, self.now);
            return Ok(());
        }
        let gate = machine.state().waiting.first().cloned();
        if let Some(node) = gate {
            let id = format!("yes-{}", machine.state().next_seq);
            let id = SignalId::new(&id).expect("letters and digits are a safe name");
            let verb = Verb::Approve { node: Some(node) };
            let signal = Signal { id, verb, actor: "crash-test".to_owned(), note: None };
            machine.handle(Input::Signal(signal), self.now);
            return Ok(());
        }
        let Some(wake) = machine.wake_at() else {
            return Err(HostError::new(
                Code::InvalidRequest,
                "the run waits for something that a test cannot give it",
            )
            .hint("raise its budget, or leave that part out"));
        };
        self.now = self.now.max(wake);
        machine.handle(Input::Tick, self.now);
        Ok(())
    }

    /// Lets an attempt act, by the script where it speaks of the node.
    fn act(&mut self, work: &Work) -> Result<Outcome, HostError> {
        // To look whether it is done is no deed.
        if work.key.proof.is_none() {
            *self.acts.entry(work.key.node.clone()).or_default() += 1;
        }
        match &work.task {
            Task::Child(task) => self.child(&work.key, task),
            Task::Http(_) => {
                let message = format!(
                    "{}: a crash test asks no web address; test the rest without this node",
                    work.key.node
                );
                Err(HostError::new(Code::InvalidRequest, message)
                    .hint("replace it by a `shell` node for the test"))
            }
            Task::Agent(_) | Task::Shell(_) | Task::Script(_) | Task::Prove(_) => {
                let stop = providers::Stop::new().map_err(|fault| {
                    HostError::from_fault(Code::Worker, "an attempt cannot be made", &fault)
                })?;
                Ok(perform(&self.stage, work, &stop))
            }
        }
    }

    /// A run that works for this one, played to its end without a crash: its
    /// own test cuts it.
    fn child(&mut self, key: &AttemptKey, task: &ChildTask) -> Result<Outcome, HostError> {
        let Some(program) = self.rehearsal.children.get(task.automation.as_str()).cloned() else {
            return Err(HostError::new(Code::AutomationNotFound, task.automation.to_string()));
        };
        let mut log = Vec::new();
        let launch = Input::Launch(Box::new(Launch {
            run_id: task.run.clone(),
            input: task.input.clone(),
            blueprint_digest: Digest::of(b""),
            invocation_digest: Digest::of(b""),
            principal: None,
            retry: None,
            parent: None,
            deadline: task.deadline,
            budget: task.budget.clone(),
        }));
        self.own(&program, &mut log, launch, Crash::Never)?;
        let state = folded(&log);
        let failure = state.closed.as_ref().and_then(|closed| closed.failure.clone());
        let end = match failure {
            None => Ok(json!({
                "run_id": task.run.as_str(), "result": engine::result(&program, &state),
            })),
            Some(failure) => Err(NodeError::before_effect(
                engine::Class::Bug,
                failure.reason.word(),
                format!("{}: run of `{}` failed: {}", key.node, task.automation, failure.message),
            )),
        };
        Ok(Outcome::Ended { end, usage: None })
    }
}

fn folded(log: &[Event]) -> RunState {
    let mut state = RunState::fresh();
    for event in log {
        fold(&mut state, event).expect("the machine writes what can be folded");
    }
    state
}

/// Whether a blueprint goes on by itself after a crash.
pub(super) fn goes_on(program: &Program) -> bool {
    program.on_interrupt() == OnInterrupt::Resume
}
