//! `wardian demo`.

use std::path::PathBuf;

use host::Host;
use host::api::Demo;

use crate::args::DemoArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::style::Paint;

pub(crate) fn run(host: &Host, console: &Console, args: &DemoArgs) -> Result<Exit, CliError> {
    let Demo { prepared, home: _, repository, blueprint } = host.demo(args.folder.clone())?;
    super::launch(host, console, &args.attach, prepared, |launched| {
        let places = [("blueprint", &blueprint), ("repository", &repository)];
        if console.json { Ok(()) } else { introduce(console, places, &launched.run_dir) }
    })
}

fn introduce(
    console: &Console,
    [blueprint, repository]: [(&str, &PathBuf); 2],
    run: &PathBuf,
) -> Result<(), CliError> {
    for (name, path) in [blueprint, repository, ("run", run)] {
        let name = console.style.paint(Paint::Faint, &format!("{name:<10}"));
        console.line(&format!("{name} {}", console.short_path(path)))?;
    }
    console.line("")
}
