//! What `claude` says: one JSON event a line, the last one the result.
//!
//! Its `subtype` is `success` even for a turn that failed at the service;
//! `is_error` and `terminal_reason` tell. A refused tool call is no failure
//! of the turn. A schema that the model never met leaves `structured_output`
//! out: then the text is the answer, and whoever asked judges it.

use serde_json::Value;

use crate::agent::fault::Fault;
use crate::agent::notes::{self, Say};
use crate::agent::reader::{Dialect, End};
use crate::agent::reading::{Seen, Verdict, micros, sum};
use crate::agent::status::{by_status, by_text, by_word, status_in};

#[derive(Debug, Default)]
pub(super) struct Claude {
    result: Option<Ended>,
    /// The word for the last error of the service.
    error: Option<String>,
    events: bool,
}

/// The parts of the closing event that decide.
#[derive(Debug, Default)]
struct Ended {
    is_error: bool,
    subtype: String,
    reason: String,
    stop_reason: String,
    status: Option<u64>,
    words: Vec<String>,
    message: String,
}

impl Dialect for Claude {
    fn event(&mut self, event: &Value, seen: &mut Seen, say: &mut Say<'_>) {
        self.events = true;
        seen.name_session(event.get("session_id"));
        match word(event, "type") {
            "assistant" => self.assistant(event, seen, say),
            "user" => tool_results(event, say),
            "system" => system(event, seen, say),
            "result" => self.result(event, seen),
            "rate_limit_event" => {
                let info = event.get("rate_limit_info").unwrap_or(&Value::Null);
                if word(info, "status") == "rejected" {
                    seen.limited = true;
                    seen.resets_at = info.get("resetsAt").and_then(Value::as_u64);
                }
            }
            _ => {}
        }
    }

    fn is_complete(&self) -> bool {
        self.result.is_some()
    }

    fn verdict(&mut self, seen: &mut Seen, end: &End) -> Verdict {
        let Some(result) = self.result.take() else { return end.without_a_word(self.events) };
        match result.fault(self.error.as_deref()) {
            Some(Fault::RateLimited) if seen.limited => {
                Verdict::failed(Fault::LimitReached, result.message)
            }
            Some(fault) => Verdict::failed(fault, result.message),
            None if seen.answer.is_empty() && seen.denied_count > 0 => Verdict::failed(
                Fault::PermissionDenied,
                format!(
                    "there is no answer, and it was not allowed to use {}",
                    seen.denied.join(", ")
                ),
            ),
            None if seen.answer.is_empty() => {
                Verdict::failed(Fault::EmptyAnswer, "the turn ended well but has no answer")
            }
            None => Verdict::Answer(seen.answer.text()),
        }
    }
}

impl Claude {
    fn assistant(&mut self, event: &Value, seen: &mut Seen, say: &mut Say<'_>) {
        if let Some(error) = event.get("error").and_then(Value::as_str) {
            self.error = Some(error.to_owned());
        }
        for part in parts(event) {
            match word(part, "type") {
                "text" if self.error.is_some() => notes::failed(word(part, "text"), say),
                "text" => notes::said(word(part, "text"), say),
                "tool_use" => {
                    let name = word(part, "name");
                    // The answer itself comes by this one.
                    if name == "StructuredOutput" {
                        let answer = part.get("input").map(Value::to_string);
                        notes::said(&answer.unwrap_or_default(), say);
                        continue;
                    }
                    seen.acted = true;
                    notes::tool(name, part.get("input"), say);
                }
                _ => {}
            }
        }
    }

