//! `wardian automation …`.

pub(crate) mod exec;
mod list;
mod show;
mod validate;

use host::Host;

use crate::args::AutomationVerb;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;

pub(crate) fn run(host: &Host, console: &Console, verb: &AutomationVerb) -> Result<Exit, CliError> {
    match verb {
        AutomationVerb::List => list::run(host, console),
        AutomationVerb::Show(args) => show::run(host, console, args),
        AutomationVerb::Validate(args) => validate::run(host, console, args),
        AutomationVerb::Exec(args) => exec::run(host, console, args),
    }
}
