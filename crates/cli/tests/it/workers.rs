//! What is kept of the attempts of agents, and how it is looked at.

use std::os::unix::fs::PermissionsExt;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::house::{House, assert_gone, chain, hello, until};

/// Two agents, of which the second does what the script says.
fn asked(house: &House, script: &str) -> Vec<&'static str> {
    let fields = "agent: role:x\nprompt: Say something.";
    house.write("asked.md", chain("asked", &[("first", "task", fields), ("say", "task", fields)]));
    house.write("script.yaml", format!("first: [{{ text: fine }}]\nsay: [{script}]\n"));
    vec!["automation", "exec", "asked.md", "--script", "script.yaml", "--json"]
}

fn exec(house: &House, script: &str) -> String {
    let said = house.run(&asked(house, script));
    said.json()["run_id"].as_str().unwrap().to_owned()
}

fn detached(house: &House, script: &str) -> String {
    let said = house.run(&[asked(house, script), vec!["--detach"]].concat());
    let run = said.json()["run_id"].as_str().unwrap().to_owned();
    until("the second agent at work", || {
        worker_of(house, &run, "say").is_some_and(|worker| worker["state"] == "running")
    });
    run
}

fn workers(house: &House, args: &[&str]) -> Vec<Value> {
    let document = house.json(&[&["workers", "list"], args].concat());
    assert_eq!(document["schema"], 1);
    document["workers"].as_array().unwrap().clone()
}

fn worker_of(house: &House, run: &str, node: &str) -> Option<Value> {
    let all = workers(house, &["--run", run]);
    all.into_iter().find(|worker| worker["node_id"] == node)
}

/// State, outcome and coverage of the second agent.
fn words(house: &House, run: &str) -> String {
    let worker = worker_of(house, run, "say").unwrap();
    let word = |name: &str| worker[name].as_str().unwrap_or("-").to_owned();
    [word("state"), word("outcome"), word("coverage")].join(" ")
}

fn kill_owner(house: &House, run: &str) {
    let pid = Pid::from_raw(house.owner(run)).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    until("the end of the owner", || house.json(&["run", "show", run])["run"]["ownerless"] == true);
}

#[test]
fn a_worker_that_waits_leaves_when_its_run_is_removed() {
    let house = House::new();
    house.write("pause.md", chain("pause", &[("pause", "wait", "for: 1h")]));
    let run = house.json(&["automation", "exec", "pause.md", "--detach"]);
    let run = run["run_id"].as_str().unwrap();
    until("the run to wait", || house.status(run) == "waiting");
    let owner = house.owner(run);
    std::fs::remove_dir_all(house.home()).unwrap();
    assert_gone(&owner.to_string());
}

