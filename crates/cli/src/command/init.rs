//! `wardian init`.

use host::Host;
use host::api::authoring::{FirstAutomation, FirstRequest};
use host::api::json;

use crate::args::InitArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::escape;
use crate::surroundings::quote;

pub(crate) fn run(host: &Host, console: &Console, args: &InitArgs) -> Result<Exit, CliError> {
    let request = FirstRequest {
        id: args.id.clone(),
        provider: args.provider.clone(),
        file: args.file.clone(),
    };
    let first = host.init(&request)?;
    if console.json {
        console.document(&json::first(&first))?;
        return Ok(Exit::Done);
    }
    let path = console.short_path(&first.new.path);
    console.line(&format!("wrote {path}"))?;
    tell(console, &first);
    let name = if args.file.is_some() { quote(&path) } else { first.new.id.clone() };
    let input = first.new.input.map(|input| format!(" --input {}", quote(input)));
    let input = input.unwrap_or_default();
    let agent = if first.new.needs_agent { " --provider PROVIDER" } else { "" };
    console.talk("give it a task:");
    console.talk(&format!("  {} automation exec {name}{input}{agent}", console.program));
    Ok(Exit::Done)
}

fn tell(console: &Console, first: &FirstAutomation) {
    let others: Vec<&str> = first
        .found
        .iter()
        .map(String::as_str)
        .filter(|name| Some(*name) != first.provider.as_deref())
        .collect();
    let agent = match (&first.provider, &others[..]) {
        (None, _) => "none found: install one, or name it with --provider".to_owned(),
        (Some(name), []) => name.clone(),
        (Some(name), others) => format!("{name} (also here: {})", others.join(", ")),
    };
    let tests = first.tests.as_deref().unwrap_or("none found: add a command under `prove`");
    console
        .talk(&format!("  repository  {}", escape::line(&first.repository.display().to_string())));
    console.talk(&format!("  agent       {}", escape::line(&agent)));
    console.talk(&format!("  tests       {tests}"));
}
