//! Kills the real program at its system calls that change a file, lets the
//! next command find what is left, and judges that: log, list of effects,
//! statuses, processes.
//!
//! Who is killed: the command that starts a run, the worker that drives it,
//! the threads in which attempts are performed, the command that approves,
//! the second worker, and a command that recovers what a killed worker left.
//! strace counts calls thread by thread, so each of them has its own pass.
//!
//! `--short` takes every so many of the points. `--counts` counts syncs and
//! processes instead, which `--short` does too.

#![expect(clippy::print_stdout, reason = "what a proof says goes to stdout")]

mod counts;

use std::process::ExitCode;
use std::time::Instant;

use world::real::{Case, House, Point, trace};

/// Of the points `--short` takes every so many.
const SHORT_STRIDE: usize = 2;

/// Of many that went wrong, so many are told.
const TOLD: usize = 5;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What was done and found.
#[derive(Debug, Default)]
struct Tally {
    all: usize,
    points: usize,
    /// Points to which the program never came, this time.
    missed: usize,
    wrong: Vec<String>,
}

fn main() -> ExitCode {
    #[expect(clippy::disallowed_methods, reason = "a stopwatch for a person")]
    let begin = Instant::now();
    if !trace::can_trace() {
        println!("SKIPPED needs strace");
        return ExitCode::SUCCESS;
    }
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args[..] {
        [] => kill(None, 1).map(|tally| (Some(tally), true)),
        ["--short"] => counts::print().and_then(|held| Ok((Some(kill(None, SHORT_STRIDE)?), held))),
        ["--only", point] => kill(Some(point), 1).map(|tally| (Some(tally), true)),
        ["--counts"] => counts::print().map(|held| (None, held)),
        _ => {
            println!("kill: there are --short, --counts and --only CASE:CALL:N");
            return ExitCode::from(64);
        }
    };
    let (tally, held) = match done {
        Ok(done) => done,
        Err(error) => {
            println!("kill: {}", world::oracle::chain(&*error));
            return ExitCode::FAILURE;
        }
    };
    let Some(Tally { all, points, missed, wrong }) = tally else {
        return if held { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    };
    wrong.iter().take(TOLD).for_each(|what| println!("{what}"));
    println!(
        "kill: {points} points of {all}, {missed} not reached, {} violations, {:.1} s",
        wrong.len(),
        begin.elapsed().as_secs_f64()
    );
    if held && wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn kill(only: Option<&str>, stride: usize) -> Result<Tally, Failure> {
    let house = House::build()?;
    let mut tally = Tally::default();
    for case in Case::ALL {
        let points = house.points(case)?;
        let wanted = |(_, point): &(usize, &Point)| {
            only.is_none_or(|only| only == format!("{case}:{point}"))
        };
        let first = tally.all % stride;
        let taken = points.iter().enumerate().skip(first).step_by(stride).filter(wanted);
        for (_, point) in taken {
            tally.points += 1;
            match house.strike(case, point) {
                Ok(struck) => tally.missed += usize::from(!struck),
                Err(what) => {
                    let what = world::oracle::chain(&*what);
                    tally.wrong.push(format!(
                        "{case} at {point}: {what}\n  cargo xtask kill --only {case}:{point}"
                    ));
                }
            }
        }
        tally.all += points.len();
    }
    Ok(tally)
}
