//! `automation new`, `fmt`, `lint` and `diff`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::house::{House, hello};

const MESSY: &str = "---
# the graph
nodes:
-   id: start
    type: manual_trigger
# says it
-   {id: say,type:  shell,   fields: {command: \"echo hi\"}}
edges:
-   {from: start,to: say}   # the only one


name: Messy
id: messy
schema: 2
---
Prose   stays.
";

const TIDY: &str = "---
schema: 2
id: messy

name: Messy
# the graph
nodes:
  - id: start
    type: manual_trigger
  # says it
  - { id: say, type: shell, fields: { command: \"echo hi\" } }
edges:
  - { from: start, to: say }   # the only one
---
Prose   stays.
";

const MISTYPED: &str = "---
id: wrong
name: Wrong
nodes:
  - { id: start, type: manual_triger } # begin
  - { id: say, type: shell, feilds: { command: echo hi } }
edges:
  - { from: start, to: sya }
  - { from: say, to: nowhere }
---
Prose.
";

fn read(house: &House, name: &str) -> String {
    fs::read_to_string(house.work().join(name)).unwrap()
}

#[test]
fn a_new_automation_is_valid_and_runs_as_it_is() {
    let house = House::new();
    let said = house.run(&["automation", "new", "my-first"]);
    assert_eq!(said.code, 0, "{said:?}");
    insta::assert_snapshot!(house.normal(&format!("{}{}", said.out, said.talk)));
    let said = house.run(&["automation", "lint"]);
    assert_eq!((said.code, &said.talk[..]), (0, ""), "{said:?}");
    let said = house.run(&["automation", "exec", "my-first"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("Hello from"), "{}", said.out);
}

#[test]
fn every_template_is_written_where_it_is_asked_for() {
    let house = House::new();
    for template in ["blank", "review", "nightly", "triage"] {
        let (file, id) = (format!("{template}.md"), format!("my-{template}"));
        let args = ["automation", "new", &id, "--from", template, "--name", "Mine: all", "--file"];
        let document = house.json(&[&args[..], &[&file]].concat());
        assert_eq!(document["blueprint_id"], id.as_str());
        assert_eq!(document["name"], "Mine: all");
        let said = house.run(&["automation", "lint", &file]);
        assert_eq!((said.code, said.out), (0, format!("{file} is valid\n")));
        let said = house.run(&["automation", "fmt", "--check", &file]);
        assert_eq!((said.code, &said.out[..]), (0, ""));
    }
    assert!(!house.home().exists());
}

#[test]
fn nothing_is_ever_overwritten_by_a_new_automation() {
    let house = House::new();
    house.write("there.md", "mine");
    house.write("../.wardian/library/automations/deep/other name.md", hello());
    for (args, code, exit) in [
        (&["x", "--file", "there.md"][..], "conflict", 13),
        (&["hello"], "conflict", 13),
        (&["../x"], "invalid_id", 8),
        (&["x", "--file", "no/such/folder.md"], "store_unavailable", 4),
        (&["x", "--from", "nothing"], "invalid_arguments", 64),
        (&["x", "--library", "--file", "y.md"], "invalid_arguments", 64),
    ] {
        let said = house.run(&[&["automation", "new"], args, &["--json"]].concat());
        assert_eq!((said.code, said.error_code().as_str()), (exit, code), "{args:?}");
    }
    assert_eq!(read(&house, "there.md"), "mine");
    assert!(!house.work().join("x.md").exists() && !house.work().join("y.md").exists());
}

#[test]
fn a_file_is_laid_out_and_then_left_alone() {
    let house = House::new();
    house.write("messy.md", MESSY);
    let file = house.work().join("messy.md");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("messy.md", house.work().join("link.md")).unwrap();
    let said = house.run(&["automation", "fmt", "--check", "link.md"]);
    assert_eq!((said.code, &said.out[..]), (1, "link.md\n"), "{said:?}");
    let said = house.run(&["automation", "fmt", "--stdout", "messy.md"]);
    assert_eq!((said.code, &said.out[..], &said.talk[..]), (0, TIDY, ""));
    assert_eq!(read(&house, "messy.md"), MESSY);
    let said = house.run(&["automation", "fmt", "link.md"]);
    assert_eq!((said.code, &said.out[..]), (0, "formatted link.md\n"));
    assert_eq!(read(&house, "messy.md"), TIDY);
    assert!(fs::symlink_metadata(house.work().join("link.md")).unwrap().is_symlink());
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o640);
    let before = fs::metadata(&file).unwrap().modified().unwrap();
    let said = house.run(&["automation", "fmt", "messy.md"]);
    assert_eq!(
        (said.code, &said.out[..], &said.talk[..]),
        (0, "", "messy.md is as it should be\n")
    );
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), before);
    let said = house.run(&["automation", "fmt", "--check", "messy.md"]);
    assert_eq!((said.code, &said.out[..]), (0, ""));
}

#[test]
fn a_file_that_cannot_be_read_is_refused_and_the_others_are_laid_out() {
    let house = House::new();
    let broken = "---\nid:   [\n---\n";
    house.write("broken.md", broken);
    house.write("messy.md", MESSY);
    let said = house.run(&["automation", "fmt", "broken.md", "messy.md"]);
    assert_eq!((said.code, &said.out[..]), (8, "formatted messy.md\n"));
    assert!(said.talk.contains("error[syntax]") && said.talk.contains("broken.md:"), "{said:?}");
    assert_eq!(read(&house, "broken.md"), broken);
    let document = house.json(&["automation", "fmt", "broken.md", "messy.md"]);
    assert_eq!(document["ok"], false);
    assert_eq!(document["files"][0]["changed"], serde_json::Value::Null);
    let diagnostics = document["files"][0]["diagnostics"].as_array().unwrap();
    assert!(diagnostics.iter().any(|one| one["code"] == "syntax"), "{document}");
    assert_eq!(document["files"][1]["changed"], false);
    house.write("odd.md", "---\n? id\n: x\n---\n");
    let said = house.run(&["automation", "fmt", "odd.md", "--json"]);
    assert_eq!((said.code, said.error_code().as_str()), (8, "invalid_blueprint"));
    let said = house.run(&["automation", "fmt", "--stdout", "odd.md", "messy.md"]);
    assert_eq!((said.code, &said.out[..]), (64, ""));
}

#[test]
fn what_is_certain_is_mended_and_told() {
    let house = House::new();
    house.write("wrong.md", MISTYPED);
    let said = house.run(&["automation", "lint", "wrong.md"]);
    assert_eq!(said.code, 8);
    assert!(said.talk.contains("automation lint --fix wrong.md"), "{}", said.talk);
    assert_eq!(read(&house, "wrong.md"), MISTYPED, "looking changes nothing");
    let said = house.run(&["automation", "lint", "--fix", "wrong.md"]);
    assert_eq!((said.code, &said.talk[..]), (8, ""));
    insta::assert_snapshot!(said.out);
    let mended = MISTYPED
        .replace("---\nid", "---\nschema: 2\nid")
        .replace("triger }", "trigger }")
        .replace("feilds", "fields")
        .replace("sya", "say");
    assert_eq!(read(&house, "wrong.md"), mended);
    house.write("wrong.md", mended.replace("  - { from: say, to: nowhere }\n", ""));
    let said = house.run(&["automation", "lint", "--fix", "wrong.md"]);
    assert_eq!((said.code, &said.out[..]), (0, "wrong.md is valid\n"));
}

#[test]
fn findings_are_for_programs_too() {
    let house = House::new();
    house.write("wrong.md", MISTYPED);
    let said = house.run(&["automation", "lint", "wrong.md", "--format", "github"]);
    assert_eq!(said.code, 8);
    insta::assert_snapshot!(said.out);
    for format in [&["--json"][..], &["--format", "json"]] {
        let said = house.run(&[&["automation", "lint", "wrong.md"], format].concat());
        let document = said.json();
        assert_eq!((said.code, &document["ok"]), (8, &false.into()));
        let all = document["files"][0]["diagnostics"].as_array().unwrap();
        let one = all.iter().find(|one| one["code"] == "dangling_edge").unwrap();
        let (start, end) = (&one["fix"]["span"][0], &one["fix"]["span"][1]);
        let bytes = |at: &serde_json::Value| usize::try_from(at.as_u64().unwrap()).unwrap();
        assert_eq!(&MISTYPED[bytes(start)..bytes(end)], "sya");
        assert_eq!((&one["fix"]["text"], &one["fix"]["safe"]), (&"say".into(), &true.into()));
    }
}

#[test]
fn without_a_name_the_whole_library_is_judged() {
    let house = House::new();
    let said = house.run(&["automation", "lint"]);
    assert_eq!((said.code, &said.out[..]), (0, ""));
    assert!(said.talk.contains("automation new ID"), "{}", said.talk);
    for name in ["a", "b", "deep/c"] {
        house.write(&format!("../.wardian/library/automations/{name}.md"), hello());
    }
    let document = house.json(&["automation", "lint"]);
    let files = document["files"].as_array().unwrap();
    assert_eq!(files.len(), 3);
    for file in files {
        assert_eq!(file["diagnostics"][0]["code"], "duplicate_blueprint_id", "{file}");
        assert_eq!(file["ok"], false);
    }
    let said = house.run(&["automation", "lint", "no-such"]);
    assert_eq!(said.code, 2);
}

#[test]
fn graphs_are_compared_in_the_words_of_graphs() {
    let house = House::new();
    house.write("messy.md", MESSY);
    house.write("tidy.md", TIDY);
    let said = house.run(&["automation", "diff", "messy.md", "tidy.md"]);
    assert_eq!(said.code, 0);
    assert!(said.out.starts_with("same graph (sha256:"), "{}", said.out);
    let other = TIDY
        .replace("echo hi", "echo ho")
        .replace("name: Messy", "name: Other")
        .replace("edges:\n", "  - { id: ask, type: decision, timeout: 5m, fields: { agent: codex, prompt: p, choices: [yes] } }\nedges:\n  - { from: start, to: ask }\n")
        .replace("from: start, to: say", "from: ask, from_port: yes, to: say");
    house.write("other.md", &other);
    let said = house.run(&["automation", "diff", "messy.md", "other.md"]);
    assert_eq!((said.code, &said.talk[..]), (1, ""));
    insta::assert_snapshot!(said.out);
    let document = house.json(&["automation", "diff", "messy.md", "other.md"]);
    assert_eq!(document["same"], false);
    assert_eq!(document["differences"][0]["path"], "name");
    assert_ne!(document["old"]["hash"], document["new"]["hash"]);
}

#[test]
fn a_run_is_compared_by_the_graph_that_it_keeps() {
    let house = House::new();
    house.write("messy.md", MESSY);
    let run = house.exec("messy.md");
    house.write("messy.md", MESSY.replace("echo hi", "echo changed"));
    let said = house.run(&["automation", "diff", &run, "messy.md"]);
    assert_eq!(said.code, 1);
    assert!(said.out.contains("\"echo hi\" → \"echo changed\""), "{}", said.out);
    assert_eq!(house.run(&["automation", "diff", &run, &run]).code, 0);
    for (args, code) in [(["nothing", "messy.md"], 2), (["messy.md", "no/file.md"], 2)] {
        let said = house.run(&["automation", "diff", args[0], args[1]]);
        assert_eq!((said.code, &said.out[..]), (code, ""), "{said:?}");
    }
    house.write("wrong.md", MISTYPED);
    let said = house.run(&["automation", "diff", "messy.md", "wrong.md"]);
    assert_eq!((said.code, &said.out[..]), (8, ""));
    assert!(said.talk.contains("error[unknown_node_type]"), "{}", said.talk);
}
