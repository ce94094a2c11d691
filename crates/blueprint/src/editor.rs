//! The JSON Schema of front matter, for editors: completion, help and a first
//! check while a file is written. It derives from the registry and from the
//! keys that a draft reads. It uses only keywords that mean the same in
//! draft-07 and 2020-12, since editors' YAML servers know the one and our own
//! validator the other. It refuses nothing that [`crate::check()`] accepts;
//! what only a whole graph can tell is left to that.

mod field;
mod key;
#[cfg(test)]
mod tests;

use durable::limits;
use serde_json::{Map, Value, json};

use crate::draft;
use crate::node_type::{self, NodeType};

/// The line that leads an editor to the schema, for the first line of front
/// matter. Our own reading takes it as a comment.
pub fn directive(address: &str) -> String {
    format!("# yaml-language-server: $schema={address}")
}

/// The schema.
pub fn schema() -> Value {
    let [top, node, edge] = draft::keys();
    let mut nodes = mapping(node, key::of_node, &["id", "type"]);
    nodes["allOf"] = supported().map(of_type).collect();
    let mut blueprint = mapping(top, key::of_blueprint, &["id", "name", "nodes"]);
    blueprint["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    blueprint["title"] = "Front matter of an automation".into();
    blueprint["properties"]["nodes"] = json!({
        "description": "The steps, in the order in which they start where several can.",
        "type": "array", "minItems": 1, "maxItems": limits::NODES, "items": nodes,
    });
    blueprint["properties"]["edges"] = json!({
        "description": "What leads from which step to which.",
        "type": ["array", "null"], "maxItems": limits::EDGES,
        "items": mapping(edge, key::of_edge, &["from", "to"]),
    });
    blueprint
}

fn supported() -> impl Iterator<Item = &'static NodeType> {
    node_type::all().filter(|node_type| node_type.supported())
}

/// A mapping with these keys and no others.
fn mapping(keys: &[&str], of: fn(&str) -> Option<Value>, required: &[&str]) -> Value {
    let value = |key: &&str| ((*key).to_owned(), of(key).unwrap_or_else(|| json!({})));
    let properties: Map<String, Value> = keys.iter().map(value).collect();
    json!({
        "type": "object", "properties": properties, "required": required,
        "additionalProperties": false,
    })
}

/// What holds for a node of one type.
fn of_type(node_type: &'static NodeType) -> Value {
    let mut properties = Map::new();
    properties.insert("fields".to_owned(), fields(node_type));
    // A key of some types, which this one does not have.
    let taken = node_type.keys();
    let of_some = node_type::all().flat_map(NodeType::keys).map(|key| key.id);
    for key in of_some.filter(|id| !taken.iter().any(|key| key.id == *id)) {
        properties.insert(key.to_owned(), Value::Bool(false));
    }
    let needs_fields = node_type.fields.iter().any(|field| field.required);
    let required: &[&str] = if needs_fields { &["fields"] } else { &[] };
    json!({
        "if": { "properties": { "type": { "const": node_type.id } }, "required": ["type"] },
        "then": { "properties": properties, "required": required },
    })
}

fn fields(node_type: &'static NodeType) -> Value {
    let field = |field: &'static node_type::Field| (field.id.to_owned(), field::of(field));
    let properties: Map<String, Value> = node_type.fields.iter().map(field).collect();
    let required = node_type.fields.iter().filter(|field| field.required);
    let required: Vec<&str> = required.map(|field| field.id).collect();
    let form = if required.is_empty() { json!(["object", "null"]) } else { json!("object") };
    json!({
        "description": node_type.description, "type": form, "properties": properties,
        "required": required, "additionalProperties": false,
    })
}
