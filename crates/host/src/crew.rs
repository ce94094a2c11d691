//! The real world of a worker: one thread for each attempt in flight, one
//! that watches the inbox, and one channel on which all of it arrives.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use durable::{Clock, Timestamp};
use engine::{AttemptKey, Class, NodeError, Outcome, Work};
use providers::Stop;

use crate::perform::{Stage, perform};
use crate::watch::watch;
use crate::worker::{Arrival, World};

/// How long a worker that must leave waits for its attempts to end. A tree
/// that is being killed is gone within a few seconds.
const LEAVE_WITHIN: Duration = Duration::from_secs(15);

#[derive(Debug)]
pub(crate) struct Crew {
    stage: Arc<Stage>,
    clock: Arc<dyn Clock>,
    sender: Sender<Arrival>,
    arrivals: Receiver<Arrival>,
    in_flight: BTreeMap<AttemptKey, Stop>,
}

impl Crew {
    pub(crate) fn new(stage: Arc<Stage>, clock: Arc<dyn Clock>) -> Self {
        let (sender, arrivals) = channel();
        let (watcher, folder, inbox) = (sender.clone(), stage.place.folder(), stage.place.inbox());
        let watching = move || watch(&[&folder, &inbox], &watcher, || Arrival::Inbox);
        // Without its thread the inbox is read at every other arrival.
        drop(thread::Builder::new().name("inbox".to_owned()).spawn(watching));
        Self { stage, clock, sender, arrivals, in_flight: BTreeMap::new() }
    }

    /// Ends what is in flight and waits until its processes are gone.
    pub(crate) fn leave(&mut self) {
        self.in_flight.values().for_each(Stop::request);
        while !self.in_flight.is_empty() {
            match self.arrivals.recv_timeout(LEAVE_WITHIN) {
                Ok(Arrival::Outcome { key, .. }) => drop(self.in_flight.remove(&key)),
                Ok(Arrival::Inbox | Arrival::Time) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// An attempt that could not even be handed to a thread.
    fn refuse(&self, work: &Work, why: &std::io::Error) {
        let message = format!("{}: the attempt cannot be started: {why}", work.key.node);
        let error = NodeError::before_effect(Class::Transient, "no_thread", message);
        self.arrive(work.key.clone(), work.generation, Outcome::Failed(error));
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
        let (stage, sender, theirs) = (Arc::clone(&self.stage), self.sender.clone(), stop.clone());
        let (key, generation) = (work.key.clone(), work.generation);
        let named = key.node.as_str().chars().take(15).collect();
        let kept = work.clone();
        let attempt = move || {
            // A fault of ours in one attempt is that attempt's unknown end.
            let outcome = catch_unwind(AssertUnwindSafe(|| perform(&stage, &kept, &theirs)))
                .unwrap_or_else(|_| Outcome::Lost {
                    message: format!("{}: the performer of the attempt failed", kept.key.node),
                });
            drop(sender.send(Arrival::Outcome { key, generation, outcome }));
        };
        match thread::Builder::new().name(named).spawn(attempt) {
            Ok(_) => drop(self.in_flight.insert(work.key, stop)),
            Err(error) => self.refuse(&work, &error),
        }
    }

    fn stop(&mut self, key: &AttemptKey) {
        if let Some(stop) = self.in_flight.get(key) {
            stop.request();
        }
    }

    fn wait(&mut self, until: Option<Timestamp>) -> Arrival {
        let arrival = match until {
            None => self.arrivals.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(until) => self.arrivals.recv_timeout(until.since(self.clock.now()).duration()),
        };
        let Ok(arrival) = arrival else { return Arrival::Time };
        if let Arrival::Outcome { key, .. } = &arrival {
            self.in_flight.remove(key);
        }
        arrival
    }

    fn note(&mut self, text: &str) {
        self.stage.note(text);
    }
}
