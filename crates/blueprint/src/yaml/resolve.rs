//! What a plain scalar means. The table is small on purpose: a word that
//! older YAML turned into a boolean or a number stays the text that was
//! written.

use std::borrow::Cow;

use serde_json::Number;

use super::Data;

/// The value of a scalar that has no quotes.
pub(super) fn plain(text: Cow<'_, str>) -> Data<'_> {
    match &*text {
        "" | "~" | "null" => Data::Null,
        "true" => Data::Bool(true),
        "false" => Data::Bool(false),
        _ => match number(&text) {
            Some(number) => Data::Number(number),
            None => Data::Text(text),
        },
    }
}

/// A number in the grammar of JSON, which has no leading zeros, signs of
/// plus, underscores or sexagesimals.
fn number(text: &str) -> Option<Number> {
    let first = text.bytes().next()?;
    if first != b'-' && !first.is_ascii_digit() {
        return None;
    }
    // A magnitude beyond what any reader of JSON can hold is kept as text.
    if !text.parse::<f64>().ok()?.is_finite() {
        return None;
    }
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_older_yaml_are_texts() {
        for word in [
            "NO",
            "no",
            "yes",
            "on",
            "off",
            "Y",
            "n",
            "True",
            "FALSE",
            "Null",
            "NULL",
            "012",
            "0o7",
            "0x1F",
            "1_000",
            "15:00",
            "+5",
            ".5",
            "5.",
            ".inf",
            "-.inf",
            ".nan",
            "NaN",
            "inf",
            "-",
            "-inf",
            "1e",
            "- 1",
            "2026-11-30",
            "1.2.3",
            "1e999",
        ] {
            assert_eq!(plain(word.into()), Data::Text(word.into()), "{word}");
        }
    }

    #[test]
    fn numbers_keep_their_digits() {
        for digits in ["0", "-0", "5", "-12", "1.50", "1e+3", "123456789012345678901234567890"] {
            let Data::Number(number) = plain(digits.into()) else { panic!("{digits}") };
            assert_eq!(number.to_string(), digits);
        }
    }

    #[test]
    fn nothing_true_and_false_have_one_spelling_each() {
        assert_eq!(plain("".into()), Data::Null);
        assert_eq!(plain("~".into()), Data::Null);
        assert_eq!(plain("null".into()), Data::Null);
        assert_eq!(plain("true".into()), Data::Bool(true));
        assert_eq!(plain("false".into()), Data::Bool(false));
    }
}
