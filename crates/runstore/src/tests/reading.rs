//! Readers: those who follow, those who look back, those who list.

use std::sync::Arc;

use blueprint::BlueprintId;
use durable::disk::{Disk, SharedDisk};
use durable::sim::SimDisk;
use durable::{Seq, Timestamp};
use engine::{Event, Fact, RunId, RunStatus};
use serde_json::json;

use super::samples::{batches, event, folded, more_batches, place, started, written};
use crate::list::{all, find, summary};
use crate::{Follow, Found, OpenError, RunPlace, adopt, lock, open, read};

fn disk() -> (SimDisk, SharedDisk) {
    let sim = SimDisk::new();
    (sim.clone(), Arc::new(sim))
}

#[test]
fn a_follower_sees_each_event_once_and_no_half_line() {
    let (sim, disk) = disk();
    let place = place();
    let batches = batches(&place);
    let mut follow = Follow::new(place.clone());
    assert!(follow.poll(&*disk).unwrap().is_empty(), "there is no run yet");
    drop(written(&disk, &place, &batches));
    let log = sim.read(&place.events(), 1 << 20).unwrap();
    let mut seen: Vec<Event> = Vec::new();
    for upto in 0..=log.len() {
        sim.put(&place.events(), &log[..upto]);
        let new = follow.poll(&sim).unwrap();
        assert_eq!(new.is_empty(), upto == 0 || log[upto - 1] != b'\n');
        seen.extend(new);
    }
    assert_eq!(seen, batches.concat());
}

#[test]
fn a_follower_goes_on_when_a_new_owner_cut_a_torn_end() {
    let (sim, disk) = disk();
    let place = place();
    drop(written(&disk, &place, &batches(&place)));
    let log = sim.read(&place.events(), 1 << 20).unwrap();
    sim.put(&place.events(), &log[..log.len() - 10]);
    let mut follow = Follow::new(place.clone());
    assert_eq!(follow.poll(&*disk).unwrap().len(), 6);
    let lock = lock::take(&*disk, &place).unwrap().unwrap();
    let mut adopted = adopt(&disk, &place, lock).unwrap();
    assert!(follow.poll(&*disk).unwrap().is_empty());
    let more = more_batches(6);
    for batch in &more {
        adopted.writer.append(batch).unwrap();
    }
    assert_eq!(follow.poll(&*disk).unwrap(), more.concat());
    follow.settle(&*disk).unwrap();

    let opened = open(&*disk, &place).unwrap();
    let mut late = Follow::after(place, opened.position, &opened.state);
    assert!(late.poll(&*disk).unwrap().is_empty());
}

#[test]
fn a_follower_is_told_when_what_it_read_is_gone() {
    let (sim, disk) = disk();
    let place = place();
    drop(written(&disk, &place, &batches(&place)));
    let mut follow = Follow::new(place.clone());
    follow.poll(&*disk).unwrap();
    let log = sim.read(&place.events(), 1 << 20).unwrap();
    let first = log.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    sim.put(&place.events(), &log[..first]);
    assert!(matches!(follow.poll(&*disk), Err(OpenError::Damaged { .. })));
}

#[test]
fn the_state_at_an_event_knows_nothing_later() {
    let (_, disk) = disk();
    let place = place();
    let batches = batches(&place);
    let events = batches.concat();
    written(&disk, &place, &batches).checkpoint(&folded(&events)).unwrap();
    for upto in 0..events.len() {
        let state = read::state_at(&*disk, &place, Seq(upto as u64)).unwrap();
        assert_eq!(state, folded(&events[..=upto]));
    }
    assert_eq!(read::state_at(&*disk, &place, Seq(99)).unwrap(), folded(&events));
    assert_eq!(read::last_seq(&*disk, &place).unwrap(), Some(Seq(6)));
}

#[test]
fn reading_changes_nothing_and_is_not_kept_out() {
    let (sim, disk) = disk();
    let place = place();
    let writer = written(&disk, &place, &batches(&place));
    let (calls, before) = (sim.calls(), sim.digest());
    open(&*disk, &place).unwrap();
    summary(&*disk, &place).unwrap();
    crate::verify(&*disk, &place).unwrap();
    crate::inbox::pending(&*disk, &place).unwrap();
    Follow::new(place.clone()).poll(&*disk).unwrap();
    all(&*disk, &place.home).unwrap();
    assert!(lock::is_owned(&*disk, &place).unwrap());
    assert_eq!((sim.calls(), sim.digest()), (calls, before));
    drop(writer);
}

