//! From a field's value to its form and to the JSON Schema that it stands for.

use durable::limits;
use serde_json::{Map, Value, json};

use super::keywords::{self, DIALECT};
use super::{Form, SchemaError};
use crate::suggest::did_you_mean;

/// The words for types, with the name that JSON Schema has for each.
const TYPE_WORDS: [(&str, &str); 8] = [
    ("string", "string"),
    ("number", "number"),
    ("integer", "integer"),
    ("boolean", "boolean"),
    ("bool", "boolean"),
    ("array", "array"),
    ("object", "object"),
    ("null", "null"),
];

pub(super) struct Read {
    pub(super) form: Form,
    pub(super) source: Value,
    pub(super) json_schema: Value,
}

pub(super) fn read(source: &Value) -> Result<Read, SchemaError> {
    let map = object(source)?;
    let source = Value::Object(map.clone());
    if map.is_empty() {
        return Err(checks_nothing("an empty schema"));
    }
    if let Some(dialect) = map.get("$schema") {
        refuse_other_dialects(dialect)?;
    }
    if let Some(type_word) = only_a_type(&map) {
        return Err(SchemaError {
            message: format!("`{{\"type\": \"{type_word}\"}}` can be read in two ways"),
            suggestion: Some(format!(
                "for a value of that type write `{{\"$schema\": \"{DIALECT}\", \"type\": \
                 \"{type_word}\"}}`; for an object with a field `type` write \
                 `{{\"properties\": {{\"type\": {{\"type\": \"{type_word}\"}}}}}}`"
            )),
        });
    }
    if is_flat(&map) {
        let json_schema = flat(&map)?;
        return Ok(Read { form: Form::Flat, source, json_schema });
    }
    let (form, json_schema) = object_form(map);
    keywords::refuse_unknown(&json_schema)?;
    if !keywords::constrains(&json_schema) {
        return Err(checks_nothing("this schema"));
    }
    Ok(Read { form, source, json_schema })
}

fn object(source: &Value) -> Result<Map<String, Value>, SchemaError> {
    let parsed;
    let value = match source {
        Value::String(text) if text.trim().is_empty() => {
            return Err(checks_nothing("an empty schema"));
        }
        Value::String(text) => {
            parsed = serde_json::from_str(text).map_err(|error| SchemaError {
                message: format!("the schema is not JSON: {error}"),
                suggestion: Some(example()),
            })?;
            not_too_deep(&parsed)?;
            &parsed
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            source
        }
    };
    match value {
        Value::Object(map) => Ok(map.clone()),
        Value::Bool(true) => Err(checks_nothing("the schema `true`")),
        Value::Bool(false) => Err(SchemaError {
            message: "the schema `false` refuses every value".to_owned(),
            suggestion: Some(example()),
        }),
        Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => Err(SchemaError {
            message: "the schema is not a JSON object".to_owned(),
            suggestion: Some(example()),
        }),
    }
}

/// As for any other value of the file. A snapshot that is nested deeper could
/// not be read again.
fn not_too_deep(schema: &Value) -> Result<(), SchemaError> {
    let mut level = vec![schema];
    for _ in 0..limits::DEPTH {
        level = level.into_iter().flat_map(inside).collect();
        if level.is_empty() {
            return Ok(());
        }
    }
    Err(SchemaError {
        message: format!("the schema is nested more than {} deep", limits::DEPTH),
        suggestion: Some("flatten the schema".to_owned()),
    })
}

fn inside(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(map) => map.values().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

fn refuse_other_dialects(dialect: &Value) -> Result<(), SchemaError> {
    if dialect.as_str().is_some_and(|uri| uri.trim_end_matches('#') == DIALECT) {
        return Ok(());
    }
    Err(SchemaError {
        message: "the schema names another dialect than JSON Schema 2020-12".to_owned(),
        suggestion: Some(format!("write `\"$schema\": \"{DIALECT}\"` or leave the key out")),
    })
}

/// A schema that has no other key than `type` is a field `type` in one form
/// and a plain type in another.
fn only_a_type(map: &Map<String, Value>) -> Option<&str> {
    let word = map.get("type")?.as_str()?;
    (map.len() == 1 && type_name(word).is_some()).then_some(word)
}

/// A map of strings is flat, unless it reads as JSON Schema: then all its
/// keys are keywords and not all its values are type words.
fn is_flat(map: &Map<String, Value>) -> bool {
    let strings = map.values().all(Value::is_string);
    let words = map.values().all(|value| value.as_str().and_then(type_name).is_some());
    strings && (words || !map.keys().all(|key| keywords::is_keyword(key)))
}

fn flat(map: &Map<String, Value>) -> Result<Value, SchemaError> {
    let mut properties = Map::new();
    for (name, word) in map {
        let word = word.as_str().unwrap_or_default();
        let Some(type_name) = type_name(word) else {
            return Err(SchemaError {
                message: format!("`{word}`, the type of `{name}`, is not the name of a type"),
                suggestion: did_you_mean(word, TYPE_WORDS.map(|(word, _)| word)).or(Some(
                    "the types are string, number, integer, boolean, array, object and null"
                        .to_owned(),
                )),
            });
        };
        properties.insert(name.clone(), json!({ "type": type_name }));
    }
    let required: Vec<&String> = map.keys().collect();
    Ok(json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    }))
}

/// Properties say that an object is meant, so other values are refused even
/// where the author left `type` out.
fn object_form(mut map: Map<String, Value>) -> (Form, Value) {
    let Some(Value::Object(properties)) = map.get_mut("properties") else {
        return (Form::JsonSchema, Value::Object(map));
    };
    for property in properties.values_mut() {
        if property.get("type").and_then(Value::as_str) == Some("bool") {
            property["type"] = Value::from("boolean");
        }
    }
    let names: Vec<Value> = properties.keys().map(|name| Value::from(name.as_str())).collect();
    let form =
        if map.contains_key("required") { Form::JsonSchema } else { Form::ObjectAllRequired };
    if form == Form::ObjectAllRequired && !names.is_empty() {
        map.insert("required".to_owned(), Value::Array(names));
    }
    let empty = map.len() == 1 && !map.contains_key("required") && form == Form::ObjectAllRequired;
    if !empty {
        map.entry("type").or_insert_with(|| Value::from("object"));
    }
    (form, Value::Object(map))
}

fn type_name(word: &str) -> Option<&'static str> {
    TYPE_WORDS.iter().find(|(known, _)| *known == word).map(|(_, name)| *name)
}

fn checks_nothing(what: &str) -> SchemaError {
    SchemaError {
        message: format!("{what} checks nothing"),
        suggestion: Some(format!("leave the field out, or write a schema; {}", example())),
    }
}

fn example() -> String {
    "write for example `{\"title\": \"string\", \"count\": \"integer\"}`".to_owned()
}
