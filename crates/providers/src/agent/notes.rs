//! What people see while an agent works: a plain line for each event.

use std::fmt;

use serde_json::Value;

use super::answer::one_line;
use super::limits::{NAME_CHARS, NOTE_CHARS};

/// Takes one line without its end. It is put into words only by who writes it
/// down: nobody reads most of what an agent says that does not stop.
pub(super) type Say<'a> = dyn FnMut(&dyn fmt::Display) + 'a;

pub(super) fn said(text: &str, say: &mut Say<'_>) {
    note("say", text, say);
}

pub(super) fn failed(text: &str, say: &mut Say<'_>) {
    note("error", text, say);
}

pub(super) fn tool(name: &str, input: Option<&Value>, say: &mut Say<'_>) {
    let line = |f: &mut fmt::Formatter<'_>| {
        write(f, format_args!("tool {}", one_line(name, NAME_CHARS)), &told(input))
    };
    say(&fmt::from_fn(line));
}

pub(super) fn tool_failed(name: &str, why: &str, say: &mut Say<'_>) {
    let line = |f: &mut fmt::Formatter<'_>| {
        write(f, format_args!("tool {} failed", one_line(name, NAME_CHARS)), why)
    };
    say(&fmt::from_fn(line));
}

pub(super) fn denied(name: &str, why: &str, say: &mut Say<'_>) {
    let line = |f: &mut fmt::Formatter<'_>| {
        write(f, format_args!("denied {}", one_line(name, NAME_CHARS)), why)
    };
    say(&fmt::from_fn(line));
}

pub(super) fn note(what: &str, text: &str, say: &mut Say<'_>) {
    say(&fmt::from_fn(|f| write(f, format_args!("{what}"), text)));
}

fn write(f: &mut fmt::Formatter<'_>, what: fmt::Arguments<'_>, text: &str) -> fmt::Result {
    let text = one_line(text, NOTE_CHARS);
    if text.is_empty() { f.write_fmt(what) } else { write!(f, "{what}: {text}") }
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
        tool("Bash", Some(input), &mut |line| lines.push(line.to_string()));
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
