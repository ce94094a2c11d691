//! The processes of this machine as the kernel lists them under `/proc`:
//! who descends from whom, who carries which mark, and a hold on one of them
//! that a recycled number cannot turn into a stranger. Reading is apart from
//! parsing and choosing, which are pure.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::poll;

/// Room for an environment at first; more is taken when one needs it.
const ENVIRON_BYTES: usize = 64 << 10;

/// One process at the moment of a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub pid: i32,
    pub parent: i32,
    pub session: i32,
    /// When it began, in ticks since boot: with the pid, its identity.
    pub started: u64,
    /// It has ended; only its parent still has to take notice.
    pub ended: bool,
}

/// A hold on one process, good until dropped.
#[derive(Debug)]
pub(crate) struct Held {
    pub process: Process,
    fd: OwnedFd,
}

/// All processes that a look could see.
pub(crate) fn table() -> io::Result<Vec<Process>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        if let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) {
            found.extend(process(pid)?);
        }
    }
    Ok(found)
}

/// The children of this process that its first thread has: those that it
/// started, and the orphans that came to this process, which the kernel gives
/// to the first of its threads that lives. Nothing where the kernel does not
/// list children. Far cheaper than the table.
pub(crate) fn adopted_children() -> io::Result<Option<Vec<i32>>> {
    // It says at each reading what there is then.
    static CHILDREN: OnceLock<File> = OnceLock::new();
    let children = match CHILDREN.get() {
        Some(file) => file,
        None => match File::open(format!("/proc/self/task/{}/children", std::process::id())) {
            Ok(file) => CHILDREN.get_or_init(|| file),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        },
    };
    let (mut text, mut piece) = (Vec::new(), [0; 1024]);
    loop {
        match children.read_at(&mut piece, text.len() as u64)? {
            0 => break,
            length => text.extend_from_slice(&piece[..length]),
        }
    }
    let pids = text.split(u8::is_ascii_whitespace);
    Ok(Some(pids.filter_map(|pid| std::str::from_utf8(pid).ok()?.parse().ok()).collect()))
}

pub(crate) fn process(pid: i32) -> io::Result<Option<Process>> {
    let line = unless_gone(std::fs::read(format!("/proc/{pid}/stat")))?;
    Ok(line.and_then(|line| parse_stat(&line)))
}

/// The value of a variable in the environment that a process was started
/// with. Processes of other users do not show theirs.
pub(crate) fn variable(pid: i32, name: &str) -> io::Result<Option<String>> {
    let environ = unless_gone(environ(pid))?;
    let value = environ.as_deref().and_then(|environ| value_in(environ, name));
    Ok(value.map(|value| String::from_utf8_lossy(value).into_owned()))
}

/// Whether a process was started with a variable of this value. Nothing when
/// that cannot be said now: while a program takes the place of another, the
/// process shows an empty environment, as do the few that have none.
pub(crate) fn carries(pid: i32, name: &str, value: &str) -> io::Result<Option<bool>> {
    let Some(environ) = unless_gone(environ(pid))? else { return Ok(Some(false)) };
    let found = || value_in(&environ, name) == Some(value.as_bytes());
    Ok((!environ.is_empty()).then(found))
}

/// The whole environment by one read: between two, the process may become
/// another program, and what was read would be a part that looks whole.
fn environ(pid: i32) -> io::Result<Vec<u8>> {
    let file = File::open(format!("/proc/{pid}/environ"))?;
    let mut buffer = vec![0; ENVIRON_BYTES];
    loop {
        let taken = file.read_at(&mut buffer, 0)?;
        if taken < buffer.len() {
            buffer.truncate(taken);
            return Ok(buffer);
        }
        buffer.resize(buffer.len() * 2, 0);
    }
}

