//! `wardian run apply`.

use host::Host;
use host::api::json;
use host::api::worktree::{ApplyRequest, ApplyTo};

use crate::args::ApplyArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::escape;

pub(crate) fn run(host: &Host, console: &Console, args: &ApplyArgs) -> Result<Exit, CliError> {
    let to = match (&args.to, args.here) {
        (Some(branch), _) => ApplyTo::Branch(branch.clone()),
        (None, true) => ApplyTo::Here,
        (None, false) => ApplyTo::Origin,
    };
    let commit = args.message.clone();
    let applied = host.apply(&ApplyRequest { run: args.run.run.clone(), to, commit })?;
    if console.json {
        console.document(&json::applied(&applied))?;
        return Ok(Exit::Done);
    }
    let (run, target) = (&applied.run_id, escape::line(&applied.target));
    if applied.files.is_empty() {
        console.line(&format!("run {run} has changed nothing"))?;
        return Ok(Exit::Done);
    }
    if applied.already {
        console.line(&format!("the changes of run {run} are in {target} already"))?;
        return Ok(Exit::Done);
    }
    for file in &applied.files {
        console.line(&escape::line(file))?;
    }
    let count = applied.files.len();
    let noun = if count == 1 { "file" } else { "files" };
    match &applied.commit {
        Some(commit) => {
            let commit = commit.get(..12).unwrap_or(commit);
            console.talk(&format!("{count} {noun} applied to {target} and committed as {commit}"));
        }
        None => console.talk(&format!("{count} {noun} applied to {target}, not committed")),
    }
    console.talk(&format!("  {} worktree remove {run}", console.program));
    Ok(Exit::Done)
}
