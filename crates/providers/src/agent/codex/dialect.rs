//! What `codex exec --json` says: items of a turn, then `turn.completed` or
//! `turn.failed`.
//!
//! A refusal completes a turn without a message and exits with 0. `usage` is
//! the total of the thread. A command that the sandbox stopped half way is in
//! no item at all, so where commands may write, a turn without items does not
//! prove that nothing was done.

use serde_json::Value;

use crate::agent::fault::Fault;
use crate::agent::notes::{self, Say};
use crate::agent::reader::{Dialect, End};
use crate::agent::reading::{Seen, Verdict, sum};
use crate::agent::status::{by_status, by_text, by_word, status_in};

#[derive(Debug)]
pub(super) struct Codex {
    /// Commands of the sandbox can change something and then not be told.
    writes: bool,
    end: Option<Result<(), String>>,
    /// The turn had begun.
    begun: bool,
    messages: u64,
    /// The last error that was told outside of the end.
    error: Option<String>,
}

impl Codex {
    pub(super) fn new(writes: bool) -> Self {
        Self { writes, end: None, begun: false, messages: 0, error: None }
    }

    fn item(&mut self, event: &Value, begins: bool, seen: &mut Seen, say: &mut Say<'_>) {
        let Some(item) = event.get("item") else { return };
        match word(item, "type") {
            "agent_message" => {
                self.messages += 1;
                let text = word(item, "text");
                seen.answer.set(text);
                notes::said(text, say);
            }
            "command_execution" => {
                seen.acted = true;
                let code = item.get("exit_code").and_then(Value::as_i64);
                match code {
                    Some(code) if code != 0 => {
                        notes::tool_failed("shell", &format!("exit code {code}"), say);
                    }
                    _ if begins => notes::tool("shell", item.get("command"), say),
                    _ => {}
                }
                if word(item, "status") == "declined" {
                    seen.deny(word(item, "command").chars().take(100).collect());
                }
            }
            // Only a warning, such as a model that is not known.
            "error" => notes::note("warning", word(item, "message"), say),
            "reasoning" | "todo_list" => {}
            "" => {}
            other => {
                seen.acted = true;
                if begins {
                    notes::tool(other, item.get("tool").or_else(|| item.get("query")), say);
                }
            }
        }
    }

    fn fault(message: &str) -> Fault {
        // A service's own answer stands in the message as JSON.
        let body = serde_json::from_str::<Value>(message).ok();
        let error = body.as_ref().and_then(|body| body.get("error"));
        let words = error.into_iter().flat_map(|error| [word(error, "code"), word(error, "type")]);
        words
            .filter_map(|word| by_word(word, message))
            .next()
            .or_else(|| status_in(message).and_then(|status| by_status(status, message)))
            .or_else(|| by_text(message))
            .unwrap_or(Fault::ErrorEvent)
    }
}

impl Dialect for Codex {
    fn event(&mut self, event: &Value, seen: &mut Seen, say: &mut Say<'_>) {
        match word(event, "type") {
            "thread.started" => seen.name_session(event.get("thread_id")),
            "turn.started" => {
                self.begun = true;
                self.end = None;
            }
            "item.started" => self.item(event, true, seen, say),
            "item.completed" => self.item(event, false, seen, say),
            "turn.completed" => {
                seen.session_tokens = sum(event.get("usage"), &["input_tokens", "output_tokens"]);
                self.end = Some(Ok(()));
            }
            "turn.failed" => {
                let message = event.pointer("/error/message").and_then(Value::as_str);
                let message = message.unwrap_or("the turn failed").to_owned();
                notes::failed(&message, say);
                self.end = Some(Err(message));
            }
            "error" => {
                let message = word(event, "message");
                notes::note("trouble", message, say);
                self.error = Some(message.chars().take(4000).collect());
            }
            _ => {}
        }
    }

    fn is_complete(&self) -> bool {
        self.end.is_some()
    }

    fn is_in_doubt(&self) -> bool {
        self.writes && matches!(self.end, Some(Err(_)))
    }

    fn verdict(&mut self, seen: &mut Seen, end: &End) -> Verdict {
        match self.end.take() {
            Some(Ok(())) if self.messages == 0 => Verdict::failed(
                Fault::Refused,
                "the turn ended without a message, which is how it ends when the model refuses",
            ),
            Some(Ok(())) if seen.answer.is_empty() => {
                Verdict::failed(Fault::EmptyAnswer, "the turn ended well but has no answer")
            }
            Some(Ok(())) => Verdict::Answer(seen.answer.text()),
            Some(Err(message)) => {
                seen.acted |= self.writes && !seen.idle;
                Verdict::failed(Self::fault(&message), message)
            }
            None => match self.error.take() {
                Some(message) if self.begun => Verdict::unsure(
                    Self::fault(&message),
                    format!("{message}; then {}", end.told()),
                ),
                Some(message) => Verdict::failed(Self::fault(&message), message),
                None => end.without_a_word(self.begun),
            },
        }
    }
}

fn word<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
