//! Mending a file by the changes that its findings carry. Only the bytes of a
//! change are touched, each change is made by itself, and one that leaves the
//! file worse than it was is taken back.

pub(crate) mod make;
mod style;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
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
    /// Its places are those of the file just before this change.
    pub finding: Finding,
    /// The lines that it touched, whole, before and after.
    pub before: String,
    pub after: String,
}

/// Makes every safe change of a file that makes nothing worse.
pub fn fix(bytes: &[u8]) -> Fixed {
    let mut fixed = Fixed { bytes: bytes.to_vec(), done: Vec::new(), checked: lint(bytes) };
    let mut refused: Vec<(Rule, usize)> = Vec::new();
    // A file has no more findings than this, so that it ends on any file.
    for _ in 0..limits::FINDINGS {
        let Some((finding, fix)) = next(&fixed.checked, &refused) else { break };
        let changed = change(&fixed.bytes, &fix);
        let checked = lint(&changed);
        if is_worse(&fixed.checked, &checked, finding.rule, &fix) {
            refused.push((finding.rule, finding.span.start));
            continue;
        }
        for (_, at) in &mut refused {
            *at = moved(*at, &fix);
        }
        let (before, after) = lines(&fixed.bytes, &changed, &fix);
        fixed.done.push(Done { finding, before, after });
        (fixed.bytes, fixed.checked) = (changed, checked);
    }
    fixed
}

fn next(checked: &Checked, refused: &[(Rule, usize)]) -> Option<(Finding, Fix)> {
    let mut open =
        checked.findings.iter().filter(|f| !refused.contains(&(f.rule, f.span.start))).cloned();
    open.find_map(|finding| Some((finding.clone(), finding.fix.filter(|fix| fix.safe)?)))
}

fn change(bytes: &[u8], fix: &Fix) -> Vec<u8> {
    [&bytes[..fix.span.start], fix.text.as_bytes(), &bytes[fix.span.end..]].concat()
}

/// Whether an error is there after the change that was not there before.
fn is_worse(before: &Checked, after: &Checked, rule: Rule, fix: &Fix) -> bool {
    let mut known: BTreeMap<(Rule, usize), usize> = BTreeMap::new();
    for error in errors(before) {
        *known.entry((error.rule, moved(error.span.start, fix))).or_default() += 1;
    }
    let written = fix.span.start..fix.span.start + fix.text.len();
    let at_word = |span: &Range<usize>| written.start <= span.start && span.end <= written.end;
    errors(after).any(|error| match known.get_mut(&(error.rule, error.span.start)) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        Some(_) | None => !uncovers(rule) || at_word(&error.span),
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

/// Where a place of the file is after the change.
fn moved(at: usize, fix: &Fix) -> usize {
    if at < fix.span.start {
        at
    } else if at < fix.span.end {
        fix.span.start
    } else {
        at - fix.span.len() + fix.text.len()
    }
}

/// The lines that the change touches, before and after.
fn lines(before: &[u8], after: &[u8], fix: &Fix) -> (String, String) {
    let is_end = |byte: &u8| *byte == b'\n';
    let start = before[..fix.span.start].iter().rposition(is_end).map_or(0, |at| at + 1);
    let whole = fix.span.end == start || before[..fix.span.end].ends_with(b"\n");
    let rest = &before[fix.span.end..];
    let end = match rest.iter().position(is_end) {
        _ if whole => fix.span.end,
        Some(at) => fix.span.end + at + 1,
        None => before.len(),
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&before[start..end]), text(&after[start..moved(end, fix)]))
}
