//! What stands in a run's folder, on a simulated and on the real disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use durable::disk::{Disk, RealDisk, SharedDisk};
use durable::sim::{Crash, Fault, SeededEntropy, SimDisk};
use durable::version::Format;
use durable::{Digest, Generation, Seq, limits as common};
use engine::{Event, Fact, FailReason, RunId, RunStatus};
use serde_json::json;

use super::samples::{
    BLUEPRINT, batches, completed, created, event, folded, more_batches, note, numbered, place,
    place_in, started, written,
};
use crate::artifacts::{self, ArtifactError};
use crate::verify::FileCheck;
use crate::{
    AdoptError, AppendError, CheckpointFailed, CheckpointUse, CreateError, NewRun, OpenError,
    RunPlace, adopt, create, lock, open, read, retries, verify,
};

/// Runs a test on both disks.
fn on_both(test: impl Fn(SharedDisk, RunPlace)) {
    test(Arc::new(SimDisk::new()), place());
    let folder = tempfile::tempdir().unwrap();
    test(Arc::new(RealDisk), place_in(folder.path().canonicalize().unwrap()));
}

fn adopted(disk: &SharedDisk, place: &RunPlace) -> Result<crate::Adopted, AdoptError> {
    let lock = lock::take(&**disk, place).unwrap().expect("the run has no owner");
    adopt(disk, place, lock)
}

/// Cuts the log to its first `keep` bytes.
fn cut_log(disk: &SharedDisk, place: &RunPlace, keep: u64) {
    disk.append(&place.events()).unwrap().cut(keep).unwrap();
}

#[test]
fn a_run_opens_as_it_was_written_with_a_checkpoint_and_without() {
    on_both(|disk, place| {
        let batches = batches(&place);
        let state = folded(batches.iter().flatten());
        let mut writer = written(&disk, &place, &batches[..2]);
        assert_eq!(open(&*disk, &place).unwrap().checkpoint, CheckpointUse::Absent);
        writer.checkpoint(&folded(batches[..2].iter().flatten())).unwrap();
        writer.append(&batches[2]).unwrap();
        let opened = open(&*disk, &place).unwrap();
        assert_eq!(opened.checkpoint, CheckpointUse::Used { behind: 2 });
        assert_eq!(opened.state, state);
        assert_eq!(opened.position, writer.position());
        assert_eq!(opened.blueprint.as_deref(), Some(BLUEPRINT));
        disk.remove_file(&place.state()).unwrap();
        assert_eq!(open(&*disk, &place).unwrap().state, state);
    });
}

#[test]
fn r_01_a_line_cut_in_its_middle_is_moved_aside_before_the_run_goes_on() {
    on_both(|disk, place| {
        let batches = batches(&place);
        let end = written(&disk, &place, &batches).position().offset;
        let log = disk.read(&place.events(), 1 << 20).unwrap();
        cut_log(&disk, &place, end - 40);
        let torn = open(&*disk, &place).unwrap();
        let keep = torn.torn.unwrap().keep;
        assert_eq!(torn.position.next_seq, Seq(6));

        let mut adopted = adopted(&disk, &place).unwrap();
        let cut = adopted.cut.take().unwrap();
        assert_eq!((cut.seq, cut.bytes), (Seq(6), end - 40 - keep));
        let kept = disk.read(&cut.kept_in, 1 << 20).unwrap();
        let range = usize::try_from(keep).unwrap()..usize::try_from(end - 40).unwrap();
        assert_eq!(kept, log[range]);
        let generation = Generation(2);
        let events =
            [event(6, Fact::RunAdopted { generation, cut: cut.bytes }), event(7, note("n", "on"))];
        adopted.writer.append(&events).unwrap();

        let opened = open(&*disk, &place).unwrap();
        assert_eq!((opened.position.next_seq, opened.torn), (Seq(8), None));
        assert!(verify(&*disk, &place).unwrap().is_sound());
        let state = folded(batches.iter().flatten().take(6).chain(&events));
        assert_eq!(opened.state, state);
    });
}

