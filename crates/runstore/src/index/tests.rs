//! Whatever happens to the index and to those who write it, a listing says
//! what a scan of all runs says, and recovery misses none that is open.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use blueprint::{BlueprintId, NodeId};
use durable::disk::{Disk, RealDisk, SharedDisk};
use durable::sim::{Crash, Fault, SeededEntropy, SimDisk};
use engine::{Fact, FailReason, RunId, RunState};
use proptest::prelude::*;

use super::*;
use crate::layout::{Home, RunPlace};
use crate::list::{self, Found, Summary};
use crate::tests::samples::{BLUEPRINT, event, folded, invocation, started};
use crate::{NewRun, adopt, create, lock, prune};

const BEGIN: i64 = 1_764_500_000_000;

/// A home whose owner does things, and things are done to.
struct House {
    disk: SimDisk,
    home: Home,
    era: u32,
    made: u64,
}

#[derive(Debug, Clone)]
enum Act {
    /// A run of this blueprint, its clock so many milliseconds off.
    Create {
        of: u8,
        off: i16,
        named: bool,
    },
    /// The nth run ends; whether the index is told.
    End {
        nth: usize,
        fails: bool,
        told: bool,
    },
    Prune {
        nth: usize,
    },
    Rebuild,
    Refresh,
    /// The process dies at this call of the next act.
    Dies {
        at: usize,
        written: usize,
        next: Box<Self>,
    },
    /// The disk fails at this call of the next act.
    Fails {
        at: usize,
        written: usize,
        next: Box<Self>,
    },
    /// The power goes; which of the disks that may be left is left.
    PowerLoss {
        nth: usize,
    },
    Remove,
    Flip {
        nth: usize,
    },
}

