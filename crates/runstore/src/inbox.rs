//! The one door for signals: `<run>/inbox/<id>.json`, put there whole by
//! anyone, taken by the owner of the run, which turns each into an event
//! that carries its id and then removes the file. The reference's
//! `cancel.marker` is a cancel signal too.

mod stored;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use durable::disk::{Disk, DiskError, Kind, create_dir_all, is_temporary, replace};
use durable::entropy::Entropy;
use durable::{Timestamp, limits as common};
use engine::{Signal, SignalId, Verb};
use thiserror::Error;

use crate::layout::RunPlace;
use crate::limits;

pub use stored::{SIGNAL_FORMAT, SignalError};

/// The id, and the file name, of the reference's way to cancel.
const MARKER: &str = "cancel.marker";
/// Files set aside begin with it.
const REFUSED: &str = "refused-";

/// What waits in an inbox.
#[derive(Debug, Default)]
pub struct Inbox {
    /// The signals, the oldest name first, each with its file.
    pub signals: Vec<(Signal, PathBuf)>,
    /// Files that were none, set aside just now.
    pub refused: Vec<Refused>,
}

/// A file that is no signal.
#[derive(Debug)]
pub struct Refused {
    /// Where it is now.
    pub path: PathBuf,
    pub why: SignalError,
}

/// Why a signal was not put into the inbox.
#[derive(Debug, Error)]
pub enum PutError {
    #[error("there is no run `{run}` of `{blueprint}`")]
    NoRun { run: String, blueprint: String },
    #[error("a note has at most {max} bytes, this one has {0}", max = common::NOTE_BYTES)]
    NoteTooLong(usize),
    #[error("a signal has at most {max} bytes, this one has {0}", max = common::SIGNAL_BYTES)]
    TooLarge(usize),
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// The id of a new signal. Names sort by time, so that signals are answered
/// in the order in which they were given.
pub fn new_signal_id(now: Timestamp, entropy: &dyn Entropy) -> SignalId {
    SignalId::new(&format!("{:013}-{}", now.millis(), entropy.hex8()))
        .expect("digits and a hyphen are a safe component")
}

/// Puts a signal into the inbox, durably. The same id again takes the place
/// of the one that waits; the owner answers an id once.
pub fn put(
    disk: &dyn Disk,
    place: &RunPlace,
    signal: &Signal,
    entropy: &dyn Entropy,
) -> Result<(), PutError> {
    let note = signal.note.as_ref().map_or(0, String::len);
    if note > common::NOTE_BYTES {
        return Err(PutError::NoteTooLong(note));
    }
    let bytes = stored::encode(signal);
    if bytes.len() > common::SIGNAL_BYTES {
        return Err(PutError::TooLarge(bytes.len()));
    }
    if disk.stat(&place.events())?.is_none() {
        let (run, blueprint) = (place.run.to_string(), place.blueprint.to_string());
        return Err(PutError::NoRun { run, blueprint });
    }
    create_dir_all(disk, &place.inbox())?;
    replace(disk, &place.signal(&signal.id), &bytes, &entropy.hex8())?;
    Ok(())
}

/// The signals that wait, for the owner. Files that are none are moved aside
/// within the inbox, so that they block nothing and are not lost.
pub fn pending(disk: &dyn Disk, place: &RunPlace) -> Result<Inbox, DiskError> {
    let mut inbox = Inbox::default();
    let marker = place.cancel_marker();
    if disk.stat(&marker)?.is_some() {
        inbox.signals.push((marker_signal(), marker));
    }
    let folder = place.inbox();
    if disk.stat(&folder)?.is_none() {
        return Ok(inbox);
    }
    let names = disk.list(&folder)?;
    let waiting = names.iter().filter(|name| !is_temporary(name) && !name.starts_with(REFUSED));
    for name in waiting.take(limits::INBOX_SIGNALS) {
        let path = folder.join(name);
        match read(disk, place, name)? {
            Some(Ok(signal)) => inbox.signals.push((signal, path)),
            Some(Err(why)) => {
                let path = set_aside(disk, place, name)?;
                inbox.refused.push(Refused { path, why });
            }
            None => {}
        }
    }
    Ok(inbox)
}

/// Removes an answered signal. One that is gone already is no error.
pub fn remove(disk: &dyn Disk, place: &RunPlace, id: &SignalId) -> Result<(), DiskError> {
    let marker = (id.as_str() == MARKER).then(|| place.cancel_marker());
    for path in [Some(place.signal(id)), marker].into_iter().flatten() {
        if disk.stat(&path)?.is_some() {
            disk.remove_file(&path)?;
        }
    }
    Ok(())
}

/// Whether the signal still waits. The log says whether it was answered.
pub fn contains(disk: &dyn Disk, place: &RunPlace, id: &SignalId) -> Result<bool, DiskError> {
    Ok(disk.stat(&place.signal(id))?.is_some())
}

/// The signal in the file of that name, `None` when it has just gone.
fn read(
    disk: &dyn Disk,
    place: &RunPlace,
    name: &str,
) -> Result<Option<Result<Signal, SignalError>>, DiskError> {
    let path = place.inbox().join(name);
    let Some(stat) = disk.stat(&path)? else { return Ok(None) };
    if stat.kind != Kind::File {
        return Ok(Some(Err(SignalError::NoFile)));
    }
    if stat.bytes > common::SIGNAL_BYTES as u64 {
        return Ok(Some(Err(SignalError::TooLarge(stat.bytes))));
    }
    let bytes = disk.read(&path, common::SIGNAL_BYTES as u64)?;
    Ok(Some(stored::decode(&bytes, name)))
}

fn set_aside(disk: &dyn Disk, place: &RunPlace, name: &str) -> Result<PathBuf, DiskError> {
    let folder = place.inbox();
    let mut path = folder.join(format!("{REFUSED}{name}"));
    let mut copy = 1u32;
    while disk.stat(&path)?.is_some() {
        path = folder.join(format!("{REFUSED}{copy}-{name}"));
        copy += 1;
    }
    disk.rename(&folder.join(name), &path)?;
    Ok(path)
}

/// Who left the marker is not known.
fn marker_signal() -> Signal {
    Signal {
        id: SignalId::new(MARKER).expect("the marker's name is a safe component"),
        verb: Verb::Cancel,
        actor: MARKER.to_owned(),
        note: None,
    }
}
