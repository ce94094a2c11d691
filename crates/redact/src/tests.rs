//! The laws of masking, and the cases that people meet.

use durable::Sealed;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{Masker, form};

fn masker(values: &[(&str, &str)]) -> Masker {
    Masker::known_only(
        values.iter().map(|(name, value)| ((*name).to_owned(), Sealed::new((*value).to_owned()))),
    )
}

fn masked(values: &[(&str, &str)], text: &str) -> String {
    masker(values).mask_text(text).0
}

#[test]
fn each_occurrence_gives_way_to_the_name() {
    let masker = masker(&[("api", "hunter22"), ("db", "correct horse")]);
    assert_eq!(
        masker.mask_text("a hunter22 b correct horse c hunter22"),
        ("a [redacted:api] b [redacted:db] c [redacted:api]".to_owned(), 3)
    );
}

#[test]
fn encoded_occurrences_give_way_too() {
    let values = [("api", "pass/word+1")];
    for (text, expected) in [
        // The digits at the ends are shared with the neighbours and stay.
        ("Basic dXNlcjpwYXNzL3dvcmQrMQ==", "Basic dXNlcjp[redacted:api]Q=="),
        ("url=pass%2Fword%2B1&x", "url=[redacted:api]&x"),
        ("706173732f776f72642b31", "[redacted:api]"),
        (r#"{"k":"pass\/word+1"}"#, r#"{"k":"[redacted:api]"}"#),
    ] {
        assert_eq!(masker(&values).mask_text(text), (expected.to_owned(), 1));
    }
}

#[test]
fn neighbours_stay_two_marks_and_overlaps_become_one() {
    let values = [("a", "abcdef"), ("b", "defghi"), ("long", "abcdefgh-long")];
    assert_eq!(masked(&values, "abcdefdefghi"), "[redacted:a][redacted:b]");
    assert_eq!(masked(&values, "xabcdefghix"), "x[redacted:a]x");
    assert_eq!(masked(&values, "abcdefgh-long"), "[redacted:long]");
    assert_eq!(masked(&values, "abcdefgh-lon"), "[redacted:a]gh-lon");
}

#[test]
fn a_value_inside_its_own_repetition_leaves_nothing() {
    assert_eq!(masked(&[("a", "aaaaaa")], "baaaaaaaaab"), "b[redacted:a]b");
}

#[test]
fn brackets_of_a_mark_never_complete_a_value() {
    let values = [("a", "hunter22"), ("b", "]opened"), ("c", "closed["), ("d", "x[redacted:a]y")];
    let once = masked(&values, "hunter22opened closedhunter22 xhunter22y");
    assert_eq!(once, "[redacted:a][redacted:b] [redacted:c][redacted:a] x[redacted:a]y");
    assert_eq!(masked(&values, &once), once);
}

#[test]
fn a_name_never_shows_a_value() {
    let values = [("github_token", "ghp_16C7e42F292c"), ("user", "github")];
    assert_eq!(masked(&values, "github ghp_16C7e42F292c"), "[redacted:user] [redacted:1]");
}

#[test]
fn a_value_of_a_few_bytes_is_left_alone() {
    let masker = masker(&[("a", ""), ("b", "12345"), ("c", "  1234 \n")]);
    let text = "12345 and 1234 stay";
    assert_eq!(masker.mask_text(text), (text.to_owned(), 0));
}

#[test]
fn a_value_read_from_a_file_is_found_without_its_newline() {
    assert_eq!(masked(&[("a", "hunter22\n")], "<hunter22>"), "<[redacted:a]>");
}

#[test]
fn the_lines_of_a_key_and_the_secret_fields_of_a_document_are_known_too() {
    let key = "MIIEvQIBADANBgkq\nhkiG9w0BAQMIIEvQ\n";
    let document = r#"{"user":"deployment","password":"hunter22"}"#;
    assert_eq!(
        masked(&[("key", key), ("db", document)], "hkiG9w0BAQMIIEvQ deployment hunter22"),
        "[redacted:key] deployment [redacted:db]"
    );
}

#[test]
fn json_is_masked_in_strings_keys_and_numbers() {
    let masker = masker(&[("a", "hunter22"), ("pin", "12345678")]);
    let value = json!({
        "hunter22": ["x hunter22", true, null, 1.5, 12345678],
        "aHVudGVyMj": { "deep": [["hunter22hunter22"]] },
        "[redacted:a]": "kept",
        "plain": "{\"k\":\"hunter22\"}",
    });
    let (out, hits) = masker.mask_json(&value);
    assert_eq!(
        out,
        json!({
            "[redacted:a]#2": { "deep": [["[redacted:a][redacted:a]"]] },
            "[redacted:a]#3": ["x [redacted:a]", true, null, 1.5, "[redacted:pin]"],
            "[redacted:a]": "kept",
            "plain": "{\"k\":\"[redacted:a]\"}",
        })
    );
    assert_eq!(hits, 7);
    assert_eq!(masker.mask_json(&out), (out, 0));
}

#[test]
fn a_stream_gives_plain_text_at_once_and_holds_back_only_what_may_be_a_value() {
    let masker = masker(&[("a", "hunter22")]);
    let mut stream = masker.stream();
    assert_eq!(stream.push(b"a line\n"), b"a line\n");
    assert_eq!(stream.push(b"with hunt"), b"");
    assert_eq!(stream.push(b"er2"), b"");
    assert_eq!(stream.push(b"2, and on\n"), b"with [redacted:a], and on\n");
    assert_eq!(stream.push(b"hun"), b"");
    assert_eq!(stream.finish(), b"hun");
    assert_eq!(stream.hits(), 1);
    assert_eq!(stream.push(b"ter22\n"), b"ter22\n", "a new stream begins after the end");
}

#[test]
fn a_stream_cuts_no_character_and_passes_what_is_no_text() {
    for masker in [Masker::default(), masker(&[("a", "hunter22")])] {
        let mut stream = masker.stream();
        assert_eq!(stream.push("\n…".as_bytes().split_at(2).0), b"\n");
        assert_eq!(stream.push(&"…".as_bytes()[1..]), "…".as_bytes());
        assert_eq!(stream.push(b"\xff\x80\x80\x80\n"), b"\xff\x80\x80\x80\n");
        assert_eq!(stream.push(b"\n\xe2"), b"\n");
        assert_eq!(stream.finish(), b"\xe2");
    }
}

#[test]
fn debug_shows_marks_and_no_value() {
    let masker = masker(&[("api", "hunter22")]);
    let mut stream = masker.stream();
    stream.push(b"hunter2");
    let shown = format!("{masker:?} {stream:?}");
    assert!(shown.contains("[redacted:api]"), "{shown}");
    assert!(!shown.contains("hunter"), "{shown}");
}

#[test]
fn a_masker_without_values_leaves_what_is_no_secret() {
    let value = json!({"a": ["b", 1]});
    assert_eq!(
        Masker::default().mask_text("any [redacted:x] text"),
        ("any [redacted:x] text".to_owned(), 0)
    );
    assert_eq!(Masker::default().mask_json(&value), (value, 0));
}

/// Base64 written here a second time, so that the crate does not check itself.
fn base64(bytes: &[u8], url: bool) -> String {
    let bits: String = bytes.iter().map(|byte| format!("{byte:08b}")).collect();
    let digits: Vec<char> = ('A'..='Z')
        .chain('a'..='z')
        .chain('0'..='9')
        .chain(if url { ['-', '_'] } else { ['+', '/'] })
        .collect();
    bits.as_bytes()
        .chunks(6)
        .map(|six| {
            let six = format!("{:0<6}", String::from_utf8_lossy(six));
            digits[usize::from_str_radix(&six, 2).unwrap()]
        })
        .collect()
}

/// Values over a few signs, so that they overlap, nest and touch marks.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab]{4,9}",
        "[ab\\[\\]]{4,10}",
        "[a-c\\\\\"/ %é🔑]{3,9}",
        "[!-~]{6,20}",
        "(redacted|\\[redacted|n0|d:n1\\]ab|ted:1\\]|ted:2)[ab]{0,6}",
    ]
}

