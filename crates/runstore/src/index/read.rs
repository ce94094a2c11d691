//! The index as it stands: which runs come next in a listing, which have an
//! id that begins so. A line is believed for what
//! cannot change; all else is asked of the run itself. Nothing is written.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use blueprint::BlueprintId;
use durable::Timestamp;
use durable::disk::{Disk, DiskError};

use engine::RunId;

use super::line::{Entry, Glance, Header, first_line, run_of};
use crate::layout::{Home, RunPlace};
use crate::limits;
use crate::list::{Summary, begins_with, begun, begun_of_id, places, summary};
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

/// A sound index. Of the ended runs that stand in order no more is read than
/// is asked for.
#[derive(Debug)]
pub struct Index {
    file: File,
    /// What came later, by place; of each run the most that is known.
    later: BTreeMap<RunPlace, Entry>,
}

/// A line of the index is not what was written, or it was made anew while it
/// was read. The home must be scanned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unsound;

/// The file, as its first line tells one from another.
#[derive(Debug)]
pub(super) struct File {
    home: Home,
    first: Vec<u8>,
    /// Where ended runs stand in order.
    sorted: Range<u64>,
}

/// Which entries are wanted, by a look at the beginning of their lines.
pub type Wanted<'a> = &'a dyn Fn(&Glance<'_>) -> bool;

/// The wanted runs of a home in the order of a listing.
pub struct Newest<'a> {
    index: &'a Index,
    disk: &'a dyn Disk,
    wanted: Wanted<'a>,
    after: Option<Key>,
    later: std::vec::IntoIter<(Key, Entry)>,
    next_later: Option<(Key, Entry)>,
    /// The end of what was not yet read, and a piece behind it of which the
    /// first `left` bytes were not yet shown.
    unread: u64,
    piece: Vec<u8>,
    left: usize,
    next_sorted: Option<(Key, Entry)>,
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
        (0..limits::INDEX_TRIES).find_map(|_| Self::once(disk, home, era)).flatten()
    }

    /// The same, but for a file that is replaced meanwhile.
    fn once(disk: &dyn Disk, home: &Home, era: &str) -> Option<Option<Self>> {
        let Some(file) = File::of_era(disk, home, era) else { return Some(None) };
        let later = file.later(disk).ok()?;
        let Some(later) = later else { return Some(None) };
        let mut index = Self { file, later: BTreeMap::new() };
        Some(index.take_later(&later).is_ok().then_some(index))
    }

    /// The wanted runs behind `after`, in the order of a listing.
    pub fn newest<'a>(
        &'a self,
        disk: &'a dyn Disk,
        after: Option<&Key>,
        wanted: Wanted<'a>,
    ) -> Result<Newest<'a>, DiskError> {
        let mut later = Vec::new();
        for entry in self.later.values().filter(|entry| wanted(&Glance::of(entry))) {
            later.push((key(disk, &self.file.home, entry)?, entry.clone()));
        }
        later.sort_by(|(a, _): &(Key, Entry), (b, _)| Reverse(a).cmp(&Reverse(b)));
        later.retain(|(key, _)| after.is_none_or(|after| key < after));
        let mut later = later.into_iter();
        Ok(Newest {
            index: self,
            disk,
            wanted,
            after: after.cloned(),
            next_later: later.next(),
            later,
            unread: self.file.sorted.end,
            piece: Vec::new(),
            left: 0,
            next_sorted: None,
        })
    }

    /// The places of runs whose ids begin with `query`. Not all of them need
    /// be there.
    pub fn beginning_with(
        &self,
        disk: &dyn Disk,
        query: &str,
    ) -> Result<BTreeSet<RunPlace>, Unsound> {
        let sorted = self.file.read(disk, self.file.sorted.clone())?;
        let begins = |line: &&[u8]| run_of(line).is_some_and(|run| begins_with(run, query));
        let sorted = lines(&sorted).filter(begins).filter_map(Entry::decode);
        let sorted = sorted.map(|entry| entry.place(&self.file.home));
        let later = self.later.keys().filter(|place| begins_with(place.run.as_str(), query));
        Ok(sorted.chain(later.cloned()).collect())
    }

    fn take_later(&mut self, bytes: &[u8]) -> Result<(), Unsound> {
        let mut lines = lines(bytes).peekable();
        while let Some(line) = lines.next() {
            let Some(entry) = Entry::decode(line) else {
                // The last one may still be on its way.
                return if lines.peek().is_none() { Ok(()) } else { Err(Unsound) };
            };
            let place = entry.place(&self.file.home);
            match self.later.get(&place) {
                Some(known) if known.end.is_some() && entry.end.is_none() => {}
                Some(_) | None => drop(self.later.insert(place, entry)),
            }
        }
        Ok(())
    }
}