#[test]
fn a_second_torn_end_at_the_same_event_is_kept_beside_the_first() {
    on_both(|disk, place| {
        let end = written(&disk, &place, &batches(&place)).position().offset;
        cut_log(&disk, &place, end - 40);
        let first = adopted(&disk, &place).unwrap().cut.unwrap();
        disk.append(&place.events()).unwrap().write(b"{\"seq\":6,\"other").unwrap();
        let second = adopted(&disk, &place).unwrap().cut.unwrap();
        assert_eq!((first.seq, second.seq), (Seq(6), Seq(6)));
        assert_ne!(first.kept_in, second.kept_in);
        assert_eq!(disk.read(&second.kept_in, 100).unwrap(), b"{\"seq\":6,\"other");
    });
}

#[test]
fn r_02_a_checkpoint_that_the_disk_cuts_short_leaves_the_old_one_and_says_so() {
    let (sim, place) = (SimDisk::new(), place());
    let disk: SharedDisk = Arc::new(sim.clone());
    let batches = batches(&place);
    let mut writer = written(&disk, &place, &batches[..1]);
    writer.checkpoint(&folded(&batches[0])).unwrap();
    let old = disk.read(&place.state(), 1 << 20).unwrap();
    writer.append(&batches[1]).unwrap();
    sim.fail_at(sim.calls(), Fault::short_write(100));
    let state = folded(batches[..2].iter().flatten());
    let failed = writer.checkpoint(&state).unwrap_err();
    assert!(matches!(failed, CheckpointFailed::Disk(_)), "{failed}");
    assert_eq!(disk.read(&place.state(), 1 << 20).unwrap(), old);
    assert!(disk.list(&place.folder()).unwrap().iter().all(|name| !name.ends_with(".tmp")));
    assert!(matches!(writer.append(&batches[2]), Err(AppendError::Broken)));
    drop(writer);
    assert_eq!(open(&*disk, &place).unwrap().state, state);
}

#[test]
fn r_04_a_batch_is_one_write_and_one_sync() {
    let (sim, place) = (SimDisk::new(), place());
    let disk: SharedDisk = Arc::new(sim.clone());
    let mut writer = written(&disk, &place, &[]);
    for batch in batches(&place) {
        let before = sim.calls();
        writer.append(&batch).unwrap();
        let names: Vec<_> = sim.history()[before..].iter().map(|call| call.name).collect();
        assert_eq!(names, ["write to", "sync"]);
    }
    let before = sim.calls();
    writer.append(&[]).unwrap();
    assert_eq!(sim.calls(), before);
}

#[test]
fn a_run_of_a_hundred_inner_nodes_takes_at_most_fourteen_syncs() {
    let (sim, place) = (SimDisk::new(), place());
    let disk: SharedDisk = Arc::new(sim.clone());
    disk.create_dir(place.home.path()).unwrap();
    let inner = (0..100).map(|n| completed(&format!("n{n}"), None, json!({ "n": n })));
    let facts = [started(&place)].into_iter().chain(inner).chain([Fact::RunCompleted]);
    let batch = numbered(vec![facts.collect()], 0);
    let mut writer = written(&disk, &place, &batch);
    writer.checkpoint(&folded(&batch[0])).unwrap();
    let calls = sim.history();
    let syncs = calls.iter().filter(|call| call.name.starts_with("sync")).count();
    assert!(syncs <= 14, "{syncs} syncs: {calls:#?}");
}

#[test]
fn an_event_that_cannot_be_written_leaves_the_writer_whole() {
    on_both(|disk, place| {
        let batches = batches(&place);
        let mut writer = written(&disk, &place, &batches[..1]);
        let wrong = writer.append(&batches[2]).unwrap_err();
        assert!(matches!(wrong, AppendError::OutOfOrder { .. }), "{wrong}");
        let large = event(3, note("n", &"x".repeat(common::LINE_BYTES)));
        let large = writer.append(&[large]).unwrap_err();
        assert!(matches!(large, AppendError::TooLarge { .. }), "{large}");
        let many: Vec<Event> = vec![event(3, note("n", "x")); common::WRITE_EVENTS + 1];
        assert!(matches!(writer.append(&many), Err(AppendError::TooMany { .. })));
        let state = folded(batches.iter().flatten());
        let early = writer.checkpoint(&state).unwrap_err();
        assert!(matches!(early, CheckpointFailed::OtherSeq { .. }), "{early}");
        writer.append(&batches[1]).unwrap();
        writer.append(&batches[2]).unwrap();
        assert_eq!(open(&*disk, &place).unwrap().state, state);
    });
}

