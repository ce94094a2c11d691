//! `wardian demo`.

use host::Host;
use host::api::Demo;

use crate::args::DemoArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::style::Paint;

pub(crate) fn run(host: &Host, console: &Console, args: &DemoArgs) -> Result<Exit, CliError> {
    super::launch(host, console, &args.attach, || {
        let demo = host.demo(args.folder.clone())?;
        if !console.json {
            introduce(console, &demo)?;
        }
        Ok(demo.launched)
    })
}

fn introduce(console: &Console, demo: &Demo) -> Result<(), CliError> {
    for (name, path) in [
        ("blueprint", &demo.blueprint),
        ("repository", &demo.repository),
        ("run", &demo.launched.run_dir),
    ] {
        let name = console.style.paint(Paint::Faint, &format!("{name:<10}"));
        console.line(&format!("{name} {}", console.short_path(path)))?;
    }
    console.line("")
}
