//! What the keys of a blueprint, a node and an edge hold. A key that has no
//! entry here may hold anything.

use durable::limits;
use serde_json::{Value, json};

use super::supported;
use crate::draft::SCHEMA;
use crate::node_type::{self, Outputs};
use crate::{ERROR, FailureClass, OnInterrupt, OnLimit, Repeat, Workspace};

/// A text with something in it.
pub(super) const NOT_BLANK: &str = r"\S";

/// Lengths of time: `90s`, `10m`, `1h30m`.
pub(super) const LENGTH: &str = r"^\s*([0-9]+[a-z]+)+\s*$";

/// What templates and edges can name.
pub(super) const NAME: &str = "^[A-Za-z_][A-Za-z0-9_-]*$";

pub(super) fn of_blueprint(key: &str) -> Option<Value> {
    Some(match key {
        "schema" => json!({ "description": "The number of the file format.", "const": SCHEMA }),
        "id" => json!({
            "description": "Names the automation, and the folder of its runs.",
            "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$",
            "maxLength": limits::COMPONENT_BYTES,
        }),
        "name" => {
            json!({ "description": "For people.", "type": "string", "pattern": NOT_BLANK })
        }
        "description" => json!({ "description": "For people: what the automation is for." }),
        "on_interrupt" => json!({
            "description": "What happens to a run whose owner dies while work is in flight: it \
                            fails, or goes on where every such work is `repeat: safe`.",
            "enum": [OnInterrupt::Fail.word(), OnInterrupt::Resume.word()],
            "default": OnInterrupt::default().word(),
        }),
        "workspace" => json!({
            "description": "Where the nodes work: in the folder that the run is given, or in a \
                            branch and folder of its own.",
            "enum": words(Workspace::ALL, Workspace::word),
        }),
        "on_limit" => json!({
            "description": "What happens when the limit of a provider is reached: the run waits \
                            until it resets, or the node fails.",
            "enum": words(OnLimit::ALL, OnLimit::word),
            "default": OnLimit::default().word(),
        }),
        "max_parallel" => json!({
            "description": "The most attempts in flight at once.",
            "type": "integer", "minimum": 1, "maximum": limits::PARALLEL_MAX,
            "default": limits::PARALLEL_DEFAULT,
        }),
        "deadline" => json!({
            "description": "How long a run may take, from its start to its end.",
            "type": "string", "pattern": LENGTH,
        }),
        "budget" => json!({
            "description": "What a run may spend on agents. At a limit nothing new starts.",
            "type": "object", "minProperties": 1, "additionalProperties": false,
            "properties": {
                "tokens": { "type": "integer", "minimum": 1 },
                "cost_usd": { "type": "number", "exclusiveMinimum": 0 },
                "agent_minutes": { "type": "number", "exclusiveMinimum": 0 },
                "agent_calls": { "type": "integer", "minimum": 1 },
            },
        }),
        // Made where their items are known.
        "nodes" | "edges" => json!({}),
        _ => return None,
    })
}

pub(super) fn of_node(key: &str) -> Option<Value> {
    Some(match key {
        "id" => json!({
            "description": "What edges and templates call the node.",
            "type": "string", "pattern": NAME, "maxLength": limits::COMPONENT_BYTES,
        }),
        "type" => {
            let one = |t: &'static node_type::NodeType| json!({ "const": t.id, "description": t.description });
            let all: Vec<Value> = supported().map(one).collect();
            json!({ "description": "What the node does.", "type": "string", "oneOf": all })
        }
        "name" => json!({
            "description": "What people call the node.", "type": "string", "pattern": NOT_BLANK,
        }),
        "parent" => json!({
            "description": "The node inside of which this one stands.", "type": "string",
        }),
        "fields" => json!({ "description": "What the type asks for." }),
        "timeout" => {
            json!({ "description": help("timeout"), "type": "string", "pattern": LENGTH })
        }
        "retry" => {
            let classes: Vec<_> = FailureClass::ALL.iter().map(|class| class.word()).collect();
            let length = json!({ "type": "string", "pattern": LENGTH });
            let (least, most) = (2, limits::RETRY_ATTEMPTS);
            json!({
                "description": help("retry"),
                "type": ["integer", "object"], "minimum": least, "maximum": most,
                "required": ["attempts"], "additionalProperties": false,
                "properties": {
                    "attempts": { "type": "integer", "minimum": least, "maximum": most },
                    "backoff": length, "max_backoff": length, "jitter": { "type": "boolean" },
                    "on": { "type": "array", "minItems": 1, "items": { "enum": classes } },
                },
            })
        }
        "repeat" => json!({
            "description": help("repeat"),
            "enum": [Repeat::Never.word(), Repeat::Safe.word()],
        }),
        "on_limit" => json!({
            "description": help("on_limit"), "enum": words(OnLimit::ALL, OnLimit::word),
        }),
        "prove" => json!({
            "description": help("prove"),
            "type": "array", "minItems": 1, "items": { "oneOf": checks() },
        }),
        "position" => json!({ "description": "Where a canvas draws the node." }),
        "description" => json!({ "description": "For people: why the node is there." }),
        _ => return None,
    })
}

pub(super) fn of_edge(key: &str) -> Option<Value> {
    Some(match key {
        "from" => json!({ "description": "The node that the edge leaves.", "type": "string" }),
        "from_port" => json!({
            "description": "The way out that it takes.",
            "type": "string", "default": "out", "examples": ports(),
        }),
        "to" => json!({ "description": "The node that it leads to.", "type": "string" }),
        "to_port" => json!({
            "description": "The way in that it takes.", "type": "string", "default": "in",
        }),
        _ => return None,
    })
}

fn words<T: Copy>(all: &[T], word: fn(T) -> &'static str) -> Vec<&'static str> {
    all.iter().map(|one| word(*one)).collect()
}

/// The forms of a check.
fn checks() -> Vec<Value> {
    let text = || json!({ "type": "string", "pattern": NOT_BLANK });
    let form = |properties: Value, required: &[&str]| {
        json!({
            "type": "object", "properties": properties, "required": required,
            "additionalProperties": false,
        })
    };
    let length = json!({ "type": "string", "pattern": LENGTH });
    let paths = json!({ "type": "array", "minItems": 1, "items": text() });
    let pointer = json!({ "type": "string", "pattern": "^(/|$)" });
    vec![
        form(json!({ "command": text(), "timeout": length }), &["command"]),
        form(json!({ "changed": { "const": true }, "paths": paths }), &["changed"]),
        form(json!({ "file": text(), "contains": text() }), &["file"]),
        form(json!({ "output": pointer, "equals": {} }), &["output", "equals"]),
    ]
}

/// The help of a key that some types have.
fn help(key: &str) -> &'static str {
    let keys = node_type::all().flat_map(node_type::NodeType::keys);
    keys.into_iter().find(|found| found.id == key).map_or("", |found| found.help)
}

/// The ways out that have a name of their own, each once.
fn ports() -> Vec<&'static str> {
    let mut ports = Vec::new();
    for node_type in supported() {
        let Outputs::Fixed(fixed) = node_type.outputs else { continue };
        ports.extend(fixed.iter().filter(|port| **port != "out"));
        ports.extend(node_type.errors.then_some(ERROR));
    }
    ports.sort_unstable();
    ports.dedup();
    ports
}
