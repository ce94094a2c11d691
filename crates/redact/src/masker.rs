//! The masker: what is known, made ready for matching in one pass over a text,
//! however many values and forms there are. Pure.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use aho_corasick::automaton::Automaton;
use aho_corasick::nfa::contiguous::NFA;
use durable::Sealed;
use serde_json::Value;

use crate::pattern::Marks;
use crate::stream::StreamMasker;
use crate::{form, json, mark, part};

/// Replaces secrets by marks: the values it was told of, and what has the
/// shape of a secret. Clones share what they know.
#[derive(Clone)]
pub struct Masker {
    pub(crate) known: Option<Arc<Known>>,
    /// Nothing where only known values are masked.
    kinds: Option<Arc<Marks>>,
}

/// All forms of all values, and the mark of each.
pub(crate) struct Known {
    pub(crate) automaton: NFA,
    marks: Vec<String>,
    /// Index into `marks`, a pattern of the automaton.
    mark_of_pattern: Vec<usize>,
}

impl Masker {
    /// A masker for these named values and for everything that looks like a
    /// secret. A value with fewer than six bytes is
    /// left out (surrounding white space and brackets not counted): it would be
    /// found in ordinary words and numbers, and the marks would give it away.
    /// Of two names for one value the first is shown.
    pub fn new(values: impl IntoIterator<Item = (String, Sealed<String>)>) -> Self {
        let (names, forms) = named_forms(values);
        let kinds = Marks::new(forms.keys().map(String::as_str));
        let known = Known::new(&names, forms, Some(&kinds)).map(Arc::new);
        Self { known, kinds: Some(Arc::new(kinds)) }
    }

    /// The same for these values alone.
    pub fn known_only(values: impl IntoIterator<Item = (String, Sealed<String>)>) -> Self {
        let (names, forms) = named_forms(values);
        Self { known: Known::new(&names, forms, None).map(Arc::new), kinds: None }
    }

    /// The text with every secret replaced, and how many were. Secrets that
    /// overlap become one mark, named for the one that begins first.
    pub fn mask_text(&self, text: &str) -> (String, usize) {
        masked(self.stream(), text)
    }

    /// The same for a text that is the value of a field of this name: the name
    /// may say that it is a secret.
    pub(crate) fn mask_field(&self, name: &str, text: &str) -> (String, usize) {
        let (known, kinds) = (self.known.clone(), self.kinds.clone());
        masked(StreamMasker::behind_name(name, known, kinds), text)
    }

    /// The same for every string, key and number of a JSON value. A number
    /// that holds a secret becomes a string, for a mark is none; keys that
    /// become equal are told apart by a number behind the mark. The key counts
    /// as the name of its value, and of each item if that is an array.
    pub fn mask_json(&self, value: &Value) -> (Value, usize) {
        json::mask(self, value)
    }

    /// A masker for one stream of bytes that comes in pieces.
    pub fn stream(&self) -> StreamMasker {
        StreamMasker::new(self.known.clone(), self.kinds.clone())
    }
}

impl Default for Masker {
    fn default() -> Self {
        Self::new([])
    }
}

/// The names of the values worth masking, and whose each form is.
fn named_forms(
    values: impl IntoIterator<Item = (String, Sealed<String>)>,
) -> (Vec<String>, BTreeMap<String, usize>) {
    let mut names = Vec::new();
    let mut forms = BTreeMap::new();
    for (name, value) in values {
        let Some(bare) = form::bare(value.reveal()) else { continue };
        let parts = part::parts(bare);
        for piece in std::iter::once(bare).chain(parts.iter().filter_map(|part| form::bare(part))) {
            for form in form::forms(piece) {
                forms.entry(form).or_insert(names.len());
            }
        }
        names.push(name);
    }
    (names, forms)
}

fn masked(mut stream: StreamMasker, text: &str) -> (String, usize) {
    let mut masked = stream.push(text.as_bytes());
    masked.extend(stream.finish());
    let masked = String::from_utf8(masked).expect("whole secrets in valid text give way to ASCII");
    (masked, stream.hits())
}

impl fmt::Debug for Masker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let marks = self.known.as_ref().map_or(&[][..], |known| &known.marks[..]);
        f.debug_struct("Masker").field("marks", &marks).finish_non_exhaustive()
    }
}

impl Known {
    fn new(
        names: &[String],
        mut forms: BTreeMap<String, usize>,
        kinds: Option<&Marks>,
    ) -> Option<Self> {
        let marks: Vec<String> = names
            .iter()
            .enumerate()
            .map(|(index, name)| {
                mark::choose(mark::OPEN, name, index + 1, forms.keys().map(String::as_str))
            })
            .collect();
        // What still clashes was made up to look like a mark; it is no secret.
        let kinds = kinds.into_iter().flat_map(Marks::iter);
        let all: Vec<&str> = marks.iter().map(String::as_str).chain(kinds).collect();
        forms.retain(|form, _| !all.iter().any(|mark| mark::clashes(mark, form)));
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
