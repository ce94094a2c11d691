//! The weak points of the engine whose files these are: each is a test here.

use blueprint::check::check_library;
use blueprint::{Kind, Severity, check};

use crate::support::{codes, file};

const START: &str = "  - { id: start, type: manual_trigger }\n";

/// A trigger, one more node and the edge to it.
fn one(node: &str) -> String {
    file(&format!("{START}  - {node}"), "  - { from: start, to: work }")
}

#[test]
fn b1_a_list_in_a_template_is_valid() {
    let node =
        "{ id: work, type: notify, fields: { message: 'Changed: {{trigger.output.paths}}' } }";
    assert!(check(one(node).as_bytes()).program.is_some());
}

#[test]
fn b2_a_value_that_would_become_shell_text_is_refused() {
    for command in ["eval {{trigger.output.x}}", "echo `ls {{trigger.output.x}}`"] {
        let node = format!("{{ id: work, type: shell, fields: {{ command: '{command}' }} }}");
        assert_eq!(codes(&one(&node)), ["unsafe_shell_template"], "{command}");
    }
}

#[test]
fn b4_a_typo_in_a_template_path_is_found_before_any_run() {
    let node = "{ id: work, type: notify, fields: { message: '{{nodes.strat.output.x}}' } }";
    let found = check(one(node).as_bytes()).findings;
    assert_eq!(found[0].rule.code(), "unknown_template_node");
    assert_eq!(found[0].suggestion.as_deref(), Some("did you mean `start`?"));
}

#[test]
fn b5_no_key_is_dropped_without_a_word() {
    let node = "{ id: work, type: join, retries: 3, fields: { wait: all } }";
    assert_eq!(codes(&one(node)), ["unknown_key", "unknown_field"]);
    let kept = "{ id: work, type: join, position: { x: 1, y: 2 } }";
    assert_eq!(codes(&one(kept)), [""; 0]);
}

#[test]
fn b6_no_file_wins_over_another_with_its_id() {
    let first = check(file(START, "").as_bytes());
    let second = check(file(START, "").as_bytes());
    let files = [("a.md".to_owned(), &first), ("sub/b.md".to_owned(), &second)];
    let found = check_library(&files);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].1.message, "`test` is also the id of sub/b.md");
    assert_eq!((found[1].1.line, found[1].1.column), (2, 5));
}

#[test]
fn b8_a_condition_may_compare() {
    let node =
        "{ id: work, type: branch, fields: { condition: 'trigger.output.word == \"false\"' } }";
    assert!(check(one(node).as_bytes()).program.is_some());
}

#[test]
fn b9_a_schema_that_checks_nothing_is_refused() {
    for schema in ["'{}'", "'not json'", "'[]'", "'{\"a\":\"strin\"}'"] {
        let node = format!(
            "{{ id: work, type: task, fields: {{ agent: codex, prompt: Look., output_schema: {schema} }} }}"
        );
        assert_eq!(codes(&one(&node)), ["invalid_schema"], "{schema}");
    }
}

#[test]
fn b10_a_folder_may_come_from_the_run() {
    let node =
        "{ id: work, type: shell, fields: { command: make, cwd: '{{trigger.output.repo}}' } }";
    let program = check(one(node).as_bytes()).program.unwrap();
    let Kind::Shell { cwd, .. } = &program.nodes()[1].kind else { panic!() };
    assert_eq!(cwd.as_ref().unwrap().exprs().count(), 1);
}

#[test]
fn b11_a_graph_that_does_nothing_is_no_silent_success() {
    assert_eq!(codes(&file("", "")), ["empty_graph"]);
    let found = check(file("  - { id: a, type: join }", "").as_bytes()).findings;
    assert_eq!((found[0].rule.code(), found[0].severity), ("missing_trigger", Severity::Warning));
    let lost = file(&format!("{START}  - {{ id: a, type: join }}"), "");
    assert_eq!(codes(&lost), ["unreachable_node"]);
}

