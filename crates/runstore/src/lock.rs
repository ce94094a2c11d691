//! Who owns a run: whoever holds the kernel's lock on `driver.lock`. The
//! file is never removed and its text proves nothing; nothing is taken over
//! by age.
//!
//! A reader that asks whether a run is owned must not take the lock from an
//! owner about to start. The kernel tells only those who try, so it holds a
//! shared lock for an instant; [`take`] therefore tries more than once before
//! it says that someone else is there. A `None` under many busy readers may
//! still be one of them: who must own a run asks again a little later.

use durable::disk::{Disk, DiskError, Kind, Lock};

use crate::layout::RunPlace;
use crate::limits;

/// Takes the run, unless someone has it. The run must exist. Its name is
/// then durable: its creator may have died between the rename that published
/// it and the sync of the folder, and nothing may be done for a run that a
/// loss of power could still take back.
pub fn take(disk: &dyn Disk, place: &RunPlace) -> Result<Option<Lock>, DiskError> {
    for _ in 0..limits::LOCK_TRIES {
        if let Some(lock) = disk.try_lock(&place.driver_lock())? {
            disk.sync_dir(&place.home.runs_of(&place.blueprint))?;
            return Ok(Some(lock));
        }
    }
    Ok(None)
}

/// Whether someone owns the run right now. Writes nothing: a run that never
/// had an owner has no lock file, and gets none here.
pub fn is_owned(disk: &dyn Disk, place: &RunPlace) -> Result<bool, DiskError> {
    let path = place.driver_lock();
    match disk.stat(&path)? {
        Some(stat) if stat.kind == Kind::File => disk.is_locked(&path),
        Some(_) | None => Ok(false),
    }
}
