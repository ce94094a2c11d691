//! Finds attributes, test items and functions in blanked code. Pure.

use std::ops::Range;

use super::words;

/// `#[…]` or `#![…]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attribute {
    /// With the brackets.
    pub(crate) range: Range<usize>,
    /// What stands between the brackets.
    pub(crate) text: String,
    pub(crate) inner: bool,
}

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function<'a> {
    pub(crate) name: &'a str,
    /// From `fn` to the closing brace.
    pub(crate) range: Range<usize>,
}

pub(crate) fn attributes(code: &str) -> Vec<Attribute> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = code[at..].find('#').map(|offset| at + offset) {
        let after = &code[start + 1..];
        let inner = after.starts_with('!');
        let open = start + 1 + usize::from(inner);
        at = start + 1;
        if !code[open..].starts_with('[') {
            continue;
        }
        let end = closing(code, open);
        let text = code[open + 1..end.saturating_sub(1).max(open + 1)].trim().to_owned();
        found.push(Attribute { range: start..end, text, inner });
        at = end;
    }
    found
}

/// The items under `#[cfg(test)]` and the like, from their attribute on. A
/// whole file under `#![cfg(test)]` is one.
pub(crate) fn test_items(code: &str, attributes: &[Attribute]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for attribute in attributes.iter().filter(|attribute| is_test_cfg(&attribute.text)) {
        let start = attribute.range.start;
        if found.last().is_some_and(|last| last.contains(&start)) {
            continue;
        }
        let end = if attribute.inner { code.len() } else { item_end(code, attribute.range.end) };
        found.push(start..end);
    }
    found
}

pub(crate) fn functions(code: &str) -> Vec<Function<'_>> {
    let all: Vec<(usize, &str)> = words(code).collect();
    all.windows(2)
        .filter(|pair| pair[0].1 == "fn")
        .filter_map(|pair| {
            let (start, (after, name)) = (pair[0].0, pair[1]);
            // A pointer type has no name: `fn(u8)`.
            let is_named = code[start + "fn".len()..after].trim().is_empty();
            let body = is_named.then(|| body_start(code, after + name.len()))??;
            Some(Function { name, range: start..closing(code, body) })
        })
        .collect()
}

fn is_test_cfg(attribute: &str) -> bool {
    let mut inside = words(attribute).map(|(_, word)| word);
    inside.next() == Some("cfg")
        && words(attribute).any(|(_, word)| word == "test")
        && !words(attribute).any(|(_, word)| word == "not" || word == "any")
}

/// The end of the item that follows an attribute.
fn item_end(code: &str, from: usize) -> usize {
    let mut at = from;
    while let Some(c) = code[at..].chars().next() {
        match c {
            ';' => return at + 1,
            '{' => return closing(code, at),
            '(' | '[' => at = closing(code, at),
            _ => at += c.len_utf8(),
        }
    }
    code.len()
}

/// Where the body of a function begins, if it has one.
fn body_start(code: &str, from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(c) = code[at..].chars().next() {
        match c {
            ';' => return None,
            '{' => return Some(at),
            '(' | '[' => at = closing(code, at),
            _ => at += c.len_utf8(),
        }
    }
    None
}

/// The offset behind the bracket that closes the one at `open`.
fn closing(code: &str, open: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, byte) in code[open..].bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return open + offset + 1;
        }
    }
    code.len()
}
