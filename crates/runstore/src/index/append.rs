//! Writing to the index beside the work on a run. It is a cache: nothing is
//! synced, and no error of it is an error of the run. A line is one write to
//! the end of the file; whoever replaces the file takes over what was
//! written to the old one, and whoever has written looks whether the file is
//! still the same.

use std::io::ErrorKind;
use std::path::Path;

use durable::disk::{Disk, DiskError};
use engine::RunState;

use super::line::{Entry, Header};
use super::read::first;
use crate::layout::{Home, RunPlace};
use crate::limits;
use crate::list;
use crate::writer::RunWriter;

/// The index in which the birth of a run stands, for [`confirm`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told(Option<Vec<u8>>);

/// Tells of a run that is about to be published, so that none is ever
/// missing. A run that then is not published is passed over by readers.
pub fn born(disk: &dyn Disk, place: &RunPlace) -> Told {
    let told = add(disk, &place.home, &Entry::born(place));
    Told(told.unwrap_or_else(|_| {
        // Without the line the index is wrong, without the index nothing is.
        drop(disk.remove_file(&place.home.index()));
        None
    }))
}

/// Tells again of a run that is published now, when the index is another one
/// than that which was told.
pub fn confirm(disk: &dyn Disk, place: &RunPlace, told: &Told) {
    if first(disk, &place.home) != told.0 {
        born(disk, place);
    }
}

/// Tells of the end of the run, which is in the log already. Should this be
/// lost, the run is only looked at once more.
pub fn ended(disk: &dyn Disk, writer: &RunWriter, state: &RunState) {
    let place = writer.place();
    let summary = list::told(place, state, false, writer.position().offset);
    note(disk, &summary);
}

/// Tells what a look at the run has shown.
pub fn note(disk: &dyn Disk, summary: &list::Summary) {
    let entry = Entry::of(summary);
    if entry.end.is_some() {
        drop(add(disk, &summary.place.home, &entry));
    }
}

/// The line cannot be added to the index that is there.
struct Unfit;

impl From<DiskError> for Unfit {
    fn from(_: DiskError) -> Self {
        Self
    }
}

/// Adds a line, and gives the header of the index that has it; `None` when
/// there is no index.
fn add(disk: &dyn Disk, home: &Home, entry: &Entry) -> Result<Option<Vec<u8>>, Unfit> {
    let mut before = first(disk, home);
    for _ in 0..limits::INDEX_TRIES {
        match &before {
            Some(header) => {
                Header::decode(header).ok_or(Unfit)?;
                write_to(disk, &home.index(), entry)?;
            }
            // Perhaps it is just being replaced. What is in the old one before
            // the new one is in its place comes into that.
            None => write_to(disk, &home.index_aside(), entry)?,
        }
        let after = first(disk, home);
        if after == before {
            return Ok(after);
        }
        before = after;
    }
    Err(Unfit)
}

/// One write to the end of the file, if there is one.
fn write_to(disk: &dyn Disk, path: &Path, entry: &Entry) -> Result<(), DiskError> {
    match disk.append(path) {
        Ok(mut file) => file.write(&entry.encode()),
        Err(fault) if fault.source.kind() == ErrorKind::NotFound => Ok(()),
        Err(fault) => Err(fault),
    }
}
