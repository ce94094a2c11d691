//! `wardian run logs`.

use host::Host;
use host::api::json;

use crate::args::LogsArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::escape;
use crate::style::Paint;

pub(crate) fn run(host: &Host, console: &Console, args: &LogsArgs) -> Result<Exit, CliError> {
    let logs = host.output(&args.run.run, args.node.as_deref())?;
    if console.json {
        console.document(&json::logs(&args.run.run, &logs))?;
        return Ok(Exit::Done);
    }
    if logs.is_empty() {
        console.talk("no attempt has printed anything");
    }
    for log in &logs {
        let title = format!("== {} attempt {} ==", escape::line(&log.node), log.attempt);
        console.line(&console.style.paint(Paint::Strong, &title))?;
        console.line(escape::text(&log.text).trim_end_matches('\n'))?;
    }
    Ok(Exit::Done)
}
