//! Agents: what a run adds to what their program takes, and what becomes of
//! an agent that never stops talking.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::json;
use world::Draft;

use crate::Failure;
use crate::house::{Homestead, House, once};
use crate::measure::{in_turn, timed};
use crate::row::Row;

/// Megabytes that an agent says. The limits are the same for any amount,
/// since what is kept has an end.
const SAID_MIB: usize = 256;

/// What a worker may grow by, whatever its agent says.
const GROWTH_MIB: f64 = 64.0;

/// So much of the time of its program an agent's node may take, and so many
/// syncs beside.
const MORE: f64 = 1.05;
const SYNCS: usize = 6;

/// What a run with one task adds, against the program of the agent alone.
pub(crate) fn against_the_program(house: &House) -> Result<Vec<Row>, Failure> {
    let place = house.homestead("agents-home");
    let program = script(house, "agent", "cat > /dev/null; sleep 0.5; echo done")?;
    hire(&place, &[("bench", &program, "reply = \"text\"")])?;
    let none = house.file("no-agent", &Draft::new("no-agent"))?;
    let one = house.file("one-agent", &asking("one-agent"))?;
    let mut log = fs::File::create(house.path("six-syncs"))?;
    let [alone, none, one, syncs] = in_turn([
        Box::new(|| once(&mut house.program(&program))),
        Box::new(|| once(&mut place.exec(&none))),
        // A worktree would be the run's, not the node's.
        Box::new(|| once(place.exec(&one).args(["--provider", "bench", "--isolation", "shared"]))),
        Box::new(|| synced(&mut log, SYNCS)),
    ])?;
    let took = one.median() - none.median();
    let least = alone.median() + syncs.median() / MORE;
    let base = ("the program alone and six syncs", least);
    Ok(vec![Row::times("agent_node", took, MORE, base, alone.spread())])
}

/// How long so many lines take that are each synced.
fn synced(log: &mut fs::File, lines: usize) -> Result<Duration, Failure> {
    timed(|| {
        for _ in 0..lines {
            log.write_all(&[b'x'; 500])?;
            log.sync_data()?;
        }
        Ok(())
    })
}

/// An agent that says a lot: as text against `cat`, as JSON lines against
/// parsing them.
pub(crate) fn against_what_is_said(house: &House) -> Result<Vec<Row>, Failure> {
    let place = house.homestead("talking-home");
    let (text, lines) = (house.path("said.txt"), house.path("said.jsonl"));
    said(&text, "the quick brown fox jumps over the lazy dog and goes on, word by word by word\n")?;
    let line = json!({
        "type": "turn", "session": "s-1",
        "message": { "content": [{ "type": "text", "text": "word by word by word ".repeat(8) }] },
        "usage": { "input_tokens": 12, "output_tokens": 34 },
    });
    said(&lines, &format!("{line}\n"))?;
    let peak = house.path("peak");
    let tell_peak = format!("grep VmHWM /proc/$PPID/status > {}", peak.display());
    let talker = |name: &str, file: &Path, end: &str| {
        let body = format!("cat > /dev/null; cat {}; {end}; {tell_peak}", file.display());
        script(house, name, &body)
    };
    let speaks = talker("speaks", &text, "true")?;
    let end = "printf '%s\\n' '{\"type\":\"end\"}'";
    let tells = talker("tells", &lines, end)?;
    let read = "reply = \"json-lines\"\n[provider.tells.read]\ntext = \"/message/content/0/text\"\n\
                session = \"/session\"\ntokens = [\"/usage/input_tokens\"]\n\
                done = { at = \"/type\", is = \"end\" }";
    hire(&place, &[("speaks", &speaks, "reply = \"text\""), ("tells", &tells, read)])?;
    let file = house.file("talk", &asking("talk"))?;
    let ask = |name: &str| once(place.exec(&file).args(["--provider", name]));
    let pipe = format!("cat {} | cat > /dev/null", text.display());
    let [cat, speaking] = in_turn([
        Box::new(|| once(Command::new("sh").args(["-c", &pipe]))),
        Box::new(|| ask("speaks")),
    ])?;
    let grown = memory(&peak)?;
    let [parse, telling] = in_turn([
        Box::new(|| once(house.command("bench_lines").arg(&lines))),
        Box::new(|| ask("tells")),
    ])?;
    let grown = grown.max(memory(&peak)?);
    for file in [text, lines] {
        fs::remove_file(file)?;
    }
    Ok(vec![
        Row::compared("agent_says_text", &speaking, 4.0, ("cat", &cat)),
        Row::compared("agent_says_json_lines", &telling, 2.0, ("serde_json", &parse)),
        Row::at_most("agent_says_memory", "MiB", grown, GROWTH_MIB, 0.0)
            .noted("the peak of the worker"),
    ])
}

pub(crate) fn asking(name: &str) -> Draft {
    let fields = json!({ "agent": "role:worker", "prompt": "Say it" });
    Draft::new(name).node("ask", "task", fields).path(&["start", "ask"])
}

/// A shell script as a program.
pub(crate) fn script(house: &House, name: &str, body: &str) -> Result<PathBuf, Failure> {
    use std::os::unix::fs::PermissionsExt;
    let path = house.path(name);
    fs::write(&path, format!("#!/bin/sh\n{body}\n"))?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    Ok(path)
}

/// Describes these agents to a home.
pub(crate) fn hire(place: &Homestead<'_>, agents: &[(&str, &Path, &str)]) -> Result<(), Failure> {
    let settings = place.home.join("settings");
    fs::create_dir_all(&settings)?;
    let tables = agents.iter().map(|(name, program, rest)| {
        format!("[provider.{name}]\nprogram = \"{}\"\n{rest}\n", program.display())
    });
    Ok(fs::write(settings.join("providers.toml"), tables.collect::<String>())?)
}

fn said(path: &Path, line: &str) -> Result<(), Failure> {
    let mut file = BufWriter::new(fs::File::create(path)?);
    for _ in 0..(SAID_MIB << 20) / line.len() {
        file.write_all(line.as_bytes())?;
    }
    Ok(file.flush()?)
}

/// The most memory that a process has had, in mebibytes, as the kernel tells.
fn memory(peak: &Path) -> Result<f64, Failure> {
    let text = fs::read_to_string(peak)?;
    let kib = text.split_whitespace().nth(1).ok_or("the kernel tells no peak")?;
    Ok(kib.parse::<f64>()? / 1024.0)
}
