//! Judges one log and the list of effects against each other: at most one
//! effect an attempt, none without a durable intention, no success without
//! an effect; after the death of an owner exactly what was in flight is
//! unknown, or tried again where the author allows it; and nothing starts
//! that was not asked for, or no longer is. It has its own eyes: nothing here
//! is taken from fold or decide.

mod claims;

use std::collections::{BTreeMap, BTreeSet};

use blueprint::{NodeId, OnInterrupt, Program, Repeat};
use durable::{Attempt, Generation, Round, Timestamp};
use engine::{AgainCause, Caught, Event, Fact, RunId, SignalId, Site, UnknownCause};

/// Judges the log of a run whose owner is gone. `effects` are the lines of
/// all runs; `old` are the events of the run that this one tries again, or
/// from which it was forked. Gives what is wrong, the first thing only.
pub fn judge_story(
    program: &Program,
    run: &RunId,
    events: &[Event],
    effects: &[String],
    old: &[Event],
) -> Result<(), String> {
    let mut story = Story { acted: acted(run, effects)?, old, ..Story::new(program) };
    for event in events {
        story.tell(event).map_err(|why| format!("event {}: {why}", event.seq))?;
    }
    story.end()
}

/// Within one run the same attempt is the same site, round and number.
type Key = (Site, Round, Attempt);

/// A container, and the item in it where it has items.
type Lane = (NodeId, Option<u32>);

/// An attempt that has begun and not ended.
#[derive(Debug, Clone)]
struct Flight {
    attempt: Attempt,
    repeat: Repeat,
    /// The run that does its work.
    child: Option<RunId>,
    /// It says that it is done, and whether that is being checked.
    claims: bool,
    looks: bool,
}

struct Story<'a> {
    program: &'a Program,
    /// What is left of the run before, while this one takes over from it.
    old: &'a [Event],
    keeping: bool,
    /// Attempts that acted.
    acted: BTreeSet<Key>,
    started: BTreeSet<Key>,
    /// Attempts of the run before, whose facts stand in this log too.
    kept: BTreeSet<Key>,
    in_flight: BTreeMap<Site, Flight>,
    /// Attempts after which another is due, and from when on.
    again: BTreeMap<Key, Option<Timestamp>>,
    /// Those of them that wait for the limit of a provider.
    limited: BTreeSet<Key>,
    /// Runs that were asked to work for this one.
    asked: BTreeSet<RunId>,
    /// The round of each loop.
    rounds: BTreeMap<NodeId, Round>,
    /// Items that are over.
    over: BTreeSet<(NodeId, u32)>,
    /// Where something failed, so that nothing is begun there any more.
    halted: BTreeSet<Lane>,
    /// The moments that sites wait for.
    waits: BTreeMap<Site, Timestamp>,
    /// What a new owner still has to say something about.
    owed: BTreeSet<Site>,
    generation: Generation,
    signals: BTreeSet<SignalId>,
    deadline: Option<Timestamp>,
    /// The budget is spent, and nobody has granted it again.
    held: bool,
    /// Something made success impossible.
    ending: bool,
    closed: bool,
}

impl<'a> Story<'a> {
    fn new(program: &'a Program) -> Self {
        Self {
            program,
            old: &[],
            keeping: false,
            acted: BTreeSet::new(),
            started: BTreeSet::new(),
            kept: BTreeSet::new(),
            in_flight: BTreeMap::new(),
            again: BTreeMap::new(),
            limited: BTreeSet::new(),
            asked: BTreeSet::new(),
            rounds: BTreeMap::new(),
            over: BTreeSet::new(),
            halted: BTreeSet::new(),
            waits: BTreeMap::new(),
            owed: BTreeSet::new(),
            generation: Generation(0),
            signals: BTreeSet::new(),
            deadline: None,
            held: false,
            ending: false,
            closed: false,
        }
    }

