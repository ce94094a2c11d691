//! A provider that does what a script says: it answers, writes files, waits,
//! fails in all the ways in which agents fail, and costs nothing. For the
//! demo, for tests, and for people who try out a blueprint. It keeps the law
//! of every provider: success needs an answer, never a quiet end alone.

mod effects;
mod files;
mod parse;

use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use durable::Span;
use engine::{AgentTask, AttemptKey, Class, Effect, NodeError, Outcome, Usage};
use serde_json::{Map, Value, json};

use crate::command::preflight;
use crate::poll::{self, Deadline};
use crate::process::{Sink, Stream};
use crate::stop::Stop;

pub use effects::EffectLog;
pub use parse::ScriptError;

/// What each node's agent does, attempt by attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    nodes: BTreeMap<String, Vec<Reply>>,
}

/// One turn of the agent: files first, then the delay, then the end, so
/// that an attempt cut short in its delay has changed something already.
#[derive(Debug, Clone, PartialEq)]
struct Reply {
    /// Path in the workspace and content, in the order of the paths.
    files: BTreeMap<String, String>,
    delay: Span,
    usage: Option<Map<String, Value>>,
    /// The session in which it answers; else the one that it continues, or
    /// one of its own.
    session: Option<String>,
    end: End,
}

#[derive(Debug, Clone, PartialEq)]
enum End {
    /// Ends well, with this text. Empty text is no answer.
    Answer(String),
    /// Ends like a program that exits with a code other than 0.
    Exit { code: u8, says: String },
    /// Reports an error and exits with code 0.
    ErrorEvent(String),
    /// Never ends by itself.
    Hang,
    /// Is gone, and nobody saw how.
    Die,
    /// The provider's quota is used up.
    Limit { resets_in: Option<Span> },
}

/// One attempt and what it plays in.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    pub script: &'a Script,
    pub key: &'a AttemptKey,
    pub workspace: &'a Path,
    /// Notes every attempt durably before it acts, for those who count
    /// effects across crashes.
    pub effects: Option<EffectLog<'a>>,
}

/// Performs one attempt by the script.
pub fn perform_scripted(
    task: &AgentTask,
    scene: &Scene<'_>,
    stop: &Stop,
    sink: &mut Sink<'_>,
) -> Outcome {
    if stop.requested() {
        return Outcome::Stopped;
    }
    let Some(reply) = scene.script.reply(scene.key) else {
        return no_reply(scene);
    };
    if let Some(effects) = scene.effects
        && let Err(error) = effects.note(scene.key)
    {
        let why = std::error::Error::source(&error).map(|s| format!(": {s}")).unwrap_or_default();
        return preflight("effect_not_noted", format!("{error}{why}"));
    }
    if let Err(error) = files::write(scene.workspace, &reply.files) {
        return failed(error.class(), error.code(), error.to_string(), Effect::Done);
    }
    match pause(reply, stop) {
        Ok(false) => reply.end(task, scene.key, sink),
        Ok(true) => Outcome::Stopped,
        Err(error) => Outcome::Lost { message: format!("the scripted delay failed: {error}") },
    }
}

/// Waits for the scripted delay, or for ever; whether it was stopped.
fn pause(reply: &Reply, stop: &Stop) -> io::Result<bool> {
    let delay = Deadline::after(reply.delay)?;
    let ready = match reply.end {
        End::Hang => poll::wait(&[stop.as_fd()])?,
        End::Answer(_) | End::Exit { .. } | End::ErrorEvent(_) | End::Die | End::Limit { .. } => {
            poll::wait(&[stop.as_fd(), delay.as_fd()])?
        }
    };
    Ok(ready.first() == Some(&true))
}

impl Script {
    /// The n-th try takes the n-th reply, counting rounds and items as tries; after
    /// the last one the last is repeated. The key alone decides, so a run
    /// that goes on after a crash gets what it would have got.
    fn reply(&self, key: &AttemptKey) -> Option<&Reply> {
        let replies = self.nodes.get(key.node.node.as_str())?;
        let rounds = key.node.item.map_or(key.round.0, u64::from);
        let tries = rounds.saturating_add(key.attempt.0.saturating_sub(1));
        let last = replies.len().checked_sub(1)?;
        replies.get(usize::try_from(tries).map_or(last, |n| n.min(last)))
    }
}

