//! Recording runs whose owner died, and telling of it.

use host::Host;
use host::api::{HostError, Recovered, RecoveryAction, json};

use crate::args::RecoverArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::escape;

/// `wardian recover`.
pub(crate) fn run(host: &Host, console: &Console, args: &RecoverArgs) -> Result<Exit, CliError> {
    let recovered = if args.all { host.recover_all()? } else { host.recover()? };
    if console.json {
        console.document(&json::recovered(&recovered))?;
    } else if recovered.is_empty() {
        console.talk("no run has lost its owner");
    }
    recovered.iter().for_each(|one| tell(console, one));
    Ok(Exit::Done)
}

/// After the own run: the runs of others. Whatever happens here changes
/// nothing about the own run.
pub(crate) fn others(host: &Host, console: &Console, own: &str) {
    let Ok(recovered) = host.recover() else { return };
    for one in recovered.iter().filter(|one| one.run_id != own) {
        match one.action {
            RecoveryAction::Interrupted { .. }
            | RecoveryAction::Resumed
            | RecoveryAction::WorktreeRemoved => tell(console, one),
            // Said whenever somebody looks at that run.
            RecoveryAction::Left { .. } => {}
        }
    }
}

/// The own run has lost its owner. Says why it could not be recorded, if it
/// could not.
pub(crate) fn this(
    host: &Host,
    console: &Console,
    own: &str,
) -> Result<Option<HostError>, CliError> {
    let mut refused = None;
    for one in host.recover()? {
        match one.action {
            RecoveryAction::Left { code, why, hint } if one.run_id == own => {
                let message =
                    format!("run {own} has lost its owner, and that cannot be recorded: {why}");
                let details = serde_json::Value::Null;
                refused = Some(HostError { code, message, hint, details, findings: None });
            }
            RecoveryAction::Left { .. } => {}
            RecoveryAction::Interrupted { .. }
            | RecoveryAction::Resumed
            | RecoveryAction::WorktreeRemoved => tell(console, &one),
        }
    }
    Ok(refused)
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
        RecoveryAction::WorktreeRemoved => {
            format!("run {run} never began; the worktree that was made for it is removed")
        }
        RecoveryAction::Left { why, .. } => {
            format!("run {run} is left as it is: {}", escape::line(why))
        }
    };
    console.talk(&text);
}
