//! One attempt, from its work to its outcome. Whatever comes back is masked
//! here, once, on its way into the run's data, so that live and resumed runs
//! see the same bytes.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use durable::Digest;
use durable::disk::{Append, SharedDisk};
use durable::entropy::Entropy;
use durable::limits;
use engine::proof::Finding;
use engine::{AgentTask, AttemptKey, Class, NodeError, Outcome, ScriptTask, ShellTask, Task, Work};
use providers::{
    HostEnv, Place, ProviderName, Scene, Script, ShellPlace, Sink, Stop, Stream, perform_script,
    perform_scripted, perform_shell,
};
use redact::Masker;
use runstore::{Invocation, RunPlace};
use serde_json::json;

use crate::Host;
use crate::agents::{Company, chosen};
use crate::api::HostError;
use crate::ask::perform_http;
use crate::attempts::{Asked, Asking, Attempts};
use crate::baseline;
use crate::complaint;
use crate::guard::Part;
use crate::prove::perform_proof;
use crate::worktree::Shared;

/// What all attempts of one run have in common.
#[derive(Debug)]
pub(crate) struct Stage {
    pub host: Host,
    pub disk: SharedDisk,
    pub entropy: Arc<dyn Entropy>,
    pub place: RunPlace,
    pub workspace: PathBuf,
    pub invocation: Invocation,
    /// Looked for once, by the first agent that works.
    pub company: OnceLock<Result<Company, HostError>>,
    pub script: Option<Script>,
    pub host_env: HostEnv,
    pub masker: Masker,
    /// Where the scripted provider notes its effects, for those who count.
    pub effects: Option<PathBuf>,
    /// A rehearsal keeps no book of what it asks.
    pub attempts: Option<Attempts>,
    /// The checkout that the run shares with others and may write to.
    pub checkout: Option<Shared>,
    /// The worker's part in the guard over all agents of the home.
    pub guard: Arc<Part>,
}

impl Stage {
    /// A line for whoever reads the worker's own log.
    pub(crate) fn note(&self, text: &str) {
        complaint::say(&text);
    }

    fn gather(&self) -> Result<Company, HostError> {
        let agents = self.host.agents()?;
        let binds = self.invocation.bindings.iter();
        let binds =
            binds.filter_map(|(role, name)| Some((role.clone(), name.as_str()?.to_owned())));
        let (provider, scripted) = (self.invocation.provider.clone(), self.script.is_some());
        let wishes = agents.wishes(provider, binds.collect(), scripted, &self.host_env);
        Ok(Company { agents, wishes })
    }
}

/// Performs the work and waits for its end.
pub(crate) fn perform(stage: &Stage, work: &Work, stop: &Stop) -> Outcome {
    if let Err(refused) = may_write(stage, work).and_then(|()| put_files(stage, work)) {
        return refused;
    }
    if work.baseline {
        baseline::take(stage, &work.key, stop);
    }
    let mut output = OutputLog::new(stage, work);
    let mut sink = |_: Stream, bytes: &[u8]| output.write(bytes);
    let place = Place { workspace: &stage.workspace, host_env: &stage.host_env, key: &work.key };
    let outcome = match &work.task {
        Task::Shell(task) => shell(stage, &work.key, task, stop, &mut sink),
        Task::Script(task) => match found_script(stage, task) {
            Ok(task) => perform_script(&task, place, stop, &mut sink),
            Err(refused) => refused,
        },
        Task::Agent(task) => agent(stage, work, task, stop, &mut sink),
        Task::Http(task) => perform_http(stage, work, task, stop),
        Task::Prove(task) => perform_proof(stage, &work.key, task, stop, &mut sink),
        Task::Child(_) => Outcome::Lost {
            message: format!("{}: a run is followed, not performed", work.key.node),
        },
    };
    output.close();
    masked(&stage.masker, outcome)
}

/// Runs a shell command in the workspace.
pub(crate) fn shell(
    stage: &Stage,
    key: &AttemptKey,
    task: &ShellTask,
    stop: &Stop,
    sink: &mut Sink<'_>,
) -> Outcome {
    let place = Place { workspace: &stage.workspace, host_env: &stage.host_env, key };
    let mut keep = |text: &str| keep_value(stage, text);
    let preamble = |large: &[(String, String)]| blueprint::shell::preamble(large);
    let mut place = ShellPlace { place, keep: &mut keep, preamble: &preamble };
    perform_shell(task, &mut place, stop, sink)
}

