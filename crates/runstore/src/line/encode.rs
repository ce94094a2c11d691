//! An event as the body of a line: what [`durable::frame::seal`] takes. Pure.

use std::io::Write as _;

use blueprint::{Budget, Repeat, StateOp};
use engine::{Event, Fact, NodeError, RunStarted, Site};
use serde::Serialize;

/// The JSON object of `event`, beginning `{"seq":N,"ts":"…","kind":"…"`.
pub fn encode(event: &Event) -> Vec<u8> {
    let mut object = Object::new(event);
    fields(&mut object, &event.fact);
    object.close()
}

fn fields(out: &mut Object, fact: &Fact) {
    match fact.node() {
        Some(node) if !matches!(fact, Fact::RunFailed { .. }) => {
            out.site(node);
            node_fields(out, fact);
        }
        Some(_) | None => run_fields(out, fact),
    }
}

/// The fields of a fact about the run.
fn run_fields(out: &mut Object, fact: &Fact) {
    match fact {
        Fact::RunStarted(started) => run_started(out, started),
        Fact::RunAdopted { generation, cut } => {
            out.add("generation", generation);
            out.add_some("cut", Some(cut).filter(|cut| **cut > 0));
        }
        Fact::RunResumed { actor, signal } => {
            out.add("actor", actor);
            out.add("signal", signal);
        }
        Fact::CancelRequested { actor, note, signal } => {
            signed(out, actor, note.as_ref(), signal);
        }
        Fact::SignalRefused { signal, verb, actor, code, message } => {
            out.add("signal", signal);
            out.add("verb", verb);
            out.add("actor", actor);
            out.add("code", code);
            out.add("message", message);
        }
        Fact::RunFailed { reason, error, node } => run_failed(out, reason.word(), error, node),
        Fact::BudgetNotice { limit } | Fact::BudgetReached { limit } => {
            out.add("limit", limit.word());
        }
        Fact::DeadlinePassed { deadline } => out.add("deadline", deadline),
        Fact::RunCompleted
        | Fact::NodeStarted { .. }
        | Fact::NodeCompleted { .. }
        | Fact::DecisionCompleted { .. }
        | Fact::BranchTaken { .. }
        | Fact::StateUpdated { .. }
        | Fact::Notification { .. }
        | Fact::NodeSkipped { .. }
        | Fact::NodeFailed { .. }
        | Fact::AttemptFailed { .. }
        | Fact::AttemptUnknown { .. }
        | Fact::NodeCancelled { .. }
        | Fact::LoopIteration { .. }
        | Fact::LoopCompleted { .. }
        | Fact::ForEachStarted { .. }
        | Fact::ItemCompleted { .. }
        | Fact::ItemFailed { .. }
        | Fact::ForEachCompleted { .. }
        | Fact::WaitStarted { .. }
        | Fact::UsageReported { .. }
        | Fact::SessionReported { .. }
        | Fact::NodeClaimed { .. }
        | Fact::ProofStarted { .. }
        | Fact::ProofInterrupted { .. }
        | Fact::ProofReported { .. }
        | Fact::AwaitingApproval { .. }
        | Fact::ApprovalGranted { .. }
        | Fact::ApprovalRejected { .. } => {}
    }
}

