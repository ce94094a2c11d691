//! Which runs try a run again: one empty file each in `retried_as/`, named
//! by the newer run. The newer run's own log names the older one.

use std::io::ErrorKind;

use durable::disk::{Disk, DiskError, create_dir_all};
use engine::RunId;

use crate::layout::RunPlace;

/// Notes, durably, that `newer` tries the run again.
pub fn note(disk: &dyn Disk, place: &RunPlace, newer: &RunId) -> Result<(), DiskError> {
    let folder = place.retried_as();
    create_dir_all(disk, &folder)?;
    match disk.create(&folder.join(newer.as_str()), b"") {
        Err(error) if error.source.kind() != ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    disk.sync_dir(&folder)
}

/// The runs that try this one again, by name.
pub fn list(disk: &dyn Disk, place: &RunPlace) -> Result<Vec<RunId>, DiskError> {
    let folder = place.retried_as();
    if disk.stat(&folder)?.is_none() {
        return Ok(Vec::new());
    }
    Ok(disk.list(&folder)?.iter().filter_map(|name| RunId::new(name).ok()).collect())
}
