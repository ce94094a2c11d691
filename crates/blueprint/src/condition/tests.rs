//! Conditions by example.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{NodeId, Root};

mod agreement;
mod expressions;
mod harm;
mod refusals;

struct Trigger(Value);

impl Scope for Trigger {
    fn value(&self, root: &Root) -> Option<&Value> {
        (*root == Root::Trigger).then_some(&self.0)
    }

    fn file(&self, _: &str) -> String {
        String::new()
    }
}

fn eval(source: &str, value: &str) -> Result<bool, TemplateError> {
    let value: Value = serde_json::from_str(value).unwrap();
    Condition::parse(source).unwrap().eval(&Trigger(value))
}

#[test]
fn a_bare_path_has_the_truth_of_the_reference() {
    let cases = [
        ("true", true),
        ("false", false),
        ("null", false),
        ("\"\"", false),
        ("\"false\"", true),
        ("\"0\"", true),
        ("0", false),
        ("-0", false),
        ("0.000", false),
        ("0e9", false),
        ("0.1", true),
        ("18446744073709551616", true),
        ("[]", true),
        ("{}", true),
    ];
    for (value, truth) in cases {
        assert_eq!(eval(" trigger.output ", value), Ok(truth), "{value}");
    }
    assert_eq!(eval("trigger.output.a.b", "{}"), Ok(false));
    assert_eq!(eval("storage.a", "{}"), Ok(false));
}

#[test]
fn a_checker_can_tell_a_bare_path() {
    let bare = Condition::parse("nodes.a.output.done").unwrap();
    assert_eq!(bare.bare_path().unwrap().root, Root::Output(NodeId::new("a")));
    let compared = Condition::parse("nodes.a.output.done == true").unwrap();
    assert!(compared.bare_path().is_none());
}

#[test]
fn paths_have_their_ranges_in_the_source() {
    let source = " nodes.a.output.x[\"k\"]  <=\ttrigger.output.y ";
    let condition = Condition::parse(source).unwrap();
    let spelled: Vec<&str> = condition.paths().map(|path| &source[path.range.clone()]).collect();
    assert_eq!(spelled, ["nodes.a.output.x[\"k\"]", "trigger.output.y"]);
    assert_eq!(condition.source(), source);
}

#[test]
fn comparisons_mean_what_they_mean_in_cel() {
    let cases = [
        ("trigger.output == 1", "1.0", true),
        ("trigger.output == 1.0", "1", true),
        ("trigger.output == 0.1", "0.10000000000000000001", true),
        ("trigger.output == 9007199254740993", "9007199254740993", true),
        ("trigger.output == 9007199254740993", "9007199254740992.0", false),
        ("trigger.output > 9007199254740992.0", "9007199254740993", true),
        ("trigger.output > 9223372036854775807", "18446744073709551616", true),
        ("trigger.output < 1e300", "18446744073709551616", true),
        ("trigger.output < 3", "2.9", true),
        ("trigger.output >= -3", "-2.5", true),
        ("trigger.output < -2", "-2.5", true),
        ("trigger.output==-0", "0.0", true),
        ("trigger.output == \"a\"", "\"a\"", true),
        ("'b' > trigger.output", "\"a\"", true),
        ("trigger.output < 'a'", "\"B\"", true),
        ("trigger.output > '\\uffff'", "\"\u{1F600}\"", true),
        ("trigger.output == 'it\\'s \\\"\\\\\\n'", "\"it's \\\"\\\\\\n\"", true),
        ("trigger.output == '1'", "1", false),
        ("trigger.output != '1'", "1", true),
        ("trigger.output == false", "0", false),
        ("trigger.output == null", "null", true),
        ("trigger.output != null", "[]", true),
        ("trigger.output < true", "false", true),
        ("trigger.output.a == trigger.output.b", r#"{"a":[1,{"x":2}],"b":[1.0,{"x":2e0}]}"#, true),
        ("trigger.output.a == trigger.output.b", r#"{"a":[1],"b":[1,2]}"#, false),
        ("trigger.output.a == trigger.output.b", r#"{"a":{"x":1},"b":{"y":1}}"#, false),
        ("1 < 2", "0", true),
    ];
    for (source, value, holds) in cases {
        assert_eq!(eval(source, value), Ok(holds), "{source} with {value}");
    }
}

#[test]
fn a_missing_path_in_a_comparison_is_unresolved() {
    let error = eval("trigger.output.cout > 1", r#"{"count": 2}"#).unwrap_err();
    insta::assert_snapshot!(error, @r#"unresolved {{trigger.output.cout}}: `trigger.output` has no `cout`, it has `count`; did you mean `count`?"#);
}

#[test]
fn what_has_no_order_is_told() {
    let error = eval("trigger.output > 1", "\"2\"").unwrap_err();
    insta::assert_snapshot!(error, @r#"`trigger.output > 1` cannot be decided: a string and a number have no order; only two numbers, two strings or two booleans have one"#);
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        any::<u128>().prop_map(|n| n.to_string()),
        (-5..5_i32, 0..10_u32).prop_map(|(whole, tenth)| format!("{whole}.{tenth}")),
        any::<f64>()
            .prop_filter("JSON has no others", |n| n.is_finite())
            .prop_map(|n| format!("{n:e}")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_order_of_numbers_is_one_order(a in number(), b in number(), c in number()) {
        let json = format!("{{\"a\":{a},\"b\":{b},\"c\":{c}}}");
        let holds = |source: &str| eval(source, &json).unwrap();
        let path = |x: &str, op: &str, y: &str| holds(&format!("trigger.output.{x} {op} trigger.output.{y}"));
        prop_assert!(path("a", "==", "a"));
        let (less, equal, more) = (path("a", "<", "b"), path("a", "==", "b"), path("a", ">", "b"));
        prop_assert_eq!(u8::from(less) + u8::from(equal) + u8::from(more), 1);
        prop_assert_eq!(path("a", "<=", "b"), less || equal);
        prop_assert_eq!(path("a", "!=", "b"), !equal);
        prop_assert_eq!(path("b", ">", "a"), less);
        if path("a", "<=", "b") && path("b", "<=", "c") {
            prop_assert!(path("a", "<=", "c"));
        }
    }

}

#[test]
fn a_number_beyond_doubles_is_still_in_order() {
    let value = json!({});
    assert_eq!(Condition::parse("1e308 > 1").unwrap().eval(&Trigger(value)), Ok(true));
    assert_eq!(eval("trigger.output > 9223372036854775807", "1e400"), Ok(true));
    assert_eq!(eval("trigger.output < -9223372036854775808", "-1e400"), Ok(true));
}
