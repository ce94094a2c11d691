//! An event as a line for people. Pure.

use host::api::{
    AgainCause, Attempt, Caught, Child, Event, Fact, NodeError, NodeStatus, Proof, RunStarted,
    Timestamp,
};
use serde_json::Value;

use crate::output::{escape, gist, time};
use crate::style::{Paint, Style};

/// Lines of a prompt or an error that are shown before the rest is left to
/// `run show`.
const LINES_MAX: usize = 30;

/// Columns of the time, the icon and the gaps.
const TIME_WIDTH: usize = 7;
const MARGIN: usize = TIME_WIDTH + 5;

/// How lines of one run look.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) style: Style,
    pub(crate) began: Option<Timestamp>,
    /// The width of the column of node ids.
    pub(crate) nodes: usize,
    /// The width of the terminal.
    pub(crate) width: usize,
}

/// What an event says, before it is laid out.
#[derive(Debug)]
struct Said {
    icon: String,
    text: String,
    below: Vec<String>,
}

impl Layout {
    pub(crate) fn of<'a>(
        nodes: impl IntoIterator<Item = &'a str>,
        began: Option<Timestamp>,
        style: Style,
        width: usize,
    ) -> Self {
        let length = |id: &str| escape::line(id).chars().count();
        let longest = nodes.into_iter().map(length).max().unwrap_or(0);
        Self { style, began, nodes: longest.clamp(4, 24), width }
    }

    /// Adds the line, or lines, of an event. The last event of a run has none,
    /// since the summary tells it.
    pub(crate) fn event(&self, event: &Event, lines: &mut String) -> bool {
        let Some(Said { icon, text, below }) = self.said(&event.fact) else { return false };
        let at = time::length(event.at.since(self.began.unwrap_or(event.at)));
        let at = self.style.paint(Paint::Faint, &format!("{at:>TIME_WIDTH$}"));
        for part in [&at, "  ", &icon, " "] {
            lines.push_str(part);
        }
        let node = event.fact.node().map(ToString::to_string).unwrap_or_default();
        let node = escape::line(&node);
        lines.push_str(&node);
        lines.extend(std::iter::repeat_n(' ', self.nodes.saturating_sub(node.chars().count())));
        lines.push_str("  ");
        lines.push_str(&text);
        end_line(lines);
        for line in below {
            lines.extend(std::iter::repeat_n(' ', self.indent()));
            lines.push_str(&line);
            end_line(lines);
        }
        true
    }

    /// Where the text of a line begins.
    pub(crate) fn indent(&self) -> usize {
        MARGIN + self.nodes + 1
    }

    fn room(&self) -> usize {
        self.width.saturating_sub(self.indent()).max(20)
    }

    fn said(&self, fact: &Fact) -> Option<Said> {
        let said = |status, text: String| {
            Some(Said { icon: self.style.node_icon(status), text, below: Vec::new() })
        };
        match fact {
            Fact::RunStarted(started) => said(NodeStatus::Running, begun(started)),
            Fact::RunAdopted { cut, .. } => said(NodeStatus::Running, adopted(*cut)),
            Fact::RunResumed { actor, .. } => {
                said(NodeStatus::Running, signed("resumed", actor, None))
            }
            Fact::NodeStarted { attempt, child, .. } => {
                said(NodeStatus::Running, launched(*attempt, child.as_deref()))
            }
            Fact::NodeCompleted { output, .. } => {
                said(NodeStatus::Completed, gist::gist(output, self.room()))
            }
            Fact::DecisionCompleted { output, port, .. } => {
                said(NodeStatus::Completed, self.chosen(port.as_str(), Some(output)))
            }
            Fact::BranchTaken { port, .. } => {
                said(NodeStatus::Completed, self.chosen(port.as_str(), None))
            }
            Fact::StateUpdated { entries, .. } => {
                let keys: Vec<&str> = entries.keys().map(String::as_str).collect();
                let text = format!("storage: {}", keys.join(", "));
                said(NodeStatus::Running, gist::first_line(&text, self.room()))
            }
            Fact::Notification { message, .. } => {
                self.long(NodeStatus::Running, "notice: ", message)
            }
            Fact::NodeSkipped { .. } => said(NodeStatus::Skipped, "skipped".to_owned()),
            Fact::NodeFailed { error, caught, .. } => {
                self.long(NodeStatus::Failed, handled(*caught), &error.message)
            }
            Fact::AttemptFailed { attempt, error, wake, cause, .. } => {
                self.again(*attempt, error, *wake, *cause)
            }
            Fact::AttemptUnknown { message, .. } => {
                self.long(NodeStatus::Unknown, "outcome unknown: ", message)
            }
            Fact::NodeCancelled { .. } => said(NodeStatus::Cancelled, "cancelled".to_owned()),
            Fact::LoopIteration { .. }
            | Fact::LoopCompleted { .. }
            | Fact::ForEachStarted { .. }
            | Fact::ItemCompleted { .. }
            | Fact::ItemFailed { .. }
            | Fact::ForEachCompleted { .. } => self.container(fact),
            Fact::WaitStarted { until, .. } => {
                said(NodeStatus::Waiting, format!("waits until {until}"))
            }
            Fact::UsageReported { .. }
            | Fact::SessionReported { .. }
            | Fact::NodeClaimed { .. }
            | Fact::ProofStarted { .. }
            | Fact::ProofInterrupted { .. }
            | Fact::ProofReported { .. } => self.claim(fact),
            Fact::BudgetNotice { .. } | Fact::BudgetReached { .. } => self.word(fact),
            Fact::DeadlinePassed { deadline } => {
                said(NodeStatus::Failed, format!("out of time: the deadline was {deadline}"))
            }
            Fact::AwaitingApproval { .. }
            | Fact::ApprovalGranted { .. }
            | Fact::ApprovalRejected { .. }
            | Fact::CancelRequested { .. }
            | Fact::SignalRefused { .. } => self.word(fact),
            Fact::RunCompleted | Fact::RunFailed { .. } => None,
        }
    }

    fn again(
        &self,
        attempt: Attempt,
        error: &NodeError,
        wake: Option<Timestamp>,
        cause: AgainCause,
    ) -> Option<Said> {
        if let (AgainCause::Limit, Some(wake)) = (cause, wake) {
            let intro = format!("waits until {wake} for the limit of its provider: ");
            return self.long(NodeStatus::Waiting, &intro, &error.message);
        }
        let when = wake.map(|wake| format!(" at {wake}")).unwrap_or_default();
        let intro = format!("attempt {attempt} failed and is tried again{when}: ");
        self.long(NodeStatus::Failed, &intro, &error.message)
    }

    /// What a node says of itself, and what is found out about that. Where it
    /// is not so, the end that follows says why.
    #[expect(clippy::wildcard_enum_match_arm, reason = "it is called with claims alone")]
    fn claim(&self, fact: &Fact) -> Option<Said> {
        let said = |status, text: &str| {
            let (icon, text) = (self.style.node_icon(status), text.to_owned());
            Some(Said { icon, text, below: Vec::new() })
        };
        match fact {
            Fact::NodeClaimed { .. } => {
                said(NodeStatus::Running, "claims success, which is checked now")
            }
            Fact::ProofInterrupted { .. } => {
                said(NodeStatus::Running, "its checks were cut short and are made again")
            }
            Fact::ProofReported { proof: Proof::Proven, checks, .. } => match checks.len() {
                1 => said(NodeStatus::Completed, "proven: its check holds"),
                _ => said(NodeStatus::Completed, "proven: all checks hold"),
            },
            _ => None,
        }
    }

    /// What people say and are asked, and what is spent.
    #[expect(clippy::wildcard_enum_match_arm, reason = "it is called with words alone")]
    fn word(&self, fact: &Fact) -> Option<Said> {
        let said = |status, text: String| {
            Some(Said { icon: self.style.node_icon(status), text, below: Vec::new() })
        };
        match fact {
            Fact::BudgetNotice { limit } => {
                let text = format!("four fifths of the budget's `{}` are spent", limit.word());
                said(NodeStatus::Waiting, text)
            }
            Fact::BudgetReached { limit } => {
                let text = format!("the budget's `{}` is spent; nothing new starts", limit.word());
                said(NodeStatus::Waiting, self.style.paint(Paint::Attention, &text))
            }
            Fact::AwaitingApproval { prompt, .. } => Some(self.gate(prompt.as_deref())),
            Fact::ApprovalGranted { actor, note, .. } => {
                said(NodeStatus::Completed, signed("approved", actor, note.as_deref()))
            }
            Fact::ApprovalRejected { actor, note, .. } => {
                said(NodeStatus::Failed, signed("rejected", actor, note.as_deref()))
            }
            Fact::CancelRequested { actor, note, .. } => {
                said(NodeStatus::Cancelled, signed("cancel requested", actor, note.as_deref()))
            }
            Fact::SignalRefused { verb, actor, message, .. } => {
                let refused = signed(&escape::line(verb), actor, None);
                said(NodeStatus::Skipped, format!("{refused} refused: {}", escape::line(message)))
            }
            _ => None,
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "it is called with containers alone")]
    fn container(&self, fact: &Fact) -> Option<Said> {
        let said = |status, text: String| {
            Some(Said { icon: self.style.node_icon(status), text, below: Vec::new() })
        };
        match fact {
            Fact::LoopIteration { iteration, begin, .. } => {
                let most = begin.as_ref().map(|begin| format!(" of at most {}", begin.most));
                let text = format!("round {}{}", iteration.0 + 1, most.unwrap_or_default());
                said(NodeStatus::Running, text)
            }
            Fact::LoopCompleted { .. } => said(NodeStatus::Completed, "done".to_owned()),
            Fact::ForEachStarted { items, .. } => {
                let noun = if items.len() == 1 { "item" } else { "items" };
                said(NodeStatus::Running, format!("{} {noun}", items.len()))
            }
            Fact::ItemCompleted { index, output, .. } => {
                let text = format!("item {index}: {}", gist::gist(output, self.room()));
                said(NodeStatus::Completed, text)
            }
            Fact::ItemFailed { index, error, .. } => {
                self.long(NodeStatus::Failed, &format!("item {index}: "), &error.message)
            }
            Fact::ForEachCompleted { .. } => said(NodeStatus::Completed, "done".to_owned()),
            _ => None,
        }
    }

    /// The way that was taken, and the reason when one was given.
    fn chosen(&self, port: &str, output: Option<&Value>) -> String {
        let choice = self.style.paint(Paint::Strong, &escape::line(port));
        let reason = output.and_then(|output| output.get("reason")).and_then(Value::as_str);
        let room = self.room().saturating_sub(port.chars().count() + 4).max(20);
        let reason = reason.map(|reason| {
            format!("  {}", self.style.paint(Paint::Faint, &gist::first_line(reason, room)))
        });
        format!("{} {choice}{}", self.style.arrow(), reason.unwrap_or_default())
    }

    fn gate(&self, prompt: Option<&str>) -> Said {
        Said {
            icon: self.style.node_icon(NodeStatus::Waiting),
            text: self.style.paint(Paint::Attention, "waits for approval"),
            below: prompt.map(|prompt| excerpt(prompt, self.style)).unwrap_or_default(),
        }
    }

    /// A text whose first line follows the intro and whose rest stands below.
    fn long(&self, status: NodeStatus, intro: &str, text: &str) -> Option<Said> {
        let mut lines = excerpt(text, self.style);
        let first = if lines.is_empty() { String::new() } else { lines.remove(0) };
        let icon = self.style.node_icon(status);
        Some(Said { icon, text: format!("{intro}{first}"), below: lines })
    }
}

