//! The stored line both ways, and lines that others wrote.

use std::error::Error as _;

use durable::frame::{Link, seal};
use durable::version::Format;
use durable::{Attempt, Seq};
use engine::{Fact, FailReason, Site};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::tests::samples::{event, every_fact};

fn text_of(fact: Fact) -> String {
    String::from_utf8(encode(&event(7, fact))).unwrap()
}

fn fact_of(text: &str) -> Fact {
    decode(text.as_bytes(), Some(REFERENCE_FORMAT)).unwrap().fact
}

/// Encodes, seals and decodes; gives whether the event came back.
fn survives(fact: Fact) -> Result<(), TestCaseError> {
    let event = event(7, fact);
    let mut line = Vec::new();
    let body = encode(&event);
    seal(&mut line, &body, Seq(5), Link::START);
    let line = line.strip_suffix(b"\n").unwrap();
    prop_assert_eq!(&decode(line, None).unwrap(), &event);
    prop_assert_eq!(&decode(&body, None).unwrap(), &event);
    Ok(())
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_event_reads_as_it_was_written(text in any::<String>(), value in values()) {
        for fact in every_fact(&text, &value) {
            survives(fact)?;
        }
    }

    #[test]
    fn no_line_makes_the_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        prop_assert!(decode(&bytes, None).is_err());
    }
}

#[test]
fn a_null_character_survives_in_every_text() {
    for fact in every_fact("a\u{0}b\n\"\\", &json!({ "k\u{0}": "\u{0}", "n": null })) {
        survives(fact).unwrap();
    }
}

#[test]
fn a_number_keeps_every_digit() {
    let value: Value = serde_json::from_str("[123456789012345678901234567890.10,1E400]").unwrap();
    let text = text_of(crate::tests::samples::completed("a", None, value));
    assert!(text.contains("123456789012345678901234567890.10"), "{text}");
}

#[test]
fn the_stored_kinds_and_fields_are_these() {
    let facts = every_fact("t", &json!({ "v": 1 }));
    let lines: Vec<String> = facts.into_iter().map(text_of).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn lines_of_the_reference_read_as_facts() {
    let lines = [
        r#"{"seq":0,"ts":"2026-08-01T10:00:00.123456789Z","kind":"run_started","blueprint_id":"b","run_id":"r-1","schema":2,"trigger":{"timestamp":"t"}}"#,
        r#"{"seq":1,"ts":"2026-08-01T10:00:00Z","kind":"node_started","node":"a"}"#,
        r#"{"seq":2,"ts":"2026-08-01T12:00:00+02:00","kind":"node_completed","node":"a","output":null}"#,
        r#"{"seq":3,"ts":"2026-08-01T10:00:00Z","kind":"decision_completed","node":"d","output":{"chosen":"x"},"port":"x"}"#,
        r#"{"seq":4,"ts":"2026-08-01T10:00:00Z","kind":"decision_made","node":"d","port":"x"}"#,
        r#"{"seq":5,"ts":"2026-08-01T10:00:00Z","kind":"state_updated","node":"s","op":"merge","entries":{"a":[1]}}"#,
        r#"{"seq":6,"ts":"2026-08-01T10:00:00Z","kind":"node_failed","node":"a","error":"a exited with exit code 3: no"}"#,
        r#"{"seq":7,"ts":"2026-08-01T10:00:00Z","kind":"approval_granted","node":"g","actor":"kim","note":null}"#,
        r#"{"seq":8,"ts":"2026-08-01T10:00:00Z","kind":"run_failed","error":"gate: approval rejected"}"#,
    ];
    let facts: Vec<String> = lines.iter().map(|line| format!("{:?}", fact_of(line))).collect();
    insta::assert_snapshot!(facts.join("\n"));
}

#[test]
fn the_reasons_of_the_reference_are_told_by_its_sentences() {
    let reason = |error: &str, format| {
        let line =
            json!({ "seq": 9, "ts": "2026-08-01T10:00:00Z", "kind": "run_failed", "error": error });
        let fact = decode(line.to_string().as_bytes(), format).unwrap().fact;
        let Fact::RunFailed { reason, .. } = fact else { panic!("{fact:?}") };
        reason
    };
    let known = Some(REFERENCE_FORMAT);
    assert_eq!(reason("automation cancelled by operator", known), FailReason::Cancelled);
    let restart = "automation run interrupted by application restart";
    assert_eq!(reason(restart, known), FailReason::Interrupted);
    assert_eq!(reason("a: it broke", known), FailReason::Error);
    assert_eq!(reason("no such blueprint", None), FailReason::Launch);
}

#[test]
fn fields_that_are_not_known_are_skipped() {
    let line = r#"{"seq":1,"ts":"2026-08-01T10:00:00Z","kind":"node_cancelled","node":"a","attempt":2,"mood":{"x":[1]},"batch":0}"#;
    let node = Site::parse("a");
    assert_eq!(fact_of(line), Fact::NodeCancelled { node, attempt: Attempt(2) });
}

#[test]
fn a_line_that_cannot_be_read_says_why() {
    let newer = Some(Format { major: 1, minor: 4 });
    let cases = [
        (r#"{"seq":3,"ts":"2026-08-01T10:00:00Z","kind":"tide_turned","node":"a"}"#, newer),
        (r#"{"seq":3,"ts":"2026-08-01T10:00:00Z","kind":"tide_turned","node":"a"}"#, None),
        (
            r#"{"seq":3,"ts":"2026-08-01T10:00:00Z","kind":"item_failed","node":"a","error":"e"}"#,
            None,
        ),
        (
            r#"{"seq":3,"ts":"2026-08-01T10:00:00Z","kind":"budget_reached","limit":"patience"}"#,
            None,
        ),
        (r#"{"seq":3,"ts":"2026-08-01T10:00:00Z","kind":"branch_taken","node":"a"}"#, None),
        (
            r#"{"seq":3,"ts":"2026-08-01T10:00:00Z","kind":"run_failed","error":"x","reason":"mood"}"#,
            None,
        ),
        (
            r#"{"seq":0,"ts":"2026-08-01T10:00:00Z","kind":"run_started","format":{"major":2,"minor":0}}"#,
            None,
        ),
        (r#"{"number":0,"format":{"major":3,"minor":1}}"#, None),
        (r#"{"seq":0,"ts":"yesterday","kind":"run_completed"}"#, None),
        (r#"{"seq":0,"seq":1,"ts":"2026-08-01T10:00:00Z","kind":"run_completed"}"#, None),
    ];
    let told = |(line, format): (&str, _)| {
        let error = decode(line.as_bytes(), format).unwrap_err();
        let causes = std::iter::successors(error.source(), |cause| (**cause).source());
        causes.fold(error.to_string(), |told, cause| format!("{told}: {cause}"))
    };
    insta::assert_snapshot!(cases.map(told).join("\n"));
}
