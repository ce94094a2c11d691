//! The judges of a disk that a crash has left. They let the next command
//! recover it, and then ask:
//!
//! - O1 every acknowledged byte, run and signal is there;
//! - O2 nothing is there that was not tried;
//! - O3 the log alone, checkpoint and rest, and the owner's own state agree;
//! - O4 effects and log agree, attempt by attempt ([`crate::story`]);
//! - O5 nothing runs without an owner;
//! - O6 a second recovery changes no byte;
//! - O7 the locks are free.

use std::fmt;

use durable::sim::SimDisk;
use engine::{Event, Fact, RunState, RunStatus, fold};
use host::worker::Left;
use runstore::{CheckpointUse, RunPlace, limits};

use crate::effects;
use crate::life::{Failure, Owned, Theatre};
use crate::prepared::theatre;
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

type Judged<T = ()> = Result<T, Violation>;

fn violation(oracle: &'static str, what: impl fmt::Display) -> Violation {
    Violation { oracle, what: what.to_string() }
}

fn unless(holds: bool, oracle: &'static str, what: impl FnOnce() -> String) -> Judged {
    if holds { Ok(()) } else { Err(Violation { oracle, what: what() }) }
}

/// Recovers the disk, part after part of the crashes before, and judges it.
/// With `to_the_end`, gates that still wait are granted, and the runs must
/// come to their end.
pub fn judge(
    scenario: &Scenario,
    disk: &SimDisk,
    told: &Told,
    part: u64,
    to_the_end: bool,
) -> Judged {
    let next = theatre(scenario, disk, told.clone(), part);
    before(&next, told)?;
    let recovered = next.recover().map_err(|error| violation("O1", chain(&*error)))?;
    unless(!disk.crashed(), "O1", || "the disk of a recovery crashed".to_owned())?;
    after(&next, told, &recovered)?;
    second(scenario, disk, &next, part)?;
    if to_the_end { finish(&next) } else { Ok(()) }
}

