//! What `gemini -o stream-json` says: messages in pieces, tools, a result.
//!
//! The result's `status` decides: the exit code is 0 for a stream that was
//! cut, and else the status of the service without its hundreds. A refusal
//! and a full output look like any other answer here; nothing tells them.

use std::collections::VecDeque;

use serde_json::Value;

use crate::agent::fault::Fault;
use crate::agent::notes::{self, Say};
use crate::agent::reader::{Dialect, End};
use crate::agent::reading::{Seen, Verdict, sum};
use crate::agent::status::{by_status, by_text, by_word, status_in};
use crate::process::Exit;

/// Calls whose results may still come.
const CALLS: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Gemini {
    end: Option<Result<(), Option<Told>>>,
    /// The last error event, for a result that has none.
    error: Option<String>,
    events: bool,
    /// A message came whole or a tool came between: the next piece begins anew.
    complete: bool,
    /// What of the message was not told to people yet.
    piece: String,
    /// The last calls, by id and name.
    calls: VecDeque<(String, String)>,
}

#[derive(Debug)]
struct Told {
    kind: String,
    message: String,
}

impl Gemini {
    fn message(&mut self, event: &Value, seen: &mut Seen, say: &mut Say<'_>) {
        if word(event, "role") != "assistant" {
            return;
        }
        let text = word(event, "content");
        let delta = event.get("delta").and_then(Value::as_bool).unwrap_or(false);
        if delta && !self.complete {
            seen.answer.push(text);
        } else {
            seen.answer.set(text);
        }
        self.complete = !delta;
        // People get the message, not its pieces: a secret of several lines is
        // known as one only while they stand together.
        if self.piece.len() < 4096 {
            self.piece.push_str(text);
        }
        if !delta {
            self.tell(say);
        }
    }

    fn tell(&mut self, say: &mut Say<'_>) {
        if !self.piece.trim().is_empty() {
            notes::said(&self.piece, say);
        }
        self.piece.clear();
    }

    fn refused(&self, event: &Value, seen: &mut Seen, say: &mut Say<'_>) {
        let id = word(event, "tool_id");
        let call = self.calls.iter().find(|(call, _)| call == id);
        let name = call.map_or("a tool", |(_, name)| name);
        let error = event.get("error").unwrap_or(&Value::Null);
        let why = word(error, "message");
        if matches!(word(error, "type"), "policy_violation" | "tool_not_registered") {
            seen.deny(name.to_owned());
            notes::denied(name, why, say);
        } else {
            notes::tool_failed(name, why, say);
        }
    }

    fn result(&mut self, event: &Value, seen: &mut Seen) {
        let stats = event.get("stats");
        seen.tokens = sum(stats, &["total_tokens"]);
        if word(event, "status") == "success" {
            self.end = Some(Ok(()));
            return;
        }
        let error = event.get("error").map(|error| Told {
            kind: word(error, "type").to_owned(),
            message: word(error, "message").chars().take(4000).collect(),
        });
        self.end = Some(Err(error));
    }
}

impl Dialect for Gemini {
    fn event(&mut self, event: &Value, seen: &mut Seen, say: &mut Say<'_>) {
        self.events = true;
        match word(event, "type") {
            "init" => seen.name_session(event.get("session_id")),
            "message" => self.message(event, seen, say),
            "tool_use" => {
                self.tell(say);
                self.complete = true;
                seen.acted = true;
                let name = word(event, "tool_name");
                self.calls.truncate(CALLS - 1);
                self.calls.push_front((word(event, "tool_id").to_owned(), name.to_owned()));
                notes::tool(name, event.get("parameters"), say);
            }
            "tool_result" if word(event, "status") != "success" => {
                self.refused(event, seen, say);
            }
            "error" => {
                self.tell(say);
                let message = word(event, "message");
                notes::failed(message, say);
                self.error = Some(message.chars().take(4000).collect());
            }
            "result" => {
                self.tell(say);
                self.result(event, seen);
            }
            _ => {}
        }
    }

    fn is_complete(&self) -> bool {
        self.end.is_some()
    }

    fn verdict(&mut self, seen: &mut Seen, end: &End) -> Verdict {
        match self.end.take() {
            Some(Ok(())) if seen.answer.is_empty() => {
                Verdict::failed(Fault::EmptyAnswer, "the turn ended well but has no answer")
            }
            Some(Ok(())) => Verdict::Answer(seen.answer.text()),
            Some(Err(Some(Told { kind, message }))) => {
                let status = status_in(&message).or_else(|| status_of(end.exit));
                let fault = status
                    .and_then(|status| by_status(status, &message))
                    .or_else(|| by_word(&kind, &message))
                    .or_else(|| by_text(&message))
                    .unwrap_or(Fault::ErrorEvent);
                Verdict::failed(fault, message)
            }
            Some(Err(None)) => {
                let message = self.error.take().unwrap_or_default();
                let lower = message.to_ascii_lowercase();
                let fault = if lower.contains("without a finish reason") {
                    Fault::ConnectionLost
                } else if lower.contains("empty response") || lower.contains("no content") {
                    Fault::EmptyAnswer
                } else {
                    by_text(&message).unwrap_or(Fault::ErrorEvent)
                };
                Verdict::failed(fault, message)
            }
            None => without_result(self.events, end),
        }
    }
}

/// The exit code after an error of the service: its status without 256.
fn status_of(exit: Exit) -> Option<u64> {
    match exit {
        Exit::Code(code @ 144..=255) => u64::try_from(code).ok().map(|code| code + 256),
        Exit::Code(_) | Exit::Signal(_) => None,
    }
}

/// Its own codes tell what kept it from beginning.
fn without_result(events: bool, end: &End) -> Verdict {
    let message = || {
        let why = end.last_line().map_or_else(String::new, |line| format!(": {line}"));
        format!("{}{why}", end.told())
    };
    match end.exit {
        Exit::Code(55) if !events => Verdict::failed(Fault::FolderNotTrusted, message()),
        Exit::Code(41) if !events => Verdict::failed(Fault::NotLoggedIn, message()),
        Exit::Code(42) if !events => {
            let fault = by_text(&end.stderr).unwrap_or(Fault::BadArguments);
            Verdict::failed(fault, message())
        }
        Exit::Code(_) | Exit::Signal(_) => end.without_a_word(events),
    }
}

fn word<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
