//! What durability costs, counted and not timed: syncs and processes.

use std::collections::BTreeSet;
use std::fs;

use serde_json::json;
use world::Draft;

use crate::Failure;
use world::real::house::{House, expect};
use world::real::trace;

/// Nodes that need nothing from outside, and commands.
const INTERNAL: usize = 100;
const COMMANDS: usize = 10;

/// Syncs of the log beyond one for each command: the last batch ends the run.
const LOG_ONCE: usize = 1;

#[derive(Debug)]
struct Counts {
    log_syncs: usize,
    syncs: usize,
    shells: usize,
}

/// Counts, prints, and says whether all numbers are as they should be.
pub(crate) fn print() -> Result<bool, Failure> {
    let house = House::build()?;
    let Counts { log_syncs, syncs, .. } = count(&house, &internal())?;
    println!(
        "counts: {INTERNAL} internal nodes: {log_syncs} syncs of the log (1), {syncs} in all (10)"
    );
    let cheap = log_syncs <= 1 && syncs <= 10;
    let Counts { log_syncs, syncs, shells } = count(&house, &commands())?;
    let most = COMMANDS + LOG_ONCE;
    println!(
        "counts: {COMMANDS} commands: {log_syncs} syncs of the log ({most}), {syncs} in all, \
         {shells} shells ({COMMANDS})"
    );
    Ok(cheap && log_syncs <= most && shells == COMMANDS)
}

fn count(house: &House, draft: &Draft) -> Result<Counts, Failure> {
    house.reset(None)?;
    let file = house.file("counted.md");
    fs::write(&file, draft.text())?;
    let null = std::process::Stdio::null();
    let (output, calls) = trace::calls(&house.exec(&file), &house.trace_log(), true, null)?;
    expect(&output, 0)?;
    house.wait_for_workers()?;
    let syncs = || calls.iter().filter(|call| matches!(&*call.name, "fsync" | "fdatasync"));
    let log = |call: &&trace::Call| call.text.contains("/events.jsonl>");
    let shell = |call: &&trace::Call| call.name == "execve" && call.text.contains("/sh\",");
    let shells: BTreeSet<u32> = calls.iter().filter(shell).map(|call| call.thread).collect();
    Ok(Counts {
        log_syncs: syncs().filter(log).count(),
        syncs: syncs().count(),
        shells: shells.len(),
    })
}

fn internal() -> Draft {
    let mut draft = Draft::new("internal");
    let ids: Vec<String> = (0..INTERNAL).map(|at| format!("state-{at}")).collect();
    for id in &ids {
        draft = draft.node(id, "state", json!({ "op": "set", "entries": { "count": id } }));
    }
    chained(draft, &ids)
}

fn commands() -> Draft {
    let mut draft = Draft::new("commands");
    let ids: Vec<String> = (0..COMMANDS).map(|at| format!("shell-{at}")).collect();
    for id in &ids {
        draft = draft.shell(id, "true");
    }
    chained(draft, &ids)
}

fn chained(draft: Draft, ids: &[String]) -> Draft {
    let path: Vec<&str> = ["start"].into_iter().chain(ids.iter().map(String::as_str)).collect();
    draft.path(&path)
}