    fn result(&mut self, event: &Value, seen: &mut Seen) {
        // Of this turn; `total_cost_usd` and `modelUsage` are those of the session.
        let usage = event.get("usage");
        seen.tokens = sum(
            usage,
            &[
                "input_tokens",
                "output_tokens",
                "cache_creation_input_tokens",
                "cache_read_input_tokens",
            ],
        );
        seen.cost_micros = cost(event);
        for denial in
            event.get("permission_denials").and_then(Value::as_array).into_iter().flatten()
        {
            seen.deny(word(denial, "tool_name").to_owned());
        }
        match (event.get("structured_output"), event.get("result").and_then(Value::as_str)) {
            (Some(value @ (Value::Object(_) | Value::Array(_))), _) => {
                seen.answer.set(&value.to_string());
            }
            (_, Some(text)) => seen.answer.set(text),
            (_, None) => {}
        }
        let errors = event.get("errors").and_then(Value::as_array);
        let errors: Vec<&str> = errors.into_iter().flatten().filter_map(Value::as_str).collect();
        self.result = Some(Ended {
            is_error: event.get("is_error").and_then(Value::as_bool).unwrap_or(false),
            subtype: word(event, "subtype").to_owned(),
            reason: word(event, "terminal_reason").to_owned(),
            stop_reason: word(event, "stop_reason").to_owned(),
            status: event.get("api_error_status").and_then(Value::as_u64),
            words: ["api_error", "api_error_type"].map(|name| word(event, name).to_owned()).into(),
            message: if errors.is_empty() {
                word(event, "result").chars().take(4000).collect()
            } else {
                errors.join("; ")
            },
        });
    }
}

impl Ended {
    fn fault(&self, error: Option<&str>) -> Option<Fault> {
        if !self.is_error && self.subtype == "success" {
            return None;
        }
        let by_subtype = match self.subtype.as_str() {
            "error_max_turns" => Some(Fault::TurnsReached),
            "error_max_budget_usd" => Some(Fault::CostReached),
            _ => None,
        };
        let by_reason = match (self.reason.as_str(), self.stop_reason.as_str()) {
            ("prompt_too_long", _) => Some(Fault::PromptTooLong),
            (_, "refusal") => Some(Fault::Refused),
            ("aborted_tools" | "aborted_streaming", _) => Some(Fault::Interrupted),
            _ => None,
        };
        let text = &self.message;
        by_subtype
            .or(by_reason)
            .or_else(|| self.status.and_then(|status| by_status(status, text)))
            .or_else(|| self.words.iter().find_map(|word| by_word(word, text)))
            .or_else(|| error.and_then(|error| by_word(error, text)))
            .or_else(|| status_in(text).and_then(|status| by_status(status, text)))
            .or_else(|| by_text(text))
            .or(Some(Fault::ErrorEvent))
    }
}

fn system(event: &Value, seen: &mut Seen, say: &mut Say<'_>) {
    match word(event, "subtype") {
        "permission_denied" => {
            let name = word(event, "tool_name");
            seen.deny(name.to_owned());
            notes::denied(name, word(event, "message"), say);
        }
        "api_retry" => {
            let number = |name: &str| event.get(name).and_then(Value::as_u64).unwrap_or(0);
            let text = format!(
                "{} of {} after {}",
                number("attempt"),
                number("max_retries"),
                word(event, "error")
            );
            notes::note("retry", &text, say);
        }
        _ => {}
    }
}

fn tool_results(event: &Value, say: &mut Say<'_>) {
    for part in parts(event) {
        let failed = part.get("is_error").and_then(Value::as_bool).unwrap_or(false);
        if word(part, "type") == "tool_result" && failed {
            notes::note("tool failed", word(part, "content"), say);
        }
    }
}

fn parts(event: &Value) -> impl Iterator<Item = &Value> {
    event.pointer("/message/content").and_then(Value::as_array).into_iter().flatten()
}

/// What this turn cost: the sum over its models, where the program tells it.
fn cost(event: &Value) -> Option<u64> {
    let models = event.get("model_usage_since_last_result").and_then(Value::as_object);
    match models {
        Some(models) => {
            let costs: Vec<u64> =
                models.values().filter_map(|model| micros(model.get("costUSD"))).collect();
            (!costs.is_empty() || models.is_empty())
                .then(|| costs.into_iter().fold(0, u64::saturating_add))
        }
        None => None,
    }
}

fn word<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
