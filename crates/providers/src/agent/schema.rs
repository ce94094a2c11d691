//! The schema of an answer, in the forms that providers take.

use serde_json::{Value, json};

use super::request::AgentRequest;

/// The schema that the answer must fit: the one given, or for a decision an
/// object with the choice and its reason.
pub(super) fn wanted(request: &AgentRequest) -> Option<Value> {
    if let Some(schema) = &request.schema {
        return Some(schema.clone());
    }
    (!request.choices.is_empty()).then(|| {
        json!({
            "type": "object",
            "properties": {
                "chosen": { "type": "string", "enum": request.choices },
                "reason": { "type": "string" }
            },
            "required": ["chosen", "reason"],
            "additionalProperties": false
        })
    })
}

/// Whether a service that enforces schemas takes this one: it wants objects
/// to say that they have nothing else and that all they have must be there,
/// and refuses the whole request otherwise.
pub(super) fn is_strict(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object") && holds(schema, 0)
}

fn holds(schema: &Value, depth: usize) -> bool {
    let Some(object) = schema.as_object() else { return false };
    let plain =
        ["type", "properties", "required", "additionalProperties", "items", "enum", "description"];
    if depth > 5 || !object.keys().all(|key| plain.contains(&key.as_str())) {
        return false;
    }
    match object.get("type").and_then(Value::as_str) {
        Some("object") => {
            let Some(properties) = object.get("properties").and_then(Value::as_object) else {
                return false;
            };
            let required: Vec<&str> = object
                .get("required")
                .and_then(Value::as_array)
                .map(|names| names.iter().filter_map(Value::as_str).collect())
                .unwrap_or_default();
            object.get("additionalProperties") == Some(&Value::Bool(false))
                && properties.keys().all(|name| required.contains(&name.as_str()))
                && properties.values().all(|schema| holds(schema, depth + 1))
        }
        Some("array") => object.get("items").is_some_and(|items| holds(items, depth + 1)),
        Some("string" | "number" | "integer" | "boolean" | "null") => true,
        Some(_) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_asks_for_its_choice_and_the_reason() {
        let choices = vec!["approve".to_owned(), "reject".to_owned()];
        let schema = wanted(&AgentRequest { choices, ..AgentRequest::default() }).unwrap();
        assert_eq!(schema.pointer("/properties/chosen/enum/1"), Some(&json!("reject")));
        assert!(is_strict(&schema));
        assert_eq!(wanted(&AgentRequest::default()), None);
    }

    #[test]
    fn only_a_closed_schema_with_plain_words_is_strict() {
        for open in [
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^a"}}, "required": ["a"], "additionalProperties": false}),
            json!({"type": "object", "properties": {"a": {"type": "object"}}, "required": ["a"], "additionalProperties": false}),
            json!({"type": "array", "items": {"type": "string"}}),
            json!(true),
        ] {
            assert!(!is_strict(&open), "{open}");
        }
    }
}
