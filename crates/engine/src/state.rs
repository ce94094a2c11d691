//! The state of a run: what the log so far says. Everything here is a fold
//! of events; nothing is inferred from the program.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use blueprint::{NodeId, PortName, Repeat};
use durable::{Attempt, Generation, Round, Seq, Timestamp};
use serde_json::{Map, Value};

use crate::container::Container;
use crate::event::{AgainCause, Child, FailReason, RunStarted, words};
use crate::id::{RunId, SignalId};
use crate::proof::{CheckResult, Claim, Proof};
use crate::site::Site;
use crate::spending::Spending;
use crate::work::NodeError;

/// A run at one event.
#[derive(Debug, Clone, PartialEq)]
pub struct RunState {
    /// What the run is; `None` before `run_started`, and for ever in the
    /// record of a launch that failed.
    pub started: Option<Arc<RunStarted>>,
    pub started_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
    /// The owner that wrote last.
    pub generation: Generation,
    /// Sites that something happened to; one that is absent is pending.
    pub nodes: BTreeMap<Site, NodeState>,
    /// The loops that have begun, and the `for_each`.
    pub containers: BTreeMap<NodeId, Container>,
    /// The run's own storage, an object.
    pub storage: Value,
    /// The run's id as templates read it.
    pub run_id: Value,
    /// Sites with an attempt in flight.
    pub in_flight: BTreeSet<Site>,
    /// Sites that claim success and whose checks are not being made.
    pub claims: BTreeSet<Site>,
    /// The weakest proof among what the items of a `for_each` left behind.
    pub items_proof: Option<Proof>,
    /// Gates that wait for a decision.
    pub waiting: BTreeSet<Site>,
    /// What waits for a moment: a `wait`, or the next attempt after a failure.
    pub timers: BTreeSet<(Timestamp, Site)>,
    /// Sites whose work is a run of its own.
    pub children: BTreeMap<Site, RunId>,
    /// What agents have used so far.
    pub spending: Spending,
    /// Nobody knows what some attempt did.
    pub unknown_effect: bool,
    /// A failure was caught, so that success is not the whole story.
    pub degraded: bool,
    /// Signals already answered.
    pub signals: BTreeSet<SignalId>,
    /// Set once someone asked to cancel.
    pub cancel: Option<Cancel>,
    /// The first thing that made success impossible.
    pub failure: Option<Failure>,
    pub closed: Option<Closed>,
    pub next_seq: Seq,
}

/// A node at one event.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeState {
    pub status: NodeStatus,
    /// Attempts started so far; 0 for a node that never needs one.
    pub attempt: Attempt,
    pub in_flight: Option<InFlight>,
    pub output: Option<Arc<Value>>,
    pub port: Option<PortName>,
    pub error: Option<NodeError>,
    /// What templates read as `nodes.<id>.error`.
    pub error_value: Option<Value>,
    /// What the person at the gate was shown.
    pub prompt: Option<String>,
    /// The round of its loop; the first one elsewhere.
    pub round: Round,
    /// What templates read as `nodes.<id>.prev`.
    pub prev: Option<Arc<Value>>,
    /// What it waits for, if that is a moment.
    pub wake: Option<Timestamp>,
    /// The run that does its work.
    pub child: Option<Arc<Child>>,
    /// The provider's own session of the last attempt, to be continued.
    pub session: Option<String>,
    /// Set when the next attempt is a corrective turn.
    pub correction: Option<String>,
    /// Why it is to be tried again, until it is.
    pub again: Option<AgainCause>,
    /// Attempts that met the limit of a provider, and so do not count.
    pub limits: u64,
    /// Set while it claims success and that is not proven.
    pub claim: Option<Claim>,
    /// How what it says of itself stands, and what was checked.
    pub proof: Option<Proof>,
    pub checks: Vec<CheckResult>,
    pub started_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
}