/// The fields of a fact about a node, behind the node itself.
fn node_fields(out: &mut Object, fact: &Fact) {
    match fact {
        Fact::NodeStarted { .. } => started_fields(out, fact),
        Fact::NodeCompleted { node: _, attempt, output } => {
            out.add("output", output);
            out.add_some("attempt", attempt.as_ref());
        }
        Fact::DecisionCompleted { node: _, attempt, output, port } => {
            out.add("output", output);
            out.add("port", port);
            out.add("attempt", attempt);
        }
        Fact::BranchTaken { node: _, port } => out.add("port", port),
        Fact::StateUpdated { node: _, op, entries } => {
            out.add("op", op_word(*op));
            out.add("entries", entries);
        }
        Fact::Notification { node: _, message } => out.add("message", message),
        Fact::NodeFailed { .. } | Fact::AttemptFailed { .. } | Fact::AttemptUnknown { .. } => {
            failure_fields(out, fact);
        }
        Fact::LoopIteration { .. }
        | Fact::ForEachStarted { .. }
        | Fact::ItemCompleted { .. }
        | Fact::ItemFailed { .. } => container_fields(out, fact),
        Fact::WaitStarted { node: _, until } => out.add("until", until),
        Fact::UsageReported { node: _, attempt, usage } => {
            out.add("attempt", attempt);
            out.add("usage", usage);
        }
        Fact::SessionReported { .. }
        | Fact::NodeClaimed { .. }
        | Fact::ProofStarted { .. }
        | Fact::ProofInterrupted { .. }
        | Fact::ProofReported { .. } => claim_fields(out, fact),
        Fact::NodeCancelled { node: _, attempt } => out.add("attempt", attempt),
        Fact::AwaitingApproval { node: _, prompt } => out.add_some("prompt", prompt.as_ref()),
        Fact::ApprovalGranted { node: _, actor, note, signal }
        | Fact::ApprovalRejected { node: _, actor, note, signal } => {
            signed(out, actor, note.as_ref(), signal);
        }
        Fact::NodeSkipped { .. }
        | Fact::LoopCompleted { .. }
        | Fact::ForEachCompleted { .. }
        | Fact::RunStarted(_)
        | Fact::RunAdopted { .. }
        | Fact::RunResumed { .. }
        | Fact::BudgetNotice { .. }
        | Fact::BudgetReached { .. }
        | Fact::DeadlinePassed { .. }
        | Fact::CancelRequested { .. }
        | Fact::SignalRefused { .. }
        | Fact::RunCompleted
        | Fact::RunFailed { .. } => {}
    }
}

/// The fields of the start of an attempt.
fn started_fields(out: &mut Object, fact: &Fact) {
    if let Fact::NodeStarted {
        node: _,
        attempt,
        generation,
        work,
        deadline,
        repeat,
        agent,
        child,
    } = fact
    {
        out.add("attempt", attempt);
        out.add("generation", generation);
        out.add("work", work);
        out.add_some("deadline", deadline.as_ref());
        out.add("repeat", repeat_word(*repeat));
        out.add_some("agent", Some(agent).filter(|agent| **agent));
        out.add_some("child", child.as_ref());
    }
}

/// The fields of a fact about a failure, behind the node itself.
#[expect(clippy::wildcard_enum_match_arm, reason = "it is called with failures alone")]
fn failure_fields(out: &mut Object, fact: &Fact) {
    match fact {
        Fact::NodeFailed { node: _, attempt, error, caught } => {
            node_error(out, error);
            out.add_some("attempt", attempt.as_ref());
            out.add_some("caught", caught.map(engine::Caught::word).as_ref());
        }
        Fact::AttemptFailed { node: _, attempt, error, cause, wake, session } => {
            node_error(out, error);
            out.add("attempt", attempt);
            out.add("cause", cause.word());
            out.add_some("wake", wake.as_ref());
            out.add_some("session", session.as_ref());
        }
        Fact::AttemptUnknown { node: _, attempt, cause, code, message, caught } => {
            out.add("attempt", attempt);
            out.add("cause", cause.word());
            out.add_some("code", code.as_ref());
            out.add("message", message);
            out.add_some("caught", caught.map(engine::Caught::word).as_ref());
        }
        _ => {}
    }
}

/// The fields of a fact about what an attempt says of itself.
#[expect(clippy::wildcard_enum_match_arm, reason = "it is called with claims alone")]
fn claim_fields(out: &mut Object, fact: &Fact) {
    match fact {
        Fact::SessionReported { node: _, attempt, session } => {
            out.add("attempt", attempt);
            out.add("session", session);
        }
        Fact::NodeClaimed { node: _, attempt, output, port } => {
            out.add("output", output);
            out.add("port", port);
            out.add("attempt", attempt);
        }
        Fact::ProofStarted { node: _, attempt, proof, generation, work, deadline } => {
            out.add("attempt", attempt);
            out.add("asking", proof);
            out.add("generation", generation);
            out.add("work", work);
            out.add_some("deadline", deadline.as_ref());
        }
        Fact::ProofInterrupted { node: _, attempt } => out.add("attempt", attempt),
        Fact::ProofReported { node: _, attempt, proof, checks } => {
            out.add("attempt", attempt);
            out.add("proof", proof.word());
            out.add("checks", checks);
        }
        _ => {}
    }
}

