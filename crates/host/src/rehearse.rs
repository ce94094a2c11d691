//! Crash-tests a blueprint: plays it in a workspace that is thrown away,
//! stops the engine behind every event, once before and once after what was
//! started there acted, lets a new owner go on, and compares what is left
//! with what an undisturbed run leaves. Agents are scripted; commands really
//! run; nothing outside of the workspace is protected from them.

mod play;
mod tree;
mod verdict;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use blueprint::Program;
use engine::{Event, RunStatus};
use providers::{HostEnv, ProviderName, Script, Wishes};
use runstore::Invocation;
use serde_json::Value;

use crate::Host;
use crate::api::{Code, CrashTestReport, CrashTestRequest, HostError};
use crate::automations::Kept;
use crate::launch::{input_value, invalid_blueprint, script_files};
use play::{Crash, Played, Stop, play};
use tree::Tree;
use verdict::Judge;

/// Plays of one test. Each runs the commands of the blueprint from the start.
const PLAYS_MAX: usize = 5_000;

/// What all plays of one test share.
pub(crate) struct Rehearsal<'a> {
    host: &'a Host,
    program: Arc<Program>,
    children: BTreeMap<String, Arc<Program>>,
    input: Value,
    script: Option<Script>,
    wishes: Wishes,
    invocation: Invocation,
    /// What the workspace is at the start of every play.
    start: Tree,
    /// Where plays take place, one folder each.
    room: tempfile::TempDir,
}

impl Host {
    /// Crash-tests an automation.
    pub fn crash_test(&self, request: CrashTestRequest) -> Result<CrashTestReport, HostError> {
        self.refuse_managed_caller("crash-test")?;
        let rehearsal = self.rehearsal(request)?;
        let first = rehearsal.play(Crash::Never)?;
        let second = rehearsal.play(Crash::Never)?;
        let unsteady = first.tree.differences(&second.tree);
        let boundaries = first.events.len();
        if 2 * boundaries > PLAYS_MAX {
            let message = format!(
                "an undisturbed run has {boundaries} events, which is {} plays; the most is \
                 {PLAYS_MAX}",
                2 * boundaries
            );
            return Err(HostError::new(Code::InvalidRequest, message)
                .hint("give it an input with which it has less to do"));
        }
        let mut judge = Judge::new(&rehearsal.program, &first, unsteady);
        let mut plays = 2;
        // Behind the last event the run is over.
        for boundary in 1..boundaries {
            for stop in [Stop::Before, Stop::After] {
                let played = rehearsal.play(Crash::Behind { events: boundary, stop })?;
                plays += 1;
                judge.hear(&first.events[boundary - 1], stop, &played);
            }
        }
        let status = first.state.status();
        let failure = first.state.failure.as_ref().map(|failure| failure.message.clone());
        let failure = failure.filter(|_| status != RunStatus::Completed);
        let (findings, unsteady) = judge.end();
        Ok(CrashTestReport { boundaries, plays, status, failure, findings, unsteady })
    }

    fn rehearsal(&self, request: CrashTestRequest) -> Result<Rehearsal<'_>, HostError> {
        let (checked, program) = self.checked(&request.automation)?;
        let Some(program) = program else { return Err(invalid_blueprint(checked)) };
        let room = tempfile::tempdir().map_err(|fault| {
            HostError::from_fault(Code::Store, "no temporary folder can be made", &fault)
        })?;
        let start = match &request.workspace {
            Some(path) => Tree::read(&self.workspace(Some(path))?).map_err(too_large)?,
            None => Tree::default(),
        };
        let input = input_value(request.input, request.input_raw);
        crate::launch::refuse_child_input(&program, &input, self.clock.now()).map_err(|why| {
            HostError::new(Code::InvalidInput, why).hint("pass the input with --input '{…}'")
        })?;
        let script = request.script.as_deref().map(|path| self.read_script(path)).transpose()?;
        let wishes = Wishes {
            binds: request.bindings.clone(),
            provider: Some("scripted".to_owned()),
            default: None,
            installed: vec![ProviderName::Scripted],
            configured: Vec::new(),
        };
        let workspace = request.workspace.unwrap_or_else(|| room.path().to_owned());
        let file = checked.source.path;
        let Kept { named, snapshots } = self.automations_of(&program, &file, &workspace)?;
        let children = children(&snapshots)?;
        let scripts = script_files(&program, &workspace, &file)?;
        let parsed = script.as_ref().map(Script::from_value).transpose();
        let script = parsed
            .map_err(|_| HostError::new(Code::InvalidRequest, "the script is not a script"))?;
        let invocation = Invocation { scripts, automations: named, ..Invocation::default() };
        let program = Arc::new(program);
        Ok(Rehearsal {
            host: self,
            program,
            children,
            input,
            script,
            wishes,
            invocation,
            start,
            room,
        })
    }
}

impl Rehearsal<'_> {
    /// Plays the blueprint in a new copy of the workspace.
    fn play(&self, crash: Crash) -> Result<Played, HostError> {
        play(self, crash)
    }

    fn host_env(&self) -> HostEnv {
        HostEnv::new(std::env::vars_os())
    }

    /// A folder of its own for one play.
    fn stage_folder(&self) -> Result<PathBuf, HostError> {
        let folder = tempfile::Builder::new().prefix("play-").tempdir_in(self.room.path());
        folder.map(tempfile::TempDir::keep).map_err(|fault| {
            HostError::from_fault(Code::Store, "no temporary folder can be made", &fault)
        })
    }
}

fn children(snapshots: &[(String, Vec<u8>)]) -> Result<BTreeMap<String, Arc<Program>>, HostError> {
    let read = |(id, bytes): &(String, Vec<u8>)| {
        let program = Program::from_snapshot(bytes).map_err(|fault| {
            HostError::from_fault(Code::ChangedGraph, "a snapshot cannot be read", &fault)
        })?;
        Ok((id.clone(), Arc::new(program)))
    };
    snapshots.iter().map(read).collect()
}

fn too_large(fault: tree::TreeError) -> HostError {
    HostError::from_fault(Code::InvalidRequest, "the workspace cannot be copied", &fault)
        .hint("name a smaller folder with --workspace, or leave it out for an empty one")
}

/// An event as a person reads it.
pub(crate) fn shown(event: &Event) -> String {
    let node = event.fact.node().map(|site| format!(" of `{site}`")).unwrap_or_default();
    format!("event {} ({}{node})", event.seq, event.fact.kind())
}
