//! `wardian man`: the manual, made from the tree of commands, so that it
//! cannot tell anything else than the help does.

use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use serde_json::json;

use crate::args::Cli;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use host::api::{Code, HostError};

pub(crate) fn run(console: &Console, folder: &Path) -> Result<Exit, CliError> {
    let mut tree = Cli::command();
    tree.build();
    std::fs::create_dir_all(folder).map_err(|fault| refused(folder, &fault))?;
    let mut written = Vec::new();
    write(&tree, folder, &mut written)?;
    if console.json {
        let pages: Vec<String> = written.iter().map(|page| page.display().to_string()).collect();
        console.document(&json!({ "schema": host::api::json::SCHEMA, "pages": pages }))?;
        return Ok(Exit::Done);
    }
    for page in &written {
        console.line(&console.short_path(page))?;
    }
    Ok(Exit::Done)
}

/// The page of a command, then those of the commands below it.
fn write(command: &Command, folder: &Path, written: &mut Vec<PathBuf>) -> Result<(), CliError> {
    // A tree that was built names each command with those above it.
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let path = folder.join(format!("{name}.1"));
    let mut page = Vec::new();
    let source = concat!("wardian ", env!("CARGO_PKG_VERSION"));
    Man::new(command.clone()).source(source).render(&mut page)?;
    std::fs::write(&path, page).map_err(|fault| refused(&path, &fault))?;
    written.push(path);
    let shown = |command: &&Command| !command.is_hide_set() && command.get_name() != "help";
    for below in command.get_subcommands().filter(shown) {
        write(below, folder, written)?;
    }
    Ok(())
}

fn refused(path: &Path, fault: &std::io::Error) -> HostError {
    let message = format!("{} cannot be written: {fault}", path.display());
    HostError::new(Code::Store, message).hint("name another folder with --output")
}
