//! The search for known values through a stream: bytes go in as they come,
//! masked bytes come out as soon as nothing that follows can change them. How
//! the input was cut into pieces never shows in the output. Pure.

use std::fmt;
use std::mem;
use std::sync::Arc;

use aho_corasick::Anchored;
use aho_corasick::automaton::{Automaton, StateID};

use crate::masker::Known;

/// Masks one stream. What it holds back is shorter than the longest known
/// form, and nothing where no form can have begun.
pub(crate) struct KnownStream {
    search: Option<Search>,
    /// Bytes taken in and not yet given out.
    pending: Vec<u8>,
    /// Offset in the stream of the first pending byte.
    base: u64,
    hits: usize,
}

/// The search through the stream so far.
struct Search {
    known: Arc<Known>,
    start: StateID,
    state: StateID,
    /// Offset in the stream of the next byte.
    at: u64,
    /// What will be masked: in order, and without overlap.
    regions: Vec<Region>,
}

/// A stretch of the stream that is covered by matches.
struct Region {
    from: u64,
    end: u64,
    name: Name,
}

/// The match that names a region: the one that begins first, and of those the
/// longest.
#[derive(Clone, Copy)]
struct Name {
    from: u64,
    bytes: usize,
    mark: usize,
}

impl KnownStream {
    pub(crate) fn new(known: Option<Arc<Known>>) -> Self {
        Self { search: known.map(Search::new), pending: Vec::new(), base: 0, hits: 0 }
    }

    /// Takes the next bytes and gives those that are ready. A character is
    /// never cut in two, so each piece can be read as text.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.pending.extend_from_slice(bytes);
        let settled = match &mut self.search {
            None => self.end(),
            Some(search) => {
                bytes.iter().for_each(|byte| search.step(*byte));
                search.settled().max(self.base)
            }
        };
        self.release(settled, false)
    }

    /// Gives what is left. After it the masker is ready for another stream;
    /// the count of hits goes on.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        let rest = self.release(self.end(), true);
        self.base = 0;
        if let Some(search) = &mut self.search {
            *search = Search::new(Arc::clone(&search.known));
        }
        rest
    }

    /// How many marks were given out so far.
    pub(crate) fn hits(&self) -> usize {
        self.hits
    }

    /// Gives everything before `settled`, an offset that no later match can
    /// begin before.
    fn release(&mut self, settled: u64, last: bool) -> Vec<u8> {
        let mut out = Vec::new();
        let mut from = self.base;
        let mut open = None;
        if let Some(search) = &mut self.search {
            let done = search.regions.iter().take_while(|region| region.end <= settled).count();
            let kept = search.regions.split_off(done);
            for region in mem::replace(&mut search.regions, kept) {
                out.extend_from_slice(between(&self.pending, self.base, from, region.from));
                out.extend_from_slice(search.known.mark(region.name.mark).as_bytes());
                from = region.end;
            }
            self.hits += done;
            open = search.regions.first().map(|region| region.from).filter(|from| *from < settled);
        }
        // The bytes of an open region are dropped: it may grow, but it is
        // masked in any case.
        let (plain_end, base) = match open {
            Some(open) => (open, settled),
            None if last => (settled, settled),
            None => {
                let end = settled - cut_bytes(between(&self.pending, self.base, from, settled));
                (end, end)
            }
        };
        out.extend_from_slice(between(&self.pending, self.base, from, plain_end));
        self.pending.drain(..(base - self.base) as usize);
        self.base = base;
        out
    }

    fn end(&self) -> u64 {
        self.base + self.pending.len() as u64
    }
}

impl Search {
    fn new(known: Arc<Known>) -> Self {
        let start = known
            .automaton
            .start_state(Anchored::No)
            .expect("the automaton is built to start anywhere");
        Self { known, start, state: start, at: 0, regions: Vec::new() }
    }

    fn step(&mut self, byte: u8) {
        self.state = self.known.automaton.next_state(Anchored::No, self.state, byte);
        self.at += 1;
        if let Some((bytes, mark)) = self.known.found(self.state) {
            let from = self.at - bytes as u64;
            self.cover(Region { from, end: self.at, name: Name { from, bytes, mark } });
        }
    }

    /// Adds a match that ends behind all regions, and joins what it overlaps.
    fn cover(&mut self, mut region: Region) {
        while let Some(last) = self.regions.pop_if(|last| last.end > region.from) {
            region.from = region.from.min(last.from);
            region.name = region.name.or_earlier(last.name);
        }
        self.regions.push(region);
    }

    /// The offset that no later match begins before.
    fn settled(&self) -> u64 {
        if self.state == self.start {
            return self.at;
        }
        self.at.saturating_sub(self.known.automaton.max_pattern_len() as u64 - 1)
    }
}

impl Name {
    fn or_earlier(self, other: Self) -> Self {
        if (other.from, self.bytes) < (self.from, other.bytes) { other } else { self }
    }
}

impl fmt::Debug for KnownStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownStream")
            .field("held_back_bytes", &self.pending.len())
            .field("hits", &self.hits)
            .finish_non_exhaustive()
    }
}

/// The pending bytes between two offsets; none where the second comes first.
fn between(pending: &[u8], base: u64, from: u64, end: u64) -> &[u8] {
    if from >= end { &[] } else { &pending[(from - base) as usize..(end - base) as usize] }
}

/// How many bytes at the end belong to a character that is not whole yet.
fn cut_bytes(bytes: &[u8]) -> u64 {
    let mut behind = 0;
    for byte in bytes.iter().rev().take(3) {
        behind += 1;
        let needed = match byte {
            0x80..=0xBF => continue,
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            _ => 0,
        };
        return if needed > behind { behind } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use durable::Sealed;

    use super::KnownStream;
    use crate::Masker;

    #[test]
    fn an_endless_value_is_not_kept_in_memory() {
        let value = Sealed::new("aaaaaa".to_owned());
        let masker = Masker::known_only([("a".to_owned(), value)]);
        let mut stream = KnownStream::new(masker.known);
        for _ in 0..1000 {
            assert_eq!(stream.push(&[b'a'; 100]), b"");
            assert!(stream.pending.len() < 12, "{} bytes", stream.pending.len());
        }
        assert_eq!(stream.push(b"\n"), b"[redacted:a]\n");
        assert_eq!(stream.hits(), 1);
    }
}
