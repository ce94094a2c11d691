//! The input of a run, as templates see it and as a schema judges it.

use blueprint::Schema;
use durable::Timestamp;
use serde_json::{Map, Value, json};

/// What templates read as `trigger.output`: the input with the time of the
/// start, or the input as a payload when it is not an object.
pub fn trigger_output(input: &Value, now: Timestamp) -> Value {
    let mut object = match input {
        Value::Object(object) => object.clone(),
        Value::Null => Map::new(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::from_iter([("payload".to_owned(), input.clone())])
        }
    };
    object.entry("timestamp").or_insert_with(|| json!(now.to_string()));
    Value::Object(object)
}

/// Whether a trigger output satisfies an input schema. The time of the start
/// is ours: a schema need not know of it, and may.
pub fn check_input(schema: &Schema, trigger: &Value) -> Result<(), Vec<String>> {
    let Value::Object(members) = trigger else { return schema.check(trigger) };
    let mut given = members.clone();
    given.remove("timestamp");
    schema.check(&Value::Object(given)).or_else(|faults| schema.check(trigger).map_err(|_| faults))
}
