//! What people see while an agent works: a plain line for each event.

use serde_json::Value;

use super::answer::one_line;
use super::limits::NOTE_CHARS;

/// Takes one line without its end.
pub(super) type Say<'a> = dyn FnMut(&str) + 'a;

pub(super) fn said(text: &str, say: &mut Say<'_>) {
    note("say", text, say);
}

pub(super) fn failed(text: &str, say: &mut Say<'_>) {
    note("error", text, say);
}

pub(super) fn tool(name: &str, input: Option<&Value>, say: &mut Say<'_>) {
    note(&format!("tool {}", one_line(name, 60)), &told(input), say);
}

pub(super) fn tool_failed(name: &str, why: &str, say: &mut Say<'_>) {
    note(&format!("tool {} failed", one_line(name, 60)), why, say);
}

pub(super) fn denied(name: &str, why: &str, say: &mut Say<'_>) {
    note(&format!("denied {}", one_line(name, 60)), why, say);
}

pub(super) fn note(what: &str, text: &str, say: &mut Say<'_>) {
    let text = one_line(text, NOTE_CHARS);
    if text.is_empty() {
        say(what);
    } else {
        say(&format!("{what}: {text}"));
    }
}

/// The part of a tool's input that says most, else the whole on one line.
fn told(input: Option<&Value>) -> String {
    let Some(input) = input else { return String::new() };
    let names = [
        "command",
        "cmd",
        "file_path",
        "filePath",
        "path",
        "pattern",
        "query",
        "url",
        "description",
    ];
    let found = names.into_iter().find_map(|name| input.get(name).and_then(Value::as_str));
    match (found, input) {
        (Some(text), _) => text.to_owned(),
        (None, Value::String(text)) => text.clone(),
        (None, Value::Null) => String::new(),
        (None, other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line(input: &Value) -> String {
        let mut lines = Vec::new();
        tool("Bash", Some(input), &mut |line: &str| lines.push(line.to_owned()));
        lines.concat()
    }

    #[test]
    fn a_tool_is_told_by_what_it_works_on() {
        assert_eq!(
            line(&json!({"description": "d", "command": "git\nstatus"})),
            "tool Bash: git status"
        );
        assert_eq!(line(&json!({"file_path": "a.rs", "content": "x"})), "tool Bash: a.rs");
        assert_eq!(line(&json!({"n": 1})), "tool Bash: {\"n\":1}");
        assert_eq!(line(&Value::Null), "tool Bash");
    }
}
