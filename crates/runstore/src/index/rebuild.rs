//! Making the index anew from the runs themselves. Lines of the old index
//! whose run's log is as long as they say spare a look into that run. On the
//! way what crashes have left beside the runs is taken away.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;

use blueprint::BlueprintId;
use durable::disk::{Disk, DiskError};
use durable::entropy::Entropy;

use super::line::{Entry, FORMAT, Header};
use super::open::OpenRuns;
use super::read::{key, lines};
use crate::create;
use crate::layout::{Home, RunPlace};
use crate::limits;
use crate::list;
use crate::prune;
use crate::repair;

/// The open runs for one who may write: from the index as it stands, or made
/// anew when it is not sound or has grown long. `None` when someone else is
/// making it.
pub fn refresh(
    disk: &dyn Disk,
    home: &Home,
    era: &str,
    entropy: &dyn Entropy,
) -> Result<Option<OpenRuns>, DiskError> {
    match OpenRuns::look(disk, home, era) {
        Some(open) if !open.is_long() => return Ok(Some(open)),
        Some(_) | None => {}
    }
    rebuild(disk, home, era, entropy, Believe::Ends)?;
    Ok(OpenRuns::look(disk, home, era))
}

/// What the making of an index believes of the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Believe {
    /// The ends of runs whose logs are as long as it says.
    Ends,
    /// Nothing: each run is looked into.
    Nothing,
}

/// The era of an index that nobody may believe: it is just being made.
const NO_ERA: &str = "";

/// Makes the index anew. Gives the number of its runs; `None` when someone
/// else is at it or has removed it meanwhile, or when there is no folder of
/// runs.
pub fn rebuild(
    disk: &dyn Disk,
    home: &Home,
    era: &str,
    entropy: &dyn Entropy,
    believe: Believe,
) -> Result<Option<usize>, DiskError> {
    if disk.stat(&home.runs())?.is_none() {
        return Ok(None);
    }
    let Some(_lock) = disk.try_lock(&home.index_lock())? else { return Ok(None) };
    let salt = entropy.hex8();
    if disk.stat(&home.index())?.is_none() {
        // So that births can be told from here on.
        disk.create(&home.index(), &encode(&[], &[], NO_ERA, &salt))?;
    }
    let old = disk.read(&home.index(), limits::INDEX_BYTES).unwrap_or_default();
    let mut known = Known::of(&old, home);
    if believe == Believe::Nothing {
        known.ends.clear();
    }
    let mut found = Vec::new();
    for blueprint in list::blueprints(disk, home)? {
        sweep(disk, home, &blueprint)?;
        for place in list::places_of(disk, home, &blueprint)? {
            let entry = known.look(disk, &place)?;
            found.push((key(disk, home, &entry)?, entry));
        }
    }
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    let runs = found.len();
    let there: BTreeSet<&RunPlace> = found.iter().map(|(key, _)| &key.place).collect();
    let unborn: Vec<Entry> = known.unborn(&there).collect();
    let entries: Vec<Entry> = found.into_iter().map(|(_, entry)| entry).collect();
    let new = encode(&entries, &unborn, era, &salt);
    let is_made = replace(disk, home, &new, old.len() as u64, &salt)?;
    Ok(is_made.then_some(runs))
}

/// The lines of an index that may be anything.
struct Known {
    ends: BTreeMap<RunPlace, Entry>,
    births: BTreeMap<RunPlace, Entry>,
}

impl Known {
    fn of(bytes: &[u8], home: &Home) -> Self {
        let (mut ends, mut births) = (BTreeMap::new(), BTreeMap::new());
        for entry in lines(bytes).filter_map(Entry::decode) {
            let kind = if entry.end.is_some() { &mut ends } else { &mut births };
            kind.insert(entry.place(home), entry);
        }
        Self { ends, births }
    }

    /// What is to be said of a run that is there.
    fn look(&self, disk: &dyn Disk, place: &RunPlace) -> Result<Entry, DiskError> {
        let log = disk.stat(&place.events())?.map(|stat| stat.bytes);
        if let Some(entry) = self.ends.get(place)
            && entry.end.as_ref().map(|end| end.log_bytes) == log
        {
            return Ok(entry.clone());
        }
        // Who cannot be read is open: it is looked at again and again.
        let Ok(summary) = list::summary(disk, place) else { return Ok(Entry::born(place)) };
        let entry = Entry::of(&summary);
        if entry.end.is_some() {
            repair::tidy(disk, place)?;
        }
        Ok(entry)
    }

    /// Births of runs that are not there. Each may be about to be published,
    /// so it is kept once; the next time it is of a creation cut short.
    fn unborn(&self, there: &BTreeSet<&RunPlace>) -> impl Iterator<Item = Entry> {
        let missing = self.births.iter().filter(|(place, entry)| {
            !entry.again && !there.contains(place) && !self.ends.contains_key(*place)
        });
        missing.map(|(_, entry)| Entry { again: true, ..entry.clone() })
    }
}

/// Takes away what was begun and cut short beside the runs of a blueprint.
fn sweep(disk: &dyn Disk, home: &Home, blueprint: &BlueprintId) -> Result<(), DiskError> {
    create::sweep(disk, home, blueprint)?;
    prune::sweep(disk, home, blueprint)?;
    Ok(())
}

/// Ended runs in the order of a listing turned round, then the others.
fn encode(entries: &[Entry], unborn: &[Entry], era: &str, salt: &str) -> Vec<u8> {
    let (ended, open): (Vec<&Entry>, Vec<&Entry>) =
        entries.iter().partition(|entry| entry.end.is_some());
    let sorted: Vec<u8> = ended.into_iter().flat_map(Entry::encode).collect();
    let header = Header {
        format: FORMAT,
        salt: salt.to_owned(),
        era: era.to_owned(),
        sorted: sorted.len() as u64,
    };
    let mut bytes = header.encode();
    bytes.extend(sorted);
    bytes.extend(open.into_iter().chain(unborn).flat_map(Entry::encode));
    bytes
}

/// Puts the new index in the place of the old one, of which `read` bytes are
/// in it. The old one is moved aside first, so that what was written to it
/// meanwhile can be taken over; whoever writes to it later sees that it is
/// not the index any more. In between there is none: who reads scans, and who
/// writes does it to the one aside. Nothing is synced: after a loss of power
/// the index is of another era. Says whether there was one to replace.
fn replace(
    disk: &dyn Disk,
    home: &Home,
    new: &[u8],
    read: u64,
    salt: &str,
) -> Result<bool, DiskError> {
    let (path, aside) = (home.index(), home.index_aside());
    let temporary = home.runs().join(format!(".index.{salt}.tmp"));
    for name in disk.list(&home.runs())? {
        if name.starts_with(".index.") && name.ends_with(".tmp") {
            disk.remove_file(&home.runs().join(name))?;
        }
    }
    disk.create(&temporary, new)?;
    match disk.rename(&path, &aside) {
        Ok(()) => {}
        // Who could not write to it has removed it, and with it what others
        // had written: the new one may lack a birth.
        Err(fault) if fault.source.kind() == ErrorKind::NotFound => {
            disk.remove_file(&temporary)?;
            return Ok(false);
        }
        Err(fault) => return Err(fault),
    }
    disk.rename(&temporary, &path)?;
    let late = disk.read_from(&aside, read, limits::INDEX_BYTES)?;
    let late: Vec<u8> =
        lines(&late).filter_map(Entry::decode).flat_map(|entry| entry.encode()).collect();
    if !late.is_empty() {
        disk.append(&path)?.write(&late)?;
    }
    disk.remove_file(&aside)?;
    Ok(true)
}
