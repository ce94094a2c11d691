//! The line of one node, and what stands below it. Pure.

use host::api::{NodeSketch, NodeStatus, NodeView, Progress, Round, RunView, Span, Timestamp};
use serde_json::Value;

use super::Scene;
use crate::output::columns::{self, Line};
use crate::output::{escape, gist, time};
use crate::style::{Paint, Style};
use crate::viewer::ending;
use crate::viewer::line::excerpt;

/// How long an attempt may be silent before that is pointed out.
const SILENT_LONG: Span = Span::from_secs(60);

/// The column of lengths of time, as wide as `1:02:05`.
const TIME_WIDTH: usize = 7;

/// Spaces before what stands below a node.
const INDENT: usize = 5;

/// The least room for what a node runs, beside what it says of its output.
const WHAT_MIN: usize = 6;

/// Room enough for whole words about the output.
const WORDS_MIN: usize = 44;

/// How the lines of all nodes are laid out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) now: Timestamp,
    pub(super) style: Style,
    ids: usize,
    columns: usize,
}

/// Further facts about a node, each a few words, in the order in which they
/// are told.
#[derive(Debug, Default)]
struct Extra(Vec<String>);

impl Layout {
    pub(super) fn new(view: &RunView, now: Timestamp, columns: usize, style: Style) -> Self {
        let longest = view.nodes.iter().map(|node| columns::width(&escape::line(node.id.as_str())));
        let ids = longest.max().unwrap_or(0).clamp(4, 24).min((columns / 4).max(4));
        Self { now, style, ids, columns }
    }

    /// The node in one line, whatever must be cut.
    pub(super) fn line(&self, scene: &Scene<'_>, node: &NodeView) -> String {
        let mut line = self.begun(node);
        match node.status {
            NodeStatus::Running if node.progress.is_none() => self.running(&mut line, scene, node),
            NodeStatus::Running => line.plain(&what(scene, node)),
            NodeStatus::Waiting if !node.is_open_gate() => self.awaited(&mut line, node),
            NodeStatus::Pending => line.paint(Paint::Faint, &what(scene, node)),
            NodeStatus::Completed => self.completed(&mut line, scene, node),
            NodeStatus::Waiting | NodeStatus::Unknown => {
                self.word(&mut line, node.status);
                let more = gist::first_line(text(node), line.room().saturating_sub(2));
                if !more.is_empty() {
                    line.plain(": ");
                    line.plain(&more);
                }
            }
            NodeStatus::Failed => line.plain(&gist::first_line(text(node), line.room())),
            NodeStatus::Skipped | NodeStatus::Cancelled => self.word(&mut line, node.status),
        }
        if node.status != NodeStatus::Running || node.progress.is_some() {
            let facts = Extra::of(node).text(self.style);
            let is_first = line.room() == self.begun(node).room();
            let facts = if is_first { self.without_separator(&facts) } else { &facts };
            line.paint(Paint::Faint, facts);
        }
        line.finish()
    }

    /// The same, and where its text does not fit into the line, the text
    /// below it.
    pub(super) fn in_full(&self, scene: &Scene<'_>, node: &NodeView) -> Vec<String> {
        let text = text(node).trim_end();
        let mut line = self.begun(node);
        self.word(&mut line, node.status);
        let fits = columns::width(&escape::line(text)) + 2 <= line.room();
        if fits && !text.contains('\n') {
            return vec![self.line(scene, node)];
        }
        line.paint(Paint::Faint, &Extra::of(node).text(self.style));
        let indent = " ".repeat(INDENT);
        let below = excerpt(text, self.style);
        let below = below.iter().map(|line| format!("{indent}{line}").trim_end().to_owned());
        std::iter::once(line.finish()).chain(below).collect()
    }

    /// The commands that answer at a gate that waits. They are never cut.
    pub(super) fn answers(&self, scene: &Scene<'_>, node: &NodeView) -> Vec<String> {
        if !node.is_open_gate() {
            return Vec::new();
        }
        let commands = ending::decide(node, scene.short, scene.program);
        let steps = ending::steps(&commands, self.style);
        let indent = " ".repeat(INDENT - 2);
        steps.into_iter().map(|step| format!("{indent}{step}")).collect()
    }

    /// Icon, name and length of time.
    fn begun(&self, node: &NodeView) -> Line {
        let mut line = Line::new(self.style, self.columns);
        line.plain(" ");
        line.whole(&self.style.node_icon(node.status));
        line.plain(" ");
        line.plain(&columns::pad(&escape::line(node.id.as_str()), self.ids, self.style));
        line.paint(Paint::Faint, &format!("  {:>TIME_WIDTH$}", took(node, self.now)));
        line.plain("   ");
        line
    }

    fn word(&self, line: &mut Line, status: NodeStatus) {
        match status {
            NodeStatus::Waiting => line.paint(Paint::Attention, "waits for approval"),
            NodeStatus::Unknown => line.paint(Paint::Bad, "outcome unknown"),
            NodeStatus::Failed => line.paint(Paint::Bad, status.word()),
            NodeStatus::Pending
            | NodeStatus::Running
            | NodeStatus::Completed
            | NodeStatus::Skipped
            | NodeStatus::Cancelled => line.paint(Paint::Faint, status.word()),
        }
    }

