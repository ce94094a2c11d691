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

fn holds(class: Class, byte: u8) -> bool {
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
        Class::Bare => byte > b' ' && byte != 0x7F && !br#""'`,;&<>()[]{}|"#.contains(&byte),
        Class::Line => byte >= b' ' && byte != 0x7F && !matches!(byte, b'"' | b'\''),
    }
}