/// A run of that id which began at `millis`.
fn run(disk: &SharedDisk, blueprint: &str, id: &str, millis: i64) -> RunPlace {
    let blueprint = BlueprintId::new(blueprint).unwrap();
    let place = place().home.place(&blueprint, &RunId::new(id).unwrap());
    let first = Event { at: Timestamp::from_millis(millis), ..event(0, started(&place)) };
    drop(written(disk, &place, &[vec![first]]));
    place
}

#[test]
fn runs_are_listed_newest_first_whatever_their_ids() {
    let (sim, disk) = disk();
    assert!(all(&*disk, &place().home).unwrap().is_empty());
    run(&disk, "a", "1764500000000-0000aaaa", 1_764_500_000_000);
    run(&disk, "b", "1764500003000-0000bbbb", 1_764_500_003_000);
    run(&disk, "b", "listener-abcdef", 1_764_500_002_000);
    run(&disk, "a", "session-close-123456", 1_764_500_001_000);
    sim.put(&place().home.runs().join("notes.txt"), b"no run");
    sim.put(&place().home.runs().join("a").join("stray"), b"no run");
    sim.put(&place().home.runs().join("a").join(".x.1.new").join("f"), b"no run");
    let listed = all(&*disk, &place().home).unwrap();
    let ids: Vec<&str> = listed.iter().map(|place| place.run.as_str()).collect();
    let order = [
        "1764500003000-0000bbbb",
        "listener-abcdef",
        "session-close-123456",
        "1764500000000-0000aaaa",
    ];
    assert_eq!(ids, order);
    let of_a = crate::list::of(&*disk, &place().home, &BlueprintId::new("a").unwrap()).unwrap();
    assert_eq!(of_a.len(), 2);
}

#[test]
fn a_run_is_found_by_the_beginning_of_its_id_or_of_its_end() {
    let (_, disk) = disk();
    let home = place().home;
    let first = run(&disk, "a", "1764500000000-0000aaaa", 1_764_500_000_000);
    let second = run(&disk, "b", "1764500003000-0000bbbb", 1_764_500_003_000);
    let short = run(&disk, "a", "listener-ab", 1_764_500_002_000);
    run(&disk, "a", "listener-abcd", 1_764_500_001_000);
    let found = |query| find(&*disk, &home, query).unwrap();
    assert_eq!(found("0000a"), Found::One(first));
    assert_eq!(found("1764500003"), Found::One(second.clone()));
    assert_eq!(found("listener-ab"), Found::One(short));
    assert_eq!(found("nothing"), Found::None);
    let Found::Many { places, count } = found("0000") else { panic!("two begin so") };
    assert_eq!((&places[0], count), (&second, 2));
}

#[test]
fn a_summary_is_right_with_a_checkpoint_of_now_of_before_and_of_never() {
    let (_, disk) = disk();
    let place = place();
    let events = batches(&place).concat();
    let mut writer = written(&disk, &place, &[]);
    let told = || summary(&*disk, &place).unwrap();
    assert_eq!((told().status, told().started_at), (RunStatus::Running, None));
    writer.append(&events).unwrap();
    assert_eq!((told().status, told().next_seq), (RunStatus::Running, Seq(7)));
    writer.checkpoint(&folded(&events)).unwrap();
    assert_eq!(told().started_at, Some(events[0].at));
    let end = [
        event(7, super::samples::completed("b", Some(1), json!(null))),
        event(8, Fact::RunCompleted),
    ];
    writer.append(&end).unwrap();
    assert_eq!((told().status, told().updated_at), (RunStatus::Completed, Some(end[1].at)));
    assert!(!told().torn);
}

#[test]
fn a_damaged_run_has_no_summary_but_an_error() {
    let (sim, disk) = disk();
    let place = place();
    drop(written(&disk, &place, &batches(&place)));
    let mut log = sim.read(&place.events(), 1 << 20).unwrap();
    log[30] ^= 1;
    sim.put(&place.events(), &log);
    let error = summary(&*disk, &place).unwrap_err();
    insta::assert_snapshot!(error, @"the log /home/logs/automations/tidy-up/1764500000000-0a1b2c3d/events.jsonl is damaged at line 1 (event 0, byte 0): the line is not what its hash says; nothing was changed, so restore the run from a backup, or verify it to see how far it is good");
    assert!(matches!(
        read::each(&*disk, &place, |_| std::ops::ControlFlow::Continue(())),
        Err(OpenError::Damaged { .. })
    ));
}
