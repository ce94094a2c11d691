//! Runs the real command lines of agents against a local model server and
//! compares what comes of each case with what must: answers, failures with
//! their classes and effects, permissions, and the end of every process.
//!
//! Each case has a network of its own with nothing in it but the server, so
//! nothing leaves this machine and nothing is paid. The folder holds the
//! programs as `tests/fake-models/install-providers` installs them.

#![expect(clippy::print_stdout, reason = "what a proof says goes to stdout")]

mod cases;
mod turn;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;

use cases::{CASES, Case, NAMES};

const USAGE: &str = "\
usage: providers --folder DIR [--slow] [NAME...]
  DIR     where install-providers has put the programs
  --slow  also those cases that take minutes, as a program tries again for so long
  NAME    claude, codex, gemini, opencode; all that are in the folder by default";

/// Cases at a time. Each one is a program of a few hundred megabytes.
const AT_A_TIME: usize = 3;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [inside, name, case, home, program] = &args[..]
        && inside == "--inside"
    {
        println!("{}", turn::judge(name, case, Path::new(home), program));
        return ExitCode::SUCCESS;
    }
    let Some(asked) = Asked::read(&args) else {
        println!("{USAGE}");
        return ExitCode::from(64);
    };
    match prove(&asked) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("providers: {error}");
            ExitCode::FAILURE
        }
    }
}

struct Asked {
    folder: PathBuf,
    slow: bool,
    names: Vec<&'static str>,
}

impl Asked {
    fn read(args: &[String]) -> Option<Self> {
        let mut words = args.iter();
        let (mut folder, mut slow, mut names) = (None, false, Vec::new());
        while let Some(word) = words.next() {
            match word.as_str() {
                "--folder" => folder = Some(PathBuf::from(words.next()?)),
                "--slow" => slow = true,
                other => names.push(*NAMES.iter().find(|name| **name == other)?),
            }
        }
        let folder = std::fs::canonicalize(folder?).ok()?;
        let here = |name: &&str| folder.join("bin").join(name).exists();
        if names.is_empty() {
            names = NAMES.into_iter().filter(here).collect();
        }
        Some(Self { folder, slow, names })
    }
}

/// Whether all is as it must be.
fn prove(asked: &Asked) -> std::io::Result<bool> {
    let homes = tempfile::tempdir()?;
    let jobs: Vec<(&str, &Case)> = asked
        .names
        .iter()
        .flat_map(|name| CASES.iter().map(move |case| (*name, case)))
        .filter(|(name, case)| asked.slow || !case.slow_for.contains(name))
        .collect();
    let open = Mutex::new(jobs.iter().enumerate().collect::<Vec<_>>().into_iter());
    let done = Mutex::new(vec![String::new(); jobs.len()]);
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                loop {
                    let next = open.lock().map(|mut open| open.next());
                    let Ok(Some((at, (name, case)))) = next else { break };
                    let said = one(asked, homes.path(), name, case);
                    if let Ok(mut done) = done.lock() {
                        done[at] = said;
                    }
                }
            });
        }
    });
    let done = done.into_inner().unwrap_or_default();
    let mut wrong = 0;
    for ((name, case), said) in jobs.iter().zip(&done) {
        let good = said.starts_with("ok ");
        wrong += usize::from(!good);
        println!("{:<9} {:<16} {said}", name, case.name);
    }
    println!("providers: {} cases, {wrong} violations", jobs.len());
    Ok(wrong == 0 && !jobs.is_empty())
}

/// One case in a network of its own, by this program started anew inside.
fn one(asked: &Asked, homes: &Path, name: &str, case: &Case) -> String {
    let home = homes.join(format!("{name}-{}", case.name));
    let own = std::env::current_exe().unwrap_or_else(|_| "providers".into());
    let output = Command::new("tests/fake-models/run-isolated")
        .arg("--home")
        .arg(&home)
        .args(["--provider", name, "--env", "IS_SANDBOX=1"])
        .arg("--")
        .arg(own)
        .args(["--inside", name, case.name])
        .arg(&home)
        .arg(asked.folder.join("bin").join(name))
        .output();
    match output {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout);
            text.lines().last().map_or_else(
                || format!("no verdict: {}", String::from_utf8_lossy(&output.stderr).trim()),
                str::to_owned,
            )
        }
        Err(error) => format!("run-isolated does not start: {error}"),
    }
}
