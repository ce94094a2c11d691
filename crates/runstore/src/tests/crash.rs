//! A run is created, written, saved and taken over, on a disk that crashes
//! or fails at every call. Whatever is left then, the next owner finds all
//! that was acknowledged, nothing that was not attempted, and one state.

use std::error::Error;
use std::ops::ControlFlow;
use std::sync::Arc;

use durable::Generation;
use durable::disk::{Disk, SharedDisk};
use durable::sim::{Crash, Fault, SeededEntropy, SimDisk, is_crash};
use engine::{Event, Fact};

use super::samples::{BLUEPRINT, batches, event, folded, invocation, more_batches, place};
use crate::{AppendError, CheckpointFailed, NewRun, adopt, create, lock, open, read, verify};

/// What the outside knows of the run.
#[derive(Default)]
struct Ledger {
    created: bool,
    attempted: Vec<Event>,
    acknowledged: usize,
    /// What the writer said to a further event after its first error.
    after_error: Option<String>,
}

type Done = Result<(), Box<dyn Error>>;

fn shared(disk: &SimDisk) -> SharedDisk {
    Arc::new(disk.clone())
}

/// The life of the run, up to the first error.
fn live(disk: &SimDisk, ledger: &mut Ledger) -> Done {
    let (disk, place, invocation) = (shared(disk), place(), invocation());
    let new = NewRun { blueprint: Some(BLUEPRINT), invocation: &invocation, automations: &[] };
    let created = create(&*disk, &place, &new, &SeededEntropy::new(1))?;
    ledger.created = true;
    let mut writer = created.into_writer(disk.clone())?;
    append(&mut writer, &batches(&place), ledger)?;
    let saved = writer.checkpoint(&folded(&ledger.attempted));
    if saved.is_err() {
        ledger.after_error = Some(said(writer.checkpoint(&folded(&ledger.attempted))));
    }
    saved?;
    drop(writer);
    let lock = lock::take(&*disk, &place)?.expect("the first owner is gone");
    let mut adopted = adopt(&disk, &place, lock)?;
    let next = adopted.opened.position.next_seq.0;
    append(&mut adopted.writer, &more_batches(next), ledger)
}

fn append(writer: &mut crate::RunWriter, batches: &[Vec<Event>], ledger: &mut Ledger) -> Done {
    for batch in batches {
        ledger.attempted.extend(batch.iter().cloned());
        if let Err(error) = writer.append(batch) {
            ledger.after_error = Some(match writer.append(batch) {
                Err(AppendError::Broken) => "broken".to_owned(),
                other => format!("{other:?}"),
            });
            return Err(error.into());
        }
        ledger.acknowledged = ledger.attempted.len();
    }
    Ok(())
}

fn said(saved: Result<(), CheckpointFailed>) -> String {
    match saved {
        Err(CheckpointFailed::Broken) => "broken".to_owned(),
        other => format!("{other:?}"),
    }
}

fn events_on(disk: &dyn Disk) -> Vec<Event> {
    let mut events = Vec::new();
    let torn = read::each(disk, &place(), |event| {
        events.push(event);
        ControlFlow::Continue(())
    });
    assert_eq!(torn.unwrap(), None);
    events
}

/// The next owner's view, checked. Without a run there is none.
fn recover(left: &SimDisk, ledger: &Ledger) {
    let (disk, place) = (shared(left), place());
    if disk.stat(&place.events()).unwrap().is_none() {
        assert!(!ledger.created, "a created run is there");
        return;
    }
    if ledger.created {
        assert_eq!(disk.read(&place.blueprint_json(), 1000).unwrap(), BLUEPRINT);
        assert_eq!(disk.read(&place.invocation_json(), 1000).unwrap(), invocation());
    }
    let lock = lock::take(&*disk, &place).unwrap().expect("no one holds the lock");
    let adopted = adopt(&disk, &place, lock).unwrap();
    let events = events_on(&*disk);
    let (attempted, acknowledged) = (&ledger.attempted, ledger.acknowledged);
    assert!(events.len() >= acknowledged, "{} of {acknowledged} events", events.len());
    assert_eq!(events, attempted[..events.len()]);
    assert_eq!(adopted.opened.state, folded(&events));
    if let Some(cut) = &adopted.cut {
        assert_eq!(disk.read(&cut.kept_in, 1 << 20).unwrap().len() as u64, cut.bytes);
    }
    drop(adopted);

    let clean = left.digest();
    let lock = lock::take(&*disk, &place).unwrap().expect("the lock is free again");
    let mut adopted = adopt(&disk, &place, lock).unwrap();
    assert_eq!(left.digest(), clean, "a second recovery changes nothing");
    assert_eq!(adopted.cut, None);
    if !events.is_empty() {
        let fact = Fact::RunAdopted { generation: Generation(9), cut: 0 };
        adopted.writer.append(&[event(events.len() as u64, fact)]).unwrap();
        assert_eq!(open(&*disk, &place).unwrap().state.generation, Generation(9));
        assert!(verify(&*disk, &place).unwrap().is_sound());
    }
}

