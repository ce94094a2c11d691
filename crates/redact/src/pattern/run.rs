//! Runs: stretches of text of one class of bytes. A secret is as long as its
//! run; how much of it has to be seen before judging is the caller's matter.
//! Pure.

use super::pem;
use super::window::{Item, Look, Window};

/// What may stand in a secret of some shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Upper,
    Alnum,
    /// Letters, digits, `_`.
    Word,
    /// Base64 for URLs: letters, digits, `_`, `-`.
    Url,
    /// The same with dots.
    Dotted,
    /// What a token in a header may hold.
    Token,
    /// Letters, digits, `_`, `-` and slashes.
    Path,
    /// A value without quotes.
    Bare,
    /// Up to the end of a line or of the string that holds it.
    Line,
    /// The body of a private key.
    Pem,
}

/// A stretch of one class.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) end: usize,
    /// Bytes that are no mark.
    pub(super) bytes: usize,
    /// A known value was in it.
    pub(super) known: bool,
    /// It ends where a pattern masked something.
    pub(super) masked: bool,
}

impl Run {
    /// Whether it is a secret by its length; part of a known value makes it
    /// long enough, and nothing but a known value is masked already.
    pub(super) fn is_long(&self, bytes_min: usize) -> bool {
        !self.masked && self.bytes > 0 && (self.known || self.bytes >= bytes_min)
    }
}

/// The run from here on, up to `limit` bytes of it.
pub(super) fn run(window: &Window<'_>, class: Class, from: usize, limit: usize) -> Look<Run> {
    let mut run = Run { end: from, bytes: 0, known: false, masked: false };
    while run.end - from < limit {
        let plain = window.stretch(run.end, limit - (run.end - from), |byte| is_plain(class, byte));
        run.bytes += plain - run.end;
        run.end = plain;
        if run.end - from >= limit {
            break;
        }
        match window.item(run.end)? {
            Item::Known(end) => {
                run.known = true;
                run.end = end;
            }
            Item::Masked(_) => {
                run.masked = true;
                break;
            }
            Item::End => break,
            Item::Byte(_) => {
                let Some(end) = step(window, class, run.end)? else { break };
                run.bytes += end - run.end;
                run.end = end;
            }
        }
    }
    Ok(run)
}

/// Where a run of this class goes on to from here, or nothing where it ends.
pub(super) fn step(window: &Window<'_>, class: Class, at: usize) -> Look<Option<usize>> {
    if class == Class::Pem {
        return pem::step(window, at);
    }
    let byte = match window.item(at)? {
        Item::Byte(byte) => byte,
        Item::Known(end) => return Ok(Some(end)),
        Item::Masked(_) | Item::End => return Ok(None),
    };
    if byte == b'\\' {
        let slash = holds(class, b'/') && window.byte(at + 1)? == Some(b'/');
        return Ok(slash.then_some(at + 2));
    }
    Ok(holds(class, byte).then_some(at + 1))
}

/// Whether the class holds this byte wherever it stands: it is a letter or
/// digit, or a sign that neither opens a mark nor escapes another.
fn is_plain(class: Class, byte: u8) -> bool {
    static PLAIN: [u16; 256] = plain();
    PLAIN[usize::from(byte)] & class.bit() != 0
}

/// For each byte the classes that hold it plainly. A key in PEM is told apart
/// by more than a byte.
const fn plain() -> [u16; 256] {
    let mut plain = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut index = 0;
        while index < PLAIN_CLASSES.len() {
            let class = PLAIN_CLASSES[index];
            if !matches!(byte as u8, b'[' | b'\\') && holds(class, byte as u8) {
                plain[byte] |= class.bit();
            }
            index += 1;
        }
        byte += 1;
    }
    plain
}

const PLAIN_CLASSES: [Class; 9] = [
    Class::Upper,
    Class::Alnum,
    Class::Word,
    Class::Url,
    Class::Dotted,
    Class::Token,
    Class::Path,
    Class::Bare,
    Class::Line,
];

impl Class {
    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

const fn holds(class: Class, byte: u8) -> bool {
    let alnum = byte.is_ascii_alphanumeric();
    match class {
        Class::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        Class::Alnum => alnum,
        Class::Word => alnum || byte == b'_',
        Class::Url => alnum || matches!(byte, b'_' | b'-'),
        Class::Dotted => alnum || matches!(byte, b'_' | b'-' | b'.'),
        Class::Token | Class::Pem => {
            alnum || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=' | b':')
        }
        Class::Path => alnum || matches!(byte, b'_' | b'-' | b'/'),
        Class::Bare => {
            byte > b' '
                && byte != 0x7F
                && !matches!(
                    byte,
                    b'"' | b'\''
                        | b'`'
                        | b','
                        | b';'
                        | b'&'
                        | b'<'
                        | b'>'
                        | b'('
                        | b')'
                        | b'['
                        | b']'
                        | b'{'
                        | b'}'
                        | b'|'
                )
        }
        Class::Line => byte >= b' ' && byte != 0x7F && !matches!(byte, b'"' | b'\''),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::*;

    /// The same, an item at a time.
    fn slow(window: &Window<'_>, class: Class, from: usize, limit: usize) -> Look<Run> {
        let mut run = Run { end: from, bytes: 0, known: false, masked: false };
        while run.end - from < limit {
            match window.item(run.end)? {
                Item::Known(end) => (run.known, run.end) = (true, end),
                Item::Masked(_) => {
                    run.masked = true;
                    break;
                }
                Item::End => break,
                Item::Byte(_) => {
                    let Some(end) = step(window, class, run.end)? else { break };
                    (run.bytes, run.end) = (run.bytes + end - run.end, end);
                }
            }
        }
        Ok(run)
    }

    fn text() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            "[a-zA-Z0-9_.:=+/-]{0,20}".prop_map(String::into_bytes),
            "[\\\\/\\[\\]\"' ,;]{1,3}".prop_map(String::into_bytes),
            "\\[redacted[: ][a-z]{0,3}\\]?".prop_map(String::into_bytes),
            prop::collection::vec(any::<u8>(), 0..4),
        ];
        prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn a_run_is_what_it_is_an_item_at_a_time(
            text in text(),
            last in any::<bool>(),
            limit in prop_oneof![1..5_usize, 60..70_usize],
        ) {
            let visits = Cell::new(0);
            let window = Window::new(&text, 0, last, &visits);
            for class in PLAIN_CLASSES.into_iter().chain([Class::Pem]) {
                let (fast, slow) = (run(&window, class, 0, limit), slow(&window, class, 0, limit));
                prop_assert_eq!(format!("{fast:?}"), format!("{slow:?}"), "{:?} {:?}", class, text);
            }
        }
    }
}
