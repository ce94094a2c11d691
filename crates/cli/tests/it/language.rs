//! The constructs of the language from the command line, each as a person
//! would write it, alone and together.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::house::{House, assert_gone, finish, pid, until};

/// Runs a blueprint to its end and gives the run as `run show` has it.
fn ran(house: &House, file: &str, more: &[&str], code: i32) -> Value {
    let said = house.run(&[&["automation", "exec", file, "--json"], more].concat());
    assert_eq!(said.code, code, "{said:?}");
    let run = said.json()["run_id"].as_str().unwrap().to_owned();
    house.json(&["run", "show", &run])["run"].clone()
}

const TIDY: &str = r#"---
schema: 2
id: tidy
name: Tidy one folder
nodes:
  - { id: start, type: manual_trigger, fields: { input_schema: { properties: { dir: { type: string } } } } }
  - { id: list, type: shell, fields: { command: "ls -- {{trigger.output.dir}}" } }
  - id: each
    type: for_each
    fields: { items: "{{nodes.list.output.stdout | lines}}", max_parallel: 2, on_item_error: collect }
  - { id: check, type: shell, parent: each, fields: { command: "test {{item}} != bad && echo fine {{item}}" } }
  - { id: count, type: shell, fields: { command: "echo try >> tries; test $(wc -l < tries) -ge 2" } }
edges:
  - { from: start, to: list }
  - { from: list, to: each }
  - { from: each, from_port: body, to: check }
  - { from: each, from_port: done, to: count }
---
"#;

const ABOVE: &str = r#"---
schema: 2
id: above
name: Tidy with help
nodes:
  - { id: start, type: manual_trigger }
  - id: tidy
    type: sub_automation
    retry: { attempts: 3, backoff: 10ms, jitter: false }
    fields: { automation: tidy, input: { dir: things } }
  - { id: told, type: notify, fields: { message: "tidied by {{nodes.tidy.output.run_id}}" } }
  - { id: rescue, type: notify, fields: { message: "{{nodes.tidy.error.message}}" } }
edges:
  - { from: start, to: tidy }
  - { from: tidy, to: told }
  - { from: tidy, from_port: error, to: rescue }
---
"#;

#[test]
fn items_inside_of_a_run_of_its_own_that_is_tried_again_with_a_way_out() {
    let house = House::new();
    let things = house.work().join("things");
    std::fs::create_dir(&things).unwrap();
    for name in ["a", "bad", "c"] {
        std::fs::write(things.join(name), "").unwrap();
    }
    house.write("tidy.md", TIDY);
    house.write("above.md", ABOVE);
    let run = ran(&house, "above.md", &[], 0);
    assert_eq!(run["nodes"]["rescue"]["status"], "skipped");
    assert_eq!(run["nodes"]["tidy"]["attempt"], 2, "the first child failed at its last node");
    let child = run["nodes"]["tidy"]["output"]["run_id"].as_str().unwrap();
    let child = house.json(&["run", "show", child])["run"].clone();
    assert_eq!(child["parent"], run["run_id"]);
    assert_eq!(child["degraded"], true);
    let items = child["nodes"]["each"]["output"].as_array().unwrap().clone();
    let words: Vec<_> = items.iter().map(|item| item["status"].as_str().unwrap()).collect();
    assert_eq!(words, ["completed", "failed", "completed"]);
    assert_eq!(items[2]["output"]["stdout"], "fine c\n");
    assert_eq!(items[1]["error"]["code"], "exit_1");
}

#[test]
fn a_child_that_never_succeeds_leads_by_the_way_out_error() {
    let house = House::new();
    house.write("tidy.md", TIDY);
    house.write("above.md", ABOVE);
    let run = ran(&house, "above.md", &[], 0);
    assert_eq!(run["nodes"]["tidy"]["status"], "failed");
    assert_eq!(run["nodes"]["tidy"]["attempt"], 3);
    assert_eq!(
        (&run["nodes"]["told"]["status"], &run["degraded"]),
        (&json!("skipped"), &json!(true))
    );
}

#[test]
fn automations_that_run_each_other_in_a_circle_are_refused_before_anything_runs() {
    let house = House::new();
    house.write("above.md", ABOVE.replace("automation: tidy,", "automation: above,"));
    let said = house.run(&["automation", "exec", "above.md"]);
    assert_eq!(said.code, 8, "{said:?}");
    assert!(said.talk.contains("above → above"), "{}", said.talk);
    house.write("above.md", ABOVE);
    let said = house.run(&["automation", "exec", "above.md"]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.talk.contains("node `tidy`") && said.talk.contains("`tidy`"), "{}", said.talk);
    assert_eq!(house.json(&["run", "list"])["runs"], json!([]));
}