/// An error with all its causes.
pub fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(error.source(), |cause| (*cause).source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

fn known<T>(result: Result<T, impl Into<Failure>>) -> Judged<T> {
    result.map_err(|error| violation("O1", chain(&*error.into())))
}

/// What the disk must hold before anybody touches it.
fn before(next: &Theatre<'_>, told: &Told) -> Judged {
    let disk = &next.disk;
    for place in &told.created {
        let snapshot = known(disk.read(&place.blueprint_json(), limits::SNAPSHOT_BYTES))?;
        let same = snapshot == next.scenario.snapshot;
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

fn after(next: &Theatre<'_>, told: &Told, recovered: &[Owned]) -> Judged {
    let now = next.told();
    if let Some(fault) = &now.fault {
        return Err(violation("O1", fault));
    }
    let lines = known(effects::lines(&*next.disk, &next.home))?;
    let places = known(runstore::list::all(&*next.disk, &next.home))?;
    let missing = told.created.iter().find(|place| !places.contains(place));
    unless(missing.is_none(), "O1", || "a created run is not listed".to_owned())?;
    for place in &places {
        let owned = recovered.iter().find(|owned| owned.place == *place);
        let run = run(next, place, owned)?;
        bytes(next, place, &now, &run)?;
        states(&run, owned)?;
        story(next, place, &run.events, &lines)?;
        rest(next, place, &run.state)?;
        promises(next, place, told, owned, &run)?;
    }
    Ok(())
}

/// A run as reading it shows it.
struct Run {
    events: Vec<Event>,
    state: RunState,
    /// Bytes of the good lines.
    bytes: u64,
    torn: bool,
}

fn run(next: &Theatre<'_>, place: &RunPlace, owned: Option<&Owned>) -> Judged<Run> {
    let opened = known(runstore::open(&*next.disk, place))?;
    if let CheckpointUse::Passed(why) = &opened.checkpoint {
        return Err(violation("O3", format!("the checkpoint of {}: {why}", place.run)));
    }
    let torn = opened.torn.is_some();
    unless(!torn || owned.is_none(), "O5", || "an owner leaves a torn log".to_owned())?;
    let (state, bytes) = (opened.state, opened.position.offset);
    Ok(Run { events: known(next.events(place))?, state, bytes, torn })
}

/// O2: every byte is one that was tried, and an owner leaves none open.
fn bytes(next: &Theatre<'_>, place: &RunPlace, now: &Told, run: &Run) -> Judged {
    let found = known(next.disk.read_from(&place.events(), 0, run.bytes))?;
    let Some(log) = now.logs.get(&place.events()) else {
        return unless(found.is_empty(), "O2", || "a log that nobody wrote".to_owned());
    };
    unless(log.tried.starts_with(&found), "O2", || {
        format!("the log of {} holds bytes that nobody wrote", place.run)
    })?;
    unless(run.bytes >= log.acknowledged as u64, "O1", || {
        format!("{} of {} bytes can be read", run.bytes, log.acknowledged)
    })
}

/// O3.
fn states(run: &Run, owned: Option<&Owned>) -> Judged {
    let mut state = RunState::fresh();
    let mut agreed = owned.is_none();
    for event in &run.events {
        if let Some(owned) = owned.filter(|owned| owned.found.next_seq == event.seq) {
            unless(owned.found == state, "O3", || "an owner found another state".to_owned())?;
            agreed = true;
        }
        fold(&mut state, event).map_err(|illegal| violation("O3", illegal))?;
    }
    unless(agreed, "O3", || "an owner found more than there is".to_owned())?;
    unless(run.state == state, "O3", || "checkpoint and log tell two states".to_owned())?;
    let last = owned.is_none_or(|owned| owned.last == state);
    unless(last, "O3", || "the owner's own state is another than the log's".to_owned())
}

/// O4.
fn story(next: &Theatre<'_>, place: &RunPlace, events: &[Event], lines: &[String]) -> Judged {
    let old = match events.first().map(|event| &event.fact) {
        Some(Fact::RunStarted(started)) => {
            started.retry_of.clone().or(started.fork_of.clone().map(|(run, _)| run))
        }
        Some(_) | None => None,
    };
    let old = old.map(|run| next.events(&RunPlace { run, ..place.clone() }));
    let old = known(old.transpose())?.unwrap_or_default();
    judge_story(&next.scenario.program, &place.run, events, lines, &old)
        .map_err(|why| violation("O4", format!("run {}: {why}", place.run)))
}

/// O5 and O7.
fn rest(next: &Theatre<'_>, place: &RunPlace, state: &RunState) -> Judged {
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
fn promises(
    next: &Theatre<'_>,
    place: &RunPlace,
    told: &Told,
    owned: Option<&Owned>,
    run: &Run,
) -> Judged {
    let state = &run.state;
    if let Some(Left::Closed(status)) = told.left.get(place) {
        let kept = state.status() == *status && owned.is_none() && !run.torn;
        unless(kept, "O1", || format!("run {} was told to be {}", place.run, status.word()))?;
    }
    for (_, signal) in told.signals.iter().filter(|(of, _)| of == place) {
        let waits =
            state.closed.is_some() && known(runstore::inbox::contains(&*next.disk, place, signal))?;
        let there = waits || state.signals.contains(signal);
        unless(there, "O1", || format!("signal {signal} is lost"))?;
    }
    // A call that fails may fail an attempt, and with it the run.
    let failed = run.events.iter().any(|event| matches!(event.fact, Fact::NodeFailed { .. }));
    let goes_on = !next.scenario.completes
        || failed
        || state.started.is_none()
        || state.status() == RunStatus::Completed;
    unless(goes_on, "O5", || format!("run {} may go on and does not", place.run))
}

/// O6.
fn second(scenario: &Scenario, disk: &SimDisk, first: &Theatre<'_>, part: u64) -> Judged {
    let clean = disk.digest();
    let again = theatre(scenario, disk, first.told(), part + 1);
    let recovered = again.recover().map_err(|error| violation("O6", chain(&*error)))?;
    unless(recovered.is_empty(), "O6", || "a second recovery finds work".to_owned())?;
    unless(disk.digest() == clean, "O6", || "a second recovery changes bytes".to_owned())
}

/// Gates are granted until nothing waits; then every run is closed, and all
/// of it can be proven.
fn finish(next: &Theatre<'_>) -> Judged {
    for place in known(runstore::list::all(&*next.disk, &next.home))? {
        let mut state = known(runstore::open(&*next.disk, &place))?.state;
        let gates = next.scenario.program.nodes().len();
        for _ in 0..gates {
            if state.closed.is_some() {
                break;
            }
            let owned = next.go_on(&place, &state);
            state = owned.map_err(|error| violation("O5", chain(&*error)))?.last;
        }
        unless(state.closed.is_some(), "O5", || format!("run {} never ends", place.run))?;
        let lines = known(effects::lines(&*next.disk, &next.home))?;
        let events = known(next.events(&place))?;
        story(next, &place, &events, &lines)?;
        let report = known(runstore::verify(&*next.disk, &place))?;
        unless(report.is_sound(), "O2", || format!("run {} is not sound", place.run))?;
    }
    Ok(())
}
