//! Random valid graphs with all that there is: loops, items, waits, requests,
//! runs of their own, ways out of a failure, further attempts and budgets. As
//! text, so that the real check compiles them.

use std::fmt::Write as _;
use std::sync::Arc;

use blueprint::Program;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::graphs::Grown;
use crate::blueprints;

/// A seed of a graph: numbers that any graph can be grown from.
#[derive(Debug, Clone)]
pub(super) struct Rich {
    nodes: Vec<(Seed, Vec<Seed>)>,
    resume: bool,
    max_parallel: u8,
    items: u8,
    calls: Option<u8>,
    deadline: Option<u8>,
}

#[derive(Debug, Clone)]
struct Seed {
    kind: u8,
    /// Where its edges come from, and by which way out.
    from: Vec<(u8, u8)>,
    safe: bool,
    timed: bool,
    catches: bool,
    retries: bool,
    reads: bool,
    number: u8,
}

/// The kinds of node that a seed can become, outside and inside of bodies.
const KINDS: [&str; 14] = [
    "shell",
    "loop",
    "for_each",
    "wait",
    "sub_automation",
    "task",
    "branch",
    "approval",
    "http",
    "join",
    "state",
    "notify",
    "decision",
    "loop",
];
const INSIDE: [&str; 8] =
    ["shell", "branch", "wait", "sub_automation", "approval", "task", "join", "notify"];

fn seed(kinds: usize) -> impl Strategy<Value = Seed> {
    let from = vec((any::<u8>(), any::<u8>()), 1..3);
    let kind = 0..u8::try_from(kinds).expect("they are few");
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (kind, from, flags, any::<u8>()).prop_map(|(kind, from, flags, number)| {
        let (safe, timed, catches, retries, reads) = flags;
        Seed { kind, from, safe, timed, catches, retries, reads, number }
    })
}

pub(super) fn rich() -> impl Strategy<Value = Rich> {
    let node = (seed(KINDS.len()), vec(seed(INSIDE.len()), 1..4));
    let limits = (proptest::option::of(1..6_u8), proptest::option::weighted(0.2, 1..90_u8));
    (vec(node, 0..6), any::<bool>(), 1..4_u8, 0..4_u8, limits).prop_map(
        |(nodes, resume, max_parallel, items, (calls, deadline))| Rich {
            nodes,
            resume,
            max_parallel,
            items,
            calls,
            deadline,
        },
    )
}

impl Grown for Rich {
    fn input(&self) -> Value {
        json!({ "x": 1, "list": (0..self.items).map(|at| json!({ "n": at })).collect::<Vec<_>>() })
    }

    fn program(&self) -> Arc<Program> {
        let mut text = Text { lines: String::new(), edges: Vec::new() };
        let on_interrupt = if self.resume { "resume" } else { "fail" };
        text.line(&format!("set on_interrupt {on_interrupt}"));
        text.line(&format!("set max_parallel {}", self.max_parallel));
        if let Some(calls) = self.calls {
            text.line(&format!("set budget {{\"agent_calls\":{calls}}}"));
        }
        if let Some(seconds) = self.deadline {
            text.line(&format!("set deadline {seconds}s"));
        }
        text.line("node n0 manual_trigger");
        for (before, (seed, body)) in self.nodes.iter().enumerate() {
            self.node(&mut text, before + 1, seed, body);
        }
        self.close_choices(&mut text);
        for (from, port, to) in text.edges {
            writeln!(text.lines, "edge {from}:{port} -> {to}").expect("a text takes all");
        }
        blueprints::program(&text.lines)
    }
}

/// The lines of a blueprint under way.
struct Text {
    lines: String,
    edges: Vec<(String, String, String)>,
}

impl Text {
    fn line(&mut self, line: &str) {
        self.lines.push_str(line);
        self.lines.push('\n');
    }

    fn edge(&mut self, from: String, port: &str, to: &str) {
        let edge = (from, port.to_owned(), to.to_owned());
        if !self.edges.contains(&edge) {
            self.edges.push(edge);
        }
    }
}

impl Rich {
    pub(super) fn without_deadline(self) -> Self {
        Self { deadline: None, ..self }
    }

    fn kind(&self, at: usize) -> &'static str {
        match at.checked_sub(1) {
            Some(seed) => KINDS[usize::from(self.nodes[seed].0.kind)],
            None => "manual_trigger",
        }
    }

    fn node(&self, text: &mut Text, at: usize, seed: &Seed, body: &[Seed]) {
        let (id, kind) = (format!("n{at}"), self.kind(at));
        for (from, port) in &seed.from {
            let from = usize::from(*from) % at;
            let catches = from > 0 && self.nodes[from - 1].0.catches;
            let ports = ports(self.kind(from), catches);
            text.edge(format!("n{from}"), ports[usize::from(*port) % ports.len()], &id);
        }
        let fields = fields(kind, &id, seed);
        text.line(&format!("node {id} {kind} {fields}{}", keys(kind, seed)));
        if ["loop", "for_each"].contains(&kind) {
            inside(text, &id, kind, body);
        }
    }

    /// Every choice of a decision must lead somewhere.
    fn close_choices(&self, text: &mut Text) {
        for at in (1..=self.nodes.len()).filter(|at| self.kind(*at) == "decision") {
            for port in ["x0", "x1"] {
                let (id, end) = (format!("n{at}"), format!("n{at}{port}"));
                if !text.edges.iter().any(|edge| edge.0 == id && edge.1 == port) {
                    text.line(&format!("node {end} notify message=end"));
                    text.edge(id, port, &end);
                }
            }
        }
    }
}

