//! From a path to its value, and when there is none, why: which step led to
//! nothing and what stands there instead. Names are told, values never.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use super::{Expr, Filter, Step, TemplateError, is_plain_name};
use crate::suggest::did_you_mean;
use crate::{Root, Scope};

/// Keys named in one message, and letters of each.
const KEYS_TOLD: usize = 8;
const KEY_CHARS: usize = 40;

impl Expr {
    /// The value, filters applied.
    pub(crate) fn value(&self, scope: &dyn Scope) -> Result<Value, TemplateError> {
        let mut value = Cow::Borrowed(self.found(scope)?);
        for filter in &self.filters {
            match filter {
                Filter::Default(_) => {}
                Filter::Lines => value = Cow::Owned(self.lines(&value)?),
                Filter::Json => value = Cow::Owned(Value::String(value.to_string())),
                Filter::File => value = Cow::Owned(Value::String(scope.file(&text_of(&value)))),
            }
        }
        Ok(value.into_owned())
    }

    fn lines(&self, value: &Value) -> Result<Value, TemplateError> {
        let Value::String(text) = value else {
            return Err(self.unresolved("only a text has lines, and it is none".to_owned()));
        };
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        Ok(lines.map(|line| Value::String(line.to_owned())).collect())
    }

    /// The value as the text that stands in its place.
    pub(crate) fn text(&self, scope: &dyn Scope) -> Result<String, TemplateError> {
        match self.value(scope)? {
            Value::String(text) => Ok(text),
            other @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_)) => Ok(other.to_string()),
        }
    }

    pub(crate) fn text_for_process(&self, scope: &dyn Scope) -> Result<String, TemplateError> {
        let text = self.text(scope)?;
        if text.contains('\0') {
            return Err(TemplateError::Nul { path: self.to_string() });
        }
        Ok(text)
    }

    /// The value before filters; `None` when the path leads to nothing.
    pub(crate) fn look_up<'a>(&self, scope: &'a dyn Scope) -> Option<&'a Value> {
        self.path.iter().try_fold(scope.value(&self.root)?, |value, step| enter(value, step))
    }

    /// The value before filters, or why there is none. Null is a value here.
    pub(crate) fn strict<'a>(&self, scope: &'a dyn Scope) -> Result<&'a Value, TemplateError> {
        self.look_up(scope).ok_or_else(|| self.unresolved(self.why_missing(scope)))
    }

    fn found<'a>(&'a self, scope: &'a dyn Scope) -> Result<&'a Value, TemplateError> {
        let value = self.look_up(scope);
        if let Some(value) = value.filter(|value| !value.is_null()) {
            return Ok(value);
        }
        for filter in &self.filters {
            if let Filter::Default(stated) = filter {
                return Ok(stated);
            }
        }
        match value {
            Some(null) if self.filters.contains(&Filter::Json) => Ok(null),
            Some(_) => Err(self.unresolved(
                "it is null; say what stands for it with `| default(…)`, or write it as JSON with `| json`"
                    .to_owned(),
            )),
            None => Err(self.unresolved(self.why_missing(scope))),
        }
    }

    fn unresolved(&self, why: String) -> TemplateError {
        TemplateError::Unresolved { path: self.to_string(), why }
    }

    fn why_missing(&self, scope: &dyn Scope) -> String {
        let Some(mut value) = scope.value(&self.root) else {
            return absent_root(&self.root);
        };
        for (walked, step) in self.path.iter().enumerate() {
            match enter(value, step) {
                Some(next) => value = next,
                None => {
                    let at = PathText(&self.root, &self.path[..walked]);
                    return format!("`{at}` {}", no_step(value, step));
                }
            }
        }
        "it leads to nothing".to_owned()
    }
}

struct PathText<'a>(&'a Root, &'a [Step]);

impl fmt::Display for PathText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_path(f, self.0, self.1)
    }
}

pub(super) fn write_path(f: &mut fmt::Formatter<'_>, root: &Root, path: &[Step]) -> fmt::Result {
    match root {
        Root::Output(id) => write!(f, "nodes.{id}.output")?,
        Root::Prev(id) => write!(f, "nodes.{id}.prev")?,
        Root::Error(id) => write!(f, "nodes.{id}.error")?,
        Root::Trigger => f.write_str("trigger.output")?,
        Root::Storage => f.write_str("storage")?,
        Root::RunId => f.write_str("run.id")?,
        Root::Item => f.write_str("item")?,
        Root::ItemIndex => f.write_str("item_index")?,
    }
    for step in path {
        match step {
            Step::Key(key) if is_plain_name(key) => write!(f, ".{key}")?,
            Step::Key(key) => write!(f, "[{}]", Value::from(key.as_str()))?,
            Step::Index(index) => write!(f, "[{index}]")?,
        }
    }
    Ok(())
}

/// An index also reaches a key that is written as a number, since a path
/// cannot say which of the two it means.
fn enter<'a>(value: &'a Value, step: &Step) -> Option<&'a Value> {
    match (value, step) {
        (Value::Object(map), Step::Key(key)) => map.get(key),
        (Value::Object(map), Step::Index(index)) => map.get(&index.to_string()),
        (Value::Array(items), Step::Index(index)) => items.get(*index),
        (Value::Array(_), Step::Key(_))
        | (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_), _) => None,
    }
}

fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Cow::Owned(value.to_string())
        }
    }
}

fn absent_root(root: &Root) -> String {
    match root {
        Root::Output(id) => format!("node `{id}` has no output"),
        Root::Prev(id) => format!("node `{id}` has no round before this one"),
        Root::Error(id) => format!("node `{id}` has no error"),
        Root::Trigger => "the trigger has no output".to_owned(),
        Root::Storage => "nothing is stored".to_owned(),
        Root::RunId => "the run has no id here".to_owned(),
        Root::Item | Root::ItemIndex => "there is no item here".to_owned(),
    }
}

fn no_step(value: &Value, step: &Step) -> String {
    let wanted = match step {
        Step::Key(key) => format!("`{}`", shortened(key)),
        Step::Index(index) => format!("`{index}`"),
    };
    match value {
        Value::Object(map) if map.is_empty() => format!("has no {wanted}: it is an empty object"),
        Value::Object(map) => {
            let told: Vec<String> =
                map.keys().take(KEYS_TOLD).map(|key| format!("`{}`", shortened(key))).collect();
            let more = map.len() - told.len();
            let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
            let near = match step {
                Step::Key(key) => did_you_mean(key, map.keys().map(String::as_str)),
                Step::Index(_) => None,
            };
            let near = near.map(|near| format!("; {near}")).unwrap_or_default();
            format!("has no {wanted}, it has {}{rest}{near}", told.join(", "))
        }
        Value::Array(items) => match step {
            Step::Index(_) => {
                format!("has no {wanted}: it is an array of {}", counted(items.len(), "item"))
            }
            Step::Key(_) => format!(
                "has no {wanted}: it is an array of {}, reached by number as in `[0]`",
                counted(items.len(), "item")
            ),
        },
        Value::Null => format!("has no {wanted}: it is null"),
        Value::Bool(_) => format!("has no {wanted}: it is a boolean"),
        Value::Number(_) => format!("has no {wanted}: it is a number"),
        Value::String(_) => format!("has no {wanted}: it is a string"),
    }
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn shortened(key: &str) -> String {
    if key.chars().count() <= KEY_CHARS {
        return key.to_owned();
    }
    key.chars().take(KEY_CHARS).chain(['…']).collect()
}