    fn tell(&mut self, event: &Event) -> Result<(), String> {
        let Event { at, fact, .. } = event;
        self.admit(fact)?;
        match fact {
            Fact::RunStarted(started) => {
                self.generation = started.generation;
                self.deadline = started.deadline;
                self.keeping = started.retry_of.is_some() || started.fork_of.is_some();
                Ok(())
            }
            Fact::RunAdopted { generation, .. } => self.adopt(*generation),
            Fact::NodeStarted { .. } => self.start(*at, fact),
            Fact::NodeCompleted { node, attempt: None, .. } => self.settle(node, *at),
            Fact::NodeCompleted { node, attempt: Some(attempt), .. }
            | Fact::DecisionCompleted { node, attempt, .. } => self.succeed(node, *attempt),
            Fact::NodeCancelled { node, attempt } => self.finish(node, *attempt),
            Fact::NodeFailed { node, attempt, caught, .. } => {
                self.fail(node, *caught);
                attempt.map_or(Ok(()), |attempt| self.finish(node, attempt))
            }
            Fact::AttemptUnknown { node, attempt, caught, .. } => {
                self.fail(node, *caught);
                self.finish(node, *attempt)
            }
            Fact::AttemptFailed { node, attempt, wake, cause, .. } => {
                self.ask_again(node, *attempt, *wake, *cause)
            }
            Fact::LoopIteration { node, iteration, .. } => self.iterate(&node.node, *iteration),
            Fact::ItemCompleted { node, index, .. } | Fact::ItemFailed { node, index, .. } => {
                self.end_item(&node.node, *index)
            }
            Fact::WaitStarted { node, until } => match self.waits.insert(node.clone(), *until) {
                None => Ok(()),
                Some(_) => Err(format!("{node} begins to wait twice")),
            },
            Fact::UsageReported { .. }
            | Fact::SessionReported { .. }
            | Fact::NodeClaimed { .. }
            | Fact::ProofStarted { .. }
            | Fact::ProofInterrupted { .. }
            | Fact::ProofReported { .. } => self.word(fact),
            Fact::BudgetReached { .. } => {
                self.held = true;
                Ok(())
            }
            Fact::RunResumed { .. } => self.resume(),
            Fact::DeadlinePassed { deadline } if at < deadline => {
                Err(format!("the time is up at {at}, and was given until {deadline}"))
            }
            Fact::DeadlinePassed { .. }
            | Fact::ApprovalRejected { .. }
            | Fact::CancelRequested { .. } => {
                self.ending = true;
                Ok(())
            }
            Fact::RunCompleted | Fact::RunFailed { .. } => self.close(),
            Fact::BranchTaken { .. }
            | Fact::StateUpdated { .. }
            | Fact::Notification { .. }
            | Fact::NodeSkipped { .. }
            | Fact::LoopCompleted { .. }
            | Fact::ForEachStarted { .. }
            | Fact::ForEachCompleted { .. }
            | Fact::BudgetNotice { .. }
            | Fact::AwaitingApproval { .. }
            | Fact::ApprovalGranted { .. }
            | Fact::SignalRefused { .. } => Ok(()),
        }
    }

    /// Whether a fact may come at all now.
    fn admit(&mut self, fact: &Fact) -> Result<(), String> {
        if self.closed {
            return Err(format!("{} comes after the end", fact.kind()));
        }
        if let Some(signal) = fact.signal()
            && !self.signals.insert(signal.clone())
        {
            return Err(format!("signal {signal} is answered twice"));
        }
        match self.keeping {
            true => self.keep(fact),
            false => self.pay(fact),
        }
    }

    /// What a run takes over stands in the log of the run before, in the same
    /// order. Should the record of it have been cut short, the run ends.
    fn keep(&mut self, fact: &Fact) -> Result<(), String> {
        let gives_up = matches!(
            fact,
            Fact::RunAdopted { .. }
                | Fact::RunFailed { .. }
                | Fact::AttemptFailed { cause: AgainCause::Interrupted, .. }
        );
        let next = self.old.iter().position(|event| event.fact == *fact);
        match next {
            Some(at) => self.old = self.old.get(at + 1..).unwrap_or_default(),
            None if gives_up => {}
            None => return Err(format!("{} is kept, and was not there to be", fact.kind())),
        }
        Ok(())
    }

    /// A new owner first says what became of everything in flight, and
    /// nobody says so at another time.
    fn pay(&mut self, fact: &Fact) -> Result<(), String> {
        if matches!(fact, Fact::RunAdopted { .. }) {
            return Ok(());
        }
        let Some((node, again)) = interrupted(fact) else {
            let owed: Vec<String> = self.owed.iter().map(ToString::to_string).collect();
            return match owed.is_empty() {
                true => Ok(()),
                false => Err(format!("{} comes before a word on {}", fact.kind(), owed.join(", "))),
            };
        };
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
        let safe = |node: &Site| {
            self.in_flight.get(node).is_some_and(|flight| flight.repeat == Repeat::Safe)
        };
        self.program.on_interrupt() == OnInterrupt::Resume
            && !self.ending
            && self.owed.iter().all(safe)
    }

