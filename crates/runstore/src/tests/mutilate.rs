//! A log with any byte cut off or any bit turned is read as a part of what
//! it was, or refused. Never is a changed event believed.

use std::ops::ControlFlow;
use std::sync::Arc;

use durable::disk::SharedDisk;
use durable::sim::SimDisk;
use engine::Event;

use super::samples::{batches, folded, place, written};
use crate::{CheckpointUse, OpenError, open, read, verify};

struct Whole {
    log: Vec<u8>,
    events: Vec<Event>,
    /// Where each batch begins, and the end of the log.
    borders: Vec<usize>,
    saved: Vec<u8>,
}

fn whole() -> Whole {
    let (sim, place) = (SimDisk::new(), place());
    let disk: SharedDisk = Arc::new(sim);
    let batches = batches(&place);
    let mut writer = written(&disk, &place, &[]);
    let mut borders = vec![0];
    for batch in &batches {
        writer.append(batch).unwrap();
        borders.push(usize::try_from(writer.position().offset).unwrap());
    }
    let events = batches.concat();
    writer.checkpoint(&folded(&events)).unwrap();
    let log = disk.read(&place.events(), 1 << 20).unwrap();
    let saved = disk.read(&place.state(), 1 << 20).unwrap();
    Whole { log, events, borders, saved }
}

/// The events that `log` gives, and whether its end is torn.
fn read_back(log: &[u8]) -> Result<(Vec<Event>, bool), OpenError> {
    let (disk, place) = (SimDisk::new(), place());
    disk.put(&place.events(), log);
    let mut events = Vec::new();
    let torn = read::each(&disk, &place, |event| {
        events.push(event);
        ControlFlow::Continue(())
    })?;
    Ok((events, torn.is_some()))
}

#[test]
fn e6_a_log_cut_at_any_byte_is_the_events_before_it() {
    let Whole { log, events, .. } = whole();
    for keep in 0..=log.len() {
        let (read, torn) = read_back(&log[..keep]).unwrap();
        assert_eq!(read, events[..read.len()]);
        assert_eq!(torn, keep > 0 && log[keep - 1] != b'\n', "cut at {keep}");
    }
}

#[test]
fn a_turned_bit_is_seen_and_never_believed() {
    let Whole { log, events, borders, .. } = whole();
    let last_batch = borders[borders.len() - 2];
    for at in 0..log.len() {
        for bit in [at % 8, (at + 5) % 8] {
            let mut bad = log.clone();
            bad[at] ^= 1 << bit;
            match read_back(&bad) {
                Err(OpenError::Damaged { .. }) => {}
                Err(other) => panic!("bit {bit} of byte {at}: {other}"),
                Ok((read, torn)) => {
                    assert!(torn && at >= last_batch, "bit {bit} of byte {at} is not seen");
                    assert_eq!(read, events[..read.len()]);
                }
            }
        }
    }
}

#[test]
fn a_line_that_is_missing_doubled_or_moved_is_damage() {
    let Whole { log, .. } = whole();
    let lines: Vec<&[u8]> = log.split_inclusive(|byte| *byte == b'\n').collect();
    for at in 0..lines.len() - 1 {
        let (mut gone, mut double, mut moved) = (lines.clone(), lines.clone(), lines.clone());
        gone.remove(at);
        double.insert(at, lines[at]);
        moved.swap(at, at + 1);
        for bad in [gone, double, moved] {
            let read = read_back(&bad.concat());
            assert!(matches!(read, Err(OpenError::Damaged { .. })), "line {at}: {read:?}");
        }
    }
}

#[test]
fn under_a_checkpoint_a_shorter_log_is_damage_and_never_torn() {
    let Whole { log, saved, .. } = whole();
    for keep in (0..log.len()).step_by(7).chain([log.len() - 1]) {
        let (disk, place) = (SimDisk::new(), place());
        disk.put(&place.events(), &log[..keep]);
        disk.put(&place.state(), &saved);
        let opened = open(&disk, &place);
        assert!(matches!(opened, Err(OpenError::Damaged { .. })), "cut at {keep}: {opened:?}");
        let report = verify(&disk, &place).unwrap();
        assert!(!report.is_sound());
        assert_eq!(report.witnessed, Some(durable::Seq(7)));
    }
}

#[test]
fn a_changed_checkpoint_is_passed_over_and_the_log_believed() {
    let Whole { log, events, saved, .. } = whole();
    for at in 0..saved.len() {
        let (disk, place) = (SimDisk::new(), place());
        let mut bad = saved.clone();
        bad[at] ^= 1 << (at % 8);
        disk.put(&place.events(), &log);
        disk.put(&place.state(), &bad);
        let opened = crate::open::replay(&disk, &place).unwrap();
        assert!(matches!(opened.checkpoint, CheckpointUse::Passed(_)), "byte {at}");
        assert_eq!(opened.state, folded(&events));
    }
}
