//! What a worker meets outside its run: attempts that end as the plays say,
//! people who say their words at the wait they were given, and a clock that
//! moves when nothing else does.

use std::collections::VecDeque;
use std::time::Duration;

use durable::sim::ManualClock;
use durable::{Clock as _, Generation, Span, Timestamp};
use engine::proof::Finding;
use engine::{AttemptKey, Class, Effect, NodeError, Outcome, Task, Usage, Work};
use host::family::{Child, Family, Look};
use host::worker::{Arrival, World};
use runstore::{Invocation, RunPlace};
use serde_json::{Value, json};

use crate::effects;
use crate::life::Theatre;
use crate::scenario::{Play, Word};

#[derive(Debug)]
pub(crate) struct Performer<'a> {
    theatre: &'a Theatre,
    place: RunPlace,
    family: Family,
    clock: ManualClock,
    due: VecDeque<(AttemptKey, Generation, Outcome)>,
    hanging: Vec<(AttemptKey, Generation)>,
    children: Vec<Watched>,
    words: VecDeque<(usize, Word)>,
    waits: usize,
}

/// A run that works for this one.
#[derive(Debug)]
struct Watched {
    key: AttemptKey,
    generation: Generation,
    child: Child,
    unwanted: bool,
    /// Whether it waits for a person.
    rests: bool,
}

impl<'a> Performer<'a> {
    pub(crate) fn new(
        theatre: &'a Theatre,
        place: &RunPlace,
        invocation: &Invocation,
        words: &[(usize, Word)],
    ) -> Self {
        Self {
            theatre,
            place: place.clone(),
            family: Family::new(theatre.host.clone(), place.clone(), invocation.clone()),
            clock: theatre.clock.clone(),
            due: VecDeque::new(),
            hanging: Vec::new(),
            children: Vec::new(),
            words: words.iter().cloned().collect(),
            waits: 0,
        }
    }

    /// Puts files and the line of the effect where they belong, as the real
    /// performer does, before the attempt acts.
    fn prepare(&self, work: &Work) -> Result<(), NodeError> {
        let (disk, entropy) = (&*self.theatre.disk, &*self.theatre.entropy);
        let refused =
            |error: String| NodeError::before_effect(Class::Preflight, "not_prepared", error);
        for file in &work.files {
            runstore::artifacts::put(disk, &self.place, file.text.as_bytes(), entropy)
                .map_err(|error| refused(error.to_string()))?;
        }
        effects::note(disk, &self.place.home, &work.key).map_err(|error| refused(error.to_string()))
    }

    fn end(&mut self, key: AttemptKey, generation: Generation, play: Play) {
        let outcome = match play {
            Play::Output(value) => Outcome::Output(value),
            Play::Reply(text) => {
                let session = Some(format!("session-of-{}", key.node));
                Outcome::Replied { text, session, usage: Some(Box::new(USAGE)) }
            }
            Play::Fail => Outcome::Failed(failed(&key)),
            Play::Limit => Outcome::Failed(limited(&key)),
            Play::Lost => Outcome::Lost { message: format!("{}: nobody saw its end", key.node) },
            Play::Hang => return self.hanging.push((key, generation)),
        };
        self.due.push_back((key, generation, outcome));
    }

    fn watch(&mut self, key: &AttemptKey, generation: Generation, child: Child) {
        let place = child.place().clone();
        self.theatre.record.lock().children.push(place);
        let key = key.clone();
        self.children.push(Watched { key, generation, child, unwanted: false, rests: false });
    }

    /// What is new of the runs that work for this one, if anything is.
    fn look_at_children(&mut self) -> Option<Arrival> {
        for at in 0..self.children.len() {
            let one = self.children.get_mut(at)?;
            let mut look = one.child.look(Duration::ZERO, one.unwanted);
            while matches!(look, Look::Busy) {
                one.rests = false;
                look = one.child.look(Duration::ZERO, one.unwanted);
            }
            let rests = match look {
                Look::Over(outcome) => {
                    let Watched { key, generation, .. } = self.children.remove(at);
                    return Some(Arrival::Outcome { key, generation, outcome });
                }
                Look::Quiet | Look::Busy => continue,
                Look::Rests { for_person } => for_person,
            };
            if rests != one.rests {
                one.rests = rests;
                return Some(Arrival::Child { key: one.key.clone(), rests });
            }
        }
        None
    }

    /// What the checks of a claim find: that they hold, unless it is played
    /// otherwise.
    fn looked_at(&self, key: &AttemptKey, probes: usize) -> Outcome {
        let plays = self.theatre.scenario.plays.get(&format!("{}+proof", key.node.node));
        let play = plays.and_then(|plays| nth(plays, key));
        let finding = match play {
            Some(Play::Lost) => return Outcome::Lost { message: "nobody looked".to_owned() },
            Some(Play::Fail) => Finding::broken("it does not hold".to_owned()),
            Some(Play::Output(_) | Play::Reply(_) | Play::Limit | Play::Hang) | None => {
                Finding::held()
            }
        };
        Outcome::Proved(vec![finding; probes])
    }

