//! The real disk keeps its word, as far as one machine can show it.

use std::os::unix::fs::symlink;
use std::process::Command;

use super::*;
use crate::disk::replace;
use crate::sim::conformance;

/// Names the folder that a test started by [`in_a_shell`] works in.
const FOLDER: &str = "DURABLE_TEST_FOLDER";

fn kind_of<T>(result: Result<T, DiskError>) -> Option<ErrorKind> {
    result.err().map(|error| error.source.kind())
}

fn is_loop<T>(result: Result<T, DiskError>) -> bool {
    let code = result.err().and_then(|error| error.source.raw_os_error());
    code == Some(rustix::io::Errno::LOOP.raw_os_error())
}

/// Runs this test program for one test of it, after `setup` in a shell: what
/// a setup changes for the whole process stays there.
fn in_a_shell(setup: &str, test: &str) {
    let folder = tempfile::tempdir().unwrap();
    let program = std::env::current_exe().unwrap();
    let output = Command::new("sh")
        .arg("-c")
        .arg(format!("{setup}; exec \"$0\" --exact \"$1\" --nocapture"))
        .arg(program)
        .arg(format!("disk::real::tests::{test}"))
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{setup}: {text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("1 passed"), "{setup}: {text}");
}

fn shell_folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

#[test]
fn it_does_what_every_disk_does() {
    let folder = tempfile::tempdir().unwrap();
    conformance(&RealDisk, folder.path());
}

#[test]
fn modes_are_ours_whatever_the_umask() {
    for umask in ["000", "022", "077", "777"] {
        in_a_shell(&format!("umask {umask}"), "inside::modes");
    }
}

#[test]
fn a_write_that_the_system_cuts_short_is_an_error_and_ends_the_handle() {
    in_a_shell("ulimit -f 8; trap '' XFSZ", "inside::short_write");
}

#[test]
fn links_are_never_followed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    RealDisk.create(&at("file"), b"theirs").unwrap();
    RealDisk.create_dir(&at("folder")).unwrap();
    symlink(at("file"), at("link")).unwrap();
    symlink(at("folder"), at("way")).unwrap();
    symlink(at("none"), at("dangling")).unwrap();
    for link in ["link", "way", "dangling"] {
        let link = at(link);
        assert_eq!(RealDisk.stat(&link).unwrap().map(|stat| stat.kind), Some(Kind::Other));
        assert!(is_loop(RealDisk.read(&link, 99)));
        assert!(is_loop(RealDisk.read_from(&link, 0, 9)));
        assert!(is_loop(RealDisk.append(&link)));
        assert!(is_loop(RealDisk.sync_file(&link)));
        assert!(is_loop(RealDisk.try_lock(&link)));
        assert_eq!(kind_of(RealDisk.create(&link, b"")), Some(ErrorKind::AlreadyExists));
        assert_eq!(kind_of(RealDisk.create_dir(&link)), Some(ErrorKind::AlreadyExists));
        assert_eq!(kind_of(RealDisk.list(&link)), Some(ErrorKind::NotADirectory));
        assert_eq!(kind_of(RealDisk.sync_dir(&link)), Some(ErrorKind::NotADirectory));
        assert_eq!(kind_of(RealDisk.remove_dir(&link)), Some(ErrorKind::NotADirectory));
    }
    replace(&RealDisk, &at("link"), b"ours", "0a").unwrap();
    assert_eq!(RealDisk.read(&at("link"), 99).unwrap(), b"ours");
    RealDisk.remove_file(&at("way")).unwrap();
    assert_eq!(RealDisk.read(&at("file"), 99).unwrap(), b"theirs");
    assert!(RealDisk.stat(&at("folder")).unwrap().is_some());
    assert!(RealDisk.stat(&at("none")).unwrap().is_none());
}

#[test]
fn a_pipe_in_a_files_place_is_refused_and_nobody_waits() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let mode = Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    assert_eq!(RealDisk.stat(&pipe).unwrap().map(|stat| stat.kind), Some(Kind::Other));
    assert_eq!(kind_of(RealDisk.read(&pipe, 9)), Some(ErrorKind::InvalidInput));
    assert!(RealDisk.append(&pipe).is_err(), "nobody reads it");
    assert_eq!(kind_of(RealDisk.try_lock(&pipe)), Some(ErrorKind::InvalidInput));
}

#[test]
fn names_that_are_no_text_are_left_out() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().join(std::ffi::OsStr::from_bytes(b"odd\xff"));
    fs::write(odd, b"").unwrap();
    RealDisk.create(&folder.path().join("even"), b"").unwrap();
    assert_eq!(RealDisk.list(folder.path()).unwrap(), ["even"]);
}

