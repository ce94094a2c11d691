//! `wardian run watch`.

use host::{Host, Tether};

use crate::args::WatchArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::viewer::{self, Role, Signals, Visit};

pub(crate) fn run(host: &Host, console: &Console, args: &WatchArgs) -> Result<Exit, CliError> {
    let signals = Signals::listen()?;
    let run = &args.run.run;
    let visit = Visit {
        run,
        signals: &signals,
        from: args.from,
        role: Role::Onlooker,
        tether: Tether::default(),
    };
    viewer::attend(host, console, &visit)
}
