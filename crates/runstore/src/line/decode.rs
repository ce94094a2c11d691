//! A stored line as an event: one typed pass over the text, the short way of
//! [`super::plain`] where that is enough, then the kind decides which of the
//! fields count. Fields that are not known are skipped, so that a later minor
//! format may add some. Pure.

mod claim;
mod run;

use std::borrow::Cow;
use std::sync::Arc;

use blueprint::{Budget, NodeId, PortName, Repeat, StateOp};
use durable::version::{Access, Format};
use durable::{Attempt, Digest, Generation, Round, Seq, Span, Timestamp};
use engine::event::LOG_FORMAT;
use engine::{
    AgainCause, BudgetLimit, Caught, CheckResult, Child, Class, Effect, Event, Fact, LoopBegin,
    NodeError, Parent, RunId, SignalId, Site, UnknownCause, Usage,
};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use super::LineError;
use super::encode::{op_word, repeat_word};
use super::plain;

/// The event of a line, with or without the fields of its frame. `format` is
/// what the log's `run_started` said, where one was seen.
pub fn decode(line: &[u8], format: Option<Format>) -> Result<Event, LineError> {
    let mut raw = RawLine::default();
    match plain::read(line, &mut raw) {
        Some(()) => event_of(raw, format),
        None => event_of(long(line)?, format),
    }
}

/// The fields of any line.
pub(super) fn long(line: &[u8]) -> Result<RawLine<'_>, LineError> {
    serde_json::from_slice(line).map_err(|error| shape(line, error))
}

/// What the fields of a line say.
pub(super) fn event_of(mut raw: RawLine<'_>, format: Option<Format>) -> Result<Event, LineError> {
    let (seq, at) = (Seq(raw.seq), raw.ts.0);
    let fact = fact(&mut raw, format).map_err(|fault| fault.at(seq, &raw.kind.0, format))?;
    Ok(Event { seq, at, fact })
}

/// Every field that any kind has. Text borrows from the line where it can.
#[derive(Default, Deserialize)]
pub(super) struct RawLine<'a> {
    pub(super) seq: u64,
    pub(super) ts: Instant,
    #[serde(borrow)]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) node: Option<Text<'a>>,
    pub(super) item: Option<u32>,
    #[serde(default, deserialize_with = "present")]
    pub(super) output: Option<Value>,
    #[serde(borrow)]
    pub(super) port: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) error: Option<Text<'a>>,
    pub(super) attempt: Option<Attempt>,
    pub(super) generation: Option<Generation>,
    cut: Option<u64>,
    #[serde(borrow)]
    pub(super) work: Option<Text<'a>>,
    deadline: Option<Instant>,
    #[serde(borrow)]
    pub(super) repeat: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) op: Option<Text<'a>>,
    pub(super) entries: Option<Map<String, Value>>,
    #[serde(borrow)]
    pub(super) message: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) class: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) code: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) effect: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) cause: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) session: Option<Text<'a>>,
    #[serde(borrow)]
    prompt: Option<Text<'a>>,
    #[serde(borrow)]
    actor: Option<Text<'a>>,
    #[serde(borrow)]
    note: Option<Text<'a>>,
    #[serde(borrow)]
    signal: Option<Text<'a>>,
    #[serde(borrow)]
    verb: Option<Text<'a>>,
    #[serde(borrow)]
    reason: Option<Text<'a>>,
    #[serde(borrow)]
    run_id: Option<Text<'a>>,
    #[serde(borrow)]
    blueprint_id: Option<Text<'a>>,
    #[serde(borrow)]
    blueprint_hash: Option<Text<'a>>,
    schema: Option<u32>,
    trigger: Option<Value>,
    format: Option<Format>,
    #[serde(borrow)]
    blueprint_digest: Option<Text<'a>>,
    #[serde(borrow)]
    invocation_digest: Option<Text<'a>>,
    #[serde(borrow)]
    principal: Option<Text<'a>>,
    #[serde(borrow)]
    retry_of: Option<Text<'a>>,
    #[serde(borrow)]
    fork_of: Option<Text<'a>>,
    fork_at: Option<Seq>,
    parent: Option<Box<Parent>>,
    budget: Option<Box<Budget>>,
    agent: Option<bool>,
    child: Option<Box<Child>>,
    #[serde(borrow)]
    caught: Option<Text<'a>>,
    wake: Option<Instant>,
    pub(super) iteration: Option<Round>,
    most: Option<u64>,
    body: Option<Vec<NodeId>>,
    items: Option<Vec<Value>>,
    pub(super) index: Option<u32>,
    until: Option<Instant>,
    usage: Option<Usage>,
    retry_after: Option<Span>,
    #[serde(borrow)]
    limit: Option<Text<'a>>,
    asking: Option<Attempt>,
    #[serde(borrow)]
    proof: Option<Text<'a>>,
    checks: Option<Vec<CheckResult>>,
}

