//! The keywords of JSON Schema 2020-12. An unknown one is ignored by the
//! standard and so would check nothing; here it is an error.

use serde_json::Value;

use super::SchemaError;
use crate::suggest::did_you_mean;

pub(super) const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// What a keyword holds, as far as schemas inside it are concerned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Nothing,
    Schema,
    Schemas,
    NamedSchemas,
}

/// Keywords that can refuse a value.
const ASSERTIONS: [(&str, Holds); 43] = [
    ("$dynamicRef", Holds::Nothing),
    ("$ref", Holds::Nothing),
    ("additionalProperties", Holds::Schema),
    ("allOf", Holds::Schemas),
    ("anyOf", Holds::Schemas),
    ("const", Holds::Nothing),
    ("contains", Holds::Schema),
    ("contentEncoding", Holds::Nothing),
    ("contentMediaType", Holds::Nothing),
    ("contentSchema", Holds::Schema),
    ("dependentRequired", Holds::Nothing),
    ("dependentSchemas", Holds::NamedSchemas),
    ("else", Holds::Schema),
    ("enum", Holds::Nothing),
    ("exclusiveMaximum", Holds::Nothing),
    ("exclusiveMinimum", Holds::Nothing),
    ("format", Holds::Nothing),
    ("if", Holds::Schema),
    ("items", Holds::Schema),
    ("maxContains", Holds::Nothing),
    ("maxItems", Holds::Nothing),
    ("maxLength", Holds::Nothing),
    ("maxProperties", Holds::Nothing),
    ("maximum", Holds::Nothing),
    ("minContains", Holds::Nothing),
    ("minItems", Holds::Nothing),
    ("minLength", Holds::Nothing),
    ("minProperties", Holds::Nothing),
    ("minimum", Holds::Nothing),
    ("multipleOf", Holds::Nothing),
    ("not", Holds::Schema),
    ("oneOf", Holds::Schemas),
    ("pattern", Holds::Nothing),
    ("patternProperties", Holds::NamedSchemas),
    ("prefixItems", Holds::Schemas),
    ("properties", Holds::NamedSchemas),
    ("propertyNames", Holds::Schema),
    ("required", Holds::Nothing),
    ("then", Holds::Schema),
    ("type", Holds::Nothing),
    ("unevaluatedItems", Holds::Schema),
    ("unevaluatedProperties", Holds::Schema),
    ("uniqueItems", Holds::Nothing),
];

/// Keywords that only describe.
const ANNOTATIONS: [(&str, Holds); 16] = [
    ("$anchor", Holds::Nothing),
    ("$comment", Holds::Nothing),
    ("$defs", Holds::NamedSchemas),
    ("$dynamicAnchor", Holds::Nothing),
    ("$id", Holds::Nothing),
    ("$schema", Holds::Nothing),
    ("$vocabulary", Holds::Nothing),
    ("default", Holds::Nothing),
    ("definitions", Holds::NamedSchemas),
    ("deprecated", Holds::Nothing),
    ("description", Holds::Nothing),
    ("examples", Holds::Nothing),
    ("readOnly", Holds::Nothing),
    ("title", Holds::Nothing),
    ("writeOnly", Holds::Nothing),
    ("$recursiveAnchor", Holds::Nothing),
];

pub(super) fn is_keyword(word: &str) -> bool {
    holds(word).is_some()
}

/// Whether there is a keyword at the top that can refuse some value.
pub(super) fn constrains(schema: &Value) -> bool {
    let Some(map) = schema.as_object() else { return false };
    map.iter().any(|(key, value)| {
        let known = ASSERTIONS.iter().any(|(assertion, _)| assertion == key);
        known && !(key == "properties" && value.as_object().is_some_and(|map| map.is_empty()))
    })
}

/// Refuses words that are no keywords, at any depth. Those that begin with
/// `x-` are the author's own.
pub(super) fn refuse_unknown(schema: &Value) -> Result<(), SchemaError> {
    let mut open = vec![(String::new(), schema)];
    while let Some((pointer, schema)) = open.pop() {
        if let Value::String(word) = schema {
            return Err(not_a_schema(word, &pointer));
        }
        let Some(map) = schema.as_object() else { continue };
        if let Some(Value::String(word)) = map.get("type") {
            refuse_unknown_type(word, &pointer)?;
        }
        for (key, value) in map {
            let below = |name: &str| format!("{pointer}/{name}");
            match holds(key) {
                Some(Holds::Nothing) => {}
                Some(Holds::Schema) => open.push((below(key), value)),
                Some(Holds::Schemas) => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        open.push((below(&format!("{key}/{index}")), item));
                    }
                }
                Some(Holds::NamedSchemas) => {
                    for (name, item) in value.as_object().into_iter().flatten() {
                        open.push((below(&format!("{key}/{name}")), item));
                    }
                }
                None if key.starts_with("x-") => {}
                None => return Err(unknown(key, &pointer)),
            }
        }
    }
    Ok(())
}

fn unknown(key: &str, pointer: &str) -> SchemaError {
    let place = if pointer.is_empty() { String::new() } else { format!(" at `{pointer}`") };
    let words = ASSERTIONS.iter().chain(&ANNOTATIONS).map(|(word, _)| *word);
    SchemaError {
        message: format!(
            "`{key}`{place} is not a keyword of JSON Schema 2020-12 and checks nothing"
        ),
        suggestion: did_you_mean(key, words).or(Some(
            "fields are listed under `properties`, or as a map of names to type words".to_owned(),
        )),
    }
}

fn not_a_schema(word: &str, pointer: &str) -> SchemaError {
    SchemaError {
        message: format!("`{pointer}` is the word `{word}`, not a schema"),
        suggestion: Some(format!("write `{{\"type\": \"{word}\"}}`")),
    }
}

fn refuse_unknown_type(word: &str, pointer: &str) -> Result<(), SchemaError> {
    const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "array", "object", "null"];
    if TYPES.contains(&word) {
        return Ok(());
    }
    Err(SchemaError {
        message: format!("`{word}` at `{pointer}/type` is not the name of a type"),
        suggestion: did_you_mean(word, TYPES).or(Some(
            "the types are string, number, integer, boolean, array, object and null".into(),
        )),
    })
}

fn holds(word: &str) -> Option<Holds> {
    ASSERTIONS.iter().chain(&ANNOTATIONS).find(|(known, _)| *known == word).map(|(_, holds)| *holds)
}