/// Nothing when the process has gone meanwhile or is not ours to look at;
/// any other failure is ours and must not pass for an absent process.
fn unless_gone<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Ok(found) => Ok(Some(found)),
        Err(error) => match error.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::NOENT | Errno::SRCH | Errno::ACCESS | Errno::PERM) => Ok(None),
            _ => Err(error),
        },
    }
}

/// A process and all it descends from, nearest first.
pub(crate) fn lineage(pid: i32) -> io::Result<Vec<i32>> {
    let mut line: Vec<i32> = Vec::new();
    let mut next = pid;
    // The table changes under the walk; a number seen before would be a loop.
    while next > 0 && !line.contains(&next) {
        line.push(next);
        next = process(next)?.map_or(0, |found| found.parent);
    }
    Ok(line)
}

/// The living among `seeds` and everything that descends from them, without
/// `spared` and without looking past those.
pub(crate) fn family(
    table: &[Process],
    seeds: &BTreeSet<i32>,
    spared: &[i32],
) -> BTreeMap<i32, Process> {
    let mut children: BTreeMap<i32, Vec<&Process>> = BTreeMap::new();
    for process in table {
        children.entry(process.parent).or_default().push(process);
    }
    let mut open: Vec<&Process> = table.iter().filter(|p| seeds.contains(&p.pid)).collect();
    let mut seen = BTreeMap::new();
    while let Some(process) = open.pop() {
        if spared.contains(&process.pid) || seen.insert(process.pid, *process).is_some() {
            continue;
        }
        open.extend(children.get(&process.pid).into_iter().flatten());
    }
    seen.retain(|_, process| !process.ended);
    seen
}

impl Held {
    /// Takes hold of the process that a look saw, unless it has gone and
    /// its number belongs to another.
    pub(crate) fn take(seen: Process) -> io::Result<Option<Self>> {
        let Some(pid) = Pid::from_raw(seen.pid) else { return Ok(None) };
        let opened = pidfd_open(pid, PidfdFlags::empty()).map_err(io::Error::from);
        let Some(fd) = unless_gone(opened)? else { return Ok(None) };
        // Whoever has the number now has had it since before the hold.
        let same = process(seen.pid)?.is_some_and(|now| now.started == seen.started && !now.ended);
        Ok(same.then_some(Self { process: seen, fd }))
    }

    pub(crate) fn signal(&self, signal: Signal) {
        // The only expected failure is that it has ended already.
        let _gone = pidfd_send_signal(&self.fd, signal);
    }

    pub(crate) fn has_ended(&self) -> bool {
        poll::is_readable(self.fd.as_fd())
    }
}

