//! An old and a new value in one short line. Pure.

use serde_json::Value;

use super::escape;
use super::gist::cut;

/// `"old" → "new"`; of texts with several lines the first that differs. Each
/// value has at most `width` characters.
pub(crate) fn change(
    old: Option<&Value>,
    new: Option<&Value>,
    arrow: &str,
    width: usize,
) -> String {
    match (old, new) {
        (Some(Value::String(old)), Some(Value::String(new))) => texts(old, new, arrow, width),
        (Some(old), Some(new)) => format!("{} {arrow} {}", short(old, width), short(new, width)),
        (Some(only), None) | (None, Some(only)) => short(only, 2 * width),
        (None, None) => String::new(),
    }
}

fn texts(old: &str, new: &str, arrow: &str, width: usize) -> String {
    if old.lines().count() < 2 && new.lines().count() < 2 {
        return format!("{} {arrow} {}", quoted(old, width), quoted(new, width));
    }
    let (before, after): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    let rest = (before.len() - same).min(after.len() - same);
    let (a, b) = (before.iter().rev(), after.iter().rev());
    let tail = a.zip(b).take(rest).take_while(|(a, b)| a == b).count();
    let changed = (before.len() - same - tail).max(after.len() - same - tail);
    let line = |lines: &[&str], width| {
        let line = lines.get(same).filter(|_| same < lines.len() - tail);
        line.map_or_else(|| "nothing".to_owned(), |line| quoted(line.trim(), width))
    };
    let more = match changed {
        0 | 1 => String::new(),
        _ => format!(" (and {} more)", changed - 1),
    };
    if changed == 0 {
        return "the line breaks at the end".to_owned();
    }
    let width = width.saturating_sub(10);
    format!("line {}: {} {arrow} {}{more}", same + 1, line(&before, width), line(&after, width))
}

fn short(value: &Value, width: usize) -> String {
    match value {
        Value::String(text) => quoted(text, width),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            cut(&escape::line(&value.to_string()), width)
        }
    }
}

fn quoted(text: &str, width: usize) -> String {
    cut(&escape::line(&Value::from(text).to_string()), width)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_change_is_short_and_to_the_point() {
        let cases = [
            (json!("a"), json!("b"), "\"a\" -> \"b\""),
            (json!(4), json!([1, "x"]), "4 -> [1,\"x\"]"),
            (json!("a\nb\nc\n"), json!("a\nB\nc\n"), "line 2: \"b\" -> \"B\""),
            (json!("a\nb\n"), json!("a\nx\ny\nb\n"), "line 2: nothing -> \"x\" (and 1 more)"),
            (json!("a\nb"), json!("a\nb\n"), "the line breaks at the end"),
        ];
        for (old, new, shown) in cases {
            assert_eq!(change(Some(&old), Some(&new), "->", 40), shown);
        }
        assert_eq!(change(None, Some(&json!("5m")), "->", 40), "\"5m\"");
        assert!(change(Some(&json!("x".repeat(99))), None, "->", 20).len() <= 40);
        assert!(!change(None, Some(&json!("\u{9b}31m")), "->", 40).contains('\u{9b}'));
    }
}
