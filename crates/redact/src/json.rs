//! Masking inside a JSON value: strings, keys and numbers, each value with the
//! name that its key gives it. Pure.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::Masker;

/// The masked value, and how many marks it took.
pub(crate) fn mask(masker: &Masker, value: &Value) -> (Value, usize) {
    let mut walk = Walk { masker, hits: 0 };
    let masked = walk.value(value, None);
    (masked, walk.hits)
}

struct Walk<'a> {
    masker: &'a Masker,
    hits: usize,
}

impl Walk<'_> {
    fn value(&mut self, value: &Value, name: Option<&str>) -> Value {
        match value {
            Value::Null | Value::Bool(_) => value.clone(),
            Value::Number(number) => {
                self.text(&number.to_string(), name).map_or_else(|| value.clone(), Value::String)
            }
            Value::String(text) => {
                self.text(text, name).map_or_else(|| value.clone(), Value::String)
            }
            Value::Array(items) => items.iter().map(|item| self.value(item, name)).collect(),
            Value::Object(fields) => Value::Object(self.object(fields)),
        }
    }

    fn object(&mut self, fields: &Map<String, Value>) -> Map<String, Value> {
        let keys: Vec<Option<String>> = fields.keys().map(|key| self.text(key, None)).collect();
        // Keys that stay have the first right to their names.
        let mut taken: BTreeSet<String> = fields
            .keys()
            .zip(&keys)
            .filter(|(_, masked)| masked.is_none())
            .map(|(key, _)| key.clone())
            .collect();
        fields
            .iter()
            .zip(keys)
            .map(|((key, value), masked)| {
                let value = self.value(value, Some(key));
                (masked.map_or_else(|| key.clone(), |name| free(name, &mut taken)), value)
            })
            .collect()
    }

    /// The masked text, or nothing where there is nothing to mask.
    fn text(&mut self, text: &str, name: Option<&str>) -> Option<String> {
        if text.is_empty() {
            return None;
        }
        let (masked, hits) = match name {
            Some(name) => self.masker.mask_field(name, text),
            None => self.masker.mask_text(text),
        };
        self.hits += hits;
        (hits > 0).then_some(masked)
    }
}

/// The name, with the first free number behind it if another key has it.
fn free(name: String, taken: &mut BTreeSet<String>) -> String {
    let mut key = name.clone();
    let mut number = 1;
    while !taken.insert(key.clone()) {
        number += 1;
        key = format!("{name}#{number}");
    }
    key
}
