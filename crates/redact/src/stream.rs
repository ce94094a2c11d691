//! The masker of a stream: first the known values give way, then what has the
//! shape of a secret. Both stages keep the same promise, so their sum does: how
//! the input was cut into pieces never shows in the output. Pure.

use std::fmt;
use std::sync::Arc;

use crate::known_stream::KnownStream;
use crate::masker::Known;
use crate::pattern::{Marks, PatternStream};

/// Masks one stream. What it holds back is bounded: less than the longest known
/// form, and what a pattern has to see before it can decide.
pub struct StreamMasker {
    known: KnownStream,
    patterns: Option<PatternStream>,
}

impl StreamMasker {
    pub(crate) fn new(known: Option<Arc<Known>>, marks: Option<Arc<Marks>>) -> Self {
        Self { known: KnownStream::new(known), patterns: marks.map(PatternStream::new) }
    }

    /// The masker of a text that stands as a value behind this name.
    pub(crate) fn behind_name(
        name: &str,
        known: Option<Arc<Known>>,
        marks: Option<Arc<Marks>>,
    ) -> Self {
        let patterns = marks.map(|marks| PatternStream::behind_name(name, marks));
        Self { known: KnownStream::new(known), patterns }
    }

    /// Takes the next bytes and gives those that are ready. A character is
    /// never cut in two, so each piece can be read as text.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let ready = self.known.push(bytes);
        match &mut self.patterns {
            Some(patterns) => patterns.push(&ready),
            None => ready,
        }
    }

    /// Gives what is left. After it the masker is ready for another stream;
    /// the count of hits goes on.
    pub fn finish(&mut self) -> Vec<u8> {
        let rest = self.known.finish();
        match &mut self.patterns {
            Some(patterns) => {
                let mut out = patterns.push(&rest);
                out.extend(patterns.finish());
                out
            }
            None => rest,
        }
    }

    /// How many marks were set so far.
    pub fn hits(&self) -> usize {
        self.known.hits() + self.patterns.as_ref().map_or(0, PatternStream::hits)
    }

    /// How many bytes the patterns looked at, each look counted.
    #[cfg(test)]
    pub(crate) fn visits(&self) -> u64 {
        self.patterns.as_ref().map_or(0, PatternStream::visits)
    }

    #[cfg(test)]
    pub(crate) fn held_back_bytes(&self) -> usize {
        self.patterns.as_ref().map_or(0, PatternStream::held_back_bytes)
    }
}

impl fmt::Debug for StreamMasker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamMasker").field("hits", &self.hits()).finish_non_exhaustive()
    }
}
