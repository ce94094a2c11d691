//! One line of an event log, as bytes. Nothing here reads JSON: a line is
//! hashed and taken apart by position, so that a long log is checked at the
//! speed of SHA-256.
//!
//! # The format
//!
//! A *body* is the JSON object text of one event. It begins `{"seq":N,` with
//! the event's place in the log in decimal, without leading zeros, has no
//! line feed, and none of its own keys is `batch`, `prev` or `h`. A *line*
//! is the body, closed anew:
//!
//! ```text
//! <body without its last brace>,"batch":<B>,"prev":"<P>","h":"<H>"}\n
//! ```
//!
//! - `B`, decimal: the `seq` of the first event of the batch, that is, of
//!   the one write that this line was part of. `B` is at most `N`.
//! - `P`, 32 lower-case hexadecimal digits: the `H` of the line before;
//!   all zeros on the line with `seq` 0.
//! - `H`, 32 lower-case hexadecimal digits: the first 16 bytes of the
//!   SHA-256 over all bytes of the line before `,"h":"`.
//!
//! So a line is still one JSON object, every byte of it but the frame of
//! `H` itself is under a hash, and the last hash stands for the whole log.
//! The three fields have fixed places counted from the end, so a body may
//! say anything, such texts included.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::{Seq, hex, limits};

const HEAD: &[u8] = b"{\"seq\":";
const BATCH: &[u8] = b",\"batch\":";
const PREV: &[u8] = b",\"prev\":\"";
const HASH: &[u8] = b",\"h\":\"";
/// Hexadecimal digits of a [`Link`].
const HEX: usize = 32;
/// Digits of the largest `u64`.
const DIGITS: usize = 20;
/// Bytes of `,"prev":"…"`.
const PREV_BYTES: usize = PREV.len() + HEX + 1;
/// Bytes of `,"h":"…"}`.
const HASH_BYTES: usize = HASH.len() + HEX + 2;

/// Places looked at by [`ends_in_line`].
const TRIES: usize = 64;

/// The longest body that [`seal`] takes: with it the line stays within
/// [`limits::LINE_BYTES`], whatever the numbers.
pub const BODY_BYTES: usize =
    limits::LINE_BYTES - (BATCH.len() + DIGITS + PREV_BYTES + HASH_BYTES - 1);

/// What ties a line to all lines before it: half a SHA-256, written as 32
/// lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Link([u8; 16]);

/// A text that is not a [`Link`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is not 32 lower-case hexadecimal digits")]
pub struct LinkError(String);

/// A line taken apart, its hash verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Framed<'a> {
    pub seq: Seq,
    /// The `seq` of the first event of the write that this line was part of.
    pub batch: Seq,
    /// The hash of the line before.
    pub prev: Link,
    /// The hash of this line.
    pub h: Link,
    /// The body without its last brace.
    pub open_body: &'a [u8],
}

/// Why bytes are not a sealed line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum FrameError {
    #[error("the line is longer than {max} bytes", max = limits::LINE_BYTES)]
    TooLong,
    #[error("the line does not end in a hash")]
    NoHash,
    #[error("the line is not what its hash says")]
    WrongHash,
    #[error("the line does not begin with its seq")]
    NoSeq,
    #[error("the line names no batch and no line before it")]
    NoPlace,
    #[error("the line's batch begins after the line")]
    LateBatch,
}

impl Link {
    /// What the first line of a log is tied to.
    pub const START: Self = Self([0; 16]);

    fn of(bytes: &[u8]) -> Self {
        let whole: [u8; 32] = Sha256::digest(bytes).into();
        let mut half = [0u8; 16];
        half.copy_from_slice(&whole[..16]);
        Self(half)
    }

    fn hex(self) -> [u8; HEX] {
        let mut text = [0; HEX];
        hex::write(&self.0, &mut text);
        text
    }

    fn from_hex(text: &[u8]) -> Option<Self> {
        let mut half = [0; 16];
        hex::read(text, &mut half).then_some(Self(half))
    }
}

/// Appends to `out` the line of the event `body`, and gives the line's hash:
/// the `prev` of the next line. `batch` is the `seq` of the first event of
/// the write that the line goes into.
///
/// # Panics
///
/// When `body` is not a body as the format says, or longer than
/// [`BODY_BYTES`]: such a line could be written and never be read.
pub fn seal(out: &mut Vec<u8>, body: &[u8], batch: Seq, prev: Link) -> Link {
    assert!(body.len() <= BODY_BYTES, "a body has at most {BODY_BYTES} bytes");
    assert!(!body.contains(&b'\n'), "a body is one line");
    let seq = leading_seq(body).expect("a body begins with its seq");
    assert!(batch <= seq, "a batch begins with its first event");
    let open_body = body.strip_suffix(b"}").expect("a body is a JSON object");
    let start = out.len();
    out.extend_from_slice(open_body);
    out.extend_from_slice(BATCH);
    out.extend_from_slice(batch.to_string().as_bytes());
    out.extend_from_slice(PREV);
    out.extend_from_slice(&prev.hex());
    out.push(b'"');
    let h = Link::of(&out[start..]);
    out.extend_from_slice(HASH);
    out.extend_from_slice(&h.hex());
    out.extend_from_slice(b"\"}\n");
    h
}

