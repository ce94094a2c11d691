//! From a request to a run that has a worker. Everything that can be refused
//! is refused before the first file of the run exists.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use blueprint::{Kind, Program};
use durable::{Digest, limits};
use engine::trigger::{check_input, trigger_output};
use providers::{HostEnv, Script, Wishes};
use runstore::{
    CreateError, Created, Invocation, NewRun, RunPlace, ScriptFile, create, new_run_id,
};
use serde_json::{Value, json};

use crate::Host;
use crate::agents::{chosen, has_agents};
use crate::api::{CheckedSource, Code, HostError, LaunchRequest, Launched};
use crate::library::checked_source;
use crate::library::store;
use crate::spawn::Recruit;
use crate::worktree::{Ground, may_write, wanted};

/// A run that nothing refuses, and of which nothing exists yet.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) place: RunPlace,
    pub(crate) program: Arc<Program>,
    pub(crate) snapshot: Arc<Vec<u8>>,
    /// Those that it may start, with their snapshots.
    pub(crate) automations: Vec<(String, Vec<u8>)>,
    pub(crate) invocation: Invocation,
    pub(crate) ground: Ground,
    /// The run that it tries again.
    pub(crate) again: Option<RunPlace>,
}

impl Host {
    /// A run that starts no other.
    pub(crate) fn prepared(
        &self,
        program: Program,
        invocation: Invocation,
        ground: Ground,
    ) -> Prepared {
        let run = new_run_id(self.clock.now(), &*self.entropy);
        Prepared {
            place: self.home.place(program.id(), &run),
            snapshot: Arc::new(program.snapshot()),
            program: Arc::new(program),
            automations: Vec::new(),
            invocation,
            ground,
            again: None,
        }
    }

    /// Prepares a run of an automation.
    pub fn prepare(&self, request: LaunchRequest) -> Result<Prepared, HostError> {
        let (checked, program) = checked_source(self.source(&request.automation)?);
        let Some(program) = program else { return Err(invalid_blueprint(checked)) };
        let workspace = self.workspace(request.workspace.as_deref())?;
        let input = input_value(request.input, request.input_raw);
        refuse_input(&program, &trigger_output(&input, self.clock.now()))?;
        let script = request.script.as_deref().map(|path| self.read_script(path)).transpose()?;
        if has_agents(&program) {
            let agents = self.agents()?;
            let (provider, binds) = (request.provider.clone(), request.bindings.clone());
            let host_env = HostEnv::new(std::env::vars_os());
            let wishes = agents.wishes(provider, binds, script.is_some(), &host_env);
            self.check_agents(&program, &wishes)?;
        }
        let kept = self.automations_of(&program, &checked.source.path, &workspace)?;
        let may_write = may_write(&program, &kept.snapshots);
        let wish = wanted(request.isolation, program.workspace(), may_write);
        let invocation = Invocation {
            provider: request.provider,
            workspace: Some(workspace.display().to_string()),
            bindings: request
                .bindings
                .into_iter()
                .map(|(role, name)| (role, json!(name)))
                .collect(),
            input,
            scripts: script_files(&program, &workspace, &checked.source.path)?,
            script,
            automations: kept.named,
            ..Invocation::default()
        };
        let ground = self.ground(wish, may_write, &workspace)?;
        let prepared = self.prepared(program, invocation, ground);
        Ok(Prepared { automations: kept.snapshots, ..prepared })
    }

    /// Every agent that is named literally must have someone who acts as it.
    fn check_agents(&self, program: &Program, wishes: &Wishes) -> Result<(), HostError> {
        for node in program.nodes() {
            let (Kind::Task { agent, terms, .. } | Kind::Decision { agent, terms, .. }) =
                &node.kind
            else {
                continue;
            };
            let Some(agent) = agent.literal() else { continue };
            let class = self.class_of(agent).map_err(|fault| {
                let message = format!("node `{}`: {}", node.id, fault.message);
                HostError { message, ..fault }
            })?;
            if let Err(fault) = chosen(agent, terms.provider.as_deref(), class.as_ref(), wishes) {
                let message = format!("node `{}`: {fault}", node.id);
                return Err(HostError::new(Code::ProviderUnavailable, message)
                    .hint("try the automation with `--provider scripted --script FILE`"));
            }
        }
        Ok(())
    }

    /// Creates the place that the run works in and its folder, and gives it
    /// to its worker.
    pub fn launch(&self, prepared: Prepared, recruit: Recruit) -> Result<Launched, HostError> {
        let Prepared { place, snapshot, automations, mut invocation, ground, again, .. } = prepared;
        let standing = self.break_ground(&place, &mut invocation, &ground)?;
        let new = NewRun {
            blueprint: Some(&snapshot),
            invocation: &invocation.encode(),
            automations: &automations,
        };
        let created = match self.made(&place, &new) {
            Ok(made) => made,
            Err(fault) => {
                self.unsettle(standing);
                return Err(fault);
            }
        };
        let tether = self.set_to_work(recruit, &place, created.lock)?;
        self.latest.keep(&place);
        if let Some(old) = &again {
            runstore::retries::note(&*self.disk, old, &place.run).map_err(|fault| store(&fault))?;
        }
        Ok(Launched {
            run_id: place.run.to_string(),
            blueprint_id: place.blueprint.to_string(),
            run_dir: place.folder(),
            notes: ground.notes,
            tether,
        })
    }

