//! `wardian run prune`. What is removed is gone, so it is shown and asked
//! for, unless somebody said yes before.

use std::io::BufRead;

use host::Host;
use host::api::{LeftRun, PruneQuery, PruneRow, json};

use crate::args::{Ended, PruneArgs};
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::table::{self, Cell};
use crate::output::{escape, size, time};
use crate::style::Paint;

/// Rows that a person is shown.
const ROWS: usize = 50;

pub(crate) fn run(host: &Host, console: &Console, args: &PruneArgs) -> Result<Exit, CliError> {
    let plan = host.prune_plan(&query(args))?;
    if args.dry_run {
        if console.json {
            console.document(&json::prune_plan(&plan))?;
            return Ok(Exit::Done);
        }
        show(console, &plan.rows)?;
        console.talk(&format!("{} would go; nothing was removed", sum(&plan.rows)));
        tell_left(console, &plan.left);
        return Ok(Exit::Done);
    }
    if !args.yes && !plan.rows.is_empty() {
        if !console.may_ask {
            let message = format!("{} would go, and nobody said yes", sum(&plan.rows));
            return Err(CliError::usage(message, "add --yes, or --dry-run to see them"));
        }
        show(console, &plan.rows)?;
        if !agrees(console, &plan.rows)? {
            console.talk("nothing was removed");
            return Ok(Exit::Done);
        }
    }
    let pruned = host.prune(&plan)?;
    if console.json {
        console.document(&json::pruned(&pruned))?;
        return Ok(Exit::Done);
    }
    console.line(&format!("removed {}", sum(&pruned.rows)))?;
    tell_left(console, &pruned.left);
    Ok(Exit::Done)
}

fn query(args: &PruneArgs) -> PruneQuery {
    PruneQuery {
        older_than: args.older_than,
        keep_last: args.keep_last,
        statuses: args.status.iter().map(|Ended(status)| *status).collect(),
        automation: args.automation.clone(),
    }
}

fn show(console: &Console, rows: &[PruneRow]) -> Result<(), CliError> {
    if rows.is_empty() {
        return Ok(());
    }
    let cells = |row: &PruneRow| {
        vec![
            Cell::painted(Paint::Strong, &row.run_id),
            Cell::plain(row.status.word()),
            Cell::plain(&row.blueprint_id),
            Cell::plain(row.ended_at.map(time::instant).unwrap_or_default()),
            Cell::plain(size::bytes(row.bytes)),
        ]
    };
    let shown: Vec<_> = rows.iter().take(ROWS).map(cells).collect();
    let header = ["RUN", "STATUS", "AUTOMATION", "ENDED", "SIZE"];
    console.line(&table::render(&header, &shown, console.style))?;
    if rows.len() > ROWS {
        console.talk(&format!("and {} more", rows.len() - ROWS));
    }
    Ok(())
}

fn agrees(console: &Console, rows: &[PruneRow]) -> Result<bool, CliError> {
    console.talk(&format!("remove {} for good?  [y]es  [n]o", sum(rows)));
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "yes"))
}

fn sum(rows: &[PruneRow]) -> String {
    let bytes = rows.iter().map(|row| row.bytes).sum();
    let noun = if rows.len() == 1 { "run" } else { "runs" };
    format!("{} {noun}, {}", rows.len(), size::bytes(bytes))
}

fn tell_left(console: &Console, left: &[LeftRun]) {
    for left in left {
        console.talk(&format!("{} stays: {}", left.run_id, escape::line(&left.why)));
    }
}
