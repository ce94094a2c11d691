//! What a field holds, by its kind.

use serde_json::{Value, json};

use super::key::{LENGTH, NAME, NOT_BLANK};
use crate::node_type::{Field, FieldKind};

/// Names of environment variables.
const VARIABLE: &str = "^[A-Za-z_][A-Za-z0-9_]*$";

/// Texts in which no value can stand.
const PLAIN: &str = r"^(?!.*\{\{)[\s\S]*\S";

/// Sessions of a provider.
const SESSION: &str = r"^\s*(fresh|continue:\s*[A-Za-z_][A-Za-z0-9_-]*)\s*$";

/// Names of HTTP headers.
const HEADER: &str = "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$";

/// The same, without those that the runner sets.
const OWN_VARIABLE: &str = "^(?!WARDIAN_)[A-Za-z_][A-Za-z0-9_]*$";

pub(super) fn of(field: &Field) -> Value {
    let mut schema = if field.multiple { list(field) } else { one(field) };
    schema["title"] = field.label.into();
    schema["description"] = field.help.into();
    if let Some(default) = field.default {
        // A default of the registry is written as an author would write it.
        let value = serde_json::from_str(default).ok().filter(|_| !is_text(field.kind));
        schema["default"] = value.unwrap_or_else(|| default.into());
    }
    schema
}

fn list(field: &Field) -> Value {
    match field.kind {
        FieldKind::BranchPort => json!({
            "type": "array", "minItems": 1, "uniqueItems": true,
            "items": { "type": "string", "pattern": NAME },
        }),
        FieldKind::EnvName => json!({
            "type": "array", "items": { "type": "string", "pattern": VARIABLE },
        }),
        FieldKind::Plain => json!({
            "type": "array", "minItems": 1, "items": { "type": "string", "pattern": PLAIN },
        }),
        FieldKind::Text
        | FieldKind::LongText
        | FieldKind::Prompt
        | FieldKind::Code { .. }
        | FieldKind::Enum { .. }
        | FieldKind::Bool
        | FieldKind::Number { .. }
        | FieldKind::Duration
        | FieldKind::Path
        | FieldKind::AgentRef
        | FieldKind::AutomationRef
        | FieldKind::JsonSchema
        | FieldKind::KvMap
        | FieldKind::EnvMap
        | FieldKind::Items
        | FieldKind::HeaderMap
        | FieldKind::Session
        | FieldKind::Condition => json!({ "type": "array", "items": { "type": "string" } }),
    }
}

fn one(field: &Field) -> Value {
    match field.kind {
        FieldKind::Enum { options } => json!({ "enum": options }),
        FieldKind::JsonSchema => json!({ "type": ["string", "object"] }),
        FieldKind::KvMap => json!({ "type": "object" }),
        FieldKind::EnvMap => json!({
            "type": "object",
            "propertyNames": { "pattern": OWN_VARIABLE },
            "additionalProperties": { "type": "string" },
        }),
        FieldKind::HeaderMap => json!({
            "type": "object",
            "propertyNames": { "pattern": HEADER },
            "additionalProperties": { "type": "string" },
        }),
        FieldKind::Bool => json!({ "type": "boolean" }),
        FieldKind::Number { least, most } => {
            let form =
                if field.templated { json!(["integer", "string"]) } else { json!("integer") };
            json!({ "type": form, "minimum": least, "maximum": most })
        }
        FieldKind::Plain => json!({ "type": "string", "pattern": PLAIN }),
        FieldKind::Session => json!({ "type": "string", "pattern": SESSION }),
        FieldKind::Duration if !field.templated => json!({ "type": "string", "pattern": LENGTH }),
        FieldKind::Text
        | FieldKind::LongText
        | FieldKind::Prompt
        | FieldKind::Code { .. }
        | FieldKind::Duration
        | FieldKind::Path
        | FieldKind::AgentRef
        | FieldKind::AutomationRef
        | FieldKind::EnvName
        | FieldKind::BranchPort
        | FieldKind::Items
        | FieldKind::Condition => {
            let may_be_blank = !field.required && field.kind != FieldKind::Path;
            match may_be_blank {
                true => json!({ "type": "string" }),
                false => json!({ "type": "string", "pattern": NOT_BLANK }),
            }
        }
    }
}

/// Whether `true` or `5` in its default is a text.
fn is_text(kind: FieldKind) -> bool {
    !matches!(kind, FieldKind::Bool | FieldKind::Number { .. })
}
