//! `wardian run list`.

use host::Host;
use host::api::{RunRow, json};

use super::rows;
use crate::args::ListArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;

/// Rows that a person is shown when nothing is said.
const ROWS: usize = 50;

pub(crate) fn run(host: &Host, console: &Console, args: &ListArgs) -> Result<Exit, CliError> {
    let mut runs = host.runs()?;
    let total = runs.len();
    if let Some(wanted) = args.status {
        runs.retain(|row| row.status == Some(wanted.0));
    }
    let found = runs.len();
    let limit = args.limit.unwrap_or(if console.json { usize::MAX } else { ROWS });
    runs.truncate(limit);
    if console.json {
        console.document(&json::runs(&runs))?;
        return Ok(Exit::Done);
    }
    if total == 0 {
        console.talk("no runs yet; this makes the first one:");
        console.talk(&format!("  {} demo", console.program));
        return Ok(Exit::Done);
    }
    if runs.is_empty() {
        console.talk(&format!("none of the {total} runs is like that"));
        return Ok(Exit::Done);
    }
    console.line(&rows::table(&runs.iter().collect::<Vec<_>>(), console))?;
    if found > runs.len() {
        console.talk(&format!("{} more; see --limit", found - runs.len()));
    }
    if runs.iter().any(is_unrecorded) {
        console.talk("interrupted?: the owner is gone; the next `automation exec` records it");
    }
    Ok(Exit::Done)
}

fn is_unrecorded(row: &RunRow) -> bool {
    row.ownerless
}
