//! Front matter as a tree in which every key and value knows its bytes.
//! Strict YAML 1.2: `NO`, `yes`, `012` and `15:00` are texts, a number keeps
//! its digits, and what makes one place of a file change another (anchors,
//! aliases, tags, merge keys, further documents) is refused where it stands.

mod build;
mod json;
mod resolve;
mod simple;

use std::borrow::Cow;
use std::ops::Range;

use serde_json::{Map as JsonMap, Number, Value};

use crate::Finding;

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Yaml<'t> {
    pub data: Data<'t>,
    /// Bytes of the file. An empty value has the place of its key.
    pub span: Range<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Data<'t> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'t, str>),
    List(List<'t>),
    Map(Map<'t>),
    /// Something that a finding already reports; nothing more is said of it.
    Refused,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct List<'t> {
    pub items: Vec<Yaml<'t>>,
    /// Reading stopped inside, so that items may be missing.
    pub partial: bool,
}

/// Entries in the order of the file; no key twice.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Map<'t> {
    pub entries: Vec<Entry<'t>>,
    /// Reading stopped inside, or a key was refused, so that entries may be
    /// missing.
    pub partial: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Entry<'t> {
    pub key: Cow<'t, str>,
    pub key_span: Range<usize>,
    pub value: Yaml<'t>,
}

/// What could be read, and what was wrong with it.
#[derive(Debug, Clone)]
pub struct Reading<'t> {
    /// `None` when there is no value at all.
    pub root: Option<Yaml<'t>>,
    /// No syntax error cut the text short.
    pub complete: bool,
    pub findings: Vec<Finding>,
}

/// Reads the part `range` of `text`; spans are bytes of `text`.
pub fn read(text: &str, range: Range<usize>) -> Reading<'_> {
    match simple::read(text, range.clone()) {
        Some(root) => Reading { root: Some(root), complete: true, findings: Vec::new() },
        None => build::read(text, range),
    }
}

impl Yaml<'_> {
    /// What sort of value it is, for messages: `the number 5`.
    pub fn describe(&self) -> String {
        match &self.data {
            Data::Null => "nothing".to_owned(),
            Data::Bool(flag) => format!("the boolean {flag}"),
            Data::Number(number) => format!("the number {}", shorten(&number.to_string())),
            Data::Text(text) => format!("the text `{}`", shorten(text)),
            Data::List(_) => "a list".to_owned(),
            Data::Map(_) => "a mapping".to_owned(),
            Data::Refused => "something that cannot be read".to_owned(),
        }
    }

    /// Nothing in it was refused.
    pub fn is_whole(&self) -> bool {
        match &self.data {
            Data::Null | Data::Bool(_) | Data::Number(_) | Data::Text(_) => true,
            Data::List(list) => !list.partial && list.items.iter().all(Self::is_whole),
            Data::Map(map) => {
                !map.partial && map.entries.iter().all(|entry| entry.value.is_whole())
            }
            Data::Refused => false,
        }
    }

    /// The value as JSON; `None` when some part of it was refused.
    pub fn to_json(&self) -> Option<Value> {
        Some(match &self.data {
            Data::Null => Value::Null,
            Data::Bool(flag) => Value::Bool(*flag),
            Data::Number(number) => Value::Number(number.clone()),
            Data::Text(text) => Value::String(text.to_string()),
            Data::List(list) if list.partial => return None,
            Data::List(list) => {
                Value::Array(list.items.iter().map(Self::to_json).collect::<Option<_>>()?)
            }
            Data::Map(map) if map.partial => return None,
            Data::Map(map) => {
                let pair =
                    |entry: &Entry<'_>| Some((entry.key.to_string(), entry.value.to_json()?));
                Value::Object(map.entries.iter().map(pair).collect::<Option<JsonMap<_, _>>>()?)
            }
            Data::Refused => return None,
        })
    }
}

impl<'t> Map<'t> {
    pub fn get(&self, key: &str) -> Option<&Entry<'t>> {
        self.entries.iter().find(|entry| entry.key == key)
    }
}

/// The place in the file of a part of a text value that is written as it is,
/// with or without quotes. It costs no more than the part is long.
pub(crate) fn plain_place(
    file: &str,
    span: &Range<usize>,
    value: &str,
    part: &Range<usize>,
) -> Option<Range<usize>> {
    let quote = span.len().checked_sub(value.len()).filter(|more| matches!(more, 0 | 2))? / 2;
    let start = span.start + quote + part.start;
    let place = start..start + part.len();
    let same = !part.is_empty() && file.get(place.clone())? == value.get(part.clone())?;
    same.then_some(place)
}

/// The place in the file of a part of any text value. Escapes, folds and
/// indentation make a value differ from its source, so the part is looked up
/// by its text; the whole value answers when that is ambiguous.
pub fn place_within(
    file: &str,
    span: &Range<usize>,
    value: &str,
    part: &Range<usize>,
) -> Range<usize> {
    let look_up = || {
        let source = file.get(span.clone())?;
        let needle = value.get(part.clone()).filter(|needle| !needle.is_empty())?;
        let rank = value[..part.start].matches(needle).count();
        if value.matches(needle).count() != source.matches(needle).count() {
            return None;
        }
        let (at, _) = source.match_indices(needle).nth(rank)?;
        Some(span.start + at..span.start + at + needle.len())
    };
    plain_place(file, span, value, part).or_else(look_up).unwrap_or_else(|| span.clone())
}

/// The first characters of a value, in one line, for messages.
pub(crate) fn shorten(text: &str) -> String {
    const MOST: usize = 40;
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let mut short: String = text.chars().take(MOST).map(clean).collect();
    if text.chars().nth(MOST).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests;
