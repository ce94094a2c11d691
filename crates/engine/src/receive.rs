//! Inputs → facts. It translates and is never surprised: an input that is
//! stale, repeated or meaningless yields nothing, at any time.

use std::sync::Arc;

use blueprint::{Kind, Node, OnInterrupt, PortName, Program, Repeat, Schema};
use durable::{Attempt, Generation, Timestamp};
use serde_json::{Value, json};

use crate::decide::route::is_in_halted_lane;
use crate::event::{AgainCause, Caught, Fact, FailReason, LOG_FORMAT, RunStarted, UnknownCause};
use crate::failing::{caught, next_attempt, next_attempt_after_unknown};
use crate::input::{Input, Launch, Outcome, Signal, Verb};
use crate::reply;
use crate::retry::is_half_kept;
use crate::site::Site;
use crate::state::{NodeState, RunState};
use crate::trigger::trigger_output;
use crate::work::{AttemptKey, Class, Effect, NodeError};

/// Tries of one node over all interruptions, so that a node that kills its
/// owner is not repeated for ever.
const ATTEMPTS_MAX: Attempt = Attempt(20);

/// The facts that an input adds to a run in this state.
pub fn receive(program: &Program, state: &RunState, input: &Input, now: Timestamp) -> Vec<Fact> {
    if state.closed.is_some() {
        return Vec::new();
    }
    match input {
        Input::Launch(launch) if state.started.is_none() => begin(program, launch, now),
        Input::Opened { cut } if state.started.is_some() => adopt(program, state, *cut),
        Input::Outcome { key, generation, outcome } if is_current(state, key, *generation) => {
            End { program, state, key, now }.facts(outcome)
        }
        Input::Signal(signal) if state.started.is_some() => {
            answer(program, state, signal).into_iter().collect()
        }
        Input::Launch(_)
        | Input::Opened { .. }
        | Input::Outcome { .. }
        | Input::Signal(_)
        | Input::Appended { .. }
        | Input::Tick => Vec::new(),
    }
}

fn begin(program: &Program, launch: &Launch, now: Timestamp) -> Vec<Fact> {
    let retry = launch.retry.as_deref();
    let trigger = retry.and_then(|kept| kept.trigger.clone());
    let started = RunStarted {
        run_id: launch.run_id.clone(),
        blueprint_id: program.id().clone(),
        blueprint_hash: Some(program.hash()),
        schema: program.schema(),
        trigger: trigger.unwrap_or_else(|| Arc::new(trigger_output(&launch.input, now))),
        format: LOG_FORMAT,
        generation: Generation::FIRST,
        blueprint_digest: Some(launch.blueprint_digest),
        invocation_digest: Some(launch.invocation_digest),
        principal: launch.principal.clone(),
        retry_of: retry.filter(|kept| kept.forked_at.is_none()).map(|kept| kept.of.clone()),
        fork_of: retry.and_then(|kept| Some((kept.of.clone(), kept.forked_at?))),
        parent: launch.parent.clone().map(Box::new),
        deadline: program
            .deadline()
            .map(|span| now.after(span))
            .into_iter()
            .chain(launch.deadline)
            .min(),
        budget: launch.budget.least(program.budget()),
    };
    let mut facts = vec![Fact::RunStarted(Box::new(started))];
    if let Some(kept) = retry {
        facts.extend(kept.facts.iter().cloned());
        facts.push(Fact::RunAdopted { generation: Generation::FIRST.next(), cut: 0 });
    }
    facts
}

/// After the death of an owner nothing is in flight, whatever the state
/// says: the difference is the recovery. Runs that work for this one have
/// owners of their own, and are asked for again.
fn adopt(program: &Program, state: &RunState, cut: u64) -> Vec<Fact> {
    if is_half_kept(state) {
        return give_up(state);
    }
    let adopted = Fact::RunAdopted { generation: state.generation.next(), cut };
    let lost = state.in_flight.iter().filter_map(|site| Some((site, state.node(site)?)));
    let resumes = program.on_interrupt() == OnInterrupt::Resume;
    let repeatable = resumes
        && state.failure.is_none()
        && lost.clone().all(|(_, node)| {
            node.attempt < ATTEMPTS_MAX
                && node.in_flight.is_some_and(|flight| flight.repeat == Repeat::Safe)
        });
    let judge = |(site, node): (&Site, &NodeState)| {
        if repeatable {
            again(site, node.attempt)
        } else {
            let caught = if resumes { caught(program, site) } else { None };
            unknown(site, node.attempt, caught)
        }
    };
    let mut facts = vec![adopted];
    facts.extend(lost.map(judge));
    if is_abandoned(program, state) {
        facts.push(interrupted(
            "the owner of the run ended before the run did; nothing was in flight",
        ));
    }
    facts
}

