//! Lets the system refuse the calls of the real program that change a file,
//! one by one and in every way, lets the next command find what is left, and
//! judges both: what was said, and what is there. Then the same on a disk so
//! small that it fills.
//!
//! `--short` takes a few of the points. `--only CASE:CALL:N:ERROR` repeats
//! one; with `!` at its end all later calls of the name fail too.

#![expect(clippy::print_stdout, reason = "what a proof says goes to stdout")]

mod small;

use std::fmt;
use std::process::ExitCode;
use std::time::Instant;

use world::life::Failure;
use world::real::trace::{Errno, can_trace};
use world::real::{Case, House, Point};

/// `--short` takes about so many points.
const SHORT: usize = 20;

/// Of many that went wrong, so many are told.
const TOLD: usize = 8;

/// A call, and how it is refused.
#[derive(Debug)]
struct Fault {
    case: Case,
    point: Point,
    errno: Errno,
    forever: bool,
}

fn main() -> ExitCode {
    #[expect(clippy::disallowed_methods, reason = "a stopwatch for a person")]
    let begin = Instant::now();
    if !can_trace() {
        println!("SKIPPED needs strace");
        return ExitCode::SUCCESS;
    }
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (short, only) = match args[..] {
        [] => (false, None),
        ["--short"] => (true, None),
        ["--only", fault] => (false, Some(fault)),
        _ => {
            println!("faults: there are --short and --only CASE:CALL:N:ERROR");
            return ExitCode::from(64);
        }
    };
    let found = refuse(short, only).and_then(|refused| match only {
        Some(_) => Ok((refused, small::Tally::default())),
        None => Ok((refused, small::fill(short)?)),
    });
    let (refused, filled) = match found {
        Ok(found) => found,
        Err(error) => {
            println!("faults: {}", world::oracle::chain(&*error));
            return ExitCode::FAILURE;
        }
    };
    let Tally { all, tried, missed, mut wrong } = refused;
    wrong.extend(filled.wrong);
    wrong.iter().take(TOLD).for_each(|what| println!("{what}"));
    println!(
        "faults: {tried} refusals of {all}, {missed} not reached, {} full disks, {} violations, \
         {:.1} s",
        filled.tried,
        wrong.len(),
        begin.elapsed().as_secs_f64()
    );
    if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What was done and found.
#[derive(Debug, Default)]
struct Tally {
    all: usize,
    tried: usize,
    /// Points to which the program never came, this time.
    missed: usize,
    wrong: Vec<String>,
}

fn refuse(short: bool, only: Option<&str>) -> Result<Tally, Failure> {
    let house = House::build()?;
    let mut faults = Vec::new();
    for case in Case::ALL {
        faults.extend(house.points(case)?.iter().flat_map(|point| faults_at(case, point)));
    }
    let stride = if short { faults.len().div_ceil(SHORT) } else { 1 };
    let mut tally = Tally { all: faults.len(), ..Tally::default() };
    let wanted = |fault: &&Fault| only.is_none_or(|only| only == fault.to_string());
    for fault in faults.iter().step_by(stride).filter(wanted) {
        tally.tried += 1;
        match house.refuse(fault.case, &fault.point, (fault.errno, fault.forever)) {
            Ok(struck) => tally.missed += usize::from(!struck),
            Err(what) => {
                let what = world::oracle::chain(&*what);
                tally.wrong.push(format!("{fault}: {what}\n  cargo xtask faults --only {fault}"));
            }
        }
    }
    Ok(tally)
}

fn faults_at(case: Case, point: &Point) -> Vec<Fault> {
    let fault = |errno, forever| Fault { case, point: point.clone(), errno, forever };
    let once = Errno::of(&point.call).iter().map(|errno| fault(*errno, false));
    once.chain([Errno::Full, Errno::Device].map(|errno| fault(errno, true))).collect()
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { case, point, errno, forever } = self;
        write!(f, "{case}:{point}:{}{}", errno.word(), if *forever { "!" } else { "" })
    }
}
