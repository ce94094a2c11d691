//! The real world of a worker: a thread for each attempt in flight, and one
//! place where all arrives. A thread whose attempt has ended takes the next
//! one.

use std::collections::BTreeMap;
use std::io::Result as IoResult;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use durable::{Clock, Timestamp};
use engine::{AttemptKey, ChildTask, Class, NodeError, Outcome, RunState, Task, Work};
use providers::Stop;
use rustix::event::Timespec;

use crate::arrivals::{Arrivals, deadline};
use crate::baseline;
use crate::family::{Family, Watched};
use crate::perform::{Stage, perform};
use crate::post::{self, Receiver, Sender};
use crate::tether::Held;
use crate::worker::{Arrival, World};

/// How long a worker that must leave waits for its attempts to end. A tree
/// that is being killed is gone within a few seconds.
const LEAVE_WITHIN: Timespec = Timespec { tv_sec: 15, tv_nsec: 0 };

#[derive(Debug)]
pub(crate) struct Crew {
    stage: Arc<Stage>,
    family: Arc<Family>,
    clock: Arc<dyn Clock>,
    /// Who started this worker and looks on.
    starter: Option<Held>,
    sender: Sender<Arrival>,
    arrivals: Arrivals,
    in_flight: BTreeMap<AttemptKey, Wish>,
    /// That of an attempt which was never asked to end: it serves another.
    spare: Option<Stop>,
    children: BTreeMap<AttemptKey, Watch>,
    /// What waits for a thread, and how many threads wait or perform.
    jobs: Sender<Job>,
    waiting: Receiver<Job>,
    threads: usize,
}

/// What ends an attempt early.
#[derive(Debug)]
struct Wish {
    stop: Stop,
    raised: bool,
}

/// A run that works for this one, and the thread that follows it.
#[derive(Debug)]
struct Watch {
    stop: Stop,
    leave: Stop,
    /// Whether it waits for a person.
    rests: bool,
}

/// An attempt to be performed, and what ends it early.
type Job = (Work, Stop);

impl Crew {
    pub(crate) fn new(
        stage: Arc<Stage>,
        family: Arc<Family>,
        clock: Arc<dyn Clock>,
        starter: Option<Held>,
    ) -> IoResult<Self> {
        let (sender, arrivals) = Arrivals::at(&[&stage.place.folder(), &stage.place.inbox()])?;
        let (jobs, waiting) = post::post()?;
        let (in_flight, children) = (BTreeMap::new(), BTreeMap::new());
        Ok(Self {
            stage,
            family,
            clock,
            starter,
            sender,
            arrivals,
            in_flight,
            spare: None,
            children,
            jobs,
            waiting,
            threads: 0,
        })
    }

    /// Makes sure that one more attempt finds a thread.
    fn make_room(&mut self) -> std::io::Result<()> {
        if self.in_flight.len() < self.threads {
            return Ok(());
        }
        let (stage, jobs) = (Arc::clone(&self.stage), self.waiting.clone());
        let sender = self.sender.clone();
        let performing = move || perform_each(&stage, &jobs, &sender);
        drop(thread::Builder::new().name("attempt".to_owned()).spawn(performing)?);
        self.threads += 1;
        Ok(())
    }

    /// An attempt that could not even be handed to a thread.
    fn refuse(&self, work: &Work, why: &std::io::Error) {
        let message = format!("{}: the attempt cannot be started: {why}", work.key.node);
        let error = NodeError::before_effect(Class::Transient, "no_thread", message);
        self.arrive(work.key.clone(), work.generation, Outcome::Failed(error));
    }

    /// Follows a run that works for this one in a thread of its own.
    fn follow(&mut self, work: &Work, task: ChildTask, watch: Watch) {
        let (family, sender, key) =
            (Arc::clone(&self.family), self.sender.clone(), work.key.clone());
        let (stop, leave) = (watch.stop.clone(), watch.leave.clone());
        let generation = work.generation;
        let (stage, baseline) = (Arc::clone(&self.stage), work.baseline);
        let following = move || {
            if baseline {
                baseline::take(&stage, &key, &stop);
            }
            let word = |rests| {
                sender.send(Arrival::Child { key: key.clone(), rests });
            };
            match family.perform(&key, &task, &stop, &leave, &word) {
                Watched::Over(outcome) => {
                    let key = key.clone();
                    sender.send(Arrival::Outcome { key, generation, outcome });
                }
                Watched::Left => {}
            }
        };
        match thread::Builder::new().name(thread_name(&work.key)).spawn(following) {
            Ok(_) => drop(self.children.insert(work.key.clone(), watch)),
            Err(error) => self.refuse(work, &error),
        }
    }

