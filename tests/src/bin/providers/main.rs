//! Runs the real command lines of agents against a local model server and
//! compares what comes of each case with what must: answers, failures with
//! their classes and effects, permissions, and the end of every process.
//!
//! Each case has a network of its own with nothing in it but the server, so
//! nothing leaves this machine and nothing is paid. The folder holds the
//! programs as `tests/fake-models/install-providers` installs them.
//!
//! The first part makes single turns by the code that runs use. The second
//! part is whole runs by the program that people get.

#![expect(clippy::print_stdout, reason = "what a proof says goes to stdout")]

mod canary;
mod cases;
mod changes;
mod house;
mod runs;
mod secrets;
mod turn;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use cases::{CASES, NAMES};
use runs::RUNS;

const USAGE: &str = "\
usage: providers --folder DIR [--slow] [--only=CASE] [NAME...]
  DIR     where install-providers has put the programs
  --slow  also those cases that take minutes, as a program tries again for so long
  --only  only those cases whose name holds this
  NAME    claude, codex, gemini, opencode; all that are in the folder by default";

/// The most cases at a time, one for each processor. Each is a program of a few
/// hundred megabytes.
const AT_A_TIME: usize = 3;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [inside, name, case, home, program] = &args[..]
        && inside == "--inside"
    {
        let home = Path::new(home);
        let is_turn = CASES.iter().any(|turn| turn.name == case);
        println!(
            "{}",
            if is_turn {
                turn::judge(name, case, home, program)
            } else {
                runs::judge(name, case, home)
            }
        );
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
    only: Option<String>,
    names: Vec<&'static str>,
}

impl Asked {
    fn read(args: &[String]) -> Option<Self> {
        let mut words = args.iter();
        let (mut folder, mut slow, mut only, mut names) = (None, false, None, Vec::new());
        while let Some(word) = words.next() {
            match word.as_str() {
                "--folder" => folder = Some(PathBuf::from(words.next()?)),
                "--slow" => slow = true,
                case if case.starts_with("--only=") => only = Some(case[7..].to_owned()),
                other => names.push(*NAMES.iter().find(|name| **name == other)?),
            }
        }
        let folder = std::fs::canonicalize(folder?).ok()?;
        let here = |name: &&str| folder.join("bin").join(name).exists();
        if names.is_empty() {
            names = NAMES.into_iter().filter(here).collect();
        }
        Some(Self { folder, slow, only, names })
    }
}

/// A case of one provider.
#[derive(Debug, Clone, Copy)]
struct Job {
    provider: &'static str,
    case: &'static str,
}

impl Asked {
    /// Those that take minutes only where they are asked for.
    fn jobs(&self) -> Vec<Job> {
        let turns = CASES.iter().map(|case| (case.name, case.slow_for));
        let runs = RUNS.iter().map(|run| (run.name, run.slow_for));
        let cases: Vec<_> = turns.chain(runs).collect();
        let of = |provider: &'static str| {
            let asked = cases.iter().filter(move |(name, slow_for)| {
                let is_quick = self.slow || !slow_for.contains(&provider);
                is_quick && self.only.as_deref().is_none_or(|only| name.contains(only))
            });
            asked.map(move |(case, _)| Job { provider, case })
        };
        self.names.iter().flat_map(|provider| of(provider).collect::<Vec<_>>()).collect()
    }
}

/// Whether all is as it must be.
fn prove(asked: &Asked) -> std::io::Result<bool> {
    let homes = tempfile::tempdir()?;
    let jobs = asked.jobs();
    let open = Mutex::new(jobs.iter().enumerate());
    let done = Mutex::new(vec![(String::new(), Duration::ZERO); jobs.len()]);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..processors.min(AT_A_TIME) {
            scope.spawn(|| {
                loop {
                    let next = open.lock().map(|mut open| open.next());
                    let Ok(Some((at, job))) = next else { break };
                    #[expect(clippy::disallowed_methods, reason = "a case is told with its time")]
                    let begin = Instant::now();
                    let said = one(asked, homes.path(), *job);
                    if let Ok(mut done) = done.lock() {
                        done[at] = (said, begin.elapsed());
                    }
                }
            });
        }
    });
    let done = done.into_inner().unwrap_or_default();
    let mut wrong = 0;
    for (job, (said, took)) in jobs.iter().zip(&done) {
        wrong += usize::from(!said.starts_with("ok "));
        println!("{:<9} {:<15} {:>6.1} s  {said}", job.provider, job.case, took.as_secs_f64());
    }
    println!("providers: {} cases, {wrong} violations", jobs.len());
    Ok(wrong == 0 && !jobs.is_empty())
}

/// One case in a network of its own, by this program started anew inside.
fn one(asked: &Asked, homes: &Path, Job { provider, case }: Job) -> String {
    let home = homes.join(format!("{provider}-{}", case.replace(' ', "-")));
    let own = std::env::current_exe().unwrap_or_else(|_| "providers".into());
    let bin = asked.folder.join("bin");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("tests/fake-models/run-isolated");
    command.env("PATH", format!("{}:{path}", bin.display())).arg("--home").arg(&home);
    command.args(["--provider", provider, "--env", "IS_SANDBOX=1", "--log"]);
    command.arg(home.join("requests.jsonl")).arg("--").arg(own);
    command.args(["--inside", provider, case]).arg(&home).arg(bin.join(provider));
    let output = std::fs::create_dir_all(&home).and_then(|()| command.output());
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
