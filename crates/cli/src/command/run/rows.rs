//! Runs as rows of a table.

use host::api::{RunRow, RunStatus, look};

use crate::console::Console;
use crate::output::table::{self, Cell};
use crate::output::{gist, time};
use crate::style::{Paint, Style};

pub(crate) fn table(rows: &[&RunRow], console: &Console) -> String {
    let style = console.style;
    let cells: Vec<_> = rows.iter().map(|row| cells(row, style)).collect();
    table::render(&["RUN", "STATUS", "AUTOMATION", "STARTED", "TOOK", "WHAT"], &cells, style)
}

fn cells(row: &RunRow, style: Style) -> Vec<Cell> {
    let running = row.status == Some(RunStatus::Running) && !row.ownerless;
    let until = if running { Some(row.asked_at) } else { row.updated_at };
    let took = time::between(row.started_at, until).unwrap_or_default();
    let what = row.fault.as_ref().or(row.failure.as_ref());
    let what = what.map(|text| gist::first_line(text, 60)).unwrap_or_default();
    vec![
        Cell::painted(Paint::Strong, &row.short_id),
        status(row, style),
        Cell::plain(&row.blueprint_id),
        Cell::plain(row.started_at.map(time::instant).unwrap_or_default()),
        Cell::plain(took),
        Cell::plain(what),
    ]
}

fn status(row: &RunRow, style: Style) -> Cell {
    let Some(status) = row.status else { return Cell::painted(Paint::Bad, "? unreadable") };
    if row.ownerless {
        // Nobody has recorded it, so the log still says that it runs.
        return Cell::painted(Paint::Bad, format!("{} interrupted?", style.sign("‽", "!")));
    }
    let look = look(status, row.reason, row.unknown_effect);
    let icon = style.sign(look.icon, look.ascii);
    let word = match row.reason {
        _ if row.unknown_effect => format!("{} (unknown)", status.word()),
        Some(reason) => format!("{} ({})", status.word(), reason.word()),
        None => status.word().replace('_', " "),
    };
    Cell::painted(crate::style::run_paint(look), format!("{icon} {word}"))
}
