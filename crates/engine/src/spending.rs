//! What the agents of a run have used, and how that stands to its budget.
//! Engine and log know calls and time by themselves; tokens and cost are
//! what providers tell, and where one tells nothing the sum says so.

use blueprint::Budget;
use durable::Span;
use serde::{Deserialize, Serialize};

use crate::event::words;

/// What an attempt has used. What is not known is absent, not zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Millionths of a dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// Of a run that worked for the attempt: its calls, and the time that
    /// they took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_calls: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_time: Option<Span>,
    /// Nobody was asked after all, so the attempt was no call.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unasked: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// The limits of a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetLimit {
    Tokens,
    Cost,
    AgentTime,
    AgentCalls,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Spending {
    pub calls: u64,
    pub time: Span,
    pub tokens: u64,
    pub cost_micros: u64,
    /// Calls that ended without a word about their tokens, or their cost.
    pub untold_tokens: u64,
    pub untold_cost: u64,
    /// How many times a person granted the budget once more.
    pub grants: u64,
    /// The grant of which four fifths are known to be spent.
    pub noticed: Option<u64>,
    /// The limit for which the run waits.
    pub held: Option<BudgetLimit>,
}

impl Spending {
    pub fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// The first limit of which `parts` fifths are spent.
    pub fn reached(&self, budget: &Budget, parts: u64) -> Option<BudgetLimit> {
        let rows = [
            (BudgetLimit::AgentCalls, self.calls, budget.agent_calls),
            (BudgetLimit::AgentTime, self.time.millis(), budget.agent_time.map(Span::millis)),
            (BudgetLimit::Tokens, self.tokens, budget.tokens),
            (BudgetLimit::Cost, self.cost_micros, budget.cost_micros),
        ];
        let times = self.grants.saturating_add(1);
        let is_reached = |(_, spent, most): &(BudgetLimit, u64, Option<u64>)| {
            most.is_some_and(|most| {
                let all = u128::from(most) * u128::from(times) * u128::from(parts);
                u128::from(*spent) * u128::from(PARTS) >= all
            })
        };
        rows.into_iter().find(is_reached).map(|(limit, ..)| limit)
    }

    /// What is left of a budget, for a run that this one starts.
    pub fn rest_of(&self, budget: &Budget) -> Budget {
        let times = self.grants.saturating_add(1);
        let rest = |most: u64, spent: u64| most.saturating_mul(times).saturating_sub(spent);
        Budget {
            tokens: budget.tokens.map(|most| rest(most, self.tokens)),
            cost_micros: budget.cost_micros.map(|most| rest(most, self.cost_micros)),
            agent_time: budget
                .agent_time
                .map(|most| Span::from_millis(rest(most.millis(), self.time.millis()))),
            agent_calls: budget.agent_calls.map(|most| rest(most, self.calls)),
        }
    }

    pub(crate) fn call(&mut self) {
        self.calls += 1;
        self.untold_tokens += 1;
        self.untold_cost += 1;
    }

    pub(crate) fn took(&mut self, time: Span) {
        self.time = Span::from_millis(self.time.millis().saturating_add(time.millis()));
    }

    pub(crate) fn report(&mut self, usage: Usage) {
        self.tokens = self.tokens.saturating_add(usage.tokens.unwrap_or(0));
        self.cost_micros = self.cost_micros.saturating_add(usage.cost_micros.unwrap_or(0));
        if let Some(calls) = usage.agent_calls {
            self.calls = self.calls.saturating_add(calls);
            self.took(usage.agent_time.unwrap_or_default());
            return;
        }
        let told = |untold: &mut u64, is_told: bool| {
            *untold = untold.saturating_sub(u64::from(is_told));
        };
        told(&mut self.calls, usage.unasked);
        told(&mut self.untold_tokens, usage.unasked || usage.tokens.is_some());
        told(&mut self.untold_cost, usage.unasked || usage.cost_micros.is_some());
    }

    pub(crate) fn grant(&mut self) {
        if self.held.take().is_some() {
            self.grants += 1;
        }
    }
}

/// A limit is spent when all of its parts are.
pub const PARTS: u64 = 5;
/// The part at which a notice is due.
pub const NOTICE: u64 = 4;

words!(BudgetLimit {
    Tokens => "tokens",
    Cost => "cost_usd",
    AgentTime => "agent_minutes",
    AgentCalls => "agent_calls",
});
