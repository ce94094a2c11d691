//! One turn of an agent for real: its folder, its process, the reading of
//! what it says, the end of all that it started, and the outcome.

use std::fmt::Display;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use durable::{Clock, Timestamp};
use engine::{Class, Effect, NodeError, Outcome, Usage};
use jiff::tz::TimeZone;

use super::adapter::Adapter;
use super::reading::{Reading, Reset};
use super::request::{AgentLaunch, AgentRequest, Refusal};
use super::watch::{Ending, Patience, Pulse, run_watched};
use crate::command::{Place, not_started, refuse_env, refuse_nul};
use crate::environment::Marks;
use crate::process::{Ended, Launch, RunError, Sink, SpawnError, Stdin, Stream};
use crate::reap::reap_attempt;
use crate::stop::Stop;

/// What a turn needs besides its request.
#[derive(Debug, Clone, Copy)]
pub struct AgentPlace<'a> {
    pub place: Place<'a>,
    /// The program to start instead of the one that the adapter names.
    pub program: Option<&'a str>,
    pub patience: Patience,
    pub clock: &'a dyn Clock,
}

/// A turn after its end. A failed turn may have a session and a use as well.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentEnd {
    pub outcome: Outcome,
    pub session: Option<String>,
    pub usage: Usage,
    /// All tokens of the session, for [`AgentRequest::used_before`].
    pub session_tokens: Option<u64>,
    pub denied: Vec<String>,
}

impl From<Outcome> for AgentEnd {
    fn from(outcome: Outcome) -> Self {
        Self {
            outcome,
            session: None,
            usage: Usage::default(),
            session_tokens: None,
            denied: Vec::new(),
        }
    }
}

/// Performs one turn to its end. When it returns, no process that the agent
/// started is left. The sink hears a line for each event and the error output
/// as it comes; `named` hears the name of the session once, when the agent
/// tells it.
pub fn perform_agent(
    adapter: &Adapter,
    request: &AgentRequest,
    place: &AgentPlace<'_>,
    stop: &Stop,
    sink: &mut Sink<'_>,
    named: &mut dyn FnMut(&str),
) -> AgentEnd {
    if stop.requested() {
        return Outcome::Stopped.into();
    }
    match prepare(adapter, request, place) {
        Ok((launch, warnings)) => {
            let mut ears = Ears { sink, named, heard: ControlFlow::Continue(()) };
            for warning in warnings {
                ears.say(&format_args!("warning: {warning}"));
            }
            turn(adapter, request, place, &launch, stop, ears)
        }
        Err(refused) => refused.into(),
    }
}

/// Who hears what while the agent works.
struct Ears<'a, 'b> {
    sink: &'a mut Sink<'b>,
    named: &'a mut dyn FnMut(&str),
    /// Whether the sink still keeps what it hears.
    heard: ControlFlow<()>,
}

impl Ears<'_, '_> {
    /// A line for people.
    fn say(&mut self, line: &dyn Display) {
        if self.heard.is_continue() {
            self.heard = (self.sink)(Stream::Stdout, format!("{line}\n").as_bytes());
        }
    }

    /// Error output, as it comes.
    fn pass(&mut self, bytes: &[u8]) {
        if self.heard.is_continue() {
            self.heard = (self.sink)(Stream::Stderr, bytes);
        }
    }
}

fn prepare(
    adapter: &Adapter,
    request: &AgentRequest,
    place: &AgentPlace<'_>,
) -> Result<(Launch, Vec<String>), Outcome> {
    let AgentLaunch { program, args, env, env_pass, stdin, files, warnings } =
        adapter.launch(request).map_err(Refusal::outcome)?;
    let program = place.program.map_or(program, str::to_owned);
    let named = args.iter().zip(1..).map(|(arg, i)| (format!("argument {i}"), &arg[..]));
    refuse_nul([("the program".to_owned(), &program[..])].into_iter().chain(named))?;
    refuse_env(&env)?;
    put(&request.folder, &files).map_err(|error| {
        let folder = request.folder.display();
        let message = format!("the folder {folder} of the attempt cannot be filled: {error}");
        Refusal::new("folder_not_written", message).outcome()
    })?;
    let launch = Launch {
        program: program.into(),
        args: args.into_iter().map(Into::into).collect(),
        env: place.place.host_env.child(&env_pass, &env, Marks::of(place.place.key)),
        cwd: request.workspace.clone(),
        stdin: Stdin::Text(stdin),
        // The reader takes what it says as it comes.
        kept_bytes: 0,
    };
    Ok((launch, warnings))
}

/// For the eyes of this user alone: a prompt stands in some of the files.
fn put(folder: &Path, files: &[super::AgentFile]) -> io::Result<()> {
    let tmp = folder.join("tmp");
    DirBuilder::new().recursive(true).mode(0o700).create(&tmp)?;
    for file in files {
        let path = folder.join(file.name);
        // A file of an earlier try may stand there, or a link to elsewhere.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let mut opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        opened.write_all(file.text.as_bytes())?;
    }
    Ok(())
}

