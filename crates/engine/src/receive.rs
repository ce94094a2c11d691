//! Inputs → facts. It translates and is never surprised: an input that is
//! stale, repeated or meaningless yields nothing, at any time.

use std::sync::Arc;

use blueprint::{Kind, OnInterrupt, Program, Repeat};
use durable::{Attempt, Generation, Timestamp};

use crate::decide::route::is_in_halted_lane;
use crate::ending::End;
use crate::event::{AgainCause, Caught, Fact, FailReason, LOG_FORMAT, RunStarted, UnknownCause};
use crate::failing::caught;
use crate::input::{Input, Launch, Signal, Verb};
use crate::retry::is_half_kept;
use crate::site::Site;
use crate::state::{InFlight, NodeState, RunState};
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
            let site = &key.node;
            End { program, state, site, attempt: key.attempt, now }.facts(key.proof, outcome)
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
/// owners of their own, and are asked for again; so are checks, which change
/// nothing.
fn adopt(program: &Program, state: &RunState, cut: u64) -> Vec<Fact> {
    if is_half_kept(state) {
        return give_up(state);
    }
    let adopted = Fact::RunAdopted { generation: state.generation.next(), cut };
    let lost = state.in_flight.iter().chain(&state.claims);
    let lost = lost.filter_map(|site| Some((site, state.node(site)?)));
    let resumes = program.on_interrupt() == OnInterrupt::Resume;
    let repeatable = resumes
        && state.failure.is_none()
        && lost.clone().all(|(_, node)| {
            let tried = node.in_flight.and_then(|flight| flight.proof).unwrap_or(node.attempt);
            let is_safe = |flight: InFlight| flight.repeat == Repeat::Safe;
            tried < ATTEMPTS_MAX && node.in_flight.is_none_or(is_safe)
        });
    let judge = |(site, node): (&Site, &NodeState)| {
        let attempt = node.attempt;
        if !repeatable {
            let caught = if resumes { caught(program, site) } else { None };
            return Some(unknown(site, node, caught));
        }
        match node.in_flight {
            Some(flight) if flight.proof.is_some() => {
                Some(Fact::ProofInterrupted { node: site.clone(), attempt })
            }
            Some(_) => Some(again(site, attempt)),
            None => None,
        }
    };
    let mut facts = vec![adopted];
    facts.extend(lost.filter_map(judge));
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
    let under_way = state.in_flight.iter().chain(state.children.keys()).chain(&state.claims);
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
        && state.claims.is_empty()
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

fn unknown(site: &Site, node: &NodeState, caught: Option<Caught>) -> Fact {
    let attempt = node.attempt;
    let message = match node.claim {
        Some(_) => format!(
            "{site}: the owner of the run ended before the claim of attempt {attempt} was proven; \
             whether it did its work is unknown and it is not repeated"
        ),
        None => format!(
            "{site}: the owner of the run ended while attempt {attempt} was in flight; \
             what it did is unknown and it is not repeated"
        ),
    };
    let cause = UnknownCause::Interrupted;
    Fact::AttemptUnknown { node: site.clone(), attempt, cause, code: None, message, caught }
}

/// Whether an outcome speaks of the attempt that is in flight now. A run that
/// works for this one speaks to whoever owns this one.
fn is_current(state: &RunState, key: &AttemptKey, generation: Generation) -> bool {
    let run = state.started.as_ref().is_some_and(|started| started.run_id == key.run);
    let is_child = state.children.contains_key(&key.node);
    let is_same = |node: &&NodeState| node.attempt == key.attempt && node.round == key.round;
    let flight = state.node(&key.node).filter(is_same).and_then(|node| node.in_flight);
    let is_same = |flight: InFlight| {
        flight.proof == key.proof && (is_child || flight.generation == generation)
    };
    run && flight.is_some_and(is_same)
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
