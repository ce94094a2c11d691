//! Who is killed, and on what the killing begins.

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use blueprint::Program;
use durable::disk::{Lock, RealDisk, SharedDisk};
use durable::sim::SeededEntropy;
use engine::{Signal, SignalId, Verb};
use runstore::{Invocation, NewRun, RunPlace, create};

use super::house::{House, PROVIDER};
use super::trace::{self, Point};
use crate::life::Failure;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// The command that starts a run and watches it.
    Exec,
    /// The worker that drives it up to the gate.
    Worker,
    /// The threads of that worker.
    Attempts,
    /// The command that grants the gate.
    Approve,
    /// The worker after the gate.
    Second,
    /// A command that records what a killed worker has left.
    Recovery,
    /// The threads of a worker that ask an agent.
    Asking,
}

impl Case {
    pub const ALL: [Self; 7] = [
        Self::Exec,
        Self::Worker,
        Self::Attempts,
        Self::Approve,
        Self::Second,
        Self::Recovery,
        Self::Asking,
    ];
}

impl Case {
    /// The exit code of the command when nothing goes wrong.
    pub fn success(self) -> i32 {
        match self {
            Self::Exec => 11,
            Self::Worker
            | Self::Attempts
            | Self::Approve
            | Self::Second
            | Self::Recovery
            | Self::Asking => 0,
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exec => "exec",
            Self::Worker => "worker",
            Self::Attempts => "attempts",
            Self::Approve => "approve",
            Self::Second => "second",
            Self::Recovery => "recovery",
            Self::Asking => "asking",
        })
    }
}

/// A command that is ready to be traced.
struct Ready {
    command: Command,
    stdin: Stdio,
}

