//! `wardian automation …`.

mod crash_test;
mod diff;
pub(crate) mod exec;
mod explain;
mod fmt;
mod graph;
mod lint;
mod list;
mod new;
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
        AutomationVerb::New(args) => new::run(host, console, args),
        AutomationVerb::Fmt(args) => fmt::run(host, console, args),
        AutomationVerb::Lint(args) => lint::run(host, console, args),
        AutomationVerb::Diff(args) => diff::run(host, console, args),
        AutomationVerb::CrashTest(args) => crash_test::run(host, console, args),
        AutomationVerb::Graph(args) => graph::run(host, console, args),
        AutomationVerb::NodeTypes(args) => node_types::run(console, args),
        AutomationVerb::Schema(args) => schema::run(console, args),
        AutomationVerb::Explain(args) => explain::run(console, args),
    }
}
