//! `wardian run show`.

use host::Host;
use host::api::json;

use crate::args::RunArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::run;
use crate::viewer;

pub(crate) fn run(host: &Host, console: &Console, args: &RunArgs) -> Result<Exit, CliError> {
    let report = host.show(&args.run)?;
    if console.json {
        console.document(&json::run(&report))?;
        return Ok(Exit::Done);
    }
    for line in run::render(&report, console.style, console.width) {
        console.line(&line)?;
    }
    if report.ownerless {
        console.talk("\nthe owner is gone; the next `automation exec` records what it left");
        return Ok(Exit::Done);
    }
    let mut commands = viewer::next_steps(&report.view, &report.short_id, &console.program);
    if report.has_worktree {
        commands.push(format!("{} run changes {}", console.program, report.short_id));
    }
    if !commands.is_empty() {
        console.line("")?;
    }
    for step in viewer::steps(&commands, console.style) {
        console.line(&step)?;
    }
    Ok(Exit::Done)
}
