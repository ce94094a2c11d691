//! Builds what is measured and what measures, each by itself, so that the
//! program is the one that people get, and starts the measuring.

use std::path::Path;
use std::process::{Command, ExitCode};

use crate::cargo::cargo;
use crate::metadata::Workspace;
use crate::{proofs, tree};

/// The program that measures, and those that it starts.
const PROGRAMS: [&str; 5] = ["bench", "bench_floor", "bench_fold", "bench_hello", "bench_lines"];

/// Makes many runs.
const HERD: &str = "herd";

/// Measures, with the arguments given.
pub(crate) fn run(args: &[String]) -> Result<ExitCode, String> {
    let root = tree::root();
    build(&root, &["--package", "wardian-cli"])?;
    let herd = proofs::exists(&root, HERD).then_some(HERD);
    let mut wanted = vec!["--package", "wardian-tests"];
    wanted.extend(PROGRAMS.into_iter().chain(herd).flat_map(|program| ["--bin", program]));
    build(&root, &wanted)?;
    let program = Workspace::read(&root)?.target.join("release").join("bench");
    let status = Command::new(&program)
        .args(args)
        .status()
        .map_err(|error| format!("{} does not start: {error}", program.display()))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

fn build(root: &Path, what: &[&str]) -> Result<(), String> {
    let built = cargo(root, &["build", "--release"]).args(what).status();
    if built.map_err(|error| format!("cargo does not start: {error}"))?.success() {
        Ok(())
    } else {
        Err("the programs do not build".to_owned())
    }
}
