//! What the end of a log means: all is well, the last write was cut short,
//! or something that was once acknowledged is no longer as it was.
//!
//! # The rules
//!
//! The *valid prefix* is the longest prefix of lines that end in a line
//! feed, whose hash is right, whose `prev` is the hash of the line before
//! and whose `seq` is the expected one (see [`crate::frame`]). When nothing
//! follows it the log is [`End::Clean`].
//!
//! A writer acknowledges a batch before it writes the next one. So after a
//! crash the bytes behind the valid prefix can only be of the one write that
//! was never acknowledged, and every whole line in them has a `batch` that
//! is at most the expected seq `E`. The log is [`End::Damaged`] when the
//! bytes show otherwise:
//!
//! - a line with a right hash whose `batch` is greater than `E`: a later
//!   batch was begun, so the missing line had been acknowledged;
//! - a line with a right hash whose `seq` is less than `E`: it stands twice
//!   or was moved;
//! - a line with a right hash just where line `E` must be that is not line
//!   `E`: a write that is cut short leaves no other whole line there.
//!
//! Otherwise the log is [`End::Torn`]: recovery may cut it to the valid
//! prefix. A line is looked for in each of the remaining stretches between
//! line feeds, at its beginning and behind garbage, because a damaged line
//! feed joins two lines.
//!
//! What no rule can see: damage within the last batch looks like a write cut
//! short, and a log cut at a line is a shorter valid log. For these a
//! [`Witness`] kept elsewhere is asked: a log that is shorter than its
//! witness, or has another hash at its place, is damaged, never torn.
//!
//! # Logs without hashes
//!
//! A first line that is a JSON object with a `seq` and no trace of our three
//! fields makes the whole log one that others wrote. Its lines are checked
//! to be JSON objects with contiguous `seq` and are marked
//! [`Trust::Unverified`]. An end without line feed is torn, anything else is
//! damaged. Such a log is read and never appended to.

use std::cmp::Reverse;
use std::io::BufRead as _;
use std::ops::Range;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::frame::{self, FrameError, Link};
use crate::{Seq, limits};

/// A place between two lines of a log, and all one must know to read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Bytes before this place.
    pub offset: u64,
    /// The seq of the line that begins here; the number of lines before.
    pub next_seq: Seq,
    /// The hash of the line before; [`Link::START`] at the beginning and
    /// everywhere in a log without hashes.
    pub last: Link,
}

/// What something kept outside a log knows of it: the line before `next_seq`
/// was there, with the hash `h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witness {
    pub next_seq: Seq,
    pub h: Link,
}

/// Whether the lines of a log carry hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    Verified,
    Unverified,
}

/// One line of the valid prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Bytes before the line.
    pub offset: u64,
    pub seq: Seq,
    /// The seq of the first event of the write that it was part of; its own
    /// seq in a log without hashes.
    pub batch: Seq,
    /// Its hash; [`Link::START`] in a log without hashes.
    pub h: Link,
    /// The JSON object, without the line feed.
    pub text: &'a [u8],
}

/// What the end of a log means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Every byte belongs to a valid line.
    Clean,
    /// What follows the first `keep` bytes is of a write that was never
    /// acknowledged; `dropped` bytes of it are there.
    Torn { keep: u64, dropped: u64, why: Why },
    /// The line that begins at `offset`, counted from 1 as `line`, should be
    /// event `expected` and is not, and it had been acknowledged.
    Damaged { offset: u64, line: u64, expected: Seq, why: Why },
}

/// What is wrong with the first line that is not valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Why {
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error("the line has seq {found}")]
    OtherSeq { found: Seq },
    #[error("the line does not follow the line before it")]
    OtherLink,
    #[error("the line has no end")]
    Unfinished,
    #[error("the line is not a JSON object with a seq")]
    NoEvent,
    #[error("the line is not the one that a checkpoint saw")]
    OtherThanWitnessed,
    #[error("the log ends before event {0}, up to which a checkpoint saw it")]
    ShorterThanWitnessed(Seq),
}

/// Reads a log piece by piece, in the memory of its longest line.
///
/// ```text
/// let mut scanner = Scanner::new(Position::START);
/// while let Some(bytes) = … {
///     scanner.feed(bytes);
///     while let Some(line) = scanner.next_line() { … }
/// }
/// match scanner.finish() { … }
/// ```
#[derive(Debug)]
pub struct Scanner {
    /// Bytes that were fed and not yet taken, from `start` on.
    buffer: Vec<u8>,
    start: usize,
    /// Of these, bytes known to hold no line feed.
    searched: usize,
    /// All bytes up to here were fed.
    fed: u64,
    /// The end of the valid prefix so far.
    position: Position,
    trust: Option<Trust>,
    /// What is still to be met, the nearest last.
    witnesses: Vec<Witness>,
    bad: Option<Bad>,
}

