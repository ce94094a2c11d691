//! What the nodes of a run do to the outside, and what they cannot.

use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};

use crate::house::{House, assert_gone, chain, finish, line_of};

const HEAD: &str = "---\nschema: 2\nid: work\nname: Work\n";

/// A blueprint with these settings, nodes and edges behind a trigger.
fn blueprint(settings: &str, nodes: &str, edges: &str) -> String {
    format!(
        "{HEAD}{settings}nodes:\n  - {{ id: start, type: manual_trigger }}\n{nodes}edges:\n{edges}---\n"
    )
}

#[test]
fn c_04_a_title_that_is_a_command_is_a_title() {
    let house = House::new();
    let print = "command: printf '%s' {{trigger.output.title}}";
    house.write("title.md", chain("title", &[("print", "shell", print)]));
    let pwn = house.work().join("pwn");
    for title in ["x'; touch pwn #", "$(touch pwn)", "`touch pwn`", "a\nb; touch pwn", "-rf *"] {
        let input = serde_json::json!({ "title": title }).to_string();
        let said = house.run(&["automation", "exec", "title.md", "--input", &input, "--json"]);
        assert_eq!(said.code, 0, "{said:?}");
        let run = said.json()["run_id"].as_str().unwrap().to_owned();
        let document = house.json(&["run", "show", &run]);
        assert_eq!(document["run"]["nodes"]["print"]["output"]["stdout"], title);
        assert!(!pwn.exists());
    }
    let nul = r#"{"title":"a\u0000b"}"#;
    let said = house.run(&["automation", "exec", "title.md", "--input", nul, "--json"]);
    let run = said.json()["run_id"].as_str().unwrap().to_owned();
    let document = house.json(&["run", "show", &run]);
    assert_eq!(document["run"]["nodes"]["print"]["error"]["code"], "nul_in_value");
    assert_eq!(document["run"]["nodes"]["print"]["error"]["effect"], "none");
}

#[test]
fn c_07_a_secret_of_the_host_reaches_no_child_and_no_file() {
    const CANARY: &str = "canary-0123456789";
    let house = House::new();
    let look = "command: env; tr '\\0' '\\n' < /proc/$PPID/environ; echo done";
    house.write("look.md", chain("look", &[("look", "shell", look)]));
    let mut command = house.command(&["automation", "exec", "look.md", "--json"]);
    command.env("AWS_SECRET_ACCESS_KEY", CANARY);
    let output = finish(house.start(command));
    assert_eq!(output.status.code(), Some(0));
    let run = house.json(&["run", "list"])["runs"][0]["run_id"].as_str().unwrap().to_owned();
    let folder = house.run_folder(&run);
    let said = house.run(&["run", "logs", &run]).out;
    assert!(said.contains("done") && said.contains("WARDIAN_RUN_ID="), "{said}");
    let own = said.split("WARDIAN_ATTEMPT=").next().unwrap();
    assert!(!own.contains("AWS_SECRET"), "{own}");
    for file in ["events.jsonl", "state.json", "output/look.1.log"] {
        assert!(!std::fs::read_to_string(folder.join(file)).unwrap().contains(CANARY), "{file}");
    }
}

#[test]
fn a_worker_and_its_commands_hold_nothing_that_their_starter_had_open() {
    let house = House::new();
    let look = "command: for fd in /proc/$PPID/fd/* /proc/self/fd/*; do readlink $fd || true; done";
    house.write("open.md", chain("open", &[("look", "shell", look)]));
    let own = house.command(&["automation", "exec", "open.md"]);
    let mut command = Command::new("sh");
    command.args(["-c", "exec 9>left-open; exec \"$0\" \"$@\""]);
    command.arg(own.get_program()).args(own.get_args()).current_dir(house.work());
    command.env_clear().envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    assert_eq!(finish(house.start(command)).status.code(), Some(0));
    assert!(house.work().join("left-open").exists());
    let run = house.json(&["run", "list"])["runs"][0]["run_id"].as_str().unwrap().to_owned();
    let said = house.run(&["run", "logs", &run]).out;
    assert!(said.contains("driver.lock") && !said.contains("left-open"), "{said}");
}

