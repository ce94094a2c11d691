//! From the events of the YAML parser to the tree. It keeps its own stack, so
//! that depth costs no call stack and an alias is seen, never expanded.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use durable::limits;
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span as Marks};

use super::{Data, Entry, List, Map, Reading, Yaml, resolve, shorten};
use crate::document::Lines;
use crate::{Finding, Rule, Severity};

const ALIAS: &str = "an alias (`*name`) copies another place of the file";

pub(super) fn read(text: &str, range: Range<usize>) -> Reading<'_> {
    let mut builder = Builder::new(text, range.clone());
    for event in Parser::new_from_str(&text[range]) {
        let flow = match event {
            Ok((event, marks)) => builder.event(event, marks),
            Err(error) => {
                builder.syntax(&error);
                Flow::Stop
            }
        };
        if matches!(flow, Flow::Stop) {
            break;
        }
    }
    builder.finish()
}

enum Flow {
    Go,
    Stop,
}

/// A collection that is being read.
enum Frame<'t> {
    List { span: Range<usize>, list: List<'t> },
    Map { span: Range<usize>, map: Map<'t>, index: Index, key: Option<Key<'t>> },
}

/// Finds a key of a mapping again. A look through a few entries costs less
/// than a tree, so the tree grows only with a large mapping.
#[derive(Default)]
pub(super) struct Index(BTreeMap<String, usize>);

enum Key<'t> {
    Text(Cow<'t, str>, Range<usize>),
    /// A key that a finding reports; its value is dropped.
    Refused,
}

struct Builder<'t> {
    text: &'t str,
    range: Range<usize>,
    /// Byte of each character of `range`, unless all are one byte long.
    bytes: Option<Vec<usize>>,
    lines: Lines<'t>,
    stack: Vec<Frame<'t>>,
    root: Option<Yaml<'t>>,
    documents: usize,
    complete: bool,
    findings: Vec<Finding>,
}

impl Index {
    const SMALL: usize = 12;

    /// The entry with this key, of those that the index was always asked for.
    pub(super) fn find(&mut self, entries: &[Entry<'_>], key: &str) -> Option<usize> {
        if entries.len() <= Self::SMALL {
            return entries.iter().position(|entry| entry.key == key);
        }
        for (at, entry) in entries.iter().enumerate().skip(self.0.len()) {
            self.0.insert(entry.key.to_string(), at);
        }
        self.0.get(key).copied()
    }
}

impl<'t> Builder<'t> {
    fn new(text: &'t str, range: Range<usize>) -> Self {
        let part = &text[range.clone()];
        let wide = !part.is_ascii();
        Self {
            text,
            bytes: wide.then(|| part.char_indices().map(|(at, _)| at).collect()),
            range,
            lines: Lines::new(text),
            stack: Vec::new(),
            root: None,
            documents: 0,
            complete: true,
            findings: Vec::new(),
        }
    }

    fn event(&mut self, event: Event<'t>, marks: Marks) -> Flow {
        let span = self.span(marks);
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            Event::DocumentStart(_) => return self.document(span),
            Event::Alias(_) => {
                if !matches!(self.stack.last(), Some(Frame::Map { key: Some(Key::Refused), .. })) {
                    self.refuse(span.clone(), ALIAS);
                }
                self.value(Yaml { data: Data::Refused, span });
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.properties(anchor, tag.is_some(), &span);
                self.scalar(text, style, tag.is_some(), span);
            }
            Event::SequenceStart(anchor, tag) => {
                self.properties(anchor, tag.is_some(), &span);
                return self.open(Frame::List { span, list: List::default() });
            }
            Event::MappingStart(anchor, tag) => {
                self.properties(anchor, tag.is_some(), &span);
                let (map, index) = (Map::default(), Index::default());
                return self.open(Frame::Map { span, map, index, key: None });
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span.end, false),
        }
        Flow::Go
    }