fn values() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(value(), 0..4)
}

/// A text made of plain pieces, values, and encoded values in some context.
fn text(values: Vec<String>) -> impl Strategy<Value = String> {
    let pick = if values.is_empty() { vec!["none-known".to_owned()] } else { values };
    let piece = (prop::sample::select(pick), 0..10_u8, "[ab\\[\\]]{0,3}").prop_map(
        |(value, way, plain)| match way {
            0..=2 => value,
            3 => value[..value.floor_char_boundary(value.len() / 2)].to_owned(),
            4 => base64(format!("{plain}{value}{plain}").as_bytes(), false),
            5 => base64(format!("{plain}{value}").as_bytes(), true),
            6 => serde_json::to_string(&value).unwrap(),
            7 => value.bytes().map(|byte| format!("{byte:02X}")).collect(),
            8 => format!("[redacted:n0]{plain}"),
            _ => plain,
        },
    );
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn case() -> impl Strategy<Value = (Vec<String>, String)> {
    values().prop_flat_map(|values| (Just(values.clone()), text(values)))
}

fn masker_of(values: &[String]) -> Masker {
    Masker::known_only(
        values
            .iter()
            .enumerate()
            .map(|(index, value)| (format!("n{index}"), Sealed::new(value.clone()))),
    )
}

fn forms_of(values: &[String]) -> Vec<String> {
    values.iter().filter_map(|value| form::bare(value)).flat_map(form::forms).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn no_form_of_a_known_value_comes_out((values, text) in case()) {
        let (out, hits) = masker_of(&values).mask_text(&text);
        let forms = forms_of(&values);
        for form in &forms {
            prop_assert!(!out.contains(form), "{form:?} of {values:?} in {out:?}");
        }
        prop_assert_eq!(hits > 0, forms.iter().any(|form| text.contains(form)));
    }

    #[test]
    fn masking_twice_changes_nothing_more((values, text) in case()) {
        let masker = masker_of(&values);
        let (once, _) = masker.mask_text(&text);
        prop_assert_eq!(masker.mask_text(&once), (once, 0));
    }

    #[test]
    fn how_a_stream_is_cut_does_not_show(
        (values, text) in case(),
        cuts in prop::collection::vec(1..9_usize, 1..20),
    ) {
        let masker = masker_of(&values);
        let mut stream = masker.stream();
        let mut out = Vec::new();
        let mut rest = text.as_bytes();
        for cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at((*cut).min(rest.len()));
            let ready = stream.push(piece);
            prop_assert!(std::str::from_utf8(&ready).is_ok());
            out.extend(ready);
            rest = after;
        }
        out.extend(stream.finish());
        let (whole, hits) = masker.mask_text(&text);
        prop_assert_eq!(String::from_utf8(out).unwrap(), whole);
        prop_assert_eq!(stream.hits(), hits);
    }

    #[test]
    fn bytes_without_a_value_pass_unchanged(
        pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..6),
    ) {
        let masker = masker(&[("a", "hunter22-hunter22")]);
        let mut stream = masker.stream();
        let mut out: Vec<u8> = pieces.iter().flat_map(|piece| stream.push(piece)).collect();
        out.extend(stream.finish());
        prop_assert_eq!(out, pieces.concat());
        prop_assert_eq!(stream.hits(), 0);
    }

    #[test]
    fn json_comes_out_with_its_shape_and_without_values((values, text) in case()) {
        let masker = masker_of(&values);
        let value = json!({ text.as_str(): [text.as_str()], "other": { "k": text.as_str() } });
        let (out, hits) = masker.mask_json(&value);
        prop_assert_eq!(masker.mask_json(&out), (out.clone(), 0));
        prop_assert_eq!(hits, 3 * masker.mask_text(&text).1);
        let (masked, _) = masker.mask_text(&text);
        prop_assert_eq!(&out["other"]["k"], &Value::String(masked.clone()));
        prop_assert_eq!(&out[&masked][0], &Value::String(masked));
    }
}
