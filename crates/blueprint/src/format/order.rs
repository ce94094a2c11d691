//! The usual order of the top-level keys. A key moves with all its lines and
//! with the comments above it.

use std::ops::Range;

use crate::draft::TOP_KEYS;
use crate::yaml::{Data, Map, Yaml};

/// The front matter with its keys in order; `None` when they are, or cannot
/// be told apart by lines.
pub(super) fn by_rank(text: &str, root: &Yaml<'_>) -> Option<String> {
    let Data::Map(map) = &root.data else { return None };
    let ranks = ranks(map);
    if ranks.is_sorted() {
        return None;
    }
    let starts = key_lines(text, map)?;
    let column = map.entries[0].key_span.start - starts[0];
    let head = head(text, starts[0]);
    let mut bounds: Vec<usize> = vec![head];
    bounds.extend(starts[1..].iter().map(|start| above(text, *start, column)));
    bounds.push(above(text, text.len(), column));
    let mut parts: Vec<(usize, Range<usize>)> =
        bounds.windows(2).zip(ranks).map(|(ends, rank)| (rank, ends[0]..ends[1])).collect();
    parts.sort_by_key(|(rank, _)| *rank);
    let tail = bounds.last().copied()?;
    let mut ordered = text[..head].to_owned();
    parts.into_iter().for_each(|(_, lines)| ordered.push_str(&text[lines]));
    ordered.push_str(&text[tail..]);
    Some(ordered)
}

/// The place of each key in the usual order. One that has none stays behind
/// the key before it.
fn ranks(map: &Map<'_>) -> Vec<usize> {
    let mut last = 0;
    let rank = |key: &str| TOP_KEYS.iter().position(|known| *known == key);
    map.entries
        .iter()
        .map(|entry| {
            last = rank(&entry.key).unwrap_or(last);
            last
        })
        .collect()
}

/// The byte at which each key's line begins, when it is the first on it.
fn key_lines(text: &str, map: &Map<'_>) -> Option<Vec<usize>> {
    let start = |key: usize| {
        let line = text[..key].rfind('\n').map_or(0, |end| end + 1);
        text[line..key].bytes().all(|byte| byte == b' ').then_some(line)
    };
    map.entries.iter().map(|entry| start(entry.key_span.start)).collect()
}

/// Comments at the top that a blank line parts from the first key belong to
/// the file, and stay there.
fn head(text: &str, first: usize) -> usize {
    let mut at = first;
    for line in text[..first].split_inclusive('\n').rev() {
        if line.trim().is_empty() {
            return at;
        }
        at -= line.len();
    }
    0
}

/// Where the comments and blank lines above a line begin, as far as they
/// stand no further in than the keys.
fn above(text: &str, line: usize, column: usize) -> usize {
    let mut at = line;
    for line in text[..line].split_inclusive('\n').rev() {
        let inner = line.trim_start_matches(' ');
        let is_comment = inner.starts_with('#') && line.len() - inner.len() <= column;
        if !is_comment && !line.trim().is_empty() {
            break;
        }
        at -= line.len();
    }
    at
}
