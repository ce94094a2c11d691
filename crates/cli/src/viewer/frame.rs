//! A run drawn on a screen: a line about the run, one a node, the latest
//! output. The same run at the same instant on the same screen gives the
//! same lines, and they never take more rows than the screen has. Pure.

mod fold;
mod node;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use host::api::{
    Activity, NodeActivity, NodeSketch, NodeStatus, NodeView, RunStatus, RunView, Timestamp,
};

use crate::console::Size;
use crate::output::columns::{self, Line};
use crate::output::{escape, gist, time};
use crate::style::{Paint, Style};
use fold::Block;
use node::Layout;

/// The least rows with which the latest output, and the hint, are shown.
const ROWS_FOR_TAIL: usize = 7;
const ROWS_FOR_HINT: usize = 9;

/// What there is to draw.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) view: &'a RunView,
    pub(crate) activity: &'a Activity,
    pub(crate) sketches: &'a BTreeMap<String, NodeSketch>,
    /// What people call the run.
    pub(crate) short: &'a str,
    /// How a person calls this program.
    pub(crate) program: &'a str,
    /// What a key does.
    pub(crate) hint: &'a str,
}

/// The frame of a run that goes on. The row below it is free for the cursor.
pub(crate) fn frame(scene: &Scene<'_>, now: Timestamp, size: Size, style: Style) -> Vec<String> {
    let Size { columns, rows } = size;
    let columns = usable(columns);
    let mut room = rows.saturating_sub(2);
    let mut lines = vec![header(scene, now, columns, style)];
    let mut below = Vec::new();
    if rows >= ROWS_FOR_TAIL
        && let Some(tail) = tail(scene, columns, style)
    {
        below.push(tail);
    }
    if rows >= ROWS_FOR_HINT {
        let mut hint = Line::new(style, columns);
        hint.paint(Paint::Faint, &format!("   {}", scene.hint));
        below.push(hint.finish());
    }
    room = room.saturating_sub(below.len());
    let layout = Layout::new(scene.view, now, columns, style);
    lines.extend(fold::fit(blocks(scene, &layout), room, size.columns, style));
    lines.extend(below);
    lines
}

/// How a run looks when nobody looks on any more: every node, and in full
/// what a person needs to go on. It may be longer than a screen.
pub(crate) fn last(scene: &Scene<'_>, now: Timestamp, columns: usize, style: Style) -> Vec<String> {
    let columns = usable(columns);
    let layout = Layout::new(scene.view, now, columns, style);
    let mut lines = vec![header(scene, now, columns, style)];
    lines.extend(scene.view.nodes.iter().flat_map(|node| layout.in_full(scene, node)));
    lines
}

/// The last column stays free: a terminal may already wrap there.
fn usable(columns: usize) -> usize {
    columns.saturating_sub(1).max(1)
}

fn header(scene: &Scene<'_>, now: Timestamp, columns: usize, style: Style) -> String {
    let view = scene.view;
    let look = view.look();
    let mut line = Line::new(style, columns);
    line.whole(&style.run_icon(look));
    line.plain(" ");
    line.paint(Paint::Strong, &format!("run {}", escape::line(scene.short)));
    if let Some(automation) = &view.blueprint_id {
        line.plain(style.sign(" · ", " - "));
        line.plain(&escape::line(automation));
    }
    line.plain(style.sign(" · ", " - "));
    let reason = view.reason().map(|reason| format!(" ({})", reason.word())).unwrap_or_default();
    let unknown = if view.unknown_effect { ", outcome unknown" } else { "" };
    let degraded = if view.degraded { ", degraded" } else { "" };
    let word = format!("{}{reason}{unknown}{degraded}", view.status.word().replace('_', " "));
    line.whole(&style.run_word(look, &columns::fit(&word, line.room(), style)));
    line.plain(&format!(" {}", elapsed(view, now)));
    line.finish()
}

fn elapsed(view: &RunView, now: Timestamp) -> String {
    let Some(started) = view.started_at else { return String::new() };
    match view.status {
        RunStatus::Running | RunStatus::Waiting | RunStatus::AwaitingApproval => {
            time::ticking(now.since(started))
        }
        RunStatus::Completed | RunStatus::Failed => {
            time::between(view.started_at, view.updated_at).unwrap_or_default()
        }
    }
}

fn blocks(scene: &Scene<'_>, layout: &Layout) -> Vec<Block> {
    let block = |node: &NodeView| {
        let mut lines = vec![layout.line(scene, node)];
        lines.extend(layout.answers(scene, node));
        Block { status: node.status, lines }
    };
    scene.view.nodes.iter().map(block).collect()
}

/// The latest line of output, and whose it is.
fn tail(scene: &Scene<'_>, columns: usize, style: Style) -> Option<String> {
    let runs = |id: &str| {
        let mut nodes = scene.view.nodes.iter();
        nodes.any(|node| node.id.as_str() == id && node.status == NodeStatus::Running)
    };
    let spoke = |(id, said): &(&String, &NodeActivity)| {
        said.said_at.is_some() && !said.last_line.is_empty() && runs(id)
    };
    let (id, said) =
        scene.activity.nodes.iter().filter(spoke).max_by_key(|(_, said)| said.said_at)?;
    let mut line = Line::new(style, columns);
    line.plain(&format!(" {} ", style.sign("↳", "'")));
    line.plain(&escape::line(id));
    line.plain(": ");
    line.paint(Paint::Faint, &gist::first_line(&said.last_line, line.room()));
    Some(line.finish())
}
