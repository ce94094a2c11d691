//! The grammar of templates and of the paths in conditions, read by descent:
//! the end of a place is known only by reading it, since a quoted key or a
//! default may hold braces.

use std::ops::Range;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Expr, Filter, Part, Step, SyntaxError};
use crate::suggest::did_you_mean;
use crate::{NodeId, Root};

pub(crate) const ROOTS: [&str; 6] = ["nodes", "trigger", "storage", "run", "item", "item_index"];
const NODE_PARTS: [&str; 3] = ["output", "prev", "error"];
const FILTERS: [&str; 4] = ["json", "default", "lines", "file"];
const FILTERS_TOLD: &str = "the filters are `default(…)`, `lines`, `json` and `file`";
pub(crate) const ROOTS_TOLD: &str = "a path begins with `nodes.<id>.output`, `nodes.<id>.prev`, \
     `nodes.<id>.error`, `trigger.output`, `storage`, `run.id`, `item` or `item_index`";

/// A part of a template with its place in the source.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Piece {
    pub(crate) part: Part,
    pub(crate) range: Range<usize>,
}

/// The pieces of a template in order; together they cover the source.
pub(crate) fn scan(source: &str) -> Result<Vec<Piece>, Vec<SyntaxError>> {
    let mut pieces = Vec::new();
    let mut errors = Vec::new();
    let mut at = 0;
    while let Some(open) = source[at..].find("{{").map(|found| at + found) {
        if open > at {
            pieces.push(text(source, at..open));
        }
        let mut cursor = Cursor { source, at: open + 2 };
        match cursor.place(open) {
            Ok(part) => {
                pieces.push(Piece { part, range: open..cursor.at });
                at = cursor.at;
            }
            Err(error) => {
                at = after_broken_place(source, open).max(cursor.at);
                errors.push(error);
            }
        }
    }
    if at < source.len() {
        pieces.push(text(source, at..source.len()));
    }
    if errors.is_empty() { Ok(pieces) } else { Err(errors) }
}

/// A path that is the whole text.
pub(crate) fn bare_path(source: &str) -> Result<Expr, SyntaxError> {
    let mut cursor = Cursor { source, at: 0 };
    cursor.skip_blanks();
    let start = cursor.at;
    let (root, path) = cursor.path()?;
    let range = start..cursor.at;
    cursor.skip_blanks();
    if !cursor.rest().is_empty() {
        return Err(cursor.unexpected(
            "after the path comes nothing",
            Some("filters need the braces: `{{path | lines}}`".to_owned()),
        ));
    }
    Ok(Expr { root, path, filters: Vec::new(), range })
}

/// How many bytes of `text`, from its start, a path can hold as one name.
pub(crate) fn plain_name_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    if !bytes.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_') {
        return 0;
    }
    let inner = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    bytes.iter().take_while(inner).count()
}

/// Reads one source from left to right.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    pub(crate) source: &'a str,
    pub(crate) at: usize,
}

impl<'a> Cursor<'a> {
    /// The inside of a place and its closing braces.
    fn place(&mut self, open: usize) -> Result<Part, SyntaxError> {
        self.skip_blanks();
        if !self.rest().contains("}}") {
            return Err(unterminated(self.source, open));
        }
        if self.eat("}}") {
            return Err(SyntaxError {
                message: "there is no path between the braces".to_owned(),
                suggestion: Some(format!(
                    "{ROOTS_TOLD}; for the two characters themselves write {{{{\"{{{{\"}}}}"
                )),
                range: open..self.at,
            });
        }
        if self.rest().starts_with('"') {
            let text = self.json_string()?;
            self.skip_blanks();
            if !self.eat("}}") {
                return Err(self.unexpected(
                    "after a quoted text comes `}}`",
                    Some("a quoted text stands for itself and has no filters".to_owned()),
                ));
            }
            return Ok(Part::Text(text));
        }
        let (root, path) = self.path()?;
        let mut filters = Vec::new();
        loop {
            self.skip_blanks();
            if self.eat("}}") {
                return Ok(Part::Value(Expr { root, path, filters, range: open..self.at }));
            }
            if !self.eat("|") {
                return Err(self.unexpected(
                    "after the path comes `}}`, or `|` and a filter",
                    Some("a template holds one path, without operators or calls".to_owned()),
                ));
            }
            self.skip_blanks();
            self.filter(&mut filters)?;
        }
    }

