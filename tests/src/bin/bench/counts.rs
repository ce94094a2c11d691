//! What is counted and not timed, and therefore the same on every machine:
//! syncs, processes, bytes and commits.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use world::Draft;

use crate::Failure;
use crate::agents::{asking, hire, script};
use crate::chains::{commands, internal};
use crate::house::{House, once};
use crate::row::Row;

/// Two lengths; their difference is what steps cost, without the run.
const FEW: usize = 10;
const MANY: usize = 30;

/// Syncs of a whole run of internal nodes, in a home that knows the
/// automation: what the run's own promise takes.
const SYNCS_A_RUN: usize = 6;

/// What a node of an agent adds to a run: its start and its end in the log,
/// and in the book of attempts that it will be asked, that it works in its
/// session, and how it ended.
const LOG_SYNCS_AN_AGENT: usize = 2;
const COMMITS_AN_AGENT: usize = 3;

/// An agent that names its session, as the real ones do.
const AGENT: &str = "cat > /dev/null; echo '{\"session\":\"s-1\",\"text\":\"done\"}'; \
                     echo '{\"type\":\"end\"}'";
const READ: &str = "reply = \"json-lines\"\n[provider.counted.read]\ntext = \"/text\"\n\
                    session = \"/session\"\ndone = { at = \"/type\", is = \"end\" }";

/// Bytes of the log for one command that prints nothing.
const BYTES_A_STEP: usize = 600;

#[derive(Debug)]
struct Counts {
    syncs: usize,
    log_syncs: usize,
    /// Each commit of the database is one sync of its own log.
    commits: usize,
    programs: usize,
    bytes: u64,
}

pub(crate) fn counts(house: &House) -> Result<Vec<Row>, Failure> {
    if !can_trace() {
        let skipped = |name| Row::skipped(name, "needs strace");
        return Ok([
            "syncs_a_sh_step",
            "programs_a_sh_step",
            "log_bytes_a_sh_step",
            "syncs_a_run",
            "log_syncs_an_agent_node",
            "db_commits_an_agent_node",
        ]
        .map(skipped)
        .to_vec());
    }
    let few = count(house, "few", &commands("few", FEW))?;
    let many = count(house, "many", &commands("many", MANY))?;
    let run = count(house, "internal", &internal("internal", 100))?;
    let none = count(house, "no-agent", &internal("no-agent", 1))?;
    let asked = count(house, "agent", &asking("agent"))?;
    let added = |none: usize, asked: usize| number(asked.saturating_sub(none) as u64);
    let log_syncs = added(none.log_syncs, asked.log_syncs);
    let commits = added(none.commits, asked.commits);
    let a_step =
        |few: u64, many: u64| number(many.saturating_sub(few)) / number((MANY - FEW) as u64);
    let syncs = a_step(few.syncs as u64, many.syncs as u64);
    let programs = a_step(few.programs as u64, many.programs as u64);
    let bytes = a_step(few.bytes, many.bytes);
    let (bytes_most, syncs_most) = (number(BYTES_A_STEP as u64), number(SYNCS_A_RUN as u64));
    Ok(vec![
        Row::at_most("syncs_a_sh_step", "", syncs, 1.0, 0.0),
        Row::at_most("programs_a_sh_step", "", programs, 1.0, 0.0),
        Row::at_most("log_bytes_a_sh_step", "B", bytes, bytes_most, 0.0),
        Row::at_most("syncs_a_run", "", number(run.syncs as u64), syncs_most, 0.0)
            .noted("100 internal nodes"),
        Row::at_most(
            "log_syncs_an_agent_node",
            "",
            log_syncs,
            number(LOG_SYNCS_AN_AGENT as u64),
            0.0,
        ),
        Row::at_most("db_commits_an_agent_node", "", commits, number(COMMITS_AN_AGENT as u64), 0.0),
    ])
}

/// Counts the second run of the automation.
fn count(house: &House, name: &str, draft: &Draft) -> Result<Counts, Failure> {
    let place = house.homestead(&format!("{name}-counts-home"));
    let file = house.file(name, draft)?;
    hire(&place, &[("counted", &script(house, "counted-agent", AGENT)?, READ)])?;
    let exec = || {
        let mut exec = place.exec(&file);
        exec.args(["--provider", "counted"]);
        exec
    };
    once(&mut exec())?;
    let before = log_bytes(&place.home)?;
    let trace = house.path(&format!("{name}.trace"));
    let run = exec();
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-o"]).arg(&trace).args(["-e", "trace=fsync,fdatasync,execve", "--"]);
    strace.arg(run.get_program()).args(run.get_args()).stdin(Stdio::null()).stdout(Stdio::null());
    strace.env_clear().envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
    once(&mut strace)?;
    let trace = fs::read_to_string(trace)?;
    // A call that another thread's line interrupts ends in a line of its own.
    let ended = |names: &[&str]| {
        let ended = trace.lines().filter(|line| line.ends_with(" = 0"));
        ended
            .filter(|line| {
                let call = |name: &&str| {
                    line.contains(&format!(" {name}("))
                        || line.contains(&format!(" {name} resumed"))
                };
                names.iter().any(call)
            })
            .count()
    };
    // The file stands in the line with which a call begins.
    let synced = |file: &str| {
        let of = |line: &&str| line.contains("sync(") && line.contains(file);
        trace.lines().filter(of).count()
    };
    Ok(Counts {
        log_syncs: synced("/events.jsonl>"),
        commits: synced("/state.db-wal>"),
        syncs: ended(&["fsync", "fdatasync"]),
        programs: ended(&["execve"]),
        bytes: log_bytes(&place.home)? - before,
    })
}

/// All logs of the home together. Beside the folders of runs stands what is
/// kept about them.
fn log_bytes(home: &Path) -> Result<u64, Failure> {
    let mut bytes = 0;
    for blueprint in fs::read_dir(home.join("logs/automations"))? {
        let blueprint = blueprint?;
        if !blueprint.file_type()?.is_dir() {
            continue;
        }
        for run in fs::read_dir(blueprint.path())? {
            bytes += fs::metadata(run?.path().join("events.jsonl"))?.len();
        }
    }
    Ok(bytes)
}

fn can_trace() -> bool {
    let tried = Command::new("strace").args(["-o", "/dev/null", "true"]).output();
    tried.is_ok_and(|output| output.status.success())
}

fn number(count: u64) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
