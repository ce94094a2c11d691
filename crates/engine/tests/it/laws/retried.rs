//! Trying a closed run again, at random: nothing that is kept is done again.

use std::collections::{BTreeMap, BTreeSet};

use blueprint::{NodeId, Program};
use durable::Round;
use engine::retry::{RetryError, Verdict, keep};
use engine::{AttemptKey, Event, Fact, NodeStatus, RunStatus, Site};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::graphs::{Grown, graph};
use super::steps::step;
use super::{config, drive};
use crate::rig::Rig;

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn a_retry_does_the_rest_and_no_more(
        graph in graph(),
        steps in vec(step(), 0..30),
        says in vec(0..3_u8, 4),
    ) {
        let mut first = Rig::new(&graph.program());
        first.start(graph.input());
        for step in &steps {
            step.take(&mut first);
        }
        drive::to_end(&mut first);
        let verdicts = verdicts(&first, &says);
        let kept = keep(&first.program, first.state(), &first.log, &verdicts);
        if first.status() == RunStatus::Completed {
            assert_eq!(kept, Err(RetryError::Completed));
            return Ok(());
        }
        if let Some(undecided) = verdicts.keys().next() {
            let none = keep(&first.program, first.state(), &first.log, &BTreeMap::new());
            assert_eq!(none, Err(RetryError::Undecided(undecided.clone())));
        }
        let kept = kept.expect("every unknown node has a verdict");
        let mut second = Rig::named(&first.program, "run-2", Value::Null, Some(kept));
        second.start(Value::Null);
        check_again(&mut second, &done(&first.log, &first.program, &verdicts));
        assert_eq!(second.status(), RunStatus::Completed);
    }
}

/// Drives a run to its end, in which nothing of this may be done again.
pub(super) fn check_again(rig: &mut Rig, done: &BTreeSet<(Site, Round)>) {
    let again = |key: &&AttemptKey| done.contains(&(key.node.clone(), key.round));
    assert_eq!(rig.working.keys().find(again), None);
    drive::to_end(rig);
    assert_eq!(rig.started_here().iter().find(again), None, "work is done twice");
}

/// What a person says of each unknown node.
pub(super) fn verdicts(rig: &Rig, says: &[u8]) -> BTreeMap<Site, Verdict> {
    let unknown = rig.state().nodes.iter();
    let open = |node: &engine::NodeState| node.status == NodeStatus::Unknown && node.port.is_none();
    let unknown = unknown.filter(|(site, node)| open(node) && !is_dealt_with(rig, site));
    let verdict = |((id, _), say): ((&Site, _), &u8)| {
        let verdict = match say {
            0 => Verdict::DidNot,
            1 => Verdict::Redo,
            _ => Verdict::Happened(json!({ "chosen": "x0" })),
        };
        (id.clone(), verdict)
    };
    unknown.zip(says.iter().cycle()).map(verdict).collect()
}

/// Whether the container around an unknown node has failed with it, and found
/// a way out.
fn is_dealt_with(rig: &Rig, site: &Site) -> bool {
    let ix = rig.program.node_ix(&site.node).expect("a node of the program");
    let around = rig.program.node(ix).parent.map(|parent| Site::of(&rig.program.node(parent).id));
    let around = around.and_then(|around| rig.state().node(&around));
    around.is_some_and(|node| node.status.is_settled() && node.port.is_some())
}

/// Sites whose work must not be done again, each with its round.
pub(super) fn done(
    log: &[Event],
    program: &Program,
    verdicts: &BTreeMap<Site, Verdict>,
) -> BTreeSet<(Site, Round)> {
    let mut rounds = BTreeMap::new();
    let mut done = BTreeSet::new();
    for event in log {
        if let Fact::LoopIteration { node, iteration, .. } = &event.fact {
            rounds.insert(node.node.clone(), *iteration);
        }
        if let Fact::NodeCompleted { node, attempt: Some(_), .. }
        | Fact::DecisionCompleted { node, .. } = &event.fact
        {
            done.insert((node.clone(), round(program, &rounds, node)));
        }
    }
    let happened = verdicts.iter().filter(|(_, verdict)| matches!(verdict, Verdict::Happened(_)));
    done.extend(happened.map(|(site, _)| (site.clone(), round(program, &rounds, site))));
    done
}

fn round(program: &Program, rounds: &BTreeMap<NodeId, Round>, site: &Site) -> Round {
    let ix = program.node_ix(&site.node).expect("a node of the program");
    let around = program.node(ix).parent.map(|parent| &program.node(parent).id);
    around.and_then(|around| rounds.get(around)).copied().unwrap_or(Round::FIRST)
}
