//! Many runs in one home: pages, filters, the index that makes them quick,
//! what goes and what is carried away.

use std::fs;

use serde_json::Value;

use crate::house::{House, chain, finish, gated, hello, line_of, waiting};

fn ids(document: &Value) -> Vec<String> {
    let runs = document["runs"].as_array().unwrap_or_else(|| panic!("{document}"));
    runs.iter().map(|run| run["run_id"].as_str().unwrap().to_owned()).collect()
}

fn failing() -> String {
    chain("failing", &[("fail", "shell", "command: echo 'it is broken' >&2; exit 3")])
}

/// Runs of three kinds, the oldest first: ok, waits, fails, ok, fails.
fn five_runs() -> (House, Vec<String>) {
    let house = House::new();
    house.write("hello.md", hello());
    house.write("gated.md", gated());
    house.write("failing.md", failing());
    let files = ["hello.md", "gated.md", "failing.md", "hello.md", "failing.md"];
    let exec = |file: &&str| {
        let input = ["--input", "{\"who\":\"Ada\"}"];
        let document = house.json(&[&["automation", "exec", *file][..], &input].concat());
        document["run_id"].as_str().unwrap().to_owned()
    };
    let runs = files.iter().map(exec).collect();
    (house, runs)
}

fn index_of(house: &House) -> std::path::PathBuf {
    house.home().join("logs/automations/.index.jsonl")
}

/// What must be the same with an index and without one.
fn listings(house: &House) -> Vec<Vec<String>> {
    let filters: [&[&str]; 7] = [
        &[],
        &["--status", "failed"],
        &["--status", "completed", "--status", "awaiting_approval"],
        &["--status", "running,waiting"],
        &["--automation", "hello"],
        &["--since", "1d"],
        &["--automation", "failing", "--limit", "1"],
    ];
    let list = |filter: &&[&str]| ids(&house.json(&[&["run", "list"], *filter].concat()));
    filters.iter().map(list).collect()
}

