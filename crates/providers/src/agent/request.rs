//! What an agent is asked, and the process that asks it, as plain data. A
//! prompt never stands in an argument: everybody on the machine can read
//! those, and they are short.

use std::path::PathBuf;

use durable::limits::{ENV_VALUE_BYTES, RENDERED_BYTES};
use engine::{Class, NodeError, Outcome};
use serde_json::Value;

use super::limits;

/// One turn of an agent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentRequest {
    pub prompt: String,
    /// What the agent is told about itself, before the prompt.
    pub instructions: Option<String>,
    pub model: Option<String>,
    pub mode: Mode,
    /// For [`Mode::Custom`]: the only tools, by the provider's own names.
    pub tools: Vec<String>,
    /// The provider's own session to continue.
    pub resume: Option<String>,
    /// What a session had used before this turn, where that is known. Some
    /// providers tell only the total of a session.
    pub used_before: Option<u64>,
    /// JSON Schema of the answer.
    pub schema: Option<Value>,
    /// The choices of a decision; empty for a task.
    pub choices: Vec<String>,
    pub workspace: PathBuf,
    /// A folder of this attempt alone, for its files and as its `TMPDIR`.
    pub folder: PathBuf,
    /// Variables of the host that this provider gets besides its own.
    pub env_pass: Vec<String>,
}

/// What an agent may do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// Read, and change nothing.
    Plan,
    /// Change files of the workspace.
    #[default]
    Edit,
    /// Everything that the provider itself can do.
    Full,
    /// The named tools and no others.
    Custom,
}

/// The process that asks. Nothing has happened yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentLaunch {
    pub program: String,
    pub args: Vec<String>,
    /// Set for the process.
    pub env: Vec<(String, String)>,
    /// Taken from the host's own environment, where it has them.
    pub env_pass: Vec<String>,
    /// All that the process can read; then its input has ended.
    pub stdin: String,
    /// To be put into the folder of the attempt before the start.
    pub files: Vec<AgentFile>,
    /// What a person should know about this way of asking.
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFile {
    pub name: &'static str,
    pub text: String,
}

/// Why a request was not even tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub code: &'static str,
    pub message: String,
}

impl Mode {
    pub const ALL: [Self; 4] = [Self::Plan, Self::Edit, Self::Full, Self::Custom];

    pub fn word(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Edit => "edit",
            Self::Full => "full",
            Self::Custom => "custom",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.word() == word)
    }
}

impl Refusal {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub fn outcome(self) -> Outcome {
        Outcome::Failed(NodeError::before_effect(Class::Preflight, self.code, self.message))
    }
}

impl AgentRequest {
    /// What no provider could do anything with.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        if self.prompt.trim().is_empty() {
            return Err(Refusal::new("prompt_empty", "the prompt is empty; say what to do"));
        }
        let whole = self.prompt.len() + self.instructions.as_ref().map_or(0, String::len);
        if whole > 2 * RENDERED_BYTES {
            let message = format!(
                "prompt and instructions have {whole} bytes, the most is {}; \
                 put the large part into a file of the workspace and name the file",
                2 * RENDERED_BYTES
            );
            return Err(Refusal::new("prompt_too_large", message));
        }
        let model = self.model.iter().map(|model| ("model", model));
        let resume = self.resume.iter().map(|session| ("session", session));
        let tools = self.tools.iter().map(|tool| ("tool", tool));
        for (what, word) in model.chain(resume).chain(tools) {
            refuse_option(what, word)?;
        }
        if self.mode != Mode::Custom && !self.tools.is_empty() {
            let message = format!(
                "`tools` are given with mode `{}`, which would not keep to them; \
                 use `mode: custom`, or leave `tools` out",
                self.mode.word()
            );
            return Err(Refusal::new("tools_without_custom", message));
        }
        if self.tools.len() > limits::TOOLS {
            let message =
                format!("{} tools are named, the most is {}", self.tools.len(), limits::TOOLS);
            return Err(Refusal::new("too_many_tools", message));
        }
        Ok(())
    }

    /// The prompt with the instructions before it, for those providers that
    /// know no other way to be told which others could not read along.
    pub(super) fn told(&self) -> String {
        match &self.instructions {
            Some(instructions) if !instructions.trim().is_empty() => {
                format!("{}\n\n{}", instructions.trim_end(), self.prompt)
            }
            Some(_) | None => self.prompt.clone(),
        }
    }

    pub(super) fn path(&self, name: &str) -> Result<String, Refusal> {
        let path = self.folder.join(name).into_os_string().into_string();
        path.map_err(|path| {
            let message = format!("path {} is not UTF-8; use a plain one", path.display());
            Refusal::new("path_not_utf8", message)
        })
    }
}

