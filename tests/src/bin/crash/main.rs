//! Crashes at every place of the simulated disk, and judges what is left.
//!
//! `crash` tries the fixed scenarios in full; `--short` in the form that
//! fits into `cargo xtask test`; `--states N` samples them and goes on with
//! grown scenarios until N states are judged; `--scenario NAME` tries one of the fixed only;
//! `--only SPOT` repeats one state. `--seed S` chooses what is sampled
//! and what is grown.

#![expect(clippy::print_stdout, reason = "what a proof says goes to stdout")]

mod parts;

use std::process::ExitCode;

use parts::{Progress, in_parallel};
use world::{Depth, Prepared, Scenario, Spot, Tally, fixed, random, sweep};

/// Grown scenarios between two looks at the number of states.
const ROUND: u64 = 64;

/// What the command line asks for.
struct Wish {
    form: Form,
    scenario: Option<String>,
    seed: u64,
}

enum Form {
    Full,
    Short,
    States(u64),
    Only(Spot),
}

fn main() -> ExitCode {
    let progress = Progress::new();
    let Wish { form, scenario, seed } = match wish(std::env::args().skip(1)) {
        Ok(wish) => wish,
        Err(error) => {
            println!("crash: {error}");
            return ExitCode::from(64);
        }
    };
    let (depth, most) = match &form {
        Form::Only(spot) => return only(spot),
        Form::Short => (Depth::quick(offset(seed)), 0),
        Form::Full => (Depth::full(offset(seed)), 0),
        Form::States(most) => (Depth::sample(offset(seed)), *most),
    };
    let chosen = |one: &Scenario| scenario.as_ref().is_none_or(|name| one.name == *name);
    let scenarios = fixed::all().into_iter().filter(chosen);
    let mut tally = fixed_scenarios(&progress, scenarios, depth);
    let mut grown = seed;
    while tally.states < most && tally.violations == 0 {
        tally.add(grown_scenarios(&progress, grown, offset(seed)));
        grown += ROUND;
    }
    println!(
        "crash: {} states, {} violations, seed {seed}, {:.1} s",
        tally.states,
        tally.violations,
        progress.elapsed().as_secs_f64()
    );
    if tally.violations == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn wish(mut args: impl Iterator<Item = String>) -> Result<Wish, String> {
    let mut wish = Wish { form: Form::Full, scenario: None, seed: 1 };
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--short" => wish.form = Form::Short,
            "--states" => wish.form = Form::States(states(&value()?)?),
            "--scenario" => wish.scenario = Some(value()?),
            "--only" => wish.form = Form::Only(value()?.parse()?),
            "--seed" => wish.seed = value()?.parse().map_err(|_| "--seed takes a number")?,
            _ => {
                return Err(format!(
                    "{arg} is not known; there are --short, --states N, --seed S, --scenario NAME \
                     and --only SPOT"
                ));
            }
        }
    }
    Ok(wish)
}

/// A number, also in the form `1e6`.
fn states(text: &str) -> Result<u64, String> {
    let number = match text.split_once('e') {
        Some((digits, zeros)) => {
            let zeros = zeros.parse().ok().and_then(|zeros| 10u64.checked_pow(zeros));
            digits
                .parse()
                .ok()
                .zip(zeros)
                .and_then(|(digits, zeros): (u64, _)| digits.checked_mul(zeros))
        }
        None => text.parse().ok(),
    };
    number.ok_or_else(|| format!("`{text}` is no number of states; write 1000000 or 1e6"))
}

fn only(spot: &Spot) -> ExitCode {
    match world::sweep::repeat(spot) {
        Ok(Ok(())) => {
            println!("crash: {spot} is well");
            ExitCode::SUCCESS
        }
        Ok(Err(violation)) => {
            println!("crash: {spot}: {violation}");
            ExitCode::FAILURE
        }
        Err(error) => {
            println!("crash: {error}");
            ExitCode::from(64)
        }
    }
}

fn fixed_scenarios(
    progress: &Progress,
    scenarios: impl Iterator<Item = Scenario>,
    depth: Depth,
) -> Tally {
    let prepared: Vec<Prepared> = scenarios.map(Prepared::new).collect();
    let units: Vec<(&Prepared, usize)> = prepared
        .iter()
        .flat_map(|prepared| (0..prepared.calls.len()).map(move |call| (prepared, call)))
        .collect();
    in_parallel(progress, units.len(), |at| {
        units.get(at).map_or_else(Tally::default, |(prepared, call)| sweep(prepared, *call, depth))
    })
}

/// Of each grown scenario a third of the calls.
fn grown_scenarios(progress: &Progress, seed: u64, offset: usize) -> Tally {
    in_parallel(progress, usize::try_from(ROUND).unwrap_or_default(), |at| {
        let seed = seed.wrapping_add(at as u64);
        let prepared = Prepared::new(random::scenario(seed));
        let mut tally = Tally::default();
        let first = at % 3;
        for call in (first..prepared.calls.len()).step_by(3) {
            tally.add(sweep(&prepared, call, Depth::sample(offset.wrapping_add(at))));
        }
        tally
    })
}

fn offset(seed: u64) -> usize {
    usize::try_from(seed % 1009).unwrap_or_default()
}
