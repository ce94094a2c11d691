//! One writer of a shared checkout at a time. Runs that may write to a
//! checkout itself belong to families: a run and those that work for it. A
//! family holds a shared lock of the kernel on the checkout's lock file, whose
//! text names it; whoever comes first takes the lock alone, writes the name
//! and then shares it. So a dead process keeps nobody out, and the name is
//! that of the holder whenever someone else is refused.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use durable::Digest;
use durable::disk::create_dir_all;
use runstore::SharedCheckout;
use rustix::fs::OFlags;

use crate::Host;
use crate::api::{Code, HostError};
use crate::library::store;

/// A name is a run's id.
const NAME_BYTES: u64 = 200;

/// How long a run that has ended may still hold a checkout, and how often
/// that is looked at.
const LEAVES_WITHIN: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A run's part in a checkout that it shares.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Nobody's, where nothing is known of other runs.
    host: Option<Host>,
    lock: PathBuf,
    checkout: SharedCheckout,
    held: Mutex<Option<File>>,
}

/// Why a run may not write to its checkout.
#[derive(Debug)]
pub(crate) enum Refused {
    /// Another run does.
    Busy {
        run: String,
    },
    Fault(io::Error),
}

impl Shared {
    pub(super) fn new(host: &Host, checkout: &SharedCheckout) -> Result<Self, HostError> {
        let folder = host.home.checkout_locks();
        create_dir_all(&*host.disk, &folder).map_err(|fault| store(&fault))?;
        let lock = folder.join(format!("{}.lock", Digest::of(checkout.root.as_bytes()).hex()));
        let host = Some(host.clone());
        Ok(Self { host, lock, checkout: checkout.clone(), held: Mutex::new(None) })
    }

    /// Sees to it that the run may write, from now until this is dropped.
    pub(crate) fn enter(&self) -> Result<(), Refused> {
        // A thread that panicked inside left the lock as it was.
        let mut held = self.held.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut left = LEAVES_WITHIN;
        while held.is_none() {
            match self.lock() {
                Err(Refused::Busy { run }) if !left.is_zero() && self.is_over(&run) => {
                    self.pause();
                    left = left.saturating_sub(LOOK_EVERY);
                }
                lock => *held = Some(lock?),
            }
        }
        Ok(())
    }

    /// Whether the run has ended, and only its process is still about to.
    fn is_over(&self, run: &str) -> bool {
        let over = |host: &Host| {
            let opened = host.find(run).and_then(|place| host.opened(&place));
            opened.is_ok_and(|opened| opened.state.closed.is_some())
        };
        self.host.as_ref().is_some_and(over)
    }

    fn pause(&self) {
        if let Some(host) = &self.host {
            host.processes.pause(LOOK_EVERY);
        }
    }

    /// Why not, for people.
    pub(crate) fn message(&self, refused: &Refused) -> String {
        let root = &self.checkout.root;
        match refused {
            Refused::Busy { run } => format!("run {run} works in {root}, and writes there"),
            Refused::Fault(error) => format!("the lock on {root} cannot be had: {error}"),
        }
    }

    pub(super) fn error(&self, refused: &Refused) -> HostError {
        let message = self.message(refused);
        match refused {
            Refused::Busy { run } => HostError::new(Code::WorkspaceBusy, message).hint(format!(
                "add `--isolation worktree` to work beside it, or wait: `wardian run watch {run}`"
            )),
            Refused::Fault(_) => HostError::new(Code::Store, message),
        }
    }

    fn lock(&self) -> Result<File, Refused> {
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.mode(0o600).custom_flags(flags).open(&self.lock)?;
        if is_had(file.try_lock())? {
            file.set_len(0)?;
            file.write_all(self.checkout.family.as_bytes())?;
        }
        let shared = is_had(file.try_lock_shared())?;
        let mut run = String::new();
        file.rewind()?;
        Read::by_ref(&mut file).take(NAME_BYTES).read_to_string(&mut run)?;
        if shared && run == self.checkout.family {
            return Ok(file);
        }
        Err(Refused::Busy { run })
    }
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Self::Fault(error)
    }
}

fn is_had(locked: Result<(), TryLockError>) -> io::Result<bool> {
    match locked {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(folder: &std::path::Path, family: &str) -> Shared {
        let checkout = SharedCheckout { root: "/src".into(), family: family.into() };
        Shared { host: None, lock: folder.join("a.lock"), checkout, held: Mutex::new(None) }
    }

    #[test]
    fn a_family_shares_and_another_is_told_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let (parent, child) = (shared(folder.path(), "1-long"), shared(folder.path(), "1-long"));
        let other = shared(folder.path(), "2");
        assert!(parent.enter().is_ok() && child.enter().is_ok() && parent.enter().is_ok());
        drop(parent);
        let refused = other.enter().unwrap_err();
        assert_eq!(other.message(&refused), "run 1-long works in /src, and writes there");
        assert!(other.error(&refused).hint.unwrap().contains("--isolation worktree"));
        drop(child);
        assert!(other.enter().is_ok());
        let late = shared(folder.path(), "1-long");
        assert!(matches!(late.enter(), Err(Refused::Busy { run }) if run == "2"));
    }
}
