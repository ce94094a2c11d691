//! Ending processes for good: look, take hold, kill, wait, look again, until
//! a look finds none. Bounded, and honest about what is left.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use durable::Span;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, child_subreaper, getpid, waitid};

use crate::environment::{ATTEMPT_MARK, RUN_MARK};
use crate::poll::{self, Deadline};
use crate::proc_table::{self, Held, Process};

/// How long killed processes may take to be gone. The kernel needs
/// microseconds; one that hangs in a dead file system may never go, and
/// waiting for it longer would hold up everything else.
pub(crate) const KILL_BOUND: Span = Span::from_secs(5);

/// How often, and how far apart, a process is looked at that shows no
/// environment. Becoming another program takes well under a millisecond, or
/// a few when the program must come from a disk.
const UNCLEAR_LOOKS: usize = 20;
const UNCLEAR_PAUSE: Span = Span::from_millis(1);

/// Which processes are meant, however far they have wandered off.
#[derive(Debug, Default)]
pub(crate) struct Quarry {
    /// A child of ours that leads its own session and is not reaped yet, so
    /// that both numbers are its own.
    leader: Option<i32>,
    /// A variable and its value, by which descendants are recognised.
    mark: Option<(&'static str, String)>,
    /// Processes seen before, which may have lost parent and mark since.
    known: BTreeMap<i32, Held>,
    /// Nobody else waits for what is meant, so that it may be taken notice of.
    unwaited: bool,
    /// All that were ever held, by pid and start.
    seen: BTreeSet<(i32, u64)>,
}

/// What a killing came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Killed {
    pub found: usize,
    pub left: usize,
}

impl Quarry {
    /// An attempt's child, its session and its tree, and all with its mark.
    pub(crate) fn attempt(leader: i32, attempt: &str) -> Self {
        let mark = Some((ATTEMPT_MARK, attempt.to_owned()));
        Self { leader: Some(leader), mark, unwaited: true, ..Self::default() }
    }

    /// Everything that carries the mark of a run, and its descendants.
    pub(crate) fn run(run: &str) -> Self {
        Self { mark: Some((RUN_MARK, run.to_owned())), ..Self::default() }
    }

    /// Everything that carries the mark of an attempt without a child of ours.
    pub(crate) fn left_of(attempt: &str) -> Self {
        let mark = Some((ATTEMPT_MARK, attempt.to_owned()));
        Self { mark, unwaited: true, ..Self::default() }
    }

    /// Those that lost their parents and were given to this process, where it
    /// takes orphans in and the kernel tells which. When there are none, no
    /// descendant of the child, which has ended, is left.
    pub(crate) fn orphans(&self) -> io::Result<Option<Vec<i32>>> {
        if self.leader.is_none() || !adopts() {
            return Ok(None);
        }
        let children = proc_table::adopted_children()?;
        let orphans = |pids: Vec<i32>| pids.into_iter().filter(|pid| Some(*pid) != self.leader);
        Ok(children.map(|pids| orphans(pids).collect()))
    }

