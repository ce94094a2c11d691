//! The simulated disk loses what a real one may lose, and nothing else.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::*;
use crate::disk::{Disk, DiskError, create_dir_all, replace};

mod lockstep;
mod log;
mod power;

fn p(path: &str) -> &Path {
    Path::new(path)
}

fn bytes_at(disk: &SimDisk, path: &str) -> Option<Vec<u8>> {
    disk.read(p(path), u64::MAX).ok()
}

fn kind_of<T>(result: Result<T, DiskError>) -> Option<ErrorKind> {
    result.err().map(|error| error.source.kind())
}

#[test]
fn it_does_what_every_disk_does() {
    let disk = SimDisk::new();
    disk.create_dir(p("/root")).unwrap();
    conformance(&disk, p("/root"));
}

#[test]
fn clones_are_one_disk_and_a_crash_makes_another() {
    let disk = SimDisk::new();
    let same = disk.clone();
    disk.create(p("/a"), b"1").unwrap();
    assert_eq!(bytes_at(&same, "/a"), Some(b"1".to_vec()));
    let next = disk.after_process_crash();
    disk.create(p("/b"), b"2").unwrap();
    assert_eq!(bytes_at(&next, "/b"), None);
    assert_eq!((disk.calls(), next.calls()), (2, 0));
}

#[test]
fn calls_that_only_look_have_no_number() {
    let disk = SimDisk::new();
    disk.put(p("/home/log"), b"x");
    disk.stat(p("/home")).unwrap();
    disk.list(p("/home")).unwrap();
    disk.read(p("/none"), 1).unwrap_err();
    let mut log = disk.append(p("/home/log")).unwrap();
    assert_eq!(disk.calls(), 0);
    log.write(b"y").unwrap();
    log.sync().unwrap();
    let lock = disk.try_lock(p("/home/lock")).unwrap().unwrap();
    lock.note("1").unwrap();
    drop(lock);
    disk.try_lock(p("/home/lock")).unwrap().unwrap();
    let names: Vec<_> = disk.history().into_iter().map(|call| (call.name, call.path)).collect();
    let want = [
        ("write to", "/home/log"),
        ("sync", "/home/log"),
        ("lock", "/home/lock"),
        ("note in", "/home/lock"),
    ];
    assert_eq!(names, want.map(|(name, path)| (name, PathBuf::from(path))));
}

#[test]
fn a_crash_falls_on_its_call_and_nothing_works_after_it() {
    for (crash, left) in [
        (Crash::Before, ""),
        (Crash::Prefix(0), ""),
        (Crash::Prefix(2), "ab"),
        (Crash::Prefix(99), "abc"),
        (Crash::After, "abc"),
    ] {
        let disk = SimDisk::new();
        disk.put(p("/log"), b"");
        disk.crash_at(1, crash);
        let mut log = disk.append(p("/log")).unwrap();
        log.sync().unwrap();
        assert!(!disk.crashed());
        let error = log.write(b"abc").unwrap_err();
        assert!(is_crash(&error) && disk.crashed());
        assert!(is_crash(&disk.read(p("/log"), 9).unwrap_err()));
        assert!(is_crash(&disk.create(p("/other"), b"").unwrap_err()));
        assert!(is_crash(&disk.append(p("/log")).unwrap_err()));
        let next = disk.after_process_crash();
        assert_eq!(bytes_at(&next, "/log").unwrap(), left.as_bytes(), "{crash:?}");
        next.create(p("/other"), b"").unwrap();
    }
}

#[test]
fn another_error_is_no_crash() {
    let disk = SimDisk::new();
    assert!(!is_crash(&disk.read(p("/none"), 1).unwrap_err()));
    assert!(is_crash(&Crashed));
}

#[test]
fn a_crash_frees_the_locks_and_keeps_their_files() {
    let disk = SimDisk::new();
    let held = disk.try_lock(p("/lock")).unwrap();
    let next = disk.after_process_crash();
    assert!(disk.try_lock(p("/lock")).unwrap().is_none());
    let theirs = next.try_lock(p("/lock")).unwrap();
    drop(held);
    assert!(next.try_lock(p("/lock")).unwrap().is_none(), "the old guard frees the old lock");
    drop(theirs);
}

#[test]
fn a_fault_comes_once_or_for_ever() {
    let disk = SimDisk::new();
    disk.fail_at(1, Fault::error(ErrorKind::StorageFull));
    disk.create(p("/a"), b"1").unwrap();
    assert_eq!(kind_of(disk.create(p("/b"), b"2")), Some(ErrorKind::StorageFull));
    assert_eq!(bytes_at(&disk, "/b"), None);
    disk.create(p("/b"), b"2").unwrap();
    disk.fail_at(3, Fault::error(ErrorKind::StorageFull).forever());
    for path in ["/c", "/d", "/e"] {
        assert_eq!(kind_of(disk.create(p(path), b"3")), Some(ErrorKind::StorageFull));
    }
    assert_eq!(disk.list(p("/")).unwrap(), ["a", "b"]);
}

