//! Strict reading, place by place.

use super::*;
use crate::Rule;

fn reading(text: &str) -> Reading<'_> {
    read(text, 0..text.len())
}

fn json(text: &str) -> String {
    let reading = reading(text);
    assert!(reading.findings.is_empty(), "{:?}", reading.findings);
    reading.root.unwrap().to_json().unwrap().to_string()
}

fn faults(text: &str) -> Vec<(Rule, &str)> {
    let found = reading(text).findings;
    found.into_iter().map(|f| (f.rule, &text[f.span])).collect()
}

#[test]
fn every_key_and_value_has_its_bytes() {
    let text = "é: \"→\"\nlist: [1, {a: b}]\nblock: |\n  x\n   y\n\nempty:\nlast: 2\n";
    let Data::Map(map) = reading(text).root.unwrap().data else { panic!() };
    let parts: Vec<_> = map
        .entries
        .iter()
        .map(|e| (&text[e.key_span.clone()], &text[e.value.span.clone()]))
        .collect();
    assert_eq!(
        parts,
        [
            ("é", "\"→\""),
            ("list", "[1, {a: b}]"),
            ("block", "x\n   y"),
            ("empty", "empty"),
            ("last", "2"),
        ]
    );
}

#[test]
fn a_block_collection_spans_its_entries() {
    let text = "nodes:\n  - id: a\n    type: b\n  - id: c\nend: 1\n";
    let Data::Map(map) = reading(text).root.unwrap().data else { panic!() };
    let nodes = &map.entries[0].value;
    assert_eq!(&text[nodes.span.clone()], "- id: a\n    type: b\n  - id: c");
    let Data::List(list) = &nodes.data else { panic!() };
    assert_eq!(&text[list.items[0].span.clone()], "id: a\n    type: b");
}

#[test]
fn quotes_make_texts_and_block_scalars_keep_lines() {
    assert_eq!(json("a: '5'\nb: \"no\"\nc: 5\n"), r#"{"a":"5","b":"no","c":5}"#);
    assert_eq!(json("a: |\n  x\n   y\nb: >-\n  x\n  y\n"), r#"{"a":"x\n y\n","b":"x y"}"#);
    assert_eq!(json("1: a\ntrue: b\n"), r#"{"1":"a","true":"b"}"#);
}

#[test]
fn each_use_of_a_reference_is_refused_at_its_place() {
    let text = "a: &x 1\nb: *x\nc: !!str 5\nd: {<<: *x, e: 1}\n? [k]\n: v\n";
    let found = faults(text);
    assert!(found.iter().all(|(rule, _)| *rule == Rule::UnsupportedYaml));
    let places: Vec<_> = found.into_iter().map(|(_, part)| part).collect();
    assert_eq!(places, ["&x", "*x", "!!str", "<<", "[k]"]);
}

#[test]
fn an_alias_of_nothing_is_refused_like_any_other() {
    assert_eq!(faults("a: *nope\n"), [(Rule::UnsupportedYaml, "*nope")]);
}

#[test]
fn a_second_document_is_refused_and_not_read() {
    let text = "a: 1\n---\nb: [\n";
    let reading = reading(text);
    assert_eq!(reading.findings.len(), 1);
    assert!(reading.complete);
    assert_eq!(reading.root.unwrap().to_json().unwrap().to_string(), r#"{"a":1}"#);
}

#[test]
fn a_key_given_twice_names_both_lines_and_the_first_value_stays() {
    let text = "a: 1\nb: 2\na: 3\na: 4\n";
    let reading = reading(text);
    let messages: Vec<_> = reading.findings.iter().map(|f| f.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "`a` is twice in one mapping, on line 1 and on line 3",
            "`a` is twice in one mapping, on line 1 and on line 4",
        ]
    );
    assert_eq!(reading.root.unwrap().to_json().unwrap().to_string(), r#"{"a":1,"b":2}"#);
}

#[test]
fn a_tab_that_indents_is_called_a_tab() {
    for (text, place) in [
        ("a: 1\n\tb: 2\n", 5),
        ("a:\n\t- 2\n", 3),
        ("a:\n  b: 1\n\tc: 2\n", 10),
        ("a:\n  - b: 1\n  \tc: 2\n", 14),
        ("a:\n\tb: 1\n", 3),
        ("\ta: 1\n", 0),
        ("a: |\n\tx\n", 5),
    ] {
        let found = reading(text).findings;
        assert_eq!(found.len(), 1, "{text:?}");
        assert_eq!(
            (found[0].rule, found[0].span.clone()),
            (Rule::Syntax, place..place + 1),
            "{text:?}"
        );
        assert!(found[0].message.contains("tab"));
    }
}

#[test]
fn what_stands_before_a_syntax_error_is_kept_and_marked_partial() {
    let reading = reading("a: {b: 1}\nc:\n  d: 2\n  e: 3\n  f: ]\n");
    assert!(!reading.complete);
    assert_eq!(reading.findings.len(), 1);
    let Data::Map(map) = reading.root.unwrap().data else { panic!() };
    assert!(map.partial);
    assert_eq!(map.get("a").unwrap().value.to_json().unwrap().to_string(), r#"{"b":1}"#);
    let Data::Map(inner) = &map.get("c").unwrap().value.data else { panic!() };
    assert!(inner.partial);
    assert_eq!(inner.entries.len(), 2);
}

#[test]
fn depth_has_a_limit_and_costs_no_stack() {
    for text in ["[".repeat(100_000), "- ".repeat(100_000), "{a: ".repeat(50_000)] {
        let found = reading(&text).findings;
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].rule, Rule::TooDeep);
    }
    let deep = format!("a: {}1{}", "[".repeat(60), "]".repeat(60));
    assert!(reading(&deep).findings.is_empty());
}

#[test]
fn a_part_of_a_value_is_found_in_its_source() {
    let file = "x: |\n  one {{a}}\n    two {{b}} {{a}}\n";
    let span = 7..file.len() - 1;
    let value = "one {{a}}\n  two {{b}} {{a}}\n";
    let second = value.rfind("{{a}}").unwrap();
    let place = place_within(file, &span, value, &(second..second + 5));
    assert_eq!(&file[place.clone()], "{{a}}");
    assert_eq!(place.start, file.rfind("{{a}}").unwrap());
    let escaped = r#""\x41 A""#;
    assert_eq!(place_within(escaped, &(0..8), "A A", &(0..1)), 0..8);
}

#[test]
fn a_key_given_twice_is_found_in_a_large_mapping_too() {
    let mut text: String = (0..100).map(|n| format!("k{n}: {n}\n")).collect();
    text.push_str("k3: again\nk99: again\nk100: once\n");
    let reading = reading(&text);
    assert_eq!(reading.findings.len(), 2);
    let Data::Map(map) = reading.root.unwrap().data else { panic!() };
    assert_eq!(map.entries.len(), 101);
}
