//! The real world of a worker: a thread for each attempt in flight, one that
//! watches the inbox, and one channel on which all of it arrives. A thread
//! whose attempt has ended takes the next one.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use durable::{Clock, Timestamp};
use engine::{AttemptKey, ChildTask, Class, NodeError, Outcome, Task, Work};
use providers::Stop;

use crate::baseline;
use crate::family::{Family, Watched};
use crate::perform::{Stage, perform};
use crate::tether::Held;
use crate::watch::watch;
use crate::worker::{Arrival, World};

/// How long a worker that must leave waits for its attempts to end. A tree
/// that is being killed is gone within a few seconds.
const LEAVE_WITHIN: Duration = Duration::from_secs(15);

#[derive(Debug)]
pub(crate) struct Crew {
    stage: Arc<Stage>,
    family: Arc<Family>,
    clock: Arc<dyn Clock>,
    /// Who started this worker and looks on.
    starter: Option<Held>,
    sender: Sender<Arrival>,
    arrivals: Receiver<Arrival>,
    in_flight: BTreeMap<AttemptKey, Stop>,
    children: BTreeMap<AttemptKey, Watch>,
    /// What waits for a thread, and how many threads wait or perform.
    jobs: Sender<Job>,
    waiting: Arc<Mutex<Receiver<Job>>>,
    threads: usize,
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
    ) -> Self {
        let (sender, arrivals) = channel();
        let (jobs, waiting) = channel();
        let (watcher, folder, inbox) = (sender.clone(), stage.place.folder(), stage.place.inbox());
        let watching = move || watch(&[&folder, &inbox], &watcher, || Arrival::Inbox);
        // Without its thread the inbox is read at every other arrival.
        drop(thread::Builder::new().name("inbox".to_owned()).spawn(watching));
        let (in_flight, children) = (BTreeMap::new(), BTreeMap::new());
        let waiting = Arc::new(Mutex::new(waiting));
        Self {
            stage,
            family,
            clock,
            starter,
            sender,
            arrivals,
            in_flight,
            children,
            jobs,
            waiting,
            threads: 0,
        }
    }

    /// Makes sure that one more attempt finds a thread.
    fn make_room(&mut self) -> std::io::Result<()> {
        if self.in_flight.len() < self.threads {
            return Ok(());
        }
        let (stage, jobs) = (Arc::clone(&self.stage), Arc::clone(&self.waiting));
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
            let word = |rests| drop(sender.send(Arrival::Child { key: key.clone(), rests }));
            match family.perform(&key, &task, &stop, &leave, &word) {
                Watched::Over(outcome) => {
                    let key = key.clone();
                    drop(sender.send(Arrival::Outcome { key, generation, outcome }));
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
        self.sender
            .send(Arrival::Outcome { key, generation, outcome })
            .expect("the crew holds the receiver");
    }
}

impl World for Crew {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn start(&mut self, work: Work) {
        let stop = match Stop::new() {
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
        self.in_flight.insert(work.key.clone(), stop.clone());
        self.jobs.send((work, stop)).expect("the crew holds the receiver");
    }

    fn stop(&mut self, key: &AttemptKey) {
        let attempt = self.in_flight.get(key);
        if let Some(stop) = attempt.or_else(|| self.children.get(key).map(|watch| &watch.stop)) {
            stop.request();
        }
    }

    fn stays(&self, wake: Option<Timestamp>) -> bool {
        self.stage.guard.let_go();
        wake.is_some() || self.children.values().any(|watch| !watch.rests)
    }

    fn wait(&mut self, until: Option<Timestamp>) -> Arrival {
        let arrival = match until {
            None => self.arrivals.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(until) => self.arrivals.recv_timeout(until.since(self.clock.now()).duration()),
        };
        let Ok(arrival) = arrival else { return Arrival::Time };
        match &arrival {
            Arrival::Outcome { key, .. } => {
                self.in_flight.remove(key);
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

    fn over(&mut self) {
        if let Some(starter) = &self.starter {
            starter.tell();
        }
    }

    fn leave(&mut self) {
        self.children.values().for_each(|watch| watch.leave.request());
        self.in_flight.values().for_each(Stop::request);
        while !self.in_flight.is_empty() {
            match self.arrivals.recv_timeout(LEAVE_WITHIN) {
                Ok(Arrival::Outcome { key, .. }) => drop(self.in_flight.remove(&key)),
                Ok(Arrival::Inbox | Arrival::Child { .. } | Arrival::Time) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
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
fn perform_each(stage: &Stage, jobs: &Mutex<Receiver<Job>>, sender: &Sender<Arrival>) {
    loop {
        let next = jobs.lock().map(|jobs| jobs.recv());
        let Ok(Ok((work, stop))) = next else { return };
        // A fault of ours in one attempt is that attempt's unknown end.
        let outcome = catch_unwind(AssertUnwindSafe(|| perform(stage, &work, &stop)))
            .unwrap_or_else(|_| Outcome::Lost {
                message: format!("{}: the performer of the attempt failed", work.key.node),
            });
        let (key, generation) = (work.key, work.generation);
        if sender.send(Arrival::Outcome { key, generation, outcome }).is_err() {
            return;
        }
    }
}
