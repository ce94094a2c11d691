//! Taking over a run that has a log: what a crash left behind is put right
//! by the holder of the lock, before its first event and never by a reader.
//! Doing it twice changes nothing that doing it once did not.

use std::path::PathBuf;

use durable::Seq;
use durable::disk::{Disk, DiskError, Lock, SharedDisk, is_temporary, replace};
use durable::tail::{Trust, Why};
use durable::version::{Access, Format};
use engine::event::LOG_FORMAT;
use thiserror::Error;

use crate::layout::RunPlace;
use crate::limits;
use crate::lock;
use crate::open::{OpenError, Opened, Torn, open};
use crate::writer::RunWriter;

/// A run with its new owner.
#[derive(Debug)]
pub struct Adopted {
    pub writer: RunWriter,
    /// What was found; its log is now clean.
    pub opened: Opened,
    /// What was cut off, to be told in the log.
    pub cut: Option<Cut>,
}

/// The torn end of a log, set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The event that was being written when the writing stopped.
    pub seq: Seq,
    pub bytes: u64,
    pub why: Why,
    /// Where the bytes are now.
    pub kept_in: PathBuf,
}

/// Why a run cannot be taken over.
#[derive(Debug, Error)]
pub enum AdoptError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(
        "the log {} carries no hashes, so it was not written by this program; it can be read \
         and never continued",
        path.display()
    )]
    Unverified { path: PathBuf },
    #[error(
        "the log {} has format {}.{}, newer than {}.{}; it can be read here, and continued by \
         the release that wrote it",
        path.display(), found.major, found.minor, LOG_FORMAT.major, LOG_FORMAT.minor
    )]
    ReadOnly { path: PathBuf, found: Format },
    #[error(
        "{} was torn more than {max} times; look after the disk, then move its torn-*.bin files \
         elsewhere",
        path.display(), max = limits::TORN_FILES
    )]
    TornTooOften { path: PathBuf },
    #[error("the log {} grew while it was taken over, though its lock is held", path.display())]
    Moved { path: PathBuf },
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// Opens the run, cuts a torn end off its log, and gives the writer. All
/// that the state tells of is then durable, whoever wrote it. The run itself
/// is durable by then: whoever created it, or took its lock, saw to that.
pub fn adopt(disk: &SharedDisk, place: &RunPlace, lock: Lock) -> Result<Adopted, AdoptError> {
    // The one before may have died between its write and its sync, or left
    // because that failed: what is adopted is what the disk has. A new run's
    // log has no bytes yet; its name was made to last with the run.
    if disk.stat(&place.events())?.is_some_and(|log| log.bytes > 0) {
        disk.recall(&place.events())?;
    }
    let mut opened = open(&**disk, place)?;
    may_write(place, &opened)?;
    sweep(&**disk, place)?;
    let mut log = disk.append(&place.events())?;
    let end = opened.position.offset + opened.torn.map_or(0, |torn| torn.dropped);
    if log.bytes() != end {
        return Err(AdoptError::Moved { path: place.events() });
    }
    let cut = match opened.torn.take() {
        Some(torn) => {
            let cut = set_aside(&**disk, place, &opened, torn)?;
            log.cut(torn.keep)?;
            Some(cut)
        }
        None => None,
    };
    let position = opened.position;
    let writer = RunWriter::new(disk.clone(), place.clone(), lock, log, position);
    Ok(Adopted { writer, opened, cut })
}

fn may_write(place: &RunPlace, opened: &Opened) -> Result<(), AdoptError> {
    let path = place.events();
    if opened.trust == Trust::Unverified {
        return Err(AdoptError::Unverified { path });
    }
    let Some(found) = opened.state.started.as_ref().map(|started| started.format) else {
        return Ok(());
    };
    match LOG_FORMAT.access(found) {
        Access::ReadWrite => Ok(()),
        Access::ReadOnly | Access::TooNew => Err(AdoptError::ReadOnly { path, found }),
    }
}

/// Removes what an owner that died in its last step has left in a run that
/// needs no owner any more. Nothing is done while someone has the run.
pub fn tidy(disk: &dyn Disk, place: &RunPlace) -> Result<(), DiskError> {
    if !disk.list(&place.folder())?.iter().any(|name| is_temporary(name)) {
        return Ok(());
    }
    match lock::take(disk, place)? {
        Some(_lock) => sweep(disk, place),
        None => Ok(()),
    }
}

/// Removes the files that an earlier owner had begun and not brought to
/// their place. Those of the inbox are others'.
fn sweep(disk: &dyn Disk, place: &RunPlace) -> Result<(), DiskError> {
    for folder in [place.folder(), place.artifacts()] {
        if disk.stat(&folder)?.is_none() {
            continue;
        }
        let names = disk.list(&folder)?;
        let mut temporary = names.iter().filter(|name| is_temporary(name));
        temporary.try_for_each(|name| disk.remove_file(&folder.join(name)))?;
    }
    Ok(())
}

/// Keeps the torn bytes in a file of their own. One that an earlier try
/// has kept already is not kept twice.
fn set_aside(
    disk: &dyn Disk,
    place: &RunPlace,
    opened: &Opened,
    torn: Torn,
) -> Result<Cut, AdoptError> {
    let seq = opened.position.next_seq;
    let bytes = disk.read_from(&place.events(), torn.keep, torn.dropped)?;
    for copy in 0..limits::TORN_FILES {
        let path = place.torn(seq, copy);
        let kept = match disk.stat(&path)? {
            Some(stat) => stat.bytes == torn.dropped && disk.read(&path, stat.bytes)? == bytes,
            None => {
                replace(disk, &path, &bytes, &opened.position.last.to_string())?;
                true
            }
        };
        if kept {
            disk.sync_dir(&place.folder())?;
            return Ok(Cut { seq, bytes: torn.dropped, why: torn.why, kept_in: path });
        }
    }
    Err(AdoptError::TornTooOften { path: place.events() })
}
