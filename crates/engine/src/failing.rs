//! What becomes of a failure: another attempt, a way out of the node, the
//! container around it, or the end of the run.

use blueprint::{FailureClass, Kind, Node, OnItemError, OnLimit, Program, Repeat, Retry};
use durable::{Attempt, Digest, Span, Timestamp};

use crate::event::Caught;
use crate::site::Site;
use crate::state::RunState;
use crate::work::{Class, Effect, NodeError};

/// Without a `retry` of the author, a failure that is known to have changed
/// nothing and to pass is tried again this often.
const ATTEMPTS: u32 = 3;
/// The longest pause that an answer from outside can impose.
const ASKED_MAX: Span = Span::from_secs(7 * 24 * 3600);
/// The code of a failure by the limit of a provider, and how such a limit is
/// waited for: until it resets and a while longer, so that not all come back
/// at once; or, where nobody knows when that is, longer each time.
const LIMIT: &str = "limit_reached";
const LIMIT_LEAST: Span = Span::from_secs(1);
const LIMIT_SPREAD: Span = Span::from_secs(300);
const LIMIT_MAX: Span = Span::from_secs(24 * 3600);
const LIMIT_BACKOFF: Span = Span::from_secs(15 * 60);
const LIMIT_BACKOFF_MAX: Span = Span::from_secs(6 * 3600);
const BACKOFF: Span = Span::from_millis(2_000);

/// Who goes on when the node fails; `None` when nobody does.
pub(crate) fn caught(program: &Program, site: &Site) -> Option<Caught> {
    let ix = program.node_ix(&site.node)?;
    if program.catches(ix) {
        return Some(Caught::Port);
    }
    let parent = program.node(ix).parent?;
    let container = || program.catches(parent).then_some(Caught::Container);
    match &program.node(parent).kind {
        Kind::ForEach { on_item_error: OnItemError::Collect, .. } => Some(Caught::Item),
        Kind::ForEach { .. } | Kind::Loop { .. } => container(),
        Kind::ManualTrigger { .. }
        | Kind::Task { .. }
        | Kind::Decision { .. }
        | Kind::Branch { .. }
        | Kind::Join
        | Kind::Approval { .. }
        | Kind::Wait(_)
        | Kind::Shell { .. }
        | Kind::Script { .. }
        | Kind::Http(_)
        | Kind::State { .. }
        | Kind::Notify { .. }
        | Kind::SubAutomation { .. } => None,
    }
}

/// When a node that met the limit of its provider may go on; `None` when the
/// failure is another one, or is to be treated as one. An agent that had
/// begun to change something goes on only where the author consents to that.
pub(crate) fn limit_over(
    node: &Node,
    state: &RunState,
    site: &Site,
    error: &NodeError,
    now: Timestamp,
) -> Option<Timestamp> {
    let by_agent = matches!(node.kind, Kind::Task { .. } | Kind::Decision { .. });
    let may_repeat = match error.effect {
        Effect::None => true,
        Effect::Done => node.repeat == Repeat::Safe || node.retry.is_some(),
        Effect::Uncertain => node.repeat == Repeat::Safe,
    };
    let waits = by_agent && error.code == LIMIT && node.on_limit == OnLimit::Wait && may_repeat;
    if !waits || state.failure.is_some() {
        return None;
    }
    let own = state.node(site)?;
    let doublings = u32::try_from(own.limits).unwrap_or(u32::MAX).min(20);
    let doubled = |span: Span| span.millis().saturating_mul(1 << doublings);
    let pause = match error.retry_after {
        Some(reset) => {
            // One that always says that it is over is asked less and less.
            let reset = reset.millis().max(doubled(LIMIT_LEAST));
            let spread = (reset / 10).min(LIMIT_SPREAD.millis());
            let draw = chance("limit", state, site, own.attempt);
            reset.saturating_add(spread * u64::from(draw) / 255).min(LIMIT_MAX.millis())
        }
        None => doubled(LIMIT_BACKOFF).min(LIMIT_BACKOFF_MAX.millis()),
    };
    Some(now.after(Span::from_millis(pause)))
}

