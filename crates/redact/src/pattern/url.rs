//! The password in the authority of a URL: `https://user:password@host`, and a
//! token that stands there alone. User and host stay. Pure.

use super::judge;
use super::kind::Kind;
use super::rules::Found;
use super::window::{Item, Look, Window};

/// Bytes of an authority that are looked at.
const AUTHORITY_BYTES: usize = 1024;
const TOKEN_BYTES_MIN: usize = 12;

pub(super) fn find(window: &Window<'_>, at: usize) -> Look<Option<Found>> {
    if !window.before(at).is_some_and(|byte| byte.is_ascii_alphanumeric()) {
        return Ok(None);
    }
    let Some(start) = window.literal(at, "://")? else { return Ok(None) };
    let Some(authority) = authority(window, start)? else { return Ok(None) };
    let Some(sign) = authority.sign else { return Ok(None) };
    let (from, is_user) = match authority.colon.filter(|colon| *colon < sign) {
        Some(colon) => (colon + 1, false),
        None => (start, true),
    };
    let value = window.seen(from, sign);
    let holds_known = authority.known.is_some_and(|mark| from <= mark && mark < sign);
    let is_mark = authority.known == Some(from) && authority.known_end == Some(sign);
    let secret = if is_user {
        value.len() >= TOKEN_BYTES_MIN && judge::is_random(value)
    } else {
        !value.is_empty() && !judge::is_template(value)
    };
    let found = Found { start: from, end: sign, open: None, kind: Kind::UrlPassword };
    Ok(((secret || holds_known) && !is_mark).then_some(found))
}

struct Authority {
    /// The first colon: what follows is a password, or a port.
    colon: Option<usize>,
    /// The last `@`.
    sign: Option<usize>,
    /// The last mark of a known value before the last `@`.
    known: Option<usize>,
    known_end: Option<usize>,
}

fn authority(window: &Window<'_>, start: usize) -> Look<Option<Authority>> {
    let mut authority = Authority { colon: None, sign: None, known: None, known_end: None };
    let mut mark = None;
    let mut at = start;
    while at - start < AUTHORITY_BYTES {
        match window.item(at)? {
            Item::Masked(_) => return Ok(None),
            Item::Known(end) => {
                mark = Some((at, end));
                at = end;
                continue;
            }
            Item::End => return Ok(Some(authority)),
            Item::Byte(byte) if ends(byte) => return Ok(Some(authority)),
            Item::Byte(b':') if authority.colon.is_none() => authority.colon = Some(at),
            Item::Byte(b'@') => {
                authority.sign = Some(at);
                authority.known = mark.map(|mark| mark.0);
                authority.known_end = mark.map(|mark| mark.1);
            }
            Item::Byte(_) => {}
        }
        at += 1;
    }
    Ok(None)
}

fn ends(byte: u8) -> bool {
    byte <= b' ' || byte == 0x7F || br#"/?#\"'`<>"#.contains(&byte)
}
