//! What must hold after a kill and the next command.

use std::fs;
use std::path::Path;

use crate::story::judge_story;
use durable::disk::RealDisk;
use engine::{FailReason, RunState, RunStatus};
use runstore::RunPlace;
use serde_json::Value;
use std::process::Output;

use super::case::Case;
use super::house::{EFFECTS, House, expect};
use super::patience;
use super::trace::{Errno, Point};
use crate::life::Failure;

/// What every process of a run has in its environment.
const RUN: &str = "WARDIAN_RUN_ID=";
const HOME: &str = "WARDIAN_HOME=";

impl House {
    /// Lets the next command recover, and judges what is there then.
    pub fn judge(&self) -> Result<(), Failure> {
        self.judge_with(false)
    }

    /// The same where an attempt may have failed, and the run with it.
    pub fn judge_with(&self, may_fail: bool) -> Result<(), Failure> {
        self.wait_for_workers()?;
        expect(&patience::output(&mut self.exec(&self.short()))?, 0)?;
        self.wait_for_workers()?;
        let effects = crate::effects::read(&RealDisk, &self.workspace.join(EFFECTS))?;
        let list = self.json(&["run", "list"])?;
        let listed = list["runs"].as_array().ok_or("a list has runs")?;
        let places = self.runs()?;
        if listed.len() != places.len() {
            return Err(format!("{} of {} runs are listed", listed.len(), places.len()).into());
        }
        for row in listed {
            let at_rest = ["completed", "failed", "awaiting_approval"];
            let status = row["status"].as_str().unwrap_or_default();
            if !at_rest.contains(&status) || row["ownerless"] != Value::Bool(false) {
                return Err(format!("a run is listed as {row}").into());
            }
        }
        for place in &places {
            self.judge_run(place, &effects, may_fail)?;
        }
        self.judge_book()?;
        no_process(&places)
    }

    /// In the book of attempts nobody is said to work any more.
    fn judge_book(&self) -> Result<(), Failure> {
        let book = self.json(&["workers", "list"])?;
        let rows = book["workers"].as_array().ok_or("a list of workers has some")?;
        let active =
            |row: &&Value| ["requested", "running"].iter().any(|word| row["state"] == *word);
        match rows.iter().find(active) {
            Some(row) => Err(format!("an attempt is listed as {row}").into()),
            None => Ok(()),
        }
    }

    fn judge_run(
        &self,
        place: &RunPlace,
        effects: &[String],
        may_fail: bool,
    ) -> Result<(), Failure> {
        let id = place.run.as_str();
        let proven = self.json(&["run", "verify", id])?;
        if proven["ok"] != Value::Bool(true) {
            return Err(format!("it cannot be verified: {proven}").into());
        }
        let state = runstore::open(&RealDisk, place)?.state;
        let shown = self.json(&["run", "show", id])?;
        if shown["run"]["status"] != state.status().word() {
            return Err(format!("it is {} and is shown as {shown}", state.status().word()).into());
        }
        let program =
            [&self.program, &self.asking].into_iter().find(|one| place.blueprint == *one.id());
        let Some(program) = program else {
            let good = state.status() == RunStatus::Completed || died(&state) || may_fail;
            let word = state.status().word();
            return if good { Ok(()) } else { Err(format!("the short run is {word}").into()) };
        };
        let mut events = Vec::new();
        runstore::read::each(&RealDisk, place, |event| {
            events.push(event);
            std::ops::ControlFlow::Continue(())
        })?;
        judge_story(program, &place.run, &events, effects, &[])?;
        let well = state.is_parked() || state.status() == RunStatus::Completed;
        let good = well || died(&state) || (may_fail && state.closed.is_some());
        if good { Ok(()) } else { Err(format!("it ended otherwise: {:?}", state.closed).into()) }
    }

    /// Judges what a command said to which a call was refused: success only
    /// where there is success, else the cause, and no panic.
    pub fn judge_words(
        &self,
        case: Case,
        point: &Point,
        (errno, forever): (Errno, bool),
        output: &Output,
    ) -> Result<(), Failure> {
        let mut said = [&output.stdout[..], &output.stderr[..]].concat();
        for place in self.runs()? {
            // A file that is not there says nothing.
            for path in [place.worker_log(), place.events()] {
                said.extend(fs::read(path).unwrap_or_default());
            }
        }
        let said = String::from_utf8_lossy(&said);
        if said.contains("panicked at") || output.status.code().is_none_or(|code| code == 101) {
            return Err(format!("{}: {said}", output.status).into());
        }
        if output.status.code() == Some(case.success()) {
            return self.is_success(case);
        }
        // Who cannot write cannot tell either.
        let mute = forever && point.call == "write";
        match mute || said.contains(errno.text()) {
            true => Ok(()),
            false => Err(format!("{} names no cause: {said}", output.status).into()),
        }
    }

    /// Whether what a command calls done is done.
    fn is_success(&self, case: Case) -> Result<(), Failure> {
        let id = self.program.id();
        let mut states = Vec::new();
        for place in self.runs()? {
            let is_long = place.blueprint == *id;
            states.push((is_long, runstore::open(&RealDisk, &place)?.state));
        }
        let mut long = states.iter().filter(|(is_long, _)| *is_long).map(|(_, state)| state);
        let done = match case {
            Case::Exec => long.any(RunState::is_parked),
            // A worker has done what it can when its run rests.
            Case::Asking => states.iter().all(|(_, state)| state.closed.is_some()),
            Case::Worker | Case::Attempts | Case::Second => {
                long.all(|state| state.is_parked() || state.closed.is_some())
            }
            Case::Approve => long.all(|state| !state.signals.is_empty()),
            Case::Recovery => states
                .iter()
                .any(|(is_long, state)| !is_long && state.status() == RunStatus::Completed),
        };
        if done { Ok(()) } else { Err("it says that it is done, and it is not".into()) }
    }

    fn json(&self, args: &[&str]) -> Result<Value, Failure> {
        let output = patience::output(&mut self.wardian(args))?;
        let document = serde_json::from_slice(&output.stdout);
        document.map_err(|error| {
            let said = String::from_utf8_lossy(&output.stderr);
            format!("`{}` gives no JSON: {error}: {said}", args.join(" ")).into()
        })
    }
}

/// Whether the run failed because its owner died, and for nothing else.
fn died(state: &RunState) -> bool {
    let failure = state.closed.as_ref().and_then(|closed| closed.failure.as_ref());
    failure.is_some_and(|failure| {
        matches!(failure.reason, FailReason::Interrupted | FailReason::Launch)
    })
}

/// No process of these runs is left. Runs of other homes may have their ids.
fn no_process(places: &[RunPlace]) -> Result<(), Failure> {
    for entry in fs::read_dir("/proc")? {
        let path = entry?.path();
        // A process that has just gone, or is not ours, has none to read.
        let Ok(environment) = fs::read(path.join("environ")) else { continue };
        let value = |name: &str| {
            let mut variables = environment.split(|byte| *byte == 0);
            variables.find_map(|variable| std::str::from_utf8(variable).ok()?.strip_prefix(name))
        };
        let (Some(run), Some(home)) = (value(RUN), value(HOME)) else { continue };
        let is_one =
            |place: &RunPlace| place.run.as_str() == run && place.home.path() == Path::new(home);
        if places.iter().any(is_one) {
            return Err(format!("{} of run {run} is left", path.display()).into());
        }
    }
    Ok(())
}
