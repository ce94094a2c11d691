//! Scripts: how they are read, and how they are played.

use std::ops::ControlFlow;
use std::path::PathBuf;

use durable::disk::RealDisk;
use durable::{Attempt, Round};
use engine::RunId;
use tempfile::TempDir;

use super::*;

fn script(value: Value) -> Script {
    Script::from_value(&value).unwrap()
}

fn errors(value: Value) -> Vec<String> {
    let errors = Script::from_value(&value).unwrap_err();
    errors.iter().map(ToString::to_string).collect()
}

fn key(node: &str, round: u64, attempt: u64) -> AttemptKey {
    AttemptKey {
        run: RunId::new("r1").unwrap(),
        node: serde_json::from_value(json!(node)).unwrap(),
        round: Round(round),
        attempt: Attempt(attempt),
        proof: None,
    }
}

fn task(session: Option<&str>) -> AgentTask {
    AgentTask {
        agent: "role:a".to_owned(),
        prompt: "do it".to_owned(),
        choices: Vec::new(),
        schema: None,
        session: session.map(str::to_owned),
        provider: None,
        model: None,
        mode: None,
        tools: Vec::new(),
        waits_for_limits: true,
    }
}

struct Stage {
    script: Script,
    folder: TempDir,
    stop: Stop,
    said: String,
}

impl Stage {
    fn new(replies: Value) -> Self {
        let script = script(json!({"a": replies}));
        let stop = Stop::new().unwrap();
        Self { script, folder: TempDir::new().unwrap(), stop, said: String::new() }
    }

    fn play(&mut self, attempt: u64) -> Outcome {
        self.play_as(&key("a", 0, attempt), &task(None))
    }

    fn play_as(&mut self, key: &AttemptKey, task: &AgentTask) -> Outcome {
        let workspace = self.folder.path();
        let scene = Scene { script: &self.script, key, workspace, effects: None };
        let said = &mut self.said;
        perform_scripted(task, &scene, &self.stop, &mut |_, bytes| {
            said.push_str(std::str::from_utf8(bytes).unwrap());
            ControlFlow::Continue(())
        })
    }

    fn fails(&mut self) -> (Class, String, Effect) {
        let Outcome::Failed(error) = self.play(1) else { panic!("no failure") };
        (error.class, error.code, error.effect)
    }
}

fn text(outcome: Outcome) -> String {
    let Outcome::Replied { text, .. } = outcome else { panic!("no reply") };
    text
}

#[test]
fn the_nth_try_takes_the_nth_reply_and_the_last_one_repeats() {
    let mut stage = Stage::new(json!([{"text": "one"}, {"text": "two"}, {"text": "three"}]));
    let said: Vec<_> = (1..=4).map(|attempt| text(stage.play(attempt))).collect();
    assert_eq!(said, ["one", "two", "three", "three"]);
    assert_eq!(text(stage.play_as(&key("a", 1, 1), &task(None))), "two");
    assert_eq!(text(stage.play_as(&key("a", u64::MAX, u64::MAX), &task(None))), "three");
}

#[test]
fn a_session_is_continued_when_one_is_given_and_new_otherwise() {
    let mut stage = Stage::new(json!([{"json": {"chosen": "yes"}, "usage": {"input_tokens": 3}}]));
    let first = stage.play(1);
    let said = Outcome::Replied {
        text: "{\n  \"chosen\": \"yes\"\n}".to_owned(),
        session: Some("scripted:r1/a/0/1".to_owned()),
        usage: Some(Box::new(Usage { tokens: Some(3), ..Usage::default() })),
    };
    assert_eq!(first, said);
    let said: Value = serde_json::from_str(&stage.said).unwrap();
    assert_eq!((&said["type"], &said["usage"]), (&json!("result"), &json!({"input_tokens": 3})));
    let Outcome::Replied { session, .. } = stage.play_as(&key("a", 0, 2), &task(Some("s"))) else {
        panic!("no reply");
    };
    assert_eq!(session.as_deref(), Some("s"));
}

#[test]
fn a_quiet_end_and_an_error_event_are_no_success() {
    let no_answer = (Class::Transient, "no_completion".to_owned(), Effect::Done);
    for quiet in [json!({}), json!({"text": " \n"}), json!({"exit": 0}), json!({"files": {}})] {
        assert_eq!(Stage::new(json!([quiet])).fails(), no_answer);
    }
    let event = Stage::new(json!([{"error_event": "overloaded", "exit": 0}])).fails();
    assert_eq!(event, (Class::Unknown, "error_event".to_owned(), Effect::Done));
}

#[test]
fn other_ends_are_what_they_are_for_a_real_provider() {
    let exit = Stage::new(json!([{"exit": 2, "text": "bad flag"}])).play(1);
    let Outcome::Failed(error) = exit else { panic!("no failure") };
    assert_eq!((&error.code[..], error.class, error.effect), ("exit_2", Class::Bug, Effect::Done));
    assert_eq!(error.message, "the scripted provider exited with exit code 2: bad flag");
    let limit = Stage::new(json!([{"limit": {"resets_in": "30m"}}])).fails();
    assert_eq!(limit, (Class::Transient, "limit_reached".to_owned(), Effect::None));
    assert!(matches!(Stage::new(json!([{"die": true}])).play(1), Outcome::Lost { .. }));
}

#[test]
fn a_stop_ends_what_hangs_and_what_waits() {
    for reply in [json!({"hang": true}), json!({"delay": "1h", "text": "late"})] {
        let mut stage = Stage::new(json!([reply]));
        let stop = stage.stop.clone();
        let outcome = std::thread::scope(|scope| {
            let playing = scope.spawn(|| stage.play(1));
            stop.request();
            playing.join().unwrap()
        });
        assert_eq!(outcome, Outcome::Stopped);
    }
    assert_eq!(text(Stage::new(json!([{"delay": "1ms", "text": "soon"}])).play(1)), "soon");
}

