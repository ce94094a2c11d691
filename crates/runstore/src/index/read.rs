//! The index as it stands: which runs are open, which come next in a
//! listing, which have an id that begins so. A line is believed for what
//! cannot change; all else is asked of the run itself. Nothing is written.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use blueprint::BlueprintId;
use durable::Timestamp;
use durable::disk::{Disk, DiskError};

use engine::RunId;

use super::line::{Entry, Header, run_of};
use crate::layout::{Home, RunPlace};
use crate::limits;
use crate::list::{Summary, begins_with, begun, places, summary};
use crate::open::OpenError;

/// A run's place in a listing: the newest first, then by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub begun: Option<Timestamp>,
    pub place: RunPlace,
}

impl Key {
    /// A text that [`Key::read`] understands.
    pub fn text(&self) -> String {
        let begun = self.begun.map_or_else(|| "-".to_owned(), |begun| begun.millis().to_string());
        format!("{begun}:{}:{}", self.place.blueprint, self.place.run)
    }

    pub fn read(text: &str, home: &Home) -> Option<Self> {
        let mut parts = text.splitn(3, ':');
        let begun = match parts.next()? {
            "-" => None,
            millis => Some(Timestamp::from_millis(millis.parse().ok()?)),
        };
        let blueprint = BlueprintId::new(parts.next()?).ok()?;
        let run = RunId::new(parts.next()?).ok()?;
        Some(Self { begun, place: home.place(&blueprint, &run) })
    }
}

/// A sound index.
#[derive(Debug)]
pub struct Index {
    home: Home,
    bytes: Vec<u8>,
    sorted: Range<usize>,
    /// What came later, by place; of each run the most that is known.
    later: BTreeMap<RunPlace, Entry>,
    /// Bytes of it that tell of ends.
    settled: usize,
}

/// A line of the index is not what was written; the home must be scanned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unsound;

/// The runs of a home in the order of a listing.
#[derive(Debug)]
pub struct Newest<'a> {
    index: &'a Index,
    later: std::vec::IntoIter<(Key, Entry)>,
    next_later: Option<(Key, Entry)>,
    sorted: Range<usize>,
    next_sorted: Option<(Key, Entry)>,
    seen: BTreeSet<RunPlace>,
}

/// The same without an index: each run is there, and nothing is known of it.
pub fn scan(
    disk: &dyn Disk,
    home: &Home,
    after: Option<&Key>,
) -> Result<Vec<(Key, Entry)>, DiskError> {
    let mut runs = Vec::new();
    for place in places(disk, home)? {
        let (entry, key) = (Entry::born(&place), Key { begun: begun(disk, &place)?, place });
        if after.is_none_or(|after| key < *after) {
            runs.push((key, entry));
        }
    }
    runs.sort_by(|(a, _), (b, _)| Reverse(a).cmp(&Reverse(b)));
    Ok(runs)
}

impl Index {
    /// The index, when there is one that is sound and of this era. One that
    /// cannot be read is as good as none.
    pub fn open(disk: &dyn Disk, home: &Home, era: &str) -> Option<Self> {
        let bytes = disk.read(&home.index(), limits::INDEX_BYTES).ok()?;
        let (header, from) = Header::decode(&bytes).filter(|(header, _)| header.era == era)?;
        let to = from.checked_add(usize::try_from(header.sorted).ok()?)?;
        if to > bytes.len() {
            return None;
        }
        let mut index = Self {
            home: home.clone(),
            bytes,
            sorted: from..to,
            later: BTreeMap::new(),
            settled: 0,
        };
        index.read_later().is_ok().then_some(index)
    }

    /// Runs whose end the index does not know of. They may have ended all the
    /// same, or never have come to be.
    pub fn open_runs(&self) -> impl Iterator<Item = &RunPlace> {
        self.later.iter().filter(|(_, entry)| entry.end.is_none()).map(|(place, _)| place)
    }

    /// Whether so much was added that the index is better made anew.
    pub fn is_long(&self) -> bool {
        self.settled > limits::INDEX_LATER_BYTES + self.sorted.len() / 16
    }