#[test]
fn e13_the_same_id_twice_is_one_run() {
    on_both(|disk, place| {
        let first = created(&disk, &place, 1);
        let new = NewRun { blueprint: Some(b"other"), invocation: b"{}", automations: &[] };
        let again = create(&*disk, &place, &new, &SeededEntropy::new(2)).unwrap_err();
        assert!(matches!(again, CreateError::Exists { .. }), "{again}");
        assert_eq!(disk.read(&place.blueprint_json(), 100).unwrap(), BLUEPRINT);
        assert!(lock::is_owned(&*disk, &place).unwrap(), "it is owned from its birth");
        drop(first);
        assert!(!lock::is_owned(&*disk, &place).unwrap());
    });
}

#[test]
fn of_many_who_create_one_run_at_once_one_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let place = place_in(folder.path().canonicalize().unwrap());
    for round in 0..20 {
        let run = RunId::new(&format!("listener-{round}")).unwrap();
        let place = place.home.place(&place.blueprint, &run);
        let won: usize = std::thread::scope(|scope| {
            let create = |seed| {
                let new =
                    NewRun { blueprint: Some(BLUEPRINT), invocation: b"{}", automations: &[] };
                match create(&RealDisk, &place, &new, &SeededEntropy::new(seed)) {
                    Ok(_) => 1,
                    Err(CreateError::Exists { .. }) => 0,
                    Err(other) => panic!("{other}"),
                }
            };
            let threads: Vec<_> = (0..4).map(|seed| scope.spawn(move || create(seed))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(won, 1);
        let left = RealDisk.list(&place.home.runs_of(&place.blueprint)).unwrap();
        let mut dotted = left.iter().filter(|name| name.starts_with('.'));
        assert!(dotted.all(|name| name == ".named"), "{left:?}");
    }
}

#[test]
fn the_name_of_an_automations_folder_is_brought_to_the_disk_once() {
    let disk = SimDisk::new();
    let syncs = |run: &str| {
        let (place, before) = (place(), disk.calls());
        let place = place.home.place(&place.blueprint, &RunId::new(run).unwrap());
        let new = NewRun { blueprint: Some(BLUEPRINT), invocation: b"{}", automations: &[] };
        create(&disk, &place, &new, &SeededEntropy::new(1)).unwrap();
        let history = disk.history();
        let of_parent = |call: &&durable::sim::Call| {
            call.name == "sync the folder" && call.path == place.home.runs()
        };
        history[before..].iter().filter(of_parent).count()
    };
    assert_eq!([syncs("r-1"), syncs("r-2")], [1, 0]);
    disk.remove_file(&place().home.named(&place().blueprint)).unwrap();
    assert_eq!(syncs("r-3"), 1);
}

#[test]
fn a_run_lasts_wherever_the_making_of_the_first_one_was_cut_short() {
    let make = |disk: &SimDisk, run: &str| {
        let place = place();
        let place = place.home.place(&place.blueprint, &RunId::new(run).unwrap());
        let new = NewRun { blueprint: Some(BLUEPRINT), invocation: b"{}", automations: &[] };
        create(disk, &place, &new, &SeededEntropy::new(1)).map(|_| place)
    };
    let whole = SimDisk::new();
    make(&whole, "r-1").unwrap();
    for call in 0..whole.calls() {
        for crash in [Crash::Before, Crash::After] {
            let disk = SimDisk::new();
            disk.crash_at(call, crash);
            drop(make(&disk, "r-1"));
            let disk = disk.after_process_crash();
            let place = make(&disk, "r-2").unwrap();
            for left in disk.power_losses().iter() {
                assert!(open(&left, &place).is_ok(), "lost after a crash at call {call}");
            }
        }
    }
}

#[test]
fn c_01_a_run_has_one_owner_at_a_time_whoever_asks_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let place = place_in(folder.path().canonicalize().unwrap());
    let disk: SharedDisk = Arc::new(RealDisk);
    drop(written(&disk, &place, &batches(&place)));
    let (holders, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                for _ in 0..300 {
                    let Some(lock) = lock::take(&*disk, &place).unwrap() else { continue };
                    assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0);
                    taken.fetch_add(1, Ordering::SeqCst);
                    assert!(lock::is_owned(&*disk, &place).unwrap());
                    holders.fetch_sub(1, Ordering::SeqCst);
                    drop(lock);
                }
            });
        }
    });
    assert!(taken.load(Ordering::SeqCst) > 0);
    assert!(!lock::is_owned(&*disk, &place).unwrap());
}

