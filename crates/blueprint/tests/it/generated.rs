//! Laws over generated and over damaged files.

use blueprint::{Program, Severity, check};
use proptest::prelude::*;

use crate::support::fixtures;

/// A graph to write as a file, in more than one layout.
#[derive(Debug, Clone)]
struct Graph {
    /// Kind, and the texts of the node.
    nodes: Vec<(usize, String)>,
    /// From an earlier to a later node, by which port.
    edges: Vec<(usize, usize, bool)>,
    parallel: usize,
    resume: bool,
}

fn graphs() -> impl Strategy<Value = Graph> {
    let text = "[ -~éß→\n]{1,20}".prop_map(|text| text.replace("{{", "(("));
    let nodes = prop::collection::vec((0..7usize, text), 1..12);
    let edges = prop::collection::vec((0..12usize, 0..12usize, any::<bool>()), 0..20);
    (nodes, edges, 1..65usize, any::<bool>()).prop_map(|(nodes, edges, parallel, resume)| {
        let count = nodes.len() + 1;
        // Every node hangs on an earlier one; the other edges are extra.
        let spine = (1..count).map(|to| (to / 2, to, true));
        let extra = edges.into_iter().map(|(a, b, port)| (a % count, b % count, port));
        let mut edges: Vec<_> = spine.chain(extra.filter(|(a, b, _)| a < b)).collect();
        edges.sort_unstable();
        edges.dedup_by_key(|(from, to, _)| (*from, *to));
        Graph { nodes, edges, parallel, resume }
    })
}

fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl Graph {
    fn fields(&self, at: usize) -> (&'static str, String) {
        let (kind, text) = &self.nodes[at - 1];
        let text = quote(&format!("x{text}"));
        match kind {
            0 => ("notify", format!("message: {text}")),
            1 => ("branch", "condition: trigger.output.go".to_owned()),
            2 => ("join", String::new()),
            3 => ("approval", format!("prompt: {text}")),
            4 => ("state", format!("op: set, entries: {{ k: {text}, n: [1.50, {{ a: ~ }}] }}")),
            5 => {
                ("task", format!("agent: 'role:x', prompt: {text}, output_schema: {{ a: string }}"))
            }
            _ => (
                "script",
                format!("runtime: sh, path: a.sh, args: [{text}], env: {{ B: b, A: {text} }}"),
            ),
        }
    }

    fn ports(&self) -> Vec<(usize, usize, &'static str)> {
        let port = |from: usize, yes: bool| {
            let branch = from > 0 && self.nodes[from - 1].0 == 1;
            if !branch {
                "out"
            } else if yes {
                "on_true"
            } else {
                "on_false"
            }
        };
        self.edges.iter().map(|(from, to, yes)| (*from, *to, port(*from, *yes))).collect()
    }

    /// One line a node, with every default written out.
    fn flow(&self) -> String {
        let mut text = format!(
            "---\nschema: 2\nid: made\nname: Made\non_interrupt: {}\nmax_parallel: {}\nnodes:\n",
            if self.resume { "resume" } else { "fail" },
            self.parallel
        );
        text.push_str("  - { id: n0, type: manual_trigger, fields: {} }\n");
        for at in 1..=self.nodes.len() {
            let (node_type, fields) = self.fields(at);
            text.push_str(&format!(
                "  - {{ id: n{at}, type: {node_type}, fields: {{ {fields} }} }}\n"
            ));
        }
        text.push_str("edges:\n");
        for (from, to, port) in self.ports() {
            text.push_str(&format!(
                "  - {{ from: n{from}, from_port: {port}, to: n{to}, to_port: in }}\n"
            ));
        }
        text + "---\nOne body.\n"
    }

    /// Other key order, comments, prose, positions, defaults left out.
    fn block(&self) -> String {
        let mut text = String::from("---\n# A comment.\nedges:\n");
        for (from, to, port) in self.ports() {
            text.push_str(&format!("- to: n{to}   # there\n  from: n{from}\n"));
            if port != "out" {
                text.push_str(&format!("  from_port: '{port}'\n"));
            }
        }
        text.push_str("nodes:\n- type: manual_trigger\n  position: {x: 1, y: 2}\n  id: n0\n");
        for at in 1..=self.nodes.len() {
            let (node_type, fields) = self.fields(at);
            text.push_str(&format!(
                "- fields: {{{fields}}}\n  type: \"{node_type}\"\n\n  id: n{at}\n"
            ));
        }
        text.push_str(&format!("max_parallel: {}\n", self.parallel));
        if self.resume {
            text.push_str("on_interrupt: resume\n");
        }
        text + "description: Other prose.\nname: \"Made\"\nid: made\n---\n\nOther body.\n"
    }
}