    fn filter(&mut self, filters: &mut Vec<Filter>) -> Result<(), SyntaxError> {
        let start = self.at;
        let name = self.name().unwrap_or_default();
        let filter = match name {
            "json" => Filter::Json,
            "lines" => Filter::Lines,
            "file" => Filter::File,
            "default" => Filter::Default(self.default_value()?),
            "" => {
                return Err(self.unexpected(
                    "after `|` comes the name of a filter",
                    Some(FILTERS_TOLD.to_owned()),
                ));
            }
            unknown => {
                return Err(SyntaxError {
                    message: format!("there is no filter `{unknown}`"),
                    suggestion: did_you_mean(unknown, FILTERS).or(Some(FILTERS_TOLD.to_owned())),
                    range: start..self.at,
                });
            }
        };
        if filters.last().is_some_and(|last| order(last) >= order(&filter)) {
            return Err(SyntaxError {
                message: format!("the filter `{name}` cannot stand here"),
                suggestion: Some(
                    "each filter is written once, in the order `| default(…) | lines | json | file`"
                        .to_owned(),
                ),
                range: start..self.at,
            });
        }
        filters.push(filter);
        Ok(())
    }

    fn default_value(&mut self) -> Result<Value, SyntaxError> {
        let example = || {
            Some(
                "write a JSON value, as in `default(\"none\")`, `default(0)` or `default([])`"
                    .to_owned(),
            )
        };
        self.skip_blanks();
        if !self.eat("(") {
            return Err(self.unexpected("`default` needs a value in parentheses", example()));
        }
        self.skip_blanks();
        let start = self.at;
        let mut reader = serde_json::Deserializer::from_str(self.rest());
        let value = <&RawValue>::deserialize(&mut reader).ok().and_then(|raw| {
            let value = serde_json::from_str(raw.get()).ok()?;
            Some((value, raw.get().len()))
        });
        let Some((value, length)) = value else {
            let end = self.rest().find([')', '}', '\n']).map_or(self.source.len(), |n| start + n);
            return Err(SyntaxError {
                message: "the value of `default` is not JSON".to_owned(),
                suggestion: example(),
                range: start..end.max(start),
            });
        };
        self.at += length;
        self.skip_blanks();
        if !self.eat(")") {
            return Err(self.unexpected("after the value of `default` comes `)`", example()));
        }
        Ok(value)
    }

    /// A root and the steps behind it.
    pub(crate) fn path(&mut self) -> Result<(Root, Vec<Step>), SyntaxError> {
        let start = self.at;
        let root = self.root()?;
        let end = self.at;
        let steps = self.steps()?;
        if matches!(root, Root::RunId | Root::ItemIndex) && !steps.is_empty() {
            return Err(SyntaxError {
                message: format!("`{}` has no parts", &self.source[start..end]),
                suggestion: Some(format!("write `{}` alone", &self.source[start..end])),
                range: end..self.at,
            });
        }
        Ok((root, steps))
    }

    /// Where a path begins.
    pub(crate) fn root(&mut self) -> Result<Root, SyntaxError> {
        let start = self.at;
        let Some(first) = self.name() else {
            return Err(self.unexpected("here a path is expected", Some(ROOTS_TOLD.to_owned())));
        };
        match first {
            "nodes" => self.node_root(start),
            "trigger" => self.fixed(start, "trigger", "output").map(|()| Root::Trigger),
            "run" => self.fixed(start, "run", "id").map(|()| Root::RunId),
            "storage" => Ok(Root::Storage),
            "item" => Ok(Root::Item),
            "item_index" => Ok(Root::ItemIndex),
            unknown => Err(SyntaxError {
                message: format!("no path begins with `{unknown}`"),
                suggestion: did_you_mean(unknown, ROOTS).or(Some(ROOTS_TOLD.to_owned())),
                range: start..self.at,
            }),
        }
    }

    fn node_root(&mut self, start: usize) -> Result<Root, SyntaxError> {
        let id = if self.eat(".") { self.name() } else { None };
        let Some(id) = id else {
            return Err(self.unexpected(
                "after `nodes` comes a dot and the id of a node",
                Some("write for example `nodes.<id>.output.title`".to_owned()),
            ));
        };
        let dot = self.at;
        let part = if self.eat(".") { self.name().unwrap_or_default() } else { "" };
        let part_start = self.at - part.len();
        match part {
            "output" => Ok(Root::Output(NodeId::new(id))),
            "prev" => Ok(Root::Prev(NodeId::new(id))),
            "error" => Ok(Root::Error(NodeId::new(id))),
            "" => Err(SyntaxError {
                message: format!("`nodes.{id}` does not say what of the node is meant"),
                suggestion: Some(format!(
                    "write `nodes.{id}.output`, `nodes.{id}.prev` or `nodes.{id}.error`"
                )),
                range: start..dot,
            }),
            unknown => Err(SyntaxError {
                message: format!("a node has no `{unknown}`"),
                suggestion: did_you_mean(unknown, NODE_PARTS)
                    .or(Some(format!("did you mean `nodes.{id}.output.{unknown}`?"))),
                range: part_start..self.at,
            }),
        }
    }

