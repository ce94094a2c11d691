//! `wardian workers …`.

use host::Host;
use host::api::{Timestamp, WorkerRow, WorkerState, WorkersQuery, json};

use crate::args::{WorkerArgs, WorkersArgs, WorkersVerb};
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::table::{self, Cell};
use crate::output::{escape, gist, time};
use crate::style::Paint;

/// The digits of an id that a listing shows. Among 10,000 attempts two have
/// the same ten about once in twenty thousand homes.
const ID_SHOWN: usize = 10;

pub(crate) fn run(host: &Host, console: &Console, verb: &WorkersVerb) -> Result<Exit, CliError> {
    match verb {
        WorkersVerb::List(args) => list(host, console, args),
        WorkersVerb::Show(args) => show(host, console, args),
    }
}

fn list(host: &Host, console: &Console, args: &WorkersArgs) -> Result<Exit, CliError> {
    let query = WorkersQuery {
        run: args.run.clone(),
        state: args.state.map(|stand| stand.0),
        limit: args.limit.get(),
    };
    let page = host.workers(&query)?;
    if console.json {
        console.document(&json::workers(&page))?;
        return Ok(Exit::Done);
    }
    if page.rows.is_empty() {
        console.talk(match (&query.run, query.state) {
            (None, None) => "no agent was asked for anything yet",
            (Some(_), _) | (_, Some(_)) => "no attempt of an agent is like that",
        });
        return Ok(Exit::Done);
    }
    let cells: Vec<Vec<Cell>> = page.rows.iter().map(cells).collect();
    let header = ["ID", "STATE", "PROVIDER", "RUN", "NODE", "ATTEMPT", "ASKED", "WHAT"];
    console.line(&table::render(&header, &cells, console.style))?;
    if page.more {
        console.talk("there are more: raise --limit, or ask for one run with --run");
    }
    Ok(Exit::Done)
}

fn cells(row: &WorkerRow) -> Vec<Cell> {
    let worker = &row.worker;
    let what = worker.error.as_deref().map(|text| gist::first_line(text, 50)).unwrap_or_default();
    vec![
        Cell::painted(Paint::Strong, worker.id.chars().take(ID_SHOWN).collect::<String>()),
        Cell::painted(paint(row.state()), state(row)),
        Cell::plain(escape::line(&worker.provider)),
        Cell::plain(escape::line(&worker.run)),
        Cell::plain(escape::line(&worker.node)),
        Cell::plain(attempt(row)),
        Cell::plain(time::instant(worker.requested_at)),
        Cell::plain(what),
    ]
}

fn show(host: &Host, console: &Console, args: &WorkerArgs) -> Result<Exit, CliError> {
    let row = host.worker(&args.id)?;
    if console.json {
        console.document(&json::worker(&row))?;
        return Ok(Exit::Done);
    }
    let worker = &row.worker;
    let instant = |at: Option<Timestamp>| at.map(time::instant).unwrap_or_default();
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let lines = [
        ("state", state(&row)),
        ("outcome", worker.outcome.map(|outcome| outcome.word().to_owned()).unwrap_or_default()),
        ("error", text(&worker.error)),
        ("provider", worker.provider.clone()),
        ("automation", worker.blueprint.clone()),
        ("run", worker.run.clone()),
        ("node", worker.node.clone()),
        ("attempt", attempt(&row)),
        ("workspace", text(&worker.workspace)),
        ("session", worker.runtime_session.clone()),
        ("provider's session", text(&worker.provider_session)),
        ("asked", time::instant(worker.requested_at)),
        ("started", instant(worker.started_at)),
        ("ended", instant(worker.terminal_at)),
        ("resumable until", instant(worker.resumable_until)),
        ("details until", instant(worker.detail_retained_until)),
        ("known by", worker.coverage.word().to_owned()),
    ];
    console.line(&console.style.paint(Paint::Strong, &worker.id))?;
    for (name, value) in lines.iter().filter(|(_, value)| !value.is_empty()) {
        let name = console.style.paint(Paint::Faint, &format!("{name:<18}"));
        console.line(&format!("  {name}  {}", escape::line(value)))?;
    }
    if row.owner_lost {
        console.talk(&format!(
            "\nthe owner is gone; `{} recover` records what it left",
            console.program
        ));
    }
    Ok(Exit::Done)
}

fn state(row: &WorkerRow) -> String {
    let word = row.state().word();
    if row.owner_lost { format!("{word} (owner lost)") } else { word.to_owned() }
}

/// In later rounds of a loop with the round.
fn attempt(row: &WorkerRow) -> String {
    let (round, attempt) = (row.worker.round.0, row.worker.attempt.0);
    if round == 0 { attempt.to_string() } else { format!("{attempt} of round {round}") }
}

fn paint(state: WorkerState) -> Paint {
    match state {
        WorkerState::Succeeded => Paint::Good,
        WorkerState::Failed | WorkerState::Unknown => Paint::Bad,
        WorkerState::Requested | WorkerState::Running | WorkerState::Waiting => Paint::Accent,
        WorkerState::Cancelled => Paint::Faint,
    }
}
