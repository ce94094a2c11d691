//! From the command line to an exit code: one file a verb.

mod automation;
mod completion;
mod demo;
mod doctor;
mod init;
mod man;
mod provider;
pub(crate) mod recover;
mod reference;
mod run;
mod usage;
mod worker;
mod workers;
mod worktree;

use std::mem::ManuallyDrop;

use clap::Parser;
use host::api::Launched;
use host::{Host, Outcome, Prepared};

use crate::args::{AttachArgs, Cli, Command};
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::escape;
use crate::surroundings::Surroundings;
use crate::viewer::{self, Role, Signals, Visit};

pub(crate) fn main(surroundings: &Surroundings) -> Exit {
    if let Some(args) = worker::asked(&surroundings.args) {
        return worker::run(args, surroundings);
    }
    let cli = match Cli::try_parse_from(&surroundings.args) {
        Ok(cli) => cli,
        Err(error) => return usage::explain(&error, surroundings),
    };
    let console = Console::new(&cli.globals, surroundings);
    match perform(&cli, &console, surroundings) {
        Ok(exit) => exit,
        Err(error) => error.report(&console),
    }
}

fn perform(cli: &Cli, console: &Console, surroundings: &Surroundings) -> Result<Exit, CliError> {
    if let Command::Completion { shell } = &cli.command {
        return completion::run(console, *shell);
    }
    if let Command::Reference { page } = &cli.command {
        return reference::run(console, *page);
    }
    if let Command::Man { output } = &cli.command {
        return man::run(console, output);
    }
    // The process ends with it, and what it knows of a large graph takes long to
    // take apart.
    let host = Host::open(surroundings.host_config(cli.globals.home.as_deref())?)?;
    let host = ManuallyDrop::new(host);
    match &cli.command {
        Command::Demo(args) => demo::run(&host, console, args),
        Command::Init(args) => init::run(&host, console, args),
        Command::Doctor => doctor::run(&host, console),
        Command::Recover(args) => recover::run(&host, console, args),
        Command::Automation(verb) => automation::run(&host, console, verb),
        Command::Run(verb) => run::run(&host, console, verb),
        Command::Provider(verb) => provider::run(&host, console, verb),
        Command::Workers(verb) => workers::run(&host, console, verb),
        Command::Worktree(verb) => worktree::run(&host, console, verb),
        Command::Completion { shell } => completion::run(console, *shell),
        Command::Reference { page } => reference::run(console, *page),
        Command::Man { output } => man::run(console, output),
    }
}

/// Starts a run and stays with it, or leaves it, as was asked. Signals are
/// heard from before the run exists, so that none is lost between, and only
/// when its worker is there, which has ways of its own with them.
fn launch(
    host: &Host,
    console: &Console,
    attach: &AttachArgs,
    prepared: Prepared,
    introduce: impl FnOnce(&Launched) -> Result<(), CliError>,
) -> Result<Exit, CliError> {
    let recruit = host.recruit(&prepared)?;
    let signals = Signals::listen()?;
    let launched = host.launch(prepared, recruit)?;
    introduce(&launched)?;
    if !console.json {
        launched
            .notes
            .iter()
            .for_each(|note| console.talk(&format!("note: {}", escape::line(note))));
    }
    if attach.detach {
        return leave(host, console, &launched);
    }
    let role = Role::Starter { foreground: attach.foreground };
    let tether = launched.tether.clone();
    let visit = Visit { run: &launched.run_id, signals: &signals, from: None, role, tether };
    viewer::attend(host, console, &visit)
}

fn leave(host: &Host, console: &Console, launched: &Launched) -> Result<Exit, CliError> {
    let run = &launched.run_id;
    if console.json {
        let outcome = Outcome::of(&host.follow(run)?.outline());
        let (blueprint, folder) = (&launched.blueprint_id, &launched.run_dir);
        console.document(&host::api::json::outcome(run, blueprint, folder, &outcome))?;
        return Ok(Exit::Done);
    }
    console.line(&format!("run {run} started"))?;
    console.line(&format!("  {} run watch {run}", console.program))?;
    Ok(Exit::Done)
}
