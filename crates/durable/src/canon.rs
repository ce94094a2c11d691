//! Canonical JSON, so that equal documents have equal bytes and one digest.
//!
//! The form is RFC 8785 (JCS): no white space, keys ordered by their UTF-16
//! code units, strings with the shortest escapes and no Unicode
//! normalisation, numbers as ECMAScript prints a double. There are two
//! departures, so that no two documents that say different things share a
//! digest for want of digits:
//!
//! - a number that is written as an integer (no fraction, no exponent) and
//!   lies beyond ±2^53 keeps all its digits;
//! - a number too large for a double keeps its own text.

use std::cmp::Ordering;
use std::fmt::Write as _;

use serde_json::{Number, Value};

use crate::Digest;

/// Up to here every integer is a double of its own.
const EXACT: u64 = 1 << 53;

/// The canonical text of `value`.
pub fn to_canonical(value: &Value) -> String {
    let mut out = String::new();
    write_value(&mut out, value);
    out
}

/// The digest of the canonical text of `value`.
pub fn digest(value: &Value) -> Digest {
    Digest::of(to_canonical(value).as_bytes())
}

fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(out, number),
        Value::String(text) => write_string(out, text),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_value(out, item);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut fields: Vec<_> = map.iter().collect();
            fields.sort_by(|(a, _), (b, _)| by_utf16(a, b));
            out.push('{');
            for (at, (key, item)) in fields.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_string(out, key);
                out.push(':');
                write_value(out, item);
            }
            out.push('}');
        }
    }
}

/// The order of the code units in UTF-16, which for ASCII is that of the bytes.
fn by_utf16(a: &str, b: &str) -> Ordering {
    match a.is_ascii() && b.is_ascii() {
        true => a.cmp(b),
        false => a.encode_utf16().cmp(b.encode_utf16()),
    }
}

fn write_number(out: &mut String, number: &Number) {
    let text = number.as_str();
    if is_large_integer(text) {
        return out.push_str(text);
    }
    match text.parse::<f64>() {
        Ok(double) if double.is_finite() => {
            out.push_str(ryu_js::Buffer::new().format_finite(double));
        }
        Ok(_) | Err(_) => out.push_str(text),
    }
}

/// Whether `text` is an integer without fraction or exponent whose magnitude
/// is greater than 2^53.
fn is_large_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.bytes().all(|byte| byte.is_ascii_digit())
        && digits.parse::<u64>().map_or(true, |magnitude| magnitude > EXACT)
}

/// A JSON string with the escapes of RFC 8785: the two-character ones where
/// they exist, `\u00xx` for other control characters, nothing else.
fn write_string(out: &mut String, text: &str) {
    out.push('"');
    // Most texts have nothing to escape.
    if !text.bytes().any(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f)) {
        out.push_str(text);
        return out.push('"');
    }
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\0'..='\u{1f}' => {
                write!(out, "\\u{:04x}", u32::from(c)).expect("writing to a string cannot fail");
            }
            ' '.. => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> String {
        to_canonical(&serde_json::from_str(text).unwrap())
    }

    fn of_double(bits: u64) -> String {
        let double = f64::from_bits(bits);
        to_canonical(&serde_json::from_str(&format!("{double:e}")).unwrap())
    }

    #[test]
    fn the_example_of_the_rfc_comes_out_as_printed_there() {
        let text = r#"{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],
            "string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}"#;
        let want = concat!(
            r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"#,
            r#""string":"€$\u000f\nA'B\"\\\\\"/"}"#
        );
        assert_eq!(canonical(text), want);
    }

    #[test]
    fn keys_are_ordered_by_utf_16_code_units_not_by_code_points() {
        let text = r#"{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude02":5,"\u0080":6,"\u00f6":7}"#;
        let want = "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"ö\":7,\"€\":1,\"😂\":5,\"\u{fb33}\":3}";
        assert_eq!(canonical(text), want);
    }

    #[test]
    fn text_is_not_normalised() {
        assert_eq!(canonical(r#""A\u030a""#), "\"A\u{30a}\"");
        assert_ne!(canonical(r#""A\u030a""#), canonical(r#""\u00c5""#));
    }

    #[test]
    fn doubles_print_as_in_the_table_of_the_rfc() {
        let table = [
            (0x0000_0000_0000_0000, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5555, "333333333.3333333"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        ];
        for (bits, want) in table {
            assert_eq!(of_double(bits), want, "{bits:016x}");
        }
    }

    #[test]
    fn integers_beyond_two_to_the_53_keep_every_digit() {
        assert_eq!(canonical("9007199254740992"), "9007199254740992");
        assert_eq!(canonical("9007199254740993"), "9007199254740993");
        assert_eq!(canonical("-9007199254740993"), "-9007199254740993");
        let huge = "123456789012345678901234567890123456789012345678901234567890";
        assert_eq!(canonical(huge), huge);
        let digest_of = |text: &str| digest(&serde_json::from_str(text).unwrap());
        assert_ne!(digest_of("9007199254740992"), digest_of("9007199254740993"));
        assert_ne!(digest_of("18446744073709551616"), digest_of("18446744073709551617"));
    }

    #[test]
    fn small_integers_and_decimals_have_one_form() {
        for same in ["1", "1.0", "1.000", "1e0", "0.1e1", "10E-1"] {
            assert_eq!(canonical(same), "1", "{same}");
        }
        assert_eq!(canonical("-0"), "0");
        assert_eq!(canonical("-0.0"), "0");
        assert_eq!(canonical("1e-400"), "0");
    }

    #[test]
    fn a_number_that_no_double_holds_keeps_its_text() {
        let kept = canonical("1e400");
        assert!(kept.eq_ignore_ascii_case("1e400") || kept == "1e+400", "{kept}");
        assert_ne!(canonical("1e400"), canonical("1e401"));
    }

    #[test]
    fn the_digest_is_that_of_the_canonical_bytes() {
        let value = serde_json::json!({"b": 1, "a": [true]});
        assert_eq!(digest(&value), Digest::of(br#"{"a":[true],"b":1}"#));
    }

    mod laws {
        use super::*;
        use proptest::prelude::*;

        fn json() -> impl Strategy<Value = Value> {
            let leaf = prop_oneof![
                Just(Value::Null),
                any::<bool>().prop_map(Value::from),
                any::<i64>().prop_map(Value::from),
                any::<u64>().prop_map(Value::from),
                any::<f64>().prop_map(Value::from),
                any::<String>().prop_map(Value::from),
            ];
            leaf.prop_recursive(4, 32, 6, |inner| {
                prop_oneof![
                    prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                    prop::collection::btree_map(any::<String>(), inner, 0..6)
                        .prop_map(|map| map.into_iter().collect()),
                ]
            })
        }

        proptest! {
            #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

            #[test]
            fn canonical_text_is_json_and_canonical_already(value in json()) {
                let text = to_canonical(&value);
                let again: Value = serde_json::from_str(&text).unwrap();
                prop_assert_eq!(to_canonical(&again), text);
            }

            #[test]
            fn white_space_and_order_do_not_count(value in json()) {
                let pretty = serde_json::to_string_pretty(&value).unwrap();
                let again: Value = serde_json::from_str(&pretty).unwrap();
                prop_assert_eq!(digest(&again), digest(&value));
            }
        }
    }
}
