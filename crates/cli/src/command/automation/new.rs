//! `wardian automation new`.

use host::Host;
use host::api::authoring::NewRequest;
use host::api::json;

use crate::args::NewArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::surroundings::quote;

pub(crate) fn run(host: &Host, console: &Console, args: &NewArgs) -> Result<Exit, CliError> {
    let new = host.new_automation(&NewRequest {
        id: args.id.clone(),
        name: args.name.clone(),
        template: args.from.clone(),
        file: args.file.clone(),
    })?;
    if console.json {
        console.document(&json::created(&new))?;
        return Ok(Exit::Done);
    }
    let path = console.short_path(&new.path);
    console.line(&format!("wrote {path}"))?;
    let name = if args.file.is_some() { quote(&path) } else { new.id };
    let input = new.input.map(|input| format!(" --input {}", quote(input)));
    let agent = if new.needs_agent { " --provider PROVIDER" } else { "" };
    let program = &console.program;
    console.talk("change it, then check it and run it:");
    console.talk(&format!("  {program} automation lint {name}"));
    console
        .talk(&format!("  {program} automation exec {name}{}{agent}", input.unwrap_or_default()));
    Ok(Exit::Done)
}
