//! The house keeper: one command a file, checks that are functions over text
//! and values, and the starters of the proof programs. It uses none of our
//! crates, so it can judge them even when they do not build.

#![expect(clippy::print_stdout, reason = "what a command says to a person goes to stdout")]

mod bench;
mod cargo;
mod finding;
mod formats;
mod generate;
mod layers;
mod metadata;
mod part;
mod proofs;
mod providers;
mod source;
mod test;
mod tidy;
mod tree;

use std::process::ExitCode;

use finding::Finding;

const USAGE: &str = "\
usage: cargo xtask <command>

  test        everything that must hold: format, layers, tidy, clippy, tests, proofs
  layers      who may use whom, and that each pure crate builds by itself
  tidy        the shape of files, refused words, links, digests of formats
  generate    rewrite what is derived: docs/reference, the digests in docs/formats.md
  crash       crash at every place of a simulated disk
  kill        kill the real program at every system call that changes a file
  faults      refuse the real program every such call, and fill its disk
  mutilate    damage stored files and read them
  corpus      keep what this version leaves on disk, for all later ones to open
  providers   install the command lines of agents and prove the adapters on them
  bench       measure speed and count costs, against limits

crash, kill, faults, mutilate, providers and bench pass their arguments on to their program.
WARDIAN_PROOFS=required fails on a proof that had to be skipped.
WARDIAN_BUDGETS=off lets a part of `test` take longer than its budget.
";

/// Wrong usage, as in sysexits.h.
const EXIT_USAGE: u8 = 64;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let command = args.next().unwrap_or_default();
    let rest: Vec<String> = args.collect();
    let outcome = match (command.as_str(), rest.as_slice()) {
        ("help" | "--help" | "-h", []) => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        ("test", []) => test::run(),
        ("layers", []) => layers::run(),
        ("tidy", []) => tidy::run(),
        ("generate", []) => generate::run(),
        ("providers", args) => providers::run(args),
        ("bench", args) => bench::run(args),
        ("crash" | "kill" | "faults" | "mutilate" | "corpus", args) => proofs::run(&command, args),
        _ => {
            print!("{USAGE}");
            return ExitCode::from(EXIT_USAGE);
        }
    };
    outcome.unwrap_or_else(|error| {
        println!("xtask {command}: {error}");
        ExitCode::FAILURE
    })
}

/// Prints every finding and says by its exit code whether there were any.
fn report(command: &str, findings: &[Finding]) -> ExitCode {
    for finding in findings {
        println!("{finding}");
    }
    if findings.is_empty() {
        println!("xtask {command}: nothing found");
        ExitCode::SUCCESS
    } else {
        println!("xtask {command}: {} found", findings.len());
        ExitCode::FAILURE
    }
}
