//! The agents of a home: which providers there are, which of them does a
//! task, and one turn of it in its own folder.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs, io};

use blueprint::{AgentClass, Kind, Node, Program};
use durable::Digest;
use engine::{AgentTask, AttemptKey, Outcome, RunId, Work};
use providers::agent::{
    Adapter, AgentPlace, AgentRequest, Mode, Patience, Providers, account, find, perform_agent,
};
use providers::{Asks, ChooseError, HostEnv, Place, ProviderName, Sink, Stop, Wishes, choose_for};
use runstore::{Home, RunPlace};

use serde_json::{Value, json};

use crate::Host;
use crate::accounts::AtAccount;
use crate::api::{Code, HostError};
use crate::attempts::{Asked, Asking};
use crate::perform::{Stage, preflight};

/// The most bytes of the settings of providers; the parser has a lower limit.
const SETTINGS_BYTES: u64 = 1 << 20;

/// The provider that a script plays.
const SCRIPTED: &str = "scripted";

/// The providers of one home, and what is known of their sessions.
#[derive(Debug, Default)]
pub(crate) struct Agents {
    settings: Providers,
    /// All tokens that a session had used, by its name: some providers tell
    /// only this, and a turn is the difference.
    used: Mutex<BTreeMap<String, u64>>,
}

impl Host {
    /// The providers as `settings/providers.toml` has them. Without the file
    /// there are those that are built in.
    pub(crate) fn agents(&self) -> Result<Agents, HostError> {
        let path = self.home.path().join("settings/providers.toml");
        let refuse = |message: String, hint: &str| {
            Err(HostError::new(Code::InvalidRequest, message).hint(hint.to_owned()))
        };
        let bytes = match self.disk.read(&path, SETTINGS_BYTES) {
            Ok(bytes) => bytes,
            Err(fault) if fault.source.kind() == io::ErrorKind::NotFound => {
                return Ok(Agents::default());
            }
            Err(fault) => {
                let hint = "make the file readable, or remove it";
                return Err(HostError::from_fault(
                    Code::Store,
                    "the settings of providers cannot be read",
                    &fault,
                )
                .hint(hint));
            }
        };
        let Ok(text) = String::from_utf8(bytes) else {
            return refuse(format!("{} is not UTF-8", path.display()), "save it as UTF-8");
        };
        match Providers::parse(&path.display().to_string(), &text) {
            Ok(settings) => Ok(Agents { settings, ..Agents::default() }),
            // No command that needs the file can help.
            Err(fault) => {
                refuse(fault.to_string(), "correct it, then `wardian doctor` looks again")
            }
        }
    }
}

impl Agents {
    /// All that there are, those that are built in first.
    pub(crate) fn adapters(&self) -> impl Iterator<Item = Adapter> {
        let configured = self.settings.configured.values();
        let configured = configured.map(|one| Adapter::Configured(Box::new(one.clone())));
        Adapter::BUILT_IN.into_iter().chain(configured)
    }

    pub(crate) fn adapter(&self, name: &ProviderName) -> Option<Adapter> {
        self.adapters().find(|adapter| adapter.name() == *name)
    }

    /// The program that the settings name for a provider that is built in.
    pub(crate) fn program(&self, adapter: &Adapter) -> Option<&str> {
        let changed = self.settings.changed.get(adapter.name().word())?;
        changed.program.as_deref()
    }

    /// Those whose program is here.
    pub(crate) fn installed(&self, host_env: &HostEnv) -> Vec<ProviderName> {
        let here = |adapter: &Adapter| find(adapter, self.program(adapter), host_env).is_some();
        self.adapters().filter(here).map(|adapter| adapter.name()).collect()
    }

    /// What is wished for a run, and what can be used now. With a script the
    /// scripted provider does the work of all, unless others are asked for.
    pub(crate) fn wishes(
        &self,
        provider: Option<String>,
        binds: BTreeMap<String, String>,
        scripted: bool,
        host_env: &HostEnv,
    ) -> Wishes {
        let provider = provider.or_else(|| scripted.then(|| SCRIPTED.to_owned()));
        let mut installed = Vec::new();
        installed.extend(scripted.then_some(ProviderName::Scripted));
        if provider.as_deref() != Some(SCRIPTED) || !binds.is_empty() {
            installed.extend(self.installed(host_env));
        }
        let configured = self.settings.configured.keys().cloned().collect();
        let default = self.settings.default.clone();
        Wishes { binds, provider, default, installed, configured }
    }

