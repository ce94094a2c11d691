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

    /// Where a stretch of such bytes ends that begins here and has `most` at
    /// most, as far as it has arrived.
    pub(super) fn stretch(&self, from: usize, most: usize, is: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes.get(from..).unwrap_or_default();
        let bytes = rest.iter().take(most).take_while(|byte| is(**byte)).count();
        #[cfg(test)]
        self.visits.set(self.visits.get() + bytes as u64);
        from + bytes
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
        let Some(rest) = self.bytes.get(from..) else { return from };
        // Inside a word only an escape lets another word begin, and nearly no
        // word has one: where a sign of it stood last, if not too far back.
        let near = &self.bytes[from.saturating_sub(ESCAPE_BYTES)..from];
        let sign = near.iter().rposition(|byte| matches!(byte, b'\\' | b'%'));
        let mut escape_end = sign.map_or(0, |sign| from - near.len() + sign + ESCAPE_BYTES);
        let mut before = self.before(from).unwrap_or(b' ');
        for (at, byte) in (from..).zip(rest) {
            match BEGINS[usize::from(*byte)] {
                Begins::Rule => return at,
                Begins::Word => {
                    let inside = BEGINS[usize::from(before)] == Begins::Word;
                    let may_escape = at <= escape_end || before == b'm';
                    if !inside || (may_escape && self.behind_escape(at)) {
                        return at;
                    }
                }
                Begins::Escape => escape_end = at + ESCAPE_BYTES,
                Begins::Nothing => {}
            }
            before = *byte;
        }
        self.bytes.len()
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

/// What can begin with a byte.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begins {
    /// A mark, or what a rule finds wherever it stands.
    Rule,
    /// A word.
    Word,
    /// An escape, behind which a word may begin.
    Escape,
    Nothing,
}

static BEGINS: [Begins; 256] = {
    let mut begins = [Begins::Nothing; 256];
    let mut byte = 0;
    while byte < 256 {
        begins[byte] = match byte as u8 {
            b'[' | b':' | b'-' | b'_' => Begins::Rule,
            b'\\' | b'%' => Begins::Escape,
            other if other.is_ascii_alphanumeric() => Begins::Word,
            _ => Begins::Nothing,
        };
        byte += 1;
    }
    begins
};

/// From the sign of the longest escape that has one to what follows it:
/// `\\u0022`. A colour of a terminal is longer, and known by its last letter.
const ESCAPE_BYTES: usize = 6;

/// How far a rule looks back.
pub(super) const LOOK_BACK: usize = 16;

/// Whether this ends like `ESC[1;31`, whatever way the escape itself is written.
fn is_colour(before: &[u8]) -> bool {
    let numbers = before.iter().rev().take_while(|b| b.is_ascii_digit() || **b == b';').count();
    before[..before.len() - numbers].ends_with(b"[")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            "[a-z0-9 ]{0,8}".prop_map(String::into_bytes),
            "(\\\\|%|\\\\x|\\\\u)[0-9a-fntr]{0,5}".prop_map(String::into_bytes),
            "\\[[0-9;]{0,4}m?".prop_map(String::into_bytes),
            "[:_.-]".prop_map(String::into_bytes),
            prop::collection::vec(any::<u8>(), 0..4),
        ];
        prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn the_next_start_is_the_first_place_where_anything_can_begin(
            text in text(),
            floor in 0..50_usize,
        ) {
            let visits = Cell::new(0);
            let window = Window::new(&text, floor.min(text.len()), true, &visits);
            let begins = |at: usize| match text[at] {
                b'[' | b':' | b'-' | b'_' => true,
                byte => byte.is_ascii_alphanumeric() && window.opens_word(at),
            };
            for from in 0..=text.len() + 1 {
                let start = (from..text.len()).find(|at| begins(*at));
                let end = from.max(text.len());
                prop_assert_eq!(window.next_start(from), start.unwrap_or(end), "{:?} {}", text, from);
            }
        }
    }
}
