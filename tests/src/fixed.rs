//! The scenarios of which every crash is tried. Between them they make every
//! kind of call that the store makes, in every order that the loop has.

mod constructs;

use engine::Verb;
use serde_json::json;

use crate::draft::Draft;
use crate::scenario::{Act, Play, Scenario, Word};

/// All of them, the smallest first.
pub fn all() -> Vec<Scenario> {
    let mut all = vec![creation(), failure(), lost(), timeout(), reject(), chain()];
    all.extend([gate(), inbox(), cancel(), marker(), decision(), file()]);
    all.extend([parallel(), gate_beside_work(), resume(), resume_gate(), retry()]);
    all.extend(constructs::all());
    all.extend([checkpoints(), hundred()]);
    all
}

/// The scenario of that name.
pub fn named(name: &str) -> Option<Scenario> {
    all().into_iter().find(|scenario| scenario.name == name)
}

fn creation() -> Scenario {
    let draft = Draft::new("creation").state("keep", "who", "{{trigger.output.who}}");
    Scenario::new("creation", draft.path(&["start", "keep"]).program()).settled(0)
}

fn one(name: &str) -> Draft {
    Draft::new(name).shell("work", "make").path(&["start", "work"])
}

fn failure() -> Scenario {
    let draft = one("failure").shell("after", "make install").path(&["work", "after"]);
    Scenario::new("failure", draft.program()).plays("work", vec![Play::Fail])
}

fn lost() -> Scenario {
    Scenario::new("lost", one("lost").program()).plays("work", vec![Play::Lost])
}

fn timeout() -> Scenario {
    let fields = json!({ "command": "sleep 100" });
    let draft =
        Draft::new("timeout").node_with("work", "shell", json!({ "timeout": "5s" }), fields);
    Scenario::new("timeout", draft.path(&["start", "work"]).program())
        .plays("work", vec![Play::Hang])
}

/// A command, a note of what it said, and a command that is given it.
fn chain() -> Scenario {
    let draft = Draft::new("chain")
        .shell("first", "make")
        .state("keep", "said", "{{nodes.first.output.stdout}}")
        .shell("second", "echo {{storage.said}}");
    Scenario::new("chain", draft.path(&["start", "first", "keep", "second"]).program())
}

fn gated(name: &str) -> Draft {
    let draft =
        Draft::new(name).shell("before", "make").gate("gate").shell("after", "make install");
    draft.path(&["start", "before", "gate", "after"])
}

fn gate() -> Scenario {
    Scenario::new("gate", gated("gate").program()).then([Act::Say(Word::approve(None)), Act::Drive])
}

fn reject() -> Scenario {
    let draft = Draft::new("reject").gate("gate").path(&["start", "gate"]);
    Scenario::new("reject", draft.program())
        .then([Act::Say(Word::reject(Some("gate"))), Act::Drive])
}

/// Words that are refused, denied and granted, given while somebody works
/// and while nobody does.
fn inbox() -> Scenario {
    let denied = Verb::Denied { verb: "approve".to_owned() };
    Scenario::new("inbox", gated("inbox").program())
        .word(0, Word::approve(None))
        .word(1, Word::Verb(denied))
        .then([
            Act::Say(Word::Verb(Verb::Resume)),
            Act::Drive,
            Act::Say(Word::approve(Some("before"))),
            Act::Say(Word::approve(Some("gate"))),
            Act::Say(Word::approve(Some("gate"))),
            Act::Drive,
        ])
}

fn cancelled(name: &str) -> Scenario {
    let draft = one(name).shell("beside", "make docs").edge("start", "beside");
    Scenario::new(name, draft.program()).plays("work", vec![Play::Hang])
}

fn cancel() -> Scenario {
    cancelled("cancel").word(1, Word::Verb(Verb::Cancel))
}

fn marker() -> Scenario {
    cancelled("marker").word(1, Word::Marker)
}

/// The first answer names no choice, so that there is a corrective turn.
fn decision() -> Scenario {
    let fields = json!({ "agent": "scripted", "prompt": "Ship?", "choices": ["ship", "wait"] });
    let draft = Draft::new("decision")
        .node("ask", "decision", fields)
        .shell("publish", "make publish")
        .notify("tell", "not today")
        .edge("start", "ask")
        .port("ask", "ship", "publish")
        .port("ask", "wait", "tell");
    let replies = ["Well, it depends.", "{\"chosen\": \"ship\", \"reason\": \"it is ready\"}"];
    Scenario::new("decision", draft.program())
        .plays("ask", replies.map(|text| Play::Reply(text.to_owned())).to_vec())
}