#[test]
fn b12_moving_a_box_on_the_canvas_changes_no_hash() {
    let hash = |node: &str| check(one(node).as_bytes()).program.unwrap().hash();
    let moved = "{ id: work, type: join, position: { x: 5, y: 6 }, description: 'Here.' }";
    assert_eq!(hash("{ id: work, type: join }"), hash(moved));
    assert_ne!(hash("{ id: work, type: join }"), hash("{ id: work, type: join, name: Both }"));
}

#[test]
fn b13_an_id_that_no_template_can_name_is_refused() {
    for id in ["1st", "a.b", "a b", "é", "-a", "\"\""] {
        let nodes = format!("{START}  - {{ id: {id}, type: join }}");
        let edges = format!("  - {{ from: start, to: {id} }}");
        assert_eq!(codes(&file(&nodes, &edges)), ["invalid_id"], "{id}");
    }
    for id in ["../x", "con", "\"\"", ".x", "a/b"] {
        let text = file(START, "").replace("id: test", &format!("id: {id}"));
        assert_eq!(codes(&text), ["invalid_id"], "{id}");
    }
}

#[test]
fn b14_a_blank_required_field_is_refused_and_an_open_template_is_named() {
    for blank in ["''", "'  '", "\"\\n\"", ""] {
        let node = format!("{{ id: work, type: shell, fields: {{ command: {blank} }} }}");
        assert_eq!(codes(&one(&node)), ["blank_required_field"], "{blank:?}");
    }
    let node = "{ id: work, type: notify, fields: { message: 'a {{run.id and more' } }";
    let found = check(one(node).as_bytes()).findings;
    assert_eq!(found[0].rule.code(), "invalid_template");
    assert!(found[0].message.contains("closed"), "{}", found[0].message);
}

#[test]
fn a_fault_in_one_field_hides_no_choice_without_an_edge() {
    let node =
        "{ id: work, type: decision, fields: { agent: codex, prompt: '', choices: [a, b] } }";
    let found = codes(&one(node));
    assert_eq!(
        found,
        ["blank_required_field", "unconnected_decision_choice", "unconnected_decision_choice"]
    );
}

#[test]
fn choices_beyond_the_limit_are_one_finding() {
    let many: Vec<_> = (0..65).map(|n| format!("c{n}")).collect();
    let node = format!(
        "{{ id: work, type: decision, fields: {{ agent: codex, prompt: Pick., choices: [{}] }} }}",
        many.join(", ")
    );
    assert_eq!(codes(&one(&node)), ["too_many"]);
}

#[test]
fn a_place_in_a_text_is_exact_in_every_style_of_writing() {
    for (scalar, column) in [
        ("'a é {{nodes.no.output}}'", 20),
        ("\"a é {{nodes.no.output}}\"", 20),
        ("a é {{nodes.no.output}}", 19),
        ("|\n      a\n      é {{nodes.no.output}}", 9),
        (">-\n      a\n\n      é {{nodes.no.output}}", 9),
        ("\"a\\n\\u00e9 {{nodes.no.output}}\"", 26),
    ] {
        let nodes =
            format!("{START}  - id: work\n    type: notify\n    fields:\n     message: {scalar}");
        let text = file(&nodes, "  - { from: start, to: work }");
        let found = check(text.as_bytes()).findings;
        assert_eq!(found.len(), 1, "{text}");
        assert_eq!(&text[found[0].span.clone()], "{{nodes.no.output}}");
        assert_eq!(found[0].rule.code(), "unknown_template_node");
        assert_eq!(found[0].column, column, "{scalar}");
    }
}

#[test]
fn parallel_paths_that_meet_are_all_there_and_alternatives_are_not() {
    let nodes = format!(
        "{START}  - {{ id: a, type: shell, fields: {{ command: make }} }}
  - {{ id: b, type: shell, fields: {{ command: make }} }}
  - {{ id: work, type: notify, fields: {{ message: '{{{{nodes.a.output.stdout}}}}' }} }}"
    );
    let edges = "  - { from: start, to: a }\n  - { from: start, to: b }\n  - { from: a, to: work }\n  - { from: b, to: work }";
    assert_eq!(codes(&file(&nodes, edges)), [""; 0]);
}
