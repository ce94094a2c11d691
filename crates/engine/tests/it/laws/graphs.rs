//! Random valid graphs as text, so that the real check compiles them.

use std::fmt::Write as _;
use std::sync::Arc;

use blueprint::Program;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::blueprints;

/// A seed of a graph: numbers that any graph can be grown from, so that a
/// smaller one is a simpler graph.
#[derive(Debug, Clone)]
pub(super) struct Graph {
    nodes: Vec<Seed>,
    resume: bool,
    max_parallel: u8,
    go: bool,
}

#[derive(Debug, Clone)]
struct Seed {
    kind: u8,
    /// Where its edges come from, and by which way out.
    from: Vec<(u8, u8)>,
    safe: bool,
    timed: bool,
    reads: bool,
}

/// The kinds of node that a seed can become.
const KINDS: [&str; 10] = [
    "shell", "join", "task", "notify", "state", "branch", "approval", "script", "decision", "shell",
];

pub(super) fn graph() -> impl Strategy<Value = Graph> {
    let from = vec((any::<u8>(), any::<u8>()), 1..4);
    let seed = (0..KINDS.len() as u8, from, any::<bool>(), any::<bool>(), any::<bool>());
    let seed = seed.prop_map(|(kind, from, safe, timed, reads)| Seed {
        kind,
        from,
        safe: safe || kind % 2 == 0,
        timed,
        reads,
    });
    let settings = (vec(seed, 0..9), any::<bool>(), 1..4_u8, any::<bool>());
    settings.prop_map(|(nodes, resume, max_parallel, go)| Graph { nodes, resume, max_parallel, go })
}

/// What a seed grows into.
pub(super) trait Grown {
    fn input(&self) -> Value;
    fn program(&self) -> Arc<Program>;
}

impl Grown for Graph {
    fn input(&self) -> Value {
        json!({ "x": 1, "go": self.go })
    }

    fn program(&self) -> Arc<Program> {
        blueprints::program(&self.lines())
    }
}

impl Graph {
    fn lines(&self) -> String {
        let on_interrupt = if self.resume { "resume" } else { "fail" };
        let mut text = format!("set on_interrupt {on_interrupt}\n");
        writeln!(text, "set max_parallel {}", self.max_parallel).expect("a text takes all");
        text.push_str("node n0 manual_trigger\n");
        let mut edges: Vec<(usize, String, usize)> = Vec::new();
        for (before, seed) in self.nodes.iter().enumerate() {
            let at = before + 1;
            for (from, port) in &seed.from {
                let from = usize::from(*from) % at;
                let ports = self.ports(from);
                let port = ports[usize::from(*port) % ports.len()].clone();
                let edge = (from, port, at);
                if !edges.contains(&edge) {
                    edges.push(edge);
                }
            }
            let sources: Vec<usize> =
                edges.iter().filter(|edge| edge.2 == at).map(|edge| edge.0).collect();
            text.push_str(&self.node(at, seed, &sources));
        }
        self.close_choices(&mut edges, &mut text);
        for (from, port, to) in edges {
            writeln!(text, "edge n{from}:{port} -> n{to}").expect("a text takes all");
        }
        text
    }

    /// Every choice of a decision must lead somewhere.
    fn close_choices(&self, edges: &mut Vec<(usize, String, usize)>, text: &mut String) {
        let mut end = self.nodes.len();
        for at in 1..=self.nodes.len() {
            if self.kind(at) != "decision" {
                continue;
            }
            for port in self.ports(at) {
                if !edges.iter().any(|edge| edge.0 == at && edge.1 == port) {
                    end += 1;
                    writeln!(text, "node n{end} notify message=end").expect("a text takes all");
                    edges.push((at, port, end));
                }
            }
        }
    }

    fn kind(&self, at: usize) -> &'static str {
        match at.checked_sub(1) {
            Some(seed) => KINDS[usize::from(self.nodes[seed].kind)],
            None => "manual_trigger",
        }
    }

    fn ports(&self, at: usize) -> Vec<String> {
        match self.kind(at) {
            "branch" => vec!["on_true".to_owned(), "on_false".to_owned()],
            "decision" => (0..2 + at % 2).map(|choice| format!("x{choice}")).collect(),
            _ => vec!["out".to_owned()],
        }
    }

    fn node(&self, at: usize, seed: &Seed, sources: &[usize]) -> String {
        // What a node with one edge into it waits for has run.
        let source = match sources {
            [source] if seed.reads => format!("{{{{nodes.n{source}.output | json}}}}"),
            _ => "{{trigger.output.x}}".to_owned(),
        };
        let kind = self.kind(at);
        let fields = match kind {
            "shell" => format!("command=\"echo {source}\""),
            "script" => format!("runtime=sh path=a.sh args=[\"{source}\"]"),
            "task" => format!("agent=claude prompt=\"Do {source}\""),
            "decision" => {
                let choices = json!(self.ports(at));
                format!("agent=claude prompt=\"Which {source}?\" choices={choices}")
            }
            "branch" => match at % 3 {
                0 => "condition=trigger.output.go".to_owned(),
                1 => "condition=\"trigger.output.x == 2\"".to_owned(),
                _ => "condition=storage.none".to_owned(),
            },
            "approval" if seed.reads => format!("prompt=\"{source}?\""),
            "notify" => format!("message=\"{source}\""),
            "state" => state(at),
            _ => String::new(),
        };
        let works = matches!(kind, "shell" | "script" | "task" | "decision");
        let repeat = if works && seed.safe { " repeat=safe" } else { "" };
        let timeout =
            if works && seed.timed { format!(" timeout={}s", 10 * at) } else { String::new() };
        format!("node n{at} {kind} {fields}{repeat}{timeout}\n")
    }
}

/// A change of the node's own key; doing it twice would show.
fn state(at: usize) -> String {
    match at % 3 {
        0 => format!("op=get entries={{\"k{at}\":null}}"),
        1 => format!(
            "op=merge entries={{\"k{at}\":{{\"a\":\"{{{{storage.k{at} | default(0) | json}}}}\"}}}}"
        ),
        _ => {
            let old = format!("{{{{storage.k{at} | default(\\\"\\\")}}}}");
            format!("op=set entries={{\"k{at}\":\"{old}x\"}}")
        }
    }
}