#[test]
fn what_a_creation_left_behind_is_swept_unless_someone_works_there() {
    on_both(|disk, place| {
        drop(created(&disk, &place, 1));
        let other = place.home.place(&place.blueprint, &RunId::new("r-2").unwrap());
        let aside = other.aside("00c0ffee");
        disk.create_dir(&aside).unwrap();
        disk.create(&aside.join("blueprint.json"), b"half").unwrap();
        let held = disk.try_lock(&aside.join("driver.lock")).unwrap().unwrap();
        let sweep = || crate::create::sweep(&*disk, &place.home, &place.blueprint).unwrap();
        assert_eq!(sweep(), 0);
        drop(held);
        assert_eq!(sweep(), 1);
        assert_eq!(disk.stat(&aside).unwrap(), None);
        assert!(open(&*disk, &place).is_ok());
    });
}

#[test]
fn a_snapshot_that_changed_or_went_is_named() {
    on_both(|disk, place| {
        drop(written(&disk, &place, &batches(&place)));
        let path = place.blueprint_json();
        disk.remove_file(&path).unwrap();
        let lost = open(&*disk, &place).unwrap_err();
        assert!(matches!(&lost, OpenError::Lost { path: found } if *found == path), "{lost}");
        disk.create(&path, b"{\"id\":\"other\"}\n").unwrap();
        let changed = open(&*disk, &place).unwrap_err();
        assert!(matches!(&changed, OpenError::Changed { path: p, .. } if *p == path), "{changed}");
        let report = verify(&*disk, &place).unwrap();
        assert!(!report.is_sound());
        assert!(matches!(&report.files[0], (name, FileCheck::Bad(_)) if name == "blueprint.json"));
        assert!(matches!(adopted(&disk, &place), Err(AdoptError::Open(_))));
    });
}

#[test]
fn a_log_in_another_runs_folder_is_refused() {
    let (disk, place) = (SimDisk::new(), place());
    let shared: SharedDisk = Arc::new(disk.clone());
    drop(written(&shared, &place, &batches(&place)));
    let other = place.home.place(&place.blueprint, &RunId::new("r-2").unwrap());
    disk.put(&other.events(), &disk.read(&place.events(), 1 << 20).unwrap());
    assert!(matches!(open(&disk, &other), Err(OpenError::OtherRun { .. })));
}

#[test]
fn a_launch_that_failed_is_a_run_of_one_event() {
    on_both(|disk, place| {
        let new = NewRun { blueprint: None, invocation: b"{}", automations: &[] };
        let created = create(&*disk, &place, &new, &SeededEntropy::new(1)).unwrap();
        let mut writer = created.into_writer(disk.clone()).unwrap();
        assert_eq!(open(&*disk, &place).unwrap().position.next_seq, Seq(0));
        let error = "no such blueprint".to_owned();
        let failed = event(0, Fact::RunFailed { reason: FailReason::Launch, error, node: None });
        writer.append(std::slice::from_ref(&failed)).unwrap();
        writer.checkpoint(&folded([&failed])).unwrap();
        let opened = open(&*disk, &place).unwrap();
        assert_eq!(opened.state.status(), RunStatus::Failed);
        assert_eq!(
            (opened.blueprint, opened.checkpoint),
            (None, CheckpointUse::Used { behind: 0 })
        );
        assert!(verify(&*disk, &place).unwrap().is_sound());
    });
}

