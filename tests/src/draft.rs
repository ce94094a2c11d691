//! Blueprints for tests, written down in a few calls and read by the real
//! reader. Pure.

use std::fmt::Write as _;
use std::sync::Arc;

use blueprint::Program;
use serde_json::{Value, json};

/// A blueprint under way. It begins with the trigger `start`.
#[derive(Debug, Clone)]
pub struct Draft {
    id: String,
    settings: Vec<String>,
    nodes: Vec<Value>,
    edges: Vec<Value>,
}

impl Draft {
    pub fn new(id: &str) -> Self {
        let start = json!({ "id": "start", "type": "manual_trigger" });
        Self { id: id.to_owned(), settings: Vec::new(), nodes: vec![start], edges: Vec::new() }
    }

    /// A key of the blueprint itself, as `on_interrupt: resume`.
    #[must_use]
    pub fn setting(mut self, line: &str) -> Self {
        self.settings.push(line.to_owned());
        self
    }

    #[must_use]
    pub fn node(self, id: &str, kind: &str, fields: Value) -> Self {
        self.node_with(id, kind, json!({}), fields)
    }

    /// A node with further keys, such as `timeout`.
    #[must_use]
    pub fn node_with(mut self, id: &str, kind: &str, keys: Value, fields: Value) -> Self {
        let mut node = json!({ "id": id, "type": kind, "fields": fields });
        if let (Value::Object(node), Value::Object(keys)) = (&mut node, keys) {
            node.extend(keys);
        }
        self.nodes.push(node);
        self
    }

    /// A node in the body of a loop or of a list.
    #[must_use]
    pub fn inside(self, parent: &str, id: &str, kind: &str, keys: Value, fields: Value) -> Self {
        let mut keys = keys;
        if let Value::Object(keys) = &mut keys {
            keys.insert("parent".to_owned(), parent.into());
        }
        self.node_with(id, kind, keys, fields)
    }

    #[must_use]
    pub fn shell(self, id: &str, command: &str) -> Self {
        self.node(id, "shell", json!({ "command": command }))
    }

    /// A shell command that may be repeated.
    #[must_use]
    pub fn safe_shell(self, id: &str, command: &str) -> Self {
        self.node_with(id, "shell", json!({ "repeat": "safe" }), json!({ "command": command }))
    }

    #[must_use]
    pub fn state(self, id: &str, key: &str, value: &str) -> Self {
        self.node(id, "state", json!({ "op": "set", "entries": { key: value } }))
    }

    #[must_use]
    pub fn gate(self, id: &str) -> Self {
        self.node(id, "approval", json!({ "prompt": "May it go on?" }))
    }

    #[must_use]
    pub fn notify(self, id: &str, message: &str) -> Self {
        self.node(id, "notify", json!({ "message": message }))
    }

    #[must_use]
    pub fn edge(mut self, from: &str, to: &str) -> Self {
        self.edges.push(json!({ "from": from, "to": to }));
        self
    }

    #[must_use]
    pub fn port(mut self, from: &str, port: &str, to: &str) -> Self {
        self.edges.push(json!({ "from": from, "from_port": port, "to": to }));
        self
    }

    /// Edges from the first to the second, from that to the third, and on.
    #[must_use]
    pub fn path(self, nodes: &[&str]) -> Self {
        nodes.windows(2).fold(self, |draft, pair| match pair {
            [from, to] => draft.edge(from, to),
            _ => draft,
        })
    }

    /// The file.
    pub fn text(&self) -> String {
        let mut text = format!("---\nschema: 2\nid: {}\nname: {}\n", self.id, self.id);
        self.settings.iter().for_each(|line| text.extend([line, "\n"]));
        for (name, list) in [("nodes", &self.nodes), ("edges", &self.edges)] {
            text.extend([name, ":\n"]);
            for one in list {
                writeln!(text, "  - {one}").expect("text can be written to memory");
            }
        }
        text.push_str("---\nMade by a test.\n");
        text
    }

    /// What the file means.
    ///
    /// # Panics
    ///
    /// When the draft is no valid blueprint.
    pub fn program(&self) -> Arc<Program> {
        let text = self.text();
        let checked = blueprint::check(text.as_bytes());
        let Some(program) = checked.program else {
            panic!("{} is no blueprint: {:#?}\n{text}", self.id, checked.findings)
        };
        Arc::new(program)
    }
}
