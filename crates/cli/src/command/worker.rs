//! The worker process of one run, which wardian itself starts.

use std::ffi::OsString;

use clap::Parser;
use host::Host;

use crate::args::{WORKER_VERB, WorkArgs};
use crate::command::usage;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::surroundings::Surroundings;

/// What follows the verb, when this process is to be a worker.
pub(crate) fn asked(args: &[OsString]) -> Option<&[OsString]> {
    let (verb, rest) = args.get(1..)?.split_first()?;
    (verb == WORKER_VERB).then_some(rest)
}

pub(crate) fn run(args: &[OsString], surroundings: &Surroundings) -> Exit {
    match WorkArgs::try_parse_from(args) {
        Ok(args) => match work(&args, surroundings) {
            Ok(()) => Exit::Done,
            Err(error) => error.report(&Console::new(&args.globals, surroundings)),
        },
        Err(error) => usage::explain(&error, surroundings),
    }
}

fn work(args: &WorkArgs, surroundings: &Surroundings) -> Result<(), CliError> {
    host::let_go_of_inherited()?;
    let host = Host::open(surroundings.host_config(args.globals.home.as_deref())?)?;
    Ok(host.work(&args.run_dir)?)
}
