//! A short way to read the part of YAML in which most front matter is
//! written. It knows block collections (YAML 1.2.2, 8.2), flow collections
//! without line breaks (7.4), plain and quoted scalars of one line without
//! escapes (7.3) and comments (6.6).
//!
//! The law: it reads a text as the parser would, to the byte, or not at all.
//! Whatever is not plainly within its part of the language, wrong text too,
//! is left to the parser; so nothing here makes a finding.

use std::borrow::Cow;
use std::ops::Range;

use super::build::Index;
use super::{Data, Entry, List, Map, Yaml, resolve};

/// The tree of the part `range` of `text`, in which nothing is wrong.
pub(super) fn read(text: &str, range: Range<usize>) -> Option<Yaml<'_>> {
    let source = text.get(..range.end)?;
    if !is_usual(&source[range.start..]) {
        return None;
    }
    let mut reader =
        Reader { source, at: range.start, column: None, depth: 0, entries: Vec::new() };
    reader.find_line()?;
    let column = reader.column?;
    let root = reader.block(column)?;
    reader.column.is_none().then_some(root)
}

/// Deeper and longer than front matter is; where the limits are, the parser
/// tells (7.4.2).
const DEEPEST: usize = 32;
const KEY_BYTES: usize = 512;

/// No tab, carriage return or other control character, and no character that
/// some version of YAML takes for a line break or a byte order mark (5.1, 5.4).
fn is_usual(text: &str) -> bool {
    let ascii = |byte: u8| byte >= b' ' && byte != 0x7f || byte == b'\n';
    if text.is_ascii() {
        return text.bytes().all(ascii);
    }
    text.chars().all(|c| match u8::try_from(c) {
        Ok(byte) if c.is_ascii() => ascii(byte),
        Ok(byte) => byte >= 0xa0,
        Err(_) => !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'),
    })
}

struct Reader<'t> {
    /// All up to the end of the part that is read.
    source: &'t str,
    at: usize,
    /// The column of `at` when a line begins there, behind its indentation;
    /// `None` at the end of the text.
    column: Option<usize>,
    depth: usize,
    /// Those of all mappings that are being read, so that each gets a list of
    /// just its size.
    entries: Vec<Entry<'t>>,
}

type Key<'t> = (Cow<'t, str>, Range<usize>);

impl<'t> Reader<'t> {
    // Lines (6.1, 6.6, 6.7).

    /// Goes to the first character of the next line that holds something.
    fn find_line(&mut self) -> Option<()> {
        loop {
            let start = self.at;
            self.skip_blanks();
            match self.peek() {
                Some(b'\n') => self.at += 1,
                Some(b'#') => self.skip_line(),
                first => {
                    self.column = first.map(|_| self.at - start);
                    // Directives and the marks of documents (6.8, 9.1).
                    let line = &self.source[start..];
                    let special = ["%", "---", "..."].iter().any(|mark| line.starts_with(mark));
                    return (!special).then_some(());
                }
            }
        }
    }

    /// Ends a line behind a value; `comment` when a comment may follow, which
    /// the parser counts to a value in quotes or brackets.
    fn end_line(&mut self, comment: bool) -> Option<()> {
        self.skip_blanks();
        match self.peek() {
            None | Some(b'\n') => {}
            Some(b'#') if comment && self.byte(self.at - 1) == Some(b' ') => self.skip_line(),
            Some(_) => return None,
        }
        self.at = self.source.len().min(self.at + 1);
        self.find_line()
    }

    fn deeper(&mut self) -> Option<()> {
        self.depth += 1;
        (self.depth <= DEEPEST).then_some(())
    }

    // Block collections (8.2).

