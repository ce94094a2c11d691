//! What the agents of a run have used. Pure.

use serde::Serialize;

use crate::api::Spending;

/// What is known of it; nothing where no agent was asked.
#[derive(Debug, Serialize)]
pub(super) struct Spent {
    agent_calls: u64,
    agent_time: String,
    tokens: u64,
    cost_micros: u64,
    /// Calls that said nothing of their tokens, or of their cost.
    untold_tokens: u64,
    untold_cost: u64,
    /// How many times the budget was granted once more.
    grants: u64,
}

impl Spent {
    pub(super) fn of(spending: &Spending) -> Option<Self> {
        let Spending {
            calls,
            time,
            tokens,
            cost_micros,
            untold_tokens,
            untold_cost,
            grants,
            noticed: _,
            held: _,
        } = spending;
        let is_any = [calls, tokens, cost_micros, grants].into_iter().any(|count| *count > 0);
        is_any.then(|| Self {
            agent_calls: *calls,
            agent_time: time.to_string(),
            tokens: *tokens,
            cost_micros: *cost_micros,
            untold_tokens: *untold_tokens,
            untold_cost: *untold_cost,
            grants: *grants,
        })
    }
}
