//! `wardian automation schema`.

use blueprint::editor;

use super::graph::write;
use crate::args::SchemaArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;

pub(crate) fn run(console: &Console, args: &SchemaArgs) -> Result<Exit, CliError> {
    let mut text =
        serde_json::to_string_pretty(&editor::schema()).expect("a JSON value has a text");
    text.push('\n');
    let address = match &args.output {
        Some(path) => {
            write(console, path, &text)?;
            console.short_path(path)
        }
        None => {
            console.bytes(text.as_bytes())?;
            "schema.json".to_owned()
        }
    };
    if !console.json {
        console.talk("the first line below the opening `---` leads an editor to it:");
        console.talk(&format!("  {}", editor::directive(&address)));
    }
    Ok(Exit::Done)
}
