//! What every disk does, told once and asked of the real one and of the
//! simulated one alike.

use std::io::ErrorKind;
use std::path::Path;

use crate::disk::{Disk, DiskError, Kind, Stat, create_dir_all, replace};

/// Asks `disk` for everything that the documentation of [`Disk`] says, inside
/// the empty folder `root`. Panics at the first answer that differs.
pub fn conformance(disk: &dyn Disk, root: &Path) {
    folders(disk, &root.join("folders"));
    files(disk, &root.join("files"));
    renames(disk, &root.join("renames"));
    appending(disk, &root.join("appending"));
    failed_handles(disk, &root.join("failed"));
    locks(disk, &root.join("locks"));
    replacing(disk, &root.join("replacing"));
}

fn folders(disk: &dyn Disk, root: &Path) {
    did(disk.create_dir(root));
    let (a, file) = (root.join("a"), root.join("file"));
    did(disk.create_dir(&a));
    did(disk.create(&file, b"x"));
    assert_eq!(did(disk.stat(&a)).map(|stat| stat.kind), Some(Kind::Folder));
    refused(disk.create_dir(&a), ErrorKind::AlreadyExists);
    refused(disk.create_dir(&file), ErrorKind::AlreadyExists);
    refused(disk.create_dir(&root.join("none/a")), ErrorKind::NotFound);
    refused(disk.create_dir(&file.join("a")), ErrorKind::NotADirectory);
    assert_eq!(did(disk.list(root)), ["a", "file"]);
    assert_eq!(did(disk.folders(root)), ["a"]);
    refused(disk.folders(&file), ErrorKind::NotADirectory);
    assert_eq!(did(disk.list(&a)), Vec::<String>::new());
    refused(disk.list(&root.join("none")), ErrorKind::NotFound);
    refused(disk.list(&file), ErrorKind::NotADirectory);
    did(disk.sync_dir(root));
    refused(disk.sync_dir(&file), ErrorKind::NotADirectory);
    refused(disk.sync_dir(&root.join("none")), ErrorKind::NotFound);
    did(disk.create(&a.join("inner"), b""));
    refused(disk.remove_dir(&a), ErrorKind::DirectoryNotEmpty);
    refused(disk.remove_dir(&file), ErrorKind::NotADirectory);
    refused(disk.remove_dir(&root.join("none")), ErrorKind::NotFound);
    refused(disk.remove_file(&a), ErrorKind::IsADirectory);
    did(disk.remove_file(&a.join("inner")));
    did(disk.remove_dir(&a));
    assert_eq!(did(disk.stat(&a)), None);
    let deep = root.join("b/c/d");
    did(create_dir_all(disk, &deep));
    did(create_dir_all(disk, &deep));
    assert_eq!(did(disk.stat(&deep)).map(|stat| stat.kind), Some(Kind::Folder));
    refused(create_dir_all(disk, &file), ErrorKind::NotADirectory);
    refused(create_dir_all(disk, &file.join("a")), ErrorKind::NotADirectory);
}

fn files(disk: &dyn Disk, root: &Path) {
    did(disk.create_dir(root));
    let file = root.join("file");
    did(disk.create(&file, b"0123456789"));
    assert_eq!(did(disk.stat(&file)), Some(Stat { kind: Kind::File, bytes: 10 }));
    assert_eq!(did(disk.stat(&root.join("none"))), None);
    refused(disk.stat(&file.join("a")), ErrorKind::NotADirectory);
    refused(disk.create(&file, b"other"), ErrorKind::AlreadyExists);
    refused(disk.create(root, b"other"), ErrorKind::AlreadyExists);
    refused(disk.create(&root.join("none/a"), b""), ErrorKind::NotFound);
    assert_eq!(did(disk.read(&file, 10)), b"0123456789");
    refused(disk.read(&file, 9), ErrorKind::FileTooLarge);
    refused(disk.read(&root.join("none"), 10), ErrorKind::NotFound);
    refused(disk.read(root, 10), ErrorKind::IsADirectory);
    assert_eq!(did(disk.read_from(&file, 3, 4)), b"3456");
    assert_eq!(did(disk.read_from(&file, 8, u64::MAX)), b"89");
    assert_eq!(did(disk.read_from(&file, 0, 0)), b"");
    assert_eq!(did(disk.read_from(&file, 10, 5)), b"");
    assert_eq!(did(disk.read_from(&file, 99, 5)), b"");
    refused(disk.read_from(&root.join("none"), 0, 1), ErrorKind::NotFound);
    did(disk.sync_file(&file));
    did(disk.recall(&file));
    refused(disk.recall(&root.join("none")), ErrorKind::NotFound);
    refused(disk.sync_file(root), ErrorKind::IsADirectory);
    refused(disk.sync_file(&root.join("none")), ErrorKind::NotFound);
    did(disk.remove_file(&file));
    refused(disk.remove_file(&file), ErrorKind::NotFound);
    assert_eq!(did(disk.list(root)), Vec::<String>::new());
}

