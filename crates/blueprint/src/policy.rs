//! How a node or a run deals with failure and with its limits, as its author
//! wrote it.

use durable::Span;
use serde::{Deserialize, Serialize};

/// The author's consent to try a node again after a definite failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    /// Attempts in all, the first one included.
    pub attempts: u32,
    /// The wait before the second attempt; it doubles with every further one.
    pub backoff: Span,
    pub max_backoff: Span,
    /// Whether a part of each wait is left to chance, so that many runs do
    /// not come back at the same moment.
    pub jitter: bool,
    pub on: Vec<FailureClass>,
}

/// The kinds of failure, as `retry.on` names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureClass {
    Preflight,
    Auth,
    Policy,
    Transient,
    Bug,
}

impl FailureClass {
    pub const ALL: &[Self] =
        &[Self::Preflight, Self::Auth, Self::Policy, Self::Transient, Self::Bug];

    pub fn word(self) -> &'static str {
        match self {
            Self::Preflight => "preflight",
            Self::Auth => "auth",
            Self::Policy => "policy",
            Self::Transient => "transient",
            Self::Bug => "bug",
        }
    }
}

/// What happens when the limit of a provider is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnLimit {
    /// The node waits until the limit resets, and the run with it.
    #[default]
    Wait,
    /// It is a failure like any other.
    Fail,
}

impl OnLimit {
    pub const ALL: &[Self] = &[Self::Wait, Self::Fail];

    pub fn word(self) -> &'static str {
        match self {
            Self::Wait => "wait",
            Self::Fail => "fail",
        }
    }
}

/// Where the nodes of a run do their work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workspace {
    /// In the folder that the run was given.
    Shared,
    /// In a branch and folder of the run's own.
    Worktree,
}

impl Workspace {
    pub const ALL: &[Self] = &[Self::Shared, Self::Worktree];

    pub fn word(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Worktree => "worktree",
        }
    }
}

/// What a run may spend on agents; `None` for no limit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Millionths of a dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// The time that agents work, added up over all attempts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_time: Option<Span>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_calls: Option<u64>,
}

impl Budget {
    /// The tighter of the two, limit by limit.
    #[must_use]
    pub fn least(&self, other: &Self) -> Self {
        fn least<T: Ord + Copy>(one: Option<T>, other: Option<T>) -> Option<T> {
            one.into_iter().chain(other).min()
        }
        Self {
            tokens: least(self.tokens, other.tokens),
            cost_micros: least(self.cost_micros, other.cost_micros),
            agent_time: least(self.agent_time, other.agent_time),
            agent_calls: least(self.agent_calls, other.agent_calls),
        }
    }
}
