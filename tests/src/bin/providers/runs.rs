//! Whole runs: the real `wardian` with a real agent against the server, and
//! what must come of each. At the end of each the secrets that were planted
//! are looked for in all that is ours.

use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use world::Draft;

use crate::house::{House, Verdict, marked, until};
use crate::{changes, secrets};

/// One case.
pub(crate) struct Run {
    pub(crate) name: &'static str,
    play: fn(&House) -> Verdict,
    /// Providers that try again for minutes here.
    pub(crate) slow_for: &'static [&'static str],
}

pub(crate) const RUNS: &[Run] = &[
    Run { name: "run session", play: session, slow_for: &[] },
    Run { name: "run cancel", play: cancel, slow_for: &[] },
    Run { name: "run SIGINT", play: interrupt, slow_for: &[] },
    Run { name: "run limit", play: limit, slow_for: &[] },
    Run { name: "run budget", play: budget, slow_for: &[] },
    Run { name: "run 401", play: not_logged_in, slow_for: &[] },
    Run { name: "run malformed", play: malformed, slow_for: &["opencode"] },
    Run { name: "run worktree", play: changes::worktree, slow_for: &[] },
    Run { name: "run secrets", play: secrets::secrets, slow_for: &[] },
];

/// What the server needs to be asked for an answer that decides.
const SHIP: &str = r#"[[fake json text="{\"chosen\":\"ship\",\"reason\":\"green\"}"]]"#;

/// So long the limit of an account lasts from its first call on. One that
/// tells its reset by the clock on the wall tells the minute alone.
const LIMIT_SECONDS: u64 = 10;

pub(crate) fn judge(provider: &str, case: &str, folder: &Path) -> String {
    let Some(case) = RUNS.iter().find(|other| other.name == case) else {
        return format!("there is no case {case}");
    };
    let house = match House::build(provider, folder) {
        Ok(house) => house,
        Err(error) => return format!("the house cannot be built: {error}"),
    };
    let played = (case.play)(&house).and_then(|said| Ok(format!("{said}; {}", house.search()?)));
    house.clear();
    match played {
        Ok(said) => format!("ok {said}"),
        Err(said) => format!("WRONG {}", said.replace('\n', " ")),
    }
}

/// A task as the drafts of these cases have it.
pub(crate) fn task(prompt: &str, mode: &str) -> Value {
    json!({ "agent": "role:worker", "prompt": prompt, "mode": mode })
}

pub(crate) fn expect(holds: bool, what: &str, found: &dyn std::fmt::Display) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("{what}: {found:.400}")) }
}

/// A task, one that goes on in its session, a decision, and a task with a
/// schema, to success.
fn session(house: &House) -> Verdict {
    let again = json!({
        "agent": "role:worker", "prompt": "And again.", "session": "continue:first",
    });
    let choice = json!({
        "agent": "role:judge", "prompt": format!("Ship it? {SHIP}"), "choices": ["ship", "wait"],
    });
    let shape = json!({
        "agent": "role:worker", "prompt": format!("Say why. {SHIP}"),
        "output_schema": { "chosen": "string", "reason": "string" },
    });
    let draft = Draft::new("session")
        .node("first", "task", task("Say hello.", "edit"))
        .node("again", "task", again)
        .node("judge", "decision", choice)
        .node("shape", "task", shape)
        .notify("tell", "{{nodes.shape.output.reason}}")
        .notify("other", "not this way")
        .path(&["start", "first", "again", "judge"])
        .port("judge", "ship", "shape")
        .port("judge", "wait", "other")
        .edge("shape", "tell");
    let (code, run) = house.rest(&draft, &[])?;
    let shown = house.show(&run)?;
    expect(code == 0 && shown["status"] == "completed", "the run", &shown)?;
    let nodes = &shown["nodes"];
    let good = nodes["judge"]["output"]["chosen"] == "ship"
        && nodes["shape"]["output"] == json!({ "chosen": "ship", "reason": "green" })
        && nodes["tell"]["status"] == "completed"
        && nodes["other"]["status"] == "skipped";
    expect(good, "the outputs and the ways", nodes)?;
    let events = house.events(&run)?;
    let named = |node: &str, kind: &str, field: &str| {
        let found = events.iter().find(|event| event["kind"] == kind && event["node"] == node);
        found.map(|event| event[field].clone())
    };
    let [first, second] = ["first", "again"].map(|node| named(node, "session_reported", "session"));
    expect(first.is_some() && first == second, "the sessions", &format!("{first:?} {second:?}"))?;
    for node in ["first", "again", "judge", "shape"] {
        let tokens = named(node, "usage_reported", "usage").and_then(|one| one["tokens"].as_u64());
        expect(tokens.is_some_and(|tokens| tokens > 0), "the usage of", &node)?;
    }
    Ok("four turns, one session kept, usage counted".to_owned())
}

/// Cancelled while the model speaks.
fn cancel(house: &House) -> Verdict {
    let words = "one two three four five six seven eight nine ten";
    let prompt = format!("[[fake slow-stream delay=2 text=\"{words}\"]]");
    let draft =
        Draft::new("cancel").node("ask", "task", task(&prompt, "edit")).path(&["start", "ask"]);
    let run = house.detach(&draft, &[])?;
    let log = house.folder.join("requests.jsonl");
    let is_asked = || {
        house.look();
        std::fs::read_to_string(&log).is_ok_and(|text| text.contains("\"slow-stream\""))
    };
    expect(until(is_asked), "the model is never asked", &run)?;
    expect(!marked(&run).is_empty(), "no process carries the mark of", &run)?;
    let said = house.run(&["run", "cancel", &run, "--json"])?;
    expect(said.code == 0, "run cancel", &said.out)?;
    is_over(house, &run)
}