/// To go on from a part of what the run was to keep would do the rest of it
/// again. What is in flight by that part was so in the run before.
fn give_up(state: &RunState) -> Vec<Fact> {
    let under_way = state.in_flight.iter().chain(state.children.keys());
    let kept = under_way.filter_map(|site| Some(again(site, state.node(site)?.attempt)));
    let error = "the owner of the run ended before all was recorded that the run keeps of the one \
                 that it tries again; nothing was started";
    kept.chain([interrupted(error)]).collect()
}

fn interrupted(error: &str) -> Fact {
    Fact::RunFailed { reason: FailReason::Interrupted, error: error.to_owned(), node: None }
}

/// Open, with nothing in flight, nothing to wait for and no end under way:
/// the author decides whether such a run goes on.
fn is_abandoned(program: &Program, state: &RunState) -> bool {
    program.on_interrupt() == OnInterrupt::Fail
        && state.in_flight.is_empty()
        && !state.waits_for_something()
        && state.failure.is_none()
}

fn again(site: &Site, attempt: Attempt) -> Fact {
    let error = NodeError {
        class: Class::Unknown,
        code: "interrupted".to_owned(),
        message: "the owner of the run ended while this attempt was in flight".to_owned(),
        effect: Effect::Uncertain,
        output: None,
        retry_after: None,
    };
    let cause = AgainCause::Interrupted;
    Fact::AttemptFailed { node: site.clone(), attempt, error, cause, wake: None, session: None }
}

fn unknown(site: &Site, attempt: Attempt, caught: Option<Caught>) -> Fact {
    let message = format!(
        "{site}: the owner of the run ended while attempt {attempt} was in flight; \
         what it did is unknown and it is not repeated"
    );
    let cause = UnknownCause::Interrupted;
    Fact::AttemptUnknown { node: site.clone(), attempt, cause, message, caught }
}

/// Whether an outcome speaks of the attempt that is in flight now. A run that
/// works for this one speaks to whoever owns this one.
fn is_current(state: &RunState, key: &AttemptKey, generation: Generation) -> bool {
    let run = state.started.as_ref().is_some_and(|started| started.run_id == key.run);
    let is_child = state.children.contains_key(&key.node);
    let is_same = |node: &&NodeState| node.attempt == key.attempt && node.round == key.round;
    let flight = state.node(&key.node).filter(is_same).and_then(|node| node.in_flight);
    run && flight.is_some_and(|flight| is_child || flight.generation == generation)
}

/// How an attempt ended, as facts.
struct End<'a> {
    program: &'a Program,
    state: &'a RunState,
    key: &'a AttemptKey,
    now: Timestamp,
}