    /// The collection that begins here.
    fn block(&mut self, column: usize) -> Option<Yaml<'t>> {
        self.deeper()?;
        let value = if self.is_item() { self.sequence(column) } else { self.mapping(column) };
        self.depth -= 1;
        value
    }

    fn mapping(&mut self, column: usize) -> Option<Yaml<'t>> {
        let start = self.at;
        let (mark, mut index) = (self.entries.len(), Index::default());
        loop {
            let (key, key_span) = self.key(mark, &mut index, false)?;
            self.skip_blanks();
            let value = match self.peek() {
                None | Some(b'\n' | b'#') => self.below(column)?,
                Some(_) => self.inline()?,
            };
            let span = start..value.span.end;
            self.entries.push(Entry { key, key_span, value });
            if self.is_over(column)? {
                return Some(Yaml { data: self.map(mark), span });
            }
        }
    }

    /// The value of a key, on the lines after it. A sequence may stand at the
    /// column of the key, and is then marked where its first item stands.
    fn below(&mut self, column: usize) -> Option<Yaml<'t>> {
        self.end_line(true)?;
        match self.column? {
            deeper if deeper > column => self.block(deeper),
            same if same == column && self.is_item() => {
                let first = self.source[self.at + 1..].trim_start_matches(' ');
                let content = self.source.len() - first.len();
                let mut list = self.block(column)?;
                list.span.start = content;
                (!first.starts_with(['\n', '#']) && !first.is_empty()).then_some(list)
            }
            _ => None,
        }
    }

    fn sequence(&mut self, column: usize) -> Option<Yaml<'t>> {
        let start = self.at;
        let mut list = List::default();
        loop {
            let dash = self.at;
            self.at += 1;
            self.skip_blanks();
            let item = match self.peek() {
                None | Some(b'\n' | b'#') => {
                    self.end_line(true)?;
                    let deeper = self.column.filter(|deeper| *deeper > column)?;
                    self.block(deeper)?
                }
                Some(_) if self.is_item() || self.is_key() => {
                    self.block(column + (self.at - dash))?
                }
                Some(_) => self.inline()?,
            };
            let span = start..item.span.end;
            list.items.push(item);
            if self.is_over(column)? || !self.is_item() {
                return Some(Yaml { data: Data::List(list), span });
            }
        }
    }

    /// Whether the line that begins here is no part of the collection at
    /// `column`. What is deeper would go on with the value before.
    fn is_over(&self, column: usize) -> Option<bool> {
        (self.column <= Some(column)).then_some(self.column < Some(column))
    }

    fn is_item(&self) -> bool {
        self.peek() == Some(b'-') && matches!(self.byte(self.at + 1), None | Some(b' ' | b'\n'))
    }

    /// Whether a key begins here, in block context.
    fn is_key(&self) -> bool {
        match self.peek() {
            Some(b'"' | b'\'') => self.quoted().is_some_and(|end| self.byte(end) == Some(b':')),
            _ => self.plain(false).is_some_and(|(_, is_key)| is_key),
        }
    }

    /// A value on the line of its key or dash, to the end of that line.
    fn inline(&mut self) -> Option<Yaml<'t>> {
        let plain = !matches!(self.peek(), Some(b'"' | b'\'' | b'{' | b'['));
        let value = self.value(false)?;
        self.end_line(plain).map(|()| value)
    }

    // Flow collections (7.4) and scalars (7.3).

    fn value(&mut self, flow: bool) -> Option<Yaml<'t>> {
        let start = self.at;
        match self.peek()? {
            b'{' => self.brackets(Self::flow_mapping),
            b'[' => self.brackets(Self::flow_sequence),
            b'"' | b'\'' => {
                self.at = self.quoted()?;
                let data = Data::Text(self.source[start + 1..self.at - 1].into());
                Some(Yaml { data, span: start..self.at })
            }
            _ => {
                let (span, is_key) = self.plain(flow)?;
                self.at = span.end;
                let data = resolve::plain(self.source[span.clone()].into());
                (!is_key).then_some(Yaml { data, span })
            }
        }
    }

    fn brackets(&mut self, inside: fn(&mut Self) -> Option<Data<'t>>) -> Option<Yaml<'t>> {
        let start = self.at;
        self.deeper()?;
        self.at += 1;
        self.skip_blanks();
        let data = inside(self)?;
        self.depth -= 1;
        self.at += 1;
        Some(Yaml { data, span: start..self.at })
    }

    fn flow_mapping(&mut self) -> Option<Data<'t>> {
        let (mark, mut index) = (self.entries.len(), Index::default());
        while self.peek() != Some(b'}') {
            let (key, key_span) = self.key(mark, &mut index, true)?;
            self.skip_blanks();
            let value = self.value(true)?;
            self.entries.push(Entry { key, key_span, value });
            self.separator(b'}')?;
        }
        Some(self.map(mark))
    }

    fn flow_sequence(&mut self) -> Option<Data<'t>> {
        let mut list = List::default();
        while self.peek() != Some(b']') {
            list.items.push(self.value(true)?);
            self.separator(b']')?;
        }
        Some(Data::List(list))
    }

    /// The mapping of the entries since `mark`.
    fn map(&mut self, mark: usize) -> Data<'t> {
        Data::Map(Map { entries: self.entries.drain(mark..).collect(), partial: false })
    }

    /// Goes to the next of several, or to the end of them.
    fn separator(&mut self, close: u8) -> Option<()> {
        self.skip_blanks();
        let more = self.peek() == Some(b',');
        if more {
            self.at += 1;
            self.skip_blanks();
        }
        (more != (self.peek() == Some(close))).then_some(())
    }

    /// A key that is not there yet, and its `:`.
    fn key(&mut self, mark: usize, index: &mut Index, flow: bool) -> Option<Key<'t>> {
        let (source, start) = (self.source, self.at);
        let (text, span) = if matches!(self.peek(), Some(b'"' | b'\'')) {
            let end = self.quoted()?;
            self.at = end + 1;
            // Only in flow context may the value follow at once.
            let blank = flow || matches!(self.peek(), None | Some(b' ' | b'\n'));
            (self.byte(end) == Some(b':') && blank).then_some(())?;
            (&source[start + 1..end - 1], start..end)
        } else {
            let (span, is_key) = self.plain(flow)?;
            self.at = span.end + 1;
            is_key.then_some(())?;
            (&source[span.clone()], span)
        };
        let known = index.find(&self.entries[mark..], text).is_some();
        (!known && text != "<<" && span.len() <= KEY_BYTES).then(|| (text.into(), span))
    }

    /// Where the scalar in quotes that begins here ends.
    fn quoted(&self) -> Option<usize> {
        let quote = self.peek()?;
        let inside = &self.source.as_bytes()[self.at + 1..];
        let ends = |byte: &u8| *byte == quote || matches!(byte, b'\\' | b'\n');
        let close = inside.iter().position(ends).filter(|at| inside[*at] == quote)?;
        (inside.get(close + 1) != Some(&quote)).then_some(self.at + 1 + close + 1)
    }

    /// The scalar without quotes that begins here (7.3.3), and whether a `:`
    /// makes it a key.
    fn plain(&self, flow: bool) -> Option<(Range<usize>, bool)> {
        let bytes = self.source.as_bytes();
        let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte >= 0x80;
        let begins = match self.peek()? {
            b'-' => bytes.get(self.at + 1).is_some_and(word),
            b'_' | b'.' | b'/' | b'+' | b'(' | b'$' | b'~' | b'<' | b'=' => true,
            other => word(&other),
        };
        begins.then_some(())?;
        let mut end = self.at;
        for (at, byte) in bytes.iter().enumerate().skip(self.at) {
            let next = bytes.get(at + 1);
            match byte {
                b' ' => continue,
                b'\n' => break,
                b'#' if at > end => break,
                b':' if matches!(next, None | Some(b' ' | b'\n')) => {
                    return (at == end).then_some((self.at..end, true));
                }
                b':' if flow && !next.is_some_and(|c| word(c) || *c == b'/') => return None,
                b'-' if flow && next.is_some_and(|c| b",[]{}".contains(c)) => return None,
                b',' | b']' | b'}' if flow => break,
                b'[' | b'{' | b'#' if flow => return None,
                _ => end = at + 1,
            }
        }
        Some((self.at..end, false))
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.source.as_bytes().get(at).copied()
    }

    fn peek(&self) -> Option<u8> {
        self.byte(self.at)
    }

    fn skip_blanks(&mut self) {
        while self.peek() == Some(b' ') {
            self.at += 1;
        }
    }

    fn skip_line(&mut self) {
        let rest = &self.source[self.at..];
        self.at += rest.find('\n').unwrap_or(rest.len());
    }
}

#[cfg(test)]
mod tests;
