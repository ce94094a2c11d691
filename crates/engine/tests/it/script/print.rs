//! Actions, events and states as lines for people to compare.

use std::fmt::Write as _;

use durable::Timestamp;
use engine::{Action, Event, Fact, NodeError, Task, Work};
use serde_json::Value;

use crate::rig::{Rig, START};

pub(super) fn actions(actions: &[Action]) -> String {
    let mut text = String::new();
    for action in actions {
        match action {
            Action::Append(batch) => {
                line(&mut text, "  append");
                text.push_str(&events(batch));
            }
            Action::Start(work) => start(&mut text, work),
            Action::Stop(key) => line(&mut text, &format!("  stop {}/{}", key.node, key.attempt)),
            Action::Checkpoint => line(&mut text, "  checkpoint"),
            Action::Park => line(&mut text, "  park"),
            Action::Close(status) => line(&mut text, &format!("  close {}", status.word())),
        }
    }
    text
}

pub(super) fn events(events: &[Event]) -> String {
    let mut text = String::new();
    for event in events {
        let (seq, kind, rest) = (event.seq, event.fact.kind(), fields(&event.fact));
        line(&mut text, &format!("    {seq} +{} {kind}{rest}", since(event.at)));
    }
    text
}

/// Each node that something happened to.
pub(super) fn nodes(rig: &Rig) -> String {
    let mut text = String::new();
    for (id, node) in &rig.state().nodes {
        let mut parts = format!("  {id}: {}", node.status.word());
        option(&mut parts, "port", node.port.as_ref());
        option(&mut parts, "output", node.output.as_ref());
        option(&mut parts, "error", node.error_value.as_ref());
        option(&mut parts, "prompt", node.prompt.as_ref().map(quoted).as_ref());
        line(&mut text, &parts);
    }
    line(&mut text, &format!("  storage {}", rig.state().storage));
    text
}

/// The run as its view says it.
pub(super) fn view(rig: &Rig) -> String {
    let view = rig.machine().view();
    let look = view.look();
    let mut text = String::new();
    let mut parts = format!("  {} {} exit={}", look.icon, view.status.word(), look.exit);
    option(&mut parts, "reason", view.reason().map(engine::FailReason::word).as_ref());
    option(&mut parts, "node", view.failure.as_ref().and_then(|failure| failure.node.as_ref()));
    if view.unknown_effect {
        parts.push_str(" unknown_effect");
    }
    line(&mut text, &parts);
    if let Some(failure) = &view.failure {
        line(&mut text, &format!("    {}", failure.message));
    }
    for node in &view.nodes {
        let icon = engine::view::node_icon(node.status).0;
        let attempt = node.attempt;
        line(
            &mut text,
            &format!("    {icon} {} {} attempt={attempt}", node.id, node.status.word()),
        );
    }
    text
}

fn start(text: &mut String, work: &Work) {
    let head = format!("  start {}/{} g{}", work.key.node, work.key.attempt, work.generation);
    let mut parts = head;
    option(&mut parts, "timeout", work.timeout.as_ref());
    match &work.task {
        Task::Agent(agent) => {
            write!(parts, " agent={} prompt={}", agent.agent, quoted(&agent.prompt)).expect("text");
            let choices: Vec<_> = agent.choices.iter().map(ToString::to_string).collect();
            list(&mut parts, "choices", &choices);
            option(&mut parts, "schema", agent.schema.as_ref());
            option(&mut parts, "session", agent.session.as_ref());
        }
        Task::Shell(shell) => {
            write!(parts, " shell={}", quoted(&shell.text)).expect("text");
            pairs(&mut parts, &shell.values);
            option(&mut parts, "cwd", shell.cwd.as_ref());
            pairs(&mut parts, &shell.env);
            list(&mut parts, "pass", &shell.env_pass);
        }
        Task::Script(script) => {
            let runtime = engine::work::runtime_word(script.runtime);
            write!(parts, " {runtime}={}", quoted(&script.path)).expect("text");
            list(&mut parts, "args", &script.args);
            pairs(&mut parts, &script.env);
            list(&mut parts, "pass", &script.env_pass);
        }
    }
    for file in &work.files {
        write!(parts, " file={}", quoted(&file.text)).expect("a text takes all");
    }
    line(text, &parts);
}

