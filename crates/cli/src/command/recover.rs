//! Recording runs whose owner died, and telling of it.

use host::Host;
use host::api::{Recovered, RecoveryAction};

use crate::console::Console;
use crate::error::CliError;
use crate::output::escape;

/// After the own run: the runs of others. Whatever happens here changes
/// nothing about the own run.
pub(crate) fn others(host: &Host, console: &Console, own: &str) {
    let Ok(recovered) = host.recover() else { return };
    for one in recovered.iter().filter(|one| one.run_id != own) {
        match one.action {
            RecoveryAction::Interrupted { .. } | RecoveryAction::Resumed => tell(console, one),
            // Said whenever somebody looks at that run.
            RecoveryAction::Left { .. } => {}
        }
    }
}

/// The own run has lost its owner. Says whether it is recorded, or has a new
/// one.
pub(crate) fn this(host: &Host, console: &Console, own: &str) -> Result<bool, CliError> {
    let mut recovered = false;
    for one in host.recover()? {
        let left = matches!(one.action, RecoveryAction::Left { .. });
        recovered |= one.run_id == own && !left;
        if one.run_id == own || !left {
            tell(console, &one);
        }
    }
    Ok(recovered)
}

fn tell(console: &Console, one: &Recovered) {
    if console.json {
        return;
    }
    let run = &one.run_id;
    let text = match &one.action {
        RecoveryAction::Interrupted { killed: 0 } => {
            format!("run {run} had lost its owner and is recorded as interrupted")
        }
        RecoveryAction::Interrupted { killed } => format!(
            "run {run} had lost its owner and is recorded as interrupted; \
             {killed} processes that it left are ended"
        ),
        RecoveryAction::Resumed => {
            format!("run {run} had lost its owner and goes on with a new one")
        }
        RecoveryAction::Left { why } => {
            format!("run {run} is left as it is: {}", escape::line(why))
        }
    };
    console.talk(&text);
}