    /// Runs that work for this one have owners of their own.
    fn adopt(&mut self, generation: Generation) -> Result<(), String> {
        if generation <= self.generation {
            return Err(format!("generation {generation} follows {}", self.generation));
        }
        if self.keeping && !self.in_flight.is_empty() {
            return Err("something is in flight that the run has kept".to_owned());
        }
        self.keeping = false;
        self.generation = generation;
        let dead = self.in_flight.iter().filter(|(_, flight)| flight.child.is_none());
        self.owed = dead.map(|(site, _)| site.clone()).collect();
        // Where the run goes on, a claim of which nobody has asked for the
        // checks lost nothing.
        if self.may_repeat() {
            let (owed, flights) = (&mut self.owed, &self.in_flight);
            owed.retain(|site| flights.get(site).is_some_and(|one| one.looks || !one.claims));
        }
        Ok(())
    }

    fn start(&mut self, at: Timestamp, fact: &Fact) -> Result<(), String> {
        let Fact::NodeStarted { node, attempt, generation, repeat, child, .. } = fact else {
            return Ok(());
        };
        let key = self.key(node, *attempt);
        if !self.started.insert(key.clone()) {
            return Err(format!("attempt {attempt} of {node} starts twice"));
        }
        if self.keeping {
            self.kept.insert(key);
        } else {
            self.may_start(node, at)?;
            if *generation != self.generation {
                return Err(format!(
                    "generation {generation} starts {node} in {}",
                    self.generation
                ));
            }
        }
        if *attempt > Attempt::FIRST {
            let before = self.key(node, Attempt(attempt.0 - 1));
            let Some(wake) = self.again.get(&before) else {
                return Err(format!(
                    "attempt {attempt} of {node} starts, and nothing asked for it"
                ));
            };
            if wake.is_some_and(|wake| at < wake) && !self.keeping {
                return Err(format!("attempt {attempt} of {node} starts before its time"));
            }
        }
        let child = child.as_ref().map(|child| child.run_id.clone());
        if let Some(child) = &child
            && !self.asked.insert(child.clone())
        {
            return Err(format!("run {child} works for two attempts"));
        }
        let (claims, looks) = (false, false);
        let flight = Flight { attempt: *attempt, repeat: *repeat, child, claims, looks };
        match self.in_flight.insert(node.clone(), flight) {
            None => Ok(()),
            Some(Flight { attempt: other, .. }) => {
                Err(format!("attempts {other} and {attempt} of {node} overlap"))
            }
        }
    }

    /// Whether anything at all may be started there now.
    fn may_start(&self, node: &Site, at: Timestamp) -> Result<(), String> {
        let body = self.body_of(node);
        let halts = |item| body.clone().is_some_and(|body| self.halted.contains(&(body, item)));
        let is_over = body.clone().zip(node.item).is_some_and(|item| self.over.contains(&item));
        let why = if self.ending {
            "though the run cannot succeed any more"
        } else if self.held {
            "beyond the budget"
        } else if self.deadline.is_some_and(|deadline| deadline <= at) {
            "after the time of the run"
        } else if halts(None) || (node.item.is_some() && halts(node.item)) {
            "beside something that failed"
        } else if is_over {
            "for an item that is over"
        } else {
            return Ok(());
        };
        Err(format!("{node} starts {why}"))
    }

    fn succeed(&mut self, node: &Site, attempt: Attempt) -> Result<(), String> {
        let key = self.key(node, attempt);
        let is_child = self.in_flight.get(node).is_some_and(|flight| flight.child.is_some());
        if !is_child && !self.acted.contains(&key) && !self.kept.contains(&key) {
            return Err(format!("attempt {attempt} of {node} succeeded without an effect"));
        }
        self.finish(node, attempt)
    }