fn plain() -> impl Strategy<Value = Act> {
    prop_oneof![
        5 => (0..2u8, any::<i16>(), prop::bool::weighted(0.2))
            .prop_map(|(of, off, named)| Act::Create { of, off, named }),
        5 => (0..40usize, any::<bool>(), prop::bool::weighted(0.8))
            .prop_map(|(nth, fails, told)| Act::End { nth, fails, told }),
        1 => (0..40usize).prop_map(|nth| Act::Prune { nth }),
        2 => Just(Act::Rebuild),
        2 => Just(Act::Refresh),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    let struck = || (0..12usize, 0..200usize, plain());
    prop_oneof![
        10 => plain(),
        2 => struck().prop_map(|(at, written, next)| {
            Act::Dies { at, written, next: Box::new(next) }
        }),
        1 => struck().prop_map(|(at, written, next)| {
            Act::Fails { at, written, next: Box::new(next) }
        }),
        1 => (0..4000usize).prop_map(|nth| Act::PowerLoss { nth }),
        1 => Just(Act::Remove),
        1 => (0..4000usize).prop_map(|nth| Act::Flip { nth }),
    ]
}

impl House {
    fn new() -> Self {
        let (disk, home) = (SimDisk::new(), Home::at(PathBuf::from("/home")));
        disk.create_dir(home.path()).unwrap();
        disk.settle();
        Self { disk, home, era: 0, made: 0 }
    }

    fn shared(&self) -> SharedDisk {
        Arc::new(self.disk.clone())
    }

    fn entropy(&self) -> SeededEntropy {
        SeededEntropy::new(self.made)
    }

    fn era(&self) -> String {
        format!("era-{}", self.era)
    }

    fn index(&self) -> Option<Index> {
        Index::open(&self.disk, &self.home, &self.era())
    }

    fn open(&self) -> Option<OpenRuns> {
        OpenRuns::look(&self.disk, &self.home, &self.era())
    }

    fn runs(&self) -> Vec<Summary> {
        let places = list::all(&self.disk, &self.home).unwrap();
        places.iter().map(|place| list::summary(&self.disk, place).unwrap()).collect()
    }

    fn act(&mut self, act: &Act) {
        self.made += 1;
        match act {
            Act::Create { of, off, named } => drop(self.create(*of, *off, *named)),
            Act::End { nth, fails, told } => drop(self.end(*nth, *fails, *told)),
            Act::Prune { nth } => {
                let runs = list::all(&self.disk, &self.home).unwrap_or_default();
                let place = runs.get(nth % runs.len().max(1));
                place.map(|place| prune::remove(&self.disk, place, &self.entropy()));
            }
            Act::Rebuild => {
                let believe =
                    [Believe::Ends, Believe::Nothing][usize::try_from(self.made % 2).unwrap()];
                drop(rebuild(&self.disk, &self.home, &self.era(), &self.entropy(), believe));
            }
            Act::Refresh => {
                drop(refresh(&self.disk, &self.home, &self.era(), &self.entropy()));
            }
            Act::Dies { at, written, next } => {
                self.disk.crash_at(self.disk.calls() + at, Crash::Prefix(*written));
                self.act(next);
                self.disk = self.disk.after_process_crash();
            }
            Act::Fails { at, written, next } => {
                let fault = match written % 2 {
                    0 => Fault::error(std::io::ErrorKind::StorageFull),
                    _ => Fault::short_write(*written),
                };
                self.disk.fail_at(self.disk.calls() + at, fault);
                self.act(next);
                self.disk.fail_at(usize::MAX, fault);
                self.disk = self.disk.after_process_crash();
            }
            Act::PowerLoss { nth } => {
                let left = self.disk.power_losses();
                self.disk = left.get(nth % left.count()).unwrap();
                self.disk.settle();
                self.era += 1;
            }
            Act::Remove => drop(self.disk.remove_file(&self.home.index())),
            Act::Flip { nth } => self.flip(*nth),
        }
    }

    fn create(&self, of: u8, off: i16, named: bool) -> Option<RunPlace> {
        let made = i64::try_from(self.made).unwrap();
        let millis = BEGIN + made * 1000 + i64::from(off);
        let run = match named {
            true => format!("listener-{made}"),
            false => format!("{millis}-{:08x}", made * 0x0101_0101),
        };
        let blueprint = BlueprintId::new(&format!("of-{of}")).unwrap();
        let place = self.home.place(&blueprint, &RunId::new(&run).unwrap());
        let (invocation, disk) = (invocation(), self.shared());
        let new = NewRun { blueprint: Some(BLUEPRINT), invocation: &invocation, automations: &[] };
        let created = create(&*disk, &place, &new, &self.entropy()).ok()?;
        let mut writer = created.into_writer(disk).ok()?;
        writer.append(&[event(0, started(&place))]).ok()?;
        Some(place)
    }

    /// Ends a run as its owner or the next one does.
    fn end(&self, nth: usize, fails: bool, told: bool) -> Option<()> {
        let places = list::all(&self.disk, &self.home).ok()?;
        let place = places.get(nth % places.len().max(1))?;
        let held = lock::take(&self.disk, place).ok()??;
        let adopted = adopt(&self.shared(), place, held).ok()?;
        let mut writer = adopted.writer;
        let mut state = adopted.opened.state;
        if state.closed.is_some() {
            return None;
        }
        let fact = match fails {
            _ if state.started.is_none() => Fact::RunFailed {
                reason: FailReason::Launch,
                error: "never began".to_owned(),
                node: None,
            },
            true => Fact::RunFailed {
                reason: FailReason::Error,
                error: "x\ny\u{1}".repeat(nth * 20),
                node: Some(NodeId::new("a").into()),
            },
            false => Fact::RunCompleted,
        };
        let last = event(state.next_seq.0, fact);
        writer.append(std::slice::from_ref(&last)).ok()?;
        engine::fold(&mut state, &last).unwrap();
        drop(writer.checkpoint(&state));
        if told {
            ended(&self.disk, &writer, &state);
        }
        Some(())
    }

    /// One bit of the index, but not of the line that may be on its way.
    fn flip(&self, nth: usize) {
        let Ok(mut bytes) = self.disk.read(&self.home.index(), u64::MAX) else { return };
        let end = bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
        if end > 0 {
            bytes[nth % end] ^= 1 << (nth % 8);
            self.disk.put(&self.home.index(), &bytes);
        }
    }

    /// A listing of the index says what a scan says, where there is one.
    fn judge(&self) {
        let runs = self.runs();
        let Some(index) = self.index() else { return };
        let listed = |after: Option<&Key>| -> Option<Vec<(Key, Summary)>> {
            let newest = index.newest(&self.disk, after, &|_| true).unwrap();
            let entries = newest.collect::<Result<Vec<_>, Unsound>>().ok()?;
            let there = entries.into_iter().filter_map(|(key, entry)| {
                Some((key, entry.summary(&self.disk, &self.home).unwrap()?))
            });
            Some(there.collect())
        };
        let Some(all) = listed(None) else { return };
        let summaries: Vec<Summary> = all.iter().map(|(_, summary)| summary.clone()).collect();
        assert_eq!(summaries, runs);
        let fails =
            |glance: &Glance<'_>| glance.status.is_some_and(|status| status.word() == "failed");
        let failed = index.newest(&self.disk, None, &fails).unwrap();
        let failed: BTreeSet<RunPlace> = failed.map(|run| run.unwrap().0.place).collect();
        let open = self.open().unwrap();
        let open: BTreeSet<&RunPlace> = open.places().iter().collect();
        let known = |(key, summary): &&(Key, Summary)| {
            summary.status.word() == "failed" && !open.contains(&key.place)
        };
        assert!(all.iter().filter(known).all(|(key, _)| failed.contains(&key.place)));
        for at in [0, runs.len() / 2] {
            let Some((key, _)) = all.get(at) else { continue };
            assert_eq!(listed(Some(key)).unwrap(), all[at + 1..]);
        }
        let is_open = |run: &&Summary| !matches!(run.status.word(), "completed" | "failed");
        let missed = runs.iter().filter(is_open).find(|run| !open.contains(&run.place));
        assert_eq!(missed, None);
        for run in &runs {
            self.judge_find(run.place.run.as_str());
        }
    }

    fn judge_find(&self, id: &str) {
        let tail = id.rsplit('-').next().unwrap();
        let prefixes = [id, tail, &tail[..1], &id[..id.len().min(15)]];
        for query in prefixes {
            let found = find(&self.disk, &self.home, Some(&self.era()), query).unwrap();
            assert_eq!(found, list::find(&self.disk, &self.home, query).unwrap(), "{query}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_listing_of_the_index_says_what_a_scan_says(acts in prop::collection::vec(act(), 1..30)) {
        let mut house = House::new();
        for act in &acts {
            house.act(act);
            house.judge();
        }
        house.act(&Act::Refresh);
        prop_assert!(house.index().is_some() || house.runs().is_empty());
        house.judge();
    }
}

#[test]
fn a_removal_whose_sync_failed_leaves_no_part_of_a_run_to_come_back() {
    for nth in 0..400 {
        let mut house = House::new();
        house.act(&Act::Create { of: 0, off: 0, named: false });
        house.act(&Act::End { nth: 0, fails: false, told: false });
        let next = Box::new(Act::Prune { nth: 0 });
        house.act(&Act::Fails { at: 2, written: 0, next });
        house.act(&Act::Rebuild);
        house.act(&Act::PowerLoss { nth });
        house.judge();
    }
}

#[test]
fn what_is_rebuilt_holds_every_run_and_no_leftover() {
    let mut house = House::new();
    for (nth, fails) in [(0, false), (0, true), (0, false)] {
        house.act(&Act::Create { of: 0, off: 0, named: false });
        house.act(&Act::End { nth, fails, told: true });
    }
    house.act(&Act::Create { of: 1, off: 0, named: false });
    let place = list::all(&house.disk, &house.home).unwrap().remove(1);
    let folder = house.home.runs_of(&place.blueprint);
    house.disk.put(&folder.join(".r-1.00c0ffee.gone/artifacts/x"), b"x");
    house.disk.put(&folder.join(".r-1.00c0ffee.new/driver.lock"), b"");
    house.disk.put(&folder.join(".theirs.new/driver.lock"), b"");
    house.disk.put(&place.folder().join(".state.json.00.tmp"), b"half");
    house.act(&Act::Rebuild);
    let names = house.disk.list(&folder).unwrap();
    let dotted: Vec<&String> = names.iter().filter(|name| name.starts_with('.')).collect();
    assert_eq!(dotted, [".named", ".theirs.new"]);
    assert!(!house.disk.list(&place.folder()).unwrap().concat().contains(".tmp"));
    assert_eq!(house.open().unwrap().places().len(), 1);
    house.judge();
    let text = house.disk.read(&house.home.index(), 9999).unwrap();
    insta::assert_snapshot!(String::from_utf8(text).unwrap());
}

#[test]
fn an_index_of_another_era_or_format_is_none() {
    let mut house = House::new();
    house.act(&Act::Create { of: 0, off: 0, named: false });
    house.act(&Act::Rebuild);
    assert!(house.index().is_some());
    house.era += 1;
    assert!(house.index().is_none());
    house.act(&Act::Refresh);
    let text = String::from_utf8(house.disk.read(&house.home.index(), 9999).unwrap()).unwrap();
    for newer in
        [text.replace("\"major\":1", "\"major\":2"), text.replace("\"minor\":0", "\"minor\":1")]
    {
        house.disk.put(&house.home.index(), newer.as_bytes());
        assert!(house.index().is_none());
        // A run that it cannot be told of would be missing from it.
        house.act(&Act::Create { of: 0, off: 0, named: false });
        assert_eq!(house.disk.stat(&house.home.index()).unwrap(), None);
    }
}

#[test]
fn an_end_that_was_put_back_from_a_backup_is_not_believed() {
    let mut house = House::new();
    house.act(&Act::Create { of: 0, off: 0, named: false });
    let place = list::all(&house.disk, &house.home).unwrap().remove(0);
    let log = house.disk.read(&place.events(), u64::MAX).unwrap();
    house.act(&Act::End { nth: 0, fails: false, told: false });
    house.act(&Act::Rebuild);
    assert_eq!(house.open().unwrap().places(), []);
    house.disk.put(&place.events(), &log);
    house.disk.remove_file(&place.state()).unwrap();
    house.judge_find(place.run.as_str());
    let index = house.index().unwrap();
    let (_, entry) = index.newest(&house.disk, None, &|_| true).unwrap().next().unwrap().unwrap();
    assert_eq!(entry.summary(&house.disk, &house.home).unwrap().unwrap().status.word(), "running");
}

#[test]
fn a_run_that_an_index_made_meanwhile_does_not_know_is_told_again() {
    let mut house = House::new();
    house.act(&Act::Create { of: 0, off: 0, named: false });
    let one = list::all(&house.disk, &house.home).unwrap().remove(0);
    let place = house.home.place(&one.blueprint, &RunId::new("r-2").unwrap());
    let told = born(&house.disk, &place);
    house.act(&Act::Rebuild);
    let knows = |house: &House| house.open().unwrap().places().contains(&place);
    assert!(!knows(&house));
    confirm(&house.disk, &place, &told);
    assert!(knows(&house));
    let before = house.disk.calls();
    let told = born(&house.disk, &place);
    confirm(&house.disk, &place, &told);
    assert_eq!(house.disk.calls(), before + 1, "once is enough");
}

#[test]
fn telling_the_index_syncs_nothing() {
    let mut house = House::new();
    house.act(&Act::Create { of: 0, off: 0, named: false });
    house.act(&Act::Rebuild);
    let before = house.disk.calls();
    house.act(&Act::Create { of: 0, off: 1, named: false });
    house.act(&Act::End { nth: 0, fails: false, told: true });
    let history = house.disk.history();
    let calls = history[before..].iter().filter(|call| call.path == house.home.index());
    assert_eq!(calls.map(|call| call.name).collect::<Vec<_>>(), ["write to", "write to"]);
}

#[test]
fn an_index_grows_until_it_is_made_anew() {
    let mut house = House::new();
    house.act(&Act::Create { of: 0, off: 0, named: false });
    house.act(&Act::Rebuild);
    assert!(!house.open().unwrap().is_long());
    let mut writer = house.disk.append(&house.home.index()).unwrap();
    let run = house.runs().remove(0);
    house.act(&Act::End { nth: 0, fails: false, told: false });
    let entry = Entry::of(&house.runs().remove(0));
    let lines = crate::limits::INDEX_LATER_BYTES / (entry.encode().len() - 1);
    for _ in 0..=lines {
        writer.write(&entry.encode()).unwrap();
    }
    assert!(house.open().unwrap().is_long());
    house.act(&Act::Refresh);
    assert!(!house.open().unwrap().is_long());
    assert!(house.disk.stat(&house.home.index()).unwrap().unwrap().bytes < 1000);
    assert_eq!(run.place, house.runs()[0].place);
    house.judge();
}

#[test]
fn a_birth_that_is_told_while_the_index_is_replaced_is_told_to_the_old_one() {
    let mut house = House::new();
    house.act(&Act::Create { of: 0, off: 0, named: false });
    house.act(&Act::Rebuild);
    let (index, aside) = (house.home.index(), house.home.index_aside());
    house.disk.rename(&index, &aside).unwrap();
    let run = RunId::new("1764500000001-0000002a").unwrap();
    let place = house.home.place(&BlueprintId::new("of-0").unwrap(), &run);
    let told = born(&house.disk, &place);
    assert!(house.disk.stat(&index).unwrap().is_none());
    let old = String::from_utf8(house.disk.read(&aside, 1 << 20).unwrap()).unwrap();
    assert!(old.contains(run.as_str()), "{old}");
    // Its creator tells it again once there is another.
    house.act(&Act::Rebuild);
    confirm(&house.disk, &place, &told);
    let new = String::from_utf8(house.disk.read(&index, 1 << 20).unwrap()).unwrap();
    assert!(new.contains(run.as_str()), "{new}");
}

/// On the real disk, with the index replaced all the time: no run is missing
/// and none that has ended is open for longer than one look.
#[test]
fn no_birth_is_lost_while_the_index_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().canonicalize().unwrap());
    let disk: SharedDisk = Arc::new(RealDisk);
    let born = |thread: u64| {
        let blueprint = BlueprintId::new(&format!("of-{}", thread % 2)).unwrap();
        for nth in 0..15 {
            let run = RunId::new(&format!("{}-{thread:08x}", BEGIN + nth)).unwrap();
            let place = home.place(&blueprint, &run);
            let invocation = invocation();
            let new =
                NewRun { blueprint: Some(BLUEPRINT), invocation: &invocation, automations: &[] };
            let created = create(&*disk, &place, &new, &SeededEntropy::new(thread)).unwrap();
            let mut writer = created.into_writer(disk.clone()).unwrap();
            let events = [event(0, started(&place)), event(1, Fact::RunCompleted)];
            writer.append(&events).unwrap();
            let state: RunState = folded(&events);
            ended(&*disk, &writer, &state);
        }
    };
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4).map(|thread| scope.spawn(move || born(thread))).collect();
        let mut seed = 0;
        while !writers.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            seed += 1;
            rebuild(&*disk, &home, "era", &SeededEntropy::new(seed), Believe::Ends).unwrap();
        }
    });
    let all = list::all(&*disk, &home).unwrap();
    assert_eq!(all.len(), 60);
    // One that is there stays as it is. Who cannot write to one that is replaced
    // again and again removes it.
    assert!(refresh(&*disk, &home, "era", &SeededEntropy::new(0)).unwrap().is_some());
    let index = Index::open(&*disk, &home, "era").unwrap();
    let listed = index.newest(&*disk, None, &|_| true).unwrap();
    let listed: Vec<RunPlace> = listed.map(|run| run.unwrap().0.place).collect();
    assert_eq!(listed, all);
    let found = find(&*disk, &home, Some("era"), "0000000").unwrap();
    assert!(matches!(found, Found::Many { count: 60, .. }), "{found:?}");
}
