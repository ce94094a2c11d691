//! The laws over graphs with all that there is.

use std::collections::BTreeSet;

use blueprint::OnInterrupt;
use durable::Seq;
use engine::fork::fork;
use engine::retry::{RetryError, keep};
use engine::{FailReason, Input, RunStatus, SignalId};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::Value;

use super::graphs::Grown;
use super::retried::{check_again, done, verdicts};
use super::rich::{Rich, rich};
use super::steps::{self, step};
use super::{config, drive, ends, in_order, smooth};
use crate::rig::Rig;

fn without_deadline() -> impl Strategy<Value = Rich> {
    rich().prop_map(Rich::without_deadline)
}

proptest! {
    #![proptest_config(config(128))]

    #[test]
    fn whatever_happens_the_laws_hold(graph in rich(), steps in vec(step(), 0..40)) {
        let mut rig = Rig::new(&graph.program());
        rig.start(graph.input());
        for step in &steps {
            step.take(&mut rig);
        }
        drive::to_rest(&mut rig);
        assert!(rig.is_closed() || rig.is_parked());
        drive::to_end(&mut rig);
        assert!(rig.is_closed());
    }
}

/// The random runs come by every kind of fact, so that the laws are held
/// against all of them.
#[test]
fn the_laws_see_every_kind_of_fact() {
    let mut runner = TestRunner::new(config(1));
    let mut seen = BTreeSet::new();
    let runs = (rich(), vec(step(), 0..40));
    for nth in 0..200 {
        let (graph, steps) = runs.new_tree(&mut runner).expect("a seed grows").current();
        let mut rig = Rig::new(&graph.program());
        rig.start(graph.input());
        for step in &steps {
            step.take(&mut rig);
        }
        if nth % 5 == 0 {
            let id = SignalId::new("last").expect("a name for a file");
            rig.give(Input::Signal(steps::signal(id, 4)));
        }
        drive::to_end(&mut rig);
        seen.extend(rig.log.iter().map(|event| event.fact.kind()));
    }
    insta::assert_snapshot!(seen.into_iter().collect::<Vec<_>>().join(" "));
}

proptest! {
    #![proptest_config(config(32))]

    #[test]
    fn independent_outcomes_commute(graph in without_deadline(), order in vec(any::<u8>(), 1..12)) {
        let (one, other) = (smooth(&graph), in_order(&graph, &order));
        assert_eq!((one.status(), other.status()), (RunStatus::Completed, RunStatus::Completed));
        assert_eq!(ends(one.state()), ends(other.state()));
        assert_eq!(one.state().storage, other.state().storage);
    }

    #[test]
    fn a_retry_does_the_rest_and_no_more(
        graph in without_deadline(),
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
        let kept = kept.expect("every unknown node has a verdict");
        let mut second = Rig::named(&first.program, "run-2", Value::Null, Some(kept));
        second.start(Value::Null);
        check_again(&mut second, &done(&first.log, &first.program, &verdicts));
        assert_eq!(second.status(), RunStatus::Completed);
    }

    /// A run forked from any of its events goes on and comes to the same end,
    /// and does nothing again that was over.
    #[test]
    fn a_fork_with_the_same_graph_ends_alike(graph in without_deadline(), at in any::<prop::sample::Index>()) {
        let whole = smooth(&graph);
        let at = at.index(whole.log.len());
        let seq = Seq(u64::try_from(at).expect("a log is short"));
        let (kept, _) =
            fork(&whole.program, &whole.program, &whole.log, seq).expect("the run had begun");
        let mut forked = Rig::named(&whole.program, "run-2", Value::Null, Some(kept));
        forked.start(Value::Null);
        check_again(&mut forked, &done(&whole.log[..=at], &whole.program, &Default::default()));
        assert_eq!(forked.status(), RunStatus::Completed);
        assert_eq!(ends(forked.state()), ends(whole.state()));
        assert_eq!(forked.state().storage, whole.state().storage);
    }
}

proptest! {
    #![proptest_config(config(12))]

    #[test]
    fn a_death_changes_nothing_or_is_told(graph in without_deadline()) {
        let whole = smooth(&graph);
        let resumes = whole.program.on_interrupt() == OnInterrupt::Resume;
        for length in 1..=whole.log.len() {
            let prefix = &whole.log[..length];
            let before = crate::rig::refold(prefix);
            let safe = drive::is_safe(&before);
            let rig = drive::from_prefix(&whole.program, whole.launch_of(), prefix);
            let idle = before.in_flight.is_empty() && before.claims.is_empty();
            let rests = idle && before.waits_for_something();
            if (resumes && safe) || before.closed.is_some() || rests {
                assert_eq!(ends(rig.state()), ends(whole.state()), "after {length} events");
                assert_eq!(rig.state().storage, whole.state().storage);
            } else if !resumes {
                let failure = rig.state().failure.as_ref().map(|failure| failure.reason);
                assert!(failure == Some(FailReason::Interrupted) || failure.is_none());
                assert_eq!(rig.status(), RunStatus::Failed);
            }
        }
    }
}
