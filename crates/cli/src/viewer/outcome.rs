//! A program that starts a run and waits for its end wants one document, for
//! which the worker itself knows enough: nobody need read the log for it.

use host::Host;
use host::api::json;

use super::{PATIENCE, Visit};
use crate::command::recover;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;

/// Waits until the worker has told how the run ended and has let go of it.
/// `None` when there is more to it: a signal came, the run only rests, or the
/// worker is gone without a word.
pub(super) fn told(
    host: &Host,
    console: &Console,
    visit: &Visit<'_>,
) -> Result<Option<Exit>, CliError> {
    let mut tether = visit.tether.clone();
    while tether.holds() && !visit.signals.have_come() {
        let Some(outcome) = tether.hear(PATIENCE) else { continue };
        let owned = host.others_are_owned(visit.run);
        // Its worker still has to let go of it, which takes no time as a rule.
        let _nothing_more = tether.hear(PATIENCE);
        let names = host.names(visit.run)?;
        let (blueprint, folder) = (&names.blueprint_id, &names.run_dir);
        console.document(&json::outcome(visit.run, blueprint, folder, &outcome))?;
        if !owned {
            recover::others(host, console, visit.run);
        }
        return Ok(Some(Exit::of(outcome.exit)));
    }
    Ok(None)
}
