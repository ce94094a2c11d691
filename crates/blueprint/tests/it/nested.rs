//! Laws over generated graphs with bodies and error ports.

use std::collections::BTreeSet;

use blueprint::{EdgeIx, Kind, NodeIx, Program, Severity, check};
use proptest::prelude::*;
use proptest::sample::Index;

#[derive(Debug, Clone)]
struct Node {
    kind: &'static str,
    parent: Option<usize>,
    retry: bool,
}

/// From, by which port, to.
type Edge = (usize, &'static str, usize);

#[derive(Debug, Clone)]
struct Graph {
    /// Nodes of a body come behind its container.
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    limits: bool,
}

const KINDS: [&str; 9] =
    ["join", "shell", "task", "wait", "http", "branch", "sub_automation", "loop", "for_each"];
const PORTS: [&str; 7] = ["out", "error", "on_true", "on_false", "body", "done", "in"];

fn graphs() -> impl Strategy<Value = Graph> {
    let inside = prop::collection::vec((0..7usize, any::<bool>()), 1..6);
    let nodes = prop::collection::vec((0..9usize, any::<bool>(), inside), 1..7);
    let edges = prop::collection::vec((any::<Index>(), any::<Index>(), 0..2usize), 0..30);
    (nodes, edges, any::<bool>()).prop_map(|(made, extra, limits)| {
        let mut nodes = vec![Node { kind: "manual_trigger", parent: None, retry: false }];
        for (kind, retry, inside) in &made {
            let parent = Some(nodes.len());
            nodes.push(Node { kind: KINDS[*kind], parent: None, retry: *retry });
            let body = inside.iter().filter(|_| *kind > 6);
            nodes.extend(body.map(|(kind, retry)| Node {
                kind: KINDS[*kind],
                parent,
                retry: *retry,
            }));
        }
        let mut edges: Vec<Edge> = (1..nodes.len()).map(|to| spine(&nodes, to)).collect();
        for (from, to, way) in extra {
            let (from, to) = (from.index(nodes.len()), to.index(nodes.len()));
            if from < to && nodes[from].parent == nodes[to].parent {
                edges.push((from, port(nodes[from].kind, way), to));
            }
        }
        edges.sort_unstable();
        edges.dedup();
        Graph { nodes, edges, limits }
    })
}

/// An edge from the nearest node before, or into the body.
fn spine(nodes: &[Node], to: usize) -> Edge {
    let parent = nodes[to].parent;
    let before = (0..to).rev().find(|from| nodes[*from].parent == parent);
    match (before, parent) {
        (Some(from), _) => (from, port(nodes[from].kind, 0), to),
        (None, parent) => (parent.unwrap_or(0), "body", to),
    }
}

fn port(kind: &str, way: usize) -> &'static str {
    let ports = match kind {
        "branch" => ["on_true", "on_false"],
        "loop" | "for_each" => ["done", "error"],
        "join" | "manual_trigger" | "wait" => ["out", "out"],
        _ => ["out", "error"],
    };
    ports[way]
}

impl Graph {
    fn file(&self) -> String {
        let mut text = String::from("---\nid: made\nname: Made\n");
        if self.limits {
            text.push_str("deadline: 90m\nbudget: { tokens: 5000, cost_usd: 0.75 }\n");
        }
        text.push_str("nodes:\n");
        for (at, node) in self.nodes.iter().enumerate() {
            let parent = node.parent.map_or(String::new(), |parent| format!("parent: n{parent}, "));
            let takes_retry = matches!(node.kind, "shell" | "task" | "http" | "sub_automation");
            let retry = if node.retry && takes_retry { "retry: { attempts: 3 }, " } else { "" };
            let (kind, fields) = (node.kind, self.fields(at));
            text.push_str(&format!(
                "  - {{ id: n{at}, {parent}{retry}type: {kind}, fields: {{ {fields} }} }}\n"
            ));
        }
        text.push_str("edges:\n");
        for (from, port, to) in &self.edges {
            text.push_str(&format!("  - {{ from: n{from}, from_port: {port}, to: n{to} }}\n"));
        }
        text + "---\n"
    }