/// A run whose log names the format `format`.
fn of_format(disk: &SharedDisk, place: &RunPlace, format: Format) {
    let Fact::RunStarted(mut start) = started(place) else { unreachable!() };
    start.format = format;
    drop(written(disk, place, &[vec![event(0, Fact::RunStarted(start))]]));
}

#[test]
fn a_log_of_a_newer_minor_format_is_read_and_never_continued() {
    on_both(|disk, place| {
        of_format(&disk, &place, Format { major: 1, minor: 7 });
        assert!(open(&*disk, &place).is_ok());
        let before = disk.read(&place.events(), 1 << 20).unwrap();
        let refused = adopted(&disk, &place).unwrap_err();
        assert!(matches!(refused, AdoptError::ReadOnly { .. }), "{refused}");
        assert_eq!(disk.read(&place.events(), 1 << 20).unwrap(), before);
    });
}

#[test]
fn a_log_of_a_newer_major_format_is_refused_whatever_its_frame() {
    on_both(|disk, place| {
        of_format(&disk, &place, Format { major: 2, minor: 0 });
        let told = |error: OpenError| {
            let cause = std::error::Error::source(&error).unwrap().to_string();
            assert!(cause.contains("use a release that reads log format 2"), "{cause}");
        };
        told(open(&*disk, &place).unwrap_err());
        let mut log = disk.append(&place.events()).unwrap();
        log.cut(0).unwrap();
        log.write(b"{\"n\":0,\"format\":{\"major\":2,\"minor\":0},\"b3\":\"ff\"}\n").unwrap();
        told(open(&*disk, &place).unwrap_err());
        assert!(matches!(adopted(&disk, &place), Err(AdoptError::Open(OpenError::Line { .. }))));
    });
}

#[test]
fn an_artifact_is_kept_once_and_checked() {
    on_both(|disk, place| {
        drop(created(&disk, &place, 1));
        let entropy = SeededEntropy::new(3);
        let digest = artifacts::put(&*disk, &place, b"large", &entropy).unwrap();
        assert_eq!(artifacts::put(&*disk, &place, b"large", &entropy).unwrap(), digest);
        assert_eq!(artifacts::get(&*disk, &place, digest).unwrap(), b"large");
        assert_eq!(artifacts::list(&*disk, &place).unwrap(), [digest]);
        let absent = artifacts::get(&*disk, &place, Digest::of(b"other"));
        assert!(matches!(absent, Err(ArtifactError::Absent(_))));

        disk.append(&place.artifact(digest)).unwrap().write(b"!").unwrap();
        let changed = artifacts::get(&*disk, &place, digest);
        assert!(matches!(changed, Err(ArtifactError::Changed { .. })));
        let report = verify(&*disk, &place).unwrap();
        assert!(report.files.iter().any(|(_, check)| matches!(check, FileCheck::Bad(_))));
        artifacts::put(&*disk, &place, b"large", &entropy).unwrap();
        assert_eq!(artifacts::get(&*disk, &place, digest).unwrap(), b"large");
    });
}

#[test]
fn the_runs_that_try_again_are_noted() {
    on_both(|disk, place| {
        drop(created(&disk, &place, 1));
        assert!(retries::list(&*disk, &place).unwrap().is_empty());
        let newer = ["r-2", "r-3"].map(|id| RunId::new(id).unwrap());
        for run in newer.iter().chain(&newer[..1]) {
            retries::note(&*disk, &place, run).unwrap();
        }
        assert_eq!(retries::list(&*disk, &place).unwrap(), newer);
    });
}

#[test]
fn the_next_owner_goes_on_where_the_last_one_stopped() {
    on_both(|disk, place| {
        drop(written(&disk, &place, &batches(&place)));
        let mut adopted = adopted(&disk, &place).unwrap();
        assert!(lock::take(&*disk, &place).unwrap().is_none());
        for batch in more_batches(7) {
            adopted.writer.append(&batch).unwrap();
        }
        let last = read::last_seq(&*disk, &place).unwrap();
        assert_eq!(last, Some(Seq(8)));
    });
}
