//! The schema against files that are right and files that are not.

use std::path::{Path, PathBuf};

use super::*;
use crate::document::Document;
use crate::{check, yaml};

fn front(bytes: &[u8]) -> Option<Value> {
    let document = Document::read(bytes).ok()?;
    yaml::read(document.text(), document.front()).root?.to_json()
}

fn files(folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = entries.filter(|p| p.extension().is_some_and(|e| e == "md")).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read(&path).unwrap())).collect()
}

#[test]
fn every_good_file_is_accepted() {
    let validator = jsonschema::draft202012::new(&schema()).unwrap();
    let good = [files("tests/fixtures/valid"), files("../../examples"), files("../host/src/demo")];
    let good = good.concat();
    assert!(good.len() > 30);
    for (path, bytes) in good {
        let value = front(&bytes).unwrap();
        let errors: Vec<_> =
            validator.iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", path.display());
    }
}

#[test]
fn what_one_node_or_edge_can_show_is_refused() {
    let validator = jsonschema::draft202012::new(&schema()).unwrap();
    let seen = [
        "blank_required_field",
        "duplicate_decision_choice",
        "empty_decision_choices",
        "empty_graph",
        "invalid_budget",
        "invalid_decision_choice",
        "invalid_field_value",
        "invalid_id",
        "invalid_loop_max_iterations",
        "invalid_prove",
        "invalid_retry",
        "invalid_session",
        "invalid_timeout",
        "invalid_value",
        "missing_key",
        "missing_required_field",
        "unknown_field",
        "unknown_key",
        "unknown_node_type",
        "unsupported_node_type",
        "unsupported_schema",
    ];
    let mut refused = Vec::new();
    for (path, bytes) in files("tests/fixtures/invalid") {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let value = front(&bytes);
        refused.extend(value.filter(|value| !validator.is_valid(value)).map(|_| name));
    }
    let missed: Vec<_> = seen.iter().filter(|name| !refused.iter().any(|r| r == *name)).collect();
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn wrong_keys_and_values_of_every_sort_are_refused() {
    let validator = jsonschema::draft202012::new(&schema()).unwrap();
    let accepts = |node: Value| {
        validator.is_valid(&json!({ "id": "a", "name": "A", "nodes": [node], "edges": null }))
    };
    let shell = |key: &str, value: Value| {
        let mut node = json!({ "id": "n", "type": "shell", "fields": { "command": "make" } });
        node[key] = value;
        node
    };
    assert!(accepts(shell("timeout", "1h30m".into())));
    assert!(accepts(shell("position", json!({ "x": 1 }))));
    assert!(accepts(json!({ "id": "n", "type": "join", "fields": null })));
    assert!(accepts(shell("retry", 3.into())));
    assert!(accepts(shell("retry", json!({ "attempts": 3, "backoff": "10s", "on": ["bug"] }))));
    assert!(accepts(json!({
        "id": "n", "type": "for_each", "fields": { "items": "storage.list", "max_parallel": 2 },
    })));
    let check = |check: Value| shell("prove", json!([check]));
    assert!(accepts(check(json!({ "command": "make test", "timeout": "5m" }))));
    assert!(accepts(check(json!({ "output": "/a", "equals": null }))));
    for wrong in [
        check(json!({ "command": "make test", "contains": "ok" })),
        check(json!({ "changed": false })),
        shell("prove", json!([])),
        shell("on_limit", "wait".into()),
        json!({ "id": "n", "type": "join", "prove": [{ "changed": true }] }),
        shell("retry", 1.into()),
        shell("retry", json!({ "backoff": "10s" })),
        shell("retry", json!({ "attempts": 3, "on": ["bad luck"] })),
        json!({ "id": "n", "type": "join", "retry": 3 }),
        json!({ "id": "n", "type": "loop", "fields": { "max_iterations": 0 } }),
        json!({ "id": "n", "type": "http", "fields": { "url": "x", "allow_private": "yes" } }),
        shell("timeout", 5.into()),
        shell("repeat", "yes".into()),
        shell("fields", Value::Null),
        shell("fields", json!({ "command": ["make"] })),
        shell("fields", json!({ "command": "make", "env": { "A-B": "x" } })),
        shell("fields", json!({ "command": "make", "env": { "WARDIAN_X": "x" } })),
        shell("fields", json!({ "command": "make", "env_pass": ["A B"] })),
        shell("command", "make".into()),
        json!({ "id": "n", "type": "join", "timeout": "5m" }),
        json!({ "id": "n", "type": "join", "fields": { "a": 1 } }),
        json!({ "id": "n", "type": "state", "repeat": "safe", "fields": { "op": "get" } }),
        json!({ "id": "n", "type": "state", "fields": { "op": "gett" } }),
        json!({ "id": "1n", "type": "join" }),
        json!({ "type": "join" }),
    ] {
        assert!(!accepts(wrong.clone()), "{wrong}");
    }
}

#[test]
fn the_schema_is_one_in_the_words_of_both_drafts() {
    assert_eq!(
        jsonschema::draft202012::meta::validate(&schema()).map_err(|e| e.to_string()),
        Ok(())
    );
    assert_eq!(jsonschema::draft7::meta::validate(&schema()).map_err(|e| e.to_string()), Ok(()));
    let newer = ["$defs", "prefixItems", "unevaluatedProperties", "dependentRequired", "$ref"];
    let text = schema().to_string();
    assert!(newer.iter().all(|word| !text.contains(&format!("\"{word}\":"))));
}

#[test]
fn every_key_has_an_entry_and_a_word_of_help() {
    let [top, node, edge] = crate::draft::keys();
    let all = top.iter().map(|key| (*key, key::of_blueprint(key)));
    let all = all.chain(node.iter().map(|key| (*key, key::of_node(key))));
    let all = all.chain(edge.iter().map(|key| (*key, key::of_edge(key))));
    for (name, value) in all {
        let value = value.unwrap_or_else(|| panic!("add `{name}` to editor/key.rs"));
        let made_elsewhere = matches!(name, "nodes" | "edges");
        assert!(
            made_elsewhere || value["description"].as_str().is_some_and(|d| !d.is_empty()),
            "{name}"
        );
    }
}

#[test]
fn the_line_for_editors_may_stand_first_in_front_matter() {
    let line = directive("../schema.json");
    let text = format!(
        "---\n{line}\nid: a\nname: A\nnodes:\n  - {{ id: start, type: manual_trigger }}\n---\n"
    );
    let checked = check(text.as_bytes());
    assert!(checked.findings.is_empty() && checked.program.is_some(), "{:?}", checked.findings);
}

#[test]
fn the_part_of_one_type_is_this() {
    let all = schema();
    let parts = all["properties"]["nodes"]["items"]["allOf"].as_array().unwrap();
    let shell = parts.iter().find(|p| p["if"]["properties"]["type"]["const"] == "state").unwrap();
    insta::assert_json_snapshot!(shell);
}