    /// Whether one of these belongs to the session of the child.
    pub(crate) fn has_in_session(&self, orphans: &[i32]) -> io::Result<bool> {
        for pid in orphans {
            let process = proc_table::process(*pid)?;
            if process.is_some_and(|process| Some(process.session) == self.leader) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// From here on only the session and its descendants are meant.
    pub(crate) fn forget_mark(&mut self) {
        self.mark = None;
    }

    /// Looks once and takes hold of every process that is alive. `known` has
    /// exactly those afterwards.
    pub(crate) fn look(&mut self) -> io::Result<()> {
        self.known.retain(|_, held| !held.has_ended());
        let table = proc_table::table()?;
        let spared = proc_table::lineage(getpid().as_raw_pid())?;
        let alive = || table.iter().filter(|p| !p.ended && !spared.contains(&p.pid));
        let mut seeds = self.marked(alive())?;
        seeds.extend(alive().filter(|p| self.is_ours(p)).map(|p| p.pid));
        for (pid, seen) in proc_table::family(&table, &seeds, &spared) {
            if !self.known.contains_key(&pid)
                && let Some(held) = Held::take(seen)?
            {
                self.seen.insert((pid, seen.started));
                self.known.insert(pid, held);
            }
        }
        Ok(())
    }

    fn is_ours(&self, process: &Process) -> bool {
        let leads = |leader| process.pid == leader || process.session == leader;
        self.leader.is_some_and(leads) || self.known.contains_key(&process.pid)
    }

    /// Those that carry the mark. One that is just becoming another program
    /// is looked at again, a few times, before it counts as unmarked.
    fn marked<'p>(
        &self,
        processes: impl Iterator<Item = &'p Process>,
    ) -> io::Result<BTreeSet<i32>> {
        let Some((name, value)) = &self.mark else { return Ok(BTreeSet::new()) };
        let mut marked = BTreeSet::new();
        let mut unclear: Vec<i32> = processes.map(|p| p.pid).collect();
        for looks_left in (0..UNCLEAR_LOOKS).rev() {
            let mut still = Vec::new();
            for pid in unclear {
                match proc_table::carries(pid, name, value)? {
                    Some(true) => {
                        marked.insert(pid);
                    }
                    Some(false) => {}
                    None => still.push(pid),
                }
            }
            if still.is_empty() || looks_left == 0 {
                break;
            }
            unclear = still;
            poll::wait(&[Deadline::after(UNCLEAR_PAUSE)?.as_fd()])?;
        }
        Ok(marked)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        self.known.values().for_each(|held| held.signal(signal));
    }

    /// Those found so far that are still alive, each for a poll: readable
    /// once ended.
    pub(crate) fn living(&self) -> Vec<BorrowedFd<'_>> {
        self.known.values().filter(|held| !held.has_ended()).map(AsFd::as_fd).collect()
    }

    /// Kills until a look finds nothing, at most for [`KILL_BOUND`].
    pub(crate) fn kill_all(&mut self) -> io::Result<Killed> {
        let bound = Deadline::after(KILL_BOUND)?;
        let mut killed = BTreeSet::new();
        loop {
            self.look()?;
            if self.known.is_empty() || bound.passed() {
                self.reap_adopted()?;
                return Ok(Killed { found: killed.len(), left: self.known.len() });
            }
            killed.extend(self.known.values().map(|held| (held.process.pid, held.process.started)));
            self.signal(Signal::KILL);
            while !bound.passed() {
                let mut fds = self.living();
                if fds.is_empty() {
                    break;
                }
                fds.push(bound.as_fd());
                poll::wait(&fds)?;
            }
        }
    }

    /// Takes notice of the ended of a child's tree that lost their parents
    /// and were given to this process, so that they do not stay as shadows.
    /// The child itself is left to its owner.
    fn reap_adopted(&self) -> io::Result<()> {
        if !(self.unwaited && adopts()) {
            return Ok(());
        }
        let own = getpid().as_raw_pid();
        let adopted = |p: &Process| p.ended && p.parent == own && Some(p.pid) != self.leader;
        let ours =
            |p: &Process| self.leader == Some(p.session) || self.seen.contains(&(p.pid, p.started));
        for process in proc_table::table()?.iter().filter(|p| adopted(p) && ours(p)) {
            if let Some(pid) = Pid::from_raw(process.pid) {
                // A shadow that cannot be taken away harms nobody.
                let _stays =
                    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
            }
        }
        Ok(())
    }
}

/// Whether orphans among the descendants of this process come to it. One that
/// has begun to take them in does not leave off.
fn adopts() -> bool {
    static ADOPTS: AtomicBool = AtomicBool::new(false);
    if !ADOPTS.load(Ordering::Relaxed) {
        let adopts = getpid().is_init() || matches!(child_subreaper(), Ok(Some(_)));
        ADOPTS.store(adopts, Ordering::Relaxed);
    }
    ADOPTS.load(Ordering::Relaxed)
}
