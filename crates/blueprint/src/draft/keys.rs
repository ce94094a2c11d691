//! Reading the keys of one mapping: which there are, and whether each value
//! has the form that its key asks for.

use std::ops::Range;

use durable::limits;

use super::{DraftKey, Port, SCHEMA, Word};
use crate::check::Sink;
use crate::yaml::{Data, Entry, Map, Yaml, shorten};
use crate::{Finding, OnInterrupt, Rule, suggest};

pub(super) struct Keys<'t, 's, 'f> {
    map: &'t Map<'t>,
    known: &'static [&'static str],
    /// `a node`, for messages.
    what: &'static str,
    sink: &'s mut Sink<'f>,
}

/// A mapping, or a finding.
pub(super) fn mapping<'t>(
    value: &'t Yaml<'t>,
    what: &str,
    sink: &mut Sink<'_>,
) -> Option<&'t Map<'t>> {
    match &value.data {
        Data::Map(map) => return Some(map),
        Data::Refused => {}
        Data::Null | Data::Bool(_) | Data::Number(_) | Data::Text(_) | Data::List(_) => {
            let found = value.describe();
            let message = format!("{what} is a mapping of keys and values; this is {found}");
            sink.error(Rule::InvalidValue, &value.span, message);
        }
    }
    None
}