#[test]
fn files_are_written_before_the_delay_and_inside_the_workspace_only() {
    let mut stage = Stage::new(json!([
        {"files": {"a.txt": "A", "deep/er/b.txt": "B"}, "text": "ok"},
        {"files": {"out/new/c.txt": "C"}, "text": "ok"},
        {"files": {"link.txt": "D"}, "text": "ok"},
        {"files": {"a.txt/d.txt": "E"}, "text": "ok"},
    ]));
    let outside = TempDir::new().unwrap();
    let at = |path: &str| -> PathBuf { stage.folder.path().join(path) };
    std::os::unix::fs::symlink(outside.path(), at("out")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("x"), at("link.txt")).unwrap();
    let (a, b) = (at("a.txt"), at("deep/er/b.txt"));
    assert_eq!(text(stage.play(1)), "ok");
    assert_eq!(text(stage.play(1)), "ok");
    assert_eq!(std::fs::read_to_string(a).unwrap(), "A");
    assert_eq!(std::fs::read_to_string(b).unwrap(), "B");
    for attempt in [2, 3] {
        let Outcome::Failed(error) = stage.play(attempt) else { panic!("it was written") };
        assert_eq!((&error.code[..], error.class), ("file_outside_workspace", Class::Policy));
    }
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    let Outcome::Failed(error) = stage.play(4) else { panic!("it was written") };
    assert_eq!(error.code, "file_not_written");
}

#[test]
fn an_effect_is_noted_before_it_happens_each_time_it_does() {
    let mut stage = Stage::new(json!([{"files": {"a": ""}, "hang": true}]));
    let book = stage.folder.path().join("effects");
    let workspace = stage.folder.path().join("gone");
    let effects = Some(EffectLog { disk: &RealDisk, path: &book });
    for attempt in [1, 2] {
        let key = key("a", 0, attempt);
        let scene = Scene { script: &stage.script, key: &key, workspace: &workspace, effects };
        // The workspace is missing, so the note is all that can have happened.
        let outcome =
            perform_scripted(&task(None), &scene, &stage.stop, &mut |_, _| ControlFlow::Break(()));
        assert!(matches!(outcome, Outcome::Failed(_)));
    }
    assert_eq!(std::fs::read_to_string(&book).unwrap(), "r1/a/0/1\nr1/a/0/2\n");
    stage.stop.request();
    assert_eq!(stage.play(3), Outcome::Stopped);
}

#[test]
fn a_node_without_a_reply_says_which_nodes_have_one() {
    let mut stage = Stage::new(json!([{"text": "x"}]));
    let Outcome::Failed(error) = stage.play_as(&key("b", 0, 1), &task(None)) else {
        panic!("it replied");
    };
    assert_eq!((&error.code[..], error.class), ("no_scripted_reply", Class::Preflight));
    assert_eq!(
        error.message,
        "the script has no reply for node `b`; it has `a`. Add a list of replies for the node"
    );
}

#[test]
fn every_mistake_in_a_script_is_reported_with_its_place() {
    let wrong = json!({
        "a/b": [{"txt": "x"}, "x", {"files": {"../up": "", "/abs": "", "ok": 1}}],
        "c": [],
        "d": [{"limit": {"reset_in": "1m"}}, {"limit": {"resets_in": "soon"}, "usage": {"n": -1}}],
        "e": [{"exit": 256, "delay": "2 sec", "hang": "yes", "text": 3}],
    });
    assert_eq!(
        errors(wrong),
        [
            "/a~1b/0/txt: unknown key `txt`; did you mean `text`?",
            "/a~1b/1: a reply is a mapping; its keys are `text`, `json`, `files`, `usage`, `session`, `exit`, \
         `error_event`, `delay`, `hang`, `limit`, `die`",
            "/a~1b/2/files/..~1up: a file is named by a path inside the workspace, without `..` and \
         without `/` at the start",
            "/a~1b/2/files/~1abs: a file is named by a path inside the workspace, without `..` and \
         without `/` at the start",
            "/a~1b/2/files/ok: the content of a file is a text",
            "/c: a node has a list of at least one reply",
            "/d/0/limit/reset_in: unknown key `reset_in`; did you mean `resets_in`?",
            "/d/0/limit: `limit` is `true`, or has `resets_in`",
            "/d/1/usage: `usage` is a mapping from names to whole numbers",
            "/d/1/limit/resets_in: `resets_in` is a length of time such as `90s` or `10m`",
            "/d/1: a reply has `limit` or `usage`, not both",
            "/e/0/delay: `delay` is a length of time such as `90s` or `10m`",
            "/e/0/text: `text` is a text",
            "/e/0/exit: `exit` is an exit code from 0 to 255",
            "/e/0/hang: `hang` is true or false",
        ]
    );
    assert_eq!(errors(json!([])), ["/: a script is a mapping from node ids to lists of replies"]);
}

#[test]
fn keys_that_would_be_read_for_nothing_are_refused() {
    for (reply, pair) in [
        (json!({"text": "x", "json": 1}), "`text` or `json`"),
        (json!({"hang": true, "die": true}), "`hang` or `die`"),
        (json!({"die": true, "exit": 1}), "`die` or `exit`"),
    ] {
        let said = format!("/a/0: a reply has {pair}, not both");
        assert_eq!(errors(json!({"a": [reply]})), [said]);
    }
    script(json!({"a": [{"hang": false, "text": "x"}, {"error_event": "e", "exit": 1}]}));
}