    fn arrive(&self, key: AttemptKey, generation: durable::Generation, outcome: Outcome) {
        self.sender.send(Arrival::Outcome { key, generation, outcome });
    }
}

impl World for Crew {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn start(&mut self, work: Work) {
        let stop = match self.spare.take().map_or_else(Stop::new, Ok) {
            Ok(stop) => stop,
            Err(error) => return self.refuse(&work, &error),
        };
        if let Task::Child(task) = &work.task {
            return match Stop::new() {
                Ok(leave) => self.follow(&work, task.clone(), Watch { stop, leave, rests: false }),
                Err(error) => self.refuse(&work, &error),
            };
        }
        if let Err(error) = self.make_room() {
            return self.refuse(&work, &error);
        }
        self.in_flight.insert(work.key.clone(), Wish { stop: stop.clone(), raised: false });
        self.jobs.send((work, stop));
    }

    fn stop(&mut self, key: &AttemptKey) {
        if let Some(wish) = self.in_flight.get_mut(key) {
            wish.raised = true;
            wish.stop.request();
        } else if let Some(watch) = self.children.get(key) {
            watch.stop.request();
        }
    }

    fn stays(&self, wake: Option<Timestamp>) -> bool {
        self.stage.guard.let_go();
        wake.is_some() || self.children.values().any(|watch| !watch.rests)
    }

    fn wait(&mut self, until: Option<Timestamp>) -> Arrival {
        let time = until.map(|until| until.since(self.clock.now()).duration());
        let arrival = self.arrivals.wait(time);
        match &arrival {
            Arrival::Outcome { key, .. } => {
                let wish = self.in_flight.remove(key).filter(|wish| !wish.raised);
                self.spare = wish.map(|wish| wish.stop).or(self.spare.take());
                self.children.remove(key);
            }
            Arrival::Child { key, rests } => {
                if let Some(watch) = self.children.get_mut(key) {
                    watch.rests = *rests;
                }
            }
            Arrival::Inbox | Arrival::Time => {}
        }
        arrival
    }

    fn over(&mut self, state: &RunState) {
        if let Some(starter) = &self.starter {
            starter.tell(&crate::Outcome::of_state(state));
        }
    }

    fn leave(&mut self) {
        self.children.values().for_each(|watch| watch.leave.request());
        self.in_flight.values().for_each(|wish| wish.stop.request());
        // Without a deadline there is no waiting without end either.
        let Ok(deadline) = deadline(LEAVE_WITHIN) else { return };
        while !self.in_flight.is_empty() {
            match self.arrivals.before(&deadline) {
                Some(Arrival::Outcome { key, .. }) => drop(self.in_flight.remove(&key)),
                Some(Arrival::Inbox | Arrival::Child { .. } | Arrival::Time) => {}
                None => return,
            }
        }
    }

    fn note(&mut self, text: &str) {
        self.stage.note(text);
    }
}

/// The kernel shows 15 bytes of a thread's name.
fn thread_name(key: &AttemptKey) -> String {
    key.node.node.as_str().chars().take(15).collect()
}

/// Performs what comes, until there is no crew any more.
fn perform_each(stage: &Stage, jobs: &Receiver<Job>, sender: &Sender<Arrival>) {
    while let Some((work, stop)) = jobs.take() {
        // A fault of ours in one attempt is that attempt's unknown end.
        let outcome = catch_unwind(AssertUnwindSafe(|| perform(stage, &work, &stop)))
            .unwrap_or_else(|_| Outcome::Lost {
                message: format!("{}: the performer of the attempt failed", work.key.node),
            });
        let (key, generation) = (work.key, work.generation);
        if !sender.send(Arrival::Outcome { key, generation, outcome }) {
            return;
        }
    }
}