/// Text that borrows; an `Option<Cow>` alone would always copy.
#[derive(Default, Deserialize)]
#[serde(transparent)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// An instant read without copying its text.
pub(super) struct Instant(pub(super) Timestamp);

impl Default for Instant {
    fn default() -> Self {
        Self(Timestamp::from_millis(0))
    }
}

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::deserialize(deserializer)?;
        text.0.parse().map(Self).map_err(serde::de::Error::custom)
    }
}

/// Keeps `null` apart from absence.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// What is wrong with a line, before it is known which line.
enum Fault {
    Missing(&'static str),
    Value(&'static str, String),
    Kind,
    TooNew(Format),
}

impl Fault {
    fn at(self, seq: Seq, kind: &str, format: Option<Format>) -> LineError {
        let kind = kind.to_owned();
        match self {
            Self::Missing(field) => LineError::Missing { seq, kind, field },
            Self::Value(field, value) => LineError::Value { seq, kind, field, value },
            Self::Kind => LineError::Kind { seq, kind, format },
            Self::TooNew(found) => LineError::TooNew { found },
        }
    }
}

/// A first line of another shape may be of a newer format; then that is
/// the news.
fn shape(line: &[u8], error: serde_json::Error) -> LineError {
    #[derive(Deserialize)]
    struct Probe {
        format: Format,
    }
    match serde_json::from_slice(line) {
        Ok(Probe { format }) if LOG_FORMAT.access(format) == Access::TooNew => {
            LineError::TooNew { found: format }
        }
        Ok(_) | Err(_) => LineError::Shape(error),
    }
}

fn fact(raw: &mut RawLine<'_>, format: Option<Format>) -> Result<Fact, Fault> {
    match raw.kind.0.as_ref() {
        "node_started" | "node_completed" | "node_skipped" | "node_failed" | "node_cancelled" => {
            node_fact(raw)
        }
        "decision_completed" | "decision_made" | "branch_taken" | "state_updated"
        | "notification" => step_fact(raw),
        "attempt_failed" | "attempt_unknown" | "usage_reported" => attempt_fact(raw),
        "session_reported" | "node_claimed" | "proof_started" | "proof_interrupted"
        | "proof_reported" => claim::fact(raw),
        "loop_iteration" | "loop_completed" | "for_each_started" | "item_completed"
        | "item_failed" | "for_each_completed" => container_fact(raw),
        "wait_started" => {
            Ok(Fact::WaitStarted { node: node(raw)?, until: need(raw.until.take(), "until")?.0 })
        }
        "budget_notice" => Ok(Fact::BudgetNotice { limit: limit(raw)? }),
        "budget_reached" => Ok(Fact::BudgetReached { limit: limit(raw)? }),
        "deadline_passed" => {
            Ok(Fact::DeadlinePassed { deadline: need(raw.deadline.take(), "deadline")?.0 })
        }
        "awaiting_approval" | "approval_granted" | "approval_rejected" | "cancel_requested"
        | "signal_refused" | "run_resumed" => signal_fact(raw),
        "run_started" => run::started(raw).map(|started| Fact::RunStarted(Box::new(started))),
        "run_adopted" => {
            let generation = need(raw.generation, "generation")?;
            Ok(Fact::RunAdopted { generation, cut: raw.cut.unwrap_or(0) })
        }
        "run_completed" => Ok(Fact::RunCompleted),
        "run_failed" => run::failed(raw, format),
        _ => Err(Fault::Kind),
    }
}

fn node_fact(raw: &mut RawLine<'_>) -> Result<Fact, Fault> {
    let node = node(raw)?;
    Ok(match raw.kind.0.as_ref() {
        "node_started" => Fact::NodeStarted {
            node,
            attempt: raw.attempt.unwrap_or(Attempt::FIRST),
            generation: raw.generation.unwrap_or(Generation::FIRST),
            work: digest(raw.work.as_ref(), "work")?.unwrap_or_else(|| Digest::of(b"")),
            deadline: raw.deadline.as_ref().map(|deadline| deadline.0),
            repeat: repeat(raw)?,
            agent: raw.agent.unwrap_or_default(),
            child: raw.child.take().map(|child| Arc::new(*child)),
        },
        "node_completed" => {
            let output = Arc::new(raw.output.take().unwrap_or_default());
            Fact::NodeCompleted { node, attempt: raw.attempt, output }
        }
        "node_skipped" => Fact::NodeSkipped { node },
        "node_failed" => Fact::NodeFailed {
            node,
            attempt: raw.attempt,
            error: node_error(raw)?,
            caught: caught(raw)?,
        },
        "node_cancelled" => Fact::NodeCancelled { node, attempt: need(raw.attempt, "attempt")? },
        _ => return Err(Fault::Kind),
    })
}

fn step_fact(raw: &mut RawLine<'_>) -> Result<Fact, Fault> {
    let node = node(raw)?;
    Ok(match raw.kind.0.as_ref() {
        // Older logs of the reference write `decision_made`, with no output.
        "decision_completed" | "decision_made" => {
            let port = port(raw)?;
            let chosen = || json!({ "chosen": port.as_str() });
            let output = Arc::new(raw.output.take().unwrap_or_else(chosen));
            let attempt = raw.attempt.unwrap_or(Attempt::FIRST);
            Fact::DecisionCompleted { node, attempt, output, port }
        }
        "branch_taken" => Fact::BranchTaken { node, port: port(raw)? },
        "state_updated" => {
            Fact::StateUpdated { node, op: op(raw)?, entries: need(raw.entries.take(), "entries")? }
        }
        "notification" => Fact::Notification { node, message: text(&raw.message, "message")? },
        _ => return Err(Fault::Kind),
    })
}

fn attempt_fact(raw: &mut RawLine<'_>) -> Result<Fact, Fault> {
    let node = node(raw)?;
    let attempt = need(raw.attempt, "attempt")?;
    Ok(match raw.kind.0.as_ref() {
        "attempt_failed" => Fact::AttemptFailed {
            node,
            attempt,
            error: node_error(raw)?,
            cause: word(&raw.cause, "cause", AgainCause::from_word)?,
            wake: raw.wake.take().map(|wake| wake.0),
            session: optional(&raw.session),
        },
        "usage_reported" => Fact::UsageReported { node, attempt, usage: need(raw.usage, "usage")? },
        "attempt_unknown" => Fact::AttemptUnknown {
            node,
            attempt,
            cause: word(&raw.cause, "cause", UnknownCause::from_word)?,
            code: optional(&raw.code),
            message: text(&raw.message, "message")?,
            caught: caught(raw)?,
        },
        _ => return Err(Fault::Kind),
    })
}

fn container_fact(raw: &mut RawLine<'_>) -> Result<Fact, Fault> {
    let node = node(raw)?;
    let index = |raw: &RawLine<'_>| need(raw.index, "index");
    Ok(match raw.kind.0.as_ref() {
        "loop_iteration" => {
            let begin = raw.most.zip(raw.body.take());
            let begin = begin.map(|(most, body)| Arc::new(LoopBegin { most, body }));
            Fact::LoopIteration { node, iteration: need(raw.iteration, "iteration")?, begin }
        }
        "loop_completed" => Fact::LoopCompleted { node },
        "for_each_started" => Fact::ForEachStarted {
            node,
            items: Arc::new(need(raw.items.take(), "items")?),
            body: Arc::new(need(raw.body.take(), "body")?),
        },
        "item_completed" => {
            let output = Arc::new(raw.output.take().unwrap_or_default());
            Fact::ItemCompleted { node, index: index(raw)?, output }
        }
        "item_failed" => Fact::ItemFailed { node, index: index(raw)?, error: node_error(raw)? },
        "for_each_completed" => Fact::ForEachCompleted { node },
        _ => return Err(Fault::Kind),
    })
}

fn signal_fact(raw: &mut RawLine<'_>) -> Result<Fact, Fault> {
    let actor = || text(&raw.actor, "actor");
    let note = optional(&raw.note);
    Ok(match raw.kind.0.as_ref() {
        "awaiting_approval" => {
            Fact::AwaitingApproval { node: node(raw)?, prompt: optional(&raw.prompt) }
        }
        "approval_granted" => {
            Fact::ApprovalGranted { node: node(raw)?, actor: actor()?, note, signal: signal(raw)? }
        }
        "approval_rejected" => {
            Fact::ApprovalRejected { node: node(raw)?, actor: actor()?, note, signal: signal(raw)? }
        }
        "cancel_requested" => Fact::CancelRequested { actor: actor()?, note, signal: signal(raw)? },
        "signal_refused" => Fact::SignalRefused {
            signal: signal(raw)?,
            verb: text(&raw.verb, "verb")?,
            actor: actor()?,
            code: text(&raw.code, "code")?,
            message: text(&raw.message, "message")?,
        },
        "run_resumed" => Fact::RunResumed { actor: actor()?, signal: signal(raw)? },
        _ => return Err(Fault::Kind),
    })
}

/// The reference's `node_failed` has a message alone. Nothing is known of
/// what such a failure left behind.
fn node_error(raw: &mut RawLine<'_>) -> Result<NodeError, Fault> {
    let or_unknown = |class: Option<Class>| class.unwrap_or(Class::Unknown);
    Ok(NodeError {
        class: or_unknown(optional_word(&raw.class, "class", Class::from_word)?),
        code: optional(&raw.code).unwrap_or_else(|| "failed".to_owned()),
        message: text(&raw.error, "error")?,
        effect: optional_word(&raw.effect, "effect", Effect::from_word)?
            .unwrap_or(Effect::Uncertain),
        output: raw.output.take(),
        retry_after: raw.retry_after,
    })
}

fn need<T>(value: Option<T>, field: &'static str) -> Result<T, Fault> {
    value.ok_or(Fault::Missing(field))
}

fn text(value: &Option<Text<'_>>, field: &'static str) -> Result<String, Fault> {
    optional(value).ok_or(Fault::Missing(field))
}

fn optional(value: &Option<Text<'_>>) -> Option<String> {
    value.as_ref().map(|text| text.0.to_string())
}

fn node(raw: &RawLine<'_>) -> Result<Site, Fault> {
    let node = NodeId::new(&need(raw.node.as_ref(), "node")?.0);
    Ok(Site { node, item: raw.item })
}

fn caught(raw: &RawLine<'_>) -> Result<Option<Caught>, Fault> {
    optional_word(&raw.caught, "caught", Caught::from_word)
}

fn limit(raw: &RawLine<'_>) -> Result<BudgetLimit, Fault> {
    word(&raw.limit, "limit", BudgetLimit::from_word)
}

fn port(raw: &RawLine<'_>) -> Result<PortName, Fault> {
    need(raw.port.as_ref(), "port").map(|port| PortName::new(&port.0))
}

/// The reference's decisions answer no signal; each is given a name of its
/// own, so that two are never taken for one.
fn signal(raw: &RawLine<'_>) -> Result<SignalId, Fault> {
    let seq = raw.seq;
    let id = raw.signal.as_ref().map_or_else(|| format!("event-{seq}"), |id| id.0.to_string());
    SignalId::new(&id).map_err(|_| Fault::Value("signal", id))
}

fn run_id_of(id: &Text<'_>, field: &'static str) -> Result<RunId, Fault> {
    RunId::new(&id.0).map_err(|_| Fault::Value(field, id.0.to_string()))
}

fn digest(value: Option<&Text<'_>>, field: &'static str) -> Result<Option<Digest>, Fault> {
    let parse = |text: &Text<'_>| {
        text.0.parse::<Digest>().map_err(|_| Fault::Value(field, text.0.to_string()))
    };
    value.map(parse).transpose()
}

fn word<T>(
    value: &Option<Text<'_>>,
    field: &'static str,
    from_word: impl Fn(&str) -> Option<T>,
) -> Result<T, Fault> {
    need(optional_word(value, field, from_word)?, field)
}

fn optional_word<T>(
    value: &Option<Text<'_>>,
    field: &'static str,
    from_word: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, Fault> {
    let Some(text) = value else { return Ok(None) };
    from_word(&text.0).map(Some).ok_or_else(|| Fault::Value(field, text.0.to_string()))
}

fn repeat(raw: &RawLine<'_>) -> Result<Repeat, Fault> {
    let known = [Repeat::Never, Repeat::Safe];
    let from_word = |word: &str| known.into_iter().find(|repeat| repeat_word(*repeat) == word);
    Ok(optional_word(&raw.repeat, "repeat", from_word)?.unwrap_or(Repeat::Never))
}

fn op(raw: &RawLine<'_>) -> Result<StateOp, Fault> {
    let known = [StateOp::Get, StateOp::Set, StateOp::Merge, StateOp::Delete];
    word(&raw.op, "op", |word: &str| known.into_iter().find(|op| op_word(*op) == word))
}
