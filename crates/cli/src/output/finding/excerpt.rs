//! Lines of a file as they can be shown: valid text without line feeds of
//! other systems, byte order mark or control characters, and a map from the
//! file's bytes to it. Pure.

use std::ops::Range;

use annotate_snippets::{Annotation, Snippet};

use crate::output::escape;

const BOM: &str = "\u{feff}";

#[derive(Debug)]
pub(super) struct Excerpt {
    /// Where the excerpt begins in the file, and the number of its first line.
    start: usize,
    first_line: usize,
    shown: String,
    /// For each byte of the excerpt, and its end, its place in `shown`.
    places: Vec<usize>,
}

/// The whole lines that a span touches, as bytes of the file.
pub(super) fn lines(source: &[u8], span: &Range<usize>) -> Range<usize> {
    let start = span.start.min(source.len());
    let end = span.end.clamp(start, source.len());
    let last = end.saturating_sub(1).max(start);
    let is_feed = |byte: &u8| *byte == b'\n';
    let from = source[..start].iter().rposition(is_feed).map_or(0, |at| at + 1);
    let to = source[last..].iter().position(is_feed).map_or(source.len(), |at| last + at + 1);
    from..to
}

impl Excerpt {
    /// The lines that any of the spans touches, and those between.
    pub(super) fn around<'a>(
        source: &[u8],
        spans: impl IntoIterator<Item = &'a Range<usize>>,
    ) -> Self {
        let touched = spans.into_iter().map(|span| lines(source, span));
        let all = touched.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)).unwrap_or(0..0);
        let first_line = 1 + source[..all.start].iter().filter(|byte| **byte == b'\n').count();
        let mut excerpt = Self {
            start: all.start,
            first_line,
            shown: String::with_capacity(all.len()),
            places: Vec::with_capacity(all.len() + 1),
        };
        excerpt.fill(&source[all]);
        excerpt
    }

    pub(super) fn snippet<'a>(&self, path: &'a str) -> Snippet<'a, Annotation<'a>> {
        Snippet::source(self.shown.clone()).line_start(self.first_line).path(path)
    }

    /// Line and column of the beginning of a span, in what is shown.
    pub(super) fn place(&self, span: &Range<usize>) -> (usize, usize) {
        let before = &self.shown[..self.span(span).start];
        let line = before.bytes().filter(|byte| *byte == b'\n').count();
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
        (self.first_line + line, column + 1)
    }

    /// A span of the file as a span of what is shown.
    pub(super) fn span(&self, span: &Range<usize>) -> Range<usize> {
        let end = *self.places.last().expect("the end has a place");
        let place = |at: usize| {
            let at = at.saturating_sub(self.start);
            self.places.get(at).copied().unwrap_or(end)
        };
        let start = place(span.start);
        start..place(span.end).max(start)
    }

    fn fill(&mut self, bytes: &[u8]) {
        let is_file_start = self.start == 0;
        for chunk in bytes.utf8_chunks() {
            let mut chars = chunk.valid().chars().peekable();
            while let Some(c) = chars.next() {
                let is_bom = is_file_start && self.places.is_empty() && BOM.starts_with(c);
                let is_line_end = c == '\r' && chars.peek() == Some(&'\n');
                let place = self.shown.len();
                match c {
                    _ if is_bom || is_line_end => {}
                    '\n' | '\t' => self.shown.push(c),
                    c if escape::is_dangerous(c) => escape::push_shown(&mut self.shown, c),
                    c => self.shown.push(c),
                }
                self.places.extend(std::iter::repeat_n(place, c.len_utf8()));
            }
            for byte in chunk.invalid() {
                self.places.push(self.shown.len());
                escape::push_bytes(&mut self.shown, &[*byte]);
            }
        }
        self.places.push(self.shown.len());
    }
}