fn renames(disk: &dyn Disk, root: &Path) {
    did(disk.create_dir(root));
    let [a, b, full, empty] = ["a", "b", "full", "empty"].map(|name| root.join(name));
    did(disk.create(&a, b"a"));
    did(disk.create(&b, b"b"));
    did(disk.create_dir(&full));
    did(disk.create_dir(&empty));
    did(disk.create(&full.join("inner"), b""));
    did(disk.rename(&a, &b));
    assert_eq!(did(disk.read(&b, 9)), b"a");
    assert_eq!(did(disk.stat(&a)), None);
    did(disk.rename(&b, &b));
    refused(disk.rename(&a, &b), ErrorKind::NotFound);
    refused(disk.rename(&b, &root.join("none/b")), ErrorKind::NotFound);
    refused(disk.rename(&b, &empty), ErrorKind::IsADirectory);
    refused(disk.rename(&empty, &b), ErrorKind::NotADirectory);
    refused(disk.rename(&empty, &full), ErrorKind::DirectoryNotEmpty);
    refused(disk.rename(&full, &full.join("self")), ErrorKind::InvalidInput);
    did(disk.rename(&full, &empty));
    assert_eq!(did(disk.list(root)), ["b", "empty"]);
    did(disk.rename(&b, &empty.join("b")));
    assert_eq!(did(disk.list(&empty)), ["b", "inner"]);
}

fn appending(disk: &dyn Disk, root: &Path) {
    did(disk.create_dir(root));
    let log = root.join("log");
    refused(disk.append(&log).map(drop), ErrorKind::NotFound);
    refused(disk.append(root).map(drop), ErrorKind::IsADirectory);
    did(disk.create(&log, b"one "));
    let mut open = did(disk.append(&log));
    assert_eq!(open.bytes(), 4);
    did(open.write(b"two "));
    did(open.write(b""));
    did(open.sync());
    assert_eq!(open.bytes(), 8);
    assert_eq!(did(disk.read(&log, 99)), b"one two ");
    did(open.cut(3));
    assert_eq!(open.bytes(), 3);
    did(open.write(b"!"));
    assert_eq!(did(disk.read(&log, 99)), b"one!");
    did(disk.rename(&log, &root.join("moved")));
    did(open.write(b"?"));
    did(open.sync());
    drop(open);
    assert_eq!(did(disk.read(&root.join("moved"), 99)), b"one!?");
    let mut again = did(disk.append(&root.join("moved")));
    assert_eq!(again.bytes(), 5);
    did(again.cut(0));
    did(again.sync());
    assert_eq!(did(disk.stat(&root.join("moved"))).map(|stat| stat.bytes), Some(0));
}

fn failed_handles(disk: &dyn Disk, root: &Path) {
    did(disk.create_dir(root));
    let log = root.join("log");
    did(disk.create(&log, b"one"));
    let mut open = did(disk.append(&log));
    refused(open.cut(4), ErrorKind::InvalidInput);
    refused(open.write(b"two"), ErrorKind::Other);
    refused(open.write(b""), ErrorKind::Other);
    refused(open.sync(), ErrorKind::Other);
    refused(open.cut(1), ErrorKind::Other);
    assert_eq!(did(disk.read(&log, 99)), b"one");
}

fn locks(disk: &dyn Disk, root: &Path) {
    did(disk.create_dir(root));
    let [one, two] = ["one", "two"].map(|name| root.join(name));
    let held = did(disk.try_lock(&one)).expect("nobody holds a new lock");
    assert!(did(disk.try_lock(&one)).is_none(), "a lock is held once");
    assert!(did(disk.try_lock(&two)).is_some(), "locks do not touch each other");
    held.note("a long text").expect("a held lock takes a note");
    held.note("short").expect("a held lock takes another note");
    assert_eq!(did(disk.read(&one, 99)), b"short");
    drop(held);
    assert_eq!(did(disk.read(&one, 99)), b"short", "the file stays");
    assert!(did(disk.try_lock(&one)).is_some(), "a lock that was let go is free");
    refused(disk.try_lock(root).map(drop), ErrorKind::IsADirectory);
    refused(disk.try_lock(&root.join("none/lock")).map(drop), ErrorKind::NotFound);
}

fn replacing(disk: &dyn Disk, root: &Path) {
    did(disk.create_dir(root));
    let file = root.join("state.json");
    did(replace(disk, &file, b"first", "0a"));
    did(replace(disk, &file, b"second", "0a"));
    assert_eq!(did(disk.read(&file, 99)), b"second");
    did(disk.create_dir(&root.join("folder")));
    refused(replace(disk, &root.join("folder"), b"x", "0b"), ErrorKind::IsADirectory);
    refused(replace(disk, &root.join("none/file"), b"x", "0c"), ErrorKind::NotFound);
    assert_eq!(did(disk.list(root)), ["folder", "state.json"], "nothing is left beside it");
}

fn did<T>(result: Result<T, DiskError>) -> T {
    result.unwrap_or_else(|error| panic!("{error}: {}", error.source))
}

fn refused<T>(result: Result<T, DiskError>, want: ErrorKind) {
    let got = result.err().map(|error| (error.source.kind(), error.to_string()));
    assert_eq!(got.as_ref().map(|(kind, _)| *kind), Some(want), "{got:?}");
}
