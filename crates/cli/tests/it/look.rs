//! Reading runs.

use std::fs;

use serde_json::Value;

use crate::house::{House, chain, gated, hello, until};

fn two_runs() -> (House, String) {
    let house = House::new();
    house.write("hello.md", hello());
    house.write("gated.md", gated());
    house.exec("gated.md");
    let args = ["automation", "exec", "hello.md", "--input", "{\"who\":\"Ada\"}"];
    let run = house.json(&args)["run_id"].as_str().unwrap().to_owned();
    (house, run)
}

#[test]
fn runs_are_listed_newest_first() {
    let (house, run) = two_runs();
    let document = house.json(&["run", "list"]);
    let runs = document["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0]["run_id"], run.as_str());
    for key in ["blueprint_id", "status", "node_count", "path", "started_at", "updated_at"] {
        assert!(!runs[0][key].is_null(), "{key} in {document}");
    }
    let table = house.run(&["run", "list"]).out;
    let words: Vec<&str> = table.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(words, ["RUN", "STATUS", "AUTOMATION", "STARTED", "TOOK", "WHAT"]);
    assert_eq!(table.lines().count(), 3);
    let filtered = house.json(&["run", "list", "--status", "awaiting_approval"]);
    assert_eq!(filtered["runs"][0]["blueprint_id"], "gated");
    assert_eq!(filtered["runs"].as_array().unwrap().len(), 1);
    let said = house.run(&["run", "list", "--limit", "1"]);
    assert_eq!(said.out.lines().count(), 2);
    assert!(said.talk.contains("--after"), "{}", said.talk);
}

#[test]
fn an_empty_home_says_how_to_begin_and_stays_empty() {
    let house = House::new();
    let said = house.run(&["run", "list"]);
    assert_eq!((said.code, &said.out[..]), (0, ""));
    assert!(house.normal(&said.talk).contains("wardian demo"), "{}", said.talk);
    assert_eq!(house.json(&["run", "list"])["runs"].as_array().unwrap().len(), 0);
    assert!(!house.home().exists(), "reading made a home");
}

#[test]
fn ids_may_be_short_but_not_wrong() {
    let (house, run) = two_runs();
    let (_, tail) = run.split_once('-').unwrap();
    assert_eq!(house.json(&["run", "show", tail])["run"]["run_id"], run.as_str());
    let said = house.run(&["run", "show", "17", "--json"]);
    assert_eq!((said.code, said.error_code().as_str()), (5, "ambiguous_run"));
    let said = house.run(&["run", "show", "zzzz", "--json"]);
    assert_eq!((said.code, said.error_code().as_str()), (2, "run_not_found"));
}

#[test]
fn c_05_an_id_that_is_no_id_is_refused() {
    let house = House::new();
    let long = "a".repeat(300);
    let ids = ["../../x", "a/b", ".", "..", "", ".locks", &long, "a\\b", "CON", "a\u{1b}[2Jb"];
    let verbs: [&[&str]; 8] = [
        &["show"],
        &["watch"],
        &["logs"],
        &["events"],
        &["replay"],
        &["verify"],
        &["approve"],
        &["retry"],
    ];
    for id in ids {
        for verb in verbs {
            let said = house.run(&[&["run"], verb, &[id, "--json"]].concat());
            assert_eq!((said.code, said.error_code().as_str()), (8, "invalid_id"), "{id} {verb:?}");
        }
        let said = house.run(&["run", "show", id]);
        assert!(!said.talk.contains('\u{1b}'), "{}", said.talk);
    }
    assert!(!house.home().exists());
}

#[test]
fn a_run_is_shown_with_its_nodes_in_order() {
    let (house, run) = two_runs();
    let said = house.run(&["run", "show", &run]);
    let (start, greet) = (said.out.find(" start ").unwrap(), said.out.find(" greet ").unwrap());
    assert!(start < greet && said.out.contains("hello Ada"), "{}", said.out);
    let text = house.run(&["run", "show", &run, "--json"]).out;
    assert!(text.find("\"start\":{").unwrap() < text.find("\"greet\":{").unwrap(), "{text}");
    let document: Value = serde_json::from_str(&text).unwrap();
    let greet = &document["run"]["nodes"]["greet"];
    assert_eq!((&greet["status"], &greet["attempt"]), (&"completed".into(), &1.into()));
    assert_eq!(greet["output"]["stdout"], "hello Ada\n");
    assert_eq!(document["run"]["trigger"]["who"], "Ada");
}

#[test]
fn time_travel_shows_nothing_later() {
    let (house, run) = two_runs();
    let events = house.run(&["run", "events", &run]).out;
    let events: Vec<Value> =
        events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let started = events.iter().find(|event| event["kind"] == "node_started").unwrap();
    let at = started["seq"].to_string();
    let said = house.run(&["run", "view", &run, "--at", &at, "--json"]);
    let document = said.json();
    assert_eq!(document["run"]["nodes"]["greet"]["status"], "running");
    assert!(!said.out.contains("hello Ada"), "{}", said.out);
    assert!(!house.run(&["run", "view", &run, "--at", &at]).out.contains("hello Ada"));
    let said = house.run(&["run", "view", &run, "--at", "999", "--json"]);
    assert_eq!(said.code, 8);
}

#[test]
fn events_can_be_read_from_any_place() {
    let (house, run) = two_runs();
    let all = house.run(&["run", "events", &run]).out;
    let tail = house.run(&["run", "events", &run, "--from", "2"]).out;
    assert!(all.ends_with(&tail) && tail.lines().count() + 2 == all.lines().count());
    let log = fs::read_to_string(house.run_folder(&run).join("events.jsonl")).unwrap();
    assert_eq!(all, log);
    let watched = house.run(&["run", "watch", &run, "--from", "2", "--json"]).out;
    assert_eq!(watched.lines().count(), tail.lines().count());
    for (seen, stored) in watched.lines().zip(tail.lines()) {
        let seen: Value = serde_json::from_str(seen).unwrap();
        let stored: Value = serde_json::from_str(stored).unwrap();
        assert_eq!((&seen["seq"], &seen["kind"]), (&stored["seq"], &stored["kind"]));
    }
}

#[test]
fn what_attempts_printed_is_kept_and_harmless() {
    let house = House::new();
    let command = "command: \"printf 'a\\\\033]0;x\\\\007b\\\\n'\"";
    house.write("loud.md", chain("loud", &[("loud", "shell", command)]));
    let run = house.exec("loud.md");
    let said = house.run(&["run", "logs", &run, "--node", "loud"]);
    assert!(said.out.contains("a\\x1b]0;x\\x07b"), "{}", said.out);
    let document = house.json(&["run", "logs", &run]);
    assert_eq!(document["logs"][0]["text"], "a\u{1b}]0;x\u{7}b\n");
    let said = house.run(&["run", "logs", &run, "--node", "nobody", "--json"]);
    assert_eq!((said.code, said.error_code().as_str()), (2, "node_not_found"));
}

#[test]
fn a_log_can_be_folded_again_and_again() {
    let (house, run) = two_runs();
    // A worker tells of the end, and then writes its last checkpoint.
    let replay = || house.json(&["run", "replay", &run]);
    until("the last checkpoint", || replay()["checkpoint_agrees"] == true);
    let first = replay();
    assert_eq!((&first["ok"], &first["status"]), (&true.into(), &"completed".into()));
    fs::remove_file(house.run_folder(&run).join("state.json")).unwrap();
    let second = replay();
    assert_eq!(first["state_digest"], second["state_digest"]);
    assert_eq!(second["checkpoint_agrees"], Value::Null);
}

#[test]
fn a_flipped_byte_is_found() {
    let (house, run) = two_runs();
    assert_eq!(house.run(&["run", "verify", &run]).code, 0);
    let log = house.run_folder(&run).join("events.jsonl");
    let text = fs::read_to_string(&log).unwrap();
    fs::write(&log, text.replacen("hello Ada", "hello Bob", 1)).unwrap();
    let said = house.run(&["run", "verify", &run]);
    assert_eq!(said.code, 4, "{said:?}");
    assert!(said.out.contains("damaged"), "{}", said.out);
    let said = house.run(&["run", "verify", &run, "--json"]);
    let document = said.json();
    assert_eq!((said.code, &document["ok"]), (4, &false.into()));
    assert!(!document["damages"].as_array().unwrap().is_empty());
    let said = house.run(&["run", "show", &run, "--json"]);
    assert_eq!((said.code, said.error_code().as_str()), (4, "damaged_log"));
    let said = house.run(&["run", "list"]);
    assert_eq!(said.code, 0);
}

#[test]
fn the_doctor_looks_at_everything() {
    let house = House::new();
    let said = house.run(&["doctor", "--json"]);
    let document = said.json();
    assert_eq!(said.code == 0, document["ok"] == true);
    assert!(document["checks"].as_array().unwrap().len() > 3);
    assert!(house.run(&["doctor"]).out.contains("git"));
}
