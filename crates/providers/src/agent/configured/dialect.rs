//! Replies in the form that a person described.
//!
//! Plain text is complete when the program exits with 0 and there is some;
//! that is all the evidence such a program can give. A document must have its
//! text, and lines of documents the one that ends a turn.

use std::borrow::Cow;

use serde_json::Value;

use super::{Is, Pointer, Pointers, Reply};
use crate::agent::answer::Answer;
use crate::agent::fault::Fault;
use crate::agent::notes::{self, Say};
use crate::agent::reader::{Dialect, End};
use crate::agent::reading::{Seen, Verdict, micros};
use crate::agent::status::{by_status, status_in};
use crate::process::Exit;

#[derive(Debug)]
pub(super) struct Described {
    reply: Reply,
    /// Phrases of a limit message, in lower case.
    limits: Vec<String>,
    /// The whole output, up to its limit, unless it is lines.
    whole: Answer,
    heard: Heard,
}

/// What the documents said of the turn.
#[derive(Debug, Default)]
struct Heard {
    done: bool,
    error: Option<String>,
}

impl Described {
    pub(super) fn new(reply: &Reply, limits: &[String]) -> Self {
        Self {
            reply: reply.clone(),
            limits: limits.iter().map(|phrase| phrase.to_lowercase()).collect(),
            whole: Answer::default(),
            heard: Heard::default(),
        }
    }

    /// A failure, or a limit where the description says how to know one.
    fn fault(&self, fault: Fault, text: &str) -> Fault {
        let lower = text.to_lowercase();
        if self.limits.iter().any(|phrase| lower.contains(phrase)) {
            return Fault::LimitReached;
        }
        if fault == Fault::ErrorEvent {
            // As many programs begin their message: `429 too many requests`.
            let first = text.split_whitespace().next().and_then(|word| word.parse().ok());
            return first
                .or_else(|| status_in(text))
                .and_then(|status| by_status(status, text))
                .unwrap_or(fault);
        }
        fault
    }

    /// After a bad exit: what the program said on either stream.
    fn exited(&self, seen: &Seen, end: &End) -> Verdict {
        let said =
            if end.stderr.trim().is_empty() { seen.answer.text() } else { end.stderr.clone() };
        let last = said.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or("");
        let colon = if last.is_empty() { "" } else { ": " };
        let message = format!("{}{colon}{last}", end.told());
        Verdict::unsure(self.fault(Fault::Exit, &said), message)
    }
}

impl Heard {
    fn document(&mut self, event: &Value, pointers: &Pointers, seen: &mut Seen, say: &mut Say<'_>) {
        let at = |pointer: &Option<Pointer>| pointer.as_ref().and_then(|at| at.find(event));
        let is = |is: &Is| is.at.find(event) == Some(&is.is);
        seen.name_session(at(&pointers.session));
        self.done |= pointers.done.as_ref().is_none_or(is);
        if !pointers.when.as_ref().is_none_or(is) {
            return;
        }
        let texts = pointers.text.iter().filter_map(|at| at.find(event));
        let text = texts.map(told).reduce(|text, more| text + more).unwrap_or_default();
        // The last word counts: a text after an error means that it went on.
        if !text.is_empty() {
            self.error = None;
            notes::said(&text, say);
        }
        if pointers.join {
            seen.answer.push(&text);
        } else if !text.is_empty() || pointers.when.is_some() {
            seen.answer.set(&text);
        }
        let counts = pointers.tokens.iter().filter_map(|at| at.find(event)?.as_u64());
        seen.tokens = counts.fold(seen.tokens, added);
        seen.cost_micros = micros(at(&pointers.cost_usd)).into_iter().fold(seen.cost_micros, added);
        let error = at(&pointers.error);
        if let Some(error) =
            error.filter(|error| !matches!(error, Value::Null | Value::Bool(false)))
        {
            let error: String = told(error).chars().take(4000).collect();
            notes::failed(&error, say);
            self.error = Some(error);
        }
    }
}

impl Dialect for Described {
    fn event(&mut self, event: &Value, seen: &mut Seen, say: &mut Say<'_>) {
        if let Reply::JsonLines(pointers) = &self.reply {
            self.heard.document(event, pointers, seen, say);
        }
    }

    fn line(&mut self, line: &str, _seen: &mut Seen, say: &mut Say<'_>) {
        match self.reply {
            Reply::Text => {
                self.whole.push(line);
                self.whole.push("\n");
                notes::said(line, say);
            }
            Reply::Json(_) => {
                self.whole.push(line);
                self.whole.push("\n");
            }
            Reply::JsonLines(_) => {}
        }
    }

    fn takes_text(&self) -> bool {
        match self.reply {
            Reply::Text | Reply::Json(_) => true,
            Reply::JsonLines(_) => false,
        }
    }

    fn is_complete(&self) -> bool {
        self.heard.done
    }

    fn verdict(&mut self, seen: &mut Seen, end: &End) -> Verdict {
        // Nothing tells whether it acted.
        seen.acted = true;
        match &self.reply {
            Reply::Text => {
                seen.answer.set(self.whole.text().trim_end());
                self.heard.done = true;
            }
            Reply::Json(pointers) => match serde_json::from_str::<Value>(&self.whole.text()) {
                Ok(document) => self.heard.document(&document, pointers, seen, &mut |_| {}),
                Err(error) if end.exit == Exit::Code(0) => {
                    let message = format!("its output is no JSON document: {error}");
                    return Verdict::unsure(Fault::MalformedOutput, message);
                }
                Err(_) => {}
            },
            Reply::JsonLines(_) => {}
        }
        if let Some(error) = self.heard.error.take() {
            let fault = self.fault(Fault::ErrorEvent, &error);
            // Its own closing word makes the failure definite.
            let definite = self.heard.done;
            return Verdict::Failed { fault, message: error, definite };
        }
        if end.exit != Exit::Code(0) {
            return self.exited(seen, end);
        }
        if !self.heard.done {
            return Verdict::unsure(Fault::NoCompletion, "no line said that the turn had ended");
        }
        if seen.answer.is_empty() {
            let fault = self.fault(Fault::EmptyAnswer, &end.stderr);
            return Verdict::failed(fault, "it ended well but gave no answer");
        }
        Verdict::Answer(seen.answer.text())
    }
}

fn added(sum: Option<u64>, more: u64) -> Option<u64> {
    Some(sum.unwrap_or(0).saturating_add(more))
}

/// A text as it is, anything else as JSON.
fn told(value: &Value) -> Cow<'_, str> {
    value.as_str().map_or_else(|| value.to_string().into(), Cow::from)
}
