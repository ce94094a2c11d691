//! `wardian completion SHELL`.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;

pub(crate) fn run(console: &Console, shell: Shell) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "wardian", &mut script);
    console.bytes(&script)?;
    Ok(Exit::Done)
}
