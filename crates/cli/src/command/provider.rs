//! `wardian provider list | show | probe`.

use host::Host;
use host::api::{ProviderMode, ProviderProbe, ProviderRow, json};

use crate::args::ProviderVerb;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::escape;
use crate::output::table::{self, Cell};
use crate::style::Paint;
use crate::surroundings::quote;

pub(crate) fn run(host: &Host, console: &Console, verb: &ProviderVerb) -> Result<Exit, CliError> {
    match verb {
        ProviderVerb::List => list(host, console),
        ProviderVerb::Show { name } => show(host, console, name),
        ProviderVerb::Probe { name } => probe(host, console, name.as_deref()),
    }
}

fn list(host: &Host, console: &Console) -> Result<Exit, CliError> {
    let rows = host.providers()?;
    if console.json {
        console.document(&json::providers(&rows))?;
        return Ok(Exit::Done);
    }
    let cells: Vec<_> = rows.iter().map(|row| vec![name(row), from(row), place(row)]).collect();
    console.line(&table::render(&["PROVIDER", "FROM", "PROGRAM"], &cells, console.style))?;
    for blocked in rows.iter().flat_map(|row| &row.blocked) {
        console
            .line(&console.style.paint(Paint::Attention, &escape::line(&blocked.to_string())))?;
    }
    if rows.iter().all(|row| row.path.is_none()) {
        console
            .talk("none is installed; try an automation with `--provider scripted --script FILE`");
    }
    Ok(Exit::Done)
}

fn show(host: &Host, console: &Console, name: &str) -> Result<Exit, CliError> {
    let report = host.provider(name)?;
    if console.json {
        console.document(&json::provider(&report))?;
        return Ok(Exit::Done);
    }
    let found = match &report.row.path {
        Some(path) => escape::line(&path.display().to_string()).into_owned(),
        None => format!("`{}` is not in PATH", escape::line(&report.row.program)),
    };
    console.line(&format!("{}  {found}", console.style.paint(Paint::Strong, &report.row.name)))?;
    for mode in &report.modes {
        console.line("")?;
        in_mode(console, &report.row.program, mode)?;
    }
    console.line("")?;
    console.line("variables of this environment that reach it, where they are set:")?;
    for variables in report.variables.chunks(4) {
        console.line(&format!("  {}", escape::line(&variables.join("  "))))?;
    }
    Ok(Exit::Done)
}

fn in_mode(console: &Console, program: &str, mode: &ProviderMode) -> Result<(), CliError> {
    console.line(&format!("mode {}:", mode.mode))?;
    match &mode.args {
        Ok(args) => {
            let words = std::iter::once(program).chain(args.iter().map(String::as_str));
            let words: Vec<String> = words.map(quote).collect();
            console.line(&format!("  {}", escape::line(&words.join(" "))))?;
        }
        Err(why) => console.line(&format!("  refused: {}", escape::line(why)))?,
    }
    for warning in &mode.warnings {
        console.line(&format!("  note: {}", escape::line(warning)))?;
    }
    Ok(())
}

fn probe(host: &Host, console: &Console, name: Option<&str>) -> Result<Exit, CliError> {
    let probes = host.probe_providers(name)?;
    let usable = probes.iter().any(|probe| probe.trouble.is_none());
    if console.json {
        console.document(&json::probes(&probes))?;
    } else {
        let cells: Vec<_> = probes.iter().map(probed).collect();
        console.line(&table::render(&["PROVIDER", "VERSION", "PROGRAM"], &cells, console.style))?;
    }
    Ok(if usable { Exit::Done } else { Exit::Failed })
}

fn probed(probe: &ProviderProbe) -> Vec<Cell> {
    let last = match &probe.trouble {
        Some(trouble) => Cell::painted(Paint::Attention, escape::line(trouble)),
        None => place(&probe.row),
    };
    let version = probe.version.as_deref().unwrap_or("–");
    vec![name(&probe.row), Cell::plain(escape::line(version)), last]
}

fn name(row: &ProviderRow) -> Cell {
    Cell::plain(row.name.as_str())
}

fn from(row: &ProviderRow) -> Cell {
    Cell::plain(if row.configured { "settings" } else { "built in" })
}

fn place(row: &ProviderRow) -> Cell {
    match &row.path {
        Some(path) => Cell::plain(escape::line(&path.display().to_string())),
        None => {
            Cell::painted(Paint::Faint, format!("not installed (`{}`)", escape::line(&row.program)))
        }
    }
}