    fn finish(mut self) -> Reading<'t> {
        while !self.stack.is_empty() {
            self.close(self.range.end, true);
        }
        Reading { root: self.root, complete: self.complete, findings: self.findings }
    }

    // The tree.

    fn scalar(&mut self, text: Cow<'t, str>, style: ScalarStyle, tagged: bool, span: Range<usize>) {
        if matches!(self.stack.last(), Some(Frame::Map { key: None, .. })) {
            return self.key(text, style, span);
        }
        let data = match style {
            _ if tagged => Data::Refused,
            ScalarStyle::Plain => resolve::plain(text),
            ScalarStyle::SingleQuoted
            | ScalarStyle::DoubleQuoted
            | ScalarStyle::Literal
            | ScalarStyle::Folded => Data::Text(text),
        };
        self.value(Yaml { data, span });
    }

    fn key(&mut self, text: Cow<'t, str>, style: ScalarStyle, span: Range<usize>) {
        self.refuse_tab(&span);
        let merge = text == "<<" && style == ScalarStyle::Plain;
        if merge {
            self.refuse(span.clone(), "a merge key (`<<`) copies another place of the file");
        }
        let Some(Frame::Map { map, index, key, .. }) = self.stack.last_mut() else { return };
        if merge {
            map.partial = true;
            *key = Some(Key::Refused);
            return;
        }
        let first = index.find(&map.entries, &text).map(|at| map.entries[at].key_span.clone());
        match first {
            None => *key = Some(Key::Text(text, span)),
            Some(first) => {
                *key = Some(Key::Refused);
                self.twice(&text, first, span);
            }
        }
    }

    /// The parser lets a tab pass before the first key of all.
    fn refuse_tab(&mut self, key: &Range<usize>) {
        let block = matches!(self.stack.last(), Some(Frame::Map { span, .. }) if span.is_empty());
        if !block {
            return;
        }
        let start = self.text[..key.start].rfind('\n').map_or(0, |n| n + 1);
        let before = &self.text[start..key.start];
        let tab = before.find('\t').filter(|_| before.trim_matches([' ', '\t']).is_empty());
        if let Some(tab) = tab {
            self.tab(start + tab);
        }
    }

    fn twice(&mut self, key: &str, first: Range<usize>, span: Range<usize>) {
        let (before, here) = (self.lines.place(first.start).0, self.lines.place(span.start).0);
        let key = shorten(key);
        let message = if before == here {
            format!("`{key}` is twice in one mapping, both times on line {here}")
        } else {
            format!("`{key}` is twice in one mapping, on line {before} and on line {here}")
        };
        let finding = self.error(Rule::DuplicateKey, span, message);
        finding.suggest("keep one of the two").relate(first, "first here");
    }

    /// Takes a finished value to where it belongs.
    fn value(&mut self, mut value: Yaml<'t>) {
        let Some(frame) = self.stack.last_mut() else {
            self.root.get_or_insert(value);
            return;
        };
        match frame {
            Frame::List { list, .. } => list.items.push(value),
            Frame::Map { map, key, .. } => match key.take() {
                Some(Key::Text(text, key_span)) => {
                    if value.span.is_empty() {
                        value.span = key_span.clone();
                    }
                    map.entries.push(Entry { key: text, key_span, value });
                }
                Some(Key::Refused) => {}
                None => {
                    // A list, mapping or alias in the place of a key.
                    map.partial = true;
                    *key = Some(Key::Refused);
                    if value.data != Data::Refused {
                        self.refuse(value.span, "a key must be a text");
                    }
                }
            },
        }
    }

    fn open(&mut self, frame: Frame<'t>) -> Flow {
        if self.stack.len() < limits::DEPTH {
            self.stack.push(frame);
            return Flow::Go;
        }
        let (Frame::List { span, .. } | Frame::Map { span, .. }) = frame;
        let message = format!("values are nested more than {} deep here", limits::DEPTH);
        let span = span.start..self.char_after(span.start);
        self.error(Rule::TooDeep, span, message).suggest("flatten the value");
        self.complete = false;
        Flow::Stop
    }

    fn close(&mut self, end: usize, cut: bool) {
        let Some(frame) = self.stack.pop() else { return };
        let value = match frame {
            Frame::List { span, mut list } => {
                list.partial |= cut;
                let last = list.items.last().map(|item| item.span.end);
                Yaml { span: self.collection(span, last, end), data: Data::List(list) }
            }
            Frame::Map { span, mut map, .. } => {
                map.partial |= cut;
                let last = map.entries.last().map(|entry| entry.value.span.end);
                Yaml { span: self.collection(span, last, end), data: Data::Map(map) }
            }
        };
        self.value(value);
    }

    /// From the first to the last byte: a block collection has no mark of its
    /// own at either end.
    fn collection(&self, start: Range<usize>, last: Option<usize>, end: usize) -> Range<usize> {
        let flow = !start.is_empty();
        let end = if flow { end } else { last.unwrap_or(start.start) };
        start.start..end.max(start.start)
    }

    // Places.

    fn span(&self, marks: Marks) -> Range<usize> {
        let start = self.byte(marks.start.index());
        let end = self.byte(marks.end.index()).max(start);
        // A block scalar's mark runs over the line breaks after it.
        let trimmed = self.text[start..end].trim_end_matches([' ', '\t', '\r', '\n']).len();
        start..if trimmed == 0 { start } else { start + trimmed }
    }

    fn byte(&self, index: usize) -> usize {
        let offset = match &self.bytes {
            None => index,
            Some(bytes) => bytes.get(index).copied().unwrap_or(self.range.len()),
        };
        self.range.start + offset.min(self.range.len())
    }

    fn char_after(&self, byte: usize) -> usize {
        byte + self.text[byte..].chars().next().map_or(0, char::len_utf8)
    }

    // Findings.

    fn document(&mut self, span: Range<usize>) -> Flow {
        self.documents += 1;
        if self.documents == 1 {
            return Flow::Go;
        }
        let message = "the front matter holds more than one YAML document";
        self.error(Rule::UnsupportedYaml, span, message.to_owned())
            .suggest("remove this line; blanks after `---` make it begin a document");
        Flow::Stop
    }

    fn properties(&mut self, anchor: usize, tagged: bool, span: &Range<usize>) {
        // Its place begins with the anchor or tag and runs into the value.
        let word = self.text[span.clone()].find([' ', '\n', '\r']).unwrap_or(span.len());
        let span = span.start..span.start + word;
        if anchor != 0 {
            self.refuse(span.clone(), "an anchor (`&name`) has no meaning here");
        }
        if tagged {
            self.refuse(span, "a tag (`!name`) has no meaning here");
        }
    }

    fn refuse(&mut self, span: Range<usize>, what: &str) {
        let suggestion = if what.starts_with("a key") {
            "write the key as one word or in quotes"
        } else {
            "write the value out where it is used"
        };
        self.error(Rule::UnsupportedYaml, span, what.to_owned()).suggest(suggestion);
    }

    fn syntax(&mut self, error: &ScanError) {
        self.complete = false;
        let at = self.byte(error.marker().index());
        if error.info().contains("unknown anchor") {
            let end = self.text[at..].find(['\n', '\r', ' ']).map_or(self.range.end, |n| at + n);
            return self.refuse(at..end, ALIAS);
        }
        if error.info().contains("recursion limit") {
            let message = format!("values are nested more than {} deep here", limits::DEPTH);
            self.error(Rule::TooDeep, at..self.char_after(at), message)
                .suggest("flatten the value");
            return;
        }
        if let Some(tab) = self.tab_near(at) {
            return self.tab(tab);
        }
        let message = format!("this is not valid YAML: {}", error.info());
        let end = self.char_after(at).min(self.range.end).max(at);
        self.error(Rule::Syntax, at..end, message);
    }

    fn tab(&mut self, at: usize) {
        let (line, column) = self.lines.place(at);
        let message = format!("a tab indents line {line} (column {column})");
        self.error(Rule::Syntax, at..at + 1, message).suggest("indent with spaces");
    }

    /// The tab that indents the line of the error or, for a value that runs
    /// over several lines, one of the next.
    fn tab_near(&self, at: usize) -> Option<usize> {
        let start = self.text[..at].rfind('\n').map_or(0, |n| n + 1);
        let mut line_start = start;
        for line in self.text[start..self.range.end].split_inclusive('\n') {
            let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
            if let Some(tab) = indent.find('\t') {
                return Some(line_start + tab);
            }
            if line_start > at && !line.trim().is_empty() {
                return None;
            }
            line_start += line.len();
        }
        None
    }

    fn error(&mut self, rule: Rule, span: Range<usize>, message: String) -> &mut Finding {
        self.findings.push(Finding::new(rule, Severity::Error, span, message));
        let last = self.findings.len() - 1;
        &mut self.findings[last]
    }
}
