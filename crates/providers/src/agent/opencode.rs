//! OpenCode as a process: `opencode run --format json`, the prompt as its
//! input. It allows everything unless told otherwise, so each mode names
//! every tool that it denies: a user's own rule for one tool would win over a
//! rule for all.

mod dialect;

use serde_json::{Map, Value, json};

use super::Reader;
use super::adapter::NETWORK;
use super::request::{AgentFile, AgentLaunch, AgentRequest, Mode, Refusal, session};

const PROGRAM: &str = "opencode";

/// Its own credentials and endpoints, and where it keeps both.
const ENV: [&str; 16] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "GEMINI_API_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENROUTER_API_KEY",
    "OPENCODE_API_KEY",
    "OPENCODE_CONFIG",
    "OPENCODE_CONFIG_DIR",
    "OPENCODE_DISABLE_MODELS_FETCH",
    "OPENCODE_DISABLE_LSP_DOWNLOAD",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
];

/// Every permission that it knows.
const TOOLS: [&str; 15] = [
    "read",
    "glob",
    "grep",
    "list",
    "edit",
    "bash",
    "task",
    "skill",
    "lsp",
    "webfetch",
    "websearch",
    "todowrite",
    "question",
    "external_directory",
    "doom_loop",
];

const READING: [&str; 4] = ["read", "glob", "grep", "list"];

pub(super) fn launch(request: &AgentRequest) -> Result<AgentLaunch, Refusal> {
    let mut args: Vec<String> = ["run", "--format", "json"].map(str::to_owned).into();
    let mut push = |words: &[&str]| args.extend(words.iter().map(|word| (*word).to_owned()));
    if let Some(model) = &request.model {
        push(&["-m", model]);
    }
    if let Some(session) = session(request, PROGRAM, is_session)? {
        push(&["--session", session]);
    }
    let mut env = vec![
        ("OPENCODE_PERMISSION".to_owned(), permission(request)?.to_string()),
        ("OPENCODE_DISABLE_AUTOUPDATE".to_owned(), "1".to_owned()),
    ];
    let mut files = Vec::new();
    if let Some(instructions) = &request.instructions {
        let name = "instructions.md";
        let config = json!({ "instructions": [request.path(name)?] });
        env.push(("OPENCODE_CONFIG_CONTENT".to_owned(), config.to_string()));
        files.push(AgentFile { name, text: instructions.clone() });
    }
    Ok(AgentLaunch {
        program: PROGRAM.to_owned(),
        args,
        env,
        env_pass: ENV.iter().chain(&NETWORK).map(|name| (*name).to_owned()).collect(),
        stdin: request.prompt.clone(),
        files,
        warnings: Vec::new(),
    })
}

pub(super) fn reader(request: &AgentRequest) -> Reader {
    Reader::new(PROGRAM, request, Box::<dialect::OpenCode>::default())
}

fn is_session(text: &str) -> bool {
    text.strip_prefix("ses_")
        .is_some_and(|id| !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric()))
}

fn permission(request: &AgentRequest) -> Result<Value, Refusal> {
    if request.mode == Mode::Full {
        return Ok(TOOLS
            .iter()
            .chain(&["*"])
            .map(|tool| ((*tool).to_owned(), json!("allow")))
            .collect());
    }
    // The last rule that fits counts, so the one for all comes first.
    let mut rules = Map::new();
    rules.insert("*".to_owned(), json!("deny"));
    rules.extend(TOOLS.iter().map(|tool| ((*tool).to_owned(), json!("deny"))));
    let mut allow = |tools: &[&str]| {
        rules.extend(tools.iter().map(|tool| ((*tool).to_owned(), json!("allow"))));
    };
    match request.mode {
        Mode::Plan => allow(&READING),
        Mode::Edit => {
            allow(&READING);
            allow(&["edit", "todowrite"]);
        }
        Mode::Full => {}
        Mode::Custom => {
            for tool in &request.tools {
                allow_tool(tool, &mut rules)?;
            }
        }
    }
    Ok(Value::Object(rules))
}

/// `read`, or with a pattern `bash(git status*)`.
fn allow_tool(tool: &str, rules: &mut Map<String, Value>) -> Result<(), Refusal> {
    let (name, pattern) = match tool.split_once('(') {
        Some((name, rest)) => (name, rest.strip_suffix(')').filter(|pattern| !pattern.is_empty())),
        None => (tool, Some("")),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let Some(pattern) = pattern.filter(|_| !name.is_empty() && name.chars().all(plain)) else {
        let message = format!(
            "`{tool}` is no tool of {PROGRAM}; write `read`, or with a pattern `bash(git status*)`"
        );
        return Err(Refusal::new("tool_unknown", message));
    };
    if pattern.is_empty() {
        rules.insert(name.to_owned(), json!("allow"));
        return Ok(());
    }
    let rule = rules.entry(name).or_insert_with(|| json!("deny"));
    if rule == "allow" {
        return Ok(());
    }
    if !rule.is_object() {
        *rule = json!({ "*": "deny" });
    }
    rule[pattern] = json!("allow");
    Ok(())
}

#[cfg(test)]
mod tests;
