//! Reads what an agent's process says, as it comes and in bounded memory,
//! and judges the end. What is common to all dialects is here: lines, the
//! tail of the error output, session and usage, and the form of an error.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;

use engine::{NodeError, Usage};
use serde_json::Value;

use super::answer::one_line;
use super::fault::Fault;
use super::limits::{MESSAGE_CHARS, STDERR_BYTES};
use super::lines::Lines;
use super::notes::Say;
use super::reading::{Reading, Reset, Seen, Verdict};
use super::status::wait_in;
use super::wall::WallTime;
use crate::process::{Exit, Stream};

/// What is particular to one provider.
pub(super) trait Dialect {
    /// One event. It gathers what it needs and tells people about it.
    fn event(&mut self, event: &Value, seen: &mut Seen, say: &mut Say<'_>);

    /// A line of a dialect that is not made of events.
    fn line(&mut self, _line: &str, _seen: &mut Seen, _say: &mut Say<'_>) {}

    /// Whether lines are taken as they are.
    fn takes_text(&self) -> bool {
        false
    }

    /// Whether the program has said how the turn ended. What it still does
    /// then is tidying up.
    fn is_complete(&self) -> bool;

    /// Whether the turn failed, and what was said leaves open whether a tool
    /// was called.
    fn is_in_doubt(&self) -> bool {
        false
    }

    fn verdict(&mut self, seen: &mut Seen, end: &End) -> Verdict;
}

/// How the process ended, and the last of its error output.
#[derive(Debug)]
pub(super) struct End {
    pub(super) exit: Exit,
    pub(super) stderr: String,
}

/// Reads one turn.
pub struct Reader {
    program: String,
    /// The session that was to be continued.
    resumed: Option<String>,
    used_before: Option<u64>,
    lines: Lines,
    stderr: VecDeque<u8>,
    seen: Seen,
    events: u64,
    unread: u64,
    dialect: Box<dyn Dialect + Send>,
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("program", &self.program).finish_non_exhaustive()
    }
}

impl Reader {
    pub(super) fn new(
        program: &str,
        request: &super::AgentRequest,
        dialect: Box<dyn Dialect + Send>,
    ) -> Self {
        let mut lines = Lines::default();
        lines.blank = dialect.takes_text();
        Self {
            program: program.to_owned(),
            resumed: request.resume.clone(),
            used_before: request.used_before.or(request.resume.is_none().then_some(0)),
            lines,
            stderr: VecDeque::new(),
            seen: Seen::default(),
            events: 0,
            unread: 0,
            dialect,
        }
    }

    /// Takes a piece of output; `say` hears a line for each event in it, which
    /// is put into words when it is written.
    pub fn feed(&mut self, stream: Stream, bytes: &[u8], say: &mut dyn FnMut(&dyn fmt::Display)) {
        match stream {
            Stream::Stdout => {
                let mut lines = std::mem::take(&mut self.lines);
                lines.push(bytes, |line| self.line(line, say));
                self.lines = lines;
            }
            Stream::Stderr => {
                let kept = &bytes[bytes.len().saturating_sub(STDERR_BYTES)..];
                let over = (self.stderr.len() + kept.len()).saturating_sub(STDERR_BYTES);
                self.stderr.drain(..over);
                self.stderr.extend(kept);
            }
        }
    }

    /// How many events were read: evidence that the agent works.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Whether the turn is over by the program's own word.
    pub fn is_complete(&self) -> bool {
        self.dialect.is_complete()
    }

    /// The session, as soon as it is known.
    pub fn session(&self) -> Option<&str> {
        self.seen.session.as_deref()
    }

    /// Whether a proof that no tool was called would say more than what was
    /// read.
    pub fn is_in_doubt(&self) -> bool {
        self.dialect.is_in_doubt() && !self.seen.acted
    }

    /// Takes it as proved that no tool was called.
    pub fn set_idle(&mut self) {
        self.seen.idle = true;
    }

    /// Judges the turn once the process has ended.
    pub fn end(mut self, exit: Exit) -> Reading {
        let mut lines = std::mem::take(&mut self.lines);
        lines.finish(|line| self.line(line, &mut |_| {}));
        let stderr: Vec<u8> = std::mem::take(&mut self.stderr).into();
        let end = End { exit, stderr: String::from_utf8_lossy(&stderr).into_owned() };
        let verdict = self.dialect.verdict(&mut self.seen, &end);
        let verdict = self.readable(self.same_session(verdict), lines.skipped);
        self.reading(verdict, &end, lines.skipped)
    }

    fn line(&mut self, line: &[u8], say: &mut Say<'_>) {
        if self.dialect.takes_text() {
            self.events += 1;
            return self.dialect.line(&text(line), &mut self.seen, say);
        }
        match serde_json::from_slice::<Value>(line) {
            Ok(event @ Value::Object(_)) => {
                self.events += 1;
                self.dialect.event(&event, &mut self.seen, say);
            }
            Ok(_) | Err(_) => self.unread += 1,
        }
    }

