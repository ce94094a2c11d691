//! A long log, written once and read in two ways: as bare typed JSON, and as
//! the run that it is. Each reading is a process of its own, so that the
//! memory it took is known.
//!
//! `bench_fold write|parse|fold HOME EVENTS`; the readings print the
//! microseconds and the peak of memory in KiB.

#![expect(clippy::print_stdout, reason = "its answer is what it prints")]

use std::borrow::Cow;
use std::error::Error;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use blueprint::Budget;
use blueprint::{BlueprintId, NodeId, Repeat};
use durable::disk::{RealDisk, SharedDisk};
use durable::entropy::Entropy;
use durable::{Attempt, Digest, Generation, Seq, Timestamp};
use engine::event::LOG_FORMAT;
use engine::{AgainCause, Class, Event, Fact, NodeError, RunId, RunStarted, Site};
use runstore::{Home, NewRun, RunPlace};
use serde::Deserialize;
use serde_json::json;

/// So many nodes take turns.
const NODES: u64 = 500;

/// Events of one write.
const BATCH: usize = 1000;

/// A line as a program would read it that trusts it: every field named and
/// typed, texts borrowed where JSON allows it.
#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "parsing is all that is measured")]
struct Line<'a> {
    seq: u64,
    #[serde(borrow)]
    ts: Cow<'a, str>,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    node: Option<Cow<'a, str>>,
    attempt: Option<u32>,
    generation: Option<u32>,
    #[serde(borrow)]
    work: Option<Cow<'a, str>>,
    #[serde(borrow)]
    repeat: Option<Cow<'a, str>>,
    #[serde(borrow)]
    cause: Option<Cow<'a, str>>,
    #[serde(borrow)]
    class: Option<Cow<'a, str>>,
    #[serde(borrow)]
    code: Option<Cow<'a, str>>,
    #[serde(borrow)]
    error: Option<Cow<'a, str>>,
    #[serde(borrow)]
    effect: Option<Cow<'a, str>>,
    batch: u64,
    #[serde(borrow)]
    prev: Cow<'a, str>,
    #[serde(borrow)]
    h: Cow<'a, str>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().collect();
    let [_, verb, home, events] = &args[..] else {
        return Err("there are a verb, a HOME and a number".into());
    };
    let (place, events) = (place(PathBuf::from(home))?, events.parse()?);
    #[expect(clippy::disallowed_methods, reason = "a stopwatch is what this program is")]
    let begin = Instant::now();
    let seen = match verb.as_str() {
        "write" => return write(&place, events),
        "parse" => parse(&place)?,
        "fold" => runstore::open(&RealDisk, &place)?.state.next_seq.0,
        _ => return Err(format!("there is no `{verb}`").into()),
    };
    let micros = begin.elapsed().as_micros();
    if seen != events {
        return Err(format!("{seen} events instead of {events}").into());
    }
    println!("{micros} {}", peak_kib()?);
    Ok(())
}

fn place(home: PathBuf) -> Result<RunPlace, Box<dyn Error>> {
    let home = Home::at(home);
    Ok(home.place(&BlueprintId::new("long")?, &RunId::new("0-00000000")?))
}

fn parse(place: &RunPlace) -> Result<u64, Box<dyn Error>> {
    let mut file = BufReader::with_capacity(1 << 20, std::fs::File::open(place.events())?);
    let (mut text, mut seen) = (Vec::new(), 0);
    while file.read_until(b'\n', &mut text)? > 0 {
        let line: Line<'_> = serde_json::from_slice(&text)?;
        seen = line.seq + 1;
        text.clear();
    }
    Ok(seen)
}

/// Nodes that are started, fail and are tried again, turn by turn.
fn write(place: &RunPlace, events: u64) -> Result<(), Box<dyn Error>> {
    let disk: SharedDisk = Arc::new(RealDisk);
    let new = NewRun { blueprint: None, invocation: b"{}\n", automations: &[] };
    let created = runstore::create(&*disk, place, &new, &Zeros)?;
    let invocation = Digest::of(new.invocation);
    let mut writer = created.into_writer(disk)?;
    let mut batch = vec![event(0, started(place, invocation))];
    for seq in 1..events {
        let turn = (seq - 1) / 2;
        let node = Site::from(NodeId::new(&format!("step-{}", turn % NODES)));
        let attempt = Attempt(turn / NODES + 1);
        let fact = if seq % 2 == 1 { starts(node, attempt) } else { fails(node, attempt) };
        batch.push(event(seq, fact));
        if batch.len() == BATCH {
            writer.append(&batch)?;
            batch.clear();
        }
    }
    Ok(writer.append(&batch)?)
}

fn event(seq: u64, fact: Fact) -> Event {
    let at = Timestamp::from_millis(1_700_000_000_000 + i64::try_from(seq).unwrap_or(0));
    Event { seq: Seq(seq), at, fact }
}

fn started(place: &RunPlace, invocation: Digest) -> Fact {
    Fact::RunStarted(Box::new(RunStarted {
        run_id: place.run.clone(),
        blueprint_id: place.blueprint.clone(),
        blueprint_hash: None,
        schema: 2,
        trigger: Arc::new(json!({})),
        format: LOG_FORMAT,
        generation: Generation(1),
        blueprint_digest: None,
        invocation_digest: Some(invocation),
        principal: None,
        retry_of: None,
        fork_of: None,
        parent: None,
        deadline: None,
        budget: Budget::default(),
    }))
}

fn starts(node: Site, attempt: Attempt) -> Fact {
    Fact::NodeStarted {
        node,
        attempt,
        generation: Generation(1),
        work: Digest::of(b"true"),
        deadline: None,
        repeat: Repeat::Safe,
        agent: false,
        child: None,
    }
}

fn fails(node: Site, attempt: Attempt) -> Fact {
    let message = "the owner of the run ended while it was in flight".to_owned();
    let error = NodeError::before_effect(Class::Transient, "interrupted", message);
    let cause = AgainCause::Interrupted;
    Fact::AttemptFailed { node, attempt, error, cause, wake: None, session: None }
}

/// The most memory that this process has had.
fn peak_kib() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.ok_or("the kernel tells no peak of memory")?.parse()?)
}

/// Names need not differ where there is one run.
#[derive(Debug)]
struct Zeros;

impl Entropy for Zeros {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}