fn fields(fact: &Fact) -> String {
    let mut text = String::new();
    if let Some(node) = fact.node() {
        write!(text, " {node}").expect("a text takes all");
    }
    match fact {
        Fact::RunStarted(started) => {
            write!(text, " run={} trigger={}", started.run_id, started.trigger).expect("text");
            option(&mut text, "retry_of", started.retry_of.as_ref());
        }
        Fact::RunAdopted { generation, .. } => write!(text, " g{generation}").expect("text"),
        Fact::RunResumed { actor, signal } => {
            write!(text, " actor={actor} signal={signal}").expect("text");
        }
        Fact::NodeStarted { attempt, generation, deadline, repeat, .. } => {
            write!(text, "/{attempt} g{generation} repeat={}", repeat.word()).expect("text");
            option(&mut text, "deadline", deadline.map(since).as_ref());
        }
        Fact::NodeCompleted { attempt, output, .. } => {
            option(&mut text, "attempt", attempt.as_ref());
            option(&mut text, "output", Some(output));
        }
        Fact::DecisionCompleted { attempt, output, port, .. } => {
            write!(text, " attempt={attempt} port={port} output={output}").expect("text");
        }
        Fact::BranchTaken { port, .. } => write!(text, " port={port}").expect("text"),
        Fact::StateUpdated { op, entries, .. } => {
            let entries = Value::Object(entries.clone());
            write!(text, " {op:?} {entries}").expect("text");
        }
        Fact::Notification { message, .. } => {
            write!(text, " {}", quoted(message)).expect("text");
        }
        Fact::NodeFailed { attempt, error, .. } => {
            option(&mut text, "attempt", attempt.as_ref());
            text.push_str(&error_text(error));
        }
        Fact::AttemptFailed { attempt, error, cause, session, .. } => {
            write!(text, "/{attempt} cause={}", cause.word()).expect("text");
            option(&mut text, "session", session.as_ref());
            text.push_str(&error_text(error));
        }
        Fact::AttemptUnknown { attempt, cause, message, .. } => {
            write!(text, "/{attempt} cause={} {}", cause.word(), quoted(message)).expect("text");
        }
        Fact::NodeCancelled { attempt, .. } => write!(text, "/{attempt}").expect("text"),
        Fact::AwaitingApproval { prompt, .. } => {
            option(&mut text, "prompt", prompt.as_ref().map(quoted).as_ref());
        }
        Fact::ApprovalGranted { actor, note, signal, .. }
        | Fact::ApprovalRejected { actor, note, signal, .. }
        | Fact::CancelRequested { actor, note, signal } => {
            write!(text, " actor={actor} signal={signal}").expect("text");
            option(&mut text, "note", note.as_ref().map(quoted).as_ref());
        }
        Fact::SignalRefused { signal, verb, actor, code, message } => {
            write!(text, " {verb} actor={actor} signal={signal} code={code} {}", quoted(message))
                .expect("text");
        }
        Fact::NodeSkipped { .. } | Fact::RunCompleted => {}
        Fact::RunFailed { reason, error, .. } => {
            write!(text, " reason={} {}", reason.word(), quoted(error)).expect("text");
        }
    }
    text
}

fn error_text(error: &NodeError) -> String {
    let mut text = format!(
        " class={} code={} effect={} {}",
        error.class.word(),
        error.code,
        error.effect.word(),
        quoted(&error.message)
    );
    option(&mut text, "output", error.output.as_ref());
    text
}

fn option<T: std::fmt::Display>(text: &mut String, name: &str, value: Option<&T>) {
    if let Some(value) = value {
        write!(text, " {name}={value}").expect("a text takes all");
    }
}

fn list(text: &mut String, name: &str, items: &[String]) {
    if !items.is_empty() {
        write!(text, " {name}={items:?}").expect("a text takes all");
    }
}

fn pairs(text: &mut String, pairs: &[(String, String)]) {
    for (name, value) in pairs {
        write!(text, " {name}={}", quoted(value)).expect("a text takes all");
    }
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a text takes all");
}

fn quoted(text: impl AsRef<str>) -> String {
    Value::from(text.as_ref()).to_string()
}

/// The time since the start of the script.
fn since(at: Timestamp) -> durable::Span {
    at.since(Timestamp::from_millis(START))
}
