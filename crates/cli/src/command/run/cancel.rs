//! `wardian run cancel`.

use host::Host;
use host::api::SignalVerb;

use super::answer;
use crate::args::NoteArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;

pub(crate) fn run(host: &Host, console: &Console, args: &NoteArgs) -> Result<Exit, CliError> {
    let done = "cancelled; everything that it started has ended";
    answer::give(host, console, &args.run.run, SignalVerb::Cancel, args.note.as_ref(), done)
}
