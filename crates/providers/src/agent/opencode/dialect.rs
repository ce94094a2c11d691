//! What `opencode run --format json` says: steps with text, tools and a
//! reason for their end.
//!
//! There is no closing event. A turn is complete when the process ended with
//! code 0, its last step finished with `stop`, nothing failed after it, and
//! there is text. A question that nobody can answer ends it like that too,
//! but without text.

use serde_json::Value;

use crate::agent::fault::Fault;
use crate::agent::notes::{self, Say};
use crate::agent::reader::{Dialect, End};
use crate::agent::reading::{Seen, Verdict, micros, sum};
use crate::agent::status::{by_status, by_text, by_word, status_in};
use crate::process::Exit;

/// Its own tries again after a stream that was cut have no end. After so many
/// in a row there is no hope.
const CUT_MAX: u32 = 6;

#[derive(Debug, Default)]
pub(super) struct OpenCode {
    /// How the last step ended; nothing while one is under way.
    reason: Option<String>,
    error: Option<Told>,
    events: bool,
    /// Steps in a row that were cut short.
    cut: u32,
}

#[derive(Debug)]
struct Told {
    name: String,
    message: String,
    status: Option<u64>,
}

impl OpenCode {
    fn step_finish(&mut self, part: &Value, seen: &mut Seen) {
        self.reason = Some(word(part, "reason").to_owned());
        self.cut = if word(part, "reason") == "unknown" { self.cut + 1 } else { 0 };
        let tokens = part.get("tokens");
        let add = |sum: &mut Option<u64>, more: Option<u64>| {
            if let Some(more) = more {
                *sum = Some(sum.unwrap_or(0).saturating_add(more));
            }
        };
        add(&mut seen.tokens, sum(tokens, &["input", "output", "reasoning"]));
        if let Some(cached) = tokens.and_then(|tokens| sum(tokens.get("cache"), &["read", "write"]))
        {
            add(&mut seen.tokens, Some(cached));
        }
        // A cost of nothing is what it tells of models without a price.
        add(&mut seen.cost_micros, micros(part.get("cost")).filter(|cost| *cost > 0));
    }

    fn tool(part: &Value, seen: &mut Seen, say: &mut Say<'_>) {
        seen.acted = true;
        let name = word(part, "tool");
        let state = part.get("state").unwrap_or(&Value::Null);
        notes::tool(name, state.get("input"), say);
        if word(state, "status") == "error" {
            let why = word(state, "error");
            if why.contains("rejected permission") || why.contains("prevents you from using") {
                seen.deny(name.to_owned());
                notes::denied(name, why, say);
            } else {
                notes::tool_failed(name, why, say);
            }
        }
    }

    fn fault(told: &Told) -> Fault {
        let Told { name, message, status } = told;
        by_word(name, message)
            .or_else(|| status.and_then(|status| by_status(status, message)))
            .or_else(|| status_in(message).and_then(|status| by_status(status, message)))
            .or_else(|| by_text(message))
            .unwrap_or(Fault::ErrorEvent)
    }
}

impl Dialect for OpenCode {
    fn event(&mut self, event: &Value, seen: &mut Seen, say: &mut Say<'_>) {
        self.events = true;
        seen.name_session(event.get("sessionID"));
        let part = event.get("part").unwrap_or(&Value::Null);
        match word(event, "type") {
            "step_start" => {
                self.reason = None;
                self.error = None;
                seen.answer.set("");
            }
            "text" => {
                let text = word(part, "text");
                seen.answer.push(text);
                notes::said(text, say);
            }
            "tool_use" => Self::tool(part, seen, say),
            "step_finish" => self.step_finish(part, seen),
            "error" => {
                let error = event.get("error").unwrap_or(&Value::Null);
                let data = error.get("data").unwrap_or(&Value::Null);
                let message: String = word(data, "message").chars().take(4000).collect();
                notes::failed(&message, say);
                let status = data.get("statusCode").and_then(Value::as_u64);
                let wait = data.pointer("/responseHeaders/retry-after").and_then(Value::as_str);
                let message = match wait.filter(|wait| wait.bytes().all(|b| b.is_ascii_digit())) {
                    Some(wait) => format!("{message} (retry after {wait} seconds)"),
                    None => message,
                };
                self.error = Some(Told { name: word(error, "name").to_owned(), message, status });
            }
            _ => {}
        }
    }

    fn is_complete(&self) -> bool {
        self.cut >= CUT_MAX
    }

    fn verdict(&mut self, seen: &mut Seen, end: &End) -> Verdict {
        if let Some(told) = self.error.take() {
            return Verdict::failed(Self::fault(&told), told.message);
        }
        if self.cut >= CUT_MAX {
            let message = format!("its answer was cut short {} times in a row", self.cut);
            return Verdict::unsure(Fault::ConnectionLost, message);
        }
        let Some(reason) = self.reason.take() else { return end.without_a_word(self.events) };
        if end.exit != Exit::Code(0) {
            return end.without_a_word(true);
        }
        match reason.as_str() {
            "length" => Verdict::failed(Fault::OutputLimit, "the model's output limit was reached"),
            "content-filter" => Verdict::failed(Fault::Refused, "the model's answer was blocked"),
            "stop" if !seen.answer.is_empty() => Verdict::Answer(seen.answer.text()),
            "stop" | "tool-calls" if seen.denied_count > 0 => Verdict::failed(
                Fault::PermissionDenied,
                format!(
                    "there is no answer, and it was not allowed to use {}",
                    seen.denied.join(", ")
                ),
            ),
            "stop" => Verdict::failed(Fault::EmptyAnswer, "the turn ended well but has no answer"),
            other => Verdict::unsure(
                Fault::NoCompletion,
                format!("its last step ended with `{other}`, which is no end of a turn"),
            ),
        }
    }
}

fn word<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
