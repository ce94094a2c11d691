//! Schemas in their three forms, told apart when a blueprint is read. A
//! schema that would check nothing is an error, and a reference that leads
//! out of the schema is one too: nothing is ever fetched.

mod keywords;
mod read;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;
use thiserror::Error;

/// Causes told for one value, and letters of each.
const CAUSES: usize = 20;
const CAUSE_CHARS: usize = 400;

/// A compiled schema.
#[derive(Clone)]
pub struct Schema(Arc<Compiled>);

struct Compiled {
    form: Form,
    source: Value,
    json_schema: Value,
    validator: Validator,
}

/// How a schema was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A map from names to type words: every name is required and no other
    /// is allowed.
    Flat,
    /// `properties` without `required`: every name listed is required.
    ObjectAllRequired,
    /// JSON Schema 2020-12, as it stands.
    JsonSchema,
}

/// What is wrong with the text of a schema.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct SchemaError {
    pub message: String,
    pub suggestion: Option<String>,
}

impl Schema {
    /// `source` is the field's value: a JSON text in a string, or a mapping.
    pub fn parse(source: &Value) -> Result<Self, SchemaError> {
        let read = read::read(source)?;
        let validator = jsonschema::draft202012::options()
            .offline()
            .should_validate_formats(true)
            .should_ignore_unknown_formats(false)
            // An engine without backtracking: a pattern meets text from outside.
            .with_pattern_options(jsonschema::PatternOptions::regex())
            .build(&read.json_schema)
            .map_err(|error| not_valid(&error))?;
        let read::Read { form, source, json_schema } = read;
        Ok(Self(Arc::new(Compiled { form, source, json_schema, validator })))
    }

    pub fn form(&self) -> Form {
        self.0.form
    }

    /// The JSON as it was written.
    pub fn source(&self) -> &Value {
        &self.0.source
    }

    /// The same as JSON Schema 2020-12.
    pub fn json_schema(&self) -> &Value {
        &self.0.json_schema
    }

    /// Each cause has the JSON pointer of its place; at most twenty are told.
    /// What a value holds is not repeated.
    pub fn check(&self, value: &Value) -> Result<(), Vec<String>> {
        let causes: Vec<String> = self
            .0
            .validator
            .iter_errors(value)
            .take(CAUSES)
            .map(|error| {
                let cause = error.masked_with("the value").to_string();
                format!("{}: {}", place(error.instance_path().as_str()), shortened(&cause))
            })
            .collect();
        if causes.is_empty() { Ok(()) } else { Err(causes) }
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema")
            .field("form", &self.0.form)
            .field("source", &self.0.source)
            .finish_non_exhaustive()
    }
}

fn not_valid(error: &ValidationError<'_>) -> SchemaError {
    let kind = error.kind();
    let fix = if matches!(kind, ValidationErrorKind::Referencing(_)) {
        "a `$ref` leads to a part of this schema, as in `#/$defs/name`"
    } else if matches!(kind, ValidationErrorKind::Format { .. }) {
        "a pattern has neither look-around nor back-references; a format is one of the standard's"
    } else {
        "write it as JSON Schema 2020-12 has it"
    };
    SchemaError {
        message: format!(
            "the schema is not valid at {}: {}",
            place(error.instance_path().as_str()),
            shortened(&error.to_string())
        ),
        suggestion: Some(fix.to_owned()),
    }
}

fn place(pointer: &str) -> String {
    if pointer.is_empty() { "the top".to_owned() } else { format!("`{}`", shortened(pointer)) }
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= CAUSE_CHARS {
        return text.to_owned();
    }
    text.chars().take(CAUSE_CHARS).chain(['…']).collect()
}
