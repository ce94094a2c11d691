//! Faults that YAML readers of other systems are known for.

use blueprint::check;

use crate::support::{codes, file};

const START: &str = "  - { id: start, type: manual_trigger }\n";

#[test]
fn y_01_words_that_old_yaml_read_as_booleans_are_texts() {
    let nodes = format!(
        "{START}  - {{ id: keep, type: state, fields: {{ op: set, entries: {{ on: [failed], country: NO, yes: off }} }} }}"
    );
    let checked = check(file(&nodes, "  - { from: start, to: keep }").as_bytes());
    assert!(checked.findings.is_empty());
    let program = checked.program.unwrap();
    let blueprint::Kind::State { entries, .. } = &program.nodes()[1].kind else { panic!() };
    let shown: Vec<_> = entries.iter().map(|(key, value)| format!("{key}={value}")).collect();
    assert_eq!(shown, [r#"country="NO""#, r#"on=["failed"]"#, r#"yes="off""#]);
}

#[test]
fn y_02_one_key_or_one_id_twice_names_both_lines() {
    let nodes = format!(
        "{START}  - id: work\n    type: shell\n    timeout: 10s\n    fields: {{ command: make }}\n    timeout: 600s\n  - {{ id: work, type: join }}"
    );
    let found = check(file(&nodes, "  - { from: start, to: work }").as_bytes()).findings;
    let messages: Vec<_> = found.iter().map(|finding| finding.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "`timeout` is twice in one mapping, on line 8 and on line 10",
            "`work` is the id of two nodes, on line 6 and line 11",
        ]
    );
}

#[test]
fn y_03_a_byte_order_mark_is_nothing_and_text_before_the_fence_is_an_error() {
    let text = file(START, "");
    assert!(check(format!("\u{feff}{text}").as_bytes()).program.is_some());
    for before in ["\n", " ", "Title\n\n", "\u{feff}\u{feff}"] {
        assert_eq!(codes(&format!("{before}{text}")), ["missing_front_matter"], "{before:?}");
    }
}

#[test]
fn y_04_an_alias_bomb_is_refused_at_once() {
    let mut bomb = String::from("---\na: &a [\"lol\"]\n");
    for (before, name) in ('a'..'i').zip('b'..='i') {
        let nine = vec![format!("*{before}"); 9].join(", ");
        bomb.push_str(&format!("{name}: &{name} [{nine}]\n"));
    }
    bomb.push_str("---\n");
    let found = codes(&bomb);
    // Nine anchors and eight times nine aliases, none of them followed.
    assert_eq!(found.iter().filter(|code| **code == "unsupported_yaml").count(), 81);
}

#[test]
fn y_05_a_tab_that_indents_is_called_a_tab_with_its_line_and_column() {
    let text = "---\nid: test\nname: Test\nnodes:\n  - id: a\n    type: shell\n\tfields: { command: make }\n---\n";
    let found = check(text.as_bytes()).findings;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].to_string(), "7:1: a tab indents line 7 (column 1) [syntax]");
    assert_eq!(found[0].suggestion.as_deref(), Some("indent with spaces"));
}

#[test]
fn what_was_read_before_a_syntax_error_is_judged_and_the_rest_is_not_guessed() {
    let text = "---\nid: test\nname: Test\nnodes:\n  - { id: a, type: shel }\n  - { id: b, type: notify, fields: { message: '{{nodes.later.output}}' } }\n  - { id: c, type: ]\n---\n";
    assert_eq!(codes(text), ["unknown_node_type", "syntax"]);
}

#[test]
fn an_empty_front_matter_is_an_error() {
    for text in ["---\n---\n", "---\n# nothing\n---\n", "---\n~\n---\n", "---\n[]\n---\n"] {
        assert_eq!(codes(text), ["invalid_value"], "{text:?}");
    }
    assert_eq!(codes("---\n{}\n---\n"), ["missing_key", "missing_key", "empty_graph"]);
}

#[test]
fn more_findings_than_the_limit_are_counted() {
    let nodes: String = (0..700).map(|n| format!("  - {{ id: n{n}, type: nope }}\n")).collect();
    let checked = check(file(&nodes, "").as_bytes());
    assert_eq!(checked.findings.len(), durable::limits::FINDINGS);
    assert_eq!(checked.omitted, 700 - durable::limits::FINDINGS);
    assert_eq!(checked.findings[0].line, 5);
}

#[test]
fn a_field_beside_the_fields_is_one_finding_that_says_where_it_belongs() {
    let nodes = format!("{START}  - {{ id: list, type: shell, command: ls }}");
    let found = check(file(&nodes, "  - { from: start, to: list }").as_bytes()).findings;
    let said: Vec<_> =
        found.iter().map(|f| (f.message.as_str(), f.suggestion.as_deref())).collect();
    let (message, suggestion) = (
        "`command` is a field, not a key of a node",
        "put it under `fields:`, as `fields: { command: … }`",
    );
    assert_eq!(said, [(message, Some(suggestion))]);
}

#[test]
fn a_trigger_stands_inside_of_nothing() {
    let nodes = "  - { id: start, type: manual_trigger, parent: again }\n  - { id: again, type: loop }\n  - { id: work, type: join, parent: again }";
    let edges = "  - { from: start, to: again }\n  - { from: again, from_port: body, to: work }";
    let found = check(file(nodes, edges).as_bytes()).findings;
    let said: Vec<_> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        ["5:48: the manual_trigger `start` cannot stand inside of `again` [invalid_parent]"]
    );
}

#[test]
fn an_edge_back_to_the_loop_is_one_finding_and_no_cycle() {
    let nodes = format!(
        "{START}  - {{ id: again, type: loop }}\n  - {{ id: work, type: join, parent: again }}"
    );
    let edges = "  - { from: start, to: again }\n  - { from: again, from_port: body, to: work }\n  - { from: work, to: again }";
    assert_eq!(codes(&file(&nodes, edges)), ["loop_body_external_output"]);
}

#[test]
fn nodes_of_a_body_that_wait_for_each_other_are_a_cycle() {
    let nodes = format!(
        "{START}  - {{ id: again, type: loop }}\n  - {{ id: a, type: join, parent: again }}\n  - {{ id: b, type: join, parent: again }}"
    );
    let edges = "  - { from: start, to: again }\n  - { from: again, from_port: body, to: a }\n  - { from: a, to: b }\n  - { from: b, to: a }";
    assert_eq!(codes(&file(&nodes, edges)), ["cycle_detected"]);
}

#[test]
fn an_error_that_a_mistyped_edge_may_give_is_not_asked_for_twice() {
    let nodes = format!(
        "{START}  - {{ id: work, type: shell, fields: {{ command: make }} }}\n  - {{ id: tell, type: notify, fields: {{ message: '{{{{nodes.work.error.code}}}}' }} }}"
    );
    let edges = "  - { from: start, to: work }\n  - { from: work, from_port: eror, to: tell }";
    assert_eq!(codes(&file(&nodes, edges)), ["unknown_output_port"]);
}
