//! Judges one log and the list of effects against each other: at most one
//! effect an attempt, none without a durable intention, no success without
//! an effect; and after the death of an owner exactly what was in flight is
//! unknown, or tried again where the author allows it. It has its own eyes:
//! nothing here is taken from fold or decide.

use std::collections::{BTreeMap, BTreeSet};

use blueprint::{NodeId, OnInterrupt, Program, Repeat};
use durable::{Attempt, Generation};
use engine::{AgainCause, Event, Fact, RunId, SignalId, UnknownCause};

/// Judges the log of a run whose owner is gone. `effects` are the lines of
/// all runs; `old` are the events of the run that this one tries again.
/// Gives what is wrong, the first thing only.
pub fn judge_story(
    program: &Program,
    run: &RunId,
    events: &[Event],
    effects: &[String],
    old: &[Event],
) -> Result<(), String> {
    let kept = old.iter().filter_map(|event| success(&event.fact)).collect();
    let mut story = Story { kept, acted: acted(run, effects)?, ..Story::new(program) };
    for event in events {
        story.tell(&event.fact).map_err(|why| format!("event {}: {why}", event.seq))?;
    }
    story.end()
}

type Key = (NodeId, Attempt);

struct Story<'a> {
    program: &'a Program,
    /// Attempts that acted.
    acted: BTreeSet<Key>,
    started: BTreeSet<Key>,
    in_flight: BTreeMap<NodeId, (Attempt, Repeat)>,
    /// Attempts after which another is due.
    again: BTreeSet<Key>,
    /// What a new owner still has to say something about.
    owed: BTreeSet<NodeId>,
    generation: Generation,
    signals: BTreeSet<SignalId>,
    /// Attempts of the run before, whose facts stand in this log too.
    kept: BTreeSet<Key>,
    /// Something made success impossible.
    ending: bool,
}

impl<'a> Story<'a> {
    fn new(program: &'a Program) -> Self {
        Self {
            program,
            acted: BTreeSet::new(),
            started: BTreeSet::new(),
            in_flight: BTreeMap::new(),
            again: BTreeSet::new(),
            owed: BTreeSet::new(),
            generation: Generation(0),
            signals: BTreeSet::new(),
            kept: BTreeSet::new(),
            ending: false,
        }
    }

    fn tell(&mut self, fact: &Fact) -> Result<(), String> {
        if let Some(signal) = fact.signal()
            && !self.signals.insert(signal.clone())
        {
            return Err(format!("signal {signal} is answered twice"));
        }
        self.pay(fact)?;
        match fact {
            Fact::RunStarted(started) => {
                self.generation = started.generation;
                Ok(())
            }
            Fact::RunAdopted { generation, .. } => self.adopt(*generation),
            Fact::NodeStarted { node, attempt, generation, repeat, .. } => {
                self.start(node, *attempt, *generation, *repeat)
            }
            Fact::NodeCompleted { node, attempt: Some(attempt), .. }
            | Fact::DecisionCompleted { node, attempt, .. } => self.succeed(node, *attempt),
            Fact::NodeFailed { node, attempt: Some(attempt), .. }
            | Fact::NodeCancelled { node, attempt }
            | Fact::AttemptUnknown { node, attempt, .. } => {
                self.ending = true;
                self.finish(node, *attempt)
            }
            Fact::AttemptFailed { node, attempt, .. } => {
                let key = (node.clone(), *attempt);
                if !self.kept.contains(&key) {
                    self.again.insert(key);
                }
                self.finish(node, *attempt)
            }
            Fact::NodeFailed { attempt: None, .. }
            | Fact::ApprovalRejected { .. }
            | Fact::CancelRequested { .. } => {
                self.ending = true;
                Ok(())
            }
            Fact::NodeCompleted { attempt: None, .. }
            | Fact::RunResumed { .. }
            | Fact::BranchTaken { .. }
            | Fact::StateUpdated { .. }
            | Fact::Notification { .. }
            | Fact::NodeSkipped { .. }
            | Fact::AwaitingApproval { .. }
            | Fact::ApprovalGranted { .. }
            | Fact::SignalRefused { .. }
            | Fact::RunCompleted
            | Fact::RunFailed { .. } => Ok(()),
        }
    }

