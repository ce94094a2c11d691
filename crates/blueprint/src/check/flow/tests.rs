//! The analysis against every way that a graph can run.

use proptest::prelude::*;

use super::*;
use crate::check::{Sink, cycles, graph, node, uses};
use crate::draft::Draft;
use crate::program::ERROR;
use crate::yaml;

/// A node of a made graph; those inside of a container come behind it.
#[derive(Debug, Clone, Copy)]
struct Made {
    kind: &'static str,
    parent: Option<usize>,
}

/// From, to, and which of the ways out.
type Edge = (usize, usize, usize);

const KINDS: [&str; 5] = ["join", "branch", "shell", "loop", "for_each"];

/// At most so many nodes, since every way that they can go is tried.
const MOST: usize = 9;

fn graphs() -> impl Strategy<Value = String> {
    let inside = prop::collection::vec(0..3usize, 1..4);
    let nodes = prop::collection::vec((0..5usize, inside), 2..7);
    let edges = prop::collection::vec((0..MOST, 0..MOST, 0..3usize), 0..24);
    (nodes, edges).prop_map(|(outer, edges)| {
        let mut nodes = Vec::new();
        for (kind, inside) in &outer {
            let parent = Some(nodes.len());
            nodes.push(Made { kind: KINDS[*kind], parent: None });
            let body = inside.iter().filter(|_| *kind > 2);
            nodes.extend(body.map(|kind| Made { kind: KINDS[*kind], parent }));
        }
        nodes.truncate(MOST);
        if let Some(last) = nodes.last_mut().filter(|last| is_body(last)) {
            last.kind = "join";
        }
        file(&nodes, &edges)
    })
}

fn is_body(node: &Made) -> bool {
    matches!(node.kind, "loop" | "for_each")
}

/// A file with these nodes and with those of the edges that lead forward and
/// across no border.
fn file(nodes: &[Made], edges: &[Edge]) -> String {
    let mut text = String::from("id: t\nname: T\nnodes:\n");
    for (at, Made { kind, parent }) in nodes.iter().enumerate() {
        let parent = parent.map_or(String::new(), |parent| format!(", parent: n{parent}"));
        let fields = match *kind {
            "branch" => "condition: run.id",
            "shell" => "command: make",
            "for_each" => "items: storage.list",
            _ => "",
        };
        text.push_str(&format!(
            "- {{ id: n{at}, type: {kind}{parent}, fields: {{ {fields} }} }}\n"
        ));
    }
    text.push_str("edges:\n");
    for (from, to, port) in sound(nodes, edges) {
        text.push_str(&format!("- {{ from: n{from}, from_port: {port}, to: n{to} }}\n"));
    }
    text
}

fn sound(nodes: &[Made], edges: &[Edge]) -> Vec<(usize, usize, &'static str)> {
    let mut sound = Vec::new();
    for (from, to, way) in edges.iter().copied() {
        if from >= to || to >= nodes.len() {
            continue;
        }
        let (parent, beside) = (nodes[to].parent, nodes[to].parent == nodes[from].parent);
        let port = match (nodes[from].kind, way) {
            ("loop" | "for_each", _) if parent == Some(from) => BODY,
            ("loop" | "for_each" | "shell", 2) if beside => ERROR,
            ("loop" | "for_each", _) if beside => DONE,
            ("branch", 0) if beside => "on_false",
            ("branch", _) if beside => "on_true",
            _ if beside => "out",
            _ => continue,
        };
        sound.push((from, to, port));
    }
    // A body is entered, and no node of it stands apart.
    for (to, node) in nodes.iter().enumerate() {
        let alone = !sound.iter().any(|(_, other, _)| *other == to);
        sound.extend(node.parent.filter(|_| alone).map(|parent| (parent, to, BODY)));
    }
    sound.sort_unstable();
    sound.dedup();
    sound
}

/// What one run comes to: which nodes ran, and which of them failed.
struct Run {
    ran: Vec<bool>,
    failed: Vec<bool>,
}

/// Runs a graph with the given ways, as the engine does: a node runs when all
/// that leads to it is settled and one link taken. Of a body it is one round.
fn run(graph: &Graph<'_>, order: &[usize], ways: u32) -> Run {
    let count = graph.parent.len();
    let mut run = Run { ran: vec![false; count], failed: vec![false; count] };
    for at in order.iter().copied() {
        let taken = |link: &usize| {
            let link = &graph.links[*link];
            let way = ways >> link.from & 1 == 1;
            run.ran[link.from]
                && match link.from_port {
                    "on_true" => way,
                    "on_false" => !way,
                    BODY => true,
                    ERROR => run.failed[link.from],
                    _ => !run.failed[link.from],
                }
        };
        run.ran[at] = graph.incoming[at].is_empty() || graph.incoming[at].iter().any(taken);
        run.failed[at] = run.ran[at] && graph.catches(at) && ways >> at & 1 == 1;
    }
    run
}

impl Run {
    /// Whether the value is there for the reader.
    fn gives(&self, graph: &Graph<'_>, node: usize, gives: Gives, reader: Asker) -> bool {
        let body = if reader.after_round { Some(reader.node) } else { graph.parent[reader.node] };
        let outside = graph.parent[node].filter(|parent| Some(*parent) != body);
        let over = outside.is_none_or(|parent| self.ran[parent] && !self.failed[parent]);
        over && match gives {
            Gives::Output => self.ran[node] && !self.failed[node],
            Gives::Error => self.failed[node],
        }
    }
}

