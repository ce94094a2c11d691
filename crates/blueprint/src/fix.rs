//! Mending a file by the changes that its findings carry. Only the bytes of a
//! change are touched. Changes that leave the file worse than it was are taken
//! back; of several that were made together, as few as possible.

pub(crate) mod make;
mod style;
#[cfg(test)]
mod tests;

use std::ops::Range;

use durable::limits;

use crate::{Checked, Finding, Fix, Rule, Severity};

pub use style::lint;

/// A file after its safe changes.
#[derive(Debug, Clone)]
pub struct Fixed {
    pub bytes: Vec<u8>,
    /// What was done, in the order in which it was.
    pub done: Vec<Done>,
    /// What [`lint`] says of `bytes`.
    pub checked: Checked,
}

/// One change that was made.
#[derive(Debug, Clone)]
pub struct Done {
    /// Its places are those of the file as it was just before.
    pub finding: Finding,
    /// The lines that it touched, whole, before and after.
    pub before: String,
    pub after: String,
}

/// A change, and the lines that it touches.
struct Change {
    finding: Finding,
    fix: Fix,
    lines: Range<usize>,
}

/// Makes every safe change of a file that makes nothing worse.
pub fn fix(bytes: &[u8]) -> Fixed {
    let mut fixed = Fixed { bytes: bytes.to_vec(), done: Vec::new(), checked: lint(bytes) };
    let mut refused: Vec<(Rule, usize)> = Vec::new();
    let mut most = usize::MAX;
    // A file has no more findings than this, so that it ends on any file.
    for _ in 0..limits::FINDINGS {
        let changes = next(&fixed, &refused, most);
        let Some(first) = changes.first() else { break };
        let changed = apply(&fixed.bytes, &changes);
        let checked = lint(&changed);
        if !is_worse(&fixed.checked, &checked, &changes) {
            fixed.done.extend(changes.iter().map(|change| done(&fixed.bytes, change)));
            (fixed.bytes, fixed.checked) = (changed, checked);
            // What would have been an error may be none now.
            refused.clear();
            most = usize::MAX;
        } else if changes.len() == 1 {
            refused.push((first.finding.rule, first.finding.span.start));
            most = usize::MAX;
        } else {
            most = changes.len() / 2;
        }
    }
    fixed
}

/// The first safe changes, on lines of their own.
fn next(fixed: &Fixed, refused: &[(Rule, usize)], most: usize) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for finding in &fixed.checked.findings {
        let Some(fix) = finding.fix.clone().filter(|fix| fix.safe) else { continue };
        let lines = lines(&fixed.bytes, &fix);
        let apart =
            |other: &Change| other.lines.end <= lines.start || lines.end <= other.lines.start;
        let open = !refused.contains(&(finding.rule, finding.span.start));
        if open && changes.iter().rev().all(apart) {
            changes.push(Change { finding: finding.clone(), fix, lines });
        }
        if changes.len() == most {
            break;
        }
    }
    changes.sort_by_key(|change| (change.fix.span.start, change.fix.span.end));
    changes
}

fn apply(bytes: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 16);
    let mut at = 0;
    for Change { fix, .. } in changes {
        out.extend_from_slice(&bytes[at..fix.span.start]);
        out.extend_from_slice(fix.text.as_bytes());
        at = fix.span.end;
    }
    out.extend_from_slice(&bytes[at..]);
    out
}

fn done(bytes: &[u8], change: &Change) -> Done {
    let Change { finding, fix, lines } = change;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (head, tail) = (&bytes[lines.start..fix.span.start], &bytes[fix.span.end..lines.end]);
    let after = [head, fix.text.as_bytes(), tail].concat();
    Done { finding: finding.clone(), before: text(&bytes[lines.clone()]), after: text(&after) }
}

/// Whether an error is there after the changes that was not there before: at
/// the same place, or with the same words where its place has changed.
fn is_worse(before: &Checked, after: &Checked, changes: &[Change]) -> bool {
    let mut known: Vec<(&Finding, usize)> =
        errors(before).map(|error| (error, moved(error.span.start, changes))).collect();
    let uncover = changes.iter().all(|change| uncovers(change.finding.rule));
    let is_written = |span: &Range<usize>| {
        changes.iter().enumerate().any(|(nth, Change { fix, .. })| {
            let start = moved(fix.span.start, &changes[..nth]);
            start <= span.start && span.end <= start + fix.text.len()
        })
    };
    errors(after).any(|error| {
        let same = |(old, at): &(&Finding, usize)| {
            old.rule == error.rule && (*at == error.span.start || old.message == error.message)
        };
        match known.iter().position(same) {
            Some(at) => {
                known.swap_remove(at);
                false
            }
            None => !uncover || is_written(&error.span),
        }
    })
}

fn errors(checked: &Checked) -> impl Iterator<Item = &Finding> {
    checked.findings.iter().filter(|finding| finding.severity == Severity::Error)
}

/// What stands under a mistyped key, field or type is judged only when that
/// is mended. Faults that come to light then were there before.
fn uncovers(rule: Rule) -> bool {
    matches!(rule, Rule::UnknownKey | Rule::UnknownField | Rule::UnknownNodeType)
}

/// Where a place of the file is after the changes.
fn moved(at: usize, changes: &[Change]) -> usize {
    changes.iter().rev().fold(at, |at, Change { fix, .. }| {
        if at < fix.span.start {
            at
        } else if at < fix.span.end {
            fix.span.start
        } else {
            at - fix.span.len() + fix.text.len()
        }
    })
}

/// The lines that a change touches; none for one between two lines.
fn lines(bytes: &[u8], fix: &Fix) -> Range<usize> {
    let is_end = |byte: &u8| *byte == b'\n';
    let start = bytes[..fix.span.start].iter().rposition(is_end).map_or(0, |at| at + 1);
    let whole = fix.span.end == start || bytes[..fix.span.end].ends_with(b"\n");
    let rest = bytes[fix.span.end..].iter().position(is_end);
    let end = match rest {
        _ if whole => fix.span.end,
        Some(at) => fix.span.end + at + 1,
        None => bytes.len(),
    };
    start..end
}