impl End<'_> {
    fn facts(&self, outcome: &Outcome) -> Vec<Fact> {
        let Some(ix) = self.program.node_ix(&self.key.node.node) else { return Vec::new() };
        let node = self.program.node(ix);
        let usage = match outcome {
            Outcome::Replied { usage, .. } | Outcome::Ended { usage, .. } => {
                usage.as_deref().copied()
            }
            Outcome::Output(_) | Outcome::Failed(_) | Outcome::Lost { .. } | Outcome::Stopped => {
                None
            }
        };
        let (site, attempt) = (self.key.node.clone(), self.key.attempt);
        let report = usage.map(|usage| Fact::UsageReported { node: site, attempt, usage });
        report.into_iter().chain([self.end(node, outcome)]).collect()
    }

    fn end(&self, node: &Node, outcome: &Outcome) -> Fact {
        match outcome {
            Outcome::Output(output) => match &node.kind {
                // A choice is never taken unread.
                Kind::Decision { choices, .. } => {
                    self.decided(node, choices, &output.to_string(), None)
                }
                Kind::Task { output_schema, .. } => {
                    self.fitting(node, output_schema.as_ref(), output.clone(), &output.to_string())
                }
                Kind::Shell { .. }
                | Kind::Script { .. }
                | Kind::Http(_)
                | Kind::SubAutomation { .. }
                | Kind::ManualTrigger { .. }
                | Kind::Branch { .. }
                | Kind::Loop { .. }
                | Kind::ForEach { .. }
                | Kind::Join
                | Kind::Approval { .. }
                | Kind::Wait(_)
                | Kind::State { .. }
                | Kind::Notify { .. } => self.completed(output.clone()),
            },
            Outcome::Replied { text, session, .. } => self.replied(node, text, session.as_ref()),
            Outcome::Ended { end, .. } => match end {
                Ok(output) => self.completed(output.clone()),
                Err(error) if error.effect == Effect::Uncertain => {
                    self.lost(node, UnknownCause::Lost, error.message.clone())
                }
                Err(error) => self.failed(node, error.clone()),
            },
            Outcome::Failed(error) => self.failed(node, error.clone()),
            Outcome::Lost { message } => self.lost(node, UnknownCause::Lost, message.clone()),
            Outcome::Stopped => self.stopped(node),
        }
    }

    fn completed(&self, output: Value) -> Fact {
        let (node, attempt) = (self.key.node.clone(), Some(self.key.attempt));
        Fact::NodeCompleted { node, attempt, output: Arc::new(output) }
    }

    /// A definite failure: another attempt, or the end of the node.
    fn failed(&self, node: &Node, error: NodeError) -> Fact {
        let (site, attempt) = (self.key.node.clone(), self.key.attempt);
        if let Some(wake) = next_attempt(node, self.state, &site, &error, self.now) {
            let cause = AgainCause::Retry;
            let wake = Some(wake);
            return Fact::AttemptFailed { node: site, attempt, error, cause, wake, session: None };
        }
        let caught = caught(self.program, &site);
        Fact::NodeFailed { node: site, attempt: Some(attempt), error, caught }
    }

    /// An outcome that nobody knows.
    fn lost(&self, node: &Node, cause: UnknownCause, message: String) -> Fact {
        let (site, attempt) = (self.key.node.clone(), self.key.attempt);
        if let Some(wake) = next_attempt_after_unknown(node, self.state, &site, self.now) {
            let error = NodeError {
                class: Class::Unknown,
                code: cause.word().to_owned(),
                message,
                effect: Effect::Uncertain,
                output: None,
                retry_after: None,
            };
            let (cause, wake) = (AgainCause::Retry, Some(wake));
            return Fact::AttemptFailed { node: site, attempt, error, cause, wake, session: None };
        }
        let caught = caught(self.program, &site);
        Fact::AttemptUnknown { node: site, attempt, cause, message, caught }
    }

    /// A stop was asked for by a person, because the run is out of time, or
    /// because the attempt is; which of them does not hang on a clock that
    /// may have gone back since. One that nobody asked for leaves an attempt
    /// of which nothing is known.
    fn stopped(&self, node: &Node) -> Fact {
        let (site, attempt) = (self.key.node.clone(), self.key.attempt);
        if must_stop(self.program, self.state, &site) {
            return Fact::NodeCancelled { node: site, attempt };
        }
        let flight = self.state.node(&site).and_then(|node| node.in_flight);
        let timed = flight.is_some_and(|flight| flight.deadline.is_some());
        let (cause, why) = match node.timeout {
            Some(limit) if timed => {
                (UnknownCause::Timeout, format!("ran past its timeout of {limit} and was ended"))
            }
            Some(_) | None => (UnknownCause::Lost, "was ended, and not by this run".to_owned()),
        };
        let message = format!("{site}: attempt {attempt} {why}; what it did until then is unknown");
        self.lost(node, cause, message)
    }

    fn replied(&self, node: &Node, text: &str, session: Option<&String>) -> Fact {
        let site = &self.key.node;
        if text.trim().is_empty() {
            let message = format!("{site}: the agent ended without an answer");
            return self.misread(node, text, "empty_reply", message);
        }
        match &node.kind {
            Kind::Decision { choices, .. } => self.decided(node, choices, text, session),
            Kind::Task { output_schema, .. } => {
                self.fitting(node, output_schema.as_ref(), reply::output(text), text)
            }
            Kind::ManualTrigger { .. }
            | Kind::Branch { .. }
            | Kind::Loop { .. }
            | Kind::ForEach { .. }
            | Kind::Join
            | Kind::Approval { .. }
            | Kind::Wait(_)
            | Kind::Shell { .. }
            | Kind::Script { .. }
            | Kind::Http(_)
            | Kind::SubAutomation { .. }
            | Kind::State { .. }
            | Kind::Notify { .. } => {
                let message = format!("{site}: this node asks no agent");
                self.misread(node, text, "unexpected_reply", message)
            }
        }
    }

    /// The output of a task, if it is as its schema wants it.
    fn fitting(&self, node: &Node, schema: Option<&Schema>, output: Value, text: &str) -> Fact {
        match schema.map_or(Ok(()), |schema| schema.check(&output)) {
            Ok(()) => self.completed(output),
            Err(faults) => {
                let (site, faults) = (&self.key.node, faults.join("; "));
                let message = format!("{site}: the reply breaks the output schema: {faults}");
                self.misread(node, text, "output_schema", message)
            }
        }
    }

    /// The choice of a decision, or one corrective turn. A run that is ending
    /// starts no such turn, so there the first answer is the last.
    fn decided(
        &self,
        node: &Node,
        choices: &[PortName],
        text: &str,
        session: Option<&String>,
    ) -> Fact {
        let (site, attempt) = (self.key.node.clone(), self.key.attempt);
        if let Some((port, reason)) = reply::choice(text, choices) {
            let output = Arc::new(json!({ "chosen": port.as_str(), "reason": reason }));
            return Fact::DecisionCompleted { node: site, attempt, output, port };
        }
        let words: Vec<&str> = choices.iter().map(PortName::as_str).collect();
        let message = format!("{site}: the reply names none of the choices {}", words.join(", "));
        let code = "invalid_choice";
        let corrected = self.state.node(&site).is_some_and(|node| node.correction.is_some());
        if corrected || self.state.failure.is_some() {
            return self.misread(node, text, code, message);
        }
        let (error, session) = (misread_error(text, code, message), session.cloned());
        let cause = AgainCause::Correction;
        Fact::AttemptFailed { node: site, attempt, error, cause, wake: None, session }
    }

    fn misread(&self, node: &Node, text: &str, code: &str, message: String) -> Fact {
        self.failed(node, misread_error(text, code, message))
    }
}

