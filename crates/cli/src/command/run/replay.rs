//! `wardian run replay`.

use host::Host;
use host::api::json;

use crate::args::RunArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::viewer;

pub(crate) fn run(host: &Host, console: &Console, args: &RunArgs) -> Result<Exit, CliError> {
    let report = host.replay(&args.run)?;
    let differs = report.checkpoint_agrees == Some(false);
    let exit = if differs { Exit::StoreUnavailable } else { Exit::Done };
    if console.json {
        console.document(&json::replay(&report))?;
        return Ok(exit);
    }
    console.line(&viewer::summary(&report.view, &report.run_id, console.style))?;
    console.line(&format!("events      {}", report.events))?;
    console.line(&format!("state       {}", report.state_digest))?;
    let checkpoint = match report.checkpoint_agrees {
        Some(true) => "says the same",
        Some(false) => "says something else; the log is right",
        None => "none",
    };
    console.line(&format!("checkpoint  {checkpoint}"))?;
    Ok(exit)
}
