//! The disk as the few calls we make of it. All file access of ours goes
//! through [`Disk`], so that tests can crash, tear and fail every call.
//! [`RealDisk`] is the only code that syncs bytes.

mod atomic;
mod home;
mod real;

use std::fmt;
use std::fs::File;
use std::io::{Error, ErrorKind, Result as IoResult};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;

pub use atomic::{Unnamed, create_dir_all, is_temporary, make_dir_all, replace, replace_cache};
pub use home::{HomeError, refuse_network_home};
pub use real::RealDisk;

/// What a file call needs to say when it fails: the call, the path, why.
#[derive(Debug, Error)]
#[error("cannot {call} {path}", path = path.display())]
pub struct DiskError {
    pub call: &'static str,
    pub path: PathBuf,
    #[source]
    pub source: std::io::Error,
}

/// What stands at a path. Symbolic links are never followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    File,
    Folder,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    pub kind: Kind,
    pub bytes: u64,
}

/// The calls. Unless a line says "durable", what a call did may be lost,
/// in part or in any order, by a loss of power before the next sync of the
/// file (its bytes) or of its folder (its name).
pub trait Disk: Send + Sync + fmt::Debug {
    /// What stands at `path`, if anything.
    fn stat(&self, path: &Path) -> Result<Option<Stat>, DiskError>;
    /// The whole file. One larger than `limit` bytes is an error
    /// ([`std::io::ErrorKind::FileTooLarge`]).
    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, DiskError>;
    /// The bytes of a file from `offset` on, at most `limit` of them.
    fn read_from(&self, path: &Path, offset: u64, limit: u64) -> Result<Vec<u8>, DiskError>;
    /// The names in a folder, sorted. Names that are not UTF-8 are left out.
    fn list(&self, folder: &Path) -> Result<Vec<String>, DiskError>;
    /// Those of the names in a folder that are folders, sorted.
    fn folders(&self, folder: &Path) -> Result<Vec<String>, DiskError> {
        let mut names = self.list(folder)?;
        let mut fault = None;
        names.retain(|name| {
            let stat = self.stat(&folder.join(name)).unwrap_or_else(|error| {
                fault.get_or_insert(error);
                None
            });
            stat.is_some_and(|stat| stat.kind == Kind::Folder)
        });
        fault.map_or(Ok(names), Err)
    }
    /// A new folder (mode 0700); one that exists is an error.
    fn create_dir(&self, path: &Path) -> Result<(), DiskError>;
    /// A new file (mode 0600) with these bytes, all written or an error; one
    /// that exists is an error.
    fn create(&self, path: &Path, bytes: &[u8]) -> Result<(), DiskError>;
    /// Durable: the bytes of the file at `path`.
    fn sync_file(&self, path: &Path) -> Result<(), DiskError>;
    /// Durable: the bytes of the file at `path`; and what is read from then on
    /// is what the disk has. The system goes on to show bytes that a failed
    /// sync has dropped, and another sync of them succeeds.
    fn recall(&self, path: &Path) -> Result<(), DiskError> {
        self.sync_file(path)
    }
    /// Durable: the names in the folder at `path`.
    fn sync_dir(&self, path: &Path) -> Result<(), DiskError>;
    /// Gives `from` the name `to`, replacing a file or an empty folder there.
    fn rename(&self, from: &Path, to: &Path) -> Result<(), DiskError>;
    fn remove_file(&self, path: &Path) -> Result<(), DiskError>;
    /// Removes an empty folder.
    fn remove_dir(&self, path: &Path) -> Result<(), DiskError>;
    /// An existing file, to append to.
    fn append(&self, path: &Path) -> Result<Box<dyn Append>, DiskError>;
    /// Takes the lock on the file at `path` (created when absent, never
    /// removed). `None` when someone else holds it.
    fn try_lock(&self, path: &Path) -> Result<Option<Lock>, DiskError>;
    /// Whether someone holds the lock on the file at `path`, which must
    /// exist. It may hold a lock for an instant in order to find out.
    fn is_locked(&self, path: &Path) -> Result<bool, DiskError> {
        Ok(self.try_lock(path)?.is_none())
    }
}

/// A file open for appending. After an error of [`Append::write`] or
/// [`Append::sync`] the file must not be written through this handle again:
/// a failed sync may have dropped the data while the next one succeeds.
pub trait Append: Send + fmt::Debug {
    /// The length, counting what was appended through this handle.
    fn bytes(&self) -> u64;
    /// One write call with all of `bytes`; a short write is an error.
    fn write(&mut self, bytes: &[u8]) -> Result<(), DiskError>;
    /// Durable: all that was written, and the length.
    fn sync(&mut self) -> Result<(), DiskError>;
    /// Cuts the file to `bytes`, durable on return.
    fn cut(&mut self, bytes: u64) -> Result<(), DiskError>;
}

/// A held lock; dropping it lets go.
#[derive(Debug)]
pub struct Lock {
    held: Held,
}

#[derive(Debug)]
enum Held {
    /// The open file carries the kernel's lock.
    File(File),
    /// A simulated lock, released by its guard.
    #[cfg(feature = "sim")]
    Token(Box<dyn Guard>),
}

/// What releases a simulated lock when dropped.
#[cfg(feature = "sim")]
pub trait Guard: Send + Sync + fmt::Debug {
    /// Puts a text into the file that is locked.
    fn note(&self, text: &str) -> IoResult<()>;
}

impl Lock {
    #[cfg(feature = "sim")]
    pub(crate) fn from_token(guard: Box<dyn Guard>) -> Self {
        Self { held: Held::Token(guard) }
    }

    /// A lock that came with an open file, as handed to a worker process.
    /// The caller must know that the kernel's lock is held on this open file.
    pub fn from_file(file: File) -> Self {
        Self { held: Held::File(file) }
    }

    /// Makes `text` the content of the lock file, for people who look who
    /// holds it. Nothing reads it, so it is not synced.
    pub fn note(&self, text: &str) -> IoResult<()> {
        match &self.held {
            Held::File(file) => {
                file.write_all_at(text.as_bytes(), 0)?;
                // To cut what is as long already takes longer than to look.
                let length = text.len() as u64;
                if file.metadata()?.len() == length { Ok(()) } else { file.set_len(length) }
            }
            #[cfg(feature = "sim")]
            Held::Token(guard) => guard.note(text),
        }
    }

    /// The open file that carries a real lock; a child that inherits it
    /// holds the lock too.
    pub fn file(&self) -> Option<&File> {
        match &self.held {
            Held::File(file) => Some(file),
            #[cfg(feature = "sim")]
            Held::Token(_) => None,
        }
    }
}

/// The disk that everything is handed.
pub type SharedDisk = Arc<dyn Disk>;

/// Refuses a further call on a handle after one that failed.
pub(crate) fn failed_before() -> Error {
    Error::other("an earlier write or sync of it failed, so it must be opened anew")
}

pub(crate) fn short_write(written: usize, wanted: usize) -> Error {
    let text = format!("only {written} of {wanted} bytes were written; is the disk full?");
    Error::new(ErrorKind::WriteZero, text)
}

pub(crate) fn cut_longer(wanted: u64, bytes: u64) -> Error {
    Error::new(ErrorKind::InvalidInput, format!("{wanted} bytes are more than its {bytes}"))
}
