//! `wardian automation list`.

use host::Host;
use host::api::json;

use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::table::{self, Cell};
use crate::output::{escape, gist};
use crate::style::Paint;

pub(crate) fn run(host: &Host, console: &Console) -> Result<Exit, CliError> {
    let rows = host.automations()?;
    if console.json {
        console.document(&json::automations(&rows))?;
        return Ok(Exit::Done);
    }
    let library = host.home().join("library").join("automations");
    if rows.is_empty() {
        console.talk(&format!("no automations in {}", console.short_path(&library)));
        console.talk("put a blueprint there, or run one from anywhere:");
        console.talk(&format!("  {} automation exec FILE", console.program));
        return Ok(Exit::Done);
    }
    let cells = rows.iter().map(|row| {
        let text =
            |text: &Option<String>| escape::line(text.as_deref().unwrap_or("?")).into_owned();
        let state = match &row.error {
            None => Cell::painted(Paint::Good, "ok"),
            Some(error) => Cell::painted(Paint::Bad, gist::first_line(error, 60)),
        };
        let path = row.path.strip_prefix(&library).unwrap_or(&row.path);
        let path = Cell::plain(console.short_path(path));
        vec![Cell::plain(text(&row.blueprint_id)), Cell::plain(text(&row.name)), path, state]
    });
    let cells: Vec<_> = cells.collect();
    console.line(&table::render(&["ID", "NAME", "FILE", "STATE"], &cells, console.style))?;
    Ok(Exit::Done)
}