/// Whether an attempt is to be ended though its own time is not up: someone
/// cancelled the run, the run is out of time, or it is a run that works for
/// something that can no longer succeed.
pub(crate) fn must_stop(program: &Program, state: &RunState, site: &Site) -> bool {
    let is_out_of_time =
        state.failure.as_ref().is_some_and(|failure| failure.reason == FailReason::Deadline);
    let is_vain = state.failure.is_some() || is_in_halted_lane(program, state, site);
    state.cancel.is_some() || is_out_of_time || (is_vain && state.children.contains_key(site))
}

/// An answer came, and it is no use.
fn misread_error(text: &str, code: &str, message: String) -> NodeError {
    let output = Some(json!({ "text": text }));
    let (class, effect) = (Class::Bug, Effect::Done);
    NodeError { class, code: code.to_owned(), message, effect, output, retry_after: None }
}

fn answer(program: &Program, state: &RunState, signal: &Signal) -> Option<Fact> {
    if state.signals.contains(&signal.id) {
        return None;
    }
    let Signal { id, actor, note, .. } = signal.clone();
    let refuse = |code: &str, message: String| Fact::SignalRefused {
        signal: signal.id.clone(),
        verb: signal.verb.word().to_owned(),
        actor: signal.actor.clone(),
        code: code.to_owned(),
        message,
    };
    Some(match &signal.verb {
        Verb::Approve { node } => match gate(program, state, node.as_ref()) {
            Ok(node) => Fact::ApprovalGranted { node, actor, note, signal: id },
            Err((code, message)) => refuse(code, message),
        },
        Verb::Reject { node } => match gate(program, state, node.as_ref()) {
            Ok(node) => Fact::ApprovalRejected { node, actor, note, signal: id },
            Err((code, message)) => refuse(code, message),
        },
        Verb::Cancel => Fact::CancelRequested { actor, note, signal: id },
        Verb::Resume => Fact::RunResumed { actor, signal: id },
        Verb::Denied { verb } => {
            let message = format!("a caller inside a run may not {verb}; a person decides that");
            refuse("managed_caller", message)
        }
    })
}

/// The gate that a decision is about: the one named, or the only one.
fn gate(
    program: &Program,
    state: &RunState,
    named: Option<&Site>,
) -> Result<Site, (&'static str, String)> {
    if state.failure.is_some() {
        return Err(("run_ending", "the run is ending and takes no decisions".to_owned()));
    }
    let waiting = || {
        let ids: Vec<String> = state.waiting.iter().map(ToString::to_string).collect();
        ids.join(", ")
    };
    match named {
        Some(site) if state.waiting.contains(site) => Ok(site.clone()),
        Some(site) if is_decided(program, state, site) => {
            Err(("already_decided", format!("node `{site}` is already decided")))
        }
        Some(site) => Err(("not_waiting", format!("node `{site}` does not wait for a decision"))),
        None => match (state.waiting.first(), state.waiting.len()) {
            (Some(site), 1) => Ok(site.clone()),
            (Some(_), _) => {
                Err(("ambiguous_gate", format!("several gates wait: {}; name one", waiting())))
            }
            (None, _) => Err(("not_waiting", "no gate waits for a decision".to_owned())),
        },
    }
}

/// A gate that someone has decided. A gate whose prompt has no value fails
/// without a decision, and then has no output.
fn is_decided(program: &Program, state: &RunState, site: &Site) -> bool {
    let gate = program
        .node_ix(&site.node)
        .is_some_and(|ix| matches!(program.node(ix).kind, Kind::Approval { .. }));
    gate && state.node(site).is_some_and(|node| node.status.is_settled() && node.output.is_some())
}
