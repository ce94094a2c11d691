//! A run by the beginning of its id. A whole id needs a look into each
//! blueprint's folder, a part of one the index; only where neither finds
//! anything, all runs are gone through before it is said that there is none.

use durable::Component;
use durable::disk::{Disk, DiskError, Kind};
use engine::RunId;

use super::read::Index;
use crate::layout::{Home, RunPlace};
use crate::list::{FindError, Found, blueprints, find as find_by_scan, find_among, not_a_query};

/// The run that [`crate::list::find`] finds.
pub fn find(
    disk: &dyn Disk,
    home: &Home,
    era: Option<&str>,
    query: &str,
) -> Result<Found, FindError> {
    if let Err(source) = Component::new(query) {
        return Err(not_a_query(query, source));
    }
    let mut matching = whole(disk, home, query)?;
    if matching.is_empty()
        && let Some(era) = era
        && let Some(index) = Index::open(disk, home, era)
        && let Ok(found) = index.beginning_with(disk, query)
    {
        matching = there(disk, found.into_iter().collect())?;
    }
    match matching.is_empty() {
        true => find_by_scan(disk, home, query),
        false => Ok(find_among(disk, matching, query)?),
    }
}

/// The runs of just this id, one a blueprint.
fn whole(disk: &dyn Disk, home: &Home, query: &str) -> Result<Vec<RunPlace>, DiskError> {
    let Ok(run) = RunId::new(query) else { return Ok(Vec::new()) };
    if !query.contains('-') {
        return Ok(Vec::new());
    }
    let places = blueprints(disk, home)?.into_iter().map(|blueprint| home.place(&blueprint, &run));
    there(disk, places.collect())
}

fn there(disk: &dyn Disk, mut places: Vec<RunPlace>) -> Result<Vec<RunPlace>, DiskError> {
    let mut failed = None;
    places.retain(|place| match disk.stat(&place.folder()) {
        Ok(found) => found.map(|stat| stat.kind) == Some(Kind::Folder),
        Err(error) => {
            failed.get_or_insert(error);
            false
        }
    });
    failed.map_or(Ok(places), Err)
}
