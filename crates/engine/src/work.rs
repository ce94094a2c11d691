//! What a run asks of the outside, and the words for how that can end.

use std::fmt;

use blueprint::{BlueprintId, Glob, Method, Mode, PortName, Runtime};
use durable::{Attempt, Digest, Generation, Round, Span};
use serde_json::{Value, json};

use crate::event::words;
use crate::id::RunId;
use crate::site::Site;

/// One attempt, by name: the same in every log, process and answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AttemptKey {
    pub run: RunId,
    pub node: Site,
    pub round: Round,
    pub attempt: Attempt,
    /// Which asking for the checks of the attempt's claim; none for the
    /// attempt itself.
    pub proof: Option<Attempt>,
}

/// One attempt to perform, complete: whoever performs it has no choices.
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    pub key: AttemptKey,
    pub generation: Generation,
    pub timeout: Option<Span>,
    pub task: Task,
    /// Files that must stand before the work starts.
    pub files: Vec<WorkFile>,
    /// A check will ask what has changed in the workspace since the node
    /// began, so its state is to be noted first, unless it is already.
    pub baseline: bool,
}

/// A value handed over by file, named by its digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkFile {
    pub digest: Digest,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Task {
    Agent(AgentTask),
    Shell(ShellTask),
    Script(ScriptTask),
    Http(HttpTask),
    Child(ChildTask),
    Prove(ProveTask),
}

/// A question to an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentTask {
    /// As the author wrote it: `role:x`, `class:x`, or a name.
    pub agent: String,
    pub prompt: String,
    /// The choices of a decision; empty for a task.
    pub choices: Vec<PortName>,
    /// JSON Schema of the reply, when one is asked for.
    pub schema: Option<Value>,
    /// The provider's own session to continue.
    pub session: Option<String>,
    /// Which provider, which of its models, and what the agent may do; what
    /// is absent is for whoever performs the work to choose.
    pub provider: Option<String>,
    pub model: Option<String>,
    pub mode: Option<Mode>,
    /// With [`Mode::Custom`], in the provider's own words.
    pub tools: Vec<String>,
    /// The limit of a provider is waited for. It says nothing of what is
    /// asked, so the digest of the work does not have it.
    pub waits_for_limits: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ShellTask {
    pub text: String,
    /// Variables that the text refers to, in order.
    pub values: Vec<(String, String)>,
    pub cwd: Option<String>,
    pub env: Vec<(String, String)>,
    pub env_pass: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ScriptTask {
    pub runtime: Runtime,
    pub path: String,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub env_pass: Vec<String>,
}

/// A request to a web address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpTask {
    pub method: Method,
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: Option<String>,
    pub allow_private: bool,
}

/// Another blueprint, run as a run of its own. To ask for it again changes
/// nothing, since the run has one name.
#[derive(Debug, Clone, PartialEq)]
pub struct ChildTask {
    pub run: RunId,
    pub automation: BlueprintId,
    pub input: Value,
    /// What it may spend and until when, beyond its own limits.
    pub budget: blueprint::Budget,
    pub deadline: Option<durable::Timestamp>,
}

/// What is to be found out about the claim of the attempt of the same key.
/// To look twice changes nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct ProveTask {
    pub probes: Vec<Probe>,
}

/// One look at the world, in the node's workspace.
#[derive(Debug, Clone, PartialEq)]
pub enum Probe {
    /// Whether the command exits with 0 in time.
    Command { shell: ShellTask, timeout: Span },
    /// Whether something differs from the baseline of the node.
    Changed { paths: Vec<Glob> },
    /// Whether the file is there, with this text in it.
    File { path: String, contains: Option<String> },
}

/// Why something failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// It could not begin: something needed was not there.
    Preflight,
    Auth,
    Policy,
    Transient,
    /// The work itself, or what the author wrote, is wrong.
    Bug,
    Unknown,
}

/// Whether the outside changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    None,
    Uncertain,
    Done,
}

words!(Class {
    Preflight => "preflight",
    Auth => "auth",
    Policy => "policy",
    Transient => "transient",
    Bug => "bug",
    Unknown => "unknown",
});

words!(Effect {
    None => "none",
    Uncertain => "uncertain",
    Done => "done",
});