/// Ends the last line; what is blank at its end is left out.
fn end_line(lines: &mut String) {
    lines.truncate(lines.trim_end_matches([' ', '\t', '\r']).len());
    lines.push('\n');
}

/// The lines of a long text; too many of them are left to `run show`.
pub(super) fn excerpt(text: &str, style: Style) -> Vec<String> {
    let mut lines: Vec<String> =
        text.trim_end().lines().map(|line| escape::text(line).into_owned()).collect();
    if lines.len() > LINES_MAX {
        let more = lines.len() - LINES_MAX;
        lines.truncate(LINES_MAX);
        lines.push(style.paint(Paint::Faint, &format!("({more} more lines in `run show`)")));
    }
    lines
}

fn begun(started: &RunStarted) -> String {
    let again = started.retry_of.as_ref().map(|of| format!(", trying {of} again"));
    let fork = started.fork_of.as_ref().map(|(of, at)| format!(", from event {at} of {of}"));
    let parent = started.parent.as_ref().map(|of| format!(", for {} of {}", of.node, of.run_id));
    let more: String = again.into_iter().chain(fork).chain(parent).collect();
    format!("{} started{more}", started.blueprint_id)
}

fn launched(attempt: Attempt, child: Option<&Child>) -> String {
    let nth = if attempt.0 > 1 { format!(", attempt {attempt}") } else { String::new() };
    match child {
        Some(child) => format!("started run {} of {}{nth}", child.run_id, child.automation),
        None => format!("started{nth}"),
    }
}

fn handled(caught: Option<Caught>) -> &'static str {
    match caught {
        Some(Caught::Port) => "failed, and the run goes on by `error`: ",
        Some(Caught::Item) => "failed, and so does the item: ",
        Some(Caught::Container) => "failed, and so does what is around it: ",
        None => "",
    }
}

fn adopted(cut: u64) -> String {
    match cut {
        0 => "a new owner has the run".to_owned(),
        cut => format!("a new owner has the run; {cut} bytes of a torn last write set aside"),
    }
}

fn signed(what: &str, actor: &str, note: Option<&str>) -> String {
    let note = note.map(|note| format!(": {}", escape::line(note)));
    format!("{what} by {}{}", escape::line(actor), note.unwrap_or_default())
}
