//! Claude Code as a process: `claude -p` with a stream of JSON events.
//!
//! Modes hold as measured. `plan` and `custom` do not read settings files or
//! servers of tools, since a rule of the user's there would open what is
//! closed here; with that, `CLAUDE.md` is not read either. The mode that the
//! program itself calls `plan` is not used: it lets a model judge commands.

mod dialect;

use super::adapter::NETWORK;
use super::limits::ARGUMENT_BYTES;
use super::request::{AgentFile, AgentLaunch, AgentRequest, Mode, Refusal, is_uuid, session};
use super::{Reader, schema};

const PROGRAM: &str = "claude";

/// Its own credentials and endpoints.
const ENV: [&str; 23] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_CUSTOM_HEADERS",
    "ANTHROPIC_MODEL",
    "ANTHROPIC_SMALL_FAST_MODEL",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL",
    "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "ANTHROPIC_DEFAULT_OPUS_MODEL",
    "ANTHROPIC_VERTEX_PROJECT_ID",
    "ANTHROPIC_BEDROCK_BASE_URL",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_PROFILE",
    "AWS_REGION",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
    "CLAUDE_CONFIG_DIR",
    "CLOUD_ML_REGION",
    "DISABLE_TELEMETRY",
    "DISABLE_ERROR_REPORTING",
    // By which a container says that root is not root of a machine.
    "IS_SANDBOX",
];

/// What may read in `plan`. Of the shell's commands those run that the
/// program knows as reading only; all others are refused.
const READING: &str = "Read,Glob,Grep,Bash";

/// The program goes on for minutes otherwise, while a run could wait parked.
const RETRIES: &str = "4";

pub(super) fn launch(request: &AgentRequest) -> Result<AgentLaunch, Refusal> {
    let mut args: Vec<String> =
        ["-p", "--output-format", "stream-json", "--verbose", "--permission-prompts", "none"]
            .map(str::to_owned)
            .into();
    let mut push = |words: &[&str]| args.extend(words.iter().map(|word| (*word).to_owned()));
    let closed = ["--setting-sources", "", "--strict-mcp-config"];
    match request.mode {
        Mode::Plan => {
            push(&closed);
            push(&["--tools", READING, "--permission-mode", "dontAsk"]);
        }
        Mode::Edit => push(&["--permission-mode", "acceptEdits"]),
        Mode::Full => push(&["--permission-mode", "bypassPermissions"]),
        Mode::Custom => {
            let names = tool_names(&request.tools)?;
            push(&closed);
            push(&["--tools", &names.join(",")]);
            if !request.tools.is_empty() {
                push(&["--allowedTools"]);
                push(&request.tools.iter().map(String::as_str).collect::<Vec<_>>());
            }
            push(&["--permission-mode", "dontAsk"]);
        }
    }
    if let Some(model) = &request.model {
        push(&["--model", model]);
    }
    if let Some(session) = session(request, PROGRAM, is_uuid)? {
        push(&["--resume", session]);
    }
    let schema = schema::wanted(request).map(|schema| schema.to_string());
    if let Some(schema) = schema.filter(|schema| schema.len() <= ARGUMENT_BYTES) {
        push(&["--json-schema", &schema]);
    }
    let mut files = Vec::new();
    if let Some(instructions) = &request.instructions {
        let name = "instructions.md";
        push(&["--append-system-prompt-file", &request.path(name)?]);
        // Or a session would keep those of its first turn in silence.
        push(&["--system-prompt-snapshot", "off"]);
        files.push(AgentFile { name, text: instructions.clone() });
    }
    let env = [
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("CLAUDE_CODE_MAX_RETRIES", RETRIES),
        ("DISABLE_AUTOUPDATER", "1"),
    ];
    Ok(AgentLaunch {
        program: PROGRAM.to_owned(),
        args,
        env: env.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        env_pass: ENV.iter().chain(&NETWORK).map(|name| (*name).to_owned()).collect(),
        stdin: request.prompt.clone(),
        files,
        warnings: Vec::new(),
    })
}

pub(super) fn reader(request: &AgentRequest) -> Reader {
    Reader::new(PROGRAM, request, Box::<dialect::Claude>::default())
}

/// The tools without their rules: `Bash(git status)` needs `Bash`.
fn tool_names(tools: &[String]) -> Result<Vec<&str>, Refusal> {
    let mut names: Vec<&str> = Vec::new();
    for tool in tools {
        let (name, rule) = match tool.split_once('(') {
            Some((name, rule)) => (name, rule.strip_suffix(')')),
            None => (&tool[..], Some("")),
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if rule.is_none() || name.is_empty() || !name.chars().all(plain) {
            let message = format!(
                "`{tool}` is no tool of {PROGRAM}; write `Read`, or with a rule `Bash(git status)`"
            );
            return Err(Refusal::new("tool_unknown", message));
        }
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests;
