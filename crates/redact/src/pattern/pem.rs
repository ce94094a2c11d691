//! Private keys in PEM: from the `BEGIN` line to the `END` line, or, where the
//! end was cut off, as far as the body goes. Line breaks may be escaped or, in
//! an environment variable, spaces. Pure.

use super::kind::Kind;
use super::rules::Found;
use super::run::Class;
use super::window::{Item, Look, Window};

/// Bytes of the words between `BEGIN` and the dashes.
const TITLE_BYTES: usize = 40;
/// Line breaks and spaces between two lines.
const GAP_ITEMS: usize = 12;
/// So many digits of base64 are no word of a text.
const CHUNK_BYTES: usize = 16;
const HEADER_BYTES: usize = 200;

/// Lines that may stand before the body.
const HEADERS: [&str; 6] = ["proc-type:", "dek-info:", "version:", "comment:", "hash:", "charset:"];

pub(super) fn find(window: &Window<'_>, at: usize) -> Look<Option<Found>> {
    if window.before(at) == Some(b'-') {
        return Ok(None);
    }
    let Some(title) = window.exact(at, "-----BEGIN ")? else { return Ok(None) };
    let Some(end) = title_end(window, title)? else { return Ok(None) };
    let words = window.seen(title, end - 5);
    if !words.ends_with(b"PRIVATE KEY") && !words.ends_with(b"PRIVATE KEY BLOCK") {
        return Ok(None);
    }
    let body = part(window, end)?;
    Ok(body.map(|end| Found { start: at, end, open: Some(Class::Pem), kind: Kind::PrivateKey }))
}

/// Where a key goes on to from a place in its body; nothing where it ends.
pub(super) fn step(window: &Window<'_>, at: usize) -> Look<Option<usize>> {
    // No line of the body ends in dashes; the last line of a block does.
    if window.seen(at.saturating_sub(5), at) == b"-----" {
        return Ok(None);
    }
    part(window, at)
}

fn part(window: &Window<'_>, at: usize) -> Look<Option<usize>> {
    if let Item::Known(end) = window.item(at)? {
        return Ok(Some(end));
    }
    if window.byte(at)?.is_some_and(is_digit) {
        return Ok(Some(at + 1));
    }
    let mut next = at;
    for _ in 0..GAP_ITEMS {
        let Some(end) = gap(window, next)? else { break };
        next = end;
    }
    if let Some(title) = window.exact(next, "-----END ")? {
        return Ok(Some(title_end(window, title)?.unwrap_or(title)));
    }
    if next == at {
        return Ok(None);
    }
    if let Some(end) = header(window, next)? {
        return Ok(Some(end));
    }
    chunk(window, next)
}

/// Where the dashes behind a title end.
fn title_end(window: &Window<'_>, from: usize) -> Look<Option<usize>> {
    for at in from..from + TITLE_BYTES {
        match window.byte(at)? {
            Some(byte) if byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ' => {}
            Some(b'-') => return window.exact(at, "-----"),
            _ => return Ok(None),
        }
    }
    Ok(None)
}

/// One line break or space, plain or escaped.
fn gap(window: &Window<'_>, at: usize) -> Look<Option<usize>> {
    match window.byte(at)? {
        Some(b' ' | b'\t' | b'\r' | b'\n') => Ok(Some(at + 1)),
        Some(b'\\') => {
            let mut end = at + 1;
            while end < at + 8 && window.byte(end)? == Some(b'\\') {
                end += 1;
            }
            Ok(matches!(window.byte(end)?, Some(b'n' | b'r' | b't')).then_some(end + 1))
        }
        _ => Ok(None),
    }
}

fn header(window: &Window<'_>, at: usize) -> Look<Option<usize>> {
    for name in HEADERS {
        let Some(mut end) = window.literal(at, name)? else { continue };
        for _ in 0..HEADER_BYTES {
            match window.item(end)? {
                Item::Byte(b'\n' | b'\r' | b'\\' | b'"') | Item::Masked(_) | Item::End => break,
                Item::Byte(_) => end += 1,
                Item::Known(mark) => end = mark,
            }
        }
        return Ok(Some(end));
    }
    Ok(None)
}

/// A line of the body: long, or the last of its block.
fn chunk(window: &Window<'_>, from: usize) -> Look<Option<usize>> {
    let mut end = from;
    while end - from < CHUNK_BYTES {
        match window.item(end)? {
            Item::Known(mark) => return Ok(Some(mark)),
            Item::Byte(byte) if is_digit(byte) => end += 1,
            Item::Byte(b'\n' | b'\r' | b'"' | b'\'') | Item::End if end > from => {
                return Ok(Some(end));
            }
            Item::Byte(b' ') if end > from => {
                return Ok(window.exact(end, " -----END ")?.map(|_| end));
            }
            Item::Byte(b'-') if end > from => {
                return Ok(window.exact(end, "-----END ")?.map(|_| end));
            }
            Item::Byte(b'\\') if end > from => return Ok(gap(window, end)?.map(|_| end)),
            Item::Byte(_) | Item::Masked(_) | Item::End => return Ok(None),
        }
    }
    Ok(Some(end))
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}
