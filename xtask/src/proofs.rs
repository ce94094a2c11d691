//! Starts the proof programs of the package `tests`. What they prove is their
//! own; this knows their names and what they need.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::cargo::{PROFILE, cargo};
use crate::metadata::Workspace;
use crate::part::{Outcome, Rules, SKIPPED, output_of};
use crate::tree;

/// The packages that hold the proof programs and the program they prove.
pub(crate) const BUILD: [&str; 6] =
    ["build", "--package", "wardian-cli", "--package", "wardian-tests", "--bins"];

/// What asks a proof program for the form that fits into `cargo xtask test`.
const SHORT: &str = "--short";

/// Runs one proof program in the open, with the arguments given.
pub(crate) fn run(program: &str, args: &[String]) -> Result<ExitCode, String> {
    let root = tree::root();
    if !exists(&root, program) {
        return Err(format!("there is no tests/src/bin/{program}.rs"));
    }
    if let Some(missing) = missing(program) {
        println!("{SKIPPED} {missing}");
        println!("xtask {program}: 1 skipped");
        let required = Rules::from_environment().proofs_required;
        return Ok(if required { ExitCode::FAILURE } else { ExitCode::SUCCESS });
    }
    let built = cargo(&root, &BUILD).args(PROFILE).status();
    if !built.map_err(|error| format!("cargo does not start: {error}"))?.success() {
        return Err("the proof programs do not build".to_owned());
    }
    let status = Command::new(binary(&root, program)?)
        .current_dir(&root)
        .args(args)
        .status()
        .map_err(|error| format!("{program} does not start: {error}"))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Runs the short form of a program that is already built.
pub(crate) fn run_short(root: &Path, program: &str) -> Result<Outcome, String> {
    if let Some(missing) = missing(program) {
        return Ok(Outcome { passed: true, output: format!("{SKIPPED} {missing}\n") });
    }
    let mut command = Command::new(binary(root, program)?);
    command.current_dir(root).arg(SHORT);
    output_of(command)
}

pub(crate) fn exists(root: &Path, program: &str) -> bool {
    let bins = root.join("tests/src/bin");
    bins.join(format!("{program}.rs")).is_file() || bins.join(program).join("main.rs").is_file()
}

fn binary(root: &Path, program: &str) -> Result<PathBuf, String> {
    Ok(Workspace::read(root)?.target.join("proof").join(program))
}

/// What a program needs and this machine does not have.
fn missing(program: &str) -> Option<&'static str> {
    let traces = matches!(program, "kill" | "faults");
    (traces && !can_trace()).then_some("strace")
}

/// Whether strace is there and may trace; a container can forbid it.
fn can_trace() -> bool {
    Command::new("strace")
        .args(["-o", "/dev/null", "true"])
        .output()
        .is_ok_and(|o| o.status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_traces_needs_something() {
        assert_eq!(missing("crash"), None);
        assert_eq!(missing("mutilate"), None);
        assert_eq!(missing("kill").is_none(), can_trace());
        assert_eq!(missing("faults").is_none(), can_trace());
    }

    #[test]
    fn a_program_without_source_is_not_there() {
        assert!(!exists(&tree::root(), "no-such-proof"));
    }
}
