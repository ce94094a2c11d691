//! The process of a provider that a person described. What the description
//! does not say how to ask for is refused, never left out in silence.

use durable::limits::ENV_VALUE_BYTES;

use super::dialect::Described;
use super::{Configured, PromptBy};
use crate::agent::request::{AgentFile, AgentLaunch, AgentRequest, Mode, Refusal};
use crate::agent::{Reader, schema};

pub(in crate::agent) fn launch(
    provider: &Configured,
    request: &AgentRequest,
) -> Result<AgentLaunch, Refusal> {
    let name = &provider.name;
    let workspace = request.workspace.to_str().ok_or_else(|| {
        let message = format!("path {} is not UTF-8; use a plain one", request.workspace.display());
        Refusal::new("path_not_utf8", message)
    })?;
    let prompt = request.told();
    let mut files = Vec::new();
    let mut warnings = Vec::new();
    let mut stdin = String::new();
    let mut filled = vec![("{workspace}", workspace.to_owned())];
    match provider.prompt {
        PromptBy::Stdin => stdin = prompt,
        PromptBy::File => {
            filled.push(("{prompt_file}", request.path(PROMPT_FILE)?));
            files.push(AgentFile { name: PROMPT_FILE, text: prompt });
        }
        PromptBy::Argument if prompt.len() > ENV_VALUE_BYTES => {
            let message = format!(
                "{name} takes the prompt as an argument; this one has {} bytes, the most is \
                 {ENV_VALUE_BYTES}: set `prompt` to `stdin` or `file` if it can, or ask for less",
                prompt.len()
            );
            return Err(Refusal::new("prompt_too_large", message));
        }
        PromptBy::Argument => {
            warnings.push(format!(
                "{name} gets the prompt as an argument, which everybody on this machine can read"
            ));
            filled.push(("{prompt}", prompt));
        }
    }
    let mut args = fill(&provider.args, &filled);
    args.extend(mode_args(provider, request, &filled, &mut warnings)?);
    for (wanted, list, place, key) in [
        (&request.model, &provider.model_args, "{model}", "model_args"),
        (&request.resume, &provider.resume_args, "{session}", "resume_args"),
    ] {
        match (wanted, list) {
            (None, _) => {}
            (Some(word), Some(list)) => args.extend(fill(list, &[(place, word.clone())])),
            (Some(word), None) => return Err(unknown(name, &format!("`{word}`"), key)),
        }
    }
    if let (Some(schema), Some(list)) = (schema::wanted(request), &provider.schema_args) {
        args.extend(fill(list, &[("{schema_file}", request.path(SCHEMA_FILE)?)]));
        files.push(AgentFile { name: SCHEMA_FILE, text: schema.to_string() });
    }
    let env = provider.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    let (program, env_pass) = (provider.program.clone(), provider.env_pass.clone());
    Ok(AgentLaunch { program, args, env, env_pass, stdin, files, warnings })
}

const PROMPT_FILE: &str = "prompt.md";
const SCHEMA_FILE: &str = "schema.json";

pub(in crate::agent) fn reader(provider: &Configured, request: &AgentRequest) -> Reader {
    let dialect = Described::new(&provider.reply, &provider.limits);
    Reader::new(&provider.name, request, Box::new(dialect))
}

fn mode_args(
    provider: &Configured,
    request: &AgentRequest,
    filled: &[(&str, String)],
    warnings: &mut Vec<String>,
) -> Result<Vec<String>, Refusal> {
    let (name, mode) = (&provider.name, request.mode);
    let refuse = |why: &str| {
        let message = format!(
            "{name} was asked for mode `{}`, and {why}; add it to `modes` of [provider.{name}], \
             or use another mode",
            mode.word()
        );
        Err(Refusal::new("mode_not_supported", message))
    };
    let Some(modes) = &provider.modes else {
        return match mode {
            Mode::Plan | Mode::Custom => refuse("nothing says how to hold it to that"),
            Mode::Edit | Mode::Full => {
                warnings.push(format!("nothing is known of what {name} may do"));
                Ok(Vec::new())
            }
        };
    };
    let Some(args) = modes.get(&mode) else { return refuse("its `modes` do not have it") };
    let mut args = fill(args, filled);
    if let Some(list) = &provider.tool_args {
        for tool in &request.tools {
            args.extend(fill(list, &[("{tool}", tool.clone())]));
        }
    }
    Ok(args)
}

fn unknown(name: &str, what: &str, key: &str) -> Refusal {
    let message = format!(
        "{name} was asked for {what}, and nothing says how to tell it; \
         add `{key}` to [provider.{name}], or leave it out"
    );
    Refusal::new("not_supported", message)
}

/// The arguments with the places filled, each in one pass: what is filled in
/// is never looked at for places.
fn fill(args: &[String], values: &[(&str, String)]) -> Vec<String> {
    args.iter().map(|arg| fill_one(arg, values)).collect()
}

fn fill_one(arg: &str, values: &[(&str, String)]) -> String {
    let mut text = String::new();
    let mut rest = arg;
    while let Some(at) = rest.find('{') {
        let (before, tail) = rest.split_at(at);
        text.push_str(before);
        match values.iter().find(|(place, _)| tail.starts_with(place)) {
            Some((place, value)) => {
                text.push_str(value);
                rest = &tail[place.len()..];
            }
            None => {
                text.push('{');
                rest = &tail[1..];
            }
        }
    }
    text + rest
}
