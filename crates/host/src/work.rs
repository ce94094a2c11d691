//! The worker process: takes the run it was handed, drives it, and leaves.

use std::borrow::Borrow;
use std::ffi::{CStr, OsString};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use blueprint::{Program, SnapshotError};
use durable::Sealed;
use durable::disk::Lock;
use engine::{Input, Launch, RunMachine, RunState, RunStatus};
use providers::attempts::OwnerId;
use providers::{HostEnv, Script};
use redact::Masker;
use runstore::{Adopted, Invocation, RunPlace, RunWriter, Worktree, adopt};

use crate::Host;
use crate::agents::has_agents;
use crate::api::{Code, HostError};
use crate::attempts::{self, Attempts};
use crate::complaint;
use crate::crew::Crew;
use crate::family::Family;
use crate::guard::Part;
use crate::head_start::{self, HeadStart};
use crate::library::store;
use crate::perform::Stage;
use crate::reading::open_fault;
use crate::spawn::inherited_lock;
use crate::tether::Held;
use crate::worker::{Left, World, drive};
use crate::worktree::{Shared, Standing};

/// What a worker is called among processes, which shows 15 bytes.
const PROCESS: &CStr = c"wardian-worker";

/// A variable whose value, if an agent or a command prints it, is masked.
/// Shorter values would mask ordinary words.
const SECRET_NAMES: [&str; 6] = ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "ACCESS_KEY"];

/// How a run was left, and what is left of its machine and its world: to take
/// these apart takes its time, for which nobody need wait. The kernel alone
/// takes ten milliseconds and more to take a watch down.
struct Driven<W> {
    left: Left,
    _remains: Option<(RunMachine, W)>,
}

impl<W> Driven<W> {
    fn without(left: Left) -> Self {
        Self { left, _remains: None }
    }
}

impl Host {
    /// Drives the run in this folder until it is over or parked. The caller
    /// is a worker process, which was handed the run's lock.
    pub fn work(&self, run_dir: &Path) -> Result<(), HostError> {
        self.work_as(run_dir, None, None)
    }

    /// The same for one at the other end of whose tether its starter looks on.
    pub(crate) fn work_as(
        &self,
        run_dir: &Path,
        held: Option<Held>,
        head_start: Option<HeadStart>,
    ) -> Result<(), HostError> {
        let place = self.place_of_folder(run_dir)?;
        let lock = inherited_lock(&place)?;
        become_worker()?;
        let (mut lease, mut worktree, mut began, mut asks) = (None, None, false, false);
        let part = Arc::new(Part::default());
        let starter = held.clone();
        let crew = |program: &Program, invocation: &Invocation| {
            // Most runs ask no agent, and have nothing to do with the guard.
            asks = has_agents(program);
            if asks {
                part.take(self)?;
            }
            // Where its worktree is gone, a run can still be cancelled; each
            // attempt says by itself that there is no such folder.
            let standing = self.stand_on(invocation).unwrap_or_else(|fault| {
                complaint::say(&fault);
                Standing::default()
            });
            let (shared, held) = standing.parts();
            (lease, worktree, began) = (held, own_worktree(invocation), true);
            let stage = self.stage(&place, invocation.clone(), shared, Arc::clone(&part))?;
            let stage = Arc::new(stage);
            stand_in(&stage.workspace);
            if let Err(error) = crate::agents::sweep(&self.home, &place) {
                stage.note(&format!(
                    "what agents left in {} stays: {error}",
                    self.home.path().join("tmp").display()
                ));
            }
            let family = Arc::new(Family::new(self.clone(), place.clone(), invocation.clone()));
            Crew::new(stage, family, Arc::clone(&self.clock), starter).map_err(|fault| {
                HostError::from_fault(Code::Worker, "the worker cannot wait for anything", &fault)
            })
        };
        let driven = self.drive(&place, lock, head_start, crew);
        let left = driven.as_ref().map(|driven| driven.left);
        part.let_go();
        drop(lease);
        if let (Ok(Left::Closed(_)), false) = (&left, began) {
            // Nothing has worked in it.
            self.clear_worktree_of(&place);
        }
        if let (Ok(Left::Closed(RunStatus::Completed)), Some(worktree)) = (&left, worktree) {
            stand_in(Path::new("/"));
            self.clear_worktree(&worktree);
        }
        if let (Ok(Left::Closed(_)), true) = (&left, asks) {
            attempts::settle(&place);
        }
        let_go(held);
        match driven?.left {
            Left::Closed(_) => self.tell_parent(&place),
            Left::Parked => Ok(()),
        }
    }

