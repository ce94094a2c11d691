//! The three forms of a schema, and what each refuses.

use serde_json::json;

use super::*;

fn parsed(source: &Value) -> Schema {
    Schema::parse(source).unwrap_or_else(|error| panic!("{source}: {error}"))
}

#[test]
fn a_flat_map_requires_each_name_and_allows_no_other() {
    let schema = parsed(&json!({"title": "string", "count": "integer", "ok": "bool", "x": "null"}));
    assert_eq!(schema.form(), Form::Flat);
    assert_eq!(schema.check(&json!({"title": "a", "count": 2, "ok": true, "x": null})), Ok(()));
    let causes =
        schema.check(&json!({"title": 1, "count": 1.5, "more": 0, "x": null})).unwrap_err();
    insta::assert_snapshot!(causes.join("\n"), @r#"
    the top: "ok" is a required property
    `/count`: the value is not of type "integer"
    `/title`: the value is not of type "string"
    the top: Additional properties are not allowed ('more' was unexpected)
    "#);
    assert!(schema.check(&json!("text")).is_err());
}

#[test]
fn properties_without_required_require_all() {
    let source = json!({"properties": {"a": {"type": "bool"}, "b": {"type": "array"}}});
    let schema = parsed(&source);
    assert_eq!(schema.form(), Form::ObjectAllRequired);
    assert_eq!(schema.source(), &source);
    assert_eq!(
        schema.json_schema(),
        &json!({
            "type": "object",
            "properties": {"a": {"type": "boolean"}, "b": {"type": "array"}},
            "required": ["a", "b"],
        })
    );
    assert_eq!(schema.check(&json!({"a": true, "b": [], "more": 1})), Ok(()));
    assert!(schema.check(&json!({"a": true})).is_err());
    assert!(schema.check(&json!([])).is_err());
}

#[test]
fn properties_with_required_are_json_schema() {
    let schema = parsed(&json!({"properties": {"a": {"type": "string"}}, "required": []}));
    assert_eq!(schema.form(), Form::JsonSchema);
    assert_eq!(schema.check(&json!({})), Ok(()));
    assert!(schema.check(&json!({"a": 1})).is_err());
    assert!(schema.check(&json!("not an object")).is_err());
}

#[test]
fn the_three_forms_are_told_apart() {
    let cases = [
        (json!({"type": "string", "title": "string"}), Form::Flat),
        (json!({"format": "string"}), Form::Flat),
        (json!({"type": "string", "title": "A name"}), Form::JsonSchema),
        (json!({"type": "array", "items": {"type": "string"}}), Form::JsonSchema),
        (
            json!({"$schema": "https://json-schema.org/draft/2020-12/schema#", "type": "object"}),
            Form::JsonSchema,
        ),
        (json!({"enum": ["a", 1]}), Form::JsonSchema),
        (json!({"const": "a", "description": "x"}), Form::JsonSchema),
        (json!({"properties": {"type": {"type": "string"}}}), Form::ObjectAllRequired),
        (json!({"properties": {}, "additionalProperties": false}), Form::ObjectAllRequired),
    ];
    for (source, form) in cases {
        assert_eq!(parsed(&source).form(), form, "{source}");
        let text = Value::String(serde_json::to_string_pretty(&source).unwrap());
        let from_text = parsed(&text);
        assert_eq!((from_text.form(), from_text.source()), (form, &source));
    }
}

#[test]
fn nested_fields_items_and_choices_are_checked() {
    let schema = parsed(&json!({
        "type": "object",
        "required": ["user", "tags"],
        "properties": {
            "user": {
                "type": "object",
                "required": ["mail"],
                "properties": {"mail": {"type": "string", "format": "email"}},
            },
            "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": true},
            "id": {"$ref": "#/$defs/id"},
        },
        "$defs": {"id": {"type": "string", "pattern": "^[a-z]+$"}},
    }));
    assert_eq!(schema.form(), Form::JsonSchema);
    assert_eq!(
        schema.check(&json!({"user": {"mail": "a@b.de"}, "tags": ["a"], "id": "x"})),
        Ok(())
    );
    let wrong = json!({"user": {"mail": "secret text"}, "tags": ["a", "c", "a"], "id": "X/1"});
    insta::assert_snapshot!(schema.check(&wrong).unwrap_err().join("\n"), @r#"
    `/id`: the value does not match "^[a-z]+$"
    `/tags`: the value has non-unique elements
    `/tags/1`: the value is not one of "a" or "b"
    `/user/mail`: the value is not a "email"
    "#);
    insta::assert_snapshot!(schema.check(&json!({"user": {}})).unwrap_err().join("\n"), @r#"
    the top: "tags" is a required property
    `/user`: "mail" is a required property
    "#);
}

#[test]
fn whole_numbers_of_any_size_are_whole() {
    let schema = parsed(&json!({"id": "integer"}));
    for text in
        ["7615917337495251231", "18446744073709551616", "-170141183460469231731687303715884105729"]
    {
        let value: Value = serde_json::from_str(&format!("{{\"id\":{text}}}")).unwrap();
        assert_eq!(schema.check(&value), Ok(()), "{text}");
    }
    let value: Value = serde_json::from_str("{\"id\":18446744073709551616.5}").unwrap();
    assert!(schema.check(&value).is_err());
    let source: Value =
        serde_json::from_str(r#"{"maximum":18446744073709551616,"type":"integer"}"#).unwrap();
    let schema = parsed(&source);
    let holds = |text: &str| schema.check(&serde_json::from_str(text).unwrap()).is_ok();
    assert!(holds("18446744073709551616"));
    assert!(!holds("18446744073709551617"));
}

#[test]
fn causes_are_few_short_and_hold_no_values() {
    let schema = parsed(&json!({"type": "array", "items": {"type": "integer"}}));
    let causes = schema.check(&json!(vec!["secret"; 100])).unwrap_err();
    assert_eq!(causes.len(), CAUSES);
    assert!(causes.iter().all(|cause| !cause.contains("secret")));
    let schema = parsed(&json!({"a": "string"}));
    let wide: Value = (0..1000).map(|n| (format!("key{n}"), json!(1))).collect();
    let causes = schema.check(&wide).unwrap_err();
    assert!(causes.iter().all(|cause| cause.chars().count() < 2 * CAUSE_CHARS), "{causes:?}");
}

#[test]
fn a_pattern_that_would_take_for_ever_is_fast_or_refused() {
    let schema = parsed(&json!({"type": "string", "pattern": "^(a+)+$"}));
    assert!(schema.check(&json!("a".repeat(50_000) + "!")).is_err());
    assert!(Schema::parse(&json!({"type": "string", "pattern": "(a)\\1"})).is_err());
}

#[test]
fn a_schema_that_checks_nothing_or_is_broken_is_told_with_the_fix() {
    let cases = [
        json!({}),
        json!(""),
        json!("{}"),
        json!("true"),
        json!("false"),
        json!(true),
        json!(null),
        json!(7),
        json!([]),
        json!("string"),
        json!("{\"a\": \"string\""),
        json!({"type": "object"}),
        json!({"properties": {}}),
        json!({"title": "A", "description": "only words"}),
        json!({"$defs": {"a": {"type": "string"}}}),
        json!({"a": "string", "b": "strng"}),
        json!({"a": "string", "b": "text"}),
        json!({"a": {"type": "string"}}),
        json!({"properties": {"a": {"type": "string"}}, "requird": ["a"]}),
        json!({"type": "array", "items": {"nullable": true}}),
        json!({"type": "array", "x-order": 1, "items": {"anyOf": [{"typ": "string"}]}}),
        json!({"type": "strin", "minLength": 1}),
        json!({"properties": {"a": "string"}}),
        json!({"type": "string", "format": "nosuch"}),
        json!({"type": "string", "pattern": "("}),
        json!({"$ref": "https://example.com/schema.json"}),
        json!({"$ref": "file:///etc/passwd"}),
        json!({"$ref": "#/$defs/missing"}),
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}),
    ];
    let mut out = String::new();
    for source in cases {
        let error =
            Schema::parse(&source).map(|schema| schema.form()).expect_err(&source.to_string());
        let fix = error.suggestion.as_deref().unwrap_or("-");
        out += &format!("{source}\n    {error}\n    fix: {fix}\n");
    }
    insta::assert_snapshot!(out);
}

#[test]
fn a_schema_in_a_text_is_nested_no_deeper_than_a_mapping() {
    let deep = |levels: usize| {
        let inside = "{\"properties\":{\"a\":".repeat(levels);
        Value::from(format!("{inside}{{\"type\":\"string\"}}{}", "}}".repeat(levels)))
    };
    assert!(Schema::parse(&deep(30)).is_ok());
    let error = Schema::parse(&deep(40)).unwrap_err();
    assert_eq!(error.message, "the schema is nested more than 64 deep");
}
