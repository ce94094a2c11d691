//! A real run's files, damaged in every small way and read again. Whatever
//! is done to them, what is read is a part of what was written, or the
//! damage is told: nothing panics, and no changed event is believed.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use durable::disk::{Disk as _, RealDisk};
use durable::sim::SimDisk;
use engine::{Event, Fact, RunState, Verb};
use runstore::{CheckpointUse, Home, OpenError, RunPlace, limits};
use serde_json::json;

use crate::draft::Draft;
use crate::life::{Failure, Theatre};
use crate::scenario::{Act, Play, Scenario, Word};
use crate::witness::Told;

/// The files of a run as they were written.
#[derive(Debug, Clone)]
pub struct Whole {
    place: RunPlace,
    pub log: Vec<u8>,
    saved: Vec<u8>,
    blueprint: Vec<u8>,
    invocation: Vec<u8>,
    events: Vec<Event>,
    state: RunState,
    /// Where the last batch begins: what is damaged from there on looks
    /// like a write that was cut short.
    last_batch: usize,
}

/// A damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Harm {
    Cut(usize),
    /// This bit of the log, counted from its first.
    Bit(usize),
    Line(Trick, usize),
    /// This bit of another file.
    Other(File, usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trick {
    Drop,
    Double,
    Swap,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum File {
    Checkpoint,
    Blueprint,
    Invocation,
}

impl Whole {
    /// Runs the engine on the real disk, in this empty folder, until its log
    /// has about so many bytes.
    pub fn make(folder: &Path, bytes: usize) -> Result<Self, Failure> {
        let scenario = Arc::new(scenario(bytes));
        let disk = Arc::new(RealDisk);
        let theatre = Theatre::new(&scenario, disk, folder.to_owned(), Told::default(), 0);
        theatre.perform(&scenario.acts)?;
        let place = theatre.told().created.first().cloned().ok_or("no run was created")?;
        let read = |path: std::path::PathBuf| RealDisk.read(&path, limits::CHECKPOINT_BYTES);
        let opened = runstore::open(&RealDisk, &place)?;
        let log = read(place.events())?;
        let feeds = log.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
        // The last batch is the outcome of the last command, its note and
        // the end of the run.
        let events = theatre.events(&place)?;
        let outcome =
            |event: &Event| matches!(&event.fact, Fact::NodeCompleted { attempt: Some(_), .. });
        let lines = events.iter().rposition(outcome).ok_or("no command has ended")?;
        let last_batch = feeds.take(lines).last().map_or(0, |feed| feed + 1);
        Ok(Self {
            saved: read(place.state())?,
            blueprint: read(place.blueprint_json())?,
            invocation: read(place.invocation_json())?,
            place: Home::at("/home".into()).place(&place.blueprint, &place.run),
            state: opened.state,
            log,
            events,
            last_batch,
        })
    }

    /// All damages, of the bits and of the cuts every so many.
    pub fn harms(&self, stride: usize) -> Vec<Harm> {
        let lines = self.log.iter().filter(|byte| **byte == b'\n').count();
        let mut harms: Vec<Harm> = (0..self.log.len()).step_by(stride).map(Harm::Cut).collect();
        harms.extend((0..self.log.len() * 8).step_by(stride).map(Harm::Bit));
        for trick in [Trick::Drop, Trick::Double, Trick::Swap] {
            harms.extend((0..lines.saturating_sub(1)).map(|line| Harm::Line(trick, line)));
        }
        for file in [File::Checkpoint, File::Blueprint, File::Invocation] {
            let bits = (0..self.file(file).len()).map(|byte| byte * 8 + byte % 8);
            harms.extend(bits.step_by(stride).map(|bit| Harm::Other(file, bit)));
        }
        harms
    }

    /// Does the damage and reads what is left. Gives what was believed and
    /// should not have been.
    pub fn judge(&self, harm: Harm) -> Result<(), String> {
        let judging = || match harm {
            Harm::Cut(at) => self.judge_cut(at),
            Harm::Bit(bit) => self.judge_bit(bit),
            Harm::Line(trick, line) => self.judge_line(trick, line),
            Harm::Other(file, bit) => self.judge_other(file, bit),
        };
        let judged = catch_unwind(AssertUnwindSafe(judging));
        judged.unwrap_or_else(|_| Err("it panicked".to_owned()))
    }

    fn judge_cut(&self, at: usize) -> Result<(), String> {
        let disk = self.disk(&self.log[..at], false);
        let (events, torn) = self.read(&disk).map_err(|error| format!("refused: {error}"))?;
        unless(self.events.starts_with(&events), "an event was changed")?;
        let at_line = at == 0 || self.log[at - 1] == b'\n';
        unless(torn != at_line, "a torn end is told where there is one, and only there")?;
        if !at.is_multiple_of(8) {
            return Ok(());
        }
        self.is_sound(&disk, !torn)?;
        self.is_refused(&self.log[..at])
    }

    fn judge_bit(&self, bit: usize) -> Result<(), String> {
        let bad = flipped(&self.log, bit);
        let disk = self.disk(&bad, false);
        match self.read(&disk) {
            Err(OpenError::Damaged { .. }) => {}
            Err(error) => return Err(format!("called something else than damaged: {error}")),
            Ok((events, torn)) => {
                unless(self.events.starts_with(&events), "an event was changed")?;
                let last = torn && bit / 8 >= self.last_batch;
                unless(last, "damage was not seen")?;
            }
        }
        if !bit.is_multiple_of(64) {
            return Ok(());
        }
        self.is_sound(&disk, false)?;
        self.is_refused(&bad)
    }

    fn judge_line(&self, trick: Trick, line: usize) -> Result<(), String> {
        let mut lines: Vec<&[u8]> = self.log.split_inclusive(|byte| *byte == b'\n').collect();
        match trick {
            Trick::Drop => drop(lines.remove(line)),
            Trick::Double => lines.insert(line, lines[line]),
            Trick::Swap => lines.swap(line, line + 1),
        }
        let bad = lines.concat();
        let disk = self.disk(&bad, false);
        match self.read(&disk) {
            Err(OpenError::Damaged { .. }) => {}
            other => return Err(format!("not called damaged: {:?}", other.map(|(_, torn)| torn))),
        }
        self.is_sound(&disk, false)?;
        self.is_refused(&bad)
    }

    fn judge_other(&self, file: File, bit: usize) -> Result<(), String> {
        let disk = self.disk(&self.log, true);
        disk.put(&self.path(file), &flipped(self.file(file), bit));
        let opened = runstore::open(&disk, &self.place);
        match (file, opened) {
            (File::Checkpoint, Ok(opened)) => {
                let passed = matches!(opened.checkpoint, CheckpointUse::Passed(_));
                unless(passed, "a changed checkpoint was used")?;
                unless(opened.state == self.state, "the state is another")?;
            }
            (File::Blueprint | File::Invocation, Err(OpenError::Changed { .. })) => {}
            (_, Ok(_)) => return Err("a changed file was accepted".to_owned()),
            (_, Err(error)) => return Err(format!("called something else than changed: {error}")),
        }
        self.is_sound(&disk, false)
    }

    /// With a checkpoint that saw the whole log, anything shorter or other
    /// is refused.
    fn is_refused(&self, log: &[u8]) -> Result<(), String> {
        match runstore::open(&self.disk(log, true), &self.place) {
            Err(OpenError::Damaged { .. }) => Ok(()),
            Err(error) => Err(format!("called something else than damaged: {error}")),
            Ok(_) => Err("it was opened, though a checkpoint saw more".to_owned()),
        }
    }

    fn is_sound(&self, disk: &SimDisk, sound: bool) -> Result<(), String> {
        let report = runstore::verify(disk, &self.place);
        let report = report.map_err(|error| format!("not verified: {error}"))?;
        // A log without events proves neither snapshot, nor anything wrong.
        let wrong = report.is_sound() && !sound;
        unless(!wrong, "verify calls it sound")
    }

    fn read(&self, disk: &SimDisk) -> Result<(Vec<Event>, bool), OpenError> {
        let mut events = Vec::new();
        let torn = runstore::read::each(disk, &self.place, |event| {
            events.push(event);
            ControlFlow::Continue(())
        })?;
        Ok((events, torn.is_some()))
    }

    fn disk(&self, log: &[u8], saved: bool) -> SimDisk {
        let disk = SimDisk::new();
        disk.put(&self.place.events(), log);
        disk.put(&self.place.blueprint_json(), &self.blueprint);
        disk.put(&self.place.invocation_json(), &self.invocation);
        if saved {
            disk.put(&self.place.state(), &self.saved);
        }
        disk
    }

    fn file(&self, file: File) -> &[u8] {
        match file {
            File::Checkpoint => &self.saved,
            File::Blueprint => &self.blueprint,
            File::Invocation => &self.invocation,
        }
    }

    fn path(&self, file: File) -> std::path::PathBuf {
        match file {
            File::Checkpoint => self.place.state(),
            File::Blueprint => self.place.blueprint_json(),
            File::Invocation => self.place.invocation_json(),
        }
    }
}

fn unless(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

fn flipped(bytes: &[u8], bit: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if let Some(byte) = bytes.get_mut(bit / 8) {
        *byte ^= 1 << (bit % 8);
    }
    bytes
}

/// A round of every construct, then commands that say something, one after
/// the other.
fn scenario(bytes: usize) -> Scenario {
    const SAID: usize = 480;
    /// About what the constructs take.
    const CONSTRUCTS: usize = 9 << 10;
    let (mut draft, mut last) = (constructs(), "call".to_owned());
    // A command takes two lines: what it said, and their frames and fields.
    let count = (bytes.saturating_sub(CONSTRUCTS) / (SAID + 620)).max(2);
    for at in 0..count {
        let id = format!("say-{at}");
        draft = draft.shell(&id, "make").edge(&last, &id);
        last = id;
    }
    draft = draft.notify("tell", "{{trigger.output.who}}").edge(&last, "tell");
    let inner = Draft::new("inner").shell("inside", "make").edge("start", "inside");
    let mut scenario = Scenario::new("mutilate", draft.program()).runs(inner.program());
    scenario.input = json!({ "who": "Ada", "items": ["one", "two"] });
    for at in 0..count {
        let text: String =
            (0..SAID).map(|i| char::from(b'a' + ((at * 31 + i * 7) % 26) as u8)).collect();
        let said = json!({ "exit_code": 0, "stdout": format!("{text} \u{1F98A}\n"), "stderr": "" });
        scenario = scenario.plays(&format!("say-{at}"), vec![Play::Output(said)]);
    }
    scenario
        .plays("one[1]", vec![Play::Fail])
        .plays("flaky", vec![Play::Fail, Play::Fail])
        .plays("ask", vec![Play::Reply("Done.".to_owned())])
        .then([Act::Say(Word::approve(None)), Act::Drive])
        .then([Act::Say(Word::Verb(Verb::Resume)), Act::Drive])
}

/// Rounds, items of which one fails, a wait, a gate, an agent, attempts that
/// fail for good and are caught, a budget that is spent, and a run that works
/// for this one.
fn constructs() -> Draft {
    let each = json!({ "items": "trigger.output.items", "on_item_error": "collect" });
    let retry = json!({ "retry": { "attempts": 2, "backoff": "1s", "on": ["bug"] } });
    let make = || json!({ "command": "make" });
    Draft::new("mutilate")
        .setting("budget: { agent_calls: 1 }")
        .node("again", "loop", json!({ "max_iterations": 2 }))
        .inside("again", "round", "shell", json!({}), make())
        .node("each", "for_each", each)
        .inside("each", "one", "shell", json!({}), make())
        .node("pause", "wait", json!({ "for": "2h" }))
        .gate("gate")
        .node("ask", "task", json!({ "agent": "scripted", "prompt": "Go." }))
        .node_with("flaky", "shell", retry, make())
        .node("joined", "join", json!({}))
        .node("call", "sub_automation", json!({ "automation": "inner" }))
        .port("again", "body", "round")
        .port("again", "done", "each")
        .port("each", "body", "one")
        .port("each", "done", "pause")
        .path(&["start", "again"])
        .path(&["pause", "gate", "ask", "flaky", "joined", "call"])
        .port("flaky", "error", "joined")
}