    /// All runs behind `after`, in the order of a listing.
    pub fn newest(&self, disk: &dyn Disk, after: Option<&Key>) -> Result<Newest<'_>, DiskError> {
        let mut later = Vec::new();
        for entry in self.later.values() {
            later.push((key(disk, &self.home, entry)?, entry.clone()));
        }
        later.sort_by(|(a, _): &(Key, Entry), (b, _)| Reverse(a).cmp(&Reverse(b)));
        later.retain(|(key, _)| after.is_none_or(|after| key < after));
        let mut newest = Newest {
            index: self,
            later: later.into_iter(),
            next_later: None,
            sorted: self.sorted.clone(),
            next_sorted: None,
            seen: self.later.keys().cloned().collect(),
        };
        newest.next_later = newest.later.next();
        // What is unsound shows itself when the listing comes to it.
        while let Ok(Some((key, entry))) = newest.step_sorted() {
            if after.is_none_or(|after| key < *after) {
                newest.next_sorted = Some((key, entry));
                break;
            }
        }
        Ok(newest)
    }

    /// The places of runs whose ids begin with `query`. Not all of them need
    /// be there.
    pub fn beginning_with(&self, query: &str) -> Vec<RunPlace> {
        let lines = lines(&self.bytes[self.sorted.clone()]);
        let matching = lines.filter(|line| run_of(line).is_some_and(|run| begins_with(run, query)));
        let sorted = matching.filter_map(Entry::decode).map(|entry| entry.place(&self.home));
        let later = self.later.keys().filter(|place| begins_with(place.run.as_str(), query));
        let found: BTreeSet<RunPlace> = sorted.chain(later.cloned()).collect();
        found.into_iter().collect()
    }

    fn read_later(&mut self) -> Result<(), Unsound> {
        let mut lines = lines(&self.bytes[self.sorted.end..]).peekable();
        while let Some(line) = lines.next() {
            let Some(entry) = Entry::decode(line) else {
                // The last one may still be on its way.
                return if lines.peek().is_none() { Ok(()) } else { Err(Unsound) };
            };
            self.settled += entry.end.as_ref().map_or(0, |_| line.len());
            let place = entry.place(&self.home);
            match self.later.get(&place) {
                Some(known) if known.end.is_some() && entry.end.is_none() => {}
                Some(_) | None => drop(self.later.insert(place, entry)),
            }
        }
        Ok(())
    }
}

impl Newest<'_> {
    /// The next older line of the sorted part.
    fn step_sorted(&mut self) -> Result<Option<(Key, Entry)>, Unsound> {
        while !self.sorted.is_empty() {
            let rest = &self.index.bytes[self.sorted.clone()];
            let at = rest.iter().rposition(|byte| *byte == b'\n').ok_or(Unsound)?;
            let entry = Entry::decode(&rest[at + 1..]).ok_or(Unsound)?;
            self.sorted.end = self.sorted.start + at;
            let key = Key { begun: entry.begun(), place: entry.place(&self.index.home) };
            if !self.seen.contains(&key.place) {
                return Ok(Some((key, entry)));
            }
        }
        Ok(None)
    }
}

impl Iterator for Newest<'_> {
    type Item = Result<(Key, Entry), Unsound>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next_sorted.is_none() {
            match self.step_sorted() {
                Ok(next) => self.next_sorted = next,
                Err(unsound) => return Some(Err(unsound)),
            }
        }
        let later = match (&self.next_later, &self.next_sorted) {
            (Some((later, _)), Some((sorted, _))) => later > sorted,
            (later, _) => later.is_some(),
        };
        if later {
            let next = self.later.next();
            return std::mem::replace(&mut self.next_later, next).map(Ok);
        }
        self.next_sorted.take().map(Ok)
    }
}

impl Entry {
    /// What a listing says of the run; `None` when it is not there. The end
    /// of a run is taken from the line while the log is as long as it was.
    pub fn summary(&self, disk: &dyn Disk, home: &Home) -> Result<Option<Summary>, OpenError> {
        let place = self.place(home);
        let Some(log) = disk.stat(&place.events())? else { return Ok(None) };
        if let Some(end) = self.end.as_ref().filter(|end| end.log_bytes == log.bytes)
            && let Some(summary) = end.summary(place.clone())
        {
            return Ok(Some(summary));
        }
        match summary(disk, &place) {
            Ok(summary) => Ok(Some(summary)),
            // It has gone meanwhile.
            Err(OpenError::NoRun { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// All lines, without the line feeds, and without the empty one before the
/// first line feed.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

pub(super) fn key(disk: &dyn Disk, home: &Home, entry: &Entry) -> Result<Key, DiskError> {
    let place = entry.place(home);
    let known = entry.begun();
    let begun = if known.is_some() { known } else { begun(disk, &place)? };
    Ok(Key { begun, place })
}