fn turn(
    adapter: &Adapter,
    request: &AgentRequest,
    place: &AgentPlace<'_>,
    launch: &Launch,
    stop: &Stop,
    mut ears: Ears<'_, '_>,
) -> AgentEnd {
    let pulse = Pulse::default();
    let mut reader = adapter.reader(request);
    let mut is_named = false;
    let mut hear = |stream: Stream, bytes: &[u8]| {
        if stream == Stream::Stderr {
            ears.pass(bytes);
        }
        reader.feed(stream, bytes, &mut |line| ears.say(line));
        if let Some(session) = reader.session().filter(|_| !is_named) {
            is_named = true;
            (ears.named)(session);
        }
        pulse.beat(reader.events(), reader.is_complete());
        ControlFlow::Continue(())
    };
    let (ended, ending) = run_watched(launch, stop, &pulse, place.patience, &mut hear);
    let program = launch.program.to_string_lossy();
    let ended = match ended {
        Ok(ended) => ended,
        Err(error) => return not_ended(&program, error).into(),
    };
    if let Some(lost) = all_gone(&ended, &program, place) {
        return lost.into();
    }
    let Ended { exit, stopped, .. } = ended;
    if reader.is_in_doubt()
        && let Some(session) = reader.session()
        && adapter.proves_idle(request, session, &launch.env)
    {
        reader.set_idle();
    }
    let reading = reader.end(exit);
    settle(reading, ending.filter(|_| stopped), &program, place)
}

/// What was left of the attempt's processes, if any is: nobody can tell what
/// it still does.
fn all_gone(ended: &Ended, program: &str, place: &AgentPlace<'_>) -> Option<Outcome> {
    let left = match reap_attempt(&place.place.key.to_string()) {
        Ok(reaped) => ended.left.max(reaped.left),
        Err(error) => {
            let message = format!("what {program} started could not be ended: {error}");
            return Some(Outcome::Lost { message });
        }
    };
    (left > 0).then(|| Outcome::Lost {
        message: format!("{left} processes of {program} did not end when killed"),
    })
}

fn not_ended(program: &str, error: RunError) -> Outcome {
    match error {
        RunError::Spawn(SpawnError::ProgramMissing(_)) => {
            let message =
                format!("`{program}` is not installed; install it, or add its folder to PATH");
            Refusal::new("not_installed", message).outcome()
        }
        RunError::Spawn(error) => not_started(error),
        RunError::Lost { pid, source } => Outcome::Lost {
            message: format!("{program} (process {pid}) could not be watched to its end: {source}"),
        },
    }
}

/// Puts together what was read and why the process ended. A turn that had
/// told its end counts as told, even when its process had to be ended.
fn settle(
    reading: Reading,
    ending: Option<Ending>,
    program: &str,
    place: &AgentPlace<'_>,
) -> AgentEnd {
    let reading = with_reset(reading, place.clock.now());
    let (session, usage) = (reading.session.clone(), reading.usage);
    let (session_tokens, denied) = (reading.session_tokens, reading.denied.clone());
    let told = reading.result.is_ok();
    let outcome = match ending {
        None | Some(Ending::Lingered) => reading.outcome(),
        Some(Ending::Stopped) => Outcome::Stopped,
        Some(Ending::Total | Ending::NoStart | Ending::Idle) if told => reading.outcome(),
        Some(Ending::Total) => {
            ran_out("timeout", program, format!("did not finish in {}", place.patience.total))
        }
        Some(Ending::NoStart) => {
            ran_out("no_start", program, format!("gave no sign in {}", place.patience.start))
        }
        Some(Ending::Idle) => {
            ran_out("idle", program, format!("gave no sign for {}", place.patience.idle))
        }
    };
    AgentEnd { outcome, session, usage, session_tokens, denied }
}

/// What it did until then, nobody knows.
fn ran_out(code: &str, program: &str, what: String) -> Outcome {
    Outcome::Failed(NodeError {
        effect: Effect::Uncertain,
        ..NodeError::before_effect(
            Class::Unknown,
            code,
            format!("{program} {what}; it was ended with all that it had started"),
        )
    })
}

/// A limit with a known end asks to be left alone until then.
fn with_reset(mut reading: Reading, now: Timestamp) -> Reading {
    if let (Some(reset), Err(error)) = (reading.resets, &mut reading.result) {
        let at = match reset {
            Reset::At(seconds) => {
                let millis = i64::try_from(seconds.saturating_mul(1000)).unwrap_or(i64::MAX);
                Some(Timestamp::from_millis(millis))
            }
            Reset::Wall(at) => at.over(now, &TimeZone::system()),
        };
        error.retry_after = at.map(|at| at.since(now)).or(error.retry_after);
    }
    reading
}

#[cfg(test)]
mod tests;