/// The graph of a text, its analysis, and what happens in every run.
fn with_runs(text: &str, judge: impl Fn(&Graph<'_>, &[Judged<'_>], &Flow, &[Run])) {
    let reading = yaml::read(text, 0..text.len());
    let root = reading.root.unwrap();
    let mut sink = Sink::new(text);
    let draft = Draft::read(&root, true, &mut sink).unwrap();
    let mut uses = uses::Uses::default();
    let judged: Vec<_> =
        draft.nodes.iter().map(|node| node::judge(node, &mut sink, &mut uses)).collect();
    let mut graph = graph::build(&draft, &judged, &mut sink);
    graph::judge(&mut graph, &draft, &judged, &mut sink);
    assert!(!sink.has_errors(), "{:?}\n{text}", sink.finish());
    let order = cycles::order(&graph);
    let flow = Flow::new(&graph, &judged, &order);
    let runs: Vec<_> = (0..1u32 << judged.len()).map(|ways| run(&graph, &order, ways)).collect();
    judge(&graph, &judged, &flow, &runs);
}

fn one_value(
    graph: &Graph<'_>,
    flow: &Flow,
    runs: &[Run],
    (node, gives, reader): (usize, Gives, Asker),
) {
    if gives == Gives::Error && !graph.catches(node) {
        return;
    }
    if flow.is_known(node, gives, reader) {
        let mut asked = runs.iter().filter(|run| run.ran[reader.node]);
        let always = asked.all(|run| run.gives(graph, node, gives, reader));
        assert!(always, "{gives:?} of n{node} is not known at {reader:?}");
    } else if !reader.after_round {
        let path = flow.path_without(graph, node, gives, reader.node);
        assert!(!path.is_empty(), "{gives:?} of n{node} at {reader:?}");
        for link in path.iter().map(|link| graph.links[*link]).filter(|link| link.from == node) {
            assert_eq!(link.from_port == ERROR, gives == Gives::Output);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn what_is_known_is_there_in_every_run_and_what_is_missing_has_a_path(text in graphs()) {
        with_runs(&text, |graph, judged, flow, runs| {
            let list = |at: usize| runs_as(&judged[at], Runs::ForEach);
            for node in 0..judged.len() {
                let mut readers: Vec<_> = (0..judged.len()).map(Asker::at).collect();
                let rounds = (0..judged.len()).filter(|at| runs_as(&judged[*at], Runs::Loop));
                readers.extend(rounds.map(|node| Asker { node, after_round: true, claims: false }));
                for reader in readers.into_iter().filter(|reader| flow.is_before(node, *reader)) {
                    let hidden = graph.parent[node].is_some_and(list)
                        && graph.parent[node] != graph.parent[reader.node];
                    assert!(!hidden, "no reader waits for the items of another\n{text}");
                    for gives in [Gives::Output, Gives::Error] {
                        one_value(graph, flow, runs, (node, gives, reader));
                    }
                }
            }
        });
    }
}

fn runs_as(judged: &Judged<'_>, kind: Runs) -> bool {
    runs(judged) == Some(kind)
}

/// Nodes of these kinds, none inside of another.
fn flat<const N: usize>(kinds: [&'static str; N]) -> [Made; N] {
    kinds.map(|kind| Made { kind, parent: None })
}

fn output(flow: &Flow, node: usize, reader: usize) -> bool {
    flow.is_known(node, Gives::Output, Asker::at(reader))
}

#[test]
fn paths_that_all_meet_are_known_behind_the_meeting() {
    let nodes = flat(["join", "branch", "join", "join", "join", "join"]);
    let edges = [(0, 1, 0), (0, 5, 0), (1, 2, 1), (1, 3, 0), (2, 4, 0), (3, 4, 0), (4, 5, 0)];
    with_runs(&file(&nodes, &edges), |_, _, flow, _| {
        assert!(output(flow, 4, 5));
        assert!(!output(flow, 2, 5));
        assert!(flow.is_before(2, Asker::at(5)));
        assert!(!flow.is_before(5, Asker::at(4)));
    });
}

#[test]
fn a_failure_that_leads_on_has_an_error_and_no_output() {
    let nodes = flat(["shell", "join", "join", "join"]);
    let edges = [(0, 1, 0), (0, 2, 2), (1, 3, 0), (2, 3, 0)];
    with_runs(&file(&nodes, &edges), |_, _, flow, _| {
        let error = |reader| flow.is_known(0, Gives::Error, Asker::at(reader));
        assert!(output(flow, 0, 1) && !error(1));
        assert!(!output(flow, 0, 2) && error(2));
        assert!(!output(flow, 0, 3) && !error(3));
    });
}

#[test]
fn behind_a_loop_its_last_round_is_known_and_behind_its_failure_it_is_not() {
    let mut nodes = [Made { kind: "join", parent: Some(0) }; 6];
    nodes[0] = Made { kind: "loop", parent: None };
    nodes[1].kind = "branch";
    nodes[4].parent = None;
    nodes[5].parent = None;
    let edges = [(1, 2, 0), (1, 3, 1), (0, 4, 0), (0, 5, 2)];
    with_runs(&file(&nodes, &edges), |_, _, flow, _| {
        let until = Asker { node: 0, after_round: true, claims: false };
        assert!(flow.is_known(1, Gives::Output, until) && output(flow, 1, 4));
        assert!(!flow.is_known(2, Gives::Output, until) && !output(flow, 2, 4));
        assert!(flow.is_before(2, until) && flow.is_before(2, Asker::at(4)));
        assert!(!flow.is_before(2, Asker::at(5)) && !flow.is_before(0, Asker::at(2)));
        assert!(!flow.is_before(2, Asker::at(0)) && !flow.is_before(0, until));
        assert!(flow.in_every_round(1, Gives::Output) && !flow.in_every_round(2, Gives::Output));
    });
}
