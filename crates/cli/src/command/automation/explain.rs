//! `wardian automation explain`.

use blueprint::{Rule, explain};
use host::api::json;

use crate::args::ExplainArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::page;
use crate::output::table::{self, Cell};
use crate::style::Paint;

pub(crate) fn run(console: &Console, args: &ExplainArgs) -> Result<Exit, CliError> {
    let Some(code) = &args.code else { return list(console) };
    let rule = explain::find(code).map_err(|near| {
        let near = near.map(|near| format!("did you mean `{near}`?"));
        let list = || format!("`{} automation explain` lists the codes", console.program);
        CliError::usage(format!("no finding has the code `{code}`"), near.unwrap_or_else(list))
    })?;
    match console.json {
        true => console.document(&json::rule(rule))?,
        false => console.line(&page::render(explain::page(rule), rule.title(), console.style))?,
    }
    Ok(Exit::Done)
}

fn list(console: &Console) -> Result<Exit, CliError> {
    if console.json {
        console.document(&json::rules())?;
        return Ok(Exit::Done);
    }
    let row =
        |rule: &Rule| vec![Cell::painted(Paint::Strong, rule.code()), Cell::plain(rule.title())];
    let rows: Vec<_> = Rule::ALL.iter().map(row).collect();
    console.line(&table::render(&["CODE", "WHAT IT REPORTS"], &rows, console.style))?;
    Ok(Exit::Done)
}
