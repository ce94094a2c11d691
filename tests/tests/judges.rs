//! The judges themselves: each lie that a broken product could tell is told
//! to them once, and the right one sees it.

use std::sync::Arc;

use durable::Timestamp;
use durable::disk::{Disk as _, SharedDisk};
use durable::sim::{Crash, SimDisk};
use engine::{Event, Fact, RunStatus, SignalId};
use host::worker::Left;
use runstore::RunPlace;
use world::oracle::judge;
use world::{Prepared, Told, effects, fixed};

/// A run that waits at its gate, and what was told of it.
struct Waiting {
    prepared: Prepared,
    disk: SimDisk,
    told: Told,
    place: RunPlace,
}

fn waiting() -> Waiting {
    let prepared = Prepared::new(fixed::named("gate").expect("there is a gate"));
    // The word of approval is the first call after the owner has left.
    let calls = prepared.calls.iter();
    let inbox = |name: &str| name.contains("/inbox/");
    let word = calls.into_iter().position(|call| inbox(&call.path.display().to_string()));
    let word = word.expect("somebody approves");
    let (struck, told, _) = prepared.live(|disk| disk.crash_at(word, Crash::Before));
    let place = told.created[0].clone();
    Waiting { prepared, disk: struck.after_process_crash(), told, place }
}

impl Waiting {
    /// The oracle that sees something.
    fn seen(&self) -> Option<&'static str> {
        let judged = judge(&self.prepared.scenario, &self.disk, &self.told, 2, true);
        judged.err().map(|violation| violation.oracle)
    }

    fn log(&self) -> Vec<u8> {
        self.disk.read(&self.place.events(), 1 << 20).expect("the log is there")
    }

    fn effects(&self, change: impl FnOnce(&str) -> String) {
        let path = effects::path(&self.place.home);
        let text = self.disk.read(&path, 1 << 20).expect("the list is there");
        let text = String::from_utf8(text).expect("the list is text");
        self.disk.put(&path, change(&text).as_bytes());
    }
}

#[test]
fn the_truth_is_believed() {
    assert_eq!(waiting().seen(), None);
}

#[test]
fn an_acknowledged_event_that_is_gone_is_seen() {
    let waiting = waiting();
    let mut log = waiting.log();
    log.truncate(log.len() - 1);
    waiting.disk.put(&waiting.place.events(), &log);
    assert_eq!(waiting.seen(), Some("O1"));
}

#[test]
fn a_run_or_a_signal_that_is_gone_is_seen() {
    let mut waiting = waiting();
    let signal = SignalId::new("s-1").unwrap();
    waiting.told.signals.push((waiting.place.clone(), signal));
    assert_eq!(waiting.seen(), Some("O1"));
    waiting.told.signals.clear();
    let run = engine::RunId::new("1764500009000-00000000").unwrap();
    waiting.told.created.push(RunPlace { run, ..waiting.place.clone() });
    assert_eq!(waiting.seen(), Some("O1"));
}

#[test]
fn an_end_that_was_told_and_is_not_there_is_seen() {
    let mut waiting = waiting();
    waiting.told.left.insert(waiting.place.clone(), Left::Closed(RunStatus::Completed));
    assert_eq!(waiting.seen(), Some("O1"));
}

#[test]
fn an_event_that_nobody_wrote_is_seen() {
    let waiting = waiting();
    let disk: SharedDisk = Arc::new(waiting.disk.clone());
    let lock = runstore::lock::take(&*disk, &waiting.place).unwrap().unwrap();
    let mut adopted = runstore::adopt(&disk, &waiting.place, lock).unwrap();
    let seq = adopted.opened.state.next_seq;
    let signal = SignalId::new("s-1").unwrap();
    let fact = Fact::RunResumed { actor: "nobody".to_owned(), signal };
    adopted.writer.append(&[Event { seq, at: Timestamp::from_millis(0), fact }]).unwrap();
    drop(adopted);
    assert_eq!(waiting.seen(), Some("O2"));
}

#[test]
fn a_checkpoint_that_is_not_whole_is_seen() {
    let waiting = waiting();
    let path = waiting.place.state();
    let mut saved = waiting.disk.read(&path, 1 << 20).unwrap();
    saved.truncate(saved.len() / 2);
    waiting.disk.put(&path, &saved);
    assert_eq!(waiting.seen(), Some("O3"));
}

#[test]
fn an_effect_that_came_twice_or_never_or_from_nowhere_is_seen() {
    for change in [
        |text: &str| format!("{text}{text}"),
        |_: &str| String::new(),
        |text: &str| format!("{text}{}", text.replace("/before/", "/after/")),
    ] {
        let waiting = waiting();
        waiting.effects(change);
        assert_eq!(waiting.seen(), Some("O4"));
    }
}

#[test]
fn a_lock_that_is_held_is_seen() {
    let waiting = waiting();
    let held = waiting.disk.try_lock(&waiting.place.driver_lock()).unwrap();
    assert!(held.is_some());
    assert_eq!(waiting.seen(), Some("O7"));
}
