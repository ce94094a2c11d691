//! `wardian run view`.

use host::Host;
use host::api::json;

use crate::args::ViewArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::run;
use crate::style::Paint;

pub(crate) fn run(host: &Host, console: &Console, args: &ViewArgs) -> Result<Exit, CliError> {
    let report = host.view_at(&args.run.run, args.at)?;
    if console.json {
        console.document(&json::run_at(&report, args.at))?;
        return Ok(Exit::Done);
    }
    let title = format!("as it was after event {}", args.at);
    console.line(&console.style.paint(Paint::Attention, &title))?;
    for line in run::render(&report, console.style, console.width) {
        console.line(&line)?;
    }
    Ok(Exit::Done)
}
