//! `wardian run events`.

use host::Host;

use crate::args::EventsArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;

pub(crate) fn run(host: &Host, console: &Console, args: &EventsArgs) -> Result<Exit, CliError> {
    let mut written = Ok(());
    host.events(&args.run.run, args.from, &mut |line| {
        written = console.document_line(line);
        written.is_ok()
    })?;
    written.map(|()| Exit::Done)
}
