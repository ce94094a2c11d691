//! What an agent answered: from its text to an output or a choice. The one
//! place that reads replies, whatever the provider.

use blueprint::PortName;
use serde_json::{Value, json};

/// A text read as JSON.
#[derive(Debug)]
pub enum Json {
    Value(Value),
    /// JSON but for lone surrogates (`"\ud83d"`), which no Rust string can
    /// hold. The text is kept as it is.
    LoneSurrogate,
    Invalid(serde_json::Error),
}

/// Reads a text as JSON, telling lone surrogates from other mistakes.
pub fn read_json(text: &str) -> Json {
    match serde_json::from_str(text) {
        Ok(value) => Json::Value(value),
        Err(error) => match mend_surrogates(text) {
            Some(mended) if serde_json::from_str::<Value>(&mended).is_ok() => Json::LoneSurrogate,
            Some(_) | None => Json::Invalid(error),
        },
    }
}

/// The output in a reply: the last fenced JSON block, else the whole reply
/// as a JSON object or array, else `{"text": …}`.
pub fn output(text: &str) -> Value {
    let fenced = fenced_json(text).into_iter().rev();
    let found = fenced.chain([text.trim()]).find_map(|candidate| match read_json(candidate) {
        Json::Value(value @ (Value::Object(_) | Value::Array(_))) => Some(value),
        Json::LoneSurrogate => Some(json!({ "text": candidate, "invalid_json": true })),
        Json::Value(_) | Json::Invalid(_) => None,
    });
    found.unwrap_or_else(|| json!({ "text": text }))
}

/// The choice in a reply: a JSON object with `chosen`, or a last non-empty
/// line that is one choice, apart from quotes, emphasis and final
/// punctuation. Never a part of a line: "disapprove" is not "approve".
pub fn choice(text: &str, choices: &[PortName]) -> Option<(PortName, Option<String>)> {
    let find = |word: &str| {
        let exact = choices.iter().find(|choice| choice.as_str() == word);
        let loose = || choices.iter().find(|choice| choice.as_str().eq_ignore_ascii_case(word));
        exact.or_else(loose).cloned()
    };
    let object = output(text);
    if let Some(chosen) = object.get("chosen") {
        let reason = object.get("reason").and_then(Value::as_str).map(str::to_owned);
        return Some((find(chosen.as_str()?.trim())?, reason));
    }
    let last = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    Some((find(bare(last))?, None))
}

/// A line without the marks that people and models put around a word.
fn bare(line: &str) -> &str {
    let mark = |c: char| matches!(c, '"' | '\'' | '`' | '*' | '_' | '“' | '”' | '‘' | '’');
    let end = |c: char| matches!(c, '.' | '!' | ',' | ';' | ':');
    let mut word = line;
    loop {
        let next = word.trim().trim_end_matches(end);
        let wrapped =
            next.chars().next().is_some_and(mark) && next.chars().last().is_some_and(mark);
        let next =
            if wrapped { next.trim_start_matches(mark).trim_end_matches(mark) } else { next };
        if next == word {
            return word;
        }
        word = next;
    }
}

/// The contents of the blocks fenced as JSON, in order.
fn fenced_json(text: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, usize, bool)> = None;
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        let ticks = bare.len() - bare.trim_start_matches('`').len();
        match open {
            None if ticks >= 3 => {
                let json = bare.trim_start_matches('`').trim().eq_ignore_ascii_case("json");
                open = Some((ticks, offset + line.len(), json));
            }
            Some((width, start, json)) if ticks >= width && bare.len() == ticks => {
                if json {
                    blocks.push(&text[start..offset]);
                }
                open = None;
            }
            None | Some(_) => {}
        }
        offset += line.len();
    }
    blocks
}

/// The text with each lone surrogate escape replaced, if it has any.
fn mend_surrogates(text: &str) -> Option<String> {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    let mut found = false;
    while let Some(at) = rest.find('\\') {
        let (before, tail) = rest.split_at(at);
        mended.push_str(before);
        let taken = match (unit(tail), tail.get(6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                found = true;
                mended.push_str("\\ufffd");
                rest = &tail[6..];
                continue;
            }
            _ => tail.char_indices().nth(2).map_or(tail.len(), |(end, _)| end),
        };
        mended.push_str(&tail[..taken]);
        rest = &tail[taken..];
    }
    mended.push_str(rest);
    found.then_some(mended)
}