    /// A turn in another session than the one asked for knows nothing of
    /// what was said before: it is no success.
    fn same_session(&self, verdict: Verdict) -> Verdict {
        if let (Verdict::Answer(_), Some(asked), Some(got)) =
            (&verdict, &self.resumed, &self.seen.session)
            && asked != got
        {
            let message =
                format!("session `{asked}` was to go on, but the turn took place in `{got}`");
            return Verdict::failed(Fault::SessionChanged, message);
        }
        verdict
    }

    /// Output of which nothing could be read is told as that.
    fn readable(&self, mut verdict: Verdict, skipped: u64) -> Verdict {
        let unread = self.unread + skipped;
        if let Verdict::Failed { fault, message, .. } = &mut verdict
            && (*fault, self.events) == (Fault::NoCompletion, 0)
            && unread > 0
        {
            *fault = Fault::MalformedOutput;
            message.push_str(&format!("; none of its {unread} lines could be read"));
        }
        verdict
    }

    fn reading(self, verdict: Verdict, end: &End, skipped: u64) -> Reading {
        let Self { program, seen, used_before, unread, .. } = self;
        let of_turn = || seen.session_tokens?.checked_sub(used_before?);
        let usage = Usage {
            tokens: seen.tokens.or_else(of_turn),
            cost_micros: seen.cost_micros,
            ..Usage::default()
        };
        let mut resets = seen.resets_at.map(Reset::At);
        let result = match verdict {
            Verdict::Answer(text) => Ok(text),
            Verdict::Failed { fault, message, definite } => {
                let course = seen.course(definite);
                let waits = fault.class() == engine::Class::Transient;
                if waits {
                    resets = resets.or_else(|| WallTime::in_text(&message).map(Reset::Wall));
                }
                Err(NodeError {
                    class: fault.class(),
                    code: fault.code().to_owned(),
                    effect: fault.effect(course),
                    retry_after: waits.then(|| wait_in(&message)).flatten(),
                    message: told(&program, fault, &message, end),
                    output: None,
                })
            }
        };
        Reading {
            result,
            session: seen.session,
            usage,
            session_tokens: seen.session_tokens,
            resets,
            denied: seen.denied,
            unread_lines: unread + skipped,
        }
    }
}

/// The line as text. Nearly all are, and that is quickly seen.
fn text(line: &[u8]) -> Cow<'_, str> {
    str::from_utf8(line).map_or_else(|_| String::from_utf8_lossy(line), Cow::from)
}

/// Who failed, why, and what to do.
fn told(program: &str, fault: Fault, message: &str, end: &End) -> String {
    let mut text = format!("{program}: {}", one_line(message, MESSAGE_CHARS));
    if message.trim().is_empty() {
        text = format!("{program} failed, and {}", end.told());
    }
    if let Some(step) = fault.next_step(program) {
        text.push_str("; ");
        text.push_str(&step);
    }
    text
}

impl End {
    pub(super) fn told(&self) -> String {
        match self.exit {
            Exit::Code(code) => format!("it exited with code {code}"),
            Exit::Signal(signal) => format!("it was ended by signal {signal}"),
        }
    }

    /// The last line of the error output, for a message.
    pub(super) fn last_line(&self) -> Option<String> {
        let line = self.stderr.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
        Some(one_line(line, MESSAGE_CHARS))
    }

    /// A process that is gone without a word about its turn. What its error
    /// output says may still tell that nothing was begun.
    pub(super) fn without_a_word(&self, events: bool) -> Verdict {
        let fault = super::status::by_text(&self.stderr);
        // The line that tells it, where there is one.
        let tells = |line: &&str| fault.is_some() && super::status::by_text(line) == fault;
        let line = self.stderr.lines().find(tells).map(|line| one_line(line, MESSAGE_CHARS));
        let why =
            line.or_else(|| self.last_line()).map_or_else(String::new, |why| format!(": {why}"));
        let message = format!("{} and left no result{why}", self.told());
        match fault {
            // Said before anything had begun.
            Some(
                fault @ (Fault::SessionNotFound
                | Fault::SessionInUse
                | Fault::StoreBusy
                | Fault::ModelUnknown
                | Fault::NotLoggedIn
                | Fault::RootRefused
                | Fault::BadArguments),
            ) if !events && matches!(self.exit, Exit::Code(code) if code != 0) => {
                Verdict::failed(fault, message)
            }
            Some(fault) if !matches!(self.exit, Exit::Signal(_)) => Verdict::unsure(fault, message),
            Some(_) | None => Verdict::unsure(Fault::NoCompletion, message),
        }
    }
}

#[cfg(test)]
mod tests;