#[test]
fn a_listing_is_the_same_with_and_without_its_index() {
    let (house, runs) = five_runs();
    let [ok1, waits, fails1, ok2, fails2] = &runs[..] else { panic!("{runs:?}") };
    let want = [
        vec![fails2, ok2, fails1, waits, ok1],
        vec![fails2, fails1],
        vec![ok2, waits, ok1],
        vec![],
        vec![ok2, ok1],
        vec![fails2, ok2, fails1, waits, ok1],
        vec![fails2],
    ];
    let want = want.map(|runs| runs.into_iter().cloned().collect::<Vec<String>>());
    let whole = house.json(&["run", "list"]);
    assert!(index_of(&house).exists());
    assert_eq!(listings(&house), want);
    let index = fs::read(index_of(&house)).unwrap();
    fs::remove_file(index_of(&house)).unwrap();
    assert_eq!(listings(&house), want);
    assert_eq!(house.json(&["run", "list"]), whole);
    assert!(!index_of(&house).exists(), "a reader wrote");
    for damaged in [&index[..200], b"", b"{}", b"\xff\n\xff"] {
        fs::write(index_of(&house), damaged).unwrap();
        let listed = house.json(&["run", "list"]);
        assert_eq!(ids(&listed).len(), 5, "{}", String::from_utf8_lossy(damaged));
    }
    let said = house.run(&["recover", "--all"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(listings(&house), want);
    assert_eq!(house.json(&["run", "list"]), whole);
}

#[test]
fn pages_follow_each_other_without_a_gap() {
    let (house, _) = five_runs();
    let all = ids(&house.json(&["run", "list", "--all"]));
    for indexed in [true, false] {
        if !indexed {
            fs::remove_file(index_of(&house)).unwrap();
        }
        let (mut seen, mut next) = (Vec::new(), None::<String>);
        loop {
            let after = next.as_ref().map_or(vec![], |next| vec!["--after", next]);
            let page = house.json(&[&["run", "list", "--limit", "2"][..], &after].concat());
            seen.extend(ids(&page));
            let Some(more) = page["next"].as_str() else { break };
            next = Some(more.to_owned());
        }
        assert_eq!(seen, all, "{indexed}");
    }
    let said = house.run(&["run", "list", "--after", "nonsense", "--json"]);
    assert_eq!((said.code, said.error_code().as_str()), (8, "invalid_request"));
    assert_eq!(house.run(&["run", "list", "--limit", "0"]).code, 64);
    assert_eq!(house.run(&["run", "list", "--since", "yesterday"]).code, 64);
    let said = house.run(&["run", "list", "--since", "1ms"]);
    assert!(said.talk.contains("no run is like that"), "{said:?}");
}

#[test]
fn doctor_says_when_the_index_does_not_know_a_run() {
    let (house, runs) = five_runs();
    let line = |house: &House| {
        let document = house.json(&["doctor"]);
        let checks = document["checks"].as_array().unwrap().clone();
        checks.into_iter().find(|check| check["name"] == "index").unwrap()
    };
    assert_eq!(line(&house)["verdict"], "pass");
    let text = fs::read_to_string(index_of(&house)).unwrap();
    let without: Vec<&str> = text.lines().filter(|line| !line.contains(&runs[1])).collect();
    fs::write(index_of(&house), without.join("\n")).unwrap();
    assert_eq!(line(&house)["verdict"], "warn");
    // A run is found all the same.
    assert_eq!(house.json(&["run", "show", &runs[1]])["run"]["run_id"], runs[1].as_str());
    let (_, short) = runs[1].split_once('-').unwrap();
    assert_eq!(house.json(&["run", "show", &short[..6]])["run"]["run_id"], runs[1].as_str());
    assert_eq!(house.run(&["recover", "--all", "--json"]).code, 0);
    assert_eq!(line(&house)["verdict"], "pass");
}

#[test]
fn a_prune_says_what_it_is_after_and_asks() {
    let (house, _) = five_runs();
    let said = house.run(&["run", "prune", "--yes", "--json"]);
    assert_eq!((said.code, said.error_code().as_str()), (8, "invalid_request"));
    assert_eq!(house.run(&["run", "prune", "--status", "running", "--yes"]).code, 64);
    let said = house.run(&["run", "prune", "--status", "failed", "--json"]);
    assert_eq!((said.code, said.error_code().as_str()), (64, "invalid_arguments"));
    let said = house.run(&["run", "prune", "--older-than", "1h", "--yes"]);
    assert_eq!((said.code, said.out.as_str()), (0, "removed 0 runs, 0 bytes\n"));
    let mut command = house.command(&["run", "prune", "--status", "failed", "--yes", "--json"]);
    command.env("WARDIAN_RUN_ID", "1-0000").env("WARDIAN_SESSION_ID", "1-0000");
    let said = crate::house::said(finish(house.start(command)));
    assert_eq!((said.code, said.error_code().as_str()), (9, "managed_caller"));
    assert_eq!(ids(&house.json(&["run", "list"])).len(), 5);
}

#[test]
fn what_is_pruned_is_gone_and_what_is_open_stays() {
    let (house, runs) = five_runs();
    let [ok1, waits, fails1, ok2, fails2] = &runs[..] else { panic!("{runs:?}") };
    let folder = house.run_folder(fails1);
    let prune = ["run", "prune", "--keep-last", "1"];
    let dry = house.json(&[&prune[..], &["--dry-run"]].concat());
    assert_eq!((&dry["dry_run"], &dry["count"]), (&true.into(), &2.into()));
    assert!(dry["bytes"].as_u64().unwrap() > 1000, "{dry}");
    assert_eq!(ids(&dry), [fails1, ok1].map(String::as_str));
    assert!(folder.exists());
    let said = house.run(&[&prune[..], &["--dry-run"]].concat());
    assert!(said.out.contains(fails1) && said.talk.contains("nothing was removed"), "{said:?}");
    fs::create_dir(folder.with_file_name(".x.00c0ffee.gone")).unwrap();
    let done = house.json(&[&prune[..], &["--yes"]].concat());
    assert_eq!(ids(&done), [fails1, ok1].map(String::as_str));
    let names = fs::read_dir(folder.parent().unwrap()).unwrap();
    let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, [".named", fails2.as_str()]);
    assert_eq!(ids(&house.json(&["run", "list"])), [fails2, ok2, waits].map(String::as_str));
    assert_eq!(house.run(&["run", "show", fails1]).code, 2);
    let gone = house.json(&["run", "prune", "--automation", "gated", "--yes"]);
    assert_eq!(gone["count"], 0, "{gone}");
    assert_eq!(house.run(&["run", "approve", waits]).code, 0);
}

#[test]
fn a_run_that_an_open_run_tries_again_stays() {
    let house = House::new();
    let command = "command: |\n  test -e second || exit 1\n  echo $PPID > worker\n  while [ ! -e go ]; do sleep 0.02; done";
    house.write("try.md", chain("try", &[("try", "shell", command)]));
    let old = house.exec("try.md");
    house.write("second", "");
    let retried = house.json(&["run", "retry", &old, "--detach"]);
    let new = retried["run_id"].as_str().unwrap();
    line_of(&house.work().join("worker"));
    let prune = ["run", "prune", "--keep-last", "0", "--yes"];
    let pruned = house.json(&prune);
    assert_eq!((&pruned["count"], &pruned["left"][0]["run_id"]), (&0.into(), &old.as_str().into()));
    house.write("go", "");
    assert_eq!(house.run(&["run", "watch", new]).code, 0);
    assert_eq!(ids(&house.json(&prune)), [new, old.as_str()]);
}

#[test]
fn what_a_dead_creator_and_a_dead_owner_left_is_swept() {
    let (house, runs) = five_runs();
    let folder = house.run_folder(&runs[0]);
    let aside = folder.with_file_name(".1764500000000-0a1b2c3d.00c0ffee.new");
    fs::create_dir(&aside).unwrap();
    fs::write(aside.join("driver.lock"), "").unwrap();
    fs::write(folder.join(".state.json.00ff.tmp"), "half").unwrap();
    assert_eq!(house.run(&["recover", "--all"]).code, 0);
    assert!(!aside.exists() && !folder.join(".state.json.00ff.tmp").exists());
}

#[test]
fn an_ended_run_of_which_nobody_told_is_told_of_by_the_next() {
    let (house, runs) = five_runs();
    let text = fs::read_to_string(index_of(&house)).unwrap();
    let untold = |line: &&str| !(line.contains(&runs[3]) && line.contains("\"end\""));
    let lines: Vec<&str> = text.lines().filter(untold).collect();
    fs::write(index_of(&house), lines.join("\n")).unwrap();
    let folder = house.run_folder(&runs[3]);
    fs::write(folder.join(".state.json.00ff.tmp"), "half").unwrap();
    assert_eq!(house.run(&["recover"]).code, 0);
    assert!(!folder.join(".state.json.00ff.tmp").exists());
    let text = fs::read_to_string(index_of(&house)).unwrap();
    assert!(text.lines().any(|line| line.contains(&runs[3]) && line.contains("\"end\"")), "{text}");
    assert_eq!(ids(&house.json(&["run", "list"])).len(), 5);
}

#[test]
fn a_run_is_exported_as_its_log_has_it() {
    let (house, runs) = five_runs();
    let run = &runs[2];
    let text = house.run(&["run", "export", run]).out;
    let lines: Vec<&str> = text.lines().collect();
    let log = fs::read_to_string(house.run_folder(run).join("events.jsonl")).unwrap();
    assert_eq!(lines[1..lines.len() - 1], log.lines().collect::<Vec<_>>());
    let head: Value = serde_json::from_str(lines[0]).unwrap();
    assert_eq!((&head["schema"], &head["export"]["run_id"]), (&1.into(), &run.as_str().into()));
    assert!(head["export"]["blueprint_hash"].as_str().unwrap().starts_with("sha256:"), "{head}");
    let end: Value = serde_json::from_str(lines.last().unwrap()).unwrap();
    let end = &end["end"];
    assert_eq!(
        (&end["ok"], &end["status"], &end["reason"]),
        (&true.into(), &"failed".into(), &"error".into())
    );
    assert_eq!(end["events"], log.lines().count());
    assert_eq!(end["state_digest"], house.json(&["run", "replay", run])["state_digest"]);
    assert_eq!(house.run(&["run", "export", run]).out, text, "it is stable");
    let file = house.work().join("run.jsonl");
    let args = ["run", "export", run, "--output", file.to_str().unwrap()];
    assert_eq!(house.run(&args).code, 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    assert_eq!(house.run(&args).code, 13, "an old file stays");
    let absent = ["run", "export", "zzzz", "--output", "other.jsonl"];
    assert_eq!(house.run(&absent).code, 2);
    assert!(!house.work().join("other.jsonl").exists());
}

#[test]
fn an_export_goes_on_where_one_ended_and_stops_where_it_is_told() {
    let (house, runs) = five_runs();
    let run = &runs[2];
    let lines = |args: &[&str]| -> Vec<String> {
        let said = house.run(&[&["run", "export", run.as_str()], args].concat());
        assert_eq!(said.code, 0, "{said:?}");
        said.out.lines().map(str::to_owned).collect()
    };
    let whole = lines(&[]);
    let first = lines(&["--at", "1"]);
    assert_eq!(first[1..3], whole[1..3]);
    assert_eq!(first.len(), 4);
    assert!(!first.concat().contains("it is broken"), "something later is shown");
    let end: Value = serde_json::from_str(first.last().unwrap()).unwrap();
    assert_eq!(
        (&end["end"]["status"], &end["end"]["artifacts"]),
        (&"running".into(), &Value::Null)
    );
    let rest = lines(&["--from", "2"]);
    assert_eq!(rest[1..], whole[3..]);
    let said = house.run(&["run", "export", run, "--at", "999", "--json"]);
    assert_eq!((said.code, said.error_code().as_str()), (8, "invalid_request"));
    assert_eq!(house.run(&["run", "export", run, "--from", "3", "--at", "2"]).code, 64);
}

#[test]
fn an_export_of_a_damaged_log_says_so_in_its_last_line() {
    let (house, runs) = five_runs();
    let log = house.run_folder(&runs[0]).join("events.jsonl");
    let good = fs::read(&log).unwrap();
    let ends: Vec<usize> =
        good.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
    let mut flipped = good.clone();
    flipped[ends[0] + 20] ^= 1;
    let torn = &good[..good.len() - 9];
    for bad in [&flipped[..], torn] {
        fs::remove_file(log.with_file_name("state.json")).ok();
        fs::write(&log, bad).unwrap();
        let said = house.run(&["run", "export", &runs[0]]);
        assert_eq!(said.code, 4, "{said:?}");
        let end: Value = serde_json::from_str(said.out.lines().last().unwrap()).unwrap();
        assert_eq!(end["end"]["ok"], false);
        assert!(end["end"]["damage"].as_str().is_some_and(|why| !why.is_empty()), "{end}");
        assert!(said.talk.contains("run verify"), "{}", said.talk);
    }
}

#[test]
fn a_run_that_goes_on_is_exported_without_its_end() {
    let house = House::new();
    house.write("waiting.md", waiting());
    let started = house.json(&["automation", "exec", "waiting.md", "--detach"]);
    let run = started["run_id"].as_str().unwrap();
    line_of(&house.work().join("worker"));
    let said = house.run(&["run", "export", run]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.lines().last().unwrap().contains("\"status\":\"running\""), "{said:?}");
    house.write("go", "");
    assert_eq!(house.run(&["run", "watch", run]).code, 0);
}
