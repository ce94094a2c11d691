//! `herd HOME RUNS`: adds so many runs to a home, for those who measure.

#![expect(clippy::print_stderr, reason = "what is wrong goes to stderr")]

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [home, runs] = &args[..] else { return usage() };
    let Ok(runs) = runs.parse() else { return usage() };
    match world::herd(Path::new(home), runs) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("herd: {error}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("herd HOME RUNS: adds so many runs, without a sync, to the home");
    ExitCode::FAILURE
}
