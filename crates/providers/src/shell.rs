//! A shell command. Values reach it as variables that the text refers to,
//! never as text of the command; those too large for a variable stand in
//! files from which the command's first lines read them.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;

use durable::limits;
use engine::{Outcome, ShellTask};

use crate::command::{Command, Place, not_started, preflight, refuse_env, refuse_nul};
use crate::process::Sink;
use crate::stop::Stop;

/// What all values of one command may take in its environment together. The
/// system gives arguments and environment a quarter of the stack, 2 MiB by
/// default; half of it leaves room for the rest.
const ENV_TOTAL_BYTES: usize = 1 << 20;

/// What a shell command needs besides its place.
pub struct ShellPlace<'a> {
    pub place: Place<'a>,
    pub keep: &'a mut Keep<'a>,
    pub preamble: &'a Preamble<'a>,
}

/// Puts a text where it stays until the attempt has ended, and says where.
pub type Keep<'a> = dyn FnMut(&str) -> io::Result<PathBuf> + 'a;

/// Lines of shell that set each variable from the file at its path.
pub type Preamble<'a> = dyn Fn(&[(String, String)]) -> String + 'a;

type Values = Vec<(String, String)>;

impl fmt::Debug for ShellPlace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShellPlace").field("place", &self.place).finish_non_exhaustive()
    }
}

/// Runs `sh -c <text>` to its end.
pub fn perform_shell(
    task: &ShellTask,
    place: &mut ShellPlace<'_>,
    stop: &Stop,
    sink: &mut Sink<'_>,
) -> Outcome {
    prepare(task, place).map_or_else(
        |refused| refused,
        |command| command.perform(place.place, stop, sink).unwrap_or_else(not_started),
    )
}

fn prepare<'t>(task: &'t ShellTask, place: &mut ShellPlace<'_>) -> Result<Command<'t>, Outcome> {
    let values =
        task.values.iter().map(|(name, value)| (format!("the value of {name}"), &value[..]));
    let cwd = task.cwd.iter().map(|cwd| ("`cwd`".to_owned(), &cwd[..]));
    let text = [("the command".to_owned(), &task.text[..])];
    refuse_nul(text.into_iter().chain(values).chain(cwd))?;
    refuse_env(&task.env)?;
    let cwd = place.place.workspace.join(task.cwd.as_deref().unwrap_or_default());
    let (small, large) = by_size(&task.values);
    let text = if large.is_empty() {
        task.text.clone()
    } else {
        let lines = (place.preamble)(&keep_all(large, place.keep)?);
        format!("{}\n{}", lines.trim_end_matches('\n'), task.text)
    };
    // The names of values come last: the text was checked against those.
    let env = task.env.iter().cloned().chain(small).collect();
    let args: Vec<OsString> = vec!["-c".into(), text.into()];
    Ok(Command { program: "sh", args, cwd, env, env_pass: &task.env_pass })
}

fn keep_all(values: Values, keep: &mut Keep<'_>) -> Result<Values, Outcome> {
    let kept = values.into_iter().map(|(name, value)| {
        let failed = |why: String| {
            let message = format!("the value of {name} could not be kept in a file: {why}");
            preflight("value_not_kept", message)
        };
        let path = keep(&value).map_err(|error| failed(error.to_string()))?;
        let path = path.into_os_string().into_string();
        let path = path.map_err(|path| failed(format!("path {} is not UTF-8", path.display())))?;
        Ok((name, path))
    });
    kept.collect()
}

/// Those values that go by variable and those that go by file: every value
/// over the limit of one, then the largest until the others fit together.
fn by_size(values: &[(String, String)]) -> (Values, Values) {
    let size = |(name, value): &&(String, String)| name.len() + value.len() + 2;
    let mut by_file: Vec<bool> =
        values.iter().map(|(_, value)| value.len() > limits::ENV_VALUE_BYTES).collect();
    loop {
        let by_env = || values.iter().enumerate().filter(|(i, _)| !by_file[*i]);
        let total: usize = by_env().map(|(_, pair)| size(&pair)).sum();
        let largest = by_env().max_by_key(|(_, pair)| size(pair)).map(|(i, _)| i);
        match largest {
            Some(i) if total > ENV_TOTAL_BYTES => by_file[i] = true,
            _ => break,
        }
    }
    let (large, small): (Vec<_>, Vec<_>) =
        values.iter().cloned().zip(by_file).partition(|(_, by_file)| *by_file);
    let plain = |list: Vec<((String, String), bool)>| list.into_iter().map(|(v, _)| v).collect();
    (plain(small), plain(large))
}

#[cfg(test)]
mod tests;
