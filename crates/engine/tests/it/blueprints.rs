//! Graphs as a few lines of text:
//!
//! ```text
//! set on_interrupt resume
//! node start manual_trigger
//! node a shell command="echo {{trigger.output.x}}" timeout=5m
//! node b branch condition="nodes.a.output.exit_code == 0"
//! edge start -> a -> b
//! edge b:on_true -> c
//! ```
//!
//! Values are JSON or bare words. The lines become front matter, which the
//! real check reads, so a script can hold nothing that a file cannot.

use std::fmt::Write as _;
use std::sync::Arc;

use blueprint::{Program, check};
use serde_json::{Map, Value, json};

/// Keys of a node that are no fields of its type.
const NODE_KEYS: [&str; 7] = ["name", "timeout", "repeat", "retry", "parent", "on_limit", "prove"];

/// Front matter under way.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    settings: Map<String, Value>,
    nodes: Vec<Value>,
    edges: Vec<Value>,
}

/// The program of these lines, which must be without error.
pub(crate) fn program(lines: &str) -> Arc<Program> {
    let mut draft = Draft::default();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        assert!(draft.line(line), "no line of a blueprint: {line}");
    }
    draft.program()
}

/// The program of a whole file.
pub(crate) fn compile(file: &str) -> Arc<Program> {
    let checked = check(file.as_bytes());
    let program = checked.program;
    let findings = checked.findings;
    Arc::new(program.unwrap_or_else(|| panic!("{file}\n{findings:#?}")))
}

impl Draft {
    /// Takes a line, if it is one of a blueprint.
    pub(crate) fn line(&mut self, line: &str) -> bool {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "set" => {
                let (key, value) = rest.split_once(' ').expect("set KEY VALUE");
                self.settings.insert(key.to_owned(), read(value));
            }
            "node" => self.node(rest),
            "edge" => self.edges(rest),
            _ => return false,
        }
        true
    }

    pub(crate) fn program(&self) -> Arc<Program> {
        compile(&self.file())
    }

    /// Takes a line, which may say anew what a node is.
    pub(crate) fn change(&mut self, line: &str) -> bool {
        let count = self.nodes.len();
        let taken = self.line(line);
        if self.nodes.len() > count {
            let node = self.nodes.pop().expect("it was just put there");
            match self.nodes.iter_mut().find(|old| old["id"] == node["id"]) {
                Some(old) => *old = node,
                None => self.nodes.push(node),
            }
        }
        taken
    }

    /// Takes a node out, with its edges.
    pub(crate) fn remove(&mut self, id: &str) {
        self.nodes.retain(|node| node["id"] != id);
        self.edges.retain(|edge| edge["from"] != id && edge["to"] != id);
    }

    fn node(&mut self, text: &str) {
        let words = words(text);
        let [id, kind, pairs @ ..] = words.as_slice() else { panic!("node ID TYPE …: {text}") };
        let mut node = Map::from_iter([("id".into(), json!(id)), ("type".into(), json!(kind))]);
        let mut fields = Map::new();
        for pair in pairs {
            let (key, value) = pair.split_once('=').expect("KEY=VALUE");
            let into = if NODE_KEYS.contains(&key) { &mut node } else { &mut fields };
            into.insert(key.to_owned(), read(value));
        }
        node.insert("fields".into(), Value::Object(fields));
        self.nodes.push(Value::Object(node));
    }

    fn edges(&mut self, text: &str) {
        let ends: Vec<&str> = text.split("->").map(str::trim).collect();
        for pair in ends.windows(2) {
            let (from, port) = pair[0].split_once(':').unwrap_or((pair[0], "out"));
            let to = pair[1].split(':').next().expect("a text has a first part");
            self.edges.push(json!({ "from": from, "from_port": port, "to": to }));
        }
    }

    fn file(&self) -> String {
        let mut file = String::from("---\n");
        let settings = json!({ "id": "script", "name": "A script" });
        let settings = settings.as_object().into_iter().flatten().chain(&self.settings);
        for (key, value) in settings {
            writeln!(file, "{key}: {value}").expect("a text takes all");
        }
        for (key, list) in [("nodes", &self.nodes), ("edges", &self.edges)] {
            writeln!(file, "{key}:{}", if list.is_empty() { " []" } else { "" })
                .expect("a text takes all");
            for item in list {
                writeln!(file, "  - {item}").expect("a text takes all");
            }
        }
        file + "---\n"
    }
}

/// JSON where it is, a bare word where it is not.
fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

/// Words apart by spaces that stand outside of strings and brackets.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut depth, mut quoted, mut escaped) = (0, false, false);
    for c in text.chars() {
        match c {
            '"' if !escaped => quoted = !quoted,
            '{' | '[' if !quoted => depth += 1,
            '}' | ']' if !quoted => depth -= 1,
            ' ' if !quoted && depth == 0 => {
                words.push(String::new());
                continue;
            }
            _ => {}
        }
        escaped = c == '\\' && !escaped;
        words.last_mut().expect("there is one from the start").push(c);
    }
    words.retain(|word| !word.is_empty());
    words
}
