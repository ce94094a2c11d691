//! What Codex keeps of a thread in its own folder. Its events leave out a
//! command that the sandbox stopped half way; its record has every call that
//! the model made. So the record can prove what the events cannot: that a turn
//! failed before the model asked for anything.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The end of a record that is looked at, in bytes. A turn of which more is
/// kept was no empty one.
const TAIL_BYTES: u64 = 4 << 20;

/// Days of which the records are looked through, from the last one back.
const DAYS: usize = 400;

/// Whether the record in this folder proves that the last turn of the thread
/// was this prompt's, is over, and came to nothing. What cannot be read proves
/// nothing.
pub(super) fn proves_idle(home: &Path, thread: &str, prompt: &str) -> bool {
    let Some(path) = record(&home.join("sessions"), thread) else { return false };
    tail(&path).is_ok_and(|text| is_idle(&text, prompt))
}

/// `sessions/2026/12/01/rollout-2026-12-01T03-01-06-<thread>.jsonl`.
fn record(sessions: &Path, thread: &str) -> Option<PathBuf> {
    let months = names(sessions).into_iter().flat_map(|year| names(&year));
    let days = months.flat_map(|month| names(&month)).take(DAYS);
    let end = format!("-{thread}.jsonl");
    let is_it = |path: &PathBuf| path.to_str().is_some_and(|path| path.ends_with(&end));
    days.flat_map(|day| names(&day)).find(is_it)
}

/// What is in a folder, the last name first.
fn names(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort_by(|a, b| b.cmp(a));
    paths
}

fn tail(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let bytes = file.metadata()?.len();
    file.seek(SeekFrom::Start(bytes.saturating_sub(TAIL_BYTES)))?;
    let mut tail = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut tail)?;
    Ok(String::from_utf8_lossy(&tail).into_owned())
}

fn is_idle(text: &str, prompt: &str) -> bool {
    // The first line may be the end of one; it is before the turn then.
    let records = text.lines().map(|line| serde_json::from_str(line).unwrap_or(Value::Null));
    let records: Vec<Value> = records.collect();
    let Some(begin) = records.iter().rposition(|record| is_event(record, "task_started")) else {
        return false;
    };
    let turn = &records[begin..];
    let is_over = turn.last().is_some_and(|record| is_event(record, "task_complete"));
    let is_own = turn.iter().any(|record| says(record, prompt.trim()));
    is_over && is_own && turn.iter().all(is_before_the_answer)
}

fn is_event(record: &Value, kind: &str) -> bool {
    word(record, "/type") == "event_msg" && word(record, "/payload/type") == kind
}

/// What it writes down before the model has answered. All else, also what is
/// not known here, may come of an answer.
fn is_before_the_answer(record: &Value) -> bool {
    match word(record, "/type") {
        "event_msg" | "turn_context" | "world_state" => true,
        "response_item" => {
            word(record, "/payload/type") == "message"
                && ["developer", "user"].contains(&word(record, "/payload/role"))
        }
        _ => false,
    }
}

fn says(record: &Value, prompt: &str) -> bool {
    let parts = record.pointer("/payload/content").and_then(Value::as_array);
    word(record, "/payload/role") == "user"
        && parts.into_iter().flatten().any(|part| word(part, "/text").contains(prompt))
}

fn word<'v>(value: &'v Value, at: &str) -> &'v str {
    value.pointer(at).and_then(Value::as_str).unwrap_or_default()
}

