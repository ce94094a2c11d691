//! `wardian run reject`.

use host::Host;
use host::api::SignalVerb;

use super::answer;
use crate::args::DecideArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;

pub(crate) fn run(host: &Host, console: &Console, args: &DecideArgs) -> Result<Exit, CliError> {
    let verb = SignalVerb::Reject { node: args.node.clone() };
    answer::decide(host, console, args, verb, "rejected")
}
