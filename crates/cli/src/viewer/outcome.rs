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
    let (mut outcome, mut alone) = (None, false);
    while tether.holds() {
        if visit.signals.have_come() {
            return Ok(None);
        }
        if let Some(told) = tether.hear(PATIENCE) {
            outcome = Some(told);
            // Its worker still has to let go of it.
            alone = host.is_alone(visit.run);
        }
    }
    let Some(outcome) = outcome else { return Ok(None) };
    let names = host.names(visit.run)?;
    let (blueprint, folder) = (&names.blueprint_id, &names.run_dir);
    console.document(&json::outcome(visit.run, blueprint, folder, &outcome))?;
    if !alone {
        recover::others(host, console, visit.run);
    }
    Ok(Some(Exit::of(outcome.exit)))
}