    /// Fields that read what the node can see in any case.
    fn fields(&self, at: usize) -> String {
        let above = self.nodes[at].parent.and_then(|parent| self.nodes.get(parent));
        let above = above.map_or("", |node| node.kind);
        let seen = match above {
            "loop" => format!("{{{{nodes.n{at}.prev.text | default(0)}}}}"),
            "for_each" => "{{item}} {{item_index}}".to_owned(),
            _ => "{{run.id}}".to_owned(),
        };
        let last = (0..self.nodes.len()).rev().find(|node| self.nodes[*node].parent == Some(at));
        match self.nodes[at].kind {
            "shell" => format!("command: 'echo {seen}'"),
            "task" => format!("agent: role:x, prompt: '{seen}'"),
            "wait" => "for: 5m".to_owned(),
            "http" => format!("url: 'https://example.com/{seen}'"),
            "branch" => "condition: trigger.output.go".to_owned(),
            "sub_automation" => format!("automation: other, input: {{ a: ['{seen}'] }}"),
            "loop" => format!("until: nodes.n{}.output.text", last.unwrap_or(at)),
            "for_each" => "items: trigger.output.list, max_parallel: 2".to_owned(),
            _ => String::new(),
        }
    }
}

/// What every program keeps, whatever its file looked like.
fn keeps_borders(program: &Program) {
    let is_container = |ix: NodeIx| program.node(ix).kind.is_container();
    for edge in program.edges() {
        let by_body = is_container(edge.from) && edge.from_port.as_str() == "body";
        let begins = if by_body { Some(edge.from) } else { program.node(edge.from).parent };
        assert_eq!(begins, program.node(edge.to).parent, "{edge:?}");
    }
    for ix in program.node_ixs() {
        let node = program.node(ix);
        assert_eq!(is_container(ix), !program.body(ix).is_empty(), "{node:?}");
        let trigger = matches!(node.kind, Kind::ManualTrigger { .. });
        assert!(node.parent.is_none() || (!trigger && !is_container(ix)), "{node:?}");
        let enters = |edge: &&EdgeIx| program.edge(**edge).from_port.as_str() == "body";
        let mut reached: BTreeSet<NodeIx> = BTreeSet::new();
        let mut next: Vec<EdgeIx> = program.outgoing(ix).iter().filter(enters).copied().collect();
        while let Some(edge) = next.pop().filter(|_| is_container(ix)) {
            let to = program.edge(edge).to;
            if reached.insert(to) {
                next.extend(program.outgoing(to));
            }
        }
        assert_eq!(reached.into_iter().collect::<Vec<_>>(), program.body(ix), "{node:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_sound_nested_graph_is_a_program_and_its_snapshot_gives_it_back(graph in graphs()) {
        let checked = check(graph.file().as_bytes());
        prop_assert!(checked.findings.is_empty(), "{:?}\n{}", checked.findings, graph.file());
        let program = checked.program.unwrap();
        keeps_borders(&program);
        let again = Program::from_snapshot(&program.snapshot()).unwrap();
        prop_assert_eq!(again.hash(), program.hash());
        prop_assert_eq!(format!("{again:?}"), format!("{program:?}"));
    }

    #[test]
    fn with_other_edges_and_parents_no_graph_panics_and_no_program_has_an_open_body(
        mut graph in graphs(),
        edges in prop::collection::vec((any::<Index>(), any::<Index>(), any::<Index>(), 0..7usize), 0..4),
        parents in prop::collection::vec((any::<Index>(), any::<Option<Index>>()), 0..3),
    ) {
        let count = graph.nodes.len();
        for (which, from, to, port) in edges {
            let edge = (from.index(count), PORTS[port], to.index(count));
            match graph.edges.len() {
                0 => graph.edges.push(edge),
                len => graph.edges[which.index(len)] = edge,
            }
        }
        for (which, parent) in parents {
            graph.nodes[which.index(count)].parent = parent.map(|parent| parent.index(count + 1));
        }
        let checked = check(graph.file().as_bytes());
        let errors = checked.findings.iter().any(|f| f.severity == Severity::Error);
        prop_assert_eq!(checked.program.is_some(), !errors);
        if let Some(program) = &checked.program {
            keeps_borders(program);
        }
    }
}
