//! Scenarios of loops, lists, waits, retries, ways out of failures, limits,
//! and runs that work for each other.

use engine::Verb;
use serde_json::json;

use crate::draft::Draft;
use crate::scenario::{Act, Play, Scenario, Word};

/// All of them.
pub(super) fn all() -> Vec<Scenario> {
    let mut all = vec![rounds(), until(), round_fails(), round_gate(), rounds_resume()];
    all.extend([items(), collect(), stop(), item_gates(), items_resume()]);
    all.extend([wait(), wait_long(), backoff(), error_port(), lost_port(), deadline(), budget()]);
    all.extend([child(), child_fails(), child_gate(), child_cancelled(), child_again()]);
    all.extend([proven(), contradicted(), unproven(), proven_resume(), limit()]);
    all.extend([child_resume(), child_deadline(), children_of_items(), children_of_rounds()]);
    all
}

fn looped(name: &str, until: &str) -> Draft {
    let fields = json!({ "max_iterations": 3, "until": until });
    Draft::new(name)
        .node("again", "loop", fields)
        .inside("again", "make", "shell", json!({}), json!({ "command": "make" }))
        .inside("again", "keep", "state", json!({}), kept("{{nodes.make.output.stdout}}"))
        .shell("after", "make install")
        .edge("start", "again")
        .port("again", "body", "make")
        .edge("make", "keep")
        .port("again", "done", "after")
}

fn kept(value: &str) -> serde_json::Value {
    json!({ "op": "set", "entries": { "said": value } })
}

fn exit(code: u8) -> Play {
    Play::Output(json!({ "exit_code": code, "stdout": "said", "stderr": "" }))
}

const NEVER: &str = "nodes.make.output.exit_code == 99";

fn rounds() -> Scenario {
    Scenario::new("rounds", looped("rounds", NEVER).program())
}

fn until() -> Scenario {
    let until = "nodes.make.output.exit_code == 7";
    Scenario::new("until", looped("until", until).program()).plays("make@1", vec![exit(7)])
}

/// The failure of a round is the loop's, which has a way out.
fn round_fails() -> Scenario {
    let draft = looped("round-fails", NEVER).notify("tell", "{{nodes.again.error.message}}");
    Scenario::new("round-fails", draft.port("again", "error", "tell").program())
        .plays("make@1", vec![Play::Fail])
}

fn round_gate() -> Scenario {
    let draft = Draft::new("round-gate")
        .node("again", "loop", json!({ "max_iterations": 2 }))
        .inside("again", "gate", "approval", json!({}), json!({ "prompt": "Once more?" }))
        .inside("again", "make", "shell", json!({}), json!({ "command": "make" }))
        .edge("start", "again")
        .port("again", "body", "gate")
        .edge("gate", "make");
    Scenario::new("round-gate", draft.program())
        .then([Act::Say(Word::approve(None)), Act::Drive])
        .then([Act::Say(Word::approve(Some("gate"))), Act::Drive])
}

fn rounds_resume() -> Scenario {
    let safe = json!({ "repeat": "safe" });
    let draft = Draft::new("rounds-resume")
        .setting("on_interrupt: resume")
        .node("again", "loop", json!({ "max_iterations": 2 }))
        .inside("again", "make", "shell", safe, json!({ "command": "make" }))
        .safe_shell("after", "make install")
        .edge("start", "again")
        .port("again", "body", "make")
        .port("again", "done", "after");
    Scenario::new("rounds-resume", draft.program()).completes()
}

fn listed(name: &str, end: &str, parallel: usize) -> Draft {
    let fields = json!({
        "items": "trigger.output.items", "on_item_error": end, "max_parallel": parallel
    });
    Draft::new(name)
        .setting("max_parallel: 3")
        .node("each", "for_each", fields)
        .inside("each", "make", "shell", json!({}), json!({ "command": "echo {{item}}" }))
        .inside("each", "keep", "state", json!({}), kept("{{nodes.make.output.stdout}}"))
        .notify("tell", "{{nodes.each.output}}")
        .edge("start", "each")
        .port("each", "body", "make")
        .edge("make", "keep")
        .port("each", "done", "tell")
}

fn with_items(scenario: Scenario, count: usize) -> Scenario {
    let items: Vec<String> = (0..count).map(|at| format!("item-{at}")).collect();
    Scenario { input: json!({ "who": "Ada", "items": items }), ..scenario }
}

fn items() -> Scenario {
    with_items(Scenario::new("items", listed("items", "stop", 2).program()), 3).last_first()
}

/// One item fails beside others; its failure is part of the list.
fn collect() -> Scenario {
    let scenario = Scenario::new("collect", listed("collect", "collect", 3).program());
    with_items(scenario, 3).plays("make[1]", vec![Play::Fail])
}