/// The same by a signal, while a command of the agent runs in a session of
/// its own.
fn interrupt(house: &House) -> Verdict {
    let prompt = "[[fake tool-call command=\"touch begun.txt; tail -f /dev/null\"]]";
    let draft =
        Draft::new("signal").node("ask", "task", task(prompt, "full")).path(&["start", "ask"]);
    let args = house.exec(&draft, &[])?;
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (child, out) = house.start(&args)?;
    let begun = house.work().join("begun.txt");
    let is_begun = || {
        house.look();
        begun.exists()
    };
    expect(until(is_begun), "the command never begins", &begun.display())?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let sent = pid.map(|pid| kill_process(pid, Signal::INT).is_ok());
    expect(sent == Some(true), "no signal can be sent", &child.id())?;
    let said = house.finish((child, out))?;
    expect(said.code == 130, "the exit code", &said.code)?;
    let run = said.json()?["run_id"].as_str().unwrap_or_default().to_owned();
    is_over(house, &run)
}

/// The run is cancelled, and nothing of it is left.
fn is_over(house: &House, run: &str) -> Verdict {
    let left = marked(run);
    let shown = house.show(run)?;
    let good = shown["status"] == "failed" && shown["reason"] == "cancelled";
    expect(good, "the run is not cancelled", &shown)?;
    expect(left.is_empty(), "processes are left", &format!("{left:?}"))?;
    Ok("cancelled, no process left".to_owned())
}

/// At the limit of its account the run waits, and goes on after the reset.
fn limit(house: &House) -> Verdict {
    let prompt = format!("Say hi. [[fake limit seconds={LIMIT_SECONDS}]]");
    let draft =
        Draft::new("limit").node("ask", "task", task(&prompt, "edit")).path(&["start", "ask"]);
    let run = house.detach(&draft, &[])?;
    let waiting = house.status(&run, "waiting")?;
    let met = house.events(&run)?.into_iter().find(|event| event["cause"] == "limit");
    let met = met.ok_or_else(|| format!("no limit was met: {waiting}"))?;
    let good = met["code"] == "limit_reached" && met["class"] == "transient";
    expect(good && met["effect"] == "none" && met["wake"].is_string(), "the limit", &met)?;
    expect(marked(&run).is_empty(), "an agent works while the run waits", &run)?;
    let wake = met["wake"].as_str().unwrap_or_default().to_owned();
    // So long is waited where no reset is known.
    expect(met["retry_after"] != "15m", "the reset is not known", &met)?;
    let shown = house.status(&run, "completed")?;
    let again = house.events(&run)?.into_iter().rfind(|event| event["kind"] == "node_started");
    let again = again.unwrap_or_default();
    let at = again["ts"].as_str().unwrap_or_default().to_owned();
    expect(again["attempt"] == 2, "there was more than one limit", &again)?;
    expect(at >= wake, "it went on too early", &again)?;
    expect(
        shown["nodes"]["ask"]["output"]["text"] == "Hello from the fake model.",
        "the output",
        &shown,
    )?;
    Ok(format!("parked until {wake}, went on by itself at {at}"))
}

/// Three calls are granted, so the fourth is not made until it is.
fn budget(house: &House) -> Verdict {
    let names = ["one", "two", "three", "four"];
    let draft = names.iter().fold(Draft::new("budget"), |draft, name| {
        draft.node(name, "task", task("Say hi.", "plan"))
    });
    let draft =
        draft.setting("budget: { agent_calls: 3 }").path(&["start", "one", "two", "three", "four"]);
    let (code, run) = house.rest(&draft, &[])?;
    let shown = house.show(&run)?;
    expect(code == 11 && shown["status"] == "waiting", "the run", &shown)?;
    let calls = || -> Result<usize, String> {
        let events = house.events(&run)?;
        Ok(events.iter().filter(|event| event["agent"] == true).count())
    };
    expect(calls()? == 3, "calls", &calls()?)?;
    expect(
        house.events(&run)?.iter().any(|event| event["kind"] == "budget_reached"),
        "no event tells of the budget",
        &shown,
    )?;
    let said = house.run(&["run", "resume", &run, "--json"])?;
    expect(said.code == 0, "run resume", &said.out)?;
    house.status(&run, "completed")?;
    expect(calls()? == 4, "calls after the grant", &calls()?)?;
    Ok("three calls, and the fourth when granted".to_owned())
}

fn not_logged_in(house: &House) -> Verdict {
    failure(house, "[[fake auth-error]]", 10, ["auth", "not_logged_in", "none"])
}

/// A body that is no answer. Each program tells that in its own way.
fn malformed(house: &House) -> Verdict {
    let (class, code) = match &house.provider[..] {
        // A stream without events is one that broke off.
        "codex" => ("transient", "connection_lost"),
        _ => ("unknown", "malformed_answer"),
    };
    failure(house, "[[fake malformed]]", 10, [class, code, "done"])
}

fn failure(house: &House, prompt: &str, code: i32, error: [&str; 3]) -> Verdict {
    let draft =
        Draft::new("failure").node("ask", "task", task(prompt, "plan")).path(&["start", "ask"]);
    let (found, run) = house.rest(&draft, &[])?;
    let shown = house.show(&run)?;
    let got = &shown["nodes"]["ask"]["error"];
    let is_told =
        ["class", "code", "effect"].iter().zip(error).all(|(name, word)| got[name] == word);
    expect(is_told && found == code, &format!("exit code {found}"), &shown["nodes"]["ask"])?;
    Ok(format!("exit code {found}, {} {} effect {}", error[0], error[1], error[2]))
}