    /// One turn of the agent, to its end.
    pub(crate) fn turn(
        &self,
        stage: &Stage,
        work: &Work,
        task: &AgentTask,
        (name, class): (&ProviderName, &AgentClass),
        stop: &Stop,
        sink: &mut Sink<'_>,
    ) -> Outcome {
        let Some(adapter) = self.adapter(name) else {
            let message = format!("{}: there is no provider `{name}`", work.key.node);
            return preflight("provider_unavailable", message);
        };
        let folder = folder(&stage.host.home, &work.key);
        let request = self.request(stage, task, class, &adapter, folder.clone());
        let place = AgentPlace {
            place: Place { workspace: &stage.workspace, host_env: &stage.host_env, key: &work.key },
            program: self.program(&adapter),
            patience: patience(work),
            clock: &*stage.host.clock,
        };
        let capabilities = capabilities(&adapter);
        let (provider, waits) = (name.word(), task.waits_for_limits);
        let asking = Asking { provider, capabilities, source_key: None, waits };
        let asked = match Asked::register(stage, work, &asking) {
            Ok(asked) => asked,
            Err(refused) => return refused,
        };
        let at_account = adapter.launch(&request).ok().map(|launch| {
            let account = account(&adapter, &request, &launch, place.program, &stage.host_env);
            AtAccount::look(stage, &work.key.node.to_string(), account, task.waits_for_limits)
        });
        let at_account = match at_account.transpose() {
            Ok(at_account) => at_account,
            Err(limited) => {
                asked.finish(&limited);
                return limited;
            }
        };
        let mut named = |session: &str| asked.started(None, Some(session));
        let mut end = perform_agent(&adapter, &request, &place, stop, sink, &mut named);
        if let Some(at_account) = at_account {
            at_account.told(&mut end.outcome);
        }
        asked.finish(&end.outcome);
        // It holds the prompt, and nothing that anybody needs again.
        if let Err(error) = fs::remove_dir_all(&folder)
            && error.kind() != io::ErrorKind::NotFound
        {
            stage.note(&format!("{} was not removed: {error}", folder.display()));
        }
        if let (Some(session), Some(tokens)) = (&end.session, end.session_tokens) {
            self.used().insert(session.clone(), tokens);
        }
        if !end.denied.is_empty() {
            stage.note(&format!("{}: refused: {}", work.key.node, end.denied.join(", ")));
        }
        match end.outcome {
            Outcome::Failed(_) | Outcome::Lost { .. } | Outcome::Stopped => {
                end.outcome.having_used(end.usage)
            }
            Outcome::Output(_)
            | Outcome::Replied { .. }
            | Outcome::Ended { .. }
            | Outcome::Used { .. }
            | Outcome::Proved(_) => end.outcome,
        }
    }

    fn request(
        &self,
        stage: &Stage,
        task: &AgentTask,
        class: &AgentClass,
        adapter: &Adapter,
        folder: PathBuf,
    ) -> AgentRequest {
        let changed = self.settings.changed.get(adapter.name().word());
        let Terms { model, mode, tools } = terms(task, class, adapter.name().word());
        AgentRequest {
            prompt: task.prompt.clone(),
            instructions: class.instructions.clone(),
            model,
            mode,
            tools,
            used_before: task.session.as_ref().and_then(|one| self.used().get(one).copied()),
            resume: task.session.clone(),
            schema: task.schema.clone(),
            choices: task.choices.iter().map(|choice| choice.as_str().to_owned()).collect(),
            workspace: stage.workspace.clone(),
            folder,
            env_pass: changed.map(|changed| changed.env_pass.clone()).unwrap_or_default(),
        }
    }