    /// The end of a site that needs no attempt.
    fn settle(&mut self, node: &Site, at: Timestamp) -> Result<(), String> {
        match self.waits.remove(node) {
            Some(until) if at < until && !self.keeping => {
                Err(format!("{node} waits until {until} and ends at {at}"))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// A failure ends the run, unless someone goes on from it.
    fn fail(&mut self, node: &Site, caught: Option<Caught>) {
        let body = self.body_of(node);
        match (caught, body) {
            (Some(Caught::Item), Some(body)) => drop(self.halted.insert((body, node.item))),
            (Some(Caught::Container), Some(body)) => drop(self.halted.insert((body, None))),
            (Some(Caught::Port | Caught::Item | Caught::Container), _) => {}
            (None, _) => self.ending = true,
        }
    }

    fn expect(&self, node: &Site, attempt: Attempt) -> Result<(), String> {
        match self.in_flight.get(node) {
            Some(flight) if flight.attempt == attempt => Ok(()),
            Some(flight) => Err(format!("{node} is at {}, and {attempt} speaks", flight.attempt)),
            None => Err(format!("attempt {attempt} of {node} speaks and was not in flight")),
        }
    }

    fn finish(&mut self, node: &Site, attempt: Attempt) -> Result<(), String> {
        self.expect(node, attempt)?;
        self.in_flight.remove(node);
        Ok(())
    }

    fn iterate(&mut self, container: &NodeId, round: Round) -> Result<(), String> {
        let next = self.rounds.get(container).map_or(Round::FIRST, |round| round.next());
        if round != next {
            return Err(format!("round {round} of {container} comes where {next} belongs"));
        }
        self.inside_is_quiet(container, None)?;
        self.rounds.insert(container.clone(), round);
        let program = self.program;
        self.waits.retain(|site, _| body_of(program, site).as_ref() != Some(container));
        Ok(())
    }

    fn end_item(&mut self, container: &NodeId, index: u32) -> Result<(), String> {
        self.inside_is_quiet(container, Some(index))?;
        match self.over.insert((container.clone(), index)) {
            true => Ok(()),
            false => Err(format!("item {index} of {container} ends twice")),
        }
    }

    fn inside_is_quiet(&self, container: &NodeId, item: Option<u32>) -> Result<(), String> {
        let inside = |site: &&Site| {
            self.body_of(site).as_ref() == Some(container) && (item.is_none() || site.item == item)
        };
        match self.in_flight.keys().find(inside) {
            Some(site) => Err(format!("{container} goes on while {site} is in flight")),
            None => Ok(()),
        }
    }

    fn close(&mut self) -> Result<(), String> {
        self.closed = true;
        match self.in_flight.keys().next() {
            Some(node) => Err(format!("the run ends while {node} is in flight")),
            None => Ok(()),
        }
    }

    fn end(self) -> Result<(), String> {
        let alone = self.in_flight.iter().find(|(_, flight)| flight.child.is_none());
        if let Some((node, _)) = alone {
            return Err(format!("{node} is in flight and has no owner"));
        }
        let unnamed = self.acted.iter().find(|key| !self.started.contains(*key));
        if let Some((node, _, attempt)) = unnamed {
            return Err(format!(
                "attempt {attempt} of {node} acted, and no durable event names it"
            ));
        }
        match self.acted.intersection(&self.kept).next() {
            Some((node, _, attempt)) => {
                Err(format!("attempt {attempt} of {node} acted, though it was kept"))
            }
            None => Ok(()),
        }
    }

    /// The attempt of that number in the round in which the site is now.
    fn key(&self, site: &Site, attempt: Attempt) -> Key {
        let round = self.body_of(site).and_then(|body| self.rounds.get(&body).copied());
        (site.clone(), round.unwrap_or(Round::FIRST), attempt)
    }

    fn body_of(&self, site: &Site) -> Option<NodeId> {
        body_of(self.program, site)
    }
}

/// The container in whose body the site stands.
fn body_of(program: &Program, site: &Site) -> Option<NodeId> {
    let ix = program.node_ix(&site.node)?;
    let body = program.node(ix).parent?;
    Some(program.node(body).id.clone())
}

/// Of which site the fact says that its owner died, and whether it is to be
/// tried again.
fn interrupted(fact: &Fact) -> Option<(&Site, bool)> {
    if let Fact::AttemptUnknown { node, cause: UnknownCause::Interrupted, .. } = fact {
        return Some((node, false));
    }
    if let Fact::ProofInterrupted { node, .. } = fact {
        return Some((node, true));
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
        let [of, node, round, attempt] = parts[..] else {
            return Err(format!("`{line}` is no line"));
        };
        let number = |text: &str| text.parse().map_err(|_| format!("`{line}` lacks a number"));
        let key = (Site::parse(node), Round(number(round)?), Attempt(number(attempt)?));
        if of == run.as_str() && !acted.insert(key) {
            return Err(format!("{line} acted twice"));
        }
    }
    Ok(acted)
}

#[cfg(test)]
mod tests;