#[test]
fn a_lock_is_the_kernels_so_any_program_meets_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let lock = RealDisk.try_lock(&path).unwrap().unwrap();
    let other = File::open(&path).unwrap();
    assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
    let shared = lock.file().unwrap().try_clone().unwrap();
    drop(lock);
    assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)), "a copy holds it too");
    drop(Lock::from_file(shared));
    other.try_lock().unwrap();
    assert!(RealDisk.try_lock(&path).unwrap().is_none());
}

#[test]
fn a_lock_on_a_file_that_was_moved_away_keeps_nobody_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let data = |lock: &Lock| lock.file().unwrap().metadata().unwrap();
    let old = RealDisk.try_lock(&path).unwrap().unwrap();
    assert!(leads_to(&path, &data(&old)).unwrap());
    fs::rename(&path, folder.path().join("moved")).unwrap();
    assert!(!leads_to(&path, &data(&old)).unwrap());
    let new = RealDisk.try_lock(&path).unwrap().unwrap();
    assert!(leads_to(&path, &data(&new)).unwrap());
    assert!(!leads_to(&path, &data(&old)).unwrap());
}

#[test]
fn a_big_file_is_read_in_whole_and_in_parts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("big");
    let bytes: Vec<u8> = (0..3_000_000u32).map(|at| (at % 251) as u8).collect();
    RealDisk.create(&path, &bytes).unwrap();
    assert!(RealDisk.read(&path, 3_000_000).unwrap() == bytes);
    assert_eq!(kind_of(RealDisk.read(&path, 2_999_999)), Some(ErrorKind::FileTooLarge));
    assert!(RealDisk.read_from(&path, 1, 2_500_000).unwrap() == bytes[1..2_500_001]);
    assert!(RealDisk.read_from(&path, 2_900_000, u64::MAX).unwrap() == bytes[2_900_000..]);
}

#[test]
fn a_file_that_states_no_length_is_read_to_its_end() {
    let status = RealDisk.read(Path::new("/proc/self/status"), 1 << 20).unwrap();
    assert!(status.starts_with(b"Name:") && status.ends_with(b"\n"));
    let rest = RealDisk.read_from(Path::new("/proc/self/status"), 5, 1 << 20).unwrap();
    assert!(rest.starts_with(b"\t"));
}

#[test]
fn an_error_names_the_call_and_the_path() {
    let error = RealDisk.read(Path::new("/nowhere/at/all"), 1).unwrap_err();
    assert_eq!(error.to_string(), "cannot read /nowhere/at/all");
}

/// Tests that only do something in a process of their own.
mod inside {
    use super::*;

    #[test]
    fn modes() {
        let Some(folder) = shell_folder() else { return };
        let at = |name: &str| folder.join(name);
        RealDisk.create(&at("file"), b"x").unwrap();
        RealDisk.create_dir(&at("folder")).unwrap();
        replace(&RealDisk, &at("replaced"), b"x", "0a").unwrap();
        RealDisk.try_lock(&at("lock")).unwrap().unwrap();
        let mode = |name: &str| fs::symlink_metadata(at(name)).unwrap().mode() & 0o7777;
        assert_eq!(["file", "replaced", "lock"].map(mode), [FILE_MODE; 3]);
        assert_eq!(mode("folder"), FOLDER_MODE);
    }

    #[test]
    fn short_write() {
        let Some(folder) = shell_folder() else { return };
        let log = folder.join("log");
        RealDisk.create(&log, b"").unwrap();
        let mut open = RealDisk.append(&log).unwrap();
        let error = open.write(&vec![b'x'; 1 << 16]).unwrap_err();
        assert_eq!(error.source.kind(), ErrorKind::WriteZero);
        let written = RealDisk.stat(&log).unwrap().unwrap().bytes;
        assert!(0 < written && written < 1 << 16, "one call wrote {written} bytes");
        assert_eq!(kind_of(open.write(b"y")), Some(ErrorKind::Other));
        assert_eq!(kind_of(open.sync()), Some(ErrorKind::Other));
        assert_eq!(RealDisk.stat(&log).unwrap().unwrap().bytes, written);
        RealDisk.append(&log).unwrap().cut(0).unwrap();

        let big = folder.join("big");
        assert_eq!(
            kind_of(RealDisk.create(&big, &vec![b'x'; 1 << 16])),
            Some(ErrorKind::FileTooLarge)
        );
        assert_eq!(RealDisk.stat(&big).unwrap(), None, "half a file is no file");
        assert!(replace(&RealDisk, &big, &vec![b'x'; 1 << 16], "0a").is_err());
        assert_eq!(RealDisk.list(&folder).unwrap(), ["log"]);
    }
}
