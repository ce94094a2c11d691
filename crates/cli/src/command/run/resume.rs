//! `wardian run resume`.

use host::Host;
use host::api::SignalVerb;

use super::answer;
use crate::args::NoteArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;

pub(crate) fn run(host: &Host, console: &Console, args: &NoteArgs) -> Result<Exit, CliError> {
    let note = args.note.as_ref();
    answer::give(host, console, &args.run.run, SignalVerb::Resume, note, "resumed")
}