    fn made(&self, place: &RunPlace, new: &NewRun<'_>) -> Result<Created, HostError> {
        let refused = |fault: CreateError| {
            let code = match fault {
                CreateError::Exists { .. } => Code::Conflict,
                CreateError::Locked(_) => Code::RunBusy,
                CreateError::Disk(_) => Code::Store,
            };
            HostError::from_fault(code, "the run cannot be created", &fault)
        };
        create(&*self.disk, place, new, &*self.entropy).map_err(refused)
    }

    pub(crate) fn workspace(&self, wanted: Option<&Path>) -> Result<PathBuf, HostError> {
        let path = self.config.current_dir.join(wanted.unwrap_or(Path::new(".")));
        match std::fs::canonicalize(&path) {
            Ok(path) if path.is_dir() => Ok(path),
            Ok(_) => Err(HostError::new(
                Code::WorkspaceMissing,
                format!("the workspace {} is not a folder", path.display()),
            )
            .hint("name an existing folder with --workspace")),
            Err(error) => Err(HostError::new(
                Code::WorkspaceMissing,
                format!("the workspace {} cannot be used: {error}", path.display()),
            )
            .hint("name an existing folder with --workspace")),
        }
    }

    /// The script of the scripted provider, as it is kept with the run.
    pub(crate) fn read_script(&self, path: &Path) -> Result<Value, HostError> {
        let path = self.config.current_dir.join(path);
        let limit = limits::BLUEPRINT_BYTES as u64;
        let bytes = self.disk.read(&path, limit).map_err(|fault| {
            HostError::from_fault(Code::FileNotFound, "the script cannot be read", &fault)
                .hint("name a file with --script")
        })?;
        let invalid = |faults: Vec<String>| {
            let message = format!("the script {} is wrong: {}", path.display(), faults.join("; "));
            HostError::new(Code::InvalidRequest, message)
                .hint("a script maps node ids to lists of replies; see docs/scripted.md")
        };
        let text = |finding: &crate::api::Finding| finding.to_string();
        let value = blueprint::read_yaml(&bytes)
            .map_err(|findings| invalid(findings.iter().map(text).collect()))?;
        match Script::from_value(&value) {
            Ok(_) => Ok(value),
            Err(errors) => Err(invalid(errors.iter().map(ToString::to_string).collect())),
        }
    }
}

pub(crate) fn invalid_blueprint(checked: CheckedSource) -> HostError {
    let path = checked.source.path.display().to_string();
    let errors = checked.findings.iter().filter(|f| f.severity == crate::api::Severity::Error);
    let count = errors.count() + checked.omitted;
    let noun = if count == 1 { "error" } else { "errors" };
    let mut error =
        HostError::new(Code::InvalidBlueprint, format!("{path} has {count} {noun} and cannot run"))
            .hint(format!("`wardian automation validate {path}` shows each with its place"));
    error.findings = Some(Box::new(checked));
    error
}

/// An input that no value can hold is kept as its text, and marked.
pub(crate) fn input_value(value: Option<Value>, raw: Option<String>) -> Value {
    match (value, raw) {
        (Some(value), _) => value,
        (None, Some(raw)) => json!({ "invalid_json": true, "raw": raw }),
        (None, None) => json!({}),
    }
}

fn refuse_input(program: &Program, trigger: &Value) -> Result<(), HostError> {
    for node in program.nodes() {
        let Kind::ManualTrigger { input_schema: Some(schema) } = &node.kind else { continue };
        if let Err(faults) = check_input(schema, trigger) {
            let message = format!(
                "the input breaks the input schema of `{}`: {}",
                node.id,
                faults.join("; ")
            );
            return Err(HostError::new(Code::InvalidInput, message)
                .hint("pass the input with --input '{…}' or --input @file")
                .details(json!({ "node": node.id.as_str(), "faults": faults })));
        }
    }
    Ok(())
}

/// What is wrong with the input of a run that another one starts.
pub(crate) fn refuse_child_input(
    program: &Program,
    input: &Value,
    now: durable::Timestamp,
) -> Result<(), String> {
    refuse_input(program, &trigger_output(input, now)).map_err(|fault| fault.message)
}

/// The script files that the graph names, as they are now: of the workspace,
/// or else from beside the blueprint.
pub(crate) fn script_files(
    program: &Program,
    workspace: &Path,
    blueprint: &Path,
) -> Result<BTreeMap<String, ScriptFile>, HostError> {
    let mut files = BTreeMap::new();
    let beside = blueprint.parent().unwrap_or(workspace);
    for node in program.nodes() {
        let Kind::Script { path, .. } = &node.kind else { continue };
        let Some(path) = path.literal() else { continue };
        let places = [workspace.join(path), beside.join(path)];
        let file = places.iter().find(|file| file.is_file()).ok_or_else(|| {
            let [first, second] = places.each_ref().map(|place| place.display().to_string());
            let message = format!("node `{}`: there is no script {first}, and no {second}", node.id);
            HostError::new(Code::FileNotFound, message)
                .hint("the path of a script is relative to the workspace, or to the blueprint's own folder")
        })?;
        let bytes = std::fs::read(file).map_err(|error| {
            let what = format!("node `{}`: the script {} cannot be read", node.id, file.display());
            HostError::from_fault(Code::FileNotFound, &what, &error)
        })?;
        let file = std::fs::canonicalize(file).unwrap_or_else(|_| file.clone());
        let file = file.display().to_string();
        files.insert(path.to_owned(), ScriptFile { file, digest: Digest::of(&bytes) });
    }
    Ok(files)
}