#[test]
fn a_loop_repeats_until_its_condition_holds_and_its_outputs_stay() {
    let house = House::new();
    house.write(
        "again.md",
        r#"---
schema: 2
id: again
name: Again
nodes:
  - { id: start, type: manual_trigger }
  - { id: again, type: loop, fields: { max_iterations: 5, until: 'nodes.count.output.stdout == "3\n"' } }
  - { id: add, type: shell, parent: again, fields: { command: "echo x >> rounds" } }
  - { id: count, type: shell, parent: again, fields: { command: "wc -l < rounds" } }
  - { id: beside, type: shell, fields: { command: "true" } }
  - { id: both, type: join }
  - { id: tell, type: notify, fields: { message: "{{nodes.count.output.stdout}} after {{nodes.again.output.iterations}}" } }
edges:
  - { from: start, to: again }
  - { from: start, to: beside }
  - { from: again, from_port: body, to: add }
  - { from: add, to: count }
  - { from: again, from_port: done, to: both }
  - { from: beside, to: both }
  - { from: both, to: tell }
---
"#,
    );
    let run = ran(&house, "again.md", &[], 0);
    assert_eq!(run["nodes"]["again"]["output"], json!({ "iterations": 3 }));
    assert_eq!(run["nodes"]["count"]["round"], 2);
    let id = run["run_id"].as_str().unwrap();
    let notices = house.run(&["run", "events", id]).out;
    assert!(notices.contains(r#""message":"3\n after 3""#), "{notices}");
    // Nothing of a later round is seen at an event of an earlier one.
    let line = notices.lines().find(|line| line.contains(r#""iteration":1"#)).unwrap();
    let seq = serde_json::from_str::<Value>(line).unwrap()["seq"].to_string();
    let then = house.json(&["run", "view", id, "--at", &seq])["run"].clone();
    assert_eq!(then["nodes"]["again"]["progress"], json!({ "round": 2, "most": 5 }));
    assert_eq!(then["nodes"]["count"]["status"], "pending");
}

/// A blueprint that waits so long and then says so.
fn pause(span: &str) -> String {
    format!(
        "---\nschema: 2\nid: pause\nname: Pause\nnodes:\n  - {{ id: start, type: manual_trigger }}\n  - {{ id: pause, type: wait, fields: {{ for: {span} }} }}\n  - {{ id: after, type: shell, fields: {{ command: echo done }} }}\nedges:\n  - {{ from: start, to: pause }}\n  - {{ from: pause, to: after }}\n---\n"
    )
}

#[test]
fn a_wait_ends_at_its_moment() {
    let house = House::new();
    house.write("pause.md", pause("300ms"));
    let run = ran(&house, "pause.md", &[], 0);
    assert_eq!(run["nodes"]["after"]["output"]["stdout"], "done\n");
    let (began, ended) = (&run["nodes"]["pause"]["started_at"], &run["nodes"]["pause"]["ended_at"]);
    assert!(began.as_str().unwrap() < ended.as_str().unwrap());
}

#[test]
fn a_wait_outlives_the_death_of_its_worker() {
    let house = House::new();
    house.write("pause.md", pause("2s"));
    let viewer = house.start(house.command(&["automation", "exec", "pause.md", "--json"]));
    let mut run = String::new();
    until("the run waits", || {
        let runs = house.json(&["run", "list"])["runs"].clone();
        run = runs[0]["run_id"].as_str().unwrap_or_default().to_owned();
        runs[0]["status"] == "waiting"
    });
    // The viewer would see to it; its owner is to be missed for a while.
    kill_process(pid(&viewer), Signal::KILL).unwrap();
    drop(finish(viewer));
    let lock = std::fs::read_to_string(house.run_folder(&run).join("driver.lock")).unwrap();
    let owner = lock.lines().find_map(|line| line.strip_prefix("pid ")).unwrap().parse().unwrap();
    kill_process(Pid::from_raw(owner).unwrap(), Signal::KILL).unwrap();
    assert_gone(&owner.to_string());
    assert_eq!(house.status(&run), "waiting", "a parked run needs no owner");
    let said = house.run(&["run", "resume", &run]);
    assert!(said.code == 0 || said.code == 11, "{said:?}");
    until("the wait is over", || house.status(&run) == "completed");
    let nodes = house.json(&["run", "show", &run])["run"]["nodes"].clone();
    assert_eq!(nodes["after"]["output"]["stdout"], "done\n");
}

#[test]
fn an_answer_of_the_web_is_an_output_and_a_refusal_a_failure() {
    let house = House::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        for answer in [
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 14\r\nConnection: close\r\n\r\n{\"answer\": 42}",
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        ] {
            let (mut stream, _) = listener.accept().unwrap();
            let mut asked = [0; 4096];
            let read = stream.read(&mut asked).unwrap();
            assert!(asked[..read].starts_with(b"GET /"), "{:?}", &asked[..read]);
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    let page = |allow: &str| {
        format!(
            "---\nschema: 2\nid: ask\nname: Ask\nnodes:\n  - {{ id: start, type: manual_trigger }}\n  - {{ id: ask, type: http, fields: {{ url: \"http://127.0.0.1:{port}/{{{{trigger.output.page}}}}\"{allow} }} }}\nedges:\n  - {{ from: start, to: ask }}\n---\n"
        )
    };
    house.write("ask.md", page(", allow_private: true"));
    let run = ran(&house, "ask.md", &["--input", r#"{"page":"yes"}"#], 0);
    assert_eq!(run["nodes"]["ask"]["output"]["body"], json!({ "answer": 42 }));
    assert_eq!(run["nodes"]["ask"]["output"]["status"], 200);
    let run = ran(&house, "ask.md", &["--input", r#"{"page":"no"}"#], 10);
    assert_eq!(run["nodes"]["ask"]["error"]["code"], "http_404");
    server.join().unwrap();
    house.write("ask.md", page(""));
    let run = ran(&house, "ask.md", &["--input", r#"{"page":"no"}"#], 10);
    assert_eq!(run["nodes"]["ask"]["error"]["code"], "address_refused");
    assert_eq!(run["nodes"]["ask"]["error"]["effect"], "none");
}

const LEDGER: &str = r#"---
schema: 2
id: ledger
name: Ledger
nodes:
  - { id: start, type: manual_trigger }
  - { id: append, type: shell, fields: { command: "echo entry >> ledger" } }
  - { id: count, type: shell, fields: { command: "wc -l < ledger > count" } }
edges:
  - { from: start, to: append }
  - { from: append, to: count }
---
"#;

#[test]
fn x4_an_effect_that_a_crash_would_double_is_named_with_its_boundary() {
    let house = House::new();
    house.write("ledger.md", LEDGER);
    let said = house.run(&["automation", "crash-test", "ledger.md"]);
    assert_eq!(said.code, 10, "{said:?}");
    assert!(said.out.contains("twice append"), "{}", said.out);
    assert!(said.out.contains("behind event 2 (node_started of `append`)"), "{}", said.out);
    assert!(said.out.contains("ledger"), "{}", said.out);
    // The test plays in folders of its own, and leaves no run.
    assert!(!house.work().join("ledger").exists());
    assert_eq!(house.json(&["run", "list"])["runs"], json!([]));
}

#[test]
fn x4_a_guard_and_the_word_safe_make_it_pass() {
    let house = House::new();
    let safe = LEDGER
        .replace("name: Ledger\n", "name: Ledger\non_interrupt: resume\n")
        .replace("type: shell,", "type: shell, repeat: safe,")
        .replace("echo entry >>", "grep -qs entry ledger || echo entry >>");
    house.write("ledger.md", safe);
    let said = house.run(&["automation", "crash-test", "ledger.md", "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!((&said.json()["ok"], &said.json()["findings"]), (&json!(true), &json!([])));
}

#[test]
fn a_fork_keeps_what_was_over_and_runs_what_changed() {
    let house = House::new();
    house.write("ledger.md", LEDGER);
    let run = ran(&house, "ledger.md", &[], 0);
    let id = run["run_id"].as_str().unwrap();
    house.write("ledger.md", LEDGER.replace("> count", "> counted"));
    let last = (run["events"].as_u64().unwrap() - 1).to_string();
    let said =
        house.run(&["run", "fork", id, "--from", &last, "--automation", "ledger.md", "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let fork = said.json()["run_id"].as_str().unwrap().to_owned();
    let ledger = std::fs::read_to_string(house.work().join("ledger")).unwrap();
    assert_eq!(ledger, "entry\n", "the first step is kept");
    assert!(house.work().join("counted").exists());
    let document = house.json(&["run", "show", &fork]);
    assert_eq!(document["run"]["fork_of"], run["run_id"]);
    let diff = house.run(&["run", "diff", id, &fork, "--json"]);
    assert_eq!(diff.code, 1, "{diff:?}");
    assert_eq!(diff.json()["same_graph"], false);
    let wrong = house.run(&["run", "fork", id, "--from", "99999"]);
    assert_eq!(wrong.code, 8, "{wrong:?}");
    assert!(wrong.talk.contains("no event 99999"), "{}", wrong.talk);
}

#[test]
fn a_run_beyond_its_deadline_is_ended_with_what_it_started() {
    let house = House::new();
    house.write(
        "late.md",
        "---\nschema: 2\nid: late\nname: Late\ndeadline: 400ms\nnodes:\n  - { id: start, type: manual_trigger }\n  - { id: slow, type: shell, fields: { command: sleep 300 } }\nedges:\n  - { from: start, to: slow }\n---\n",
    );
    let run = ran(&house, "late.md", &[], 10);
    assert_eq!(
        (&run["reason"], &run["nodes"]["slow"]["status"]),
        (&json!("deadline"), &json!("cancelled"))
    );
}
