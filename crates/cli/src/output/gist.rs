//! The gist of a value in one short line. Pure.

use serde_json::Value;

use super::escape;

/// What an output says, in at most `width` characters.
pub(crate) fn gist(value: &Value, width: usize) -> String {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    if let Some(stdout) = text("stdout") {
        return streams(stdout, text("stderr").unwrap_or_default(), width);
    }
    if let Some(text) = value.as_str().or_else(|| text("text")) {
        return first_line(text, width);
    }
    let is_empty = value.as_object().is_some_and(serde_json::Map::is_empty) || value.is_null();
    if is_empty { String::new() } else { cut(&escape::line(&value.to_string()), width) }
}

/// The first line that says something, and how many more there are.
pub(crate) fn first_line(text: &str, width: usize) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let Some(first) = lines.next() else { return String::new() };
    let more = match lines.count() {
        0 => String::new(),
        1 => " (1 more line)".to_owned(),
        count => format!(" ({count} more lines)"),
    };
    let room = width.saturating_sub(more.chars().count()).max(10);
    format!("{}{more}", cut(&escape::line(first), room))
}

/// At most `width` characters; what was cut is marked.
pub(crate) fn cut(text: &str, width: usize) -> String {
    match text.char_indices().nth(width) {
        None => text.to_owned(),
        Some(_) => {
            let kept: String = text.chars().take(width.saturating_sub(3)).collect();
            format!("{}...", kept.trim_end())
        }
    }
}

fn streams(stdout: &str, stderr: &str, width: usize) -> String {
    match stdout.trim().is_empty() {
        false => first_line(stdout, width),
        true => first_line(stderr, width),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_gist_is_what_a_person_would_look_for() {
        let cases = [
            (json!("one\ntwo\n\nthree"), "one (2 more lines)"),
            (json!({"text": "said"}), "said"),
            (json!({"exit_code": 0, "stdout": "\nbuilt\n", "stderr": "noise"}), "built"),
            (json!({"exit_code": 0, "stdout": "", "stderr": "only\nthis"}), "only (1 more line)"),
            (json!({"issues": [1, 2]}), r#"{"issues":[1,2]}"#),
            (json!(null), ""),
            (json!({}), ""),
            (json!(42), "42"),
        ];
        for (value, text) in cases {
            assert_eq!(gist(&value, 80), text);
        }
    }

    #[test]
    fn it_is_short_and_harmless() {
        let long = gist(&json!("ü".repeat(200)), 20);
        assert_eq!(long.chars().count(), 20);
        assert!(long.ends_with("..."));
        assert_eq!(gist(&json!({"a": "\u{9b}31m"}), 80), "{\"a\":\"\\x9b31m\"}");
    }
}
