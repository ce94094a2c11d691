//! Codex as a process: `codex exec --json`, with the prompt as its input.
//!
//! A mode is a sandbox: what a command may write is decided by the kernel.
//! Rules files are not read but in `full`, since a rule that allows a command
//! runs it outside of the sandbox. Reading is open in every mode.

mod dialect;
mod record;

use super::adapter::NETWORK;
use super::request::{AgentFile, AgentLaunch, AgentRequest, Mode, Refusal, is_uuid, session};
use super::{Reader, schema};
use crate::environment::ChildEnv;

const PROGRAM: &str = "codex";

/// Its own credentials and endpoints.
const ENV: [&str; 7] = [
    "CODEX_API_KEY",
    "CODEX_HOME",
    "CODEX_CA_CERTIFICATE",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_ORGANIZATION",
    "OPENAI_PROJECT",
];

/// Tools by our word for them: the feature that turns one off. `write` is no
/// feature: it opens the workspace to the shell.
const FEATURES: [(&str, &str); 4] = [
    ("shell", "shell_tool"),
    ("multi_agent", "multi_agent"),
    ("goals", "goals"),
    ("view_image", "view_image"),
];

pub(super) fn launch(request: &AgentRequest) -> Result<AgentLaunch, Refusal> {
    let mut args: Vec<String> =
        ["exec", "--json", "--skip-git-repo-check", "--color", "never"].map(str::to_owned).into();
    let mut push = |words: &[&str]| args.extend(words.iter().map(|word| (*word).to_owned()));
    match request.mode {
        Mode::Plan => push(&["--ignore-rules", "-s", "read-only"]),
        Mode::Edit => workspace_write(&mut push),
        Mode::Full => push(&["-s", "danger-full-access"]),
        Mode::Custom => {
            known_tools(&request.tools)?;
            let has = |name: &str| request.tools.iter().any(|tool| tool == name);
            if has("write") {
                workspace_write(&mut push);
            } else {
                push(&["--ignore-rules", "-s", "read-only"]);
            }
            for (_, feature) in FEATURES.iter().filter(|(tool, _)| !has(tool)) {
                push(&["--disable", feature]);
            }
            if !has("web_search") {
                push(&["-c", "web_search=\"disabled\""]);
            }
        }
    }
    if let Some(model) = &request.model {
        push(&["-m", model]);
    }
    let mut files = Vec::new();
    let schema = schema::wanted(request).filter(schema::is_strict);
    if let Some(schema) = schema {
        let name = "schema.json";
        push(&["--output-schema", &request.path(name)?]);
        files.push(AgentFile { name, text: schema.to_string() });
    }
    if let Some(session) = session(request, PROGRAM, is_uuid)? {
        push(&["resume", session]);
    }
    // The prompt is the input.
    push(&["-"]);
    Ok(AgentLaunch {
        program: PROGRAM.to_owned(),
        args,
        env: Vec::new(),
        env_pass: ENV.iter().chain(&NETWORK).map(|name| (*name).to_owned()).collect(),
        stdin: request.told(),
        files,
        warnings: Vec::new(),
    })
}

/// Whether its own record proves that nothing was done in the turn that just
/// ended in this thread.
pub(super) fn proves_idle(request: &AgentRequest, thread: &str, env: &ChildEnv) -> bool {
    let home = record::home(env.vars().collect::<Vec<_>>().into_iter());
    home.is_some_and(|home| record::proves_idle(&home, thread, &request.told()))
}

pub(super) fn reader(request: &AgentRequest) -> Reader {
    let writes = match request.mode {
        // Without a sandbox every command is told, as each one runs to its end.
        Mode::Plan | Mode::Full => false,
        Mode::Edit => true,
        Mode::Custom => request.tools.iter().any(|tool| tool == "write"),
    };
    Reader::new(PROGRAM, request, Box::new(dialect::Codex::new(writes)))
}

/// The workspace and the attempt's own `TMPDIR`, and no other folder for
/// temporary files.
fn workspace_write(push: &mut impl FnMut(&[&str])) {
    push(&["--ignore-rules", "-s", "workspace-write"]);
    push(&["-c", "sandbox_workspace_write.exclude_slash_tmp=true"]);
}

fn known_tools(tools: &[String]) -> Result<(), Refusal> {
    let known = || FEATURES.iter().map(|(tool, _)| *tool).chain(["web_search", "write"]);
    match tools.iter().find(|tool| !known().any(|name| name == tool.as_str())) {
        None => Ok(()),
        Some(tool) => {
            let known: Vec<&str> = known().collect();
            let message = format!(
                "`{tool}` is no tool that {PROGRAM} can be held to; there are: {}",
                known.join(", ")
            );
            Err(Refusal::new("tool_unknown", message))
        }
    }
}

#[cfg(test)]
mod tests;
