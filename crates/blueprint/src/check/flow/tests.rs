//! The analysis against every way that a graph can run.

use proptest::prelude::*;

use super::*;
use crate::check::{Sink, cycles, graph, node, uses};
use crate::yaml;

/// Runs a graph of joins and branches with the given ways, as the engine
/// does: a node runs when all that leads to it is settled and one link taken.
fn run(graph: &Graph<'_>, judged: &[Judged<'_>], order: &[usize], ways: u32) -> Vec<bool> {
    let mut ran = vec![false; judged.len()];
    for at in order.iter().copied() {
        let taken = |link: &usize| {
            let link = &graph.links[*link];
            let way = if ways >> (link.from % 32) & 1 == 1 { "on_true" } else { "on_false" };
            ran[link.from] && (!chooses(&judged[link.from]) || link.from_port == way)
        };
        ran[at] = graph.incoming[at].is_empty() || graph.incoming[at].iter().any(taken);
    }
    ran
}

fn file(branches: &[bool], edges: &[(usize, usize, bool)]) -> String {
    let mut text = String::from("id: t\nname: T\nnodes:\n");
    for (at, branch) in branches.iter().enumerate() {
        let kind = if *branch { "branch, fields: { condition: run.id }" } else { "join" };
        text.push_str(&format!("- {{ id: n{at}, type: {kind} }}\n"));
    }
    text.push_str("edges:\n");
    for (from, to, yes) in edges {
        let port = match (branches[*from], yes) {
            (false, _) => "out",
            (true, true) => "on_true",
            (true, false) => "on_false",
        };
        text.push_str(&format!("- {{ from: n{from}, from_port: {port}, to: n{to} }}\n"));
    }
    text
}

/// The graph of a text, its analysis, and what happens in every run.
fn with_runs(text: &str, judge: impl Fn(&Graph<'_>, &Flow, &[Vec<bool>])) {
    let reading = yaml::read(text, 0..text.len());
    let root = reading.root.unwrap();
    let mut sink = Sink::new(text);
    let draft = Draft::read(&root, true, &mut sink).unwrap();
    let mut uses = uses::Uses::default();
    let judged: Vec<_> =
        draft.nodes.iter().map(|node| node::judge(node, &mut sink, &mut uses)).collect();
    let graph = graph::build(&draft, &judged, &mut sink);
    let order = cycles::order(&graph);
    let flow = Flow::new(&graph, &draft, &judged, &order);
    let runs: Vec<_> =
        (0..1u32 << judged.len()).map(|ways| run(&graph, &judged, &order, ways)).collect();
    judge(&graph, &flow, &runs);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn what_is_known_ran_in_every_run_and_what_is_missing_has_a_path(
        branches in prop::collection::vec(any::<bool>(), 2..8),
        edges in prop::collection::vec((0..8usize, 0..8usize, any::<bool>()), 0..16),
    ) {
        let count = branches.len();
        let mut edges: Vec<_> =
            edges.into_iter().map(|(a, b, yes)| (a % count, b % count, yes)).filter(|(a, b, _)| a < b).collect();
        edges.sort_unstable();
        edges.dedup();
        let text = file(&branches, &edges);
        with_runs(&text, |graph, flow, runs| {
            for reader in 0..count {
                for node in 0..count {
                    if !flow.is_before(node, reader) {
                        continue;
                    }
                    let always = runs.iter().filter(|ran| ran[reader]).all(|ran| ran[node]);
                    if flow.is_known(node, reader) {
                        assert!(always, "n{node} is not known at n{reader}\n{text}");
                    } else {
                        let path = flow.path_without(graph, node, reader);
                        assert!(path.iter().all(|link| graph.links[*link].from != node));
                        assert!(!path.is_empty());
                    }
                }
            }
        });
    }
}

#[test]
fn paths_that_all_meet_are_known_behind_the_meeting() {
    let branches = [false, true, false, false, false, false];
    let edges = [
        (0, 1, true),
        (0, 5, true),
        (1, 2, true),
        (1, 3, false),
        (2, 4, true),
        (3, 4, true),
        (4, 5, true),
    ];
    with_runs(&file(&branches, &edges), |_, flow, _| {
        assert!(flow.is_known(4, 5));
        assert!(!flow.is_known(2, 5));
        assert!(flow.is_before(2, 5));
        assert!(!flow.is_before(5, 4));
    });
}