    /// What runs, further facts, and how long ago there was output. The last
    /// shows that something hangs, so it comes first when room is short.
    fn running(&self, line: &mut Line, scene: &Scene<'_>, node: &NodeView) {
        let separator = self.separator();
        let (said, is_late) = self.heard(scene, node, line.room() >= WORDS_MIN);
        let facts = Extra::of(node).text(self.style);
        let rest = columns::width(&facts) + columns::width(separator) + columns::width(&said);
        let room = line.room().saturating_sub(rest);
        let what = what(scene, node);
        let begin = if what.is_empty() || room < WHAT_MIN {
            self.without_separator(&facts).to_owned()
        } else {
            format!("{}{facts}", columns::fit(&what, room, self.style))
        };
        if !begin.is_empty() {
            line.plain(&begin);
            line.plain(separator);
        }
        line.paint(if is_late { Paint::Attention } else { Paint::Faint }, &said);
    }

    /// When the node last printed something, and whether that is long ago.
    fn heard(&self, scene: &Scene<'_>, node: &NodeView, at_length: bool) -> (String, bool) {
        let said = scene.activity.nodes.get(node.id.as_str()).and_then(|said| said.said_at);
        let since = said.or(node.started_at).map(|at| self.now.since(at)).unwrap_or(Span::ZERO);
        let text = match (said, at_length) {
            (None, _) => "no output yet".to_owned(),
            (Some(_), true) => format!("last output {} ago", time::ticking(since)),
            (Some(_), false) => format!("output {} ago", time::ticking(since)),
        };
        (text, since >= SILENT_LONG)
    }

    /// The way that was taken among those there are, and the reason when one
    /// was given; else the output.
    fn completed(&self, line: &mut Line, scene: &Scene<'_>, node: &NodeView) {
        let output = node.output.as_ref();
        let Some(port) = node.port.as_deref().filter(|port| *port != "out") else {
            line.plain(&output.map(|output| gist::gist(output, line.room())).unwrap_or_default());
            return;
        };
        line.plain(&format!("{} ", self.style.arrow()));
        line.paint(Paint::Strong, &escape::line(port));
        if let Some(sketch) = sketch(scene, node)
            && !sketch.ways.is_empty()
        {
            line.paint(Paint::Faint, &format!("  ({})", escape::line(&sketch.ways.join(" | "))));
        }
        let reason = output.and_then(|output| output.get("reason")).and_then(Value::as_str);
        if let Some(reason) = reason {
            line.plain("  ");
            line.paint(Paint::Faint, &gist::first_line(reason, line.room()));
        }
    }

    /// What a node waits for that is no decision.
    fn awaited(&self, line: &mut Line, node: &NodeView) {
        if let Some(child) = &node.child {
            line.plain(&format!("for run {}", escape::line(child)));
        } else if let Some(wake) = node.wake {
            let left = time::ticking(wake.since(self.now));
            line.plain(&format!("until {}, in {left}", time::instant(wake)));
        } else {
            self.word(line, node.status);
        }
    }

    fn without_separator<'a>(&self, facts: &'a str) -> &'a str {
        facts.strip_prefix(self.separator()).unwrap_or(facts)
    }

    fn separator(&self) -> &'static str {
        self.style.sign(" · ", " - ")
    }
}

impl Extra {
    fn of(node: &NodeView) -> Self {
        let mut facts = Vec::new();
        match node.progress {
            Some(Progress::Rounds { round, most }) => {
                facts.push(format!("round {round} of {most}"));
            }
            Some(Progress::Items { done, failed, count }) => {
                facts.push(format!("{done} of {count} items"));
                if failed > 0 {
                    facts.push(format!("{failed} failed"));
                }
            }
            None if node.round > Round::FIRST => {
                facts.push(format!("round {}", node.round.0.saturating_add(1)));
            }
            None => {}
        }
        if node.attempt.0 > 1 {
            facts.push(format!("attempt {}", node.attempt));
        }
        Self(facts)
    }

    /// Each behind a separator.
    fn text(&self, style: Style) -> String {
        let separator = style.sign(" · ", " - ");
        self.0.iter().map(|fact| format!("{separator}{}", escape::line(fact))).collect()
    }
}

fn took(node: &NodeView, now: Timestamp) -> String {
    match (node.status, node.started_at) {
        (NodeStatus::Running | NodeStatus::Waiting, Some(started)) => {
            time::ticking(now.since(started))
        }
        (_, _) => time::between(node.started_at, node.ended_at).unwrap_or_default(),
    }
}

/// What a gate asks, or why a node failed.
fn text(node: &NodeView) -> &str {
    match node.status {
        NodeStatus::Waiting => node.prompt.as_deref().unwrap_or_default(),
        NodeStatus::Failed | NodeStatus::Unknown => {
            node.error.as_ref().map_or("", |error| error.message.as_str())
        }
        NodeStatus::Pending
        | NodeStatus::Running
        | NodeStatus::Completed
        | NodeStatus::Skipped
        | NodeStatus::Cancelled => "",
    }
}

/// The sketch of a node, or of the node of an item.
fn sketch<'a>(scene: &Scene<'a>, node: &NodeView) -> Option<&'a NodeSketch> {
    let id = node.id.as_str();
    scene.sketches.get(id.split_once('[').map_or(id, |(node, _)| node))
}

/// What a node runs or asks, in a line.
fn what(scene: &Scene<'_>, node: &NodeView) -> String {
    let what = sketch(scene, node).map_or("", |sketch| sketch.what.as_str());
    let mut lines = what.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let more = if lines.next().is_some() { " ..." } else { "" };
    format!("{}{more}", escape::line(first))
}
