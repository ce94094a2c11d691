//! What a state calls for. It judges and has no memory: from program and
//! state alone it says the next step, so that a new owner after a crash
//! comes to the same judgement as the old one.

mod container;
mod finish;
mod node;
mod prompt;
mod proof;
pub(crate) mod route;
mod start;

use blueprint::Program;
use durable::Timestamp;

use crate::event::Fact;
use crate::site::Site;
use crate::spending::{NOTICE, PARTS};
use crate::state::RunState;
use crate::work::Work;

pub use container::result;
pub use route::Frontier;
pub(crate) use start::{asked_session, child_work, flight_key};

/// The next step: facts to record, and work to start once they are durable.
#[derive(Debug)]
pub struct Step {
    pub facts: Vec<Fact>,
    pub work: Option<Work>,
}

impl Step {
    fn facts(facts: Vec<Fact>) -> Self {
        Self { facts, work: None }
    }

    fn fact(fact: Fact) -> Self {
        Self::facts(vec![fact])
    }
}

/// What a judgement looks at, beside the frontier.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) program: &'a Program,
    pub(crate) state: &'a RunState,
    /// The folder of files named by digest.
    pub(crate) artifacts: &'a str,
    pub(crate) now: Timestamp,
}

/// Judges one step, or none when the run is at rest. `frontier` must be that
/// of `state`; `artifacts` is the folder of files named by digest.
pub fn decide(
    program: &Program,
    state: &RunState,
    frontier: &Frontier,
    artifacts: &str,
    now: Timestamp,
) -> Option<Step> {
    if state.started.is_none() || state.closed.is_some() {
        return None;
    }
    let view = View { program, state, artifacts, now };
    if let Some(deadline) = state.deadline().filter(|deadline| *deadline <= now)
        && state.failure.is_none()
    {
        return Some(Step::fact(Fact::DeadlinePassed { deadline }));
    }
    // A claim is an attempt that has not ended, so also a run that is ending
    // waits for its proof.
    if let Some(site) = state.claims.first() {
        return Some(proof::prove(view, site));
    }
    if let Some(end) = finish::ending(state) {
        return end;
    }
    if let Some(node) = frontier.skip(program, state) {
        return Some(Step::fact(Fact::NodeSkipped { node }));
    }
    if let Some((ix, site)) = frontier.internal(program, state) {
        return Some(node::settle(view, ix, &site));
    }
    if let Some(over) = frontier.over(program, state) {
        return Some(container::advance(view, over));
    }
    if let Some(site) = due_wait(view) {
        return Some(node::wait_is_over(view, &site));
    }
    let busy = state.in_flight.len() + state.children.len();
    if busy < program.max_parallel()
        && !state.spending.is_held()
        && let Some(site) = due_attempt(view).or_else(|| frontier.external(program, state))
    {
        return Some(start_within_budget(view, &site));
    }
    finish::finish(program, state, frontier)
}

/// The first `wait` whose moment has come.
fn due_wait(view: View<'_>) -> Option<Site> {
    due(view).find(|site| !is_attempt(view.state, site))
}

/// The first attempt whose wait after a failure is over.
fn due_attempt(view: View<'_>) -> Option<Site> {
    due(view).find(|site| is_attempt(view.state, site))
}

fn due(view: View<'_>) -> impl Iterator<Item = Site> {
    let View { program, state, now, .. } = view;
    let due = state.timers.iter().take_while(move |(at, _)| *at <= now);
    let goes_on = move |site: &&Site| !route::is_in_halted_lane(program, state, site);
    due.map(|(_, site)| site).filter(goes_on).cloned()
}

/// Whether a site that waits for a moment waits to be tried again.
fn is_attempt(state: &RunState, site: &Site) -> bool {
    state.node(site).is_some_and(|node| node.attempt.0 > 0)
}

/// Starts the site, unless its agent would work beyond the budget, or a run
/// with nothing left to spend would have to ask for more itself.
fn start_within_budget(view: View<'_>, site: &Site) -> Step {
    let budget = view.state.started.as_ref().map(|started| &started.budget);
    let spending = &view.state.spending;
    if let Some(budget) = budget.filter(|_| start::spends(view.program, site)) {
        if let Some(limit) = spending.reached(budget, PARTS) {
            return Step::fact(Fact::BudgetReached { limit });
        }
        if spending.noticed != Some(spending.grants)
            && let Some(limit) = spending.reached(budget, NOTICE)
        {
            return Step::fact(Fact::BudgetNotice { limit });
        }
    }
    start::start(view, site)
}
