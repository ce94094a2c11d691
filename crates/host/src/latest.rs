//! The run that this host has launched last. Whoever launches a run mostly
//! looks on, and need not search the home for it.

use std::sync::{Arc, Mutex, PoisonError};

use durable::disk::{Disk, Kind};
use runstore::RunPlace;

/// Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Latest(Arc<Mutex<Option<RunPlace>>>);

impl Latest {
    pub(crate) fn keep(&self, place: &RunPlace) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(place.clone());
    }

    /// That run, if this is its whole id and it is still there.
    pub(crate) fn find(&self, disk: &dyn Disk, query: &str) -> Option<RunPlace> {
        let place = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let is_there = |place: &RunPlace| {
            let found = disk.stat(&place.folder());
            found.is_ok_and(|found| found.is_some_and(|stat| stat.kind == Kind::Folder))
        };
        Some(place).filter(|place| place.run.as_str() == query).filter(is_there)
    }
}

#[cfg(test)]
mod tests {
    use blueprint::BlueprintId;
    use durable::disk::RealDisk;
    use engine::RunId;
    use runstore::Home;

    use super::*;

    #[test]
    fn a_run_is_known_by_its_whole_id_while_it_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let latest = Latest::default();
        assert_eq!(latest.find(&RealDisk, "1796100000000-0000002a"), None);
        let run = RunId::new("1796100000000-0000002a").unwrap();
        let home = Home::at(folder.path().to_owned());
        let place = home.place(&BlueprintId::new("nightly").unwrap(), &run);
        latest.keep(&place);
        assert_eq!(latest.find(&RealDisk, run.as_str()), None);
        std::fs::create_dir_all(place.folder()).unwrap();
        assert_eq!(latest.find(&RealDisk, run.as_str()), Some(place));
        assert_eq!(latest.find(&RealDisk, "1796100000000"), None);
    }
}