/// A value that is handed over by file.
fn file() -> Scenario {
    let draft = Draft::new("file")
        .shell("make", "make")
        .shell("show", "cat {{nodes.make.output.stdout | file}}");
    Scenario::new("file", draft.path(&["start", "make", "show"]).program())
}

/// A branch, three ways side by side, and a join; the last one ends first.
fn parallel() -> Scenario {
    let draft = Draft::new("parallel")
        .node("fork", "branch", json!({ "condition": "trigger.output.who == \"Ada\"" }))
        .shell("one", "make one")
        .shell("two", "make two")
        .shell("three", "make three")
        .shell("never", "make never")
        .node("joined", "join", json!({}))
        .notify("tell", "{{nodes.two.output.stdout | default(\"nothing\")}}")
        .edge("start", "fork")
        .port("fork", "on_true", "one")
        .port("fork", "on_true", "two")
        .port("fork", "on_true", "three")
        .port("fork", "on_false", "never")
        .edge("one", "joined")
        .edge("two", "joined")
        .edge("three", "joined")
        .edge("never", "joined")
        .edge("joined", "tell");
    Scenario::new("parallel", draft.program()).last_first()
}

/// A gate that waits while something else is in flight.
fn gate_beside_work() -> Scenario {
    let draft = Draft::new("gate-beside-work")
        .gate("gate")
        .shell("work", "make")
        .shell("after", "make install")
        .edge("start", "gate")
        .edge("start", "work")
        .edge("gate", "after");
    Scenario::new("gate-beside-work", draft.program()).word(0, Word::approve(Some("gate")))
}

fn resume() -> Scenario {
    let draft = Draft::new("resume")
        .setting("on_interrupt: resume")
        .safe_shell("one", "make one")
        .safe_shell("two", "make two")
        .node("joined", "join", json!({}))
        .safe_shell("last", "make last")
        .path(&["start", "one", "joined", "last"])
        .path(&["start", "two", "joined"]);
    Scenario::new("resume", draft.program()).completes()
}

/// Of a run that goes on, one attempt must not be repeated.
fn resume_gate() -> Scenario {
    let draft = Draft::new("resume-gate")
        .setting("on_interrupt: resume")
        .safe_shell("safe", "make")
        .gate("gate")
        .shell("once", "make install")
        .path(&["start", "safe", "gate", "once"]);
    Scenario::new("resume-gate", draft.program()).then([Act::Say(Word::approve(None)), Act::Drive])
}

/// A run that failed, tried again with what it had completed.
fn retry() -> Scenario {
    let draft = Draft::new("retry")
        .shell("good", "make")
        .shell("bad", "make test")
        .shell("after", "make install")
        .path(&["start", "good", "bad", "after"]);
    Scenario::new("retry", draft.program())
        .plays("bad", vec![Play::Fail])
        .then([Act::Retry, Act::Drive])
        .settled(2)
}

/// Long enough for a checkpoint on the way.
fn checkpoints() -> Scenario {
    let mut draft = Draft::new("checkpoints");
    let mut last = "start".to_owned();
    for at in 0..6 {
        let shell = format!("shell-{at}");
        draft = draft.shell(&shell, "make").edge(&last, &shell);
        last = shell;
        for part in 0..5 {
            let state = format!("state-{at}-{part}");
            draft = draft.state(&state, &state, "{{trigger.output.who}}").edge(&last, &state);
            last = state;
        }
    }
    Scenario::new("checkpoints", draft.program()).weight(4)
}

/// A hundred nodes that need nothing from outside: one large batch.
fn hundred() -> Scenario {
    let mut draft = Draft::new("hundred");
    let mut last = "start".to_owned();
    for at in 0..100 {
        let state = format!("state-{at}");
        draft = draft.state(&state, "count", &at.to_string()).edge(&last, &state);
        last = state;
    }
    Scenario::new("hundred", draft.program()).weight(8)
}
