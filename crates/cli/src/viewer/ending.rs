//! Where a run stands and what a person can do next. Pure.

use host::api::{FailReason, NodeStatus, NodeView, RunStatus, RunView};

use crate::output::{escape, gist, time};
use crate::style::{Paint, Style};
use crate::surroundings::quote;

/// One line: how the run stands, and how long it has taken.
pub(crate) fn summary(view: &RunView, short: &str, style: Style) -> String {
    let look = view.look();
    let took = time::between(view.started_at, view.updated_at);
    let took = |word: &str| took.as_ref().map(|took| format!(" {word} {took}")).unwrap_or_default();
    let words = match view.status {
        RunStatus::Completed => format!("completed{}", took("in")),
        RunStatus::AwaitingApproval => {
            let gates: Vec<_> = waiting(view).map(|node| escape::line(node.id.as_str())).collect();
            format!("waits for approval at {}{}", gates.join(", "), took("after"))
        }
        RunStatus::Waiting => format!("waits {}{}", awaited(view), took("after")),
        RunStatus::Running => format!("is running{}", took("for")),
        RunStatus::Failed => failed(view, &took("after")),
    };
    let words = style.run_word(look, &format!("run {short} {words}"));
    let failure = gist::first_line(message(view), 200);
    let colon = if failure.is_empty() { "" } else { ": " };
    format!("{} {words}{colon}{failure}", style.run_icon(look))
}

/// Commands that make sense now, each complete.
pub(crate) fn next_steps(view: &RunView, short: &str, program: &str) -> Vec<String> {
    let call = |verb: &str| format!("{program} run {verb} {short}");
    match view.status {
        RunStatus::Completed => Vec::new(),
        RunStatus::Waiting if view.held.is_some() => vec![call("resume"), call("cancel")],
        RunStatus::Running | RunStatus::Waiting => vec![call("watch"), call("cancel")],
        RunStatus::AwaitingApproval => {
            waiting(view).flat_map(|node| decide(node, short, program)).collect()
        }
        RunStatus::Failed if view.reason() == Some(FailReason::Launch) => Vec::new(),
        RunStatus::Failed => match unknown(view).next() {
            None => vec![call("retry")],
            Some(_) => verdicts(view, &call("retry")),
        },
    }
}

/// What a run waits for that is no decision.
fn awaited(view: &RunView) -> String {
    if let Some(limit) = view.held {
        return format!("until someone grants its budget again (`{}` is spent)", limit.word());
    }
    let children: Vec<&str> = view.nodes.iter().filter_map(|node| node.open_child()).collect();
    if !children.is_empty() {
        return format!("for {}", children.join(", "));
    }
    view.wake_at.map_or_else(|| "for something".to_owned(), |at| format!("until {at}"))
}

/// What a person can say about outcomes that nobody knows. A shell passes
/// over what stands behind `#`.
fn verdicts(view: &RunView, retry: &str) -> Vec<String> {
    let flags = |flag: &str| {
        let one = |node: &NodeView| format!(" {flag} {}", quote(node.id.as_str()));
        unknown(view).map(one).collect::<String>()
    };
    [
        ("--happened", "it did its work"),
        ("--did-not", "it did nothing"),
        ("--redo", "whatever it did, start it again"),
    ]
    .map(|(flag, meaning)| format!("{retry}{}  # {meaning}", flags(flag)))
    .to_vec()
}

/// How to answer at a gate.
pub(crate) fn decide(node: &NodeView, short: &str, program: &str) -> [String; 2] {
    let node = quote(node.id.as_str());
    ["approve", "reject"].map(|verb| format!("{program} run {verb} {short} --node {node}"))
}

/// The commands, one a line, indented.
pub(crate) fn steps(commands: &[String], style: Style) -> Vec<String> {
    let one =
        |command: &String| format!("  {}", style.paint(Paint::Accent, &escape::line(command)));
    commands.iter().map(one).collect()
}

fn failed(view: &RunView, took: &str) -> String {
    let unknown = view.unknown_effect.then_some("outcome unknown");
    let word = view.reason().filter(|reason| *reason != FailReason::Error).map(FailReason::word);
    let words: Vec<&str> = word.into_iter().chain(unknown).collect();
    let words = if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) };
    let node = view.failure.as_ref().and_then(|failure| failure.node.as_ref());
    let node =
        node.map(|node| format!(" at {}", escape::line(&node.to_string()))).unwrap_or_default();
    format!("failed{words}{node}{took}")
}

/// Why it failed, without the node, which stands before it.
fn message(view: &RunView) -> &str {
    let Some(failure) = &view.failure else { return "" };
    let node = failure.node.as_ref().map(ToString::to_string);
    let rest = node.and_then(|node| failure.message.strip_prefix(&node));
    rest.and_then(|rest| rest.strip_prefix(": ")).unwrap_or(&failure.message)
}

fn waiting(view: &RunView) -> impl Iterator<Item = &NodeView> {
    view.nodes.iter().filter(|node| node.is_open_gate())
}

fn unknown(view: &RunView) -> impl Iterator<Item = &NodeView> {
    let open = |node: &&NodeView| node.status == NodeStatus::Unknown && node.port.is_none();
    view.nodes.iter().filter(open)
}