/// The nodes inside of a container.
fn inside(text: &mut Text, container: &str, around: &str, body: &[Seed]) {
    for (at, seed) in body.iter().enumerate() {
        let (id, kind) = (format!("{container}b{at}"), INSIDE[usize::from(seed.kind)]);
        for (from, port) in &seed.from {
            let from = usize::from(*from) % (at + 1);
            if from == at {
                text.edge(container.to_owned(), "body", &id);
                continue;
            }
            let ports = ports(INSIDE[usize::from(body[from].kind)], body[from].catches);
            let port = ports[usize::from(*port) % ports.len()];
            text.edge(format!("{container}b{from}"), port, &id);
        }
        let seen = match around {
            "for_each" => "{{item.n}}/{{item_index}}".to_owned(),
            _ => format!("{{{{nodes.{id}.prev | default(0) | json}}}}"),
        };
        let fields = fields(kind, &id, seed).replace("{{trigger.output.x}}", &seen);
        let keys = keys(kind, seed);
        text.line(&format!("node {id} {kind} {fields}{keys} parent={container}"));
    }
}

fn ports(kind: &str, catches: bool) -> Vec<&'static str> {
    let mut ports = match kind {
        "branch" => vec!["on_true", "on_false"],
        "decision" => vec!["x0", "x1"],
        "loop" | "for_each" => vec!["done"],
        _ => vec!["out"],
    };
    if catches && (works(kind) || ["loop", "for_each"].contains(&kind)) {
        ports.push("error");
    }
    ports
}

fn works(kind: &str) -> bool {
    ["shell", "task", "decision", "http", "sub_automation"].contains(&kind)
}

fn fields(kind: &str, id: &str, seed: &Seed) -> String {
    let source = if seed.reads { "{{trigger.output.x}}" } else { "it" };
    let number = seed.number;
    match kind {
        "shell" => format!("command=\"echo {source}\""),
        "task" => format!("agent=claude prompt=\"Do {source}\""),
        "decision" => "agent=claude prompt=? choices=[\"x0\",\"x1\"]".to_owned(),
        "http" => "url=https://example.org/x method=POST".to_owned(),
        "sub_automation" => format!("automation=other input={{\"x\":\"{source}\"}}"),
        "branch" => match number % 3 {
            0 => "condition=trigger.output.list".to_owned(),
            1 => "condition=\"trigger.output.x == 2\"".to_owned(),
            _ => "condition=storage.none".to_owned(),
        },
        "wait" => match number % 3 {
            0 => "until=2026-01-01T00:00:20Z".to_owned(),
            _ => format!("for={}s", number % 50),
        },
        "approval" => format!("prompt=\"{source}?\""),
        "state" => {
            format!("op=set entries={{\"{id}\":\"{{{{storage.{id} | default(\\\"\\\")}}}}x\"}}")
        }
        "notify" => format!("message=\"{source}\""),
        "loop" => {
            let until = match number % 3 {
                0 => String::new(),
                1 => " until=storage.none".to_owned(),
                _ => format!(" until=nodes.{id}b0.output.stdout"),
            };
            format!("max_iterations={}{until}", 1 + number % 3)
        }
        "for_each" => {
            let after = if seed.safe { "collect" } else { "stop" };
            let most = 1 + number % 3;
            format!("items=trigger.output.list max_parallel={most} on_item_error={after}")
        }
        _ => String::new(),
    }
}

/// What the author says of failure and time.
fn keys(kind: &str, seed: &Seed) -> String {
    let mut keys = String::new();
    if works(kind) {
        if seed.safe && kind != "sub_automation" {
            keys.push_str(" repeat=safe");
        }
        if seed.timed {
            write!(keys, " timeout={}s", 10 + seed.number / 2).expect("a text takes all");
        }
        if seed.retries {
            keys.push_str(" retry={\"attempts\":3,\"backoff\":\"10s\",\"jitter\":false}");
        }
        match seed.number % 4 {
            0 => keys.push_str(" prove=[{\"command\":\"make test\"},{\"changed\":true}]"),
            1 => keys.push_str(" prove=[{\"file\":\"{{run.id}}\"}]"),
            2 if kind == "shell" => {
                keys.push_str(" prove=[{\"output\":\"/exit_code\",\"equals\":0}]");
            }
            _ => {}
        }
        if seed.number.is_multiple_of(5) && ["task", "decision"].contains(&kind) {
            keys.push_str(" on_limit=fail");
        }
    }
    keys
}