    /// Drives a run that one owns in the world that it asks for, until it is
    /// over or parked. Where there is no such world the run ends as one that
    /// could not be launched, unless something of it is under way. Whether its
    /// parent is to be told is left to others.
    pub fn drive_run<W: World>(
        &self,
        place: &RunPlace,
        lock: Lock,
        world: impl FnOnce(&Program, &Invocation) -> Result<W, HostError>,
    ) -> Result<Left, HostError> {
        self.drive(place, lock, None, world).map(|driven| driven.left)
    }

    fn drive<W: World>(
        &self,
        place: &RunPlace,
        lock: Lock,
        head_start: Option<HeadStart>,
        world: impl FnOnce(&Program, &Invocation) -> Result<W, HostError>,
    ) -> Result<Driven<W>, HostError> {
        let adopted = adopt(&self.disk, place, lock).map_err(|fault| adopt_fault(&fault))?;
        let Adopted { mut writer, opened, cut } = adopted;
        // Someone else may have ended the run since its lock was asked for.
        if opened.state.closed.is_some() {
            return Ok(Driven::without(Left::Closed(opened.state.status())));
        }
        note_owner(&writer, self);
        let read = |bytes: &[u8]| self.foresight.program(bytes);
        let (program, invocation) = snapshots_by(read, place, &opened)?;
        let fresh = opened.state.started.is_none();
        if !opened.state.in_flight.is_empty() {
            self.processes.reap(place)?;
        }
        let retry = match (&invocation.fork, fresh) {
            (Some(fork_of), true) => Some(self.kept_for_fork(fork_of, &program)?),
            (None, true) => self.kept_for(&invocation)?,
            (_, false) => None,
        };
        let under_way = head_start.and_then(|head_start| head_start.take(place, &opened));
        let mut world = match world(&program, &invocation) {
            Ok(world) => world,
            Err(fault) => {
                let left = self.not_launched(&mut writer, opened.state, fault)?;
                return Ok(Driven::without(left));
            }
        };
        let mut machine = under_way.unwrap_or_else(|| {
            let first = if fresh {
                let texts = (opened.blueprint.as_deref(), opened.invocation.as_deref());
                let launch = head_start::launch(place, invocation, texts.0, texts.1);
                Input::Launch(Box::new(Launch { retry: retry.map(Box::new), ..launch }))
            } else {
                Input::Opened { cut: cut.map_or(0, |cut| cut.bytes) }
            };
            let mut machine = head_start::open(place, program, opened.state);
            machine.handle(first, world.now());
            machine
        });
        let left = drive(&mut world, &*self.disk, &mut writer, &mut machine);
        world.leave();
        match left {
            Ok(left) => Ok(Driven { left, _remains: Some((machine, world)) }),
            Err(fault) => Err(HostError::from_fault(
                Code::Store,
                "the run's log cannot be written; the run stops here",
                &fault,
            )
            .hint("the next command on this run reads the disk and records what it finds")),
        }
    }

