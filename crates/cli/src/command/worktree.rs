//! `wardian worktree …`.

use host::Host;
use host::api::json;
use host::api::worktree::WorktreeState;

use crate::args::{RemoveArgs, WorktreeVerb};
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::escape;
use crate::output::table::{self, Cell};
use crate::style::Paint;

pub(crate) fn run(host: &Host, console: &Console, verb: &WorktreeVerb) -> Result<Exit, CliError> {
    match verb {
        WorktreeVerb::List => list(host, console),
        WorktreeVerb::Remove(args) => remove(host, console, args),
    }
}

fn list(host: &Host, console: &Console) -> Result<Exit, CliError> {
    let rows = host.worktrees()?;
    if console.json {
        console.document(&json::worktrees(&rows))?;
        return Ok(Exit::Done);
    }
    if rows.is_empty() {
        console.talk("no run has a worktree");
        return Ok(Exit::Done);
    }
    let cells = rows.iter().map(|row| {
        let base = row.worktree.base.get(..12).unwrap_or(&row.worktree.base);
        vec![
            Cell::painted(Paint::Strong, &row.run_id),
            Cell::plain(row.state.word()),
            Cell::plain(escape::line(&row.worktree.branch)),
            Cell::plain(base),
            Cell::plain(escape::line(&row.worktree.path)),
        ]
    });
    let header = ["RUN", "STATE", "BRANCH", "BASE", "PATH"];
    console.line(&table::render(&header, &cells.collect::<Vec<_>>(), console.style))?;
    for row in &rows {
        if let Some(fault) = &row.fault {
            console.talk(&format!("{}: {}", row.run_id, escape::line(fault)));
        }
    }
    if rows.iter().any(|row| row.state == WorktreeState::Orphan) {
        console.talk("`wardian recover` removes orphans that hold nothing");
    }
    Ok(Exit::Done)
}

fn remove(host: &Host, console: &Console, args: &RemoveArgs) -> Result<Exit, CliError> {
    let removed = host.remove_worktree(&args.run, args.force)?;
    if console.json {
        console.document(&json::worktree_removed(&removed))?;
        return Ok(Exit::Done);
    }
    let path = removed.path.display().to_string();
    console.line(&format!("removed {} and the branch {}", escape::line(&path), removed.branch))?;
    Ok(Exit::Done)
}