/// What is known of an attempt that has started and not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InFlight {
    pub generation: Generation,
    pub deadline: Option<Timestamp>,
    pub repeat: Repeat,
    /// When the attempt began, and whether an agent makes it.
    pub since: Timestamp,
    pub agent: bool,
    /// Which asking for the checks of a claim, when it is no attempt.
    pub proof: Option<Attempt>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeStatus {
    Pending,
    Running,
    Waiting,
    Completed,
    Failed,
    Skipped,
    Cancelled,
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStatus {
    Running,
    AwaitingApproval,
    Waiting,
    Completed,
    Failed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cancel {
    pub actor: String,
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub reason: FailReason,
    pub node: Option<Site>,
    pub message: String,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    pub at: Timestamp,
    /// `None` for success.
    pub failure: Option<Failure>,
}

impl RunState {
    /// A run before its first event.
    pub fn fresh() -> Self {
        Self {
            started: None,
            started_at: None,
            updated_at: None,
            generation: Generation(0),
            nodes: BTreeMap::new(),
            containers: BTreeMap::new(),
            storage: Value::Object(Map::new()),
            run_id: Value::Null,
            in_flight: BTreeSet::new(),
            claims: BTreeSet::new(),
            items_proof: None,
            waiting: BTreeSet::new(),
            timers: BTreeSet::new(),
            children: BTreeMap::new(),
            spending: Spending::default(),
            unknown_effect: false,
            degraded: false,
            signals: BTreeSet::new(),
            cancel: None,
            failure: None,
            closed: None,
            next_seq: Seq::FIRST,
        }
    }

    pub fn status(&self) -> RunStatus {
        match &self.closed {
            Some(Closed { failure: Some(_), .. }) => RunStatus::Failed,
            Some(Closed { failure: None, .. }) => RunStatus::Completed,
            None if self.is_parked() && !self.waiting.is_empty() => RunStatus::AwaitingApproval,
            None if self.is_parked() => RunStatus::Waiting,
            None => RunStatus::Running,
        }
    }

    /// Nothing in flight and something to wait for: such a run needs no
    /// owner.
    pub fn is_parked(&self) -> bool {
        self.closed.is_none()
            && self.failure.is_none()
            && self.in_flight.is_empty()
            && self.claims.is_empty()
            && self.waits_for_something()
    }

    /// Whether something waits until the limit of a provider is over.
    pub fn waits_for_limit(&self) -> bool {
        self.timers.iter().any(|(_, site)| self.node(site).is_some_and(NodeState::waits_for_limit))
    }

    /// The weakest proof in the run; `None` where nobody claimed anything.
    pub fn proof(&self) -> Option<Proof> {
        self.nodes.values().filter_map(NodeState::stands).chain(self.items_proof).max()
    }

    /// Whether a decision, a moment, another run or a word about the budget
    /// can still come.
    pub fn waits_for_something(&self) -> bool {
        !self.waiting.is_empty()
            || !self.timers.is_empty()
            || !self.children.is_empty()
            || self.spending.is_held()
    }

    /// When a run without an owner must be looked at though nothing happens:
    /// the first moment that something waits for, or the end of the time of
    /// the run or of one that works for it.
    pub fn wake_at(&self) -> Option<Timestamp> {
        let timer = self.timers.iter().find(|(at, site)| !self.is_held_up(*at, site));
        let flight = |site: &Site| self.node(site)?.in_flight?.deadline;
        let children = self.children.keys().filter_map(flight);
        let closed = self.closed.is_some();
        let all = timer.map(|(at, _)| *at).into_iter().chain(children).chain(self.end_of_time());
        all.filter(|_| !closed).min()
    }

    /// Whether a moment is one at which nothing can happen: an attempt waits
    /// for the budget; or it came while others were at work, and its turn is
    /// when one of them ends.
    fn is_held_up(&self, at: Timestamp, site: &Site) -> bool {
        let is_attempt = self.node(site).is_some_and(|node| node.attempt.0 > 0);
        let was_seen = self.updated_at.is_some_and(|seen| at <= seen);
        (is_attempt && self.spending.is_held()) || (was_seen && !self.children.is_empty())
    }

    /// The deadline of a run that is not ending.
    pub(crate) fn end_of_time(&self) -> Option<Timestamp> {
        self.deadline().filter(|_| self.failure.is_none() && self.closed.is_none())
    }

    pub fn deadline(&self) -> Option<Timestamp> {
        self.started.as_ref().and_then(|started| started.deadline)
    }

    pub fn node(&self, site: &Site) -> Option<&NodeState> {
        self.nodes.get(site)
    }

    pub fn node_status(&self, site: &Site) -> NodeStatus {
        self.nodes.get(site).map_or(NodeStatus::Pending, |node| node.status)
    }
}

impl NodeState {
    /// How what it says of itself stands now.
    pub fn stands(&self) -> Option<Proof> {
        self.proof.or_else(|| self.claim.as_ref().map(|_| Proof::Claimed))
    }

    /// What it claimed came to nothing: what it said it has done goes too.
    pub(crate) fn disclaim(&mut self) {
        if self.claim.take().is_some() {
            self.output = None;
        }
    }

    pub(crate) fn waits_for_limit(&self) -> bool {
        self.wake.is_some() && self.again == Some(AgainCause::Limit)
    }

    pub(crate) fn pending() -> Self {
        Self {
            status: NodeStatus::Pending,
            attempt: Attempt(0),
            in_flight: None,
            output: None,
            port: None,
            error: None,
            error_value: None,
            prompt: None,
            round: Round::FIRST,
            prev: None,
            wake: None,
            child: None,
            session: None,
            correction: None,
            again: None,
            limits: 0,
            claim: None,
            proof: None,
            checks: Vec::new(),
            started_at: None,
            ended_at: None,
        }
    }
}

impl NodeStatus {
    /// Whether nothing more will happen to the node.
    pub fn is_settled(self) -> bool {
        match self {
            Self::Pending | Self::Running | Self::Waiting => false,
            Self::Completed | Self::Failed | Self::Skipped | Self::Cancelled | Self::Unknown => {
                true
            }
        }
    }
}

impl RunStatus {
    /// Whether nothing more will happen.
    pub fn is_over(self) -> bool {
        match self {
            Self::Completed | Self::Failed => true,
            Self::Running | Self::AwaitingApproval | Self::Waiting => false,
        }
    }
}

words!(NodeStatus {
    Pending => "pending",
    Running => "running",
    Waiting => "waiting",
    Completed => "completed",
    Failed => "failed",
    Skipped => "skipped",
    Cancelled => "cancelled",
    Unknown => "unknown",
});

words!(RunStatus {
    Running => "running",
    AwaitingApproval => "awaiting_approval",
    Waiting => "waiting",
    Completed => "completed",
    Failed => "failed",
});