/// One item fails; what is in flight beside it ends, and the rest never
/// begins.
fn stop() -> Scenario {
    let draft = listed("stop", "stop", 2).notify("sorry", "{{nodes.each.error.message}}");
    let scenario = Scenario::new("stop", draft.port("each", "error", "sorry").program());
    with_items(scenario, 3).plays("make[0]", vec![Play::Fail])
}

fn item_gates() -> Scenario {
    let draft = Draft::new("item-gates")
        .node("each", "for_each", json!({ "items": "trigger.output.items", "max_parallel": 2 }))
        .inside("each", "gate", "approval", json!({}), json!({ "prompt": "{{item}}?" }))
        .inside("each", "make", "shell", json!({}), json!({ "command": "echo {{item}}" }))
        .edge("start", "each")
        .port("each", "body", "gate")
        .edge("gate", "make");
    with_items(Scenario::new("item-gates", draft.program()), 2)
        .then([Act::Say(Word::approve(None)), Act::Say(Word::approve(Some("gate[1]")))])
        .then([Act::Drive, Act::Say(Word::approve(Some("gate[0]"))), Act::Drive])
}

fn items_resume() -> Scenario {
    let safe = json!({ "repeat": "safe" });
    let draft = Draft::new("items-resume")
        .setting("on_interrupt: resume")
        .node("each", "for_each", json!({ "items": "trigger.output.items", "max_parallel": 2 }))
        .inside("each", "make", "shell", safe, json!({ "command": "echo {{item}}" }))
        .edge("start", "each")
        .port("each", "body", "make");
    with_items(Scenario::new("items-resume", draft.program()), 3).completes()
}

fn waiting(name: &str, time: &str) -> Scenario {
    let draft = Draft::new(name)
        .node("pause", "wait", json!({ "for": time }))
        .shell("after", "make")
        .path(&["start", "pause", "after"]);
    Scenario::new(name, draft.program())
}

/// A new owner comes after the moment, an hour later.
fn wait() -> Scenario {
    waiting("wait", "20m")
}

/// A new owner comes before the moment.
fn wait_long() -> Scenario {
    waiting("wait-long", "30h")
}

fn proving(name: &str, more: serde_json::Value) -> Draft {
    let mut keys = json!({ "prove": [{ "command": "make test" }, { "file": "made" }] });
    if let (Some(keys), serde_json::Value::Object(more)) = (keys.as_object_mut(), more) {
        keys.extend(more);
    }
    Draft::new(name)
        .node_with("work", "shell", keys, json!({ "command": "make" }))
        .shell("after", "make install")
        .path(&["start", "work", "after"])
}

fn proven() -> Scenario {
    Scenario::new("proven", proving("proven", json!({})).program()).weight(4)
}

/// What it claims first does not hold, and the author lets it try again.
fn contradicted() -> Scenario {
    let retry = json!({ "retry": { "attempts": 2, "backoff": "1s", "on": ["bug"] } });
    Scenario::new("contradicted", proving("contradicted", retry).program())
        .plays("work+proof", vec![Play::Fail, Play::Output(json!(null))])
        .weight(4)
}

fn unproven() -> Scenario {
    Scenario::new("unproven", proving("unproven", json!({})).program())
        .plays("work+proof", vec![Play::Lost])
        .weight(4)
}

fn proven_resume() -> Scenario {
    let draft = Draft::new("proven-resume").setting("on_interrupt: resume");
    let keys = json!({ "repeat": "safe", "prove": [{ "command": "make test" }] });
    let draft = draft
        .node_with("work", "shell", keys, json!({ "command": "make" }))
        .safe_shell("after", "make install")
        .path(&["start", "work", "after"]);
    Scenario::new("proven-resume", draft.program()).weight(4).completes()
}

/// A provider has had enough for a while, between two turns.
fn limit() -> Scenario {
    let ask = json!({ "agent": "scripted", "prompt": "Go on" });
    let draft = Draft::new("limit").node("ask", "task", ask).path(&["start", "ask"]);
    Scenario::new("limit", draft.program())
        .plays("ask", vec![Play::Limit, Play::Limit, Play::Reply("done".to_owned())])
}

fn backoff() -> Scenario {
    let keys = json!({ "retry": { "attempts": 3, "backoff": "50m", "on": ["bug"] } });
    let draft = Draft::new("backoff")
        .node_with("work", "shell", keys, json!({ "command": "make" }))
        .path(&["start", "work"]);
    Scenario::new("backoff", draft.program()).plays("work", vec![Play::Fail, Play::Fail, exit(0)])
}

fn caught(name: &str, play: Play) -> Scenario {
    let draft = Draft::new(name)
        .shell("work", "make")
        .shell("mend", "echo {{nodes.work.error.code}}")
        .node("joined", "join", json!({}))
        .path(&["start", "work", "joined"])
        .port("work", "error", "mend")
        .edge("mend", "joined");
    Scenario::new(name, draft.program()).plays("work", vec![play])
}