/// How a node failed: for templates `nodes.<id>.error`, for people a line.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeError {
    pub class: Class,
    /// A stable word that says more than the class.
    pub code: String,
    pub message: String,
    pub effect: Effect,
    /// What there was of an output, such as the exit code and both streams.
    pub output: Option<Value>,
    /// How long whoever refused asks to be left alone.
    pub retry_after: Option<Span>,
}

impl NodeError {
    /// A failure before anything outside could change.
    pub fn before_effect(class: Class, code: &str, message: String) -> Self {
        Self {
            class,
            code: code.to_owned(),
            message,
            effect: Effect::None,
            output: None,
            retry_after: None,
        }
    }

    /// What templates read as `nodes.<id>.error`.
    pub fn told(&self) -> Value {
        json!({ "class": self.class.word(), "code": self.code, "message": self.message })
    }
}

impl fmt::Display for AttemptKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.run, self.node, self.round, self.attempt)?;
        self.proof.map_or(Ok(()), |proof| write!(f, "/proof-{proof}"))
    }
}

impl Work {
    /// Names exactly what is asked, so that a log can prove it later.
    pub fn digest(&self) -> Digest {
        let mut parts = Parts::default();
        match &self.task {
            Task::Agent(agent) => {
                parts.texts(["agent", &agent.agent, &agent.prompt]);
                parts.option(agent.session.as_deref());
                parts.list(agent.choices.iter().map(PortName::as_str));
                parts.option(agent.provider.as_deref());
                parts.option(agent.model.as_deref());
                parts.option(agent.mode.map(Mode::word));
                parts.list(agent.tools.iter().map(String::as_str));
            }
            Task::Shell(shell) => parts.shell(shell),
            Task::Script(script) => {
                parts.texts(["script", runtime_word(script.runtime), &script.path]);
                parts.list(script.args.iter().map(String::as_str));
                parts.list(pairs(&script.env));
                parts.list(script.env_pass.iter().map(String::as_str));
            }
            Task::Http(http) => {
                parts.texts(["http", http.method.word(), &http.url]);
                parts.list(pairs(&http.headers));
                parts.option(http.body.as_deref());
            }
            Task::Child(child) => {
                let input = durable::canon::digest(&child.input).to_string();
                parts.texts(["child", child.run.as_str(), child.automation.as_str(), &input]);
            }
            Task::Prove(prove) => {
                parts.texts(["prove"]);
                prove.probes.iter().for_each(|probe| parts.probe(probe));
            }
        }
        let bytes: Vec<&[u8]> = parts.0.iter().map(String::as_bytes).collect();
        Digest::of_parts(&bytes)
    }
}

/// Texts, options and lists in a row, each told from what follows it.
#[derive(Debug, Default)]
struct Parts(Vec<String>);

impl Parts {
    fn texts<'a>(&mut self, texts: impl IntoIterator<Item = &'a str>) {
        self.0.extend(texts.into_iter().map(str::to_owned));
    }

    fn shell(&mut self, shell: &ShellTask) {
        self.texts(["shell", &shell.text]);
        self.option(shell.cwd.as_deref());
        self.list(pairs(&shell.values));
        self.list(pairs(&shell.env));
        self.list(shell.env_pass.iter().map(String::as_str));
    }

    fn probe(&mut self, probe: &Probe) {
        match probe {
            Probe::Command { shell, timeout } => {
                self.texts(["command", &timeout.to_string()]);
                self.shell(shell);
            }
            Probe::Changed { paths } => {
                self.texts(["changed"]);
                self.list(paths.iter().map(Glob::as_str));
            }
            Probe::File { path, contains } => {
                self.texts(["file", path]);
                self.option(contains.as_deref());
            }
        }
    }

    fn option(&mut self, text: Option<&str>) {
        self.list(text);
    }

    fn list<'a>(&mut self, texts: impl IntoIterator<Item = &'a str>) {
        let at = self.0.len();
        self.texts(texts);
        let count = self.0.len() - at;
        self.0.insert(at, count.to_string());
    }
}

/// The word for a runtime in blueprints, and the program that runs it.
pub fn runtime_word(runtime: Runtime) -> &'static str {
    match runtime {
        Runtime::Python => "python",
        Runtime::Node => "node",
        Runtime::Sh => "sh",
    }
}

fn pairs(list: &[(String, String)]) -> impl Iterator<Item = &str> {
    list.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()])
}
