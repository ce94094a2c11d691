//! The judges of a disk that a crash has left. They let the next command
//! recover it, and then ask:
//!
//! - O1 every acknowledged byte, run and signal is there;
//! - O2 nothing is there that was not tried;
//! - O3 the log alone, checkpoint and rest, and the owner's own state agree;
//! - O4 effects and log agree, attempt by attempt ([`crate::story`]), and so
//!   do the runs that work for each other ([`crate::relations`]);
//! - O5 nothing runs without an owner;
//! - O6 a second recovery changes no byte;
//! - O7 the locks are free.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use durable::Clock as _;
use durable::sim::SimDisk;
use engine::{Event, Fact, RunState, UnknownCause, fold};
use host::api::Recovered;
use host::worker::Left;
use runstore::{CheckpointUse, RunPlace, limits};

use crate::effects;
use crate::life::{Failure, Theatre};
use crate::prepared::theatre;
use crate::relations::relations;
use crate::scenario::Scenario;
use crate::story::judge_story;
use crate::witness::Told;

/// What a judge has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub oracle: &'static str,
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.oracle, self.what)
    }
}

pub(crate) type Judged<T = ()> = Result<T, Violation>;

pub(crate) fn violation(oracle: &'static str, what: impl fmt::Display) -> Violation {
    Violation { oracle, what: what.to_string() }
}

pub(crate) fn unless(holds: bool, oracle: &'static str, what: impl FnOnce() -> String) -> Judged {
    if holds { Ok(()) } else { Err(Violation { oracle, what: what() }) }
}

/// So many times a moment may come while others are looked after.
const MOMENTS: usize = 8;

/// Recovers the disk, part after part of the crashes before, and judges it.
/// With `to_the_end`, gates that still wait are granted, and the runs must
/// come to their end.
pub fn judge(
    scenario: &Arc<Scenario>,
    disk: &SimDisk,
    told: &Told,
    part: u64,
    to_the_end: bool,
) -> Judged {
    let next = theatre(scenario, disk, told.clone(), part);
    before(&next, told)?;
    let mut recovered = recover(&next)?;
    for _ in 0..MOMENTS {
        if !moment_has_come(&next)? {
            break;
        }
        recovered.extend(recover(&next)?);
    }
    unless(!disk.crashed(), "O1", || "the disk of a recovery crashed".to_owned())?;
    after(&next, told, &recovered)?;
    second(scenario, disk, &next, part)?;
    if to_the_end { finish(&next) } else { Ok(()) }
}

fn recover(next: &Theatre) -> Judged<Vec<Recovered>> {
    next.recover().map_err(|error| violation("O1", chain(&*error)))
}

