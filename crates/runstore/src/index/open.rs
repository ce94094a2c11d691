//! The runs whose end the index does not know of, and no more: each command
//! that ends looks whether one of them has lost its owner. So a line is only
//! looked at and not read.

use std::collections::HashMap;

use blueprint::BlueprintId;
use durable::disk::Disk;
use engine::RunId;

use super::line::Glance;
use super::read::{File, lines};
use crate::layout::{Home, RunPlace};
use crate::limits;

/// What a sound index says of runs that go on. They may have ended all the
/// same, or never have come to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRuns {
    places: Vec<RunPlace>,
    /// So much was added to the index that it is better made anew.
    is_long: bool,
}

impl OpenRuns {
    /// From the index, when there is one that is sound and of this era. One
    /// that cannot be read is as good as none.
    pub fn look(disk: &dyn Disk, home: &Home, era: &str) -> Option<Self> {
        (0..limits::INDEX_TRIES).find_map(|_| Self::once(disk, home, era)).flatten()
    }

    /// By name.
    pub fn places(&self) -> &[RunPlace] {
        &self.places
    }

    pub fn is_long(&self) -> bool {
        self.is_long
    }

    /// The same, but for a file that is replaced meanwhile.
    fn once(disk: &dyn Disk, home: &Home, era: &str) -> Option<Option<Self>> {
        let Some(file) = File::of_era(disk, home, era) else { return Some(None) };
        let later = file.later(disk).ok()?;
        let Some(later) = later else { return Some(None) };
        Some(Self::among(&later, home, file.sorted_bytes()))
    }

    fn among(later: &[u8], home: &Home, sorted_bytes: u64) -> Option<Self> {
        let mut settled = 0;
        let mut has_ended: HashMap<(&str, &str), bool> = HashMap::new();
        let mut lines = lines(later).peekable();
        while let Some(line) = lines.next() {
            let Some(glance) = Glance::at(line) else {
                // The last one may still be on its way.
                if lines.peek().is_none() { break } else { return None }
            };
            let ends = glance.status.is_some();
            settled += if ends { line.len() } else { 0 };
            *has_ended.entry((glance.blueprint, glance.run)).or_default() |= ends;
        }
        let open = has_ended.into_iter().filter(|(_, has_ended)| !has_ended);
        let place = |((blueprint, run), _): ((&str, &str), bool)| {
            Some(home.place(&BlueprintId::new(blueprint).ok()?, &RunId::new(run).ok()?))
        };
        let mut places: Vec<RunPlace> = open.map(place).collect::<Option<_>>()?;
        places.sort();
        let sorted = usize::try_from(sorted_bytes).unwrap_or(usize::MAX);
        Some(Self { places, is_long: settled > limits::INDEX_LATER_BYTES + sorted / 16 })
    }
}
