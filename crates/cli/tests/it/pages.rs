//! `automation graph`, `node-types`, `schema` and `explain`, and the pages of
//! the reference.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::house::{House, gated, hello};

const FORK: &str = "---
id: fork
name: \"A fork \\e[2J\"
nodes:
  - { id: start, type: manual_trigger }
  - { id: many, type: branch, name: Are there many?, fields: { condition: trigger.output.many } }
  - { id: tell, type: notify, fields: { message: Many } }
  - { id: end, type: join }
edges:
  - { from: start, to: many }
  - { from: many, from_port: on_true, to: tell }
  - { from: many, from_port: on_false, to: end }
  - { from: tell, to: end }
---
";

#[test]
fn a_graph_is_drawn_as_a_tree_of_lines() {
    let house = House::new();
    house.write("fork.md", FORK);
    let said = house.run(&["automation", "graph", "fork.md"]);
    assert_eq!((said.code, &said.talk[..]), (0, ""));
    insta::assert_snapshot!(said.out);
    let mut ascii = house.command(&["automation", "graph", "fork.md"]);
    ascii.env("LANG", "C");
    let output = ascii.output().unwrap();
    assert!(output.stdout.is_ascii(), "{output:?}");
}

#[test]
fn a_graph_is_text_for_other_programs_and_a_picture() {
    let house = House::new();
    house.write("fork.md", FORK);
    let draw = |format: &str| house.run(&["automation", "graph", "fork.md", "--format", format]);
    insta::assert_snapshot!(draw("mermaid").out);
    assert!(draw("dot").out.starts_with("digraph \"A fork \u{fffd}[2J\" {\n"));
    let picture = draw("svg");
    assert!(picture.out.starts_with("<svg ") && picture.out.ends_with("</svg>\n"));
    let said =
        house.run(&["automation", "graph", "fork.md", "--format", "svg", "--output", "a.svg"]);
    assert_eq!((said.code, &said.out[..], &said.talk[..]), (0, "", "a.svg written\n"));
    assert_eq!(fs::read_to_string(house.work().join("a.svg")).unwrap(), picture.out);
    let said = house.run(&["automation", "graph", "fork.md", "--output", "no/such/folder"]);
    assert_eq!(said.code, 8);
    assert!(said.talk.contains("hint: "), "{}", said.talk);
}

#[test]
fn a_graph_is_a_document() {
    let house = House::new();
    house.write("fork.md", FORK);
    let document = house.json(&["automation", "graph", "fork.md"]);
    assert_eq!(document["schema"], 1);
    assert_eq!(document["nodes"][1]["name"], "Are there many?");
    assert_eq!(document["edges"][1]["from_port"], "on_true");
    assert_eq!(document["edges"][0]["from_port"], "out");
}

#[test]
fn a_file_with_faults_is_drawn_as_far_as_it_can_be_seen() {
    let house = House::new();
    house.write("odd.md", hello().replace("type: shell", "type: shel"));
    let said = house.run(&["automation", "graph", "odd.md"]);
    assert_eq!(said.code, 0);
    assert!(said.out.contains("greet") && said.out.contains("shel\n"), "{}", said.out);
    assert!(said.talk.contains("1 error") && said.talk.contains("automation validate odd.md"));
    house.write("none.md", "no graph\n");
    let said = house.run(&["automation", "graph", "none.md", "--json"]);
    assert_eq!((said.code, said.error_code().as_str()), (8, "invalid_blueprint"));
}

#[test]
fn the_graph_of_a_run_says_how_far_it_came() {
    let house = House::new();
    house.write("gated.md", gated());
    let run = house.exec("gated.md");
    let said = house.run(&["automation", "graph", "--run", &run]);
    assert_eq!((said.code, &said.talk[..]), (0, ""));
    insta::assert_snapshot!(said.out);
    let document = house.json(&["automation", "graph", "--run", &run]);
    assert_eq!(document["nodes"][2]["status"], "waiting");
    let picture = house.run(&["automation", "graph", "--run", &run, "--format", "svg"]);
    assert!(picture.out.contains("edge taken") && picture.out.contains("approval · waiting"));
}

#[test]
fn node_types_are_listed_and_shown() {
    let house = House::new();
    let said = house.run(&["automation", "node-types"]);
    assert!(said.code == 0 && said.out.starts_with("TYPE "), "{said:?}");
    insta::assert_snapshot!(house.run(&["automation", "node-types", "decision"]).out);
    let all = house.json(&["automation", "node-types"]);
    assert_eq!(all["schema"], 1);
    let all = all["node_types"].as_array().unwrap();
    assert!(all.iter().any(|one| one["id"] == "shell" && one["fields"][0]["id"] == "command"));
    let one = house.json(&["automation", "node-types", "join"]);
    assert_eq!(one["node_types"].as_array().unwrap().len(), 1);
    let said = house.run(&["automation", "node-types", "weather", "--json"]);
    assert_eq!((said.code, said.error_code().as_str()), (64, "invalid_arguments"));
}

#[test]
fn the_schema_is_printed_or_written_with_a_word_on_its_use() {
    let house = House::new();
    let said = house.run(&["automation", "schema"]);
    let schema: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(schema["additionalProperties"], false);
    assert!(said.talk.contains("# yaml-language-server: $schema="), "{}", said.talk);
    let written = house.run(&["automation", "schema", "--output", "front.json"]);
    assert_eq!((written.code, &written.out[..]), (0, ""));
    assert!(written.talk.contains("$schema=front.json"), "{}", written.talk);
    assert_eq!(fs::read_to_string(house.work().join("front.json")).unwrap(), said.out);
}

#[test]
fn a_finding_is_explained_by_its_code() {
    let house = House::new();
    insta::assert_snapshot!(house.run(&["automation", "explain", "duplicate-key"]).out);
    let document = house.json(&["automation", "explain", "duplicate_key"]);
    assert_eq!(document["rule"]["code"], "duplicate_key");
    assert!(document["rule"]["page"].as_str().unwrap().contains("```yaml bad\n"));
    let said = house.run(&["automation", "explain", "duplicate_keys"]);
    assert_eq!((said.code, &said.out[..]), (64, ""));
    assert!(said.talk.contains("did you mean `duplicate_key`?"), "{}", said.talk);
    let list = house.run(&["automation", "explain"]);
    assert!(list.out.lines().any(|line| line.starts_with("duplicate_key ")), "{}", list.out);
    let rules = house.json(&["automation", "explain"]);
    assert_eq!(rules["rules"].as_array().unwrap().len() + 1, list.out.lines().count());
}

#[test]
fn the_pages_of_the_reference_are_up_to_date() {
    let house = House::new();
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    for page in ["node-types", "findings", "cli"] {
        let said = house.run(&["__reference", page]);
        assert_eq!((said.code, &said.talk[..]), (0, ""));
        let stored = fs::read_to_string(docs.join(format!("{page}.md"))).unwrap_or_default();
        assert!(
            stored == said.out,
            "docs/reference/{page}.md is stale; run `cargo xtask generate`"
        );
    }
}
