//! The short way leads where the long way does.

use durable::Seq;
use durable::frame::{Link, seal};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::decode::{RawLine, event_of, long};
use super::super::encode;
use super::*;
use crate::tests::samples::{event, every_fact};

fn sealed(fact: engine::Fact) -> Vec<u8> {
    let mut line = Vec::new();
    seal(&mut line, &encode(&event(7, fact)), Seq(5), Link::START);
    line.pop();
    line
}

/// Whether the line is plain; then it must mean what it means otherwise.
fn is_plain(line: &[u8]) -> Result<bool, TestCaseError> {
    let mut raw = RawLine::default();
    if read(line, &mut raw).is_none() {
        return Ok(false);
    }
    let short = event_of(raw, None).map_err(|error| error.to_string());
    let long = long(line).and_then(|raw| event_of(raw, None)).map_err(|error| error.to_string());
    prop_assert_eq!(short, long, "{}", String::from_utf8_lossy(line));
    Ok(true)
}

#[test]
fn the_common_kinds_are_plain() {
    let output = json!({ "text": "a \"b\" {", "n": [1, {}, null] });
    let lines = every_fact("done", &output).into_iter().map(sealed);
    let is_common = |line: &Vec<u8>| {
        ["node_started", "node_completed", "attempt_failed", "branch_taken", "state_updated"]
            .iter()
            .any(|kind| String::from_utf8_lossy(line).contains(&format!("\"kind\":\"{kind}\"")))
    };
    let common: Vec<bool> = lines.filter(is_common).map(|line| is_plain(&line).unwrap()).collect();
    let plain = common.iter().filter(|plain| **plain).count();
    assert!(plain >= 5 && 2 * plain > common.len(), "{plain} of {}", common.len());
}

#[test]
fn what_only_looks_plain_is_left_alone() {
    let head = r#"{"seq":1,"ts":"2026-08-01T10:00:00.000Z","kind":"node_skipped""#;
    let line = |rest: &str| format!("{head}{rest}");
    assert!(is_plain(line(r#","node":"a"}"#).as_bytes()).unwrap());
    for rest in [
        r#","node":"a","node":"b"}"#,
        r#","node":"\u0061"}"#,
        r#", "node":"a"}"#,
        r#","node":"a"} "#,
        r#","node":"a","later":1}"#,
        r#","node":"a","item":01}"#,
        r#","node":"a","item":4294967296}"#,
        r#","node":"a","item":-1}"#,
        r#","node":"a","item":1.0}"#,
        r#","node":"a","item":null}"#,
        r#","node":"a","output":{"a":}}"#,
        r#","node":"a","output":{]}"#,
        r#","node":"a","output":[[[[[[[[[1]]]]]]]]]}"#,
        ",\"node\":\"a\u{7}\"}",
        ",\"node\":\"a",
        "",
    ] {
        assert!(!is_plain(line(rest).as_bytes()).unwrap(), "{rest}");
    }
    for bad in [&b"{\"seq\":1"[..], b"", b"\xff", b"[]"] {
        assert!(!is_plain(bad).unwrap());
    }
}

#[test]
fn every_byte_that_ends_a_plain_text_is_seen_at_every_place() {
    for byte in 0..=u8::MAX {
        for at in 0..20 {
            let mut text = [0x80; 20];
            text[at] = byte;
            let ends = matches!(byte, b'"' | b'\\' | ..b' ');
            let told = plain_bytes(&[&text[..], b"\""].concat());
            let expected = if ends { (byte == b'"').then_some(at) } else { Some(20) };
            assert_eq!(told, expected, "{byte} at {at}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_event_means_the_same_either_way(text in any::<String>(), number in any::<f64>()) {
        let value = Value::from(vec![Value::from(number), json!({ (text.as_str()): text })]);
        for fact in every_fact(&text, &json!({ "v": value })) {
            is_plain(&sealed(fact))?;
        }
    }

    #[test]
    fn a_changed_line_means_the_same_either_way(
        at in any::<prop::sample::Index>(),
        with in prop::sample::select(br#"{}[]":,\0 1a"#.to_vec()),
        cut in any::<bool>(),
    ) {
        for fact in every_fact("text", &json!({ "v": [1, "a"] })) {
            let mut line = sealed(fact);
            let at = at.index(line.len());
            if cut { line.truncate(at) } else { line[at] = with }
            is_plain(&line)?;
        }
    }
}
