//! The floor: the least that a program does which keeps a durable log of
//! commands and knows nothing else. For each step it notes in a file that the
//! step starts, waits for the disk, runs the command, notes that it is done,
//! and waits for the disk again.
//!
//! `bench_floor LOG STEPS`

use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// About as long as a line of ours without its hashes.
const LINE_BYTES: usize = 200;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().collect();
    let [_, log, steps] = &args[..] else { return Err("there are a LOG and a number".into()) };
    let mut log = OpenOptions::new().create(true).append(true).open(Path::new(log))?;
    for step in 0..steps.parse::<usize>()? {
        note(&mut log, &format!("step {step} started "))?;
        let status = Command::new("sh")
            .args(["-c", "true"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        note(&mut log, &format!("step {step} completed: {status} "))?;
    }
    Ok(())
}

fn note(log: &mut File, text: &str) -> std::io::Result<()> {
    log.write_all(format!("{text:.<LINE_BYTES$}\n").as_bytes())?;
    log.sync_data()
}
