//! What the rules see: the bytes that are there, the end of what may be looked
//! back at, and the marks, each of which is one item. A look behind what has
//! arrived is answered by [`Need`]: the rule is asked again when there is more.
//! Pure.

#[cfg(test)]
use std::cell::Cell;

use crate::mark;

/// The decision hangs on bytes that have not arrived.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Need;

pub(super) type Look<T> = Result<T, Need>;

/// One step of a rule through the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    Byte(u8),
    /// The mark of a known value, and where it ends.
    Known(usize),
    /// The mark of a pattern, and where it ends.
    Masked(usize),
    End,
}

pub(super) struct Window<'a> {
    bytes: &'a [u8],
    /// Where the last mark or found secret ended: what stands before it does
    /// not count as a neighbour.
    floor: usize,
    /// Nothing comes behind these bytes.
    last: bool,
    #[cfg(test)]
    visits: &'a Cell<u64>,
}

impl<'a> Window<'a> {
    pub(super) fn new(
        bytes: &'a [u8],
        floor: usize,
        last: bool,
        #[cfg(test)] visits: &'a Cell<u64>,
    ) -> Self {
        Self {
            bytes,
            floor,
            last,
            #[cfg(test)]
            visits,
        }
    }

    /// The byte at a place, or nothing behind the end.
    pub(super) fn byte(&self, at: usize) -> Look<Option<u8>> {
        #[cfg(test)]
        self.visits.set(self.visits.get() + 1);
        match self.bytes.get(at) {
            Some(byte) => Ok(Some(*byte)),
            None if self.last => Ok(None),
            None => Err(Need),
        }
    }

    pub(super) fn item(&self, at: usize) -> Look<Item> {
        match self.byte(at)? {
            None => Ok(Item::End),
            Some(b'[') => Ok(self.mark(at)?.unwrap_or(Item::Byte(b'['))),
            Some(byte) => Ok(Item::Byte(byte)),
        }
    }

    /// Bytes that were looked at before.
    pub(super) fn seen(&self, from: usize, end: usize) -> &'a [u8] {
        &self.bytes[from.min(end)..end]
    }

    /// The end of this text if it stands here. A slash may be escaped, as some
    /// writers of JSON do; letters of `text` are lower case and match both.
    pub(super) fn literal(&self, at: usize, text: &str) -> Look<Option<usize>> {
        self.text(at, text, |byte| byte.to_ascii_lowercase())
    }

    /// The same where upper and lower case are told apart.
    pub(super) fn exact(&self, at: usize, text: &str) -> Look<Option<usize>> {
        self.text(at, text, |byte| byte)
    }

    fn text(&self, mut at: usize, text: &str, fold: impl Fn(u8) -> u8) -> Look<Option<usize>> {
        for wanted in text.bytes() {
            let mut byte = self.byte(at)?;
            if wanted == b'/' && byte == Some(b'\\') {
                at += 1;
                byte = self.byte(at)?;
            }
            if byte.map(&fold) != Some(wanted) {
                return Ok(None);
            }
            at += 1;
        }
        Ok(Some(at))
    }

    /// The byte before, if it counts as a neighbour.
    pub(super) fn before(&self, at: usize) -> Option<u8> {
        (at > self.floor).then(|| self.bytes[at - 1])
    }

    /// Whether a word may begin here, seen from what stands before: no letter
    /// or digit, or one that only ends an escape.
    pub(super) fn opens_word(&self, at: usize) -> bool {
        !self.before(at).is_some_and(|byte| byte.is_ascii_alphanumeric()) || self.behind_escape(at)
    }

    /// The next place from here on at which anything can begin: a mark, a word,
    /// or one of the signs that rules begin with.
    pub(super) fn next_start(&self, from: usize) -> usize {
        let rest = self.bytes.get(from..).unwrap_or_default();
        let start = rest.iter().enumerate().position(|(index, byte)| match byte {
            b'[' | b':' | b'-' | b'_' => true,
            _ => byte.is_ascii_alphanumeric() && self.opens_word(from + index),
        });
        from + start.unwrap_or(rest.len())
    }

    /// Whether the letters before are an escape: of JSON or a programming
    /// language (`\n`, `\u0022`, `\x22`), of a URL (`%20`) or of a terminal.
    pub(super) fn behind_escape(&self, at: usize) -> bool {
        let before = &self.bytes[self.floor.max(at.saturating_sub(LOOK_BACK)).min(at)..at];
        let back = |count: usize| before.len().checked_sub(count).map(|at| before[at]);
        let hex = |count: usize| before[before.len() - count..].iter().all(u8::is_ascii_hexdigit);
        match back(1) {
            Some(b'm') => is_colour(&before[..before.len() - 1]),
            Some(b'n' | b't' | b'r' | b'b' | b'f') if back(2) == Some(b'\\') => true,
            Some(digit) if digit.is_ascii_hexdigit() => {
                (back(3) == Some(b'%') && hex(2))
                    || (back(4) == Some(b'\\') && back(3) == Some(b'x') && hex(2))
                    || (back(6) == Some(b'\\') && back(5) == Some(b'u') && hex(4))
            }
            _ => false,
        }
    }

    fn mark(&self, at: usize) -> Look<Option<Item>> {
        let Some(at) = self.exact(at, mark::OPEN_ANY)? else { return Ok(None) };
        let known = match self.byte(at)? {
            Some(b':') => true,
            Some(b' ') => false,
            _ => return Ok(None),
        };
        let from = at + 1;
        for end in from..=from + mark::LABEL_BYTES {
            match self.byte(end)? {
                Some(b']') if end > from && known => return Ok(Some(Item::Known(end + 1))),
                Some(b']') if end > from => return Ok(Some(Item::Masked(end + 1))),
                Some(byte) if mark::is_label_byte(byte) => {}
                _ => return Ok(None),
            }
        }
        Ok(None)
    }
}

/// How far a rule looks back.
pub(super) const LOOK_BACK: usize = 16;

/// Whether this ends like `ESC[1;31`, whatever way the escape itself is written.
fn is_colour(before: &[u8]) -> bool {
    let numbers = before.iter().rev().take_while(|b| b.is_ascii_digit() || **b == b';').count();
    before[..before.len() - numbers].ends_with(b"[")
}
