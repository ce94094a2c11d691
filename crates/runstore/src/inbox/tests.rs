//! Signals that come, wait, are answered and are refused.

use std::sync::Arc;

use durable::disk::{Disk, SharedDisk};
use durable::sim::{Crash, SeededEntropy, SimDisk};
use durable::{Timestamp, limits as common};
use engine::Site;

use super::*;
use crate::tests::samples::{created, place, signal as id};

fn setup() -> (SimDisk, RunPlace) {
    let (sim, place) = (SimDisk::new(), place());
    let disk: SharedDisk = Arc::new(sim.clone());
    drop(created(&disk, &place, 1));
    sim.settle();
    (sim, place)
}

fn signal(name: &str, verb: Verb) -> Signal {
    Signal { id: id(name), verb, actor: "ada".into(), note: Some("as \u{0} said".into()) }
}

fn every_verb() -> Vec<Signal> {
    let node = Some(Site::parse("gate[1]"));
    let verbs = [
        Verb::Approve { node: node.clone() },
        Verb::Approve { node: None },
        Verb::Reject { node },
        Verb::Cancel,
        Verb::Resume,
        Verb::Denied { verb: "approve".into() },
    ];
    verbs.into_iter().enumerate().map(|(n, verb)| signal(&format!("s-{n}"), verb)).collect()
}

fn put_all(disk: &SimDisk, place: &RunPlace, signals: &[Signal]) {
    let entropy = SeededEntropy::new(5);
    for signal in signals {
        put(disk, place, signal, &entropy).unwrap();
    }
}

fn waiting(disk: &SimDisk, place: &RunPlace) -> Vec<Signal> {
    pending(disk, place).unwrap().signals.into_iter().map(|(signal, _)| signal).collect()
}

#[test]
fn signals_wait_in_the_order_of_their_names_until_they_are_removed() {
    let (disk, place) = setup();
    assert!(waiting(&disk, &place).is_empty());
    let mut signals = every_verb();
    signals.reverse();
    put_all(&disk, &place, &signals);
    put_all(&disk, &place, &signals[..1]);
    signals.reverse();
    assert_eq!(waiting(&disk, &place), signals);
    for signal in &signals {
        assert!(contains(&disk, &place, &signal.id).unwrap());
        remove(&disk, &place, &signal.id).unwrap();
        remove(&disk, &place, &signal.id).unwrap();
        assert!(!contains(&disk, &place, &signal.id).unwrap());
    }
    assert!(waiting(&disk, &place).is_empty());
}

#[test]
fn ids_of_new_signals_sort_by_time() {
    let entropy = SeededEntropy::new(1);
    let at = |millis| new_signal_id(Timestamp::from_millis(millis), &entropy);
    let ids = [at(5), at(1_764_500_000_000), at(1_764_500_000_001)];
    assert!(ids.is_sorted(), "{ids:?}");
}

#[test]
fn a_signal_that_was_put_outlives_a_loss_of_power() {
    let (disk, place) = setup();
    put_all(&disk, &place, &every_verb());
    for left in disk.power_losses().iter() {
        assert_eq!(waiting(&left, &place), every_verb());
    }
}

#[test]
fn a_signal_is_wholly_there_or_not_at_all() {
    let entropy = SeededEntropy::new(5);
    let signals = every_verb();
    for call in 0.. {
        let (disk, place) = setup();
        disk.crash_at(disk.calls() + call, Crash::Prefix(20));
        if put(&disk, &place, &signals[0], &entropy).is_ok() {
            return;
        }
        for left in disk.power_losses().iter().chain([disk.after_process_crash()]) {
            let found = pending(&left, &place).unwrap();
            assert!(found.refused.is_empty());
            assert!(found.signals.len() <= 1);
        }
    }
}

#[test]
fn a_file_that_is_no_signal_is_set_aside_and_blocks_nothing() {
    let (disk, place) = setup();
    let good = signal("s-9", Verb::Cancel);
    put_all(&disk, &place, std::slice::from_ref(&good));
    let text = String::from_utf8(disk.read(&place.signal(&good.id), 1000).unwrap()).unwrap();
    let large = vec![b' '; common::SIGNAL_BYTES + 1];
    let bad: [(&str, &[u8]); 6] = [
        ("a.json", b"{\"half"),
        ("b.json", text.as_bytes()),
        ("c.json", b"{\"format\":{\"major\":2,\"minor\":0},\"new\":1}"),
        ("d.json", &large),
        ("e.txt", b"hello"),
        ("f.json", b"{\"format\":{\"major\":1,\"minor\":0},\"id\":\"f\",\"verb\":\"dance\",\"actor\":\"x\"}"),
    ];
    for (name, bytes) in bad {
        disk.put(&place.inbox().join(name), bytes);
    }
    disk.create_dir(&place.inbox().join("g.json")).unwrap();
    let found = pending(&disk, &place).unwrap();
    assert_eq!(found.signals.len(), 1);
    let told = |refused: &Refused| {
        let name = refused.path.file_name().unwrap().to_str().unwrap();
        format!("{name}: {}", refused.why)
    };
    insta::assert_snapshot!(found.refused.iter().map(told).collect::<Vec<_>>().join("\n"), @r"
    refused-a.json: it is not of the known shape
    refused-b.json: it names itself `s-9`, which is not its file's name
    refused-c.json: it has format 2.0; this program reads signal formats up to 1.x
    refused-d.json: it has 65537 bytes, more than a signal can have
    refused-e.txt: it is not of the known shape
    refused-f.json: the verb `dance` is not known
    refused-g.json: it is not a regular file
    ");
    assert_eq!(disk.read(&place.inbox().join("refused-a.json"), 100).unwrap(), b"{\"half");
    assert!(pending(&disk, &place).unwrap().refused.is_empty());

    disk.put(&place.inbox().join("a.json"), b"again");
    pending(&disk, &place).unwrap();
    assert_eq!(disk.read(&place.inbox().join("refused-1-a.json"), 100).unwrap(), b"again");
    assert_eq!(disk.read(&place.inbox().join("refused-a.json"), 100).unwrap(), b"{\"half");
}

#[test]
fn the_marker_of_the_reference_cancels() {
    let (disk, place) = setup();
    disk.put(&place.cancel_marker(), b"");
    let found = waiting(&disk, &place);
    assert_eq!((found.len(), &found[0].verb), (1, &Verb::Cancel));
    remove(&disk, &place, &found[0].id).unwrap();
    assert!(waiting(&disk, &place).is_empty());
}

#[test]
fn a_signal_that_cannot_be_taken_is_refused_at_the_door() {
    let (disk, place) = setup();
    let entropy = SeededEntropy::new(5);
    let mut long = signal("s-1", Verb::Cancel);
    long.note = Some("x".repeat(common::NOTE_BYTES + 1));
    let refused = put(&disk, &place, &long, &entropy).unwrap_err();
    assert!(matches!(refused, PutError::NoteTooLong(_)), "{refused}");
    let large = signal("s-1", Verb::Denied { verb: "x".repeat(common::SIGNAL_BYTES) });
    let refused = put(&disk, &place, &large, &entropy).unwrap_err();
    assert!(matches!(refused, PutError::TooLarge(_)), "{refused}");
    let run = engine::RunId::new("r-404").unwrap();
    let nowhere = place.home.place(&place.blueprint, &run);
    let refused = put(&disk, &nowhere, &signal("s-1", Verb::Cancel), &entropy).unwrap_err();
    assert!(matches!(refused, PutError::NoRun { .. }), "{refused}");
    assert_eq!(disk.stat(&nowhere.folder()).unwrap(), None);
}
