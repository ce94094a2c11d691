//! Damages the files of a run: every cut, every bit, every line; with
//! `--short` every thirty-first. Reads what is left each time.

#![expect(clippy::print_stdout, reason = "what a proof says goes to stdout")]

use std::process::ExitCode;
use std::time::Instant;

use world::mutilate::{Harm, Whole};

const LOG_BYTES: usize = 64 << 10;
const SHORT_STRIDE: usize = 31;
const THREADS: usize = 2;
/// Of many that went wrong, so many are told.
const TOLD: usize = 5;

fn main() -> ExitCode {
    #[expect(clippy::disallowed_methods, reason = "a stopwatch for a person")]
    let begin = Instant::now();
    let stride = match std::env::args().nth(1).as_deref() {
        None => 1,
        Some("--short") => SHORT_STRIDE,
        Some(other) => {
            println!("mutilate: {other} is not known; there is --short");
            return ExitCode::from(64);
        }
    };
    let whole = tempfile::tempdir().map_err(Into::into);
    let whole = whole.and_then(|folder| Whole::make(folder.path(), LOG_BYTES));
    let whole = match whole {
        Ok(whole) => whole,
        Err(error) => {
            println!("mutilate: there is no log to damage: {error}");
            return ExitCode::FAILURE;
        }
    };
    let harms = whole.harms(stride);
    let wrong = judge(&whole, &harms);
    for (harm, what) in wrong.iter().take(TOLD) {
        println!("{harm:?}: {what}");
    }
    println!(
        "mutilate: {} damages of a log of {} bytes, {} violations, {:.1} s",
        harms.len(),
        whole.log.len(),
        wrong.len(),
        begin.elapsed().as_secs_f64()
    );
    if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn judge(whole: &Whole, harms: &[Harm]) -> Vec<(Harm, String)> {
    std::thread::scope(|scope| {
        let part = |first: usize| {
            let mine = harms.iter().skip(first).step_by(THREADS);
            mine.filter_map(|harm| Some((*harm, whole.judge(*harm).err()?))).collect::<Vec<_>>()
        };
        let parts: Vec<_> = (0..THREADS).map(|at| scope.spawn(move || part(at))).collect();
        let parts = parts.into_iter().map(|part| part.join().expect("a part panics with no one"));
        parts.flatten().collect()
    })
}