    fn used(&self) -> MutexGuard<'_, BTreeMap<String, u64>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who does a task of this agent, for which the author may have named a
/// provider, or the definition of its class. A run that is played by a script
/// is played as a whole: only a bind brings somebody else in.
pub(crate) fn chosen(
    agent: &str,
    named: Option<&str>,
    class: Option<&AgentClass>,
    wishes: &Wishes,
) -> Result<ProviderName, ChooseError> {
    let played = wishes.provider.as_deref() == Some(SCRIPTED);
    let of_class = class.and_then(|class| class.provider.as_deref());
    let asks = Asks { node: named.filter(|_| !played), class: of_class.filter(|_| !played) };
    choose_for(agent, asks, wishes)
}

/// Whoever can do the work of one run's agents, looked for when the first one
/// is needed: most runs need none.
#[derive(Debug)]
pub(crate) struct Company {
    pub(crate) agents: Agents,
    pub(crate) wishes: Wishes,
}

/// Whether an agent works in the graph at all.
pub(crate) fn has_agents(program: &Program) -> bool {
    let is_agent = |node: &Node| matches!(node.kind, Kind::Task { .. } | Kind::Decision { .. });
    program.nodes().iter().any(is_agent)
}

/// What can be done with a worker of this provider.
fn capabilities(adapter: &Adapter) -> Value {
    let again = AgentRequest {
        resume: Some("session".to_owned()),
        mode: Mode::Full,
        ..AgentRequest::default()
    };
    let resumes = adapter.launch(&again).is_ok();
    json!({
        "inspection": false, "follow_up": resumes, "interruption": true, "resume": resumes,
        "source": false,
    })
}

/// On which terms one turn is made.
struct Terms {
    model: Option<String>,
    mode: Mode,
    tools: Vec<String>,
}

/// What the node says, else what the class says. The names of models and tools
/// are words of the provider for which the class was written, so that another
/// one is not given them; who has no tools then may use none.
fn terms(task: &AgentTask, class: &AgentClass, provider: &str) -> Terms {
    let is_known = class.provider.as_deref().is_none_or(|name| name == provider);
    let of_class = class.mode.filter(|_| task.choices.is_empty());
    let mode = mode(task.mode.or(of_class), task);
    let tools = match &task.tools[..] {
        [] if task.mode.is_none() && mode == Mode::Custom && is_known => class.tools.clone(),
        tools => tools.to_vec(),
    };
    let model = task.model.clone().or_else(|| class.model.clone().filter(|_| is_known));
    Terms { model, mode, tools }
}

/// Who decides reads; who does a task changes files.
fn mode(said: Option<blueprint::Mode>, task: &AgentTask) -> Mode {
    match said {
        Some(blueprint::Mode::Plan) => Mode::Plan,
        Some(blueprint::Mode::Edit) => Mode::Edit,
        Some(blueprint::Mode::Full) => Mode::Full,
        Some(blueprint::Mode::Custom) => Mode::Custom,
        None if task.choices.is_empty() => Mode::Edit,
        None => Mode::Plan,
    }
}

fn patience(work: &Work) -> Patience {
    let usual = Patience::default();
    match work.timeout {
        Some(total) => Patience { total, start: usual.start.min(total), ..usual },
        None => usual,
    }
}

/// A folder of this attempt alone. Its path is short, since sockets lie in it
/// and theirs have few bytes.
fn folder(home: &Home, key: &AttemptKey) -> PathBuf {
    let name = Digest::of(key.to_string().as_bytes()).hex();
    home.path().join("tmp").join(format!("{}-{}", short(&key.run), &name[..12]))
}

fn short(run: &RunId) -> &str {
    let word = run.as_str();
    word.get(word.len().saturating_sub(8)..).unwrap_or(word)
}

/// Removes the folders that attempts of a dead owner of the run have left.
pub(crate) fn sweep(home: &Home, place: &RunPlace) -> io::Result<usize> {
    let begin = format!("{}-", short(&place.run));
    let entries = match fs::read_dir(home.path().join("tmp")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    let mut swept = 0;
    for entry in entries {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(&begin)) {
            fs::remove_dir_all(entry.path())?;
            swept += 1;
        }
    }
    Ok(swept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> AgentTask {
        AgentTask {
            agent: "class:reader".to_owned(),
            prompt: "Read.".to_owned(),
            choices: Vec::new(),
            schema: None,
            session: None,
            provider: None,
            model: None,
            mode: None,
            tools: Vec::new(),
            waits_for_limits: true,
        }
    }

    fn class(mode: blueprint::Mode, tools: &[&str]) -> AgentClass {
        AgentClass {
            provider: Some("claude".to_owned()),
            model: Some("opus".to_owned()),
            mode: Some(mode),
            tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
            ..AgentClass::default()
        }
    }

    fn told(task: &AgentTask, class: &AgentClass, provider: &str) -> String {
        let Terms { model, mode, tools } = terms(task, class, provider);
        format!("{} {} {}", model.as_deref().unwrap_or("-"), mode.word(), tools.join(","))
    }

    #[test]
    fn a_node_says_more_than_the_class_of_its_agent() {
        let reader = class(blueprint::Mode::Custom, &["Read"]);
        assert_eq!(told(&task(), &reader, "claude"), "opus custom Read");
        let plan = AgentTask { mode: Some(blueprint::Mode::Plan), ..task() };
        assert_eq!(told(&plan, &reader, "claude"), "opus plan ");
        let sonnet = AgentTask { model: Some("sonnet".to_owned()), ..task() };
        assert_eq!(told(&sonnet, &reader, "claude"), "sonnet custom Read");
        let custom = AgentTask {
            mode: Some(blueprint::Mode::Custom),
            tools: vec!["Grep".to_owned()],
            ..task()
        };
        assert_eq!(told(&custom, &reader, "claude"), "opus custom Grep");
        assert_eq!(told(&task(), &AgentClass::default(), "claude"), "- edit ");
    }

    #[test]
    fn another_provider_is_given_no_word_of_the_one_that_the_class_is_for() {
        let reader = class(blueprint::Mode::Custom, &["Read"]);
        assert_eq!(told(&task(), &reader, "codex"), "- custom ");
    }

    #[test]
    fn who_decides_reads_whatever_the_class_may_do() {
        let choices = vec![blueprint::PortName::new("yes")];
        let judge = AgentTask { choices, ..task() };
        assert_eq!(told(&judge, &class(blueprint::Mode::Full, &[]), "claude"), "opus plan ");
    }
}
