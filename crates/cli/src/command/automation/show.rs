//! `wardian automation show`.

use host::Host;
use host::api::{CheckedSource, RunsQuery, json};

use crate::args::SourceArgs;
use crate::command::run::rows;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{escape, finding};
use crate::style::Paint;

/// Runs that are shown below an automation.
const RUNS: usize = 5;

pub(crate) fn run(host: &Host, console: &Console, args: &SourceArgs) -> Result<Exit, CliError> {
    let checked = host.check_source(&args.automation)?;
    if console.json {
        console.document(&json::automation(&checked))?;
        return Ok(Exit::Done);
    }
    let path = console.short_path(&checked.source.path);
    let text = |text: &Option<String>| escape::line(text.as_deref().unwrap_or("?")).into_owned();
    for (name, value) in [
        ("name", text(&checked.name)),
        ("id", text(&checked.blueprint_id)),
        ("file", path),
        ("state", state(&checked)),
    ] {
        console.line(&format!(
            "{} {value}",
            console.style.paint(Paint::Faint, &format!("{name:<6}"))
        ))?;
    }
    console.line("")?;
    console.line(escape::text(&source(&checked)).trim_end())?;
    let automation = checked.blueprint_id;
    if automation.is_some() {
        let query = RunsQuery { automation, limit: Some(RUNS), ..RunsQuery::default() };
        let own = host.list_runs(&query)?.rows;
        if !own.is_empty() {
            console.line("")?;
            console.line(&rows::table(&own.iter().collect::<Vec<_>>(), console))?;
        }
    }
    Ok(Exit::Done)
}

fn state(checked: &CheckedSource) -> String {
    finding::summary(checked).unwrap_or_else(|| "ok".to_owned())
}

/// The file's text; what is not text shows as numbers.
fn source(checked: &CheckedSource) -> String {
    let lines = checked.source.bytes.split(|byte| *byte == b'\n');
    let line = |line: &[u8]| escape::bytes(line.strip_suffix(b"\r").unwrap_or(line));
    lines.map(line).collect::<Vec<_>>().join("\n")
}
