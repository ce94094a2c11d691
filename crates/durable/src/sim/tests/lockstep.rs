//! The simulated disk and the real one, walked through the same calls, give
//! the same answers.

use proptest::prelude::*;

use super::*;
use crate::disk::RealDisk;

#[derive(Debug, Clone)]
enum Step {
    Stat(usize),
    Read(usize, u64),
    List(usize),
    CreateDir(usize),
    Create(usize, Vec<u8>),
    Sync(usize),
    SyncDir(usize),
    Rename(usize, usize),
    RemoveFile(usize),
    RemoveDir(usize),
    Append(usize, Vec<u8>),
    Cut(usize, u64),
    CreateAll(usize),
    Replace(usize, Vec<u8>),
    Lock(usize),
}

const PATHS: [&str; 9] = ["a", "b", "c", "a/a", "a/b", "b/a", "a/a/a", "b/a/c", "c/c"];

fn step() -> impl Strategy<Value = Step> {
    let at = || 0..PATHS.len();
    let bytes = || prop::collection::vec(any::<u8>(), 0..5);
    prop_oneof![
        at().prop_map(Step::Stat),
        (at(), 0u64..8).prop_map(|(at, limit)| Step::Read(at, limit)),
        at().prop_map(Step::List),
        at().prop_map(Step::CreateDir),
        (at(), bytes()).prop_map(|(at, bytes)| Step::Create(at, bytes)),
        at().prop_map(Step::Sync),
        at().prop_map(Step::SyncDir),
        (at(), at()).prop_map(|(from, to)| Step::Rename(from, to)),
        at().prop_map(Step::RemoveFile),
        at().prop_map(Step::RemoveDir),
        (at(), bytes()).prop_map(|(at, bytes)| Step::Append(at, bytes)),
        (at(), 0u64..8).prop_map(|(at, bytes)| Step::Cut(at, bytes)),
        at().prop_map(Step::CreateAll),
        (at(), bytes()).prop_map(|(at, bytes)| Step::Replace(at, bytes)),
        at().prop_map(Step::Lock),
    ]
}

/// The answer to one step, in words that do not name the root.
fn take(disk: &dyn Disk, root: &Path, step: &Step) -> String {
    let path = |at: &usize| root.join(PATHS[*at]);
    fn told<T: std::fmt::Debug>(result: Result<T, DiskError>) -> String {
        match result {
            Ok(value) => format!("{value:?}"),
            Err(error) => format!("{} {:?}", error.call, error.source.kind()),
        }
    }
    match step {
        Step::Stat(at) => told(disk.stat(&path(at)).map(|stat| {
            stat.map(|stat| {
                (stat.kind, (stat.kind == crate::disk::Kind::File).then_some(stat.bytes))
            })
        })),
        Step::Read(at, limit) => told(disk.read(&path(at), *limit)),
        Step::List(at) => told(disk.list(&path(at))),
        Step::CreateDir(at) => told(disk.create_dir(&path(at))),
        Step::Create(at, bytes) => told(disk.create(&path(at), bytes)),
        Step::Sync(at) => told(disk.sync_file(&path(at))),
        Step::SyncDir(at) => told(disk.sync_dir(&path(at))),
        Step::Rename(from, to) => told(disk.rename(&path(from), &path(to))),
        Step::RemoveFile(at) => told(disk.remove_file(&path(at))),
        Step::RemoveDir(at) => told(disk.remove_dir(&path(at))),
        Step::Append(at, bytes) => told(disk.append(&path(at)).and_then(|mut open| {
            open.write(bytes)?;
            open.sync()?;
            Ok(open.bytes())
        })),
        Step::Cut(at, bytes) => told(disk.append(&path(at)).and_then(|mut open| open.cut(*bytes))),
        Step::CreateAll(at) => told(create_dir_all(disk, &path(at))),
        Step::Replace(at, bytes) => told(replace(disk, &path(at), bytes, "0a")),
        Step::Lock(at) => told(disk.try_lock(&path(at)).map(|lock| lock.is_some())),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_disks_answer_alike(steps in prop::collection::vec(step(), 1..40)) {
        let folder = tempfile::tempdir().unwrap();
        let sim = SimDisk::new();
        sim.create_dir(p("/root")).unwrap();
        for (at, step) in steps.iter().enumerate() {
            let real = take(&RealDisk, folder.path(), step);
            let simulated = take(&sim, p("/root"), step);
            prop_assert_eq!(real, simulated, "step {}: {:?}", at, step);
        }
    }
}
