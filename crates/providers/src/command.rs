//! What shell commands and scripts have in common: the checks before a
//! start, and the one translation from how a process ended to an outcome.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use durable::limits;
use engine::{AttemptKey, Class, Effect, NodeError, Outcome};
use serde_json::{Map, Value, json};

use crate::capture::Captured;
use crate::cut;
use crate::environment::{HostEnv, Marks};
use crate::process::{Ended, Exit, Launch, RunError, Sink, SpawnError, Stdin, run};
use crate::stop::Stop;

/// How much of a last line a message quotes.
const QUOTE_CHARS: usize = 300;

/// Where an attempt is performed, and for which.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    pub workspace: &'a Path,
    pub host_env: &'a HostEnv,
    pub key: &'a AttemptKey,
}

/// One command, ready to start.
#[derive(Debug)]
pub(crate) struct Command<'a> {
    pub program: &'a str,
    pub args: Vec<OsString>,
    pub cwd: PathBuf,
    pub env: Vec<(String, String)>,
    pub env_pass: &'a [String],
}

impl Command<'_> {
    /// Runs the command to its end; an error means that nothing was started.
    pub(crate) fn perform(
        self,
        place: Place<'_>,
        stop: &Stop,
        sink: &mut Sink<'_>,
    ) -> Result<Outcome, SpawnError> {
        if stop.requested() {
            return Ok(Outcome::Stopped);
        }
        let launch = Launch {
            program: self.program.into(),
            args: self.args,
            env: place.host_env.child(self.env_pass, &self.env, Marks::of(place.key)),
            cwd: self.cwd,
            stdin: Stdin::Null,
            kept_bytes: limits::CAPTURE_BYTES,
        };
        match run(&launch, stop, sink) {
            Ok(ended) => Ok(outcome(self.program, ended)),
            Err(RunError::Spawn(error)) => Err(error),
            Err(RunError::Lost { pid, source }) => Ok(Outcome::Lost {
                message: format!(
                    "{} (process {pid}) could not be watched to its end: {source}",
                    self.program
                ),
            }),
        }
    }
}

/// Something that was not there, or not possible: nothing has happened yet.
pub(crate) fn preflight(code: &str, message: String) -> Outcome {
    Outcome::Failed(NodeError::before_effect(Class::Preflight, code, message))
}

pub(crate) fn not_started(error: SpawnError) -> Outcome {
    let message = error.to_string();
    match error {
        SpawnError::ProgramMissing(_) => {
            preflight("program_missing", format!("{message}; install it or add its folder to PATH"))
        }
        SpawnError::NotExecutable(_) => preflight("program_not_executable", message),
        SpawnError::CwdMissing(_) => {
            preflight("cwd_missing", format!("{message}; create it, or name another with `cwd`"))
        }
        SpawnError::TooLarge => {
            preflight("arguments_too_large", format!("{message}; hand large values over by file"))
        }
        SpawnError::Other(source) => preflight("spawn_failed", format!("{message}: {source}")),
    }
}

/// A zero byte ends a string for the system, so that no argument or variable
/// can hold one. `parts` are names for people with the texts to look at.
pub(crate) fn refuse_nul<'a>(
    parts: impl IntoIterator<Item = (String, &'a str)>,
) -> Result<(), Outcome> {
    let found = parts.into_iter().find(|(_, text)| text.contains('\0'));
    found.map_or(Ok(()), |(name, _)| {
        let message = format!(
            "{name} contains a zero byte, which no argument or variable can hold; \
             remove it where the value is made"
        );
        Err(preflight("nul_in_value", message))
    })
}

/// Names that no environment can have, and values that the system refuses.
pub(crate) fn refuse_env(env: &[(String, String)]) -> Result<(), Outcome> {
    refuse_nul(env.iter().flat_map(|(name, value)| {
        [
            (format!("the name of variable `{name:?}`"), &name[..]),
            (format!("`env.{name}`"), &value[..]),
        ]
    }))?;
    for (name, value) in env {
        if name.is_empty() || name.contains('=') {
            let message =
                format!("`env` has a variable named {name:?}; a name is not empty and has no `=`");
            return Err(preflight("invalid_env_name", message));
        }
        if value.len() > limits::ENV_VALUE_BYTES {
            let message = format!(
                "`env.{name}` has {} bytes, the most is {}; hand it over by file",
                value.len(),
                limits::ENV_VALUE_BYTES
            );
            return Err(preflight("env_value_too_large", message));
        }
    }
    Ok(())
}

/// What the end of a process means.
fn outcome(program: &str, ended: Ended) -> Outcome {
    if ended.left > 0 {
        let left = ended.left;
        return Outcome::Lost {
            message: format!("{left} processes of {program} did not end when killed"),
        };
    }
    if ended.stopped {
        return Outcome::Stopped;
    }
    let last = last_line(&ended.stderr.text).or_else(|| last_line(&ended.stdout.text));
    let (code, message) = match ended.exit {
        Exit::Code(0) => return Outcome::Output(output(ended)),
        Exit::Code(code) => {
            (format!("exit_{code}"), format!("{program} exited with exit code {code}"))
        }
        Exit::Signal(signal) => {
            (format!("signal_{signal}"), format!("{program} was ended by signal {signal}"))
        }
    };
    let message = last.map_or_else(|| message.clone(), |line| format!("{message}: {line}"));
    Outcome::Failed(NodeError {
        class: Class::Bug,
        code,
        message,
        effect: Effect::Done,
        output: Some(output(ended)),
        retry_after: None,
    })
}

fn output(ended: Ended) -> Value {
    let code = match ended.exit {
        Exit::Code(code) => json!(code),
        Exit::Signal(_) => Value::Null,
    };
    let mut output = Map::from_iter([("exit_code".to_owned(), code)]);
    for (name, captured) in [("stdout", ended.stdout), ("stderr", ended.stderr)] {
        let Captured { text, base64, dropped } = captured;
        output.insert(name.to_owned(), text.into());
        if let Some(base64) = base64 {
            output.insert(format!("{name}_base64"), base64.into());
        }
        if dropped > 0 {
            output.insert(format!("{name}_truncated"), dropped.into());
        }
    }
    Value::Object(output)
}

fn last_line(text: &str) -> Option<String> {
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    let mut quote: String = line.chars().take(QUOTE_CHARS).collect();
    if quote.len() < line.len() {
        quote = cut::line(quote);
    }
    Some(quote)
}
