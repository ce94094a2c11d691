//! One walk over a log, piece by piece: whatever its length, no more than a
//! chunk and its longest line are in memory.

use std::ops::ControlFlow;
use std::path::Path;

use durable::disk::{Disk, DiskError};
use durable::tail::{Line, Position, Scanner};

use crate::limits;

/// Feeds the log at `path` to `scanner`, from its position on, and shows
/// each line of the valid prefix to `visit`, until that breaks or the file
/// ends.
pub(crate) fn walk<E: From<DiskError>>(
    disk: &dyn Disk,
    path: &Path,
    scanner: &mut Scanner,
    mut visit: impl FnMut(Line<'_>) -> Result<ControlFlow<()>, E>,
) -> Result<(), E> {
    let Position { mut offset, .. } = scanner.position();
    loop {
        let bytes = disk.read_from(path, offset, limits::CHUNK_BYTES)?;
        let read = bytes.len() as u64;
        offset = offset.saturating_add(read);
        scanner.feed(&bytes);
        while let Some(line) = scanner.next_line() {
            if visit(line)?.is_break() {
                return Ok(());
            }
        }
        if read < limits::CHUNK_BYTES {
            return Ok(());
        }
    }
}