/// When the next attempt may begin after a definite failure; `None` when
/// there is none.
pub(crate) fn next_attempt(
    node: &Node,
    state: &RunState,
    site: &Site,
    error: &NodeError,
    now: Timestamp,
) -> Option<Timestamp> {
    let policy = match &node.retry {
        Some(retry) => {
            let class = class(error.class);
            let consents = class.is_some_and(|class| retry.on.contains(&class));
            let certain = error.effect != Effect::Uncertain || node.repeat == Repeat::Safe;
            (consents && certain).then(|| retry.clone())
        }
        None => passes(error).then(usual),
    };
    wake(&policy?, state, site, error.retry_after, now)
}

/// The same after an outcome that nobody knows: it takes both, a `retry` and
/// the author's word that the work may be done twice.
pub(crate) fn next_attempt_after_unknown(
    node: &Node,
    state: &RunState,
    site: &Site,
    now: Timestamp,
) -> Option<Timestamp> {
    let retry = node.retry.as_ref().filter(|_| node.repeat == Repeat::Safe)?;
    wake(retry, state, site, None, now)
}

fn passes(error: &NodeError) -> bool {
    error.class == Class::Transient && error.effect == Effect::None
}

fn usual() -> Retry {
    Retry {
        attempts: ATTEMPTS,
        backoff: BACKOFF,
        max_backoff: BACKOFF,
        jitter: true,
        on: Vec::new(),
    }
}

fn class(class: Class) -> Option<FailureClass> {
    match class {
        Class::Preflight => Some(FailureClass::Preflight),
        Class::Auth => Some(FailureClass::Auth),
        Class::Policy => Some(FailureClass::Policy),
        Class::Transient => Some(FailureClass::Transient),
        Class::Bug => Some(FailureClass::Bug),
        // Its retry asks for more, and is judged elsewhere.
        Class::Unknown => None,
    }
}

fn wake(
    retry: &Retry,
    state: &RunState,
    site: &Site,
    asked: Option<Span>,
    now: Timestamp,
) -> Option<Timestamp> {
    let own = state.node(site)?;
    // Those that met a limit do not count.
    let attempt = Attempt(own.attempt.0.saturating_sub(own.limits));
    if state.failure.is_some() || attempt.0 >= u64::from(retry.attempts) {
        return None;
    }
    // Who asks for more than this is not waited for, but tried anyway.
    let asked = asked.unwrap_or_default().min(ASKED_MAX);
    Some(now.after(pause(retry, state, site, attempt).max(asked)))
}

/// The wait doubles with each attempt. Its second half is left to chance
/// where the author wants that; the chance is drawn from the attempt's own
/// name, so that the engine stays a function of its log ("equal jitter", see
/// Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
fn pause(retry: &Retry, state: &RunState, site: &Site, attempt: Attempt) -> Span {
    let doublings = u32::try_from(attempt.0.saturating_sub(1)).unwrap_or(u32::MAX).min(40);
    let full = retry.backoff.millis().saturating_mul(1 << doublings);
    let full = full.min(retry.max_backoff.millis());
    if !retry.jitter {
        return Span::from_millis(full);
    }
    let draw = chance("jitter", state, site, attempt);
    let half = full / 2;
    Span::from_millis(full - half + half * u64::from(draw) / 255)
}

fn chance(of: &str, state: &RunState, site: &Site, attempt: Attempt) -> u8 {
    let run = state.run_id.as_str().unwrap_or_default();
    let round = state.node(site).map_or(0, |node| node.round.0);
    let parts = [of, run, &site.to_string(), &round.to_string(), &attempt.to_string()];
    let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
    Digest::of_parts(&parts).bytes()[0]
}
