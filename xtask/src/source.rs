//! Rust source as the checks look at it: which bytes are code, which comment
//! and which literal, where tests stand, where functions begin and end. It
//! knows as much of the language as the checks need and no more. Pure.

mod items;
mod lex;

use std::ops::Range;

pub(crate) use items::{Attribute, Function};

use lex::Kind;

/// One file of Rust.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    pub(crate) path: &'a str,
    pub(crate) text: &'a str,
    /// The text with comments and literals blanked; offsets stay the same.
    pub(crate) code: String,
    /// The text with literals blanked: code and comments.
    pub(crate) unquoted: String,
    pub(crate) attributes: Vec<Attribute>,
    /// Items under `#[cfg(test)]`.
    tests: Vec<Range<usize>>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(path: &'a str, text: &'a str) -> Self {
        let kinds = lex::kinds(text);
        let code = lex::keep(text, &kinds, &[Kind::Code]);
        let unquoted = lex::keep(text, &kinds, &[Kind::Code, Kind::Comment]);
        let attributes = items::attributes(&code);
        let tests = items::test_items(&code, &attributes);
        Self { path, text, code, unquoted, attributes, tests }
    }

    /// The line of an offset, from 1.
    pub(crate) fn line(&self, offset: usize) -> usize {
        self.text[..offset].matches('\n').count() + 1
    }

    /// Whether the offset lies in an item that is compiled for tests only.
    pub(crate) fn in_test(&self, offset: usize) -> bool {
        self.tests.iter().any(|range| range.contains(&offset))
    }

    /// The text without its test items.
    pub(crate) fn body(&self) -> String {
        let mut body = String::new();
        let mut from = 0;
        for range in &self.tests {
            body.push_str(&self.text[from..range.start]);
            from = range.end;
        }
        body + &self.text[from..]
    }

    pub(crate) fn functions(&self) -> Vec<Function<'_>> {
        items::functions(&self.code)
    }

    /// Every identifier and keyword of the code, with its offset.
    pub(crate) fn words(&self) -> impl Iterator<Item = (usize, &str)> {
        words(&self.code)
    }

    /// The first paragraph of the file's own documentation, on one line.
    pub(crate) fn first_paragraph(&self) -> String {
        self.text
            .lines()
            .map_while(|line| line.strip_prefix("//!"))
            .map(str::trim)
            .take_while(|line| !line.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// Every identifier-like run of characters, with its offset.
pub(crate) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(is_word_char)?;
        let length = text[start..].find(|c| !is_word_char(c)).unwrap_or(text.len() - start);
        at = start + length;
        Some((start, &text[start..at]))
    })
}

pub(crate) fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests;