impl File {
    /// The file, when its header is one of this era.
    pub(super) fn of_era(disk: &dyn Disk, home: &Home, era: &str) -> Option<Self> {
        let first = first(disk, home)?;
        let (header, from) = Header::decode(&first).filter(|(header, _)| header.era == era)?;
        let from = from as u64;
        let sorted = from..from.checked_add(header.sorted)?;
        Some(Self { home: home.clone(), first, sorted })
    }

    pub(super) fn sorted_bytes(&self) -> u64 {
        self.sorted.end - self.sorted.start
    }

    /// What was added behind the ended runs that stand in order; `None` where
    /// the file is shorter than it says.
    pub(super) fn later(&self, disk: &dyn Disk) -> Result<Option<Vec<u8>>, Unsound> {
        let to = self.sorted.end;
        let bytes = disk.stat(&self.home.index()).ok().flatten().map_or(0, |stat| stat.bytes);
        let later = self.read(disk, to..to.saturating_add(limits::INDEX_BYTES))?;
        Ok((bytes >= to).then_some(later))
    }

    /// Bytes of this file and of no other.
    fn read(&self, disk: &dyn Disk, range: Range<u64>) -> Result<Vec<u8>, Unsound> {
        let limit = range.end.saturating_sub(range.start);
        let bytes = disk.read_from(&self.home.index(), range.start, limit).map_err(|_| Unsound)?;
        match first(disk, &self.home).as_ref() == Some(&self.first) {
            true => Ok(bytes),
            false => Err(Unsound),
        }
    }
}

impl Newest<'_> {
    /// The next older line of the sorted part that is wanted.
    fn step_sorted(&mut self) -> Result<Option<(Key, Entry)>, Unsound> {
        loop {
            let Some(at) = self.piece[..self.left].iter().rposition(|byte| *byte == b'\n') else {
                if self.unread == self.index.file.sorted.start {
                    // Each line begins with its line feed.
                    return if self.left == 0 { Ok(None) } else { Err(Unsound) };
                }
                self.read_more()?;
                continue;
            };
            let line = at + 1..self.left;
            self.left = at;
            let glance = Glance::at(&self.piece[line.clone()]).ok_or(Unsound)?;
            if !(self.wanted)(&glance) || self.is_before(&glance) {
                continue;
            }
            let entry = Entry::decode(&self.piece[line]).ok_or(Unsound)?;
            let key = Key { begun: entry.begun(), place: entry.place(&self.index.file.home) };
            let is_behind = self.after.as_ref().is_none_or(|after| key < *after);
            if is_behind && !self.index.later.contains_key(&key.place) {
                return Ok(Some((key, entry)));
            }
        }
    }

    /// Whether the time in the id alone says that the run comes before those
    /// that were asked for.
    fn is_before(&self, glance: &Glance<'_>) -> bool {
        let after = self.after.as_ref().and_then(|after| after.begun);
        after.zip(begun_of_id(glance.run)).is_some_and(|(after, begun)| begun > after)
    }

    /// Reads the piece before the one at hand, twice as long as that.
    fn read_more(&mut self) -> Result<(), Unsound> {
        let bytes =
            (self.piece.len() as u64 * 2).clamp(limits::INDEX_PIECE_BYTES, limits::CHUNK_BYTES);
        let start = self.unread.saturating_sub(bytes).max(self.index.file.sorted.start);
        let mut piece = self.index.file.read(self.disk, start..self.unread)?;
        if piece.len() as u64 != self.unread - start {
            return Err(Unsound);
        }
        piece.extend_from_slice(&self.piece[..self.left]);
        (self.unread, self.left, self.piece) = (start, piece.len(), piece);
        Ok(())
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

impl std::fmt::Debug for Newest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Newest").field("index", &self.index.file).finish_non_exhaustive()
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

/// The first line, which tells one index from another.
pub(super) fn first(disk: &dyn Disk, home: &Home) -> Option<Vec<u8>> {
    let bytes = disk.read_from(&home.index(), 0, limits::INDEX_HEADER_BYTES).ok()?;
    Some(first_line(&bytes).to_vec())
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