/// The first bad line, and whether an acknowledged one is known to be lost.
#[derive(Debug, Clone, Copy)]
struct Bad {
    why: Why,
    damage: bool,
}

/// The little that is read of a line without hashes.
#[derive(Deserialize)]
struct Bare {
    seq: Seq,
    batch: Option<IgnoredAny>,
    prev: Option<IgnoredAny>,
    h: Option<IgnoredAny>,
}

impl Position {
    /// The beginning of a log.
    pub const START: Self = Self { offset: 0, next_seq: Seq::FIRST, last: Link::START };

    /// What a reader that stands here can testify to.
    pub fn witness(self) -> Witness {
        Witness { next_seq: self.next_seq, h: self.last }
    }
}

impl Scanner {
    /// A reader of what follows `position`.
    pub fn new(position: Position) -> Self {
        let trust = match (position.next_seq, position.last) {
            (Seq::FIRST, _) => None,
            (_, Link::START) => Some(Trust::Unverified),
            (_, _) => Some(Trust::Verified),
        };
        Self {
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            fed: position.offset,
            position,
            trust,
            witnesses: Vec::new(),
            bad: None,
        }
    }

    /// Holds the log to `witness`. To be called before the first line is
    /// taken; a witness of a place before the start says nothing here.
    pub fn expect(&mut self, witness: Witness) {
        if witness == self.position.witness() || witness.next_seq < self.position.next_seq {
            return;
        }
        if witness.next_seq == self.position.next_seq {
            self.bad = Some(Bad { why: Why::OtherThanWitnessed, damage: true });
            return;
        }
        self.witnesses.push(witness);
        self.witnesses.sort_by_key(|witness| Reverse(witness.next_seq));
    }

    /// Hands over the next bytes of the log.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.start);
        self.start = 0;
        self.buffer.extend_from_slice(bytes);
        self.fed = self.fed.saturating_add(bytes.len() as u64);
    }

    /// The next line of the valid prefix. `None` when more bytes are needed,
    /// and for ever after a line that is not valid.
    pub fn next_line(&mut self) -> Option<Line<'_>> {
        loop {
            let chunk = self.take_chunk()?;
            if self.bad.is_some() {
                self.search(chunk);
                continue;
            }
            self.learn_trust(chunk.clone());
            match self.judge(chunk.clone()).and_then(|next| self.meet(next)) {
                Ok(next) => {
                    let (offset, seq) = (self.position.offset, self.position.next_seq);
                    self.position = next.position;
                    let (h, text) = (next.position.last, &self.buffer[chunk]);
                    return Some(Line { offset, seq, batch: next.batch, h, text });
                }
                Err(bad) => {
                    self.bad = Some(bad);
                    self.search(chunk);
                }
            }
        }
    }

    /// The end of the valid prefix, as far as lines were taken.
    pub fn position(&self) -> Position {
        self.position
    }

    /// Whether the lines carry hashes, once the first line has told.
    pub fn trust(&self) -> Option<Trust> {
        self.trust
    }

    /// What the end means, all bytes having been fed. Lines that were not
    /// taken are checked and passed over.
    pub fn finish(&mut self) -> End {
        while self.next_line().is_some() {}
        let rest = self.start..self.buffer.len();
        if !rest.is_empty() {
            if self.bad.is_none() {
                self.learn_trust(rest.clone());
                self.bad = Some(self.judge_unfinished(rest.clone()));
            }
            self.search(rest);
            self.start = self.buffer.len();
        }
        let Position { offset, next_seq, .. } = self.position;
        let short = self.witnesses.first().map(|witness| witness.next_seq);
        let damaged = |why| End::Damaged {
            offset,
            line: next_seq.0.saturating_add(1),
            expected: next_seq,
            why,
        };
        match (self.bad, short) {
            (Some(Bad { why, damage: true }), _) => damaged(why),
            (_, Some(seq)) => damaged(Why::ShorterThanWitnessed(seq)),
            (Some(Bad { why, damage: false }), None) => {
                End::Torn { keep: offset, dropped: self.fed.saturating_sub(offset), why }
            }
            (None, None) => End::Clean,
        }
    }
}

/// A line that was found valid: its batch and the place behind it.
struct Next {
    batch: Seq,
    position: Position,
}