/// The fields of a fact about a container, behind the node itself.
#[expect(clippy::wildcard_enum_match_arm, reason = "it is called with containers alone")]
fn container_fields(out: &mut Object, fact: &Fact) {
    match fact {
        Fact::LoopIteration { node: _, iteration, begin } => {
            out.add("iteration", iteration);
            if let Some(begin) = begin {
                out.add("most", &begin.most);
                out.add("body", &begin.body);
            }
        }
        Fact::ForEachStarted { node: _, items, body } => {
            out.add("items", items);
            out.add("body", body);
        }
        Fact::ItemCompleted { node: _, index, output } => {
            out.add("index", index);
            out.add("output", output);
        }
        Fact::ItemFailed { node: _, index, error } => {
            out.add("index", index);
            node_error(out, error);
        }
        _ => {}
    }
}

fn run_started(out: &mut Object, started: &RunStarted) {
    out.add("run_id", &started.run_id);
    out.add_some("blueprint_hash", started.blueprint_hash.as_ref());
    out.add("blueprint_id", &started.blueprint_id);
    out.add("schema", &started.schema);
    out.add("trigger", &started.trigger);
    out.add("format", &started.format);
    out.add("generation", &started.generation);
    out.add_some("blueprint_digest", started.blueprint_digest.as_ref());
    out.add_some("invocation_digest", started.invocation_digest.as_ref());
    out.add_some("principal", started.principal.as_ref());
    out.add_some("retry_of", started.retry_of.as_ref());
    if let Some((run, at)) = &started.fork_of {
        out.add("fork_of", run);
        out.add("fork_at", at);
    }
    out.add_some("parent", started.parent.as_ref());
    out.add_some("deadline", started.deadline.as_ref());
    out.add_some("budget", Some(&started.budget).filter(|budget| **budget != Budget::default()));
}

fn run_failed(out: &mut Object, reason: &str, error: &str, node: &Option<Site>) {
    out.add("error", error);
    out.add("reason", reason);
    if let Some(site) = node {
        out.site(site);
    }
}

fn node_error(out: &mut Object, error: &NodeError) {
    out.add("error", &error.message);
    out.add("class", error.class.word());
    out.add("code", &error.code);
    out.add("effect", error.effect.word());
    out.add_some("output", error.output.as_ref());
    out.add_some("retry_after", error.retry_after.as_ref());
}

fn signed(out: &mut Object, actor: &str, note: Option<&String>, signal: &engine::SignalId) {
    out.add("actor", actor);
    out.add_some("note", note);
    out.add("signal", signal);
}

pub(super) fn repeat_word(repeat: Repeat) -> &'static str {
    match repeat {
        Repeat::Never => "never",
        Repeat::Safe => "safe",
    }
}

pub(super) fn op_word(op: StateOp) -> &'static str {
    match op {
        StateOp::Get => "get",
        StateOp::Set => "set",
        StateOp::Merge => "merge",
        StateOp::Delete => "delete",
    }
}

/// Most lines have fewer bytes, so that they need to be moved nowhere while
/// they grow.
const USUAL_BYTES: usize = 512;

/// A JSON object under way; its fields stand in the order of the calls.
struct Object(Vec<u8>);

impl Object {
    fn new(event: &Event) -> Self {
        let Event { seq, at, fact } = event;
        let kind = fact.kind();
        let mut bytes = Vec::with_capacity(USUAL_BYTES);
        write!(bytes, "{{\"seq\":{seq},\"ts\":\"{at}\",\"kind\":\"{kind}\"")
            .expect("memory can be written to");
        Self(bytes)
    }

    fn add<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        self.0.extend_from_slice(b",\"");
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
        serde_json::to_writer(&mut self.0, value)
            .expect("values of text, numbers and JSON can be written to memory");
    }

    /// A node, and the item that it is run for.
    fn site(&mut self, site: &Site) {
        self.add("node", &site.node);
        self.add_some("item", site.item.as_ref());
    }

    fn add_some<T: Serialize>(&mut self, name: &str, value: Option<&T>) {
        if let Some(value) = value {
            self.add(name, value);
        }
    }

    fn close(mut self) -> Vec<u8> {
        self.0.push(b'}');
        self.0
    }
}
