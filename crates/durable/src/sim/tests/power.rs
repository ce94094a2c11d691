//! What a loss of power may leave, and that code without its syncs is found.

use std::collections::BTreeSet;

use super::*;

/// What may stand at `path` after a loss of power.
fn may_be(disk: &SimDisk, path: &str) -> BTreeSet<Option<Vec<u8>>> {
    disk.power_losses().iter().map(|disk| bytes_at(&disk, path)).collect()
}

#[test]
fn what_was_synced_stays() {
    let disk = SimDisk::new();
    create_dir_all(&disk, p("/home/runs")).unwrap();
    disk.create(p("/home/runs/a"), b"1").unwrap();
    disk.sync_file(p("/home/runs/a")).unwrap();
    disk.sync_dir(p("/home/runs")).unwrap();
    let losses = disk.power_losses();
    assert_eq!(losses.count(), 1);
    assert_eq!(losses.get(0).map(|left| left.digest()), Some(disk.digest()));
    assert!(losses.get(1).is_none());
}

#[test]
fn an_unsynced_name_may_be_missing_and_unsynced_bytes_too() {
    let disk = SimDisk::new();
    disk.create(p("/a"), b"12").unwrap();
    let may = may_be(&disk, "/a");
    let want = [None, Some(b"".to_vec()), Some(b"1".to_vec()), Some(b"12".to_vec())];
    assert!(want.iter().all(|want| may.contains(want)), "{may:?}");
    assert!(may.contains(&Some(vec![0, 0])), "right length, no bytes");
    disk.sync_file(p("/a")).unwrap();
    assert_eq!(may_be(&disk, "/a"), BTreeSet::from([None, Some(b"12".to_vec())]));
    disk.sync_dir(p("/")).unwrap();
    assert_eq!(may_be(&disk, "/a"), BTreeSet::from([Some(b"12".to_vec())]));
}

#[test]
fn an_append_is_cut_at_every_byte_and_the_synced_part_is_never_touched() {
    let disk = SimDisk::new();
    let (old, new) = (vec![b'o'; 700], vec![b'n'; 400]);
    disk.put(p("/log"), &old);
    disk.append(p("/log")).unwrap().write(&new).unwrap();
    let may = may_be(&disk, "/log");
    let whole = [old.as_slice(), &new].concat();
    assert!((700..=1100).all(|cut| may.contains(&Some(whole[..cut].to_vec()))));
    assert!(may.iter().flatten().all(|bytes| bytes.starts_with(&old)));
    let full: Vec<_> = may.iter().flatten().filter(|bytes| bytes.len() == 1100).collect();
    let zeros = |range: std::ops::Range<usize>| {
        let mut bytes = whole.clone();
        bytes[range].fill(0);
        bytes
    };
    assert!(full.contains(&&zeros(700..1024)), "one block is blank");
    assert!(full.contains(&&zeros(1024..1100)), "the last block is blank");
    assert!(full.contains(&&zeros(700..1100)));
    assert!(full.len() > 5, "garbage is tried too");
}

#[test]
fn a_long_append_is_cut_at_a_bounded_number_of_places() {
    let disk = SimDisk::new();
    disk.put(p("/log"), b"");
    disk.append(p("/log")).unwrap().write(&b"line of text\n".repeat(100_000)).unwrap();
    assert!(disk.power_losses().count() < 1000);
}

#[test]
fn a_rename_may_come_before_the_bytes_and_before_the_creation() {
    let disk = SimDisk::new();
    disk.put(p("/state"), b"old");
    disk.create(p("/temporary"), b"new").unwrap();
    disk.rename(p("/temporary"), p("/state")).unwrap();
    let may = may_be(&disk, "/state");
    assert!(may.contains(&Some(b"old".to_vec())));
    assert!(may.contains(&Some(b"new".to_vec())));
    assert!(may.contains(&Some(b"".to_vec())), "the name came first");
    let both = disk.power_losses().iter().any(|left| {
        bytes_at(&left, "/state").as_deref() == Some(b"new")
            && bytes_at(&left, "/temporary").is_some()
    });
    assert!(!both, "a rename is one step");
}

#[test]
fn a_removal_may_not_have_happened() {
    let disk = SimDisk::new();
    disk.put(p("/a"), b"1");
    disk.remove_file(p("/a")).unwrap();
    assert_eq!(may_be(&disk, "/a"), BTreeSet::from([None, Some(b"1".to_vec())]));
    disk.sync_dir(p("/")).unwrap();
    assert_eq!(may_be(&disk, "/a"), BTreeSet::from([None]));
}