/// A word that a program would take for an option, or that holds what no
/// name holds.
fn refuse_option(what: &str, word: &str) -> Result<(), Refusal> {
    let odd = word.is_empty() || word.starts_with('-') || word.chars().any(char::is_control);
    if odd || word.len() > ENV_VALUE_BYTES {
        let shown: String = word.chars().take(60).collect();
        let message = format!(
            "the {what} {shown:?} is no name: it is empty, begins with `-`, is far too long, \
             or has control characters in it; correct it in the blueprint"
        );
        return Err(Refusal::new("name_invalid", message));
    }
    Ok(())
}

/// Whether a text has the form of a UUID: 8-4-4-4-12 hexadecimal digits.
pub(super) fn is_uuid(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12])
        && parts.iter().all(|part| part.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// The session to resume, if it has the form that the provider gives.
pub(super) fn session<'r>(
    request: &'r AgentRequest,
    provider: &str,
    fits: impl Fn(&str) -> bool,
) -> Result<Option<&'r str>, Refusal> {
    match request.resume.as_deref() {
        Some(session) if !fits(session) => {
            let message = format!(
                "`{session}` is no session of {provider}, which would begin a new one or take \
                 another for it; leave `session` out, or name a node that used {provider}"
            );
            Err(Refusal::new("session_not_found", message))
        }
        other => Ok(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(request: AgentRequest) -> &'static str {
        request.check().unwrap_err().code
    }

    fn asks(prompt: &str) -> AgentRequest {
        AgentRequest { prompt: prompt.to_owned(), ..AgentRequest::default() }
    }

    #[test]
    fn an_empty_or_an_endless_prompt_is_refused() {
        assert_eq!(asks("do it").check(), Ok(()));
        assert_eq!(refused(asks(" \n")), "prompt_empty");
        assert_eq!(refused(asks(&"x".repeat(9 << 20))), "prompt_too_large");
    }

    #[test]
    fn a_name_that_would_be_an_option_is_refused() {
        for model in ["", "-c", "--dangerously-skip", "a\nb", "a\0"] {
            let request = AgentRequest { model: Some(model.to_owned()), ..asks("x") };
            assert_eq!(refused(request), "name_invalid", "{model:?}");
        }
        let tools = vec!["--yolo".to_owned()];
        assert_eq!(
            refused(AgentRequest { tools, mode: Mode::Custom, ..asks("x") }),
            "name_invalid"
        );
    }

    #[test]
    fn tools_need_the_mode_that_keeps_to_them() {
        let tools = vec!["Read".to_owned()];
        let edit = AgentRequest { tools: tools.clone(), ..asks("x") };
        assert_eq!(refused(edit), "tools_without_custom");
        assert_eq!(AgentRequest { tools, mode: Mode::Custom, ..asks("x") }.check(), Ok(()));
    }

    #[test]
    fn a_uuid_is_known_by_its_form() {
        assert!(is_uuid("01a22e4c-a23b-7290-9428-82022e555816"));
        for other in [
            "latest",
            "1",
            "",
            "01a22e4c-a23b-7290-9428-82022e55581",
            "g1a22e4c-a23b-7290-9428-82022e555816",
        ] {
            assert!(!is_uuid(other), "{other}");
        }
    }

    #[test]
    fn every_mode_has_one_word() {
        for mode in Mode::ALL {
            assert_eq!(Mode::from_word(mode.word()), Some(mode));
        }
        assert_eq!(Mode::from_word("yolo"), None);
    }
}