fn program(text: &str) -> Program {
    let checked = check(text.as_bytes());
    checked.program.unwrap_or_else(|| panic!("{:?}\n{text}", checked.findings))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_snapshot_gives_back_the_same_program_and_the_same_bytes(graph in graphs()) {
        let program = program(&graph.flow());
        let bytes = program.snapshot();
        let again = Program::from_snapshot(&bytes).unwrap();
        prop_assert_eq!(again.hash(), program.hash());
        prop_assert_eq!(format!("{again:?}"), format!("{program:?}"));
        prop_assert_eq!(again.snapshot(), bytes);
    }

    #[test]
    fn the_hash_is_that_of_the_graph_and_not_of_its_layout(graph in graphs()) {
        let (flow, block) = (program(&graph.flow()), program(&graph.block()));
        prop_assert_eq!(flow.hash(), block.hash());
        prop_assert_eq!(flow.snapshot(), block.snapshot());
        let mut other = graph.clone();
        other.parallel = graph.parallel % 64 + 1;
        prop_assert_ne!(program(&other.flow()).hash(), flow.hash());
    }

    #[test]
    fn the_edges_of_a_program_agree_with_each_other(graph in graphs()) {
        let program = program(&graph.flow());
        for ix in program.node_ixs() {
            prop_assert_eq!(program.node_ix(&program.node(ix).id), Some(ix));
            prop_assert!(program.incoming(ix).iter().all(|edge| program.edge(*edge).to == ix));
            for edge in program.outgoing(ix) {
                prop_assert_eq!(program.edge(*edge).from, ix);
                prop_assert!(program.out_ports(ix).contains(&program.edge(*edge).from_port));
            }
        }
        let ends = |list: usize, next: usize| list + next;
        let incoming = program.node_ixs().map(|ix| program.incoming(ix).len()).fold(0, ends);
        let outgoing = program.node_ixs().map(|ix| program.outgoing(ix).len()).fold(0, ends);
        prop_assert_eq!(incoming, program.edges().len());
        prop_assert_eq!(outgoing, program.edges().len());
    }

    #[test]
    fn a_damaged_file_never_panics_and_is_a_program_exactly_without_errors(
        which in any::<prop::sample::Index>(),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0..6usize, "[\\PC\t\n]{0,3}"), 1..5),
    ) {
        let good = fixtures("valid");
        let text = String::from_utf8(which.get(&good).bytes.clone()).unwrap();
        let mut chars: Vec<char> = text.chars().collect();
        for (at, remove, insert) in cuts {
            let at = at.index(chars.len().max(1)).min(chars.len());
            let end = (at + remove).min(chars.len());
            chars.splice(at..end, insert.chars());
        }
        let text: String = chars.into_iter().collect();
        let checked = check(text.as_bytes());
        let errors = checked.findings.iter().any(|f| f.severity == Severity::Error);
        prop_assert_eq!(checked.program.is_some(), !errors);
        for finding in &checked.findings {
            prop_assert!(text.get(finding.span.clone()).is_some(), "{finding:?}");
            prop_assert!(finding.related.iter().all(|(span, _)| text.get(span.clone()).is_some()));
            let before = &text[..finding.span.start];
            prop_assert_eq!(finding.line, before.matches('\n').count() + 1);
        }
    }

    #[test]
    fn damaged_bytes_never_panic(
        which in any::<prop::sample::Index>(),
        bytes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let good = fixtures("valid");
        let mut file = which.get(&good).bytes.clone();
        for (at, byte) in bytes {
            let at = at.index(file.len());
            file[at] = byte;
        }
        for finding in check(&file).findings {
            prop_assert!(finding.span.end <= file.len());
        }
    }
}
