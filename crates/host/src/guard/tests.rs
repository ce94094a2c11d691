//! The guard against its law: agents together, a removal alone, and a run
//! whose agents are kept away is not left as one that works.

use std::sync::atomic::Ordering;

use engine::{FailReason, RunStatus};

use super::*;
use crate::Recruit;
use crate::agents::has_agents;
use crate::api::LaunchRequest;
use crate::crew::Crew;
use crate::tests::{Room, room};
use crate::worker::Left;

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
