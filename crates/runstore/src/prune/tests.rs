//! A run is wholly there or gone, whenever a removal is cut short.

use std::sync::Arc;

use durable::disk::SharedDisk;
use durable::sim::{Crash, SeededEntropy, SimDisk};
use engine::Fact;

use super::*;
use crate::open::open;
use crate::tests::samples::{batches, event, folded, place, started, written};

/// A run that has ended, with something in each kind of folder.
fn ended_run() -> (SimDisk, RunPlace) {
    let (sim, place) = (SimDisk::new(), place());
    let disk: SharedDisk = Arc::new(sim.clone());
    let events = [event(0, started(&place)), event(1, Fact::RunCompleted)];
    let mut writer = written(&disk, &place, &[events.to_vec()]);
    writer.checkpoint(&folded(&events)).unwrap();
    sim.put(&place.artifacts().join("x"), b"artifact");
    sim.put(&place.output().join("a.1.log"), b"said");
    (sim, place)
}

#[test]
fn an_ended_run_is_gone_with_all_that_it_had() {
    let (disk, place) = ended_run();
    assert!(bytes(&disk, &place).unwrap() > 500);
    remove(&disk, &place, &SeededEntropy::new(1)).unwrap();
    assert_eq!(disk.list(&place.home.runs_of(&place.blueprint)).unwrap(), [".named"]);
}

#[test]
fn an_open_run_and_one_that_someone_has_stay() {
    let (sim, place) = (SimDisk::new(), place());
    let disk: SharedDisk = Arc::new(sim.clone());
    drop(written(&disk, &place, &batches(&place)));
    let error = remove(&sim, &place, &SeededEntropy::new(1)).unwrap_err();
    assert!(matches!(error, PruneError::Open(_)), "{error}");
    let held = lock::take(&sim, &place).unwrap();
    let error = remove(&sim, &place, &SeededEntropy::new(1)).unwrap_err();
    assert!(matches!(error, PruneError::Owned(_)), "{error}");
    drop(held);
    assert!(open(&sim, &place).is_ok());
}

#[test]
fn a_removal_cut_short_anywhere_leaves_the_run_whole_or_something_to_sweep() {
    let (disk, place) = ended_run();
    let before = open(&disk, &place).unwrap().state;
    disk.settle();
    let all = disk.after_process_crash();
    remove(&all, &place, &SeededEntropy::new(1)).unwrap();
    for call in 0..all.calls() {
        for crash in [Crash::Before, Crash::After] {
            let struck = disk.after_process_crash();
            struck.crash_at(call, crash);
            drop(remove(&struck, &place, &SeededEntropy::new(1)));
            let lost = struck.power_losses();
            for left in std::iter::once(struck.after_process_crash()).chain(lost.iter()) {
                if left.stat(&place.folder()).unwrap().is_some() {
                    assert_eq!(open(&left, &place).unwrap().state, before);
                    assert!(crate::verify(&left, &place).unwrap().is_sound());
                }
                sweep(&left, &place.home, &place.blueprint).unwrap();
                let names = left.list(&place.home.runs_of(&place.blueprint)).unwrap();
                let mut dotted = names.iter().filter(|name| name.starts_with('.'));
                assert!(dotted.all(|name| name == ".named"), "{names:?}");
            }
        }
    }
}

#[test]
fn only_our_own_leftovers_are_swept() {
    let (disk, place) = ended_run();
    let parent = place.home.runs_of(&place.blueprint);
    for name in [".x.gone", ".r.00C0FFEE.gone", ".r.00c0ffee.gone.txt", "r.00c0ffee.gone"] {
        disk.put(&parent.join(name).join("file"), b"theirs");
    }
    disk.put(&parent.join(place.gone("00c0ffee")).join("file"), b"ours");
    assert_eq!(sweep(&disk, &place.home, &place.blueprint).unwrap(), 1);
    let is_left = |name: &&String| *name != ".named";
    assert_eq!(disk.list(&parent).unwrap().iter().filter(is_left).count(), 5);
}