fn error_port() -> Scenario {
    caught("error-port", Play::Fail)
}

fn lost_port() -> Scenario {
    caught("lost-port", Play::Lost)
}

/// The time of the run is up while something is in flight.
fn deadline() -> Scenario {
    let draft = Draft::new("deadline")
        .setting("deadline: 10m")
        .shell("work", "sleep 10000")
        .shell("after", "make")
        .path(&["start", "work", "after"]);
    Scenario::new("deadline", draft.program()).plays("work", vec![Play::Hang])
}

/// The budget is spent, and granted once more.
fn budget() -> Scenario {
    let mut draft = Draft::new("budget").setting("budget: { agent_calls: 2 }");
    for id in ["one", "two", "three"] {
        draft = draft.node(id, "task", json!({ "agent": "scripted", "prompt": "Go." }));
    }
    let said = Play::Reply("Done.".to_owned());
    let scenario = ["one", "two", "three"].iter().fold(
        Scenario::new("budget", draft.path(&["start", "one", "two", "three"]).program()),
        |scenario, id| scenario.plays(id, vec![said.clone()]),
    );
    scenario.then([Act::Say(Word::Verb(Verb::Resume)), Act::Drive])
}

/// The blueprint that another one runs.
fn inner(settings: &[&str], gate: bool) -> std::sync::Arc<blueprint::Program> {
    let draft = Draft::new("inner");
    let draft = settings.iter().fold(draft, |draft, line| draft.setting(line));
    let keys = if settings.is_empty() { json!({}) } else { json!({ "repeat": "safe" }) };
    let draft = draft.node_with("inside", "shell", keys, json!({ "command": "make" }));
    if gate {
        draft.gate("ask").path(&["start", "ask", "inside"])
    } else {
        draft.edge("start", "inside")
    }
    .program()
}

fn call(keys: &serde_json::Value) -> (serde_json::Value, serde_json::Value) {
    (keys.clone(), json!({ "automation": "inner", "input": { "who": "{{trigger.output.who}}" } }))
}

fn calling(name: &str, keys: &serde_json::Value) -> Draft {
    let (keys, fields) = call(keys);
    Draft::new(name)
        .node_with("call", "sub_automation", keys, fields)
        .notify("tell", "{{nodes.call.output | default(\"nothing\")}}")
        .path(&["start", "call", "tell"])
}

fn family(name: &str, draft: &Draft) -> Scenario {
    Scenario::new(name, draft.program()).runs(inner(&[], false))
}

fn child() -> Scenario {
    family("child", &calling("child", &json!({})))
}

fn child_fails() -> Scenario {
    let draft = calling("child-fails", &json!({}))
        .notify("sorry", "{{nodes.call.error.message}}")
        .port("call", "error", "sorry");
    family("child-fails", &draft).plays("inside", vec![Play::Fail])
}

/// The parent rests while its child waits for a person.
fn child_gate() -> Scenario {
    let draft = calling("child-gate", &json!({}));
    Scenario::new("child-gate", draft.program())
        .runs(inner(&[], true))
        .then([Act::SayToChild(Word::approve(None)), Act::Recover])
}

fn child_cancelled() -> Scenario {
    family("child-cancelled", &calling("child-cancelled", &json!({})))
        .plays("inside", vec![Play::Hang])
        .word(1, Word::Verb(Verb::Cancel))
}

/// A second run for a second attempt.
fn child_again() -> Scenario {
    let keys = json!({ "retry": { "attempts": 2, "backoff": "10s", "on": ["bug"] } });
    family("child-again", &calling("child-again", &keys)).plays("inside", vec![Play::Fail])
}

fn child_resume() -> Scenario {
    let draft = calling("child-resume", &json!({})).setting("on_interrupt: resume");
    Scenario::new("child-resume", draft.program())
        .runs(inner(&["on_interrupt: resume"], false))
        .completes()
}

fn child_deadline() -> Scenario {
    let draft = calling("child-deadline", &json!({})).setting("deadline: 10m");
    family("child-deadline", &draft).plays("inside", vec![Play::Hang])
}

fn children_of_items() -> Scenario {
    let (keys, fields) = call(&json!({}));
    let draft = Draft::new("children-of-items")
        .node("each", "for_each", json!({ "items": "trigger.output.items", "max_parallel": 2 }))
        .inside("each", "call", "sub_automation", keys, fields)
        .edge("start", "each")
        .port("each", "body", "call");
    with_items(family("children-of-items", &draft), 2).weight(2)
}

fn children_of_rounds() -> Scenario {
    let (keys, fields) = call(&json!({}));
    let draft = Draft::new("children-of-rounds")
        .node("again", "loop", json!({ "max_iterations": 2 }))
        .inside("again", "call", "sub_automation", keys, fields)
        .edge("start", "again")
        .port("again", "body", "call");
    family("children-of-rounds", &draft).weight(2)
}