impl<'t, 's, 'f> Keys<'t, 's, 'f> {
    /// Reports the keys that are not among `known`.
    pub(super) fn new(
        map: &'t Map<'t>,
        known: &'static [&'static str],
        what: &'static str,
        sink: &'s mut Sink<'f>,
    ) -> Self {
        Self::with_fields(map, known, what, sink, |_| false)
    }

    /// As [`Self::new`]; a key that `is_field` is said to be in the wrong
    /// place, not to be unknown.
    pub(super) fn with_fields(
        map: &'t Map<'t>,
        known: &'static [&'static str],
        what: &'static str,
        sink: &'s mut Sink<'f>,
        is_field: impl Fn(&str) -> bool,
    ) -> Self {
        for entry in map.entries.iter().filter(|entry| !known.contains(&&*entry.key)) {
            if is_field(&entry.key) {
                let message = format!("`{}` is a field, not a key of {what}", entry.key);
                sink.error(Rule::UnknownKey, &entry.key_span, message).suggest(format!(
                    "put it under `fields:`, as `fields: {{ {}: … }}`",
                    entry.key
                ));
                continue;
            }
            let near = suggest::did_you_mean(&entry.key, known.iter().copied());
            let absent = known.iter().copied().filter(|key| map.get(key).is_none());
            let fix = sink.rename(&entry.key_span, &entry.key, absent);
            let message = format!("{what} has no key `{}`", shorten(&entry.key));
            sink.error(Rule::UnknownKey, &entry.key_span, message)
                .suggest(near.unwrap_or_else(|| format!("the keys are {}", known.join(", "))))
                .fix(fix);
        }
        Self { map, known, what, sink }
    }

    pub(super) fn any(&self, key: &str) -> Option<DraftKey<'t>> {
        let Entry { key_span, value, .. } = self.map.get(key)?;
        Some(DraftKey { key_span, value })
    }

    /// A text, if the key is there.
    pub(super) fn text(&mut self, key: &str) -> Option<Word<'t>> {
        let entry = self.map.get(key)?;
        match &entry.value.data {
            Data::Text(text) => return Some(Word { text, span: &entry.value.span }),
            Data::Refused => {}
            Data::Null => {
                self.wrong(entry, "a text").suggest("write a value, or leave the key out");
            }
            Data::Bool(_) | Data::Number(_) => {
                let quoted = entry.value.to_json().map(|value| format!("write \"{value}\""));
                self.wrong(entry, "a text").suggestion = quoted;
            }
            Data::List(_) | Data::Map(_) => {
                self.wrong(entry, "a text");
            }
        }
        None
    }

    /// A text; its absence is reported at `anchor`.
    pub(super) fn required(&mut self, key: &str, anchor: &Range<usize>) -> Option<Word<'t>> {
        // A key under a mistyped name is one fault, not two.
        let meant = |e: &Entry<'_>| suggest::closest(&e.key, [key]).is_some();
        let mut unknown = self.map.entries.iter().filter(|e| !self.known.contains(&&*e.key));
        let there = self.map.get(key).is_some() || self.map.partial || unknown.any(meant);
        if !there {
            let message = format!("{} needs the key `{key}`", self.what);
            self.sink.error(Rule::MissingKey, anchor, message).suggest(format!("add `{key}: …`"));
        }
        self.text(key)
    }

    pub(super) fn not_blank(&mut self, word: Option<Word<'_>>, key: &str) {
        if let Some(word) = word.filter(|word| word.text.trim().is_empty()) {
            self.sink
                .error(Rule::InvalidValue, word.span, format!("`{key}` is empty"))
                .suggest("write a value that tells a reader what it is");
        }
    }

    pub(super) fn port(&mut self, key: &str) -> Port<'t> {
        match (self.text(key), self.map.get(key)) {
            (Some(word), _) => Port::Named(word),
            (None, Some(_)) => Port::Refused,
            (None, None) => Port::Usual,
        }
    }

    /// A mapping, and whether one is there that cannot be read.
    pub(super) fn map(&mut self, key: &str) -> (Option<&'t Map<'t>>, bool) {
        let Some(entry) = self.map.get(key) else { return (None, self.map.partial) };
        match &entry.value.data {
            Data::Map(map) => (Some(map), false),
            Data::Null => (None, false),
            Data::Refused => (None, true),
            Data::Bool(_) | Data::Number(_) | Data::Text(_) | Data::List(_) => {
                self.wrong(entry, "a mapping of keys and values");
                (None, true)
            }
        }
    }

    /// The items of a list; an absent or empty value has none. `cut` becomes
    /// true when items may be missing.
    pub(super) fn list(&mut self, key: &str, most: usize, cut: &mut bool) -> &'t [Yaml<'t>] {
        let Some(entry) = self.map.get(key) else { return &[] };
        match &entry.value.data {
            Data::List(list) if list.items.len() > most => {
                let count = list.items.len();
                let message = format!("`{key}` has {count} items, a graph has at most {most}");
                self.sink
                    .error(Rule::TooMany, &entry.key_span, message)
                    .suggest("split the work over several blueprints");
                *cut = true;
                &list.items[..most]
            }
            Data::List(list) => {
                *cut |= list.partial;
                &list.items
            }
            Data::Null => &[],
            Data::Refused => {
                *cut = true;
                &[]
            }
            Data::Bool(_) | Data::Number(_) | Data::Text(_) | Data::Map(_) => {
                self.wrong(entry, "a list").suggest("begin each item with `- `");
                *cut = true;
                &[]
            }
        }
    }

    pub(super) fn schema(&mut self) {
        let Some(entry) = self.map.get("schema") else { return };
        let Data::Number(number) = &entry.value.data else {
            if entry.value.data != Data::Refused {
                self.wrong(entry, "a number").suggest(format!("write `schema: {SCHEMA}`"));
            }
            return;
        };
        if number.as_u64() != Some(u64::from(SCHEMA)) {
            let message = format!("`schema: {number}` is not known to this program");
            self.sink
                .error(Rule::UnsupportedSchema, &entry.value.span, message)
                .suggest(format!("write `schema: {SCHEMA}`, or use a newer program"));
        }
    }

    pub(super) fn on_interrupt(&mut self) -> OnInterrupt {
        let words = [OnInterrupt::Fail, OnInterrupt::Resume];
        self.word("on_interrupt", &words, OnInterrupt::word).unwrap_or_default()
    }

    /// One of two words, if the key is there.
    pub(super) fn word<T: Copy>(
        &mut self,
        key: &str,
        words: &[T],
        word: fn(T) -> &'static str,
    ) -> Option<T> {
        let entry = self.map.get(key)?;
        let found = match &entry.value.data {
            Data::Refused => return None,
            Data::Text(text) => words.iter().copied().find(|one| word(*one) == text),
            Data::Null | Data::Bool(_) | Data::Number(_) | Data::List(_) | Data::Map(_) => None,
        };
        if found.is_none() {
            let words: Vec<String> = words.iter().map(|one| format!("`{}`", word(*one))).collect();
            self.wrong(entry, &words.join(" or "));
        }
        found
    }

    pub(super) fn max_parallel(&mut self) -> usize {
        let Some(entry) = self.map.get("max_parallel") else { return limits::PARALLEL_DEFAULT };
        let number = match &entry.value.data {
            Data::Refused => return limits::PARALLEL_DEFAULT,
            Data::Number(number) => number.as_u64().and_then(|n| usize::try_from(n).ok()),
            Data::Null | Data::Bool(_) | Data::Text(_) | Data::List(_) | Data::Map(_) => None,
        };
        let most = limits::PARALLEL_MAX;
        number.filter(|number| (1..=most).contains(number)).unwrap_or_else(|| {
            self.wrong(entry, &format!("a whole number from 1 to {most}"));
            limits::PARALLEL_DEFAULT
        })
    }

    fn wrong(&mut self, entry: &Entry<'_>, wanted: &str) -> &mut Finding {
        let (key, found) = (&entry.key, entry.value.describe());
        let message = format!("`{key}` must be {wanted}, it is {found}");
        self.sink.error(Rule::InvalidValue, &entry.value.span, message)
    }
}