    /// A new owner first says what became of everything in flight, and
    /// nobody says so at another time.
    fn pay(&mut self, fact: &Fact) -> Result<(), String> {
        if matches!(fact, Fact::RunAdopted { .. }) {
            return Ok(());
        }
        let Some((node, again)) = interrupted(fact) else {
            let owed: Vec<&str> = self.owed.iter().map(NodeId::as_str).collect();
            return match owed.is_empty() {
                true => Ok(()),
                false => Err(format!("{} comes before a word on {}", fact.kind(), owed.join(", "))),
            };
        };
        if let Some((attempt, _)) = self.in_flight.get(node)
            && self.kept.contains(&(node.clone(), *attempt))
        {
            // The record of what a retry keeps was cut short; it did nothing.
            self.owed.remove(node);
            return Ok(());
        }
        let may = self.may_repeat();
        if !self.owed.remove(node) {
            return Err(format!("{node} is called interrupted, and nothing of it was in flight"));
        }
        match (again, may) {
            (true, false) => Err(format!("{node} is tried again, which nobody allowed")),
            (false, true) => Err(format!("{node} is unknown, though it may be tried again")),
            (true, true) | (false, false) => Ok(()),
        }
    }

    fn may_repeat(&self) -> bool {
        let safe = |node: &NodeId| {
            self.in_flight.get(node).is_some_and(|(_, repeat)| *repeat == Repeat::Safe)
        };
        self.program.on_interrupt() == OnInterrupt::Resume
            && !self.ending
            && self.owed.iter().all(safe)
    }

    fn adopt(&mut self, generation: Generation) -> Result<(), String> {
        if generation <= self.generation {
            return Err(format!("generation {generation} follows {}", self.generation));
        }
        self.generation = generation;
        self.owed = self.in_flight.keys().cloned().collect();
        Ok(())
    }

    fn start(
        &mut self,
        node: &NodeId,
        attempt: Attempt,
        generation: Generation,
        repeat: Repeat,
    ) -> Result<(), String> {
        let key = (node.clone(), attempt);
        let before = (node.clone(), Attempt(attempt.0.saturating_sub(1)));
        if !self.started.insert(key) {
            return Err(format!("attempt {attempt} of {node} starts twice"));
        }
        if attempt > Attempt::FIRST && !self.again.contains(&before) {
            return Err(format!("attempt {attempt} of {node} starts, and nothing asked for it"));
        }
        if generation != self.generation && !self.kept.contains(&(node.clone(), attempt)) {
            return Err(format!("generation {generation} starts {node} in {}", self.generation));
        }
        match self.in_flight.insert(node.clone(), (attempt, repeat)) {
            None => Ok(()),
            Some((other, _)) => Err(format!("attempts {other} and {attempt} of {node} overlap")),
        }
    }

    fn succeed(&mut self, node: &NodeId, attempt: Attempt) -> Result<(), String> {
        let key = (node.clone(), attempt);
        if !self.acted.contains(&key) && !self.kept.contains(&key) {
            return Err(format!("attempt {attempt} of {node} succeeded without an effect"));
        }
        self.finish(node, attempt)
    }

    fn finish(&mut self, node: &NodeId, attempt: Attempt) -> Result<(), String> {
        match self.in_flight.remove(node) {
            Some((flight, _)) if flight == attempt => Ok(()),
            Some((flight, _)) => Err(format!("{node} is at {flight}, and {attempt} ends")),
            None if self.kept.contains(&(node.clone(), attempt)) => Ok(()),
            None => Err(format!("attempt {attempt} of {node} ends and was not in flight")),
        }
    }

    fn end(self) -> Result<(), String> {
        if let Some(node) = self.in_flight.keys().next() {
            return Err(format!("{node} is in flight and has no owner"));
        }
        match self.acted.difference(&self.started).next() {
            Some((node, attempt)) => {
                Err(format!("attempt {attempt} of {node} acted, and no durable event names it"))
            }
            None => Ok(()),
        }
    }
}

fn success(fact: &Fact) -> Option<Key> {
    if let Fact::NodeCompleted { node, attempt: Some(attempt), .. }
    | Fact::DecisionCompleted { node, attempt, .. } = fact
    {
        return Some((node.clone(), *attempt));
    }
    None
}

/// Of which node the fact says that its owner died, and whether it is to be
/// tried again.
fn interrupted(fact: &Fact) -> Option<(&NodeId, bool)> {
    if let Fact::AttemptUnknown { node, cause: UnknownCause::Interrupted, .. } = fact {
        return Some((node, false));
    }
    if let Fact::AttemptFailed { node, cause: AgainCause::Interrupted, .. } = fact {
        return Some((node, true));
    }
    None
}

/// The attempts of this run that acted, each of which did so once.
fn acted(run: &RunId, effects: &[String]) -> Result<BTreeSet<Key>, String> {
    let mut acted = BTreeSet::new();
    for line in effects {
        let parts: Vec<&str> = line.split('/').collect();
        let [of, node, _, attempt] = parts[..] else { return Err(format!("`{line}` is no line")) };
        let number = attempt.parse().map_err(|_| format!("`{line}` has no attempt"))?;
        if of == run.as_str() && !acted.insert((NodeId::new(node), Attempt(number))) {
            return Err(format!("{line} acted twice"));
        }
    }
    Ok(acted)
}

#[cfg(test)]
mod tests;
