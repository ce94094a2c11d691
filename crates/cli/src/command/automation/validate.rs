//! `wardian automation validate`.

use host::Host;
use host::api::json;

use crate::args::SourceArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::finding;
use crate::style::Paint;

pub(crate) fn run(host: &Host, console: &Console, args: &SourceArgs) -> Result<Exit, CliError> {
    let checked = host.check_source(&args.automation)?;
    let exit = if checked.ok { Exit::Done } else { Exit::Invalid };
    if console.json {
        console.document(&json::checked(&checked))?;
        return Ok(exit);
    }
    let path = console.short_path(&checked.source.path);
    if !checked.findings.is_empty() {
        let look = finding::Look { style: console.style, width: console.width };
        console.line(&finding::render(&checked, &path, look))?;
        console.line("")?;
    }
    let count = finding::summary(&checked);
    if checked.ok {
        let good = console.style.paint(Paint::Good, "valid");
        let count = count.map(|count| format!(" ({count})"));
        console.line(&format!("{path} is {good}{}", count.unwrap_or_default()))?;
    } else {
        console.line(&count.unwrap_or_default())?;
    }
    if let Some(first) = checked.findings.first() {
        let more = console.style.paint(Paint::Accent, "more:");
        console.line(&format!("{more} {} automation explain {}", console.program, first.rule))?;
    }
    Ok(exit)
}
