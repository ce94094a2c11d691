//! Waiting that ends: a program that hangs is a violation like any other,
//! and no reason for the proof to hang too.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::life::Failure;

/// Nothing here takes more than a second or two.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the command to its end.
pub fn output(command: &mut Command) -> Result<Output, Failure> {
    let name = format!("{command:?}");
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let id = child.id();
    match within(move || child.wait_with_output()) {
        Some(output) => Ok(output?),
        None => {
            kill(id);
            Err(format!("{name} does not end").into())
        }
    }
}

/// Returns when nobody holds the lock of a run any more.
pub fn unowned(lock: &Path) -> Result<(), Failure> {
    let file = File::options().read(true).write(true).open(lock)?;
    match within(move || file.lock()) {
        Some(locked) => Ok(locked?),
        None => {
            let note = std::fs::read_to_string(lock)?;
            let owner = note.split_whitespace().nth(1).and_then(|pid| pid.parse().ok());
            owner.into_iter().for_each(kill);
            Err(format!("{} is still held, by: {note}", lock.display()).into())
        }
    }
}

fn within<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, receiver) = channel();
    // A thread that waits in vain ends with the process.
    drop(std::thread::spawn(move || drop(sender.send(act()))));
    receiver.recv_timeout(PATIENCE).ok()
}

fn kill(id: u32) {
    drop(Command::new("kill").args(["-KILL", &id.to_string()]).status());
}