/// Takes a line (without its line feed) apart and verifies its hash.
pub fn open(line: &[u8]) -> Result<Framed<'_>, FrameError> {
    if line.len() > limits::LINE_BYTES {
        return Err(FrameError::TooLong);
    }
    let (hashed, h) = split_hash(line).ok_or(FrameError::NoHash)?;
    let seq = leading_seq(hashed).ok_or(FrameError::NoSeq)?;
    let (open_body, batch, prev) = split_place(hashed).ok_or(FrameError::NoPlace)?;
    if batch > seq {
        return Err(FrameError::LateBatch);
    }
    if Link::of(hashed) != h {
        return Err(FrameError::WrongHash);
    }
    Ok(Framed { seq, batch, prev, h, open_body })
}

/// Whether a line (without its line feed) ends in a hash at all, right or
/// wrong. Lines of logs that were not written by us have none.
pub fn is_sealed(line: &[u8]) -> bool {
    split_hash(line).is_some()
}

/// Whether any of the three fields of ours stands at its place, so that a
/// line whose end was changed a little is not taken for one without fields.
pub(crate) fn has_trace(line: &[u8]) -> bool {
    let (rest, hash) = line.split_at(line.len().saturating_sub(HASH_BYTES));
    let (rest, prev) = rest.split_at(rest.len().saturating_sub(PREV_BYTES));
    let digits = rest.iter().rev().take(DIGITS).take_while(|byte| byte.is_ascii_digit()).count();
    hash.starts_with(HASH) || prev.starts_with(PREV) || rest[..rest.len() - digits].ends_with(BATCH)
}

/// Whether `bytes` end in a line of which `wanted` says yes to seq and batch
/// and whose hash is right. Garbage may stand before it, as when a line feed
/// was lost. Only the first [`TRIES`] places where a line could begin are
/// looked at, so that hostile bytes cost a bounded time.
pub(crate) fn ends_in_line(bytes: &[u8], wanted: impl Fn(Seq, Seq) -> bool) -> bool {
    let Some((_, batch, _)) = split_hash(bytes).and_then(|(hashed, _)| split_place(hashed)) else {
        return false;
    };
    let begins = bytes.windows(HEAD.len()).enumerate().filter(|(_, window)| *window == HEAD);
    let lines = begins.map(|(at, _)| &bytes[at..]);
    let candidates = lines.filter(|line| leading_seq(line).is_some_and(|seq| wanted(seq, batch)));
    candidates.take(TRIES).any(|line| open(line).is_ok())
}

impl Framed<'_> {
    /// The body, whole again.
    pub fn body(&self) -> Vec<u8> {
        [self.open_body, b"}"].concat()
    }
}

/// `<hashed>,"h":"<H>"}` → hashed, H.
fn split_hash(line: &[u8]) -> Option<(&[u8], Link)> {
    let (hashed, field) = line.split_at_checked(line.len().checked_sub(HASH_BYTES)?)?;
    let hex = field.strip_prefix(HASH)?.strip_suffix(b"\"}")?;
    Some((hashed, Link::from_hex(hex)?))
}

/// `<open body>,"batch":<B>,"prev":"<P>"` → open body, B, P.
fn split_place(hashed: &[u8]) -> Option<(&[u8], Seq, Link)> {
    let (rest, field) = hashed.split_at_checked(hashed.len().checked_sub(PREV_BYTES)?)?;
    let prev = Link::from_hex(field.strip_prefix(PREV)?.strip_suffix(b"\"")?)?;
    let digits = rest.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (rest, batch) = rest.split_at(rest.len() - digits);
    Some((rest.strip_suffix(BATCH)?, decimal(batch)?, prev))
}

/// `{"seq":N,…` → N.
fn leading_seq(bytes: &[u8]) -> Option<Seq> {
    let rest = bytes.strip_prefix(HEAD)?;
    let digits = rest.iter().take(DIGITS + 1).take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = rest.split_at(digits);
    rest.starts_with(b",").then(|| decimal(number))?
}

/// A number without leading zeros.
fn decimal(digits: &[u8]) -> Option<Seq> {
    if digits.is_empty() || (digits.len() > 1 && digits[0] == b'0') {
        return None;
    }
    digits
        .iter()
        .try_fold(0u64, |number, byte| {
            let ten = number.checked_mul(10)?;
            ten.checked_add(u64::from(byte.wrapping_sub(b'0')))
        })
        .map(Seq)
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.hex().iter().try_for_each(|byte| fmt::Write::write_char(f, char::from(*byte)))
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Link {
    type Err = LinkError;

    fn from_str(text: &str) -> Result<Self, LinkError> {
        Self::from_hex(text.as_bytes()).ok_or_else(|| LinkError(text.to_owned()))
    }
}

impl TryFrom<String> for Link {
    type Error = LinkError;

    fn try_from(text: String) -> Result<Self, LinkError> {
        text.parse()
    }
}

impl From<Link> for String {
    fn from(link: Link) -> Self {
        link.to_string()
    }
}

#[cfg(test)]
mod tests;
