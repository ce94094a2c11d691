//! `wardian run …`.

mod answer;
mod apply;
mod approve;
mod cancel;
mod changes;
mod diff;
mod events;
mod export;
mod fork;
mod list;
mod logs;
mod prune;
mod reject;
mod replay;
mod resume;
mod retry;
pub(crate) mod rows;
mod show;
mod verify;
mod view;
mod watch;

use host::Host;

use crate::args::RunVerb;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;

pub(crate) fn run(host: &Host, console: &Console, verb: &RunVerb) -> Result<Exit, CliError> {
    match verb {
        RunVerb::List(args) => list::run(host, console, args),
        RunVerb::Show(args) => show::run(host, console, args),
        RunVerb::Watch(args) => watch::run(host, console, args),
        RunVerb::Logs(args) => logs::run(host, console, args),
        RunVerb::Events(args) => events::run(host, console, args),
        RunVerb::View(args) => view::run(host, console, args),
        RunVerb::Replay(args) => replay::run(host, console, args),
        RunVerb::Verify(args) => verify::run(host, console, args),
        RunVerb::Approve(args) => approve::run(host, console, args),
        RunVerb::Reject(args) => reject::run(host, console, args),
        RunVerb::Cancel(args) => cancel::run(host, console, args),
        RunVerb::Resume(args) => resume::run(host, console, args),
        RunVerb::Retry(args) => retry::run(host, console, args),
        RunVerb::Fork(args) => fork::run(host, console, args),
        RunVerb::Diff(args) => diff::run(host, console, args),
        RunVerb::Changes(args) => changes::run(host, console, args),
        RunVerb::Apply(args) => apply::run(host, console, args),
        RunVerb::Prune(args) => prune::run(host, console, args),
        RunVerb::Export(args) => export::run(host, console, args),
    }
}