#[test]
fn x_02_a_node_past_its_timeout_is_ended_with_all_that_it_started() {
    let house = House::new();
    let nodes = "  - id: slow\n    type: shell\n    timeout: 300ms\n    fields:\n      command: |\n        sleep 300 & echo $! > one\n        sleep 301\n";
    house.write("slow.md", blueprint("", nodes, "  - { from: start, to: slow }\n"));
    let said = house.run(&["automation", "exec", "slow.md", "--json"]);
    assert_eq!(said.code, 12, "{said:?}");
    assert_gone(&line_of(&house.work().join("one")));
    let run = said.json()["run_id"].as_str().unwrap().to_owned();
    let document = house.json(&["run", "show", &run]);
    assert_eq!(document["run"]["nodes"]["slow"]["status"], "unknown");
    assert_eq!(document["run"]["nodes"]["slow"]["error"]["code"], "timeout");
}

/// Each of the two waits for the other, so that one after the other would
/// never end.
#[test]
fn two_branches_run_at_the_same_time() {
    let house = House::new();
    let meet = |mine: &str, other: &str| {
        format!(
            "  - id: {mine}\n    type: shell\n    timeout: 30s\n    fields:\n      command: |\n        mkfifo {mine} 2>/dev/null; mkfifo {other} 2>/dev/null\n        echo hello > {other} & read word < {mine}; echo \"$word\"; wait\n"
        )
    };
    let nodes = meet("left", "right") + &meet("right", "left");
    let edges = "  - { from: start, to: left }\n  - { from: start, to: right }\n";
    house.write("meet.md", blueprint("", &nodes, edges));
    let said = house.run(&["automation", "exec", "meet.md", "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn a_node_that_may_be_repeated_goes_on_after_its_owner_was_killed() {
    let house = House::new();
    let nodes = "  - id: again\n    type: shell\n    repeat: safe\n    fields:\n      command: |\n        echo x >> times\n        test -e second && exit 0\n        touch second; sleep 300 & echo $! > left\n        echo $PPID > worker\n        wait\n";
    let edges = "  - { from: start, to: again }\n";
    house.write("again.md", blueprint("on_interrupt: resume\n", nodes, edges));
    let run = house.json(&["automation", "exec", "again.md", "--detach"])["run_id"].clone();
    let run = run.as_str().unwrap();
    let worker = line_of(&house.work().join("worker"));
    kill_process(Pid::from_raw(worker.parse().unwrap()).unwrap(), Signal::KILL).unwrap();
    let said = house.run(&["run", "watch", run]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_gone(&line_of(&house.work().join("left")));
    let document = house.json(&["run", "show", run]);
    assert_eq!(document["run"]["nodes"]["again"]["attempt"], 2);
    assert_eq!(std::fs::read_to_string(house.work().join("times")).unwrap(), "x\nx\n");
}

#[test]
fn a_script_beside_its_blueprint_is_pinned_when_the_run_starts() {
    let house = House::new();
    let nodes = "  - { id: gate, type: approval }\n  - { id: tell, type: script, fields: { runtime: sh, path: tell.sh, args: ['{{trigger.output.word}}'] } }\n";
    let edges = "  - { from: start, to: gate }\n  - { from: gate, to: tell }\n";
    house.write("library/script.md", blueprint("", nodes, edges));
    house.write("library/tell.sh", "printf '%s %s' \"$2\" \"$WARDIAN_V1\"\n");
    let exec =
        ["automation", "exec", "library/script.md", "--input", r#"{"word":"-e x"}"#, "--json"];
    let start = || house.run(&exec).json()["run_id"].as_str().unwrap().to_owned();
    let run = start();
    assert_eq!(house.run(&["run", "approve", &run]).code, 0);
    assert_eq!(house.run(&["run", "watch", &run]).code, 0);
    let document = house.json(&["run", "show", &run]);
    assert_eq!(document["run"]["nodes"]["tell"]["output"]["stdout"], "-e x -e x");
    let run = start();
    house.write("library/tell.sh", "echo other\n");
    assert_eq!(house.run(&["run", "approve", &run]).code, 0);
    assert_eq!(house.run(&["run", "watch", &run]).code, 10);
    let document = house.json(&["run", "show", &run]);
    assert_eq!(document["run"]["nodes"]["tell"]["error"]["code"], "script_changed");
}

#[test]
fn e7_a_run_never_looks_at_the_library_again_and_refuses_another_graph() {
    let house = House::new();
    let nodes = "  - { id: gate, type: approval }\n";
    let edges = "  - { from: start, to: gate }\n";
    house.write("gate.md", blueprint("", nodes, edges));
    let run = house.exec("gate.md");
    std::fs::remove_file(house.work().join("gate.md")).unwrap();
    assert_eq!(house.run(&["run", "approve", &run]).code, 0);
    assert_eq!(house.run(&["run", "watch", &run]).code, 0);
    house.write("gate.md", blueprint("", nodes, edges));
    let run = house.exec("gate.md");
    let snapshot = house.run_folder(&run).join("blueprint.json");
    let text = std::fs::read_to_string(&snapshot).unwrap();
    std::fs::write(&snapshot, text.replace("approval", "join")).unwrap();
    let said = house.run(&["run", "approve", &run, "--json"]);
    assert_eq!((said.code, said.error_code().as_str()), (8, "changed_graph"));
}

#[test]
fn b7_a_library_that_leads_in_a_circle_is_listed() {
    let house = House::new();
    let library = house.home().join("library/automations/deep");
    std::fs::create_dir_all(&library).unwrap();
    std::os::unix::fs::symlink("..", library.join("up")).unwrap();
    std::fs::write(library.join("a.md"), chain("a", &[("x", "shell", "command: echo x")])).unwrap();
    let document = house.json(&["automation", "list"]);
    assert_eq!(document["automations"].as_array().map(Vec::len), Some(1), "{document}");
    assert_eq!(house.run(&["automation", "exec", "a"]).code, 0);
}

#[test]
fn a_worker_that_is_given_an_ended_run_leaves_it() {
    let house = House::new();
    house.write("one.md", chain("one", &[("x", "shell", "command: echo x")]));
    let folder = house.run_folder(&house.exec("one.md"));
    let events = || std::fs::read(folder.join("events.jsonl")).unwrap();
    let before = events();
    let home = house.home();
    let args = ["__worker", folder.to_str().unwrap(), "--home", home.to_str().unwrap()];
    let mut worker = house.command(&args);
    let lock = folder.join("driver.lock");
    worker.stdin(std::fs::File::options().read(true).write(true).open(lock).unwrap());
    assert_eq!(finish(house.start(worker)).status.code(), Some(0));
    assert_eq!(events(), before);
}

#[test]
fn a_run_keeps_no_file_for_what_did_not_happen() {
    let house = House::new();
    let names = |run: &str| {
        let entries = std::fs::read_dir(house.run_folder(run)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    house.write("quiet.md", chain("quiet", &[("go", "shell", "command: 'true'")]));
    let all = ["blueprint.json", "driver.lock", "events.jsonl", "invocation.json", "state.json"];
    assert_eq!(names(&house.exec("quiet.md")), all);
    // A file in the inbox that is no signal is moved aside, and that is said.
    let noise = "command: 'inbox=\"$WARDIAN_HOME/logs/automations/noisy/$WARDIAN_RUN_ID/inbox\"; \
                 mkdir \"$inbox\"; echo no > \"$inbox/x.json\"; \
                 while [ -e \"$inbox/x.json\" ]; do :; done'";
    house.write("noisy.md", chain("noisy", &[("go", "shell", noise)]));
    let run = house.exec("noisy.md");
    let more = names(&run).into_iter().filter(|name| !all.contains(&&**name));
    assert_eq!(more.collect::<Vec<_>>(), ["inbox", "worker.log"]);
    let log = std::fs::read_to_string(house.run_folder(&run).join("worker.log")).unwrap();
    assert!(log.contains("is no signal"), "{log}");
}