#[test]
fn a_move_between_folders_is_whole_or_not_and_one_sync_settles_it() {
    let disk = SimDisk::new();
    disk.put(p("/from/a"), b"1");
    disk.put(p("/to/b"), b"2");
    disk.rename(p("/from/a"), p("/to/a")).unwrap();
    for left in disk.power_losses().iter() {
        assert_ne!(bytes_at(&left, "/from/a"), bytes_at(&left, "/to/a"));
    }
    disk.create(p("/from/a"), b"3").unwrap();
    disk.sync_file(p("/from/a")).unwrap();
    disk.sync_dir(p("/from")).unwrap();
    assert_eq!(disk.power_losses().count(), 1);
    assert_eq!(may_be(&disk, "/to/a"), BTreeSet::from([Some(b"1".to_vec())]));
}

#[test]
fn files_in_a_folder_without_a_lasting_name_are_gone_with_it() {
    let disk = SimDisk::new();
    disk.create_dir(p("/runs")).unwrap();
    disk.create(p("/runs/a"), b"1").unwrap();
    disk.sync_file(p("/runs/a")).unwrap();
    disk.sync_dir(p("/runs")).unwrap();
    assert_eq!(may_be(&disk, "/runs/a"), BTreeSet::from([None, Some(b"1".to_vec())]));
}

/// Runs `work` with a crash at each call in each way, and gives every disk
/// that the next process may find.
fn all_crashes(setup: &dyn Fn() -> SimDisk, work: &dyn Fn(&SimDisk)) -> Vec<SimDisk> {
    let whole = setup();
    work(&whole);
    let mut found = Vec::new();
    for call in 0..=whole.calls() {
        for crash in [Crash::Before, Crash::Prefix(0), Crash::Prefix(2), Crash::After] {
            let disk = setup();
            disk.crash_at(call, crash);
            work(&disk);
            found.push(disk.after_process_crash());
            found.extend(disk.power_losses().iter());
        }
    }
    found
}

fn state() -> SimDisk {
    let disk = SimDisk::new();
    disk.put(p("/home/state"), b"old state");
    disk
}

#[test]
fn a_replaced_file_is_the_old_or_the_new_one_whatever_crashes() {
    let work = |disk: &SimDisk| drop(replace(disk, p("/home/state"), b"new", "0a"));
    let may: BTreeSet<_> =
        all_crashes(&state, &work).iter().map(|disk| bytes_at(disk, "/home/state")).collect();
    assert_eq!(may, BTreeSet::from([Some(b"new".to_vec()), Some(b"old state".to_vec())]));
}

#[test]
fn a_replaced_file_is_the_new_one_once_the_call_is_back() {
    let disk = state();
    replace(&disk, p("/home/state"), b"new", "0a").unwrap();
    assert_eq!(may_be(&disk, "/home/state"), BTreeSet::from([Some(b"new".to_vec())]));
}

#[test]
fn a_replacement_without_a_sync_of_the_file_is_found_out() {
    let work = |disk: &SimDisk| {
        let made = disk.create(p("/home/t"), b"new");
        drop(made.and_then(|()| disk.rename(p("/home/t"), p("/home/state"))));
    };
    let broken = all_crashes(&state, &work).iter().any(|disk| {
        !matches!(bytes_at(disk, "/home/state").as_deref(), Some(b"new" | b"old state"))
    });
    assert!(broken);
}

#[test]
fn every_fault_in_a_replacement_is_told_and_leaves_the_old_file() {
    let calls = {
        let disk = state();
        replace(&disk, p("/home/state"), b"new", "0a").unwrap();
        disk.calls()
    };
    for call in 0..calls {
        for fault in [Fault::error(ErrorKind::StorageFull), Fault::short_write(1)] {
            let disk = state();
            disk.fail_at(call, fault);
            replace(&disk, p("/home/state"), b"new", "0a").unwrap_err();
            let last = call + 1 == calls;
            let want = if last { b"new".as_slice() } else { b"old state" };
            assert_eq!(bytes_at(&disk, "/home/state").as_deref(), Some(want), "call {call}");
            assert_eq!(disk.list(p("/home")).unwrap(), ["state"], "call {call}");
        }
    }
}

#[test]
fn folders_made_after_a_crash_last_once_the_call_is_back() {
    let work = |disk: &SimDisk| drop(create_dir_all(disk, p("/a/b/c")));
    for disk in all_crashes(&SimDisk::new, &work) {
        create_dir_all(&disk, p("/a/b/c")).unwrap();
        for left in disk.power_losses().iter() {
            assert!(left.stat(p("/a/b/c")).unwrap().is_some());
        }
    }
}
