//! `wardian run list`.

use host::Host;
use host::api::{RunRow, RunsQuery, json};

use super::rows;
use crate::args::{ListArgs, Status};
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;

pub(crate) fn run(host: &Host, console: &Console, args: &ListArgs) -> Result<Exit, CliError> {
    let query = query(args);
    let page = host.list_runs(&query)?;
    if console.json {
        console.document(&json::runs(&page))?;
        return Ok(Exit::Done);
    }
    if page.rows.is_empty() {
        if host.list_runs(&RunsQuery { limit: Some(1), ..RunsQuery::default() })?.rows.is_empty() {
            console.talk("no runs yet; this makes the first one:");
            console.talk(&format!("  {} demo", console.program));
        } else {
            console.talk("no run is like that");
        }
        return Ok(Exit::Done);
    }
    console.line(&rows::table(&page.rows.iter().collect::<Vec<_>>(), console))?;
    if let Some(next) = &page.next {
        console.talk(&format!("there are more: add --after {next}, or --all"));
    }
    if page.rows.iter().any(is_unrecorded) {
        console.talk("interrupted?: the owner is gone; the next `automation exec` records it");
    }
    Ok(Exit::Done)
}

fn query(args: &ListArgs) -> RunsQuery {
    RunsQuery {
        statuses: args.status.iter().map(|Status(status)| *status).collect(),
        automation: args.automation.clone(),
        since: args.since,
        after: args.after.clone(),
        limit: (!args.all).then_some(args.limit.get()),
    }
}

fn is_unrecorded(row: &RunRow) -> bool {
    row.ownerless
}
