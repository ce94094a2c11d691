//! Writes what this version leaves on disk into `tests/corpus`, in a folder
//! of the version's name. A folder that is there is not written again: before
//! the release of a version it may be removed first, afterwards never.

#![expect(clippy::print_stdout, reason = "what a program of a person says goes to stdout")]

use std::process::ExitCode;

use world::corpus;
use world::oracle::chain;

fn main() -> ExitCode {
    let into = corpus::folder().join(env!("CARGO_PKG_VERSION"));
    match corpus::write(&into) {
        Ok(homes) => {
            println!("corpus: {homes} homes in {}", into.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("corpus: {} is not written: {}", into.display(), chain(&*error));
            ExitCode::FAILURE
        }
    }
}
