//! `wardian run verify`.

use host::Host;
use host::api::json;

use crate::args::RunArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::escape;
use crate::style::Paint;

pub(crate) fn run(host: &Host, console: &Console, args: &RunArgs) -> Result<Exit, CliError> {
    let report = host.verify(&args.run)?;
    let exit = if report.ok { Exit::Done } else { Exit::StoreUnavailable };
    if console.json {
        console.document(&json::verify(&report))?;
        return Ok(exit);
    }
    let style = console.style;
    for damage in &report.damages {
        let icon = style.paint(Paint::Bad, style.sign("✗", "x"));
        console.line(&format!("{icon} {}", escape::line(damage)))?;
    }
    for note in &report.notes {
        console.line(&format!("{} {}", style.paint(Paint::Attention, "!"), escape::line(note)))?;
    }
    let witness = match report.witnessed {
        Some(seq) => format!("a second witness confirms events up to before {seq}"),
        None => "no second witness".to_owned(),
    };
    let word = match report.ok {
        true => style.paint(Paint::Good, &format!("{} intact", style.sign("✓", "+"))),
        false => style.paint(Paint::Bad, &format!("{} damaged", style.sign("✗", "x"))),
    };
    console.line(&format!("{word}  {} events, {witness}  run {}", report.events, report.run_id))?;
    Ok(exit)
}
