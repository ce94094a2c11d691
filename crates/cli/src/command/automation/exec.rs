//! `wardian automation exec`.

use std::collections::BTreeMap;
use std::io::{self, Read};

use host::Host;
use host::api::input::read_input;
use host::api::{Code, HostError, LaunchRequest};

use crate::args::ExecArgs;
use crate::command::launch;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;

/// More than an input may have, so that one that is too long is seen to be.
const READ_MAX: u64 = 16 << 20;

pub(crate) fn run(host: &Host, console: &Console, args: &ExecArgs) -> Result<Exit, CliError> {
    let mut request = LaunchRequest {
        automation: args.source.automation.clone(),
        workspace: args.workspace.clone(),
        provider: args.provider.clone(),
        script: args.script.clone(),
        isolation: args.isolation.map(|word| word.0),
        bindings: bindings(&args.bind)?,
        ..LaunchRequest::default()
    };
    if let Some(input) = &args.input {
        (request.input, request.input_raw) = read_input(&text_of(input)?)?;
    }
    launch(host, console, &args.attach, host.prepare(request)?, |_| Ok(()))
}

/// Who acts as which role, each named once.
pub(crate) fn bindings(pairs: &[(String, String)]) -> Result<BTreeMap<String, String>, CliError> {
    let mut bindings = BTreeMap::new();
    for (role, provider) in pairs {
        if bindings.insert(role.clone(), provider.clone()).is_some() {
            let message = format!("`{role}` is bound twice");
            return Err(CliError::usage(message, "give each role one --bind"));
        }
    }
    Ok(bindings)
}

/// The text that an argument stands for: itself, a file's, or standard
/// input's.
pub(crate) fn text_of(argument: &str) -> Result<String, HostError> {
    let (name, bytes) = match argument.strip_prefix('@') {
        Some(path) => (path, std::fs::File::open(path).and_then(read)),
        None if argument == "-" => ("standard input", read(io::stdin().lock())),
        None => return Ok(argument.to_owned()),
    };
    let bytes = bytes.map_err(|error| {
        let missing = error.kind() == io::ErrorKind::NotFound;
        let code = if missing { Code::FileNotFound } else { Code::InvalidInput };
        HostError::new(code, format!("the input {name} cannot be read: {error}"))
            .hint("pass JSON, @FILE, or - for standard input")
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        HostError::new(Code::InvalidInput, format!("the input {name} is not UTF-8 at byte {at}"))
            .hint("save it as UTF-8, or put its bytes into a file of the workspace")
    })
}

fn read(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(READ_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}
