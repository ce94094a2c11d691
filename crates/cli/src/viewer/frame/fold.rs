//! More nodes than rows: what is at work stays, what is settled becomes a
//! number, then what is to come. Pure.

use host::api::NodeStatus;

use crate::output::columns::{self, Line};
use crate::style::{Paint, Style};

/// The lines of one node, which stay together.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) status: NodeStatus,
    pub(super) lines: Vec<String>,
}

/// How soon a node gives up its place, the first one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rank {
    Settled,
    ToCome,
    /// At work, or somebody should look at it.
    Wanted,
}

/// How many nodes were folded.
#[derive(Debug, Default)]
struct Folded {
    done: usize,
    skipped: usize,
    cancelled: usize,
    to_come: usize,
    running: usize,
    waiting: usize,
    failed: usize,
    unknown: usize,
}

/// The lines of the blocks in at most `room` rows.
pub(super) fn fit(blocks: Vec<Block>, room: usize, columns: usize, style: Style) -> Vec<String> {
    let rows: Vec<usize> = blocks.iter().map(|block| block.rows(columns)).collect();
    let mut left: usize = rows.iter().sum();
    let mut folded = Folded::default();
    let mut is_shown = vec![true; blocks.len()];
    for ix in order(&blocks) {
        if left + folded.rows() <= room {
            break;
        }
        is_shown[ix] = false;
        left -= rows[ix];
        folded.count(blocks[ix].status);
    }
    let shown = blocks.into_iter().zip(is_shown).filter(|(_, is_shown)| *is_shown);
    let mut lines: Vec<String> = folded.settled(columns, style).into_iter().collect();
    lines.extend(shown.flat_map(|(block, _)| block.lines));
    lines.extend(folded.others(columns, style));
    if left == 0 {
        lines.truncate(room);
    }
    lines
}

/// Settled nodes from the first on, then those to come from the last on,
/// then the others from the last on.
fn order(blocks: &[Block]) -> Vec<usize> {
    let of = |rank: Rank| {
        let ranked = blocks.iter().enumerate().filter(move |(_, block)| block.rank() == rank);
        ranked.map(|(ix, _)| ix)
    };
    of(Rank::Settled).chain(of(Rank::ToCome).rev()).chain(of(Rank::Wanted).rev()).collect()
}

impl Block {
    fn rows(&self, columns: usize) -> usize {
        self.lines.iter().map(|line| columns::rows(line, columns)).sum()
    }

    fn rank(&self) -> Rank {
        match self.status {
            NodeStatus::Completed | NodeStatus::Skipped | NodeStatus::Cancelled => Rank::Settled,
            NodeStatus::Pending => Rank::ToCome,
            NodeStatus::Running
            | NodeStatus::Waiting
            | NodeStatus::Failed
            | NodeStatus::Unknown => Rank::Wanted,
        }
    }
}

impl Folded {
    fn count(&mut self, status: NodeStatus) {
        let place = match status {
            NodeStatus::Completed => &mut self.done,
            NodeStatus::Skipped => &mut self.skipped,
            NodeStatus::Cancelled => &mut self.cancelled,
            NodeStatus::Pending => &mut self.to_come,
            NodeStatus::Running => &mut self.running,
            NodeStatus::Waiting => &mut self.waiting,
            NodeStatus::Failed => &mut self.failed,
            NodeStatus::Unknown => &mut self.unknown,
        };
        *place += 1;
    }

    /// The rows that the numbers take.
    fn rows(&self) -> usize {
        let settled = self.done + self.skipped + self.cancelled;
        let wanted = self.running + self.waiting + self.failed + self.unknown;
        [settled, self.to_come, wanted].iter().filter(|count| **count > 0).count()
    }

    fn settled(&self, columns: usize, style: Style) -> Option<String> {
        let counts =
            [(self.done, "done"), (self.skipped, "skipped"), (self.cancelled, "cancelled")];
        let icon = if self.done > 0 { NodeStatus::Completed } else { NodeStatus::Skipped };
        number(icon, &counts, columns, style)
    }

    fn others(&self, columns: usize, style: Style) -> Vec<String> {
        let wanted = [
            (self.running, "at work"),
            (self.waiting, "waiting"),
            (self.failed, "failed"),
            (self.unknown, "unknown"),
        ];
        let to_come = [(self.to_come, "to come")];
        let wanted = number(NodeStatus::Running, &wanted, columns, style);
        wanted.into_iter().chain(number(NodeStatus::Pending, &to_come, columns, style)).collect()
    }
}

/// The counts that are not zero; nothing when all are.
fn number(
    icon: NodeStatus,
    counts: &[(usize, &str)],
    columns: usize,
    style: Style,
) -> Option<String> {
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = counts.map(|(count, word)| format!("{count} {word}")).collect();
    let text = words.join(style.sign(" · ", " - "));
    let mut line = Line::new(style, columns.saturating_sub(1));
    line.plain(" ");
    line.whole(&style.node_icon(icon));
    line.plain(" ");
    line.paint(Paint::Faint, &text);
    (!text.is_empty()).then(|| line.finish())
}