/// For a poll: readable once the process has ended.
impl AsFd for Held {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Reads a line of `/proc/<pid>/stat`. The name in parentheses is chosen by
/// the process and may hold anything, so the fields count from its last one.
fn parse_stat(line: &[u8]) -> Option<Process> {
    let open = line.iter().position(|b| *b == b'(')?;
    let close = line.iter().rposition(|b| *b == b')')?;
    let pid = std::str::from_utf8(&line[..open]).ok()?.trim().parse().ok()?;
    let rest = std::str::from_utf8(line.get(close + 1..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |i: usize| fields.get(i)?.parse::<i32>().ok();
    Some(Process {
        pid,
        parent: number(1)?,
        session: number(3)?,
        started: fields.get(19)?.parse().ok()?,
        // A first thread that has ended looks dead while others go on.
        ended: matches!(*fields.first()?, "Z" | "X" | "x") && number(17)? < 2,
    })
}

/// The value of `name` in a block of `NAME=value` strings, each ended by a
/// zero byte. The first one counts, as for the C library.
fn value_in<'a>(environ: &'a [u8], name: &str) -> Option<&'a [u8]> {
    environ
        .split(|b| *b == 0)
        .find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(pid: i32, parent: i32) -> Process {
        Process { pid, parent, session: pid, started: 1, ended: false }
    }

    fn members(table: &[Process], seeds: &[i32], spared: &[i32]) -> Vec<i32> {
        family(table, &seeds.iter().copied().collect(), spared).into_keys().collect()
    }

    #[test]
    fn a_stat_line_is_read_whatever_the_process_calls_itself() {
        let rest = "S 12 34 56 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 98765 1000 20";
        for name in ["sh", "a b", ") S 1 1 1", "((", "\u{ff}", "line\nbreak"] {
            let line = format!("77 ({name}) {rest}");
            let expected =
                Process { pid: 77, parent: 12, session: 56, started: 98765, ended: false };
            assert_eq!(parse_stat(line.as_bytes()), Some(expected), "{name:?}");
        }
        let mut raw = b"77 (\xff\xfe) ".to_vec();
        raw.extend(rest.replacen('S', "Z", 1).bytes());
        assert!(parse_stat(&raw).unwrap().ended);
        let threads = rest.replacen('S', "Z", 1).replace(" 1 0 98765", " 2 0 98765");
        assert!(!parse_stat(format!("77 (t) {threads}").as_bytes()).unwrap().ended);
    }

    #[test]
    fn a_line_that_is_no_stat_line_is_nothing() {
        for line in ["", "77", "77 (sh", "77 sh) S", "77 (sh)", "x (sh) S 1 2 3", "7 (s) S 1 2 3 4"]
        {
            assert_eq!(parse_stat(line.as_bytes()), None, "{line:?}");
        }
    }

    #[test]
    fn a_variable_is_found_by_its_whole_name_and_the_first_counts() {
        let environ = b"A_RUN=no\0RUN_B=no\0RUN=yes=1\0RUN=second\0EMPTY=\0RUNAWAY";
        assert_eq!(value_in(environ, "RUN"), Some(&b"yes=1"[..]));
        assert_eq!(value_in(environ, "EMPTY"), Some(&b""[..]));
        assert_eq!(value_in(environ, "RUNAWAY"), None);
        assert_eq!(value_in(b"", "RUN"), None);
    }

    #[test]
    fn a_family_is_the_seeds_and_all_their_descendants() {
        let table = [at(1, 0), at(10, 1), at(11, 10), at(12, 11), at(20, 1), at(21, 20)];
        assert_eq!(members(&table, &[10], &[]), [10, 11, 12]);
        assert_eq!(members(&table, &[11, 21], &[]), [11, 12, 21]);
        assert_eq!(members(&table, &[99], &[]), [0; 0]);
    }

    #[test]
    fn the_spared_and_what_hangs_from_them_alone_stay() {
        let table = [at(10, 1), at(11, 10), at(12, 11), at(13, 10)];
        assert_eq!(members(&table, &[10], &[11]), [10, 13]);
        assert_eq!(members(&table, &[10, 12], &[11]), [10, 12, 13]);
    }

    #[test]
    fn the_ended_are_left_out_but_their_children_are_not() {
        let ended = Process { ended: true, ..at(11, 10) };
        assert_eq!(members(&[at(10, 1), ended, at(12, 11)], &[10], &[]), [10, 12]);
    }

    #[test]
    fn a_table_with_a_loop_in_it_still_ends() {
        assert_eq!(members(&[at(1, 2), at(2, 1)], &[1], &[]), [1, 2]);
    }

    #[test]
    fn this_process_is_in_the_table_and_descends_from_its_parent() {
        let own = i32::try_from(std::process::id()).unwrap();
        let found = table().unwrap().into_iter().find(|p| p.pid == own).unwrap();
        assert_eq!(lineage(own).unwrap()[..2], [own, found.parent]);
    }

    #[test]
    fn a_hold_is_refused_when_the_number_belongs_to_another_process() {
        let own = process(i32::try_from(std::process::id()).unwrap()).unwrap().unwrap();
        assert!(Held::take(own).unwrap().is_some_and(|held| !held.has_ended()));
        assert!(Held::take(Process { started: own.started + 1, ..own }).unwrap().is_none());
    }
}
