//! `automation exec`, from the file to the exit code.

use std::io::BufReader;
use std::io::Write;
use std::process::Stdio;

use crate::house::{self, House, chain, finish, hello, read_until, waiting};

#[test]
fn a_run_is_told_as_it_happens() {
    let house = House::new();
    house.write("hello.md", hello());
    let said = house.run(&["automation", "exec", "hello.md", "--input", "{\"who\":\"Ada\"}"]);
    assert_eq!((said.code, &said.talk[..]), (0, ""));
    insta::assert_snapshot!(house.normal(&said.out));
}

#[test]
fn a_program_gets_one_document() {
    let house = House::new();
    house.write("hello.md", hello());
    let args = ["automation", "exec", "hello.md", "--input", "{\"who\":\"Ada\"}", "--json"];
    let said = house.run(&args);
    assert_eq!((said.code, &said.talk[..]), (0, ""));
    assert_eq!(said.out.lines().count(), 1);
    let document = said.json();
    assert_eq!(document["schema"], 1);
    assert_eq!(document["ok"], true);
    assert_eq!(document["status"], "completed");
    assert_eq!(document["blueprint_id"], "hello");
    let folder = document["run_dir"].as_str().unwrap();
    assert!(folder.ends_with(document["run_id"].as_str().unwrap()));
}

#[test]
fn a_failed_run_exits_with_10_and_says_what_to_do() {
    let house = House::new();
    let command = "command: \"printf 'to\\\\033[2J\\\\n'; echo no good >&2; exit 3\"";
    house.write("fail.md", chain("fail", &[("boom", "shell", command)]));
    let said = house.run(&["automation", "exec", "fail.md"]);
    assert_eq!(said.code, 10);
    insta::assert_snapshot!(house.normal(&said.out));
    let document = house.json(&["automation", "exec", "fail.md"]);
    assert_eq!((&document["ok"], &document["status"]), (&false.into(), &"failed".into()));
    assert_eq!(document["reason"], "error");
}

#[test]
fn an_input_comes_from_the_argument_a_file_or_standard_input() {
    let house = House::new();
    house.write("hello.md", hello());
    house.write("in.json", "\u{feff}{\"who\":\"a file\"}");
    let said = house.run(&["automation", "exec", "hello.md", "--input", "@in.json"]);
    assert!(said.out.contains("hello a file"), "{said:?}");
    let mut command = house.command(&["automation", "exec", "hello.md", "--input", "-"]);
    command.stdin(Stdio::piped());
    let mut child = house.start(command);
    child.stdin.take().unwrap().write_all(b"{\"who\":\"a pipe\"}").unwrap();
    let said = house::said(finish(child));
    assert!(said.out.contains("hello a pipe"), "{said:?}");
}

#[test]
fn an_input_that_cannot_be_read_starts_nothing() {
    let house = House::new();
    house.write("hello.md", hello());
    house.write("latin.json", b"{\"who\":\"\xe9\"}");
    house.write("huge.json", format!("\"{}\"", "x".repeat(9 << 20)));
    for (input, code, exit) in [
        ("{\"who\"", "invalid_input", 8),
        ("@missing.json", "file_not_found", 2),
        ("@latin.json", "invalid_input", 8),
        ("@huge.json", "invalid_input", 8),
        ("@.", "invalid_input", 8),
    ] {
        let said = house.run(&["automation", "exec", "hello.md", "--input", input, "--json"]);
        assert_eq!((said.code, said.error_code().as_str()), (exit, code), "{input}");
    }
    assert_eq!(house.json(&["run", "list"])["runs"].as_array().unwrap().len(), 0);
}

#[test]
fn j_01_and_j_02_numbers_and_surrogates_survive() {
    let house = House::new();
    house.write("hello.md", hello());
    let input = "{\"who\":18446744073709551616}";
    let said = house.run(&["automation", "exec", "hello.md", "--input", input]);
    assert!(said.out.contains("hello 18446744073709551616"), "{said:?}");
    let input = r#"{"who":"\ud83d"}"#;
    house.write("quiet.md", chain("quiet", &[("x", "shell", "command: echo quiet")]));
    let args = ["automation", "exec", "quiet.md", "--input", input];
    let run = house.json(&args)["run_id"].as_str().unwrap().to_owned();
    let trigger = &house.json(&["run", "show", &run])["run"]["trigger"];
    assert!(trigger.to_string().contains("invalid_json"), "{trigger}");
}

#[test]
fn a_missing_workspace_and_a_double_binding_are_refused() {
    let house = House::new();
    house.write("hello.md", hello());
    let said = house.run(&["automation", "exec", "hello.md", "--workspace", "nowhere", "--json"]);
    assert_eq!((said.code, said.error_code().as_str()), (2, "workspace_missing"));
    let twice = ["--bind", "role:x=scripted", "--bind", "role:x=scripted"];
    let said = house.run(&[&["automation", "exec", "hello.md", "--json"], &twice[..]].concat());
    assert_eq!((said.code, said.error_code().as_str()), (64, "invalid_arguments"));
}

#[test]
fn a_reader_that_closes_the_pipe_leaves_the_run() {
    let house = House::new();
    house.write("waiting.md", waiting());
    let mut child = house.start(house.command(&["automation", "exec", "waiting.md"]));
    let mut out = BufReader::new(child.stdout.take().unwrap());
    read_until(&mut out, "wait   started");
    drop(out);
    house.write("go", "");
    let said = house::said(finish(child));
    assert_eq!((said.code, &said.talk[..]), (0, ""));
    let runs = house.json(&["run", "list"]);
    let run = runs["runs"][0]["run_id"].as_str().unwrap();
    assert_eq!(house.run(&["run", "watch", run]).code, 0);
    assert_eq!(house.status(run), "completed");
}

#[test]
fn a_detached_run_goes_on_by_itself() {
    let house = House::new();
    house.write("waiting.md", waiting());
    let document = house.json(&["automation", "exec", "waiting.md", "--detach"]);
    assert_eq!((&document["ok"], &document["status"]), (&true.into(), &"running".into()));
    house.write("go", "");
    let run = document["run_id"].as_str().unwrap();
    let said = house.run(&["run", "watch", run]);
    assert_eq!(said.code, 0);
    assert!(said.out.contains("last"), "{}", said.out);
}

#[test]
fn the_scripted_provider_plays_agents() {
    let house = House::new();
    let fields = "agent: role:coder\nprompt: Say something.";
    house.write("agent.md", chain("agent", &[("say", "task", fields)]));
    let said = house.run(&["automation", "exec", "agent.md", "--json"]);
    assert_eq!((said.code, said.error_code().as_str()), (1, "provider_unavailable"));
    let said = house.run(&["demo", "--json"]);
    assert_eq!(said.code, 11, "{said:?}");
    assert_eq!(said.json()["status"], "awaiting_approval");
}
