//! The masker: what is known, made ready for matching in one pass over a text,
//! however many values and forms there are. Pure.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use aho_corasick::automaton::Automaton;
use aho_corasick::nfa::contiguous::NFA;
use durable::Sealed;
use serde_json::Value;

use crate::stream::StreamMasker;
use crate::{form, json, mark};

/// Replaces known values by marks. Clones share what they know; without a
/// value to mask nothing is searched.
#[derive(Clone, Default)]
pub struct Masker {
    known: Option<Arc<Known>>,
}

/// All forms of all values, and the mark of each.
pub(crate) struct Known {
    pub(crate) automaton: NFA,
    marks: Vec<String>,
    /// Index into `marks`, a pattern of the automaton.
    mark_of_pattern: Vec<usize>,
}

impl Masker {
    /// A masker for these named values. A value with fewer than six bytes is
    /// left out (surrounding white space and brackets not counted): it would be
    /// found in ordinary words and numbers, and the marks would give it away.
    /// Of two names for one value the first is shown.
    pub fn new(values: impl IntoIterator<Item = (String, Sealed<String>)>) -> Self {
        let mut names = Vec::new();
        let mut forms = BTreeMap::new();
        for (name, value) in values {
            let Some(bare) = form::bare(value.reveal()) else { continue };
            for form in form::forms(bare) {
                forms.entry(form).or_insert(names.len());
            }
            names.push(name);
        }
        Self { known: Known::new(&names, forms).map(Arc::new) }
    }

    /// The text with every known value replaced, and how many were. Values
    /// that overlap become one mark, named for the one that begins first.
    pub fn mask_text(&self, text: &str) -> (String, usize) {
        if self.known.is_none() {
            return (text.to_owned(), 0);
        }
        let mut stream = self.stream();
        let mut masked = stream.push(text.as_bytes());
        masked.extend(stream.finish());
        let masked =
            String::from_utf8(masked).expect("whole forms in valid text give way to ASCII");
        (masked, stream.hits())
    }

    /// The same for every string, key and number of a JSON value. A number
    /// that holds a known value becomes a string, for a mark is none; keys that
    /// become equal are told apart by a number behind the mark.
    pub fn mask_json(&self, value: &Value) -> (Value, usize) {
        if self.known.is_none() {
            return (value.clone(), 0);
        }
        json::mask(self, value)
    }

    /// A masker for one stream of bytes that comes in pieces.
    pub fn stream(&self) -> StreamMasker {
        StreamMasker::new(self.known.clone())
    }
}

impl fmt::Debug for Masker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let marks = self.known.as_ref().map_or(&[][..], |known| &known.marks[..]);
        f.debug_struct("Masker").field("marks", &marks).finish_non_exhaustive()
    }
}

impl Known {
    fn new(names: &[String], mut forms: BTreeMap<String, usize>) -> Option<Self> {
        let marks: Vec<String> = names
            .iter()
            .enumerate()
            .map(|(index, name)| mark::choose(name, index + 1, forms.keys().map(String::as_str)))
            .collect();
        // What still clashes was made up to look like a mark; it is no secret.
        forms.retain(|form, _| !marks.iter().any(|mark| mark::clashes(mark, form)));
        if forms.is_empty() {
            return None;
        }
        let automaton = NFA::new(forms.keys()).expect("memory ends long before state numbers do");
        Some(Self { automaton, marks, mark_of_pattern: forms.into_values().collect() })
    }

    /// The longest form that ends where the automaton is in `state`: how long
    /// it is and which mark replaces it.
    pub(crate) fn found(&self, state: aho_corasick::automaton::StateID) -> Option<(usize, usize)> {
        if !self.automaton.is_match(state) {
            return None;
        }
        (0..self.automaton.match_len(state))
            .map(|index| self.automaton.match_pattern(state, index))
            .map(|pattern| {
                (self.automaton.pattern_len(pattern), self.mark_of_pattern[pattern.as_usize()])
            })
            .max_by_key(|(bytes, _)| *bytes)
    }

    pub(crate) fn mark(&self, index: usize) -> &str {
        &self.marks[index]
    }
}
