//! `wardian automation …`.

pub(crate) mod exec;
mod explain;
mod graph;
mod list;
mod node_types;
mod schema;
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
        AutomationVerb::Graph(args) => graph::run(host, console, args),
        AutomationVerb::NodeTypes(args) => node_types::run(console, args),
        AutomationVerb::Schema(args) => schema::run(console, args),
        AutomationVerb::Explain(args) => explain::run(console, args),
    }
}