    /// Nothing could be begun. What is under way in a run is not for its
    /// worker to end so: whoever has the run next records what became of it.
    fn not_launched(
        &self,
        writer: &mut RunWriter,
        mut state: RunState,
        fault: HostError,
    ) -> Result<Left, HostError> {
        let is_idle =
            state.in_flight.is_empty() && state.children.is_empty() && state.claims.is_empty();
        if !is_idle {
            return Err(fault);
        }
        let event = self.launch_failure(&state, fault.message);
        writer.append(std::slice::from_ref(&event)).map_err(|fault| store(&fault))?;
        if engine::fold(&mut state, &event).is_ok() {
            // The log is whole without it.
            drop(writer.checkpoint(&state));
            runstore::index::ended(&*self.disk, writer, &state);
        }
        Ok(Left::Closed(RunStatus::Failed))
    }

    fn stage(
        &self,
        place: &RunPlace,
        invocation: Invocation,
        checkout: Option<Shared>,
        guard: Arc<Part>,
    ) -> Result<Stage, HostError> {
        if let Some(checkout) = &checkout {
            // Whoever is refused here is told so at the first attempt.
            drop(checkout.enter());
        }
        let script = invocation.script.as_ref().map(Script::from_value).transpose();
        let script = script.map_err(|_| {
            HostError::new(Code::Store, "the script that the run keeps is not a script")
        })?;
        let home = (OsString::from("WARDIAN_HOME"), self.home.path().into());
        let host_env = HostEnv::new(std::env::vars_os().chain([home]));
        let owner = OwnerId::fresh(&*self.entropy);
        let attempts = Attempts::new(self.home.path(), owner, Arc::clone(&self.clock));
        Ok(Stage {
            host: self.clone(),
            disk: self.disk.clone(),
            entropy: Arc::clone(&self.entropy),
            place: place.clone(),
            workspace: invocation.workspace.clone().unwrap_or_else(|| "/".to_owned()).into(),
            company: OnceLock::new(),
            script,
            masker: Masker::new(secrets_of(std::env::vars())),
            host_env,
            effects: std::env::var_os("WARDIAN_EFFECTS_LOG").map(Into::into),
            attempts: Some(attempts),
            checkout,
            guard,
            invocation,
        })
    }
}

/// Makes this process one that other processes are left to.
fn become_worker() -> Result<(), HostError> {
    // For people who look at processes; a name that is not taken is none.
    let _name = rustix::thread::set_name(PROCESS);
    // What the worker's processes leave behind when they lose their parent
    // comes to the worker, and not to somebody who ignores it.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).map_err(|error| {
        HostError::from_fault(Code::Worker, "the worker cannot adopt orphans", &error)
    })
}

/// The worktree that a run is to leave behind; one that works for another
/// leaves it to that.
fn own_worktree(invocation: &Invocation) -> Option<Worktree> {
    let worktree = invocation.worktree.as_deref().cloned();
    worktree.filter(|_| invocation.works_for.is_none())
}

/// The program and the invocation that a run keeps. A graph that does not
/// have the recorded hash is not run.
pub(crate) fn snapshots(
    place: &RunPlace,
    opened: &runstore::Opened,
) -> Result<(Program, Invocation), HostError> {
    snapshots_by(Program::from_snapshot, place, opened)
}

fn snapshots_by<P: Borrow<Program>>(
    read: impl FnOnce(&[u8]) -> Result<P, SnapshotError>,
    place: &RunPlace,
    opened: &runstore::Opened,
) -> Result<(P, Invocation), HostError> {
    let missing = |name: &str| {
        let message = format!("{} is missing", place.folder().join(name).display());
        HostError::new(Code::ChangedGraph, message).hint("restore the run's folder from a backup")
    };
    let snapshot = opened.blueprint.as_deref().ok_or_else(|| missing("blueprint.json"))?;
    let program = read(snapshot).map_err(|fault| {
        HostError::from_fault(Code::ChangedGraph, "the run's own blueprint cannot be used", &fault)
            .hint("restore blueprint.json of the run from a backup")
    })?;
    let recorded = opened.state.started.as_ref().and_then(|started| started.blueprint_hash);
    if recorded.is_some_and(|recorded| recorded != program.borrow().hash()) {
        let message = "the run's blueprint.json is not the graph that the run started with";
        return Err(HostError::new(Code::ChangedGraph, message)
            .hint("restore blueprint.json of the run from a backup"));
    }
    let call = opened.invocation.as_deref().ok_or_else(|| missing("invocation.json"))?;
    let invocation = Invocation::decode(call).map_err(|fault| {
        HostError::from_fault(Code::Store, "the run's invocation.json cannot be used", &fault)
    })?;
    Ok((program, invocation))
}