#[test]
fn an_attempt_that_went_well_is_kept_with_both_of_its_sessions() {
    let house = House::new();
    let run = exec(&house, "{ text: hello }");
    assert_eq!(words(&house, &run), "succeeded completed provider_session_identified");
    let worker = worker_of(&house, &run, "say").unwrap();
    let id = worker["worker_id"].as_str().unwrap();
    assert_eq!(worker["runtime_session_id"], format!("automation-temp-{id}"));
    assert_eq!(worker["provider_session_id"], format!("scripted:{run}/say/0/1"));
    assert_eq!((&worker["attempt"], &worker["runtime_generation"]), (&1.into(), &1.into()));
    assert!(worker["resumable_until"].is_string() && worker["owner_instance_id"].is_null());
    assert_eq!(house.json(&["workers", "show", &id[..10]])["worker"], worker);
    let said = house.run(&["workers", "show", id]);
    assert!(said.out.contains("state               succeeded\n"), "{}", said.out);
    let said = house.run(&["workers", "list"]);
    assert_eq!(said.out.lines().count(), 3, "{}", said.out);
    let mode = std::fs::metadata(house.home().join("state.db")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn an_attempt_that_failed_is_kept_with_its_error() {
    let house = House::new();
    let run = exec(&house, "{ exit: 3, text: no luck }");
    assert_eq!(words(&house, &run), "failed provider_failed provider_session_unavailable");
    let error = worker_of(&house, &run, "say").unwrap()["error"].clone();
    assert!(error.as_str().unwrap().contains("exit code 3"), "{error}");
}

#[test]
fn an_attempt_whose_end_nobody_saw_is_unknown() {
    let house = House::new();
    let run = exec(&house, "{ die: true }");
    assert_eq!(words(&house, &run), "unknown - provider_outcome_uncertain");
    assert_eq!(workers(&house, &["--state", "unknown"]).len(), 1);
    assert_eq!(workers(&house, &["--state", "succeeded"]).len(), 1);
    assert_eq!(workers(&house, &["--limit", "1"]).len(), 1);
    assert_eq!(house.json(&["workers", "list", "--limit", "1"])["more"], true);
}

#[test]
fn a_cancel_is_acknowledged_before_the_command_returns() {
    let house = House::new();
    let run = detached(&house, "{ hang: true }");
    assert_eq!(house.run(&["run", "cancel", &run]).code, 0);
    assert_eq!(words(&house, &run), "cancelled cancelled_by_run run_cancellation_acknowledged");
}

#[test]
fn an_attempt_whose_owner_was_killed_is_shown_and_then_recorded_as_unknown() {
    let house = House::new();
    let run = detached(&house, "{ hang: true }");
    kill_owner(&house, &run);
    for _ in 0..2 {
        let worker = worker_of(&house, &run, "say").unwrap();
        assert_eq!(
            (&worker["state"], &worker["recorded_state"]),
            (&"unknown".into(), &"running".into())
        );
        assert_eq!(worker["coverage"], "runtime_owner_lost");
    }
    assert_eq!(workers(&house, &["--state", "running"]).len(), 0);
    assert_eq!(workers(&house, &["--state", "unknown"]).len(), 1);
    let said = house.run(&["workers", "list", "--run", &run]);
    assert!(said.out.contains("unknown (owner lost)"), "{}", said.out);
    assert_eq!(house.run(&["recover"]).code, 0);
    let worker = worker_of(&house, &run, "say").unwrap();
    assert_eq!(worker["recorded_state"], "unknown");
    assert_eq!(words(&house, &run), "unknown - runtime_owner_lost");
}

#[test]
fn looking_makes_no_database_and_neither_does_a_run_without_agents() {
    let house = House::new();
    let said = house.run(&["workers", "list"]);
    assert_eq!((said.code, said.out.as_str()), (0, ""));
    assert!(!house.home().exists());
    house.write("hello.md", hello());
    assert_eq!(
        house.run(&["automation", "exec", "hello.md", "--input", "{\"who\":\"you\"}"]).code,
        0
    );
    assert_eq!(workers(&house, &[]).len(), 0);
    assert!(!house.home().join("state.db").exists());
    let said = house.run(&["workers", "show", "abc", "--json"]);
    assert_eq!((said.code, said.error_code().as_str()), (2, "worker_not_found"));
    let said = house.run(&["workers", "list", "--run", "nonsense", "--json"]);
    assert_eq!((said.code, said.error_code().as_str()), (2, "run_not_found"));
}

#[test]
fn a_book_that_cannot_be_used_stops_the_agent_before_it_is_asked() {
    let house = House::new();
    let run = exec(&house, "{ text: hello }");
    for end in ["-wal", "-shm"] {
        std::fs::remove_file(house.home().join(format!("state.db{end}"))).unwrap();
    }
    std::fs::write(house.home().join("state.db"), "no database".repeat(100)).unwrap();
    let said = house.run(&["workers", "list", "--json"]);
    assert_eq!((said.code, said.error_code().as_str()), (4, "store_unavailable"));
    assert!(said.talk.contains("state.db is damaged"), "{}", said.talk);
    let failed = exec(&house, "{ text: hello }");
    let node = house.json(&["run", "show", &failed])["run"]["nodes"]["first"].clone();
    assert_eq!(node["error"]["code"], "attempt_not_registered", "{node}");
    assert_eq!(node["error"]["effect"], "none");
    let doctor = house.json(&["doctor"]);
    let attempts = doctor["checks"].as_array().unwrap().iter().find(|c| c["name"] == "attempts");
    assert_eq!(attempts.unwrap()["verdict"], "fail");

    // Nothing of a run is in it: without the file everything goes on.
    std::fs::remove_file(house.home().join("state.db")).unwrap();
    assert_eq!(house.status(&run), "completed");
    assert_eq!(house.status(&exec(&house, "{ text: hello }")), "completed");
    assert_eq!(workers(&house, &[]).len(), 2);
}
