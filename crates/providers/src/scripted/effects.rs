//! A list of what was begun, a line an attempt, durable before the attempt
//! acts. Whoever crashes us reads it to see whether anything was done twice.

use std::path::Path;

use durable::disk::{Disk, DiskError};
use engine::AttemptKey;

/// The file and the disk it is on.
#[derive(Debug, Clone, Copy)]
pub struct EffectLog<'a> {
    pub disk: &'a dyn Disk,
    pub path: &'a Path,
}

impl EffectLog<'_> {
    pub(super) fn note(&self, key: &AttemptKey) -> Result<(), DiskError> {
        self.create()?;
        let mut file = self.disk.append(self.path)?;
        file.write(format!("{key}\n").as_bytes())?;
        file.sync()
    }

    fn create(&self) -> Result<(), DiskError> {
        if self.disk.stat(self.path)?.is_some() {
            return Ok(());
        }
        if let Err(error) = self.disk.create(self.path, b"") {
            // Another attempt may have been quicker, which is as good.
            if self.disk.stat(self.path)?.is_none() {
                return Err(error);
            }
        }
        self.path.parent().map_or(Ok(()), |folder| self.disk.sync_dir(folder))
    }
}