fn agent(
    stage: &Stage,
    work: &Work,
    task: &AgentTask,
    stop: &Stop,
    sink: &mut Sink<'_>,
) -> Outcome {
    let unavailable = |why: &dyn std::fmt::Display| {
        preflight("provider_unavailable", format!("{}: {why}", work.key.node))
    };
    let company = match stage.company.get_or_init(|| stage.gather()) {
        Ok(company) => company,
        Err(error) => return unavailable(error),
    };
    let class = match stage.host.class_of(&task.agent) {
        Ok(class) => class.unwrap_or_default(),
        Err(error) => {
            return preflight("class_invalid", format!("{}: {}", work.key.node, error.message));
        }
    };
    let wishes = &company.wishes;
    let provider = match chosen(&task.agent, task.provider.as_deref(), Some(&class), wishes) {
        Ok(provider) => provider,
        Err(error) => return unavailable(&error),
    };
    // A rehearsal asks nobody.
    let guarded = stage.attempts.as_ref().map_or(Ok(()), |_| stage.guard.take(&stage.host));
    if let Err(error) = guarded {
        let message = format!("{}: {}", work.key.node, error.message);
        let error = NodeError::before_effect(Class::Transient, "agents_held_back", message);
        return Outcome::Failed(error);
    }
    if redact::is_only_marks(&task.prompt) {
        let message =
            format!("{}: nothing but redaction marks is left of the prompt", work.key.node);
        return preflight("prompt_is_redacted", message);
    }
    match (provider, &stage.script) {
        (ProviderName::Scripted, Some(script)) => {
            let effects = stage.effects.as_deref();
            let effects = effects.map(|path| providers::EffectLog { disk: &*stage.disk, path });
            let scene = Scene { script, key: &work.key, workspace: &stage.workspace, effects };
            let asked = match Asked::register(stage, work, &scripted(task)) {
                Ok(asked) => asked,
                Err(refused) => return refused,
            };
            asked.started(None, None);
            let outcome = perform_scripted(task, &scene, stop, sink);
            asked.finish(&outcome);
            outcome
        }
        (ProviderName::Scripted, None) => {
            let message = format!("{}: the scripted provider has no script", work.key.node);
            preflight("no_script", message)
        }
        (
            name @ (ProviderName::Claude
            | ProviderName::Codex
            | ProviderName::Gemini
            | ProviderName::OpenCode
            | ProviderName::Named(_)),
            _,
        ) => company.agents.turn(stage, work, task, (&name, &class), stop, sink),
    }
}

/// The script is all there is of its worker: when it has ended nothing is
/// left to look at or to go on with.
fn scripted(task: &AgentTask) -> Asking<'static> {
    let capabilities = json!({
        "inspection": false, "follow_up": false, "interruption": true, "resume": false,
        "source": false,
    });
    let (provider, waits) = (ProviderName::Scripted.word(), task.waits_for_limits);
    Asking { provider, capabilities, source_key: None, waits }
}

pub(crate) fn preflight(code: &str, message: String) -> Outcome {
    Outcome::Failed(NodeError::before_effect(Class::Preflight, code, message))
}

/// Whether the checkout is this run's to write to. Its owner may have come
/// late, after a wait in which another run has begun to work there.
fn may_write(stage: &Stage, work: &Work) -> Result<(), Outcome> {
    let Some(checkout) = &stage.checkout else { return Ok(()) };
    checkout.enter().map_err(|refused| {
        let why = checkout.message(&refused);
        let message = format!(
            "{}: {why}; try again when it has ended, or start with `--isolation worktree`",
            work.key.node
        );
        preflight("workspace_busy", message)
    })
}

/// Puts the files that the work mentions where it expects them.
fn put_files(stage: &Stage, work: &Work) -> Result<(), Outcome> {
    for file in &work.files {
        let put = runstore::artifacts::put(
            &*stage.disk,
            &stage.place,
            file.text.as_bytes(),
            &*stage.entropy,
        );
        put.map_err(|error| {
            let message =
                format!("{}: a value cannot be handed over by file: {error}", work.key.node);
            preflight("file_not_written", message)
        })?;
    }
    Ok(())
}

fn keep_value(stage: &Stage, text: &str) -> std::io::Result<PathBuf> {
    let put =
        runstore::artifacts::put(&*stage.disk, &stage.place, text.as_bytes(), &*stage.entropy);
    put.map(|digest| stage.place.artifact(digest)).map_err(std::io::Error::other)
}