    fn play(&self, work: &Work) -> Play {
        let AttemptKey { node: site, round, .. } = &work.key;
        let node = &site.node;
        let names = [
            format!("{site}@{round}"),
            format!("{node}@{round}"),
            site.to_string(),
            node.to_string(),
        ];
        let plays = names.iter().find_map(|name| self.theatre.scenario.plays.get(name));
        let play = plays.and_then(|plays| nth(plays, &work.key));
        play.cloned().unwrap_or_else(|| Play::Output(output_of(&work.key)))
    }
}

/// The play of this attempt; the last one goes on for ever.
fn nth<'p>(plays: &'p [Play], key: &AttemptKey) -> Option<&'p Play> {
    let nth = usize::try_from(key.attempt.0.saturating_sub(1)).unwrap_or(usize::MAX);
    plays.get(nth).or(plays.last())
}

fn limited(key: &AttemptKey) -> NodeError {
    let message = format!("{}: the limit is reached", key.node);
    NodeError {
        retry_after: Some(Span::from_secs(1)),
        ..NodeError::before_effect(Class::Transient, "limit_reached", message)
    }
}

const LOOKS: usize = 5;

/// What an agent tells of itself.
const USAGE: Usage = Usage {
    tokens: Some(10),
    cost_micros: Some(500),
    agent_calls: None,
    agent_time: None,
    unasked: false,
};

/// What a command says that does its work.
fn output_of(key: &AttemptKey) -> Value {
    json!({ "exit_code": 0, "stdout": format!("{} is done", key.node), "stderr": "" })
}

fn failed(key: &AttemptKey) -> NodeError {
    NodeError {
        class: Class::Bug,
        code: "exit_1".to_owned(),
        message: format!("{}: it ended with exit code 1", key.node),
        effect: Effect::Done,
        output: Some(json!({ "exit_code": 1, "stdout": "", "stderr": "no" })),
        retry_after: None,
    }
}

impl World for Performer<'_> {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn start(&mut self, work: Work) {
        if let Task::Child(task) = &work.task {
            let Work { key, generation, .. } = &work;
            match self.family.child(key, task) {
                Ok(child) => self.watch(key, *generation, child),
                Err(outcome) => self.due.push_back((key.clone(), *generation, outcome)),
            }
            return;
        }
        if let Task::Prove(task) = &work.task {
            let outcome = self.looked_at(&work.key, task.probes.len());
            self.due.push_back((work.key, work.generation, outcome));
            return;
        }
        let play = self.play(&work);
        match self.prepare(&work) {
            Ok(()) => self.end(work.key, work.generation, play),
            Err(error) => {
                self.due.push_back((work.key, work.generation, Outcome::Failed(error)));
            }
        }
    }

    fn stop(&mut self, key: &AttemptKey) {
        if let Some(at) = self.hanging.iter().position(|(hanging, _)| hanging == key) {
            let (key, generation) = self.hanging.remove(at);
            self.due.push_back((key, generation, Outcome::Stopped));
        }
        self.children.iter_mut().filter(|one| one.key == *key).for_each(|one| one.unwanted = true);
    }

    fn wait(&mut self, until: Option<Timestamp>) -> Arrival {
        self.clock.advance(Span::from_millis(1));
        let wait = self.waits;
        self.waits += 1;
        if let Some((_, word)) = self.words.pop_front_if(|(at, _)| *at <= wait) {
            // Who is refused says it once more, and then goes home.
            if self.theatre.say(&self.place, &word).is_err() {
                drop(self.theatre.say(&self.place, &word));
            }
            return Arrival::Inbox;
        }
        let last_first = self.theatre.scenario.last_first;
        let due = if last_first { self.due.pop_back() } else { self.due.pop_front() };
        if let Some((key, generation, outcome)) = due {
            return Arrival::Outcome { key, generation, outcome };
        }
        // A first look may be what a child needs to go on.
        for _ in 0..LOOKS {
            if let Some(arrival) = self.look_at_children() {
                return arrival;
            }
            if self.theatre.next_worker() {
                return Arrival::Time;
            }
        }
        if let Some(until) = until {
            self.clock.set(until.max(self.clock.now()));
            return Arrival::Time;
        }
        let hanging = self.hanging.pop().expect("a run waits only for something that can come");
        let outcome = Outcome::Lost { message: "it never ended".to_owned() };
        Arrival::Outcome { key: hanging.0, generation: hanging.1, outcome }
    }

    fn stays(&self, wake: Option<Timestamp>) -> bool {
        wake.is_some() || self.children.iter().any(|one| !one.rests)
    }

    fn leave(&mut self) {
        self.due.clear();
        self.hanging.clear();
        self.children.clear();
    }

    fn note(&mut self, _: &str) {}
}
