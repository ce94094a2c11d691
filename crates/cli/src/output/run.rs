//! A run and its nodes as people read them.

use host::api::{
    AgainCause, CheckEnd, CheckResult, FailReason, NodeStatus, NodeView, Proof, RunReport, RunView,
};

use super::{escape, gist, spent, time};
use crate::style::{Paint, Style};

/// Lines of a prompt that are shown.
const PROMPT_LINES: usize = 200;

/// The lines about the run, then one a node.
pub(crate) fn render(report: &RunReport, style: Style, width: usize) -> Vec<String> {
    let mut lines = heading(report, style);
    lines.push(String::new());
    lines.extend(nodes(&report.view, style, width));
    lines
}

fn heading(report: &RunReport, style: Style) -> Vec<String> {
    let view = &report.view;
    let mut rows = vec![
        ("run", report.run_id.clone()),
        ("automation", automation(report)),
        ("status", status(report, style)),
    ];
    if let Some(failure) = &view.failure {
        rows.push((
            "failure",
            escape::text(failure.message.trim_end()).replace('\n', "\n            "),
        ));
    }
    if let Some(proof) = view.proof {
        rows.push(("proof", proof_line(proof, style)));
    }
    if let Some(started) = view.started_at {
        let took = time::between(view.started_at, view.updated_at);
        let took = took.map(|took| format!(", {took} up to the last event")).unwrap_or_default();
        rows.push(("started", format!("{}{took}", time::instant(started))));
    }
    rows.extend(spent::line(&view.spending).map(|line| ("spent", line)));
    rows.push(("folder", escape::line(&report.run_dir.display().to_string()).into_owned()));
    if let Some(workspace) = &report.workspace {
        rows.push(("workspace", escape::line(workspace).into_owned()));
    }
    if let Some(worktree) = &report.worktree {
        let branch = escape::line(&worktree.branch);
        let gone = if report.has_worktree { "" } else { ", which is removed" };
        let base = worktree.base.get(..12).unwrap_or(&worktree.base);
        let from = escape::line(&worktree.repo_root);
        rows.push(("worktree", format!("{branch}{gone}, from {base} of {from}")));
    }
    if let Some(of) = &view.retry_of {
        rows.push(("retry of", escape::line(of).into_owned()));
    }
    if !report.retried_as.is_empty() {
        rows.push(("retried as", escape::line(&report.retried_as.join(", ")).into_owned()));
    }
    if report.unverified {
        rows.push(("log", "unverified: it was not written by this program".to_owned()));
    }
    if report.torn_bytes > 0 {
        let text = format!(
            "{} bytes of a torn last write; the next owner sets them aside",
            report.torn_bytes
        );
        rows.push(("log", text));
    }
    let line = |(name, value): (&str, String)| {
        format!("{} {value}", style.paint(Paint::Faint, &format!("{name:<11}")))
    };
    rows.into_iter().map(line).collect()
}

/// What the nodes of a run say of themselves, as far as that is known.
fn proof_line(proof: Proof, style: Style) -> String {
    match proof {
        Proof::Proven => style.paint(Paint::Good, "proven: every check held"),
        Proof::Claimed => "claimed: agents say so, and nothing checked it".to_owned(),
        Proof::Unknown => style.paint(Paint::Bad, "unknown: some check could not be made"),
        Proof::Contradicted => {
            style.paint(Paint::Bad, "contradicted: something says that it is done and is not")
        }
    }
}

fn automation(report: &RunReport) -> String {
    let (id, name) = (escape::line(&report.blueprint_id), escape::line(&report.view.name));
    if name.is_empty() || name == id { id.into_owned() } else { format!("{name} ({id})") }
}

fn status(report: &RunReport, style: Style) -> String {
    let view = &report.view;
    if report.ownerless {
        let text = format!("{} interrupted, not yet recorded", style.sign("‽", "!"));
        return style.paint(Paint::Bad, &text);
    }
    let look = view.look();
    let waits = view.waits_for_limit.then_some("limit");
    let reason = view.reason().map(FailReason::word).or(waits);
    let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    let unknown = if view.unknown_effect { ", outcome unknown" } else { "" };
    let word = format!("{}{reason}{unknown}", view.status.word().replace('_', " "));
    format!("{} {}", style.run_icon(look), style.run_word(look, &word))
}

fn nodes(view: &RunView, style: Style, width: usize) -> Vec<String> {
    let ids = view.nodes.iter().map(|node| escape::line(node.id.as_str()).chars().count());
    let column = ids.max().unwrap_or(0).clamp(4, 24);
    view.nodes.iter().flat_map(|node| lines_of(node, style, column, width)).collect()
}

fn lines_of(node: &NodeView, style: Style, column: usize, width: usize) -> Vec<String> {
    let id = escape::line(node.id.as_str());
    let attempt =
        if node.attempt.0 > 1 { format!("attempt {}", node.attempt) } else { String::new() };
    let took = time::between(node.started_at, node.ended_at).unwrap_or_default();
    let room = width.saturating_sub(column + 36).max(20);
    let what = match (&node.error, &node.port, &node.output) {
        (Some(error), _, _) => {
            let code = style.paint(
                Paint::Faint,
                &format!("[{} {}]", error.class.word(), escape::line(&error.code)),
            );
            format!("{} {code}", gist::first_line(&error.message, room))
        }
        (None, Some(port), Some(output)) if port != "out" => {
            let reason =
                output.get("reason").and_then(serde_json::Value::as_str).unwrap_or_default();
            let reason = gist::first_line(reason, room);
            format!("{} {}  {reason}", style.arrow(), escape::line(port))
        }
        (None, _, Some(output)) => gist::gist(output, room),
        (None, _, None) => String::new(),
    };
    let head = format!(
        " {} {id:<column$}  {:<9} {took:>7}  {attempt}{}{what}",
        style.node_icon(node.status),
        node.status.word(),
        if attempt.is_empty() { "" } else { "  " },
    );
    let mut lines = vec![head.trim_end().to_owned()];
    lines.extend(node.checks.iter().map(|check| check_line(check, style)));
    if node.again == Some(AgainCause::Limit)
        && let Some(wake) = node.wake
    {
        let until = time::instant(wake);
        lines.push(format!("     waits until {until} for the limit; `run resume` tries at once"));
    }
    if let (NodeStatus::Waiting, Some(prompt)) = (node.status, &node.prompt) {
        let prompt = prompt.trim_end().lines().take(PROMPT_LINES);
        lines.extend(
            prompt.map(|line| format!("     {}", escape::text(line)).trim_end().to_owned()),
        );
    }
    lines
}

/// What was checked of a claim, and what came of it.
fn check_line(result: &CheckResult, style: Style) -> String {
    let (sign, paint) = match result.end {
        CheckEnd::Held => (style.sign("✓", "+"), Paint::Good),
        CheckEnd::Broken => (style.sign("✗", "x"), Paint::Bad),
        CheckEnd::Unknown => (style.sign("‽", "!"), Paint::Bad),
    };
    let note = result.note.as_ref().map(|note| format!(": {}", escape::line(note)));
    let check = escape::line(&result.check);
    format!("     {} {check}{}", style.paint(paint, sign), note.unwrap_or_default())
}
