//! Many runs in one home, quickly: each is made, driven and checkpointed by
//! the real store, machine and loop, on the real disk, but nothing is synced.
//! For those who measure, and whose home may be lost.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use blueprint::{Budget, Program};
use durable::disk::{Append, Disk, DiskError, Lock, RealDisk, SharedDisk, Stat};
use durable::sim::{ManualClock, SeededEntropy};
use durable::{Clock as _, Digest, Generation, Span, Timestamp};
use engine::{AttemptKey, Class, Input, Launch, NodeError, Outcome, RunMachine, RunState, Work};
use host::worker::{Arrival, World, drive};
use runstore::{Home, Invocation, NewRun, create, new_run_id};
use serde_json::json;

use crate::Draft;
use crate::life::Failure;

/// When the first run began, in milliseconds.
const BEGIN: i64 = 1_764_500_000_000;

/// Of so many runs one fails, and one waits at its gate for ever.
const FAILS_EVERY: usize = 10;
const WAITS_EVERY: usize = 1000;

/// Between two runs.
const APART: Span = Span::from_secs(10);

/// Adds `runs` runs of three automations to the home, of which all but a few
/// have ended. They begin behind those that an earlier call has made.
pub fn herd(home: &Path, runs: usize) -> Result<(), Failure> {
    let disk: SharedDisk = Arc::new(Hasty(RealDisk));
    let home = Home::at(home.to_owned());
    durable::disk::create_dir_all(&*disk, home.path())?;
    let before = runstore::list::all(&*disk, &home)?.len();
    let clock = ManualClock::new(Timestamp::from_millis(BEGIN));
    clock.advance(Span::from_millis(APART.millis() * u64::try_from(before)?));
    let kinds = [kind("nightly"), kind("triage"), kind("release")].map(Kept::new);
    let entropy = SeededEntropy::new(u64::try_from(before)?);
    for at in before..before + runs {
        clock.advance(APART);
        let plot = match at {
            at if at % WAITS_EVERY == WAITS_EVERY - 1 => Plot::Waits,
            at if at % FAILS_EVERY == FAILS_EVERY - 1 => Plot::Fails,
            _ => Plot::Succeeds,
        };
        run(&disk, &home, &kinds[at % kinds.len()], plot, &clock, &entropy)?;
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plot {
    Succeeds,
    Fails,
    Waits,
}

/// A program and its bytes.
struct Kept {
    program: Arc<Program>,
    snapshot: Vec<u8>,
}

impl Kept {
    fn new(program: Arc<Program>) -> Self {
        let snapshot = program.snapshot();
        Self { program, snapshot }
    }
}

fn kind(id: &str) -> Arc<Program> {
    let draft = Draft::new(id)
        .state("keep", "who", "{{trigger.output.who}}")
        .shell("build", "make")
        .node("ask", "branch", json!({ "condition": "trigger.output.ask" }))
        .gate("gate")
        .shell("publish", "make publish")
        .port("ask", "on_true", "gate")
        .port("ask", "on_false", "publish");
    draft.path(&["start", "keep", "build", "ask"]).program()
}

fn run(
    disk: &SharedDisk,
    home: &Home,
    kept: &Kept,
    plot: Plot,
    clock: &ManualClock,
    entropy: &SeededEntropy,
) -> Result<(), Failure> {
    let place = home.place(kept.program.id(), &new_run_id(clock.now(), entropy));
    let input = json!({ "who": "Ada", "ask": plot == Plot::Waits });
    let call = Invocation { input: input.clone(), ..Invocation::default() }.encode();
    let new = NewRun { blueprint: Some(&kept.snapshot), invocation: &call, automations: &[] };
    let mut writer = create(&**disk, &place, &new, entropy)?.into_writer(disk.clone())?;
    let artifacts = place.artifacts().display().to_string();
    let mut machine = RunMachine::open(Arc::clone(&kept.program), RunState::fresh(), artifacts);
    let launch = Launch {
        run_id: place.run,
        input,
        blueprint_digest: Digest::of(&kept.snapshot),
        invocation_digest: Digest::of(&call),
        principal: None,
        retry: None,
        parent: None,
        deadline: None,
        budget: Budget::default(),
    };
    machine.handle(Input::Launch(Box::new(launch)), clock.now());
    let mut world = Prompt { clock, plot, due: VecDeque::new() };
    drive(&mut world, &**disk, &mut writer, &mut machine)?;
    Ok(())
}

/// Every attempt ends at once.
#[derive(Debug)]
struct Prompt<'a> {
    clock: &'a ManualClock,
    plot: Plot,
    due: VecDeque<Work>,
}

impl World for Prompt<'_> {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn start(&mut self, work: Work) {
        self.due.push_back(work);
    }

    fn stop(&mut self, _: &AttemptKey) {}

    fn wait(&mut self, _: Option<Timestamp>) -> Arrival {
        self.clock.advance(Span::from_millis(300));
        let Some(work) = self.due.pop_front() else { return Arrival::Time };
        let fails = self.plot == Plot::Fails && work.key.node.node.as_str() == "publish";
        let outcome = match fails {
            true => Outcome::Failed(NodeError::before_effect(
                Class::Bug,
                "exit_code",
                "it failed".to_owned(),
            )),
            false => Outcome::Output(json!({ "exit_code": 0, "stdout": "made\n", "stderr": "" })),
        };
        Arrival::Outcome { key: work.key, generation: Generation::FIRST, outcome }
    }

    fn stays(&self, _: Option<Timestamp>) -> bool {
        false
    }

    fn leave(&mut self) {}

    fn note(&mut self, _: &str) {}
}

