//! Trying a closed run again, at random: nothing that is kept is done again.

use std::collections::{BTreeMap, BTreeSet};

use blueprint::NodeId;
use engine::retry::{RetryError, Verdict, keep};
use engine::{NodeStatus, RunStatus};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::graphs::graph;
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
        let done = done(&first, &verdicts);
        let again = |id: &NodeId| second.working.keys().any(|key| key.node == *id);
        assert!(!done.iter().any(again));
        drive::to_end(&mut second);
        assert_eq!(second.status(), RunStatus::Completed);
        assert!(second.started_here().is_disjoint(&done), "work is done twice");
    }
}

/// What a person says of each unknown node.
fn verdicts(rig: &Rig, says: &[u8]) -> BTreeMap<NodeId, Verdict> {
    let unknown = rig.state().nodes.iter();
    let unknown = unknown.filter(|(_, node)| node.status == NodeStatus::Unknown);
    let verdict = |((id, _), say): ((&NodeId, _), &u8)| {
        let verdict = match say {
            0 => Verdict::DidNot,
            1 => Verdict::Redo,
            _ => Verdict::Happened(json!({ "chosen": "x0" })),
        };
        (id.clone(), verdict)
    };
    unknown.zip(says.iter().cycle()).map(verdict).collect()
}

/// Nodes whose work must not be done again.
fn done(rig: &Rig, verdicts: &BTreeMap<NodeId, Verdict>) -> BTreeSet<NodeId> {
    let completed = rig.state().nodes.iter();
    let completed = completed.filter(|(_, node)| node.status == NodeStatus::Completed);
    let happened = verdicts.iter().filter(|(_, verdict)| matches!(verdict, Verdict::Happened(_)));
    completed.map(|(id, _)| id).chain(happened.map(|(id, _)| id)).cloned().collect()
}
