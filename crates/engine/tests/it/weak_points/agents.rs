//! Weak points around agents: whose session is whose, and whose word counts.

use engine::proof::Finding;
use engine::{FailReason, NodeStatus, Outcome, RunStatus, Task};
use serde_json::json;

use super::{key, kinds, reason, started, status};
use crate::rig::Rig;

fn reply(rig: &mut Rig, node: &str, text: &str, session: &str) {
    let (text, session) = (text.to_owned(), Some(session.to_owned()));
    let key = key(rig, node);
    rig.finish(&key, Outcome::Replied { text, session, usage: None });
}

/// The session that the node in flight is to continue.
fn asked(rig: &Rig, node: &str) -> Option<String> {
    let Task::Agent(agent) = &rig.working[&key(rig, node)].task else {
        panic!("{node} asks no agent")
    };
    agent.session.clone()
}

const SESSIONS: &str = "
    node start manual_trigger
    node each for_each items=trigger.output.list max_parallel=2
    node write task agent=claude prompt=write parent=each
    node mend task agent=claude prompt=mend parent=each session=continue:write
    edge start -> each
    edge each:body -> write
    edge write -> mend
";

#[test]
fn p1_the_session_that_goes_on_is_the_providers_own_and_none_of_ours() {
    let mut rig = started(SESSIONS, json!({ "list": ["a"] }));
    assert_eq!(asked(&rig, "write[0]"), None, "a first session is made by the provider");
    reply(&mut rig, "write[0]", "done", "native-1");
    assert_eq!(asked(&rig, "mend[0]").as_deref(), Some("native-1"));
}

#[test]
fn p4_every_item_has_a_session_of_its_own() {
    let mut rig = started(SESSIONS, json!({ "list": ["a", "b"] }));
    reply(&mut rig, "write[0]", "done", "native-1");
    reply(&mut rig, "write[1]", "done", "native-2");
    assert_eq!(asked(&rig, "mend[0]").as_deref(), Some("native-1"));
    assert_eq!(asked(&rig, "mend[1]").as_deref(), Some("native-2"));
}

#[test]
fn x1_the_word_of_an_agent_completes_nothing_that_is_to_be_proven() {
    let mut rig = started(
        "
        node start manual_trigger
        node a task agent=claude prompt=do prove=[{\"file\":\"report.md\"}]
        node b notify message=done
        edge start -> a -> b
        ",
        json!({}),
    );
    reply(&mut rig, "a", "Everything is done and all tests pass.", "s");
    assert_eq!((status(&rig, "a"), status(&rig, "b")), (NodeStatus::Running, NodeStatus::Pending));
    let looks = key(&rig, "a");
    rig.finish(&looks, Outcome::Proved(vec![Finding::broken("there is none".to_owned())]));
    assert_eq!((rig.status(), reason(&rig)), (RunStatus::Failed, Some(FailReason::Contradicted)));
    assert!(!kinds(&rig).contains(&"notification"));
}