/// The real disk without its syncs.
#[derive(Debug)]
struct Hasty(RealDisk);

#[derive(Debug)]
struct HastyAppend(Box<dyn Append>);

impl Disk for Hasty {
    fn stat(&self, path: &Path) -> Result<Option<Stat>, DiskError> {
        self.0.stat(path)
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, DiskError> {
        self.0.read(path, limit)
    }

    fn read_from(&self, path: &Path, offset: u64, limit: u64) -> Result<Vec<u8>, DiskError> {
        self.0.read_from(path, offset, limit)
    }

    fn list(&self, folder: &Path) -> Result<Vec<String>, DiskError> {
        self.0.list(folder)
    }

    fn folders(&self, folder: &Path) -> Result<Vec<String>, DiskError> {
        self.0.folders(folder)
    }

    fn create_dir(&self, path: &Path) -> Result<(), DiskError> {
        self.0.create_dir(path)
    }

    fn create(&self, path: &Path, bytes: &[u8]) -> Result<(), DiskError> {
        self.0.create(path, bytes)
    }

    fn sync_file(&self, _: &Path) -> Result<(), DiskError> {
        Ok(())
    }

    fn sync_dir(&self, _: &Path) -> Result<(), DiskError> {
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), DiskError> {
        self.0.rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> Result<(), DiskError> {
        self.0.remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> Result<(), DiskError> {
        self.0.remove_dir(path)
    }

    fn append(&self, path: &Path) -> Result<Box<dyn Append>, DiskError> {
        Ok(Box::new(HastyAppend(self.0.append(path)?)))
    }

    fn try_lock(&self, path: &Path) -> Result<Option<Lock>, DiskError> {
        self.0.try_lock(path)
    }

    fn is_locked(&self, path: &Path) -> Result<bool, DiskError> {
        self.0.is_locked(path)
    }
}

impl Append for HastyAppend {
    fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), DiskError> {
        self.0.write(bytes)
    }

    fn sync(&mut self) -> Result<(), DiskError> {
        Ok(())
    }

    fn cut(&mut self, bytes: u64) -> Result<(), DiskError> {
        self.0.cut(bytes)
    }
}

#[cfg(test)]
mod tests {
    use engine::RunStatus;

    use super::*;

    #[test]
    fn a_herd_is_made_of_real_runs() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().canonicalize().unwrap());
        herd(home.path(), 12).unwrap();
        herd(home.path(), 8).unwrap();
        let places = runstore::list::all(&RealDisk, &home).unwrap();
        assert_eq!(places.len(), 20);
        let sound = |place| runstore::verify(&RealDisk, place).unwrap().is_sound();
        assert!(places.iter().all(sound));
        let status = |place| runstore::list::summary(&RealDisk, place).unwrap().status;
        let failed = places.iter().filter(|place| status(place) == RunStatus::Failed);
        assert_eq!(failed.count(), 2);
    }
}
