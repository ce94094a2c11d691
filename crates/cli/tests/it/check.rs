//! `automation validate`, `list` and `show`.

use crate::house::{House, chain, hello};

const WRONG: &str = "---
schema: 2
id: wrong
name: Grüße
nodes:
  - id: start
    type: manual_trigger
  - id: greet
    type: shel
edges:
  - {from: start, to: greeet}
---
";

#[test]
fn a_valid_file_is_valid() {
    let house = House::new();
    house.write("hello.md", hello());
    let said = house.run(&["automation", "validate", "hello.md"]);
    assert_eq!((said.code, &said.out[..]), (0, "hello.md is valid\n"));
    let document = house.json(&["automation", "validate", "hello.md"]);
    assert_eq!(document["schema"], 1);
    assert_eq!(document["ok"], true);
    assert_eq!(document["blueprint_id"], "hello");
    assert_eq!(document["diagnostics"].as_array().unwrap().len(), 0);
}

#[test]
fn an_invalid_file_shows_everything_at_once() {
    let house = House::new();
    house.write("wrong.md", WRONG);
    let said = house.run(&["automation", "validate", "wrong.md"]);
    assert_eq!((said.code, &said.talk[..]), (8, ""));
    insta::assert_snapshot!(house.normal(&said.out));
}

#[test]
fn an_invalid_file_is_a_document_with_every_place() {
    let house = House::new();
    house.write("wrong.md", WRONG);
    let said = house.run(&["automation", "validate", "wrong.md", "--json"]);
    assert_eq!((said.code, &said.talk[..]), (8, ""));
    let document = said.json();
    assert_eq!(document["ok"], false);
    let all = document["diagnostics"].as_array().unwrap();
    let one = all.iter().find(|one| one["code"] == "unknown_node_type").unwrap();
    assert_eq!(one["severity"], "error");
    assert_eq!((&one["line"], &one["column"]), (&9.into(), &11.into()));
    assert_eq!(one["node"], "greet");
    assert!(one["suggestion"].as_str().unwrap().contains("shell"));
    assert!(all.len() > 1);
}

#[test]
fn a_file_of_any_bytes_gets_findings_and_nothing_reaches_the_terminal() {
    let house = House::new();
    let files: [&[u8]; 8] = [
        b"",
        b"\xef\xbb\xbf",
        b"no front matter \x1b[2J",
        b"---\nid: \x1b]0;owned\x07\nschema: 2\n---\n",
        b"---\r\nid: \xff\xfe\r\n---\r\n",
        b"---\nnodes:\n\t- id: a\n---\n",
        b"---\nid: \xc2\x9b31m\xe2\x80\xae\n",
        b"\x00\x00\x00",
    ];
    for file in files {
        house.write("odd.md", file);
        let said = house.run(&["automation", "validate", "odd.md"]);
        assert_eq!(said.code, 8, "{said:?}");
        let bad = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}' || c == '\u{feff}');
        assert!(!said.out.contains(bad), "{:?}", said.out);
        let said = house.run(&["automation", "validate", "odd.md", "--json"]);
        assert!(!said.out.trim_end().contains(bad), "{:?}", said.out);
        assert_eq!(said.json()["ok"], false);
    }
}

#[test]
fn a_missing_file_is_not_found() {
    let house = House::new();
    for name in ["missing.md", "missing", "a/b/missing.md"] {
        let said = house.run(&["automation", "validate", name, "--json"]);
        assert_eq!(said.code, 2, "{said:?}");
        let code = said.error_code();
        assert!(code == "file_not_found" || code == "automation_not_found", "{code}");
    }
}

#[test]
fn exec_of_an_invalid_file_shows_the_findings_and_starts_nothing() {
    let house = House::new();
    house.write("wrong.md", WRONG);
    let said = house.run(&["automation", "exec", "wrong.md"]);
    assert_eq!((said.code, &said.out[..]), (8, ""));
    assert!(said.talk.contains("error[unknown_node_type]"), "{}", said.talk);
    assert!(said.talk.contains("\nhint: "), "{}", said.talk);
    let said = house.run(&["automation", "exec", "wrong.md", "--json"]);
    assert_eq!(said.error_code(), "invalid_blueprint");
    assert!(said.json()["error"]["details"]["diagnostics"].as_array().unwrap().len() > 1);
    assert_eq!(house.json(&["run", "list"])["runs"].as_array().unwrap().len(), 0);
}

#[test]
fn the_library_is_listed_and_its_automations_run_by_id() {
    let house = House::new();
    let said = house.run(&["automation", "list"]);
    assert_eq!((said.code, &said.out[..]), (0, ""));
    assert!(said.talk.contains("automation exec FILE"), "{}", said.talk);
    house.write("../.wardian/library/automations/hello.md", hello());
    house.write("../.wardian/library/automations/deep/wrong.md", WRONG);
    let said = house.run(&["automation", "list"]);
    insta::assert_snapshot!(house.normal(&said.out));
    let document = house.json(&["automation", "list"]);
    assert_eq!(document["automations"][1]["blueprint_id"], "hello");
    assert_eq!(document["automations"][1]["error"], serde_json::Value::Null);
    assert!(document["automations"][0]["error"].is_string());
    let said = house.run(&["automation", "exec", "hello", "--input", "{\"who\":\"you\"}"]);
    assert_eq!(said.code, 0, "{said:?}");
    let said = house.run(&["automation", "show", "hello"]);
    assert!(said.out.contains("Prose.") && said.out.contains("completed"), "{}", said.out);
}

#[test]
fn an_automation_is_shown_as_it_stands() {
    let house = House::new();
    house.write("a.md", chain("a", &[("x", "shell", "command: \"echo \\e\u{9b}\"")]));
    let document = house.json(&["automation", "show", "a.md"]);
    assert!(document["automation"]["source"].as_str().unwrap().contains('\u{9b}'));
    let said = house.run(&["automation", "show", "a.md"]);
    assert!(said.out.contains("\\x9b") && !said.out.contains('\u{9b}'), "{}", said.out);
}