pub(crate) fn adopt_fault(fault: &runstore::AdoptError) -> HostError {
    use runstore::AdoptError as Fault;
    match fault {
        Fault::Open(fault) => open_fault(fault),
        Fault::Unverified { .. } => {
            HostError::from_fault(Code::UnverifiedLog, "the run cannot go on", fault)
        }
        Fault::ReadOnly { .. } => {
            HostError::from_fault(Code::TooNew, "the run cannot go on", fault)
        }
        Fault::TornTooOften { .. } | Fault::Moved { .. } | Fault::Disk(_) => store(fault),
    }
}

/// Values of the worker's own environment that look like secrets. No child
/// is given them, but a command may read them from a file.
fn secrets_of(vars: impl Iterator<Item = (String, String)>) -> Vec<(String, Sealed<String>)> {
    let secret = |name: &str| {
        let name = name.to_ascii_uppercase();
        // The key of a service that only the settings name ends so.
        SECRET_NAMES.iter().any(|word| name.contains(word)) || name.ends_with("_KEY")
    };
    vars.filter(|(name, _)| secret(name)).map(|(name, value)| (name, Sealed::new(value))).collect()
}

/// Ends what the dead owner's attempts have left. While something of them
/// lives, nothing of the run is started again.
pub(crate) fn reap(place: &RunPlace) -> Result<usize, HostError> {
    let reaped = providers::reap_run(place.run.as_str()).map_err(|fault| {
        HostError::from_fault(Code::Worker, "the processes of the run cannot be looked for", &fault)
    })?;
    if reaped.left == 0 {
        return Ok(reaped.found);
    }
    let message = format!("{} processes of the run survive SIGKILL", reaped.left);
    Err(HostError::new(Code::RunBusy, message).hint("wait until they are gone, then try again"))
}

/// Names this boot of the machine.
pub(crate) fn boot() -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(boot.trim().to_owned())
}

/// For people who look into the lock file; nothing of ours reads it.
fn note_owner(writer: &RunWriter, host: &Host) {
    let boot = boot().unwrap_or_default();
    let (pid, since) = (std::process::id(), host.clock.now());
    drop(writer.lock().note(&format!("pid {pid}\nsince {since}\nboot {boot}\n")));
}

/// The run has no owner from here on. Whoever waits for that need not wait
/// until this process, whose standard input carries the lock, is gone: the
/// kernel takes its time to take down the watch over the inbox.
fn let_go(held: Option<Held>) {
    // Where that fails, the end of the process does it.
    let _unlocked = rustix::fs::flock(std::io::stdin(), rustix::fs::FlockOperation::Unlock);
    if let Some(held) = held {
        held.let_go();
    }
}

/// Commands mostly run in the workspace, and start faster where their starter
/// stands. If it is not there they say so themselves.
fn stand_in(workspace: &Path) {
    drop(std::env::set_current_dir(workspace).or_else(|_| std::env::set_current_dir("/")));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_known_as_a_secret_by_its_name() {
        let names = ["HOME", "MY_GATEWAY_KEY", "KEYBOARD", "github_token", "AWS_ACCESS_KEY_ID"];
        let vars = names.into_iter().map(|name| (name.to_owned(), "a value".to_owned()));
        let known: Vec<String> = secrets_of(vars).into_iter().map(|(name, _)| name).collect();
        assert_eq!(known, ["MY_GATEWAY_KEY", "github_token", "AWS_ACCESS_KEY_ID"]);
    }
}
