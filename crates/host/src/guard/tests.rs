//! The guard against its law: agents together, a removal alone, and a run
//! whose agents are kept away is not left as one that works.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use durable::disk::{Lock, RealDisk};
use engine::{FailReason, RunStatus};
use runstore::RunPlace;

use super::*;
use crate::agents::has_agents;
use crate::api::LaunchRequest;
use crate::clock::{RealClock, RealEntropy};
use crate::crew::Crew;
use crate::worker::Left;
use crate::{HostConfig, Processes, Recruit, Surroundings};

/// Processes that start nothing, keep the lock of a run that is to be
/// started, and count the time that is waited instead of waiting.
#[derive(Debug, Default)]
struct Idle {
    waited: AtomicU64,
    owed: Mutex<Option<(RunPlace, Lock)>>,
}

impl Processes for Idle {
    fn spawn(&self, _: &Path, place: &RunPlace, lock: Lock) -> Result<(), HostError> {
        *self.owed.lock().unwrap() = Some((place.clone(), lock));
        Ok(())
    }

    fn reap(&self, _: &RunPlace) -> Result<usize, HostError> {
        Ok(0)
    }

    fn era(&self, _: &Path) -> Option<String> {
        None
    }

    fn pause(&self, time: Duration) {
        let millis = u64::try_from(time.as_millis()).unwrap();
        self.waited.fetch_add(millis, Ordering::Relaxed);
    }
}

struct Room {
    folder: tempfile::TempDir,
    idle: Arc<Idle>,
    host: Host,
}

fn room() -> Room {
    let folder = tempfile::tempdir().unwrap();
    let idle = Arc::new(Idle::default());
    let (path, here) = (folder.path().join("home"), folder.path().to_owned());
    std::fs::create_dir(&path).unwrap();
    let config =
        HostConfig { home: path.clone(), executable: "/no/such/program".into(), current_dir: here };
    let surroundings = Surroundings {
        disk: Arc::new(RealDisk),
        clock: Arc::new(RealClock),
        entropy: Arc::new(RealEntropy),
        processes: Arc::clone(&idle) as Arc<dyn Processes>,
    };
    let host = Host::within(Home::open(&path).unwrap(), config, surroundings);
    Room { folder, idle, host }
}

#[test]
fn agents_work_together_and_a_removal_only_without_them() {
    let Room { folder: _folder, idle, host } = room();
    let (one, two) = (host.work_together().unwrap(), host.work_together().unwrap());
    assert_eq!(idle.waited.load(Ordering::Relaxed), 0);
    let refused = host.work_alone("worktree remove r").unwrap_err();
    assert_eq!(refused.code, Code::RunBusy);
    drop((one, two));
    let alone = host.work_alone("worktree remove r").unwrap();
    idle.waited.store(0, Ordering::Relaxed);
    let refused = host.work_together().unwrap_err();
    assert_eq!(idle.waited.load(Ordering::Relaxed), 10_000);
    let pid = format!("pid {}, worktree remove r", std::process::id());
    assert!(refused.message.contains(&pid), "{}", refused.message);
    drop(alone);
    assert!(host.work_together().is_ok());
}

#[test]
fn a_worker_has_its_part_once_and_none_while_it_is_parked() {
    let Room { folder: _folder, host, .. } = room();
    let part = Part::default();
    for _ in 0..2 {
        part.take(&host).unwrap();
    }
    assert!(host.work_alone("x").is_err());
    part.let_go();
    assert!(host.work_alone("x").is_ok());
}

#[test]
fn a_run_whose_agents_are_kept_away_ends_as_one_that_was_not_launched() {
    let Room { folder, idle, host } = room();
    let blueprint = "---\nschema: 2\nid: talk\nname: Talk\nnodes:\n  \
        - { id: start, type: manual_trigger }\n  \
        - { id: ask, type: task, fields: { agent: role:x, prompt: Say } }\n\
        edges:\n  - { from: start, to: ask }\n---\n";
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let request = LaunchRequest {
        automation: file("talk.md", blueprint).display().to_string(),
        script: Some(file("script.yaml", "ask: [{ text: Aye }]\n")),
        ..LaunchRequest::default()
    };
    host.launch(host.prepare(request).unwrap(), Recruit::none()).unwrap();
    let (place, lock) = idle.owed.lock().unwrap().take().unwrap();
    let alone = host.work_alone("worktree remove r").unwrap();
    let left = host.drive_run(&place, lock, |program, _| -> Result<Crew, HostError> {
        assert!(has_agents(program));
        Err(host.work_together().unwrap_err())
    });
    drop(alone);
    assert_eq!(left.unwrap(), Left::Closed(RunStatus::Failed));
    let state = host.opened(&place).unwrap().state;
    let failure = state.closed.unwrap().failure.unwrap();
    assert_eq!(failure.reason, FailReason::Launch);
    assert!(failure.message.starts_with("no agent may start"), "{}", failure.message);
    assert!(!host.is_owned(&place).unwrap());
}
