//! A snapshot gives back the program that it was made of, or says why not.

use super::*;
use crate::check;

const FILE: &[u8] = b"---\nid: a\nname: A\nnodes:\n  - { id: start, type: manual_trigger }\n---\n";

fn snapshot() -> String {
    String::from_utf8(check(FILE).program.unwrap().snapshot()).unwrap()
}

fn error(text: &str) -> String {
    Program::from_snapshot(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn a_snapshot_is_this_document() {
    insta::assert_snapshot!(snapshot());
}

#[test]
fn a_changed_graph_is_told_from_an_invalid_one() {
    let changed = snapshot().replace("\"name\": \"A\"", "\"name\": \"B\"");
    assert!(error(&changed).starts_with("the graph was changed after the run started"));
    let invalid = snapshot().replace("manual_trigger", "manual");
    insta::assert_snapshot!(error(&invalid));
}

#[test]
fn a_newer_major_format_is_refused_and_a_newer_minor_one_is_read() {
    let newer = snapshot().replace("\"major\": 1", "\"major\": 2");
    insta::assert_snapshot!(error(&newer));
    let minor = snapshot().replace("\"minor\": 0", "\"minor\": 7, \"more\": true");
    assert!(Program::from_snapshot(minor.as_bytes()).is_ok());
}

#[test]
fn keys_that_no_program_wrote_are_refused_unless_a_newer_one_may_have() {
    for again in ["\"id\": \"a\",\n    \"id\": \"a\"", "\"name\": \"A\",\n    \"id\": \"a\""] {
        let text = snapshot().replacen("\"id\": \"a\"", again, 1);
        assert!(matches!(Program::from_snapshot(text.as_bytes()), Err(SnapshotError::Json(_))));
        let newer = text.replace("\"major\": 1", "\"major\": 2");
        assert!(matches!(Program::from_snapshot(newer.as_bytes()), Err(SnapshotError::TooNew(_))));
    }
}

#[test]
fn what_is_no_snapshot_is_an_error() {
    for text in ["", "{}", "[]", "null", "{\"format\":{\"major\":1,\"minor\":0}}"] {
        assert!(matches!(Program::from_snapshot(text.as_bytes()), Err(SnapshotError::Json(_))));
    }
}

#[test]
fn a_snapshot_is_set_out_as_any_json_is() {
    let text = r#"{"a":{},"b":[],"c":[1,{"d":"\"],{:,\\"},[[]]],"e":"","f":null,"g\"":-1.5}"#;
    let value: Value = serde_json::from_str(text).unwrap();
    let pretty = serde_json::to_string_pretty(&value).unwrap() + "\n";
    assert_eq!(String::from_utf8(indented(text)).unwrap(), pretty);
}