#[test]
fn a_look_can_fail_too() {
    let disk = SimDisk::new();
    disk.put(p("/a"), b"1");
    disk.fail_look_at(1, ErrorKind::PermissionDenied);
    assert!(disk.stat(p("/a")).unwrap().is_some());
    assert_eq!(kind_of(disk.stat(p("/a"))), Some(ErrorKind::PermissionDenied));
    assert!(disk.stat(p("/a")).unwrap().is_some());
    assert_eq!((disk.looks(), disk.calls()), (3, 0));
}

#[test]
fn a_short_write_leaves_its_bytes_and_ends_the_handle() {
    let disk = SimDisk::new();
    disk.put(p("/log"), b"one ");
    disk.fail_at(0, Fault::short_write(2));
    let mut log = disk.append(p("/log")).unwrap();
    assert_eq!(kind_of(log.write(b"two ")), Some(ErrorKind::WriteZero));
    assert_eq!(kind_of(log.write(b"two ")), Some(ErrorKind::Other));
    assert_eq!(bytes_at(&disk, "/log").unwrap(), b"one tw");
}

#[test]
fn a_failed_sync_drops_the_bytes_though_the_next_one_succeeds() {
    let disk = SimDisk::new();
    disk.put(p("/log"), b"one ");
    disk.fail_at(1, Fault::error(ErrorKind::Other));
    let mut log = disk.append(p("/log")).unwrap();
    log.write(b"two ").unwrap();
    log.sync().unwrap_err();
    assert_eq!(bytes_at(&disk, "/log").unwrap(), b"one two ", "memory still has them");
    let mut again = disk.append(p("/log")).unwrap();
    again.write(b"three ").unwrap();
    again.sync().unwrap();
    disk.sync_file(p("/log")).unwrap();
    assert_eq!(bytes_at(&disk, "/log").unwrap(), b"one two three ");
    let on_disk = b"one \0\0\0\0three ".to_vec();
    assert_eq!(bytes_at(&disk.after_process_crash(), "/log").as_ref(), Some(&on_disk));
    let losses = disk.power_losses();
    assert_eq!(losses.count(), 1);
    assert_eq!(bytes_at(&losses.get(0).unwrap(), "/log"), Some(on_disk));
}

#[test]
fn a_file_that_is_recalled_shows_what_the_disk_has() {
    let disk = SimDisk::new();
    disk.put(p("/log"), b"one ");
    disk.fail_at(1, Fault::error(ErrorKind::Other));
    let mut log = disk.append(p("/log")).unwrap();
    log.write(b"two ").unwrap();
    log.sync().unwrap_err();
    disk.sync_file(p("/log")).unwrap();
    assert_eq!(bytes_at(&disk, "/log"), Some(b"one two ".to_vec()));
    disk.recall(p("/log")).unwrap();
    assert_eq!(bytes_at(&disk, "/log"), Some(b"one \0\0\0\0".to_vec()));
}

#[test]
fn a_file_cut_behind_a_failed_sync_is_whole_again() {
    let disk = SimDisk::new();
    disk.put(p("/log"), b"one ");
    disk.fail_at(1, Fault::error(ErrorKind::Other));
    let mut log = disk.append(p("/log")).unwrap();
    log.write(b"two ").unwrap();
    log.sync().unwrap_err();
    let mut again = disk.append(p("/log")).unwrap();
    again.cut(4).unwrap();
    again.write(b"2 ").unwrap();
    again.sync().unwrap();
    let losses: Vec<_> = disk.power_losses().iter().map(|disk| bytes_at(&disk, "/log")).collect();
    assert_eq!(losses, [Some(b"one 2 ".to_vec())]);
}

#[test]
fn the_digest_is_of_names_and_bytes_and_kinds() {
    let digest = |make: &dyn Fn(&SimDisk)| {
        let disk = SimDisk::new();
        make(&disk);
        disk.digest()
    };
    let file = digest(&|disk| disk.put(p("/a"), b"x"));
    assert_eq!(file, digest(&|disk| disk.create(p("/a"), b"x").unwrap()));
    let others = [
        digest(&|_| ()),
        digest(&|disk| disk.put(p("/a"), b"y")),
        digest(&|disk| disk.put(p("/b"), b"x")),
        digest(&|disk| disk.put(p("/a/x"), b"")),
        digest(&|disk| disk.create_dir(p("/a")).unwrap()),
    ];
    assert!(others.iter().all(|other| *other != file));
}

#[test]
fn put_lays_a_file_down_and_changes_it_at_rest() {
    let disk = SimDisk::new();
    disk.put(p("/home/runs/log"), b"one");
    disk.put(p("/home/runs/log"), b"two");
    assert_eq!(disk.files(), [(PathBuf::from("/home/runs/log"), b"two".to_vec())]);
    assert_eq!((disk.calls(), disk.power_losses().count()), (0, 1));
}
