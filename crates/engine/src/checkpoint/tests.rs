//! What is stored and read again is the same.

use blueprint::Repeat;
use durable::Attempt;

use super::*;
use crate::event::Child;
use crate::event::{AgainCause, Event, Fact};
use crate::fold;
use crate::work::{Class, NodeError};
use durable::Digest;

/// A run in which a site waits to be tried again after a run that worked for
/// it has failed.
fn backs_off_after_a_child() -> RunState {
    let site = Site::parse("call");
    let run = |id: &str| RunId::new(id).unwrap();
    let started = RunStarted {
        run_id: run("r"),
        blueprint_id: blueprint::BlueprintId::new("b").unwrap(),
        blueprint_hash: None,
        schema: 2,
        trigger: Arc::default(),
        format: Format { major: 1, minor: 0 },
        generation: Generation::FIRST,
        blueprint_digest: None,
        invocation_digest: None,
        principal: None,
        retry_of: None,
        fork_of: None,
        parent: None,
        deadline: None,
        budget: Budget::default(),
    };
    let automation = blueprint::BlueprintId::new("inner").unwrap();
    let child = Child { run_id: run("child"), automation, input: Value::Null };
    let message = "it failed".to_owned();
    let error = NodeError::before_effect(Class::Bug, "error", message);
    let facts = [
        Fact::RunStarted(Box::new(started)),
        Fact::NodeStarted {
            node: site.clone(),
            attempt: Attempt::FIRST,
            generation: Generation::FIRST,
            work: Digest::of(b""),
            deadline: None,
            repeat: Repeat::Never,
            agent: false,
            child: Some(Arc::new(child)),
        },
        Fact::AttemptFailed {
            node: site,
            attempt: Attempt::FIRST,
            error,
            cause: AgainCause::Retry,
            wake: Some(Timestamp::from_millis(5000)),
            session: None,
        },
    ];
    let mut state = RunState::fresh();
    for (seq, fact) in (0..).zip(facts) {
        let at = Timestamp::from_millis(1000);
        fold(&mut state, &Event { seq: Seq(seq), at, fact }).unwrap();
    }
    state
}

#[test]
fn a_site_that_waits_after_a_child_has_failed_waits_for_its_moment() {
    let state = backs_off_after_a_child();
    assert!(state.children.is_empty());
    assert_eq!(state.timers.len(), 1);
    let written = serde_json::to_string(&to_stored(&state)).unwrap();
    assert_eq!(from_stored(serde_json::from_str(&written).unwrap()).unwrap(), state);
}