/// Whether the time for which a run waits has come meanwhile.
fn moment_has_come(next: &Theatre) -> Judged<bool> {
    for place in known(runstore::list::all(&*next.disk, &next.home))? {
        let summary = known(runstore::list::summary(&*next.disk, &place))?;
        if summary.wake_at.is_some_and(|at| at <= next.clock.now()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// An error with all its causes.
pub fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(error.source(), |cause| (*cause).source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

pub(crate) fn known<T>(result: Result<T, impl Into<Failure>>) -> Judged<T> {
    result.map_err(|error| violation("O1", chain(&*error.into())))
}

/// What the disk must hold before anybody touches it.
fn before(next: &Theatre, told: &Told) -> Judged {
    let disk = &next.disk;
    for place in told.created.iter().chain(&told.children) {
        let snapshot = known(disk.read(&place.blueprint_json(), limits::SNAPSHOT_BYTES))?;
        let graph = next.scenario.graph(&place.blueprint);
        let same = graph.is_some_and(|(_, kept)| snapshot == kept);
        unless(same, "O1", || format!("the snapshot of {} is another", place.run))?;
        known(disk.read(&place.invocation_json(), limits::INVOCATION_BYTES))?;
        known(disk.read(&place.events(), u64::MAX))?;
    }
    for (path, log) in &told.logs {
        if log.acknowledged == 0 {
            continue;
        }
        let bytes = known(disk.read(path, u64::MAX))?;
        let acknowledged = &log.tried[..log.acknowledged];
        unless(bytes.starts_with(acknowledged), "O1", || {
            format!("{} acknowledged bytes of {} are not there", log.acknowledged, path.display())
        })?;
    }
    Ok(())
}

fn after(next: &Theatre, told: &Told, recovered: &[Recovered]) -> Judged {
    let now = next.told();
    if let Some(fault) = &now.fault {
        return Err(violation("O1", fault));
    }
    let lines = known(effects::lines(&*next.disk, &next.home))?;
    let places = known(runstore::list::all(&*next.disk, &next.home))?;
    let mut created = told.created.iter().chain(&told.children);
    let missing = created.find(|place| !places.contains(place));
    unless(missing.is_none(), "O1", || "a created run is not listed".to_owned())?;
    let mut runs = Vec::new();
    for place in places {
        let mut ids = recovered.iter().map(|one| one.run_id.as_str());
        let is_recovered = ids.any(|id| id == place.run.as_str());
        let run = run(next, place, is_recovered)?;
        bytes(next, &now, &run)?;
        states(next, &run)?;
        story(next, &run, &lines)?;
        rest(next, &run)?;
        promises(next, told, &run)?;
        runs.push(run);
    }
    relations(next, &runs)
}

/// A run as reading it shows it.
pub(crate) struct Run {
    pub(crate) place: RunPlace,
    pub(crate) events: Vec<Event>,
    pub(crate) state: RunState,
    /// Bytes of the good lines.
    bytes: u64,
    torn: bool,
    /// Whether the recovery had to do with it.
    recovered: bool,
}

pub(crate) fn run(next: &Theatre, place: RunPlace, recovered: bool) -> Judged<Run> {
    let opened = known(runstore::open(&*next.disk, &place))?;
    if let CheckpointUse::Passed(why) = &opened.checkpoint {
        return Err(violation("O3", format!("the checkpoint of {}: {why}", place.run)));
    }
    let torn = opened.torn.is_some();
    unless(!torn || !recovered, "O5", || "an owner leaves a torn log".to_owned())?;
    let (state, bytes) = (opened.state, opened.position.offset);
    Ok(Run { events: known(next.events(&place))?, place, state, bytes, torn, recovered })
}

/// O2: every byte is one that was tried, and an owner leaves none open.
fn bytes(next: &Theatre, now: &Told, run: &Run) -> Judged {
    let found = known(next.disk.read_from(&run.place.events(), 0, run.bytes))?;
    let Some(log) = now.logs.get(&run.place.events()) else {
        return unless(found.is_empty(), "O2", || "a log that nobody wrote".to_owned());
    };
    unless(log.tried.starts_with(&found), "O2", || {
        format!("the log of {} holds bytes that nobody wrote", run.place.run)
    })?;
    unless(run.bytes >= log.acknowledged as u64, "O1", || {
        format!("{} of {} bytes can be read", run.bytes, log.acknowledged)
    })
}

/// O3. An owner stores its own state when it leaves.
fn states(next: &Theatre, run: &Run) -> Judged {
    let mut state = RunState::fresh();
    for event in &run.events {
        fold(&mut state, event).map_err(|illegal| violation("O3", illegal))?;
    }
    unless(run.state == state, "O3", || "checkpoint and log tell two states".to_owned())?;
    let summary = known(runstore::list::summary(&*next.disk, &run.place))?;
    let same = summary.status == state.status() && summary.next_seq == state.next_seq;
    unless(same, "O3", || "a listing tells another state".to_owned())
}

/// O4.
fn story(next: &Theatre, run: &Run, lines: &[String]) -> Judged {
    let Run { place, events, .. } = run;
    let old = match events.first().map(|event| &event.fact) {
        Some(Fact::RunStarted(started)) => {
            started.retry_of.clone().or(started.fork_of.clone().map(|(run, _)| run))
        }
        Some(_) | None => None,
    };
    let old = old.map(|run| next.events(&RunPlace { run, ..place.clone() }));
    let old = known(old.transpose())?.unwrap_or_default();
    let graph = next.scenario.graph(&place.blueprint);
    let (program, _) = graph.ok_or_else(|| violation("O2", "a run of nobody's blueprint"))?;
    judge_story(program, &place.run, events, lines, &old)
        .map_err(|why| violation("O4", format!("run {}: {why}", place.run)))
}

/// O5 and O7.
fn rest(next: &Theatre, run: &Run) -> Judged {
    let Run { place, state, .. } = run;
    let at_rest = state.closed.is_some() || state.is_parked();
    unless(at_rest, "O5", || format!("run {} is {}", place.run, state.status().word()))?;
    if state.is_parked() {
        let waits = next.has_signals(place).map_err(|error| violation("O5", error))?;
        unless(!waits, "O5", || "a parked run has an unanswered signal".to_owned())?;
    }
    let lock = known(runstore::lock::take(&*next.disk, place))?;
    unless(lock.is_some(), "O7", || format!("the lock of {} is held", place.run))
}

/// What the outside was told before the crash still holds.
fn promises(next: &Theatre, told: &Told, run: &Run) -> Judged {
    let Run { place, state, .. } = run;
    if let Some(Left::Closed(status)) = told.left.get(place) {
        let kept = state.status() == *status && !run.recovered && !run.torn;
        unless(kept, "O1", || format!("run {} was told to be {}", place.run, status.word()))?;
    }
    for (_, signal) in told.signals.iter().filter(|(of, _)| of == place) {
        let waits =
            state.closed.is_some() && known(runstore::inbox::contains(&*next.disk, place, signal))?;
        let there = waits || state.signals.contains(signal);
        unless(there, "O1", || format!("signal {signal} is lost"))?;
    }
    // A call that fails may fail an attempt, or hide its end, and with it the
    // run's.
    let failed = run.events.iter().any(|event| {
        let lost = matches!(event.fact, Fact::AttemptUnknown { cause: UnknownCause::Lost, .. });
        lost || matches!(event.fact, Fact::NodeFailed { .. })
    });
    let goes_on = !next.scenario.completes
        || failed
        || state.started.is_none()
        || state.closed.as_ref().is_none_or(|closed| closed.failure.is_none());
    unless(goes_on, "O5", || format!("run {} may go on and does not", place.run))
}

/// O6. The index of the runs is a cache, which a second recovery may still
/// mend; a third finds nothing at all.
fn second(scenario: &Arc<Scenario>, disk: &SimDisk, first: &Theatre, part: u64) -> Judged {
    for is_last in [false, true] {
        let (clean, before) = (disk.digest(), disk.after_process_crash());
        let again = theatre(scenario, disk, first.told(), part + 1);
        again.clock.set(first.clock.now());
        let recovered = again.recover().map_err(|error| violation("O6", chain(&*error)))?;
        unless(recovered.is_empty(), "O6", || "a second recovery finds work".to_owned())?;
        if disk.digest() == clean {
            return Ok(());
        }
        let mut changed = changed(&before, disk);
        changed.retain(|path| is_last || *path != first.home.index());
        let changed: Vec<String> = changed.iter().map(|path| path.display().to_string()).collect();
        unless(changed.is_empty(), "O6", || {
            format!("a second recovery changes {}", changed.join(", "))
        })?;
    }
    Ok(())
}

/// The files that are not the same.
fn changed(before: &SimDisk, after: &SimDisk) -> Vec<PathBuf> {
    let (before, after) = (before.files(), after.files());
    let other = |(path, bytes): &&(PathBuf, Vec<u8>)| {
        !before.iter().any(|(of, were)| of == path && were == bytes)
    };
    after.iter().filter(other).map(|(path, _)| path.clone()).collect()
}

/// Gates and budgets are granted and moments awaited until nothing waits;
/// then every run is closed, and all of it can be proven.
fn finish(next: &Theatre) -> Judged {
    let gates = next.scenario.program.nodes().len() + GRANTS;
    for _ in 0..gates {
        let mut open = false;
        for place in known(runstore::list::all(&*next.disk, &next.home))? {
            let state = known(runstore::open(&*next.disk, &place))?.state;
            if state.closed.is_some() {
                continue;
            }
            open = true;
            let waits = !state.waiting.is_empty() || !state.timers.is_empty();
            // One that only waits for others hears from them.
            if waits || state.spending.is_held() || state.children.is_empty() {
                let gone_on = next.go_on(&place, &state);
                gone_on.map_err(|error| violation("O5", chain(&*error)))?;
            }
        }
        if !open {
            break;
        }
    }
    let lines = known(effects::lines(&*next.disk, &next.home))?;
    let mut runs = Vec::new();
    for place in known(runstore::list::all(&*next.disk, &next.home))? {
        let run = run(next, place, false)?;
        let id = &run.place.run;
        unless(run.state.closed.is_some(), "O5", || format!("run {id} never ends"))?;
        story(next, &run, &lines)?;
        let report = known(runstore::verify(&*next.disk, &run.place))?;
        unless(report.is_sound(), "O2", || format!("run {id} is not sound"))?;
        runs.push(run);
    }
    relations(next, &runs)
}

/// Items of a list can wait at the same gate one after the other.
const GRANTS: usize = 8;
