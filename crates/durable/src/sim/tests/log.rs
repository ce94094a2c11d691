//! A log on a disk that crashes: frame, tail and disk together, as a writer
//! and a recovery use them.

use super::*;
use crate::frame::{Link, seal};
use crate::tail::{End, Position, Scanner};
use crate::{Digest, Seq};

const LOG: &str = "/home/log";

/// Writes batches of these sizes to the log, each with one write and one
/// sync, and gives how many events were acknowledged.
fn write(disk: &SimDisk, start: Position, batches: &[u64]) -> u64 {
    let (mut seq, mut last) = (start.next_seq.0, start.last);
    let Ok(mut log) = disk.append(p(LOG)) else { return seq };
    for lines in batches {
        let mut bytes = Vec::new();
        for at in seq..seq + lines {
            last = seal(&mut bytes, body(at).as_bytes(), Seq(seq), last);
        }
        if log.write(&bytes).and_then(|()| log.sync()).is_err() {
            return seq;
        }
        seq += lines;
    }
    seq
}

fn body(seq: u64) -> String {
    format!(r#"{{"seq":{seq},"kind":"notification","text":"{}"}}"#, "long ".repeat(20))
}

/// Reads the log, cuts a torn end, and gives the place to go on from.
fn recover(disk: &SimDisk) -> Position {
    let mut scanner = Scanner::new(Position::START);
    scanner.feed(&disk.read(p(LOG), u64::MAX).unwrap());
    while let Some(line) = scanner.next_line() {
        assert!(line.text.starts_with(body(line.seq.0).trim_end_matches('}').as_bytes()));
    }
    match scanner.finish() {
        End::Clean => {}
        End::Torn { keep, .. } => disk.append(p(LOG)).unwrap().cut(keep).unwrap(),
        End::Damaged { .. } => panic!("a crash is no damage: {disk:?}"),
    }
    scanner.position()
}

fn empty() -> SimDisk {
    let disk = SimDisk::new();
    disk.put(p(LOG), b"");
    disk
}

/// Checks one disk that a crash left: every acknowledged event is there, and
/// recovering twice is recovering once.
fn check(disk: &SimDisk, acknowledged: u64, attempted: u64) -> Digest {
    let place = recover(disk);
    assert!(place.next_seq.0 >= acknowledged, "an acknowledged event is gone");
    assert!(place.next_seq.0 <= attempted, "an event came from nowhere");
    let digest = disk.digest();
    assert_eq!(recover(disk), place);
    assert_eq!(disk.digest(), digest, "a second recovery changes nothing");
    digest
}

#[test]
fn no_acknowledged_event_is_lost_at_any_crash_and_any_loss_of_power() {
    let batches = [1, 3, 2];
    let whole = empty();
    assert_eq!(write(&whole, Position::START, &batches), 6);
    let mut states = 0;
    for call in 0..=whole.calls() {
        for crash in [Crash::Before, Crash::After, Crash::Prefix(1), Crash::Prefix(300)] {
            let disk = empty();
            disk.crash_at(call, crash);
            let acknowledged = write(&disk, Position::START, &batches);
            check(&disk.after_process_crash(), acknowledged, 6);
            for left in disk.power_losses().iter() {
                check(&left, acknowledged, 6);
                states += 1;
            }
        }
    }
    assert!(states > 1000, "{states} states");
}

#[test]
fn a_crash_in_recovery_is_recovered_from_and_writing_goes_on() {
    let disk = empty();
    disk.crash_at(4, Crash::Prefix(300));
    let acknowledged = write(&disk, Position::START, &[1, 1, 3]);
    assert_eq!(acknowledged, 2);
    for crash in [Crash::Before, Crash::After] {
        let torn = disk.after_process_crash();
        let probe = torn.clone();
        probe.crash_at(0, crash);
        let cut = probe.append(p(LOG)).unwrap().cut(400);
        assert!(is_crash(&cut.unwrap_err()));
        for left in torn.power_losses().iter().step_by(7) {
            let place = recover(&left);
            assert!(place.next_seq.0 <= 4);
            let before = place.next_seq.0;
            assert_eq!(write(&left, place, &[2, 1]), before + 3);
            check(&left, before + 3, before + 3);
            for again in left.power_losses().iter() {
                check(&again, before + 3, before + 3);
            }
        }
    }
}

#[test]
fn a_failed_sync_or_a_short_write_loses_nothing_acknowledged() {
    let calls = {
        let disk = empty();
        write(&disk, Position::START, &[1, 2, 2]);
        disk.calls()
    };
    for call in 0..calls {
        for fault in [Fault::error(ErrorKind::Other), Fault::short_write(150)] {
            let disk = empty();
            disk.fail_at(call, fault);
            let acknowledged = write(&disk, Position::START, &[1, 2, 2]);
            assert!(acknowledged < 5);
            check(&disk.after_process_crash(), acknowledged, 5);
            for left in disk.power_losses().iter() {
                check(&left, acknowledged, 5);
            }
        }
    }
}

#[test]
fn a_writer_that_goes_on_after_a_failed_sync_is_found_out() {
    let disk = empty();
    disk.fail_at(3, Fault::error(ErrorKind::Other));
    assert_eq!(write(&disk, Position::START, &[1, 1]), 1);
    let mut scanner = Scanner::new(Position::START);
    scanner.feed(&bytes_at(&disk, LOG).unwrap());
    assert_eq!(scanner.finish(), End::Clean, "memory still shows the event");
    assert_eq!(write(&disk, scanner.position(), &[1]), 3, "the next sync succeeds");
    let left = disk.power_losses().get(0).unwrap();
    let mut scanner = Scanner::new(Position::START);
    scanner.feed(&bytes_at(&left, LOG).unwrap());
    assert!(matches!(scanner.finish(), End::Damaged { .. }), "the hole is seen");
    assert_ne!(scanner.position().last, Link::START);
}