impl Reply {
    /// The usage as a run counts it: every count of tokens, and the cost.
    fn told(&self) -> Option<Box<Usage>> {
        let usage = self.usage.as_ref()?;
        let count = |name: &str| usage.get(name).and_then(Value::as_u64);
        let tokens = usage.iter().filter(|(name, _)| name.ends_with("tokens"));
        let tokens: Vec<u64> = tokens.filter_map(|(_, count)| count.as_u64()).collect();
        Some(Box::new(Usage {
            tokens: (!tokens.is_empty()).then(|| tokens.iter().sum()),
            cost_micros: count("cost_micros"),
            ..Usage::default()
        }))
    }

    fn end(&self, task: &AgentTask, key: &AttemptKey, sink: &mut Sink<'_>) -> Outcome {
        // One line is all there is to hear.
        let mut say = |event: Value| {
            let _heard = sink(Stream::Stdout, format!("{event}\n").as_bytes());
        };
        match &self.end {
            End::Answer(text) if text.trim().is_empty() => failed(
                Class::Transient,
                "no_completion",
                "the scripted provider exited with code 0 and gave no answer; \
                 give the reply a `text` or `json`"
                    .to_owned(),
                Effect::Done,
            ),
            End::Answer(text) => {
                say(json!({"type": "result", "text": text, "usage": self.usage}));
                let session = self.session.as_ref().or(task.session.as_ref()).cloned();
                let session = session.unwrap_or_else(|| format!("scripted:{key}"));
                Outcome::Replied { text: text.clone(), session: Some(session), usage: self.told() }
            }
            End::Exit { code, says } => {
                say(json!({"type": "error", "message": says, "usage": self.usage}));
                let colon = if says.is_empty() { "" } else { ": " };
                let message =
                    format!("the scripted provider exited with exit code {code}{colon}{says}");
                let failed = failed(Class::Bug, &format!("exit_{code}"), message, Effect::Done);
                failed.having_used(self.told().map(|usage| *usage).unwrap_or_default())
            }
            End::ErrorEvent(says) => {
                say(json!({"type": "error", "message": says, "usage": self.usage}));
                let message = format!("the scripted provider reported an error: {says}");
                let failed = failed(Class::Unknown, "error_event", message, Effect::Done);
                failed.having_used(self.told().map(|usage| *usage).unwrap_or_default())
            }
            End::Limit { resets_in } => {
                say(json!({"type": "limit", "resets_in": resets_in}));
                let when = match resets_in {
                    Some(span) => format!("it resets in {span}"),
                    None => "nobody says when it resets".to_owned(),
                };
                let message = format!("the scripted provider's limit is reached; {when}");
                Outcome::Failed(NodeError {
                    retry_after: *resets_in,
                    ..NodeError::before_effect(Class::Transient, "limit_reached", message)
                })
            }
            End::Hang => Outcome::Stopped,
            End::Die => Outcome::Lost {
                message: "the scripted provider died and its end was not observed".to_owned(),
            },
        }
    }
}

fn no_reply(scene: &Scene<'_>) -> Outcome {
    let nodes: Vec<String> = scene.script.nodes.keys().map(|node| format!("`{node}`")).collect();
    let has = if nodes.is_empty() { "no node".to_owned() } else { nodes.join(", ") };
    let message = format!(
        "the script has no reply for node `{}`; it has {has}. Add a list of replies for the node",
        scene.key.node
    );
    preflight("no_scripted_reply", message)
}

fn failed(class: Class, code: &str, message: String, effect: Effect) -> Outcome {
    let error = NodeError::before_effect(class, code, message);
    Outcome::Failed(NodeError { effect, ..error })
}

#[cfg(test)]
mod tests;
