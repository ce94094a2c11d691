//! What a worker meets outside its run: attempts that end as the plays say,
//! people who say their words at the wait they were given, and a clock that
//! moves when nothing else does.

use std::collections::VecDeque;

use durable::sim::ManualClock;
use durable::{Clock as _, Generation, Span, Timestamp};
use engine::{AttemptKey, Class, Effect, NodeError, Outcome, Work};
use host::worker::{Arrival, World};
use runstore::RunPlace;
use serde_json::{Value, json};

use crate::effects;
use crate::life::Theatre;
use crate::scenario::{Play, Word};

#[derive(Debug)]
pub(crate) struct Performer<'a> {
    theatre: &'a Theatre<'a>,
    place: RunPlace,
    clock: ManualClock,
    due: VecDeque<(AttemptKey, Generation, Outcome)>,
    hanging: Vec<(AttemptKey, Generation)>,
    words: VecDeque<(usize, Word)>,
    waits: usize,
    /// Whether this owner may start anything.
    starts: bool,
}

impl<'a> Performer<'a> {
    pub(crate) fn new(theatre: &'a Theatre<'a>, place: &RunPlace, words: &[(usize, Word)]) -> Self {
        Self {
            theatre,
            place: place.clone(),
            clock: theatre.clock.clone(),
            due: VecDeque::new(),
            hanging: Vec::new(),
            words: words.iter().cloned().collect(),
            waits: 0,
            starts: true,
        }
    }

    /// An owner that only records what another has left.
    pub(crate) fn recorder(theatre: &'a Theatre<'a>, place: &RunPlace) -> Self {
        Self { starts: false, ..Self::new(theatre, place, &[]) }
    }

    /// Puts files and the line of the effect where they belong, as the real
    /// performer does, before the attempt acts.
    fn prepare(&self, work: &Work) -> Result<(), NodeError> {
        let (disk, entropy) = (&*self.theatre.disk, &self.theatre.entropy);
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
                Outcome::Replied { text, session, usage: None }
            }
            Play::Fail => Outcome::Failed(failed(&key)),
            Play::Lost => Outcome::Lost { message: format!("{}: nobody saw its end", key.node) },
            Play::Hang => return self.hanging.push((key, generation)),
        };
        self.due.push_back((key, generation, outcome));
    }

    fn play(&self, work: &Work) -> Play {
        let plays = self.theatre.scenario.plays.get(work.key.node.node.as_str());
        let nth = usize::try_from(work.key.attempt.0.saturating_sub(1)).unwrap_or(usize::MAX);
        let play = plays.and_then(|plays| plays.get(nth).or(plays.last()));
        play.cloned().unwrap_or_else(|| Play::Output(output_of(&work.key)))
    }
}

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
        assert!(self.starts, "an owner that only records has started {}", work.key);
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
        if let Some(until) = until {
            self.clock.set(until);
            return Arrival::Time;
        }
        let hanging = self.hanging.pop().expect("a run waits only for something that can come");
        let outcome = Outcome::Lost { message: "it never ended".to_owned() };
        Arrival::Outcome { key: hanging.0, generation: hanging.1, outcome }
    }

    fn stays(&self, wake: Option<Timestamp>) -> bool {
        wake.is_some()
    }

    fn note(&mut self, _: &str) {}
}
