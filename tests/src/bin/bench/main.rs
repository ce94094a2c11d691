//! How fast it is, in ratios and counts: against a floor that keeps a
//! durable log and does nothing else, against the bare start of a program,
//! and against itself at another size. What is compared is measured in turn,
//! so that a busy machine slows both; a ratio fails only while the base
//! itself holds still.
//!
//! `--json FILE` writes the result as a document too; `--only NAME` measures
//! one group.

#![expect(clippy::print_stdout, reason = "the result goes to stdout")]

mod agents;
mod chains;
mod counts;
mod house;
mod measure;
mod reads;
mod row;

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::{Value, json};

use house::House;
use row::{Row, Verdict};

const USAGE: u8 = 64;

type Failure = Box<dyn std::error::Error + Send + Sync>;

type Group = (&'static str, fn(&House) -> Result<Vec<Row>, Failure>);

/// What can be measured by itself, in order.
const GROUPS: [Group; 10] = [
    ("start", reads::start),
    ("counts", counts::counts),
    ("floor", chains::against_the_floor),
    ("internal", chains::against_the_start),
    ("validate", reads::validate),
    ("fold", reads::fold),
    ("list", reads::list),
    ("linear", chains::against_the_length),
    ("agent", agents::against_the_program),
    ("said", agents::against_what_is_said),
];

#[derive(Debug, Default)]
struct Wishes {
    json: Option<PathBuf>,
    only: Option<String>,
}

fn main() -> ExitCode {
    let Some(wishes) = wishes(std::env::args().skip(1)) else {
        println!("bench: there are --json FILE and --only {}", GROUPS.map(|g| g.0).join("|"));
        return ExitCode::from(USAGE);
    };
    match bench(&wishes) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("bench: {}", world::oracle::chain(&*error));
            ExitCode::FAILURE
        }
    }
}

fn wishes(mut args: impl Iterator<Item = String>) -> Option<Wishes> {
    let mut wishes = Wishes::default();
    while let Some(arg) = args.next() {
        match (arg.as_str(), args.next()) {
            ("--json", Some(file)) => wishes.json = Some(file.into()),
            ("--only", Some(name)) if GROUPS.iter().any(|group| group.0 == name) => {
                wishes.only = Some(name);
            }
            _ => return None,
        }
    }
    Some(wishes)
}

/// Measures and prints; says whether every limit is kept.
fn bench(wishes: &Wishes) -> Result<bool, Failure> {
    let house = House::build()?;
    let mut rows = Vec::new();
    println!("{}", Row::HEAD);
    for (name, measure) in GROUPS {
        if wishes.only.as_deref().is_none_or(|only| only == name) {
            let measured = measure(&house)
                .unwrap_or_else(|error| vec![Row::failed(name, &world::oracle::chain(&*error))]);
            for row in measured {
                println!("{}", row.line());
                rows.push(row);
            }
        }
    }
    if let Some(path) = &wishes.json {
        let lines: Vec<Value> = rows.iter().map(Row::json).collect();
        std::fs::write(path, format!("{:#}\n", json!({ "schema": 1, "lines": lines })))?;
    }
    let count = |verdict| rows.iter().filter(|row| row.verdict() == verdict).count();
    let failed = count(Verdict::Fail);
    println!(
        "bench: {} kept, {failed} not kept, {} skipped",
        count(Verdict::Pass),
        count(Verdict::Skipped)
    );
    Ok(failed == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(args: &[&str]) -> Option<(Option<PathBuf>, Option<String>)> {
        wishes(args.iter().map(|arg| (*arg).to_owned())).map(|wishes| (wishes.json, wishes.only))
    }

    #[test]
    fn arguments_are_known_or_refused() {
        assert_eq!(read(&[]), Some((None, None)));
        let both = Some((Some("a".into()), Some("fold".to_owned())));
        assert_eq!(read(&["--only", "fold", "--json", "a"]), both);
        for bad in [&["--json"][..], &["--only", "nothing"], &["fold"]] {
            assert_eq!(read(bad), None, "{bad:?}");
        }
    }
}