impl Scanner {
    /// Takes the bytes up to the next line feed, which is taken too. Of a
    /// stretch that is too long for a line only the end is kept.
    fn take_chunk(&mut self) -> Option<Range<usize>> {
        let from = self.start + self.searched;
        if let Some(end) = line_feed(&self.buffer, from) {
            let chunk = self.start..end;
            self.start = end + 1;
            self.searched = 0;
            return Some(chunk);
        }
        self.searched = self.buffer.len() - self.start;
        if self.searched > limits::LINE_BYTES {
            let why = Why::Frame(FrameError::TooLong);
            self.bad.get_or_insert(Bad { why, damage: self.trust == Some(Trust::Unverified) });
            self.searched = limits::LINE_BYTES;
            self.start = self.buffer.len() - self.searched;
        }
        None
    }

    /// Lets the first line tell which kind of log this is.
    fn learn_trust(&mut self, chunk: Range<usize>) {
        if self.trust.is_none() {
            self.trust = first_line_trust(&self.buffer[chunk]);
        }
    }

    /// Whether the chunk is the line that is expected here.
    fn judge(&self, chunk: Range<usize>) -> Result<Next, Bad> {
        let (line, expected) = (&self.buffer[chunk], self.position);
        let (seq, batch, h) = match self.trust {
            Some(Trust::Verified) => {
                let framed = frame::open(line)
                    .map_err(|error| Bad { why: Why::Frame(error), damage: false })?;
                if framed.seq == expected.next_seq && framed.prev != expected.last {
                    return Err(Bad { why: Why::OtherLink, damage: true });
                }
                (framed.seq, framed.batch, framed.h)
            }
            Some(Trust::Unverified) => {
                let seq = bare_seq(line).ok_or(Bad { why: Why::NoEvent, damage: true })?;
                (seq, seq, Link::START)
            }
            None => return Err(Bad { why: Why::NoEvent, damage: false }),
        };
        if seq != expected.next_seq {
            return Err(Bad { why: Why::OtherSeq { found: seq }, damage: true });
        }
        let offset = expected.offset.saturating_add(line.len() as u64).saturating_add(1);
        let position = Position { offset, next_seq: seq.next(), last: h };
        Ok(Next { batch, position })
    }

    /// Asks the witnesses of the place behind a valid line.
    fn meet(&mut self, next: Next) -> Result<Next, Bad> {
        let here = |witness: &mut Witness| witness.next_seq == next.position.next_seq;
        while let Some(witness) = self.witnesses.pop_if(here) {
            if witness.h != next.position.last {
                return Err(Bad { why: Why::OtherThanWitnessed, damage: true });
            }
        }
        Ok(next)
    }

    /// What a last line without line feed is. A whole line with a right hash
    /// that has no business here is damage, as it is anywhere.
    fn judge_unfinished(&self, rest: Range<usize>) -> Bad {
        match self.judge(rest) {
            Err(bad) if bad.damage && self.trust == Some(Trust::Verified) => bad,
            Ok(_) | Err(_) => Bad { why: Why::Unfinished, damage: false },
        }
    }

    /// Looks in a chunk behind the valid prefix for a sign that a line which
    /// had been acknowledged is lost.
    fn search(&mut self, chunk: Range<usize>) {
        let Some(bad) = self.bad.as_mut().filter(|bad| !bad.damage) else {
            return;
        };
        let (bytes, expected) = (&self.buffer[chunk], self.position.next_seq);
        bad.damage = match self.trust {
            Some(Trust::Verified) => {
                frame::ends_in_line(bytes, |seq, batch| batch > expected || seq < expected)
            }
            Some(Trust::Unverified) => false,
            // The first line was nothing at all, so any line behind it is
            // one that once followed a good one.
            None => {
                bare_seq(bytes).is_some() || frame::ends_in_line(bytes, |_, batch| batch > expected)
            }
        };
    }
}

/// Where the next line feed is. The library's reader of bytes looks for it
/// several times as fast as a loop over them does.
fn line_feed(bytes: &[u8], from: usize) -> Option<usize> {
    let passed = (&bytes[from..]).skip_until(b'\n').ok()?;
    let last = (from + passed).checked_sub(1)?;
    (passed > 0 && bytes[last] == b'\n').then_some(last)
}

/// Which kind of log a first line begins; `None` when it could be neither.
fn first_line_trust(line: &[u8]) -> Option<Trust> {
    if frame::is_sealed(line) || frame::has_trace(line) {
        return Some(Trust::Verified);
    }
    bare_seq(line).map(|_| Trust::Unverified)
}

/// The seq of a line without hashes: a JSON object that has a `seq` and none
/// of the fields of ours.
fn bare_seq(line: &[u8]) -> Option<Seq> {
    if line.len() > limits::LINE_BYTES || !line.starts_with(b"{") {
        return None;
    }
    let bare: Bare = serde_json::from_slice(line).ok()?;
    let ours = bare.batch.is_some() || bare.prev.is_some() || bare.h.is_some();
    (!ours).then_some(bare.seq)
}

#[cfg(test)]
mod tests;