/// A script that the run named at its start must still be what it was then.
fn found_script(stage: &Stage, task: &ScriptTask) -> Result<ScriptTask, Outcome> {
    let Some(pinned) = stage.invocation.scripts.get(&task.path) else { return Ok(task.clone()) };
    let refuse = |code, why: &str| preflight(code, format!("the script {}: {why}", pinned.file));
    let bytes = std::fs::read(&pinned.file)
        .map_err(|error| refuse("script_missing", &error.to_string()))?;
    if Digest::of(&bytes) == pinned.digest {
        return Ok(ScriptTask { path: pinned.file.clone(), ..task.clone() });
    }
    let why = "it was changed after the run started; start the automation anew to use the new one";
    Err(refuse("script_changed", why))
}

fn masked(masker: &Masker, outcome: Outcome) -> Outcome {
    let text = |text: String| masker.mask_text(&text).0;
    let error = |error: NodeError| NodeError {
        message: text(error.message),
        output: error.output.map(|value| masker.mask_json(&value).0),
        ..error
    };
    match outcome {
        Outcome::Output(value) => Outcome::Output(masker.mask_json(&value).0),
        Outcome::Replied { text: reply, session, usage } => {
            Outcome::Replied { text: text(reply), session, usage }
        }
        Outcome::Proved(findings) => {
            let masked = |one: Finding| Finding { note: one.note.map(text), ..one };
            Outcome::Proved(findings.into_iter().map(masked).collect())
        }
        Outcome::Failed(failure) => Outcome::Failed(error(failure)),
        Outcome::Ended { end, usage } => {
            let end = end.map(|value| masker.mask_json(&value).0).map_err(error);
            Outcome::Ended { end, usage }
        }
        Outcome::Lost { message } => Outcome::Lost { message: text(message) },
        Outcome::Stopped => Outcome::Stopped,
        Outcome::Used { usage, end } => {
            Outcome::Used { usage, end: Box::new(masked(masker, *end)) }
        }
    }
}

/// The name of an attempt's output: node, round or item where there is one,
/// and attempt. What the checks of its claim say stands there too.
pub(crate) fn output_name(key: &engine::AttemptKey) -> String {
    match key.round {
        durable::Round::FIRST => format!("{}.{}.log", key.node, key.attempt),
        round => format!("{}.{round}.{}.log", key.node, key.attempt),
    }
}

/// What an attempt says while it works, for people who watch: masked,
/// bounded, and not part of what the run is. One that says nothing leaves no
/// file.
struct OutputLog<'a> {
    stage: &'a Stage,
    work: &'a Work,
    masker: redact::StreamMasker,
    file: Option<Box<dyn Append>>,
    room: usize,
    has_heard: bool,
    /// It cannot be written, or is full.
    over: bool,
}

impl<'a> OutputLog<'a> {
    fn new(stage: &'a Stage, work: &'a Work) -> Self {
        let (masker, room) = (stage.masker.stream(), limits::CAPTURE_BYTES);
        Self { stage, work, masker, file: None, room, has_heard: false, over: false }
    }

    /// Takes what was said; breaks off when nothing more is kept of it.
    fn write(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        if !self.over {
            self.has_heard = true;
            let masked = self.masker.push(bytes);
            self.put(&masked);
        }
        if self.over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn close(mut self) {
        if self.has_heard {
            let masked = self.masker.finish();
            self.put(&masked);
        }
    }

    fn put(&mut self, masked: &[u8]) {
        let fits = &masked[..masked.len().min(self.room)];
        if masked.is_empty() || self.over {
            return;
        }
        let mut file = self.file.take().or_else(|| self.open());
        let written = file.as_mut().is_some_and(|file| file.write(fits).is_ok());
        self.room -= fits.len();
        self.over = !written || fits.len() < masked.len();
        if written && self.over {
            let end = b"\n[... the rest is not kept here ...]\n";
            drop(file.as_mut().map(|file| file.write(end)));
        }
        self.file = file;
    }

    fn open(&self) -> Option<Box<dyn Append>> {
        let Stage { disk, place, .. } = self.stage;
        let folder = place.output();
        let path = folder.join(output_name(&self.work.key));
        let exists = |path| matches!(disk.stat(path), Ok(Some(_)));
        if !exists(&folder) {
            drop(disk.create_dir(&folder));
        }
        if !exists(&path) {
            drop(disk.create(&path, b""));
        }
        disk.append(&path).ok()
    }
}
