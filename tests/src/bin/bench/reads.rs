//! Starting, checking a large automation, and reading: a long log, and the
//! list of many runs.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::Failure;
use crate::chains::commands;
use crate::house::{House, many, once};
use crate::measure::in_turn;
use crate::row::Row;

const EVENTS: &str = "1000000";
const MEMORY_MIB: f64 = 256.0;

const RUNS: &str = "10000";

/// The program that makes many runs, where there is one.
const HERD: &str = "herd";

pub(crate) fn start(house: &House) -> Result<Vec<Row>, Failure> {
    let [hello, version] = in_turn([Box::new(|| house.hello()), Box::new(|| house.version())])?;
    Ok(vec![Row::compared("version", &version, 2.0, ("hello world", &hello))])
}

/// The whole command without its bare start.
pub(crate) fn validate(house: &House) -> Result<Vec<Row>, Failure> {
    let place = house.homestead("no-home");
    let file = house.file("large", &commands("large", 999))?.display().to_string();
    let [start, whole] = in_turn([
        Box::new(|| house.version()),
        Box::new(|| many(&mut place.wardian(&["automation", "validate", &file]))),
    ])?;
    let took = whole.median() - start.median();
    let row = Row::at_most("validate_1000_nodes", "ms", took, 20.0, whole.spread());
    Ok(vec![row.noted("the whole command without --version")])
}

/// A log of a million events, as a run and as bare JSON.
pub(crate) fn fold(house: &House) -> Result<Vec<Row>, Failure> {
    let home = house.path("long-home");
    let told = |verb: &str| {
        let mut command = house.command("bench_fold");
        command.args([verb.as_ref(), home.as_os_str(), EVENTS.as_ref()]);
        told(&mut command)
    };
    told("write")?;
    let mut peak = 0;
    let [parse, fold] = in_turn([
        Box::new(|| Ok(Duration::from_micros(told("parse")?.0))),
        Box::new(|| {
            let (micros, kib) = told("fold")?;
            peak = peak.max(kib);
            Ok(Duration::from_micros(micros))
        }),
    ])?;
    std::fs::remove_dir_all(&home)?;
    let mib = f64::from(u32::try_from(peak)?) / 1024.0;
    Ok(vec![
        Row::compared("fold_1m_events", &fold, 2.0, ("typed JSON", &parse)),
        Row::at_most("fold_1m_events_memory", "MiB", mib, MEMORY_MIB, 0.0),
    ])
}

/// The newest runs of a home that has many.
pub(crate) fn list(house: &House) -> Result<Vec<Row>, Failure> {
    const NAME: &str = "list_50_of_10000_runs";
    if !house.has(HERD) {
        return Ok(vec![Row::skipped(NAME, "needs the program that makes many runs")]);
    }
    let place = house.homestead("herd-home");
    herd(house, &place.home)?;
    // Whatever starts a run keeps an index; the program that made these has none.
    once(&mut place.wardian(&["recover"]))?;
    let [start, list] = in_turn([
        Box::new(|| house.version()),
        Box::new(|| once(&mut place.wardian(&["run", "list", "--limit", "50"]))),
    ])?;
    std::fs::remove_dir_all(&place.home)?;
    Ok(vec![Row::compared(NAME, &list, 5.0, ("--version", &start))])
}

fn herd(house: &House, home: &Path) -> Result<(), Failure> {
    let mut command = house.command(HERD);
    command.arg(home).arg(RUNS);
    once(&mut command).map(drop)
}

/// The two numbers that a reading prints; none for a writing.
fn told(command: &mut Command) -> Result<(u64, u64), Failure> {
    let output = command.stdout(Stdio::piped()).output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("{command:?} ended with {}: {said}", output.status).into());
    }
    let text = String::from_utf8(output.stdout)?;
    let mut numbers = text.split_whitespace().map(str::parse);
    Ok((numbers.next().unwrap_or(Ok(0))?, numbers.next().unwrap_or(Ok(0))?))
}