/// How many calls the whole life takes.
fn calls() -> usize {
    let (disk, mut ledger) = (SimDisk::new(), Ledger::default());
    live(&disk, &mut ledger).unwrap();
    assert_eq!(ledger.acknowledged, ledger.attempted.len());
    disk.calls()
}

/// Every `step`-th of what a loss of power may leave, beginning with `first`.
fn losses(disk: &SimDisk, first: usize, step: usize) -> impl Iterator<Item = SimDisk> {
    let losses = disk.power_losses();
    (first % step..losses.count()).step_by(step).filter_map(move |at| losses.get(at))
}

#[test]
fn a_crash_at_any_call_loses_nothing_that_was_acknowledged() {
    let crashes = [Crash::Before, Crash::After, Crash::Prefix(1), Crash::Prefix(300)];
    for call in 0..calls() {
        for crash in crashes {
            let (disk, mut ledger) = (SimDisk::new(), Ledger::default());
            disk.crash_at(call, crash);
            let error = live(&disk, &mut ledger).unwrap_err();
            assert!(is_crash(&*error), "{error}");
            recover(&disk.after_process_crash(), &ledger);
            for left in losses(&disk, call, 29) {
                recover(&left, &ledger);
            }
        }
    }
}

#[test]
fn a_crash_during_recovery_changes_nothing_of_this() {
    for call in 0..calls() {
        let (disk, mut ledger) = (SimDisk::new(), Ledger::default());
        disk.crash_at(call, Crash::Prefix(300));
        live(&disk, &mut ledger).unwrap_err();
        let worlds = losses(&disk, call, 331).chain([disk.after_process_crash()]);
        for left in worlds {
            crash_recovery(&left, &ledger);
        }
    }
}

fn crash_recovery(left: &SimDisk, ledger: &Ledger) {
    let place = place();
    for call in 0.. {
        let again = left.after_process_crash();
        again.crash_at(call, if call % 2 == 0 { Crash::After } else { Crash::Before });
        let disk = shared(&again);
        let Ok(Some(_)) = disk.stat(&place.events()) else { return };
        if let Ok(Some(lock)) = lock::take(&*disk, &place) {
            drop(adopt(&disk, &place, lock));
        }
        if !again.crashed() {
            return;
        }
        recover(&again.after_process_crash(), ledger);
        for left in losses(&again, call, 47) {
            recover(&left, ledger);
        }
    }
}

#[test]
fn what_a_new_owner_has_read_outlives_a_loss_of_power() {
    for call in 0..calls() {
        let (disk, mut ledger) = (SimDisk::new(), Ledger::default());
        disk.crash_at(call, Crash::After);
        live(&disk, &mut ledger).unwrap_err();
        let left = disk.after_process_crash();
        let (disk, place) = (shared(&left), place());
        let Ok(Some(_)) = disk.stat(&place.events()) else { continue };
        let lock = lock::take(&*disk, &place).unwrap().expect("no one holds the lock");
        let mut adopted = adopt(&disk, &place, lock).unwrap();
        ledger.created = true;
        ledger.acknowledged = events_on(&*disk).len();
        if call % 2 == 0 {
            adopted.writer.checkpoint(&adopted.opened.state).unwrap();
        }
        for left in losses(&left, call, 3) {
            recover(&left, &ledger);
        }
    }
}

#[test]
fn a_call_that_fails_is_told_and_ends_the_writing() {
    use std::io::ErrorKind::{Other, StorageFull};
    let faults = [Fault::error(Other), Fault::error(StorageFull), Fault::short_write(100)];
    for call in 0..calls() {
        for fault in faults.iter().flat_map(|fault| [*fault, fault.forever()]) {
            let (disk, mut ledger) = (SimDisk::new(), Ledger::default());
            disk.fail_at(call, fault);
            // A failure to take a temporary file away shows nowhere.
            if live(&disk, &mut ledger).is_ok() {
                assert_eq!(ledger.acknowledged, ledger.attempted.len());
                continue;
            }
            if let Some(said) = &ledger.after_error {
                assert_eq!(said, "broken");
            }
            recover(&disk.after_process_crash(), &ledger);
            for left in losses(&disk, call, 211) {
                recover(&left, &ledger);
            }
        }
    }
}