    fn fixed(&mut self, start: usize, root: &str, part: &str) -> Result<(), SyntaxError> {
        let found = if self.eat(".") { self.name().unwrap_or_default() } else { "" };
        if found == part {
            return Ok(());
        }
        let meant = if found.is_empty() || did_you_mean(found, [part]).is_some() || root == "run" {
            format!("{root}.{part}")
        } else {
            format!("{root}.{part}.{found}")
        };
        Err(SyntaxError {
            message: format!("after `{root}` comes `.{part}`"),
            suggestion: Some(format!("did you mean `{meant}`?")),
            range: start..self.at,
        })
    }

    fn steps(&mut self) -> Result<Vec<Step>, SyntaxError> {
        let mut steps = Vec::new();
        loop {
            if self.eat(".") {
                if let Some(name) = self.name() {
                    steps.push(Step::Key(name.to_owned()));
                } else {
                    steps.push(Step::Index(self.index()?));
                }
            } else if self.eat("[") {
                if self.rest().starts_with('"') {
                    steps.push(Step::Key(self.json_string()?));
                } else {
                    steps.push(Step::Index(self.index()?));
                }
                if !self.eat("]") {
                    return Err(self.unexpected(
                        "after the key in brackets comes `]`",
                        Some("write it as in `[0]` or `[\"key\"]`".to_owned()),
                    ));
                }
            } else {
                return Ok(steps);
            }
        }
    }

    fn index(&mut self) -> Result<usize, SyntaxError> {
        let start = self.at;
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let text = &self.source[start..start + digits];
        if digits == 0 || plain_name_length(&self.source[start + digits..]) > 0 {
            return Err(self.unexpected(
                "here the name of a key or a number is expected",
                Some(
                    "a name has letters, digits, `_` and `-` and begins with a letter or `_`; \
                     write any other key as `[\"…\"]`"
                        .to_owned(),
                ),
            ));
        }
        self.at += digits;
        let index = text.parse().ok().filter(|_| text == "0" || !text.starts_with('0'));
        index.ok_or_else(|| SyntaxError {
            message: format!("`{text}` is not the number of an item"),
            suggestion: Some(format!(
                "items count from 0, without leading zeros; a key is written `[\"{text}\"]`"
            )),
            range: start..self.at,
        })
    }

    fn json_string(&mut self) -> Result<String, SyntaxError> {
        let start = self.at;
        let mut reader = serde_json::Deserializer::from_str(self.rest());
        let read = <&RawValue>::deserialize(&mut reader).ok().and_then(|raw| {
            let text = serde_json::from_str(raw.get()).ok()?;
            Some((text, raw.get().len()))
        });
        let Some((text, length)) = read else {
            let line = self.rest().find('\n').unwrap_or(self.rest().len());
            return Err(SyntaxError {
                message: "this quoted text is not a JSON string".to_owned(),
                suggestion: Some(
                    "close it with `\"`; inside, write `\\\"` for a quote and `\\\\` for a backslash"
                        .to_owned(),
                ),
                range: start..start + line,
            });
        };
        self.at += length;
        Ok(text)
    }

    fn name(&mut self) -> Option<&'a str> {
        let length = plain_name_length(self.rest());
        let start = self.at;
        self.at += length;
        (length > 0).then(|| &self.source[start..start + length])
    }

    pub(crate) fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    pub(crate) fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    pub(crate) fn skip_blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// An error at the next character.
    pub(crate) fn unexpected(&self, expected: &str, suggestion: Option<String>) -> SyntaxError {
        let found = self.rest().chars().next();
        let message = match found {
            // Quotes are as readable without a backslash.
            Some(found @ ('\'' | '"')) => format!("{expected}, not `{found}`"),
            Some(found) => format!("{expected}, not `{}`", found.escape_debug()),
            None => format!("{expected}, not the end of the text"),
        };
        let range = self.at..self.at + found.map_or(0, char::len_utf8);
        SyntaxError { message, suggestion, range }
    }
}

fn order(filter: &Filter) -> u8 {
    match filter {
        Filter::Default(_) => 0,
        Filter::Lines => 1,
        Filter::Json => 2,
        Filter::File => 3,
    }
}

fn text(source: &str, range: Range<usize>) -> Piece {
    Piece { part: Part::Text(source[range.clone()].to_owned()), range }
}

fn unterminated(source: &str, open: usize) -> SyntaxError {
    let line = source[open..].find('\n').map_or(source.len(), |end| open + end);
    SyntaxError {
        message: "this `{{` is never closed".to_owned(),
        suggestion: Some(
            "close it with `}}`; for the two characters themselves write {{\"{{\"}}".to_owned(),
        ),
        range: open..line,
    }
}

/// Where to go on after a place that could not be read: behind its braces,
/// or at the next place if that begins before.
fn after_broken_place(source: &str, open: usize) -> usize {
    let inside = open + 2;
    let close = source[inside..].find("}}").map_or(source.len(), |found| inside + found + 2);
    let next = source[inside..].find("{{").map_or(source.len(), |found| inside + found);
    // `{{{x}}}` is one broken place, not two.
    if next == inside || source[inside..next].trim().is_empty() { close } else { close.min(next) }
}
