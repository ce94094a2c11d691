//! Templates: text with paths into the registry, `{{nodes.triage.output.title}}`.
//! Rendering is single-pass: what a value contains is never looked at again.

mod resolve;
pub(crate) mod syntax;
#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Range;

use durable::limits;
use serde_json::Value;
use thiserror::Error;

use crate::{Root, Scope};

/// A text with places for values.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    source: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    Text(String),
    Value(Expr),
}

/// One `{{ … }}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    pub root: Root,
    pub path: Vec<Step>,
    /// In the order in which they apply: `default`, `lines`, `json`, `file`.
    pub filters: Vec<Filter>,
    /// Bytes of the template's source, braces included.
    pub range: Range<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Key(String),
    Index(usize),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    /// The lines of a text as a list, without the empty ones.
    Lines,
    /// The value as JSON text.
    Json,
    /// What stands for a value that is missing or null.
    Default(Value),
    /// The path of a file that holds the value.
    File,
}

/// What is wrong with the text of a template, with its place in that text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct SyntaxError {
    pub message: String,
    pub suggestion: Option<String>,
    pub range: Range<usize>,
}

/// Why a template or a condition has no value in some run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TemplateError {
    /// The path leads to nothing, or to null.
    #[error("unresolved {{{{{path}}}}}: {why}")]
    Unresolved { path: String, why: String },
    #[error("{{{{{path}}}}} holds a NUL character, which no process can be given")]
    Nul { path: String },
    #[error("the rendered text has {bytes} bytes, the most is {most}")]
    TooLarge { bytes: usize, most: usize },
    /// A condition puts in order what has no order.
    #[error("`{condition}` cannot be decided: {why}")]
    Incomparable { condition: String, why: String },
    /// A condition that is an expression is neither true nor false.
    #[error("`{condition}` has no answer: {why}")]
    NoAnswer { condition: String, why: String },
}

impl Template {
    /// Reads the text; all errors at once.
    pub fn parse(source: &str) -> Result<Self, Vec<SyntaxError>> {
        let pieces = syntax::scan(source)?;
        let mut parts: Vec<Part> = Vec::with_capacity(pieces.len());
        for piece in pieces {
            match (parts.last_mut(), piece.part) {
                (Some(Part::Text(before)), Part::Text(text)) => before.push_str(&text),
                (_, part) => parts.push(part),
            }
        }
        Ok(Self { source: source.to_owned(), parts })
    }

    /// A path without braces and filters, as a template that is that place.
    pub fn path(source: &str) -> Result<Self, SyntaxError> {
        let expr = syntax::bare_path(source)?;
        Ok(Self { source: source.to_owned(), parts: vec![Part::Value(expr)] })
    }

    /// The text when it has no places.
    pub fn literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.parts.iter().filter_map(|part| match part {
            Part::Value(expr) => Some(expr),
            Part::Text(_) => None,
        })
    }

    pub fn render(&self, scope: &dyn Scope) -> Result<String, TemplateError> {
        self.fill(|expr| expr.text(scope))
    }

    /// As [`Self::render`], for a text that a process is given: as an
    /// argument, a folder, or a value of its environment.
    pub fn render_for_process(&self, scope: &dyn Scope) -> Result<String, TemplateError> {
        self.fill(|expr| expr.text_for_process(scope))
    }

    /// As [`Self::render`], but a template that is exactly one place keeps
    /// the type of its value.
    pub fn render_value(&self, scope: &dyn Scope) -> Result<Value, TemplateError> {
        match self.parts.as_slice() {
            [Part::Value(expr)] => expr.value(scope),
            _ => self.render(scope).map(Value::String),
        }
    }

    fn fill(
        &self,
        text_of: impl Fn(&Expr) -> Result<String, TemplateError>,
    ) -> Result<String, TemplateError> {
        let mut out = String::new();
        let mut bytes = 0;
        for part in &self.parts {
            let value;
            let text = match part {
                Part::Text(text) => text,
                Part::Value(expr) => {
                    value = text_of(expr)?;
                    &value
                }
            };
            bytes += text.len();
            // Beyond the limit the rest is counted, not kept.
            if bytes <= limits::RENDERED_BYTES {
                out.push_str(text);
            }
        }
        within_limit(bytes)?;
        Ok(out)
    }
}

impl Expr {
    /// The same value in every scope, wherever the two stand.
    pub(crate) fn means_the_same(&self, other: &Self) -> bool {
        (&self.root, &self.path, &self.filters) == (&other.root, &other.path, &other.filters)
    }
}

/// The path in its usual spelling, without filters.
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        resolve::write_path(f, &self.root, &self.path)
    }
}

/// True for a name that a path can hold without quotes: a letter or `_`,
/// then letters, digits, `_` and `-`.
pub fn is_plain_name(text: &str) -> bool {
    syntax::plain_name_length(text) == text.len() && !text.is_empty()
}

fn within_limit(bytes: usize) -> Result<(), TemplateError> {
    let most = limits::RENDERED_BYTES;
    if bytes > most { Err(TemplateError::TooLarge { bytes, most }) } else { Ok(()) }
}