impl House {
    /// The points of a case, found by running it once.
    pub fn points(&self, case: Case) -> Result<Vec<Point>, Failure> {
        let Ready { command, stdin } = self.ready(case)?;
        let of_attempts = matches!(case, Case::Attempts | Case::Asking);
        let (output, calls) = trace::calls(&command, &self.trace_log(), of_attempts, stdin)?;
        self.wait_for_workers()?;
        let found = match case {
            Case::Attempts => attempt_points(&calls, &self.home, is_output),
            Case::Asking => attempt_points(&calls, &self.home, is_asking),
            Case::Exec | Case::Worker | Case::Approve | Case::Second | Case::Recovery => {
                trace::points(&calls, &self.home)
            }
        };
        if found.is_empty() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!("{case} changes no file: {}: {said}", output.status).into());
        }
        Ok(found)
    }

    /// Kills there, and judges; says whether the program came to the point.
    pub fn strike(&self, case: Case, point: &Point) -> Result<bool, Failure> {
        let Ready { command, stdin } = self.ready(case)?;
        let struck = trace::kill(&command, point, stdin)?;
        self.judge()?;
        Ok(struck)
    }

    /// Lets a call fail, judges what was said of that, and what is left; says
    /// whether the program came to the point.
    pub fn refuse(
        &self,
        case: Case,
        point: &Point,
        fault: (trace::Errno, bool),
    ) -> Result<bool, Failure> {
        let Ready { command, stdin } = self.ready(case)?;
        let (output, struck) = trace::fail(&command, point, fault, &self.trace_log(), stdin)?;
        self.wait_for_workers()?;
        if struck {
            self.judge_words(case, point, fault, &output)?;
        }
        self.judge_with(true)?;
        Ok(struck)
    }

    fn ready(&self, case: Case) -> Result<Ready, Failure> {
        let null = |command| Ok(Ready { command, stdin: Stdio::null() });
        match case {
            Case::Exec => {
                self.reset(None)?;
                null(self.exec(&self.long()))
            }
            Case::Worker | Case::Attempts => {
                self.reset(None)?;
                let (place, lock) = self.create(&self.program, None)?;
                self.worker(&place, &lock)
            }
            Case::Asking => {
                self.reset(None)?;
                self.hire()?;
                let (place, lock) = self.create(&self.asking, Some(PROVIDER))?;
                self.worker(&place, &lock)
            }
            Case::Approve => {
                self.reset(Some(&self.parked))?;
                null(self.wardian(&["run", "approve", &self.the_run()?.run.to_string()]))
            }
            Case::Second => {
                self.reset(Some(&self.parked))?;
                let place = self.the_run()?;
                let signal = Signal {
                    id: SignalId::new("1764500000000-0000beef")?,
                    verb: Verb::Approve { node: None },
                    actor: "ada".to_owned(),
                    note: None,
                };
                runstore::inbox::put(&RealDisk, &place, &signal, &SeededEntropy::new(3))?;
                let lock = runstore::lock::take(&RealDisk, &place)?;
                self.worker(&place, &lock.ok_or("the parked run is owned")?)
            }
            Case::Recovery => {
                self.reset(Some(&self.interrupted))?;
                null(self.exec(&self.short()))
            }
        }
    }

    /// A new run of an automation, as the command makes it.
    pub fn create(
        &self,
        program: &Program,
        provider: Option<&str>,
    ) -> Result<(RunPlace, Lock), Failure> {
        let run = engine::RunId::new("1764500000000-0a1b2c3d")?;
        let place = self.home().place(program.id(), &run);
        let disk: SharedDisk = Arc::new(RealDisk);
        let invocation = Invocation {
            workspace: Some(self.workspace.display().to_string()),
            input: serde_json::json!({ "who": "Ada" }),
            provider: provider.map(str::to_owned),
            ..Invocation::default()
        };
        let snapshot = program.snapshot();
        let new = NewRun {
            blueprint: Some(&snapshot),
            invocation: &invocation.encode(),
            automations: &[],
        };
        let created = create(&*disk, &place, &new, &SeededEntropy::new(2))?;
        Ok((created.place, created.lock))
    }

    fn worker(&self, place: &RunPlace, lock: &Lock) -> Result<Ready, Failure> {
        let file: &File = lock.file().ok_or("a real lock is a file")?;
        let stdin = Stdio::from(file.try_clone()?);
        let folder = place.folder().display().to_string();
        Ok(Ready { command: self.wardian(&["__worker", &folder]), stdin })
    }

    /// Kills a worker in the middle of its work, for the cases that begin
    /// with what is left then.
    pub fn interrupt(&self) -> Result<(), Failure> {
        let (place, lock) = self.create(&self.program, None)?;
        let Ready { command, stdin } = self.worker(&place, &lock)?;
        drop(lock);
        let point = Point { call: "fdatasync".to_owned(), nth: 3, path: None };
        match trace::kill(&command, &point, stdin)? {
            true => self.wait_for_workers(),
            false => Err("the worker has no third sync".into()),
        }
    }
}

/// Each thread that performs an attempt writes to files of its own.
fn attempt_points(calls: &[trace::Call], home: &Path, is_own: fn(&str) -> bool) -> Vec<Point> {
    let home = home.display().to_string();
    let mut points: Vec<Point> = Vec::new();
    for call in calls.iter().filter(|call| call.name != "execve") {
        let path = path_in(&call.text, &home).filter(|path| is_own(path));
        let Some(path) = path.map(PathBuf::from) else { continue };
        let before = |point: &&Point| point.call == call.name && point.path.as_ref() == Some(&path);
        let nth = points.iter().filter(before).count() + 1;
        points.push(Point { call: call.name.clone(), nth, path: Some(path) });
    }
    points
}

fn path_in<'t>(text: &'t str, home: &str) -> Option<&'t str> {
    let from = text.find(home)?;
    text[from..].split(['"', '>']).next()
}

fn is_output(path: &str) -> bool {
    path.contains("/output/") && path.ends_with(".log")
}

/// What is written only because an agent is asked: the book of attempts, the
/// folder of the attempt, and what it said.
fn is_asking(path: &str) -> bool {
    path.contains("/state.db") || path.contains("/home/tmp/") || is_output(path)
}