/// The code unit of a `\uXXXX` at the start of `text`.
fn unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::{Config, RngSeed};

    use super::*;

    fn ports(words: &[&str]) -> Vec<PortName> {
        words.iter().map(|word| PortName::new(word)).collect()
    }

    fn chosen(text: &str) -> Option<String> {
        choice(text, &ports(&["approve", "reject"])).map(|(port, _)| port.as_str().to_owned())
    }

    #[test]
    fn e10_a_choice_is_never_found_inside_another_word() {
        for text in ["disapprove", "I do not approve", "approve or reject?", "", "approved"] {
            assert_eq!(chosen(text), None, "{text}");
        }
    }

    #[test]
    fn a_choice_is_the_last_line_without_its_marks() {
        for text in [
            "approve",
            "Thinking about reject…\n\n**Approve**.\n",
            "\"approve\"",
            "`approve`!",
            "{\"chosen\":\"approve\",\"reason\":\"x\"}",
            "```json\n{\"chosen\": \"approve\"}\n```",
        ] {
            assert_eq!(chosen(text).as_deref(), Some("approve"), "{text}");
        }
    }

    #[test]
    fn a_chosen_word_that_is_no_choice_is_no_choice() {
        assert_eq!(chosen("{\"chosen\":\"maybe\"}"), None);
        assert_eq!(chosen("```json\n{\"chosen\":\"maybe\"}\n```\napprove"), None);
        assert_eq!(chosen("{\"chosen\":1}"), None);
    }

    #[test]
    fn the_last_fenced_block_is_the_output() {
        let text = "```json\n{\"a\":1}\n```\nbetter:\n```JSON\n{\"a\":2}\n```\nbye";
        assert_eq!(output(text), json!({"a": 2}));
        assert_eq!(output("{\"a\":3}"), json!({"a": 3}));
        assert_eq!(output("plain"), json!({"text": "plain"}));
        assert_eq!(output("42"), json!({"text": "42"}));
        assert_eq!(output("```json\nnot json\n```\n"), json!({"text": "```json\nnot json\n```\n"}));
    }

    #[test]
    fn j_02_a_lone_surrogate_is_kept_and_marked() {
        let text = r#"{"title":"\ud83d broken"}"#;
        assert_eq!(output(text), json!({"text": text, "invalid_json": true}));
        assert!(matches!(read_json(r#"["\ud83d\ude00"]"#), Json::Value(_)));
        assert!(matches!(read_json(r#"["\\ud83d"]"#), Json::Value(_)));
        assert!(matches!(read_json(r#"["\ud83d"#), Json::Invalid(_)));
    }

    #[test]
    fn j_01_every_digit_of_a_number_survives() {
        let text = r#"{"p":7615917337495251231,"q":18446744073709551616}"#;
        assert_eq!(output(text).to_string(), text);
    }

    fn config() -> Config {
        let rng_seed = RngSeed::Fixed(10);
        Config { cases: 512, rng_seed, failure_persistence: None, ..Config::default() }
    }

    /// Texts made of what replies are made of, and of what breaks readers.
    fn reply() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("approve".to_owned()),
            Just("reject".to_owned()),
            Just("dis".to_owned()),
            Just("```json\n".to_owned()),
            Just("\n```\n".to_owned()),
            Just("````".to_owned()),
            Just("{\"chosen\":\"".to_owned()),
            Just("\"}".to_owned()),
            Just("\\ud83d".to_owned()),
            Just("\\u".to_owned()),
            Just("\n".to_owned()),
            "[\"'`*_.!,;:“’ é🙂\\\\]{0,4}",
            ".{0,6}",
        ];
        proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(config())]

        #[test]
        fn any_text_is_read(text in reply()) {
            let found = output(&text);
            assert!(found.is_object() || found.is_array());
        }

        #[test]
        fn a_choice_is_one_of_the_choices_and_stands_alone(text in reply()) {
            let words = ["approve", "reject"];
            let Some((port, _)) = choice(&text, &ports(&words)) else { return Ok(()) };
            assert!(words.contains(&port.as_str()));
            let lower = text.to_ascii_lowercase();
            let alone = |(at, word): (usize, &str)| {
                let beside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
                let (before, after) = (&lower[..at], &lower[at + word.len()..]);
                !beside(before.chars().next_back()) && !beside(after.chars().next())
            };
            assert!(lower.match_indices(port.as_str()).any(alone), "{text}");
        }

        #[test]
        fn no_choices_give_no_choice(text in reply()) {
            assert_eq!(choice(&text, &[]), None);
        }
    }
}