/// Its own folder, as its process is told of it.
pub(super) fn home<'e>(
    vars: impl Iterator<Item = (&'e OsStr, &'e OsStr)> + Clone,
) -> Option<PathBuf> {
    let var = |name: &str| {
        let found = vars.clone().find(|(other, value)| *other == name && !value.is_empty());
        found.map(|(_, value)| PathBuf::from(value))
    };
    var("CODEX_HOME").or_else(|| Some(var("HOME")?.join(".codex")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREAD: &str = "01a22f8c-7e07-7253-8109-1f5e4610980b";
    const TURNED_AWAY: &str = r#"{"type":"session_meta","payload":{"id":"01a22f8c"}}
{"type":"event_msg","payload":{"type":"task_started","turn_id":"t1"}}
{"type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"<permissions>"}]}}
{"type":"world_state","payload":{"full":true}}
{"type":"turn_context","payload":{"turn_id":"t1"}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Do it.\n"}]}}
{"type":"event_msg","payload":{"type":"token_count","info":null}}
{"type":"event_msg","payload":{"type":"task_complete","turn_id":"t1"}}
"#;
    const CALLED: &str = r#"{"type":"response_item","payload":{"type":"function_call","name":"exec_command"}}
"#;
    const ANSWERED: &str = r#"{"type":"token_usage_record","payload":{"turn_id":"t1"}}
"#;

    #[test]
    fn a_turn_that_was_turned_away_at_once_is_idle() {
        assert!(is_idle(TURNED_AWAY, "Do it."));
        // Whatever came of an earlier turn, and where its line is cut.
        let earlier = TURNED_AWAY.replacen(
            "{\"type\":\"turn_context",
            &format!("{CALLED}{{\"type\":\"turn_context"),
            1,
        );
        assert!(is_idle(&format!("{}{TURNED_AWAY}", &earlier[30..]), "Do it."));
    }

    #[test]
    fn a_call_an_answer_and_what_is_not_known_are_no_proof() {
        let unknown = "{\"type\":\"compacted\",\"payload\":{}}\n";
        for more in [CALLED, ANSWERED, unknown, "{\"type\":\"response_it\n"] {
            let at =
                TURNED_AWAY.find("{\"type\":\"event_msg\",\"payload\":{\"type\":\"token").unwrap();
            let text = format!("{}{more}{}", &TURNED_AWAY[..at], &TURNED_AWAY[at..]);
            assert!(!is_idle(&text, "Do it."), "{more}");
            assert!(!is_idle(&format!("{TURNED_AWAY}{more}"), "Do it."), "{more}");
        }
    }

    #[test]
    fn the_turn_of_another_prompt_and_one_that_goes_on_are_no_proof() {
        assert!(!is_idle(TURNED_AWAY, "Do that."));
        let goes_on = TURNED_AWAY.rsplit_once("{\"type\":\"event_msg\"").unwrap().0;
        assert!(!is_idle(goes_on, "Do it."));
        assert!(!is_idle("", "Do it."));
    }

    #[test]
    fn the_record_is_found_by_its_thread_on_any_day() {
        let home = tempfile::tempdir().unwrap();
        let day = home.path().join("sessions/2026/11/30");
        fs::create_dir_all(&day).unwrap();
        fs::create_dir_all(home.path().join("sessions/2026/12/01")).unwrap();
        let path = day.join(format!("rollout-2026-11-30T23-59-59-{THREAD}.jsonl"));
        // Longer than what is looked at.
        let long = format!("{}\n", "x".repeat(TAIL_BYTES as usize));
        fs::write(&path, format!("{long}{TURNED_AWAY}")).unwrap();
        assert!(proves_idle(home.path(), THREAD, "Do it."));
        assert!(!proves_idle(home.path(), &THREAD.replace('b', "c"), "Do it."));
        assert!(!proves_idle(&home.path().join("none"), THREAD, "Do it."));
    }

    #[test]
    fn its_folder_is_the_one_that_it_is_told_of() {
        let of = |vars: &[(&str, &str)]| {
            home(vars.iter().map(|(name, value)| (OsStr::new(*name), OsStr::new(*value))))
        };
        assert_eq!(of(&[("HOME", "/h")]), Some("/h/.codex".into()));
        assert_eq!(of(&[("HOME", "/h"), ("CODEX_HOME", "/c")]), Some("/c".into()));
        assert_eq!(of(&[("HOME", "/h"), ("CODEX_HOME", "")]), Some("/h/.codex".into()));
        assert_eq!(of(&[]), None);
    }
}
