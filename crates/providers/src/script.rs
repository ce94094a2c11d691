//! A script file of the workspace, run by the program for its language. Its
//! arguments follow `--`, so none can pass for an option, and stand in the
//! environment too.

use std::ffi::OsString;

use durable::limits;
use engine::work::runtime_word;
use engine::{Outcome, ScriptTask};

use crate::command::{Command, Place, not_started, preflight, refuse_env, refuse_nul};
use crate::process::{Sink, SpawnError};
use crate::stop::Stop;

/// Runs `<program> <path> -- <args>` in the workspace, to its end.
pub fn perform_script(
    task: &ScriptTask,
    place: Place<'_>,
    stop: &Stop,
    sink: &mut Sink<'_>,
) -> Outcome {
    let ScriptTask { runtime, path, args, env, env_pass } = task;
    perform_by(
        programs(runtime_word(*runtime)),
        Parts { path, args, env, env_pass },
        place,
        stop,
        sink,
    )
}

/// A script without its runtime.
#[derive(Debug, Clone, Copy)]
struct Parts<'a> {
    path: &'a str,
    args: &'a [String],
    env: &'a [(String, String)],
    env_pass: &'a [String],
}

/// The programs that run a language, by preference.
fn programs(runtime: &str) -> &'static [&'static str] {
    match runtime {
        "python" => &["python3", "python"],
        "node" => &["node"],
        _ => &["sh"],
    }
}

/// Takes the first of `programs` that is there.
fn perform_by(
    programs: &[&'static str],
    parts: Parts<'_>,
    place: Place<'_>,
    stop: &Stop,
    sink: &mut Sink<'_>,
) -> Outcome {
    for program in programs {
        let command = match prepare(program, parts, place) {
            Ok(command) => command,
            Err(refused) => return refused,
        };
        match command.perform(place, stop, sink) {
            Ok(outcome) => return outcome,
            Err(SpawnError::ProgramMissing(_)) => {}
            Err(error) => return not_started(error),
        }
    }
    not_started(SpawnError::ProgramMissing(programs.join("` or `")))
}

fn prepare<'a>(
    program: &'static str,
    parts: Parts<'a>,
    place: Place<'_>,
) -> Result<Command<'a>, Outcome> {
    let args = || parts.args.iter().zip(1..).map(|(arg, i)| (format!("argument {i}"), &arg[..]));
    refuse_nul([("`path`".to_owned(), parts.path)].into_iter().chain(args()))?;
    refuse_env(parts.env)?;
    if let Some((name, arg)) = args().find(|(_, arg)| arg.len() > limits::ENV_VALUE_BYTES) {
        let message = format!(
            "{name} has {} bytes, the most is {}; hand it over by file and give the path",
            arg.len(),
            limits::ENV_VALUE_BYTES
        );
        return Err(preflight("argument_too_large", message));
    }
    let path = place.workspace.join(parts.path);
    if !path.is_file() {
        let message = format!(
            "script {} is not there; `path` is relative to the workspace {}",
            path.display(),
            place.workspace.display()
        );
        return Err(preflight("script_missing", message));
    }
    let values = parts.args.iter().zip(1..).map(|(arg, i)| (format!("WARDIAN_V{i}"), arg.clone()));
    let before = [path.into_os_string(), OsString::from("--")];
    Ok(Command {
        program,
        args: before.into_iter().chain(parts.args.iter().map(OsString::from)).collect(),
        cwd: place.workspace.to_path_buf(),
        env: parts.env.iter().cloned().chain(values).collect(),
        env_pass: parts.env_pass,
    })
}

#[cfg(test)]
mod tests;
