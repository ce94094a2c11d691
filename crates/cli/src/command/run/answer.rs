//! What became of a signal, told.

use host::Host;
use host::api::{Code, HostError, RunStatus, RunView, SignalAnswer, SignalVerb, json};
use serde_json::json;

use crate::args::DecideArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::viewer;

/// Gives a run a word and tells what came of it. `done` is the word for
/// people.
pub(crate) fn give(
    host: &Host,
    console: &Console,
    run: &str,
    verb: SignalVerb,
    note: Option<&String>,
    done: &str,
) -> Result<Exit, CliError> {
    match host.signal(run, verb, note.cloned())? {
        SignalAnswer::Done { view, .. } => tell(host, console, run, &view, done),
        SignalAnswer::Refused { code, message } => {
            let hint = format!("`{} run show {run}` shows what the run waits for", console.program);
            Err(CliError::Refused { code, message, hint })
        }
        SignalAnswer::Queued { signal } => {
            let hint = format!(
                "the owner takes it when it answers; `{} run watch {run}` shows when",
                console.program
            );
            Err(HostError::new(Code::OwnerSilent, "queued, owner not answering")
                .hint(hint)
                .details(json!({ "signal": signal }))
                .into())
        }
    }
}

/// A decision at a gate.
pub(crate) fn decide(
    host: &Host,
    console: &Console,
    args: &DecideArgs,
    verb: SignalVerb,
    done: &str,
) -> Result<Exit, CliError> {
    let done = match &args.node {
        Some(node) => format!("{done} at {node}"),
        None => done.to_owned(),
    };
    give(host, console, &args.run.run, verb, args.note.as_ref(), &done)
}

fn tell(
    host: &Host,
    console: &Console,
    run: &str,
    view: &RunView,
    done: &str,
) -> Result<Exit, CliError> {
    let report = host.show(run)?;
    if console.json {
        console.document(&json::signalled(&report.run_id, view))?;
        return Ok(Exit::Done);
    }
    console.line(done)?;
    if view.status == RunStatus::Running {
        console.line(&format!("  {} run watch {}", console.program, report.short_id))?;
        return Ok(Exit::Done);
    }
    console.line(&viewer::summary(view, &report.short_id, console.style))?;
    let commands = viewer::next_steps(view, &report.short_id, &console.program);
    for step in viewer::steps(&commands, console.style) {
        console.line(&step)?;
    }
    Ok(Exit::Done)
}
