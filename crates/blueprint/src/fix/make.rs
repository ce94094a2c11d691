//! From a suggestion to a change of bytes; none where the file does not hold
//! exactly what would be replaced.

use std::ops::Range;

use crate::Fix;
use crate::suggest::Near;
use crate::yaml::plain_place;

/// Puts a word in the place of the text `written`, which stands at `span`
/// with or without quotes. The quotes stay.
pub(crate) fn rename(
    file: &str,
    span: &Range<usize>,
    written: &str,
    near: Near<'_>,
) -> Option<Fix> {
    let span = plain_place(file, span, written, &(0..written.len()))?;
    is_word(near.word).then(|| Fix { span, text: near.word.to_owned(), safe: near.sure })
}

/// Where the id `written` stands in the part `path` of a text.
pub(crate) fn id_in_path(text: &str, path: &Range<usize>, written: &str) -> Option<Range<usize>> {
    /// What comes before the id of a node in every path.
    const ROOT: &str = "nodes";
    let source = text.get(path.clone())?;
    let root = source.find(ROOT)? + ROOT.len();
    let at = path.start + root + source[root..].find(written)?;
    Some(at..at + written.len())
}

/// Takes an item out of a list, together with its dash or comma. The first
/// item of a list in brackets and one with a comment stay.
pub(crate) fn removal(file: &str, item: &Range<usize>) -> Option<Fix> {
    let removed = block_item(file, item).or_else(|| flow_item(file, item))?;
    let clean = !file.get(removed.clone())?.contains('#');
    clean.then(|| Fix { span: removed, text: String::new(), safe: true })
}

/// The lines of an item that begins with a dash.
fn block_item(file: &str, item: &Range<usize>) -> Option<Range<usize>> {
    let before = file.get(..item.start)?.trim_end_matches(' ').strip_suffix('-')?;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let rest = file.get(item.end..)?;
    let end = rest.find('\n')?;
    let alone = before[start..].trim().is_empty() && rest[..end].trim().is_empty();
    alone.then(|| start..item.end + end + 1)
}

/// An item in brackets, from the comma before it.
fn flow_item(file: &str, item: &Range<usize>) -> Option<Range<usize>> {
    let before = file.get(..item.start)?.trim_end().strip_suffix(',')?;
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    // The comma may be the end of a comment.
    (!before[line..].contains('#')).then_some(before.len()..item.end)
}

/// A text that YAML reads as this text, with or without quotes.
fn is_word(text: &str) -> bool {
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins && plain && !matches!(text, "null" | "true" | "false")
}
