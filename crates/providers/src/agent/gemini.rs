//! Gemini CLI as a process: a stream of JSON events, the prompt as its input.
//!
//! `custom` is a policy file that denies all tools and allows the named ones;
//! it holds whatever the user's own settings say.

mod dialect;

use super::Reader;
use super::adapter::NETWORK;
use super::request::{AgentFile, AgentLaunch, AgentRequest, Mode, Refusal, is_uuid, session};

const PROGRAM: &str = "gemini";

/// Its own credentials and endpoints.
const ENV: [&str; 10] = [
    "GEMINI_API_KEY",
    "GEMINI_MODEL",
    "GOOGLE_API_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_GEMINI_BASE_URL",
    "GOOGLE_GENAI_USE_GCA",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_VERTEX_BASE_URL",
];

const SHELL: &str = "run_shell_command";

pub(super) fn launch(request: &AgentRequest) -> Result<AgentLaunch, Refusal> {
    let mut args: Vec<String> =
        ["-o", "stream-json", "--skip-trust", "--approval-mode"].map(str::to_owned).into();
    let mut push = |words: &[&str]| args.extend(words.iter().map(|word| (*word).to_owned()));
    let mut files = Vec::new();
    match request.mode {
        Mode::Plan => push(&["plan"]),
        Mode::Edit => push(&["auto_edit"]),
        Mode::Full => push(&["yolo"]),
        Mode::Custom => {
            let name = "policy.toml";
            push(&["default", "--policy", &request.path(name)?]);
            files.push(AgentFile { name, text: policy(&request.tools)? });
        }
    }
    if let Some(model) = &request.model {
        push(&["-m", model]);
    }
    // Only an id: a number or `latest` would be another session some day.
    if let Some(session) = session(request, PROGRAM, is_uuid)? {
        push(&["--resume", session]);
    }
    // One process instead of two, and one that hears a request to end.
    let env = [("GEMINI_CLI_NO_RELAUNCH", "1"), ("GEMINI_CLI_TRUST_WORKSPACE", "true")];
    Ok(AgentLaunch {
        program: PROGRAM.to_owned(),
        args,
        env: env.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        env_pass: ENV.iter().chain(&NETWORK).map(|name| (*name).to_owned()).collect(),
        stdin: request.told(),
        files,
        warnings: Vec::new(),
    })
}

pub(super) fn reader(request: &AgentRequest) -> Reader {
    Reader::new(PROGRAM, request, Box::<dialect::Gemini>::default())
}

/// Deny everything, then allow what is named: `read_file`, or with the
/// beginning of a command `run_shell_command(git status)`.
fn policy(tools: &[String]) -> Result<String, Refusal> {
    let mut text = rule("*", None, "deny", 900);
    for tool in tools {
        let (name, prefix) = match tool.split_once('(') {
            Some((name, rest)) => (name, rest.strip_suffix(')')),
            None => (&tool[..], Some("")),
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let quiet = |prefix: &str| !prefix.contains(['"', '\\']);
        let prefix = prefix.filter(|prefix| prefix.is_empty() || name == SHELL && quiet(prefix));
        let Some(prefix) = prefix.filter(|_| !name.is_empty() && name.chars().all(plain)) else {
            let message = format!(
                "`{tool}` is no tool of {PROGRAM}; write `read_file`, or with the beginning of a \
                 command `{SHELL}(git status)`"
            );
            return Err(Refusal::new("tool_unknown", message));
        };
        let prefix = Some(prefix).filter(|prefix| !prefix.is_empty());
        text.push('\n');
        text.push_str(&rule(name, prefix, "allow", 950));
    }
    Ok(text)
}

fn rule(tool: &str, prefix: Option<&str>, decision: &str, priority: u32) -> String {
    let prefix = prefix.map_or_else(String::new, |p| format!("commandPrefix = \"{p}\"\n"));
    format!(
        "[[rule]]\ntoolName = \"{tool}\"\n{prefix}decision = \"{decision}\"\npriority = {priority}\n"
    )
}

#[cfg(test)]
mod tests;
