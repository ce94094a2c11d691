//! The stories themselves, without a crash.

use std::sync::Arc;

use durable::{Digest, Seq, Timestamp};
use engine::RunId;
use serde_json::json;

use super::*;
use crate::draft::Draft;

fn program(resume: bool) -> Arc<Program> {
    let draft = Draft::new("story").safe_shell("a", "make").shell("b", "make");
    let draft = draft.path(&["start", "a", "b"]);
    if resume { draft.setting("on_interrupt: resume") } else { draft }.program()
}

fn started(node: &str, attempt: u64, generation: u64, repeat: Repeat) -> Fact {
    let (node, attempt) = (Site::parse(node), Attempt(attempt));
    let (work, generation) = (Digest::of(b""), Generation(generation));
    let (deadline, agent, child) = (None, false, None);
    Fact::NodeStarted { node, attempt, generation, work, deadline, repeat, agent, child }
}

fn completed(node: &str, attempt: u64) -> Fact {
    let output = Arc::new(json!({}));
    Fact::NodeCompleted { node: Site::parse(node), attempt: Some(Attempt(attempt)), output }
}

fn unknown(node: &str) -> Fact {
    let (node, cause) = (Site::parse(node), UnknownCause::Interrupted);
    let (attempt, message) = (Attempt(1), String::new());
    Fact::AttemptUnknown { node, attempt, cause, code: None, message, caught: None }
}

fn judge(resume: bool, facts: Vec<Fact>, effects: &[&str]) -> Result<(), String> {
    let event = |(seq, fact)| Event { seq: Seq(seq), at: Timestamp::from_millis(0), fact };
    let events: Vec<Event> = (0..).zip(facts).map(event).collect();
    let effects: Vec<String> = effects.iter().map(|line| (*line).to_owned()).collect();
    judge_story(&program(resume), &RunId::new("r").unwrap(), &events, &effects, &[])
}

fn adopted(generation: u64) -> Fact {
    Fact::RunAdopted { generation: Generation(generation), cut: 0 }
}

#[test]
fn a_good_story_is_good() {
    let facts = vec![started("a", 1, 0, Repeat::Safe), completed("a", 1)];
    assert_eq!(judge(false, facts, &["r/a/0/1", "other/a/0/1", "other/b/0/1"]), Ok(()));
    let facts = vec![started("b", 1, 0, Repeat::Never), adopted(1), unknown("b")];
    assert_eq!(judge(true, facts, &["r/b/0/1"]), Ok(()));
}

#[test]
fn every_lie_is_seen() {
    let a = || started("a", 1, 0, Repeat::Safe);
    let b = || started("b", 1, 0, Repeat::Never);
    let cases: Vec<(bool, Vec<Fact>, &[&str], &str)> = vec![
        (false, vec![a(), completed("a", 1)], &["r/a/0/1", "r/a/0/1"], "acted twice"),
        (false, vec![a(), completed("a", 1)], &[], "without an effect"),
        (false, vec![], &["r/a/0/1"], "no durable event"),
        (false, vec![a()], &["r/a/0/1"], "has no owner"),
        (false, vec![a(), a()], &[], "starts twice"),
        (false, vec![started("a", 2, 0, Repeat::Safe)], &[], "nothing asked for it"),
        (false, vec![started("a", 1, 3, Repeat::Safe)], &[], "generation 3"),
        (false, vec![unknown("a")], &[], "nothing of it was in flight"),
        (false, vec![a(), adopted(1), Fact::RunCompleted], &[], "comes before a word on a"),
        (true, vec![a(), adopted(1), unknown("a")], &[], "though it may be tried again"),
        (false, vec![b(), adopted(0)], &[], "generation 0 follows"),
        (false, vec![completed("b", 1)], &[], "without an effect"),
        (false, vec![unknown("b"), adopted(1)], &[], "nothing of it was in flight"),
    ];
    for (resume, facts, effects, wanted) in cases {
        let said = judge(resume, facts, effects).unwrap_err();
        assert!(said.contains(wanted), "{said} instead of {wanted}");
    }
}
