//! What must hold after a kill and the next command.

use std::fs;

use durable::disk::RealDisk;
use engine::{FailReason, RunState, RunStatus};
use runstore::RunPlace;
use serde_json::Value;
use world::judge_story;

use crate::house::{EFFECTS, House, expect};
use crate::{Failure, patience};

/// What every process of a run has in its environment.
const MARK: &str = "WARDIAN_RUN_ID=";

impl House {
    /// Lets the next command recover, and judges what is there then.
    pub(crate) fn judge(&self) -> Result<(), Failure> {
        self.wait_for_workers()?;
        expect(&patience::output(&mut self.exec(&self.short()))?, 0)?;
        self.wait_for_workers()?;
        let effects = world::effects::read(&RealDisk, &self.workspace.join(EFFECTS))?;
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
            self.judge_run(place, &effects)?;
        }
        no_process(&places)
    }

    fn judge_run(&self, place: &RunPlace, effects: &[String]) -> Result<(), Failure> {
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
        if place.blueprint != *self.program.id() {
            let good = state.status() == RunStatus::Completed || died(&state);
            let word = state.status().word();
            return if good { Ok(()) } else { Err(format!("the short run is {word}").into()) };
        }
        let mut events = Vec::new();
        runstore::read::each(&RealDisk, place, |event| {
            events.push(event);
            std::ops::ControlFlow::Continue(())
        })?;
        judge_story(&self.program, &place.run, &events, effects, &[])?;
        let good = state.is_parked() || state.status() == RunStatus::Completed || died(&state);
        if good { Ok(()) } else { Err(format!("it ended otherwise: {:?}", state.closed).into()) }
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

/// No process of these runs is left.
fn no_process(places: &[RunPlace]) -> Result<(), Failure> {
    for entry in fs::read_dir("/proc")? {
        let path = entry?.path();
        // A process that has just gone, or is not ours, has none to read.
        let Ok(environment) = fs::read(path.join("environ")) else { continue };
        let mut marks = environment
            .split(|byte| *byte == 0)
            .filter_map(|variable| std::str::from_utf8(variable).ok()?.strip_prefix(MARK));
        let found = marks.find(|mark| places.iter().any(|place| place.run.as_str() == *mark));
        if let Some(mark) = found {
            return Err(format!("{} of run {mark} is left", path.display()).into());
        }
    }
    Ok(())
}
