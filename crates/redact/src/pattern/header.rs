//! What stands in headers: credentials behind a scheme, and cookies. Pure.

use super::judge;
use super::kind::Kind;
use super::rules::Found;
use super::run::{Class, run};
use super::window::{Item, Look, Window};

/// Bytes of a credential that are looked at.
const SEEN_BYTES: usize = 256;
const BARE_BYTES_MIN: usize = 8;
const SPACES_MAX: usize = 4;
const COOKIE_NAME_BYTES: usize = 64;

/// The first words of the value of an `Authorization` header.
const SCHEMES: [(&str, Class); 10] = [
    ("bearer", Class::Token),
    ("basic", Class::Token),
    ("token", Class::Line),
    ("apikey", Class::Line),
    ("api-key", Class::Line),
    ("digest", Class::Line),
    ("negotiate", Class::Token),
    ("ntlm", Class::Token),
    ("hawk", Class::Line),
    ("aws4-hmac-sha256", Class::Line),
];

/// `Bearer …` and `Basic …` without the name of a header.
pub(super) fn find(window: &Window<'_>, at: usize) -> Look<Option<Found>> {
    if let Some(end) = window.literal(at, "bearer")? {
        return bare(window, end, judge_bearer);
    }
    if let Some(end) = window.literal(at, "basic")? {
        return bare(window, end, judge::is_basic);
    }
    Ok(None)
}

/// The credential in the value of an `Authorization` header.
pub(super) fn authorization(window: &Window<'_>, from: usize) -> Look<Option<Found>> {
    for (scheme, class) in SCHEMES {
        let Some(end) = window.literal(from, scheme)? else { continue };
        let Some(start) = behind_spaces(window, end)? else { continue };
        return credential(window, start, class);
    }
    let run = run(window, Class::Token, from, SEEN_BYTES)?;
    let value = window.seen(from, run.end);
    let telling = run.known || !(judge::is_stand_in(value) || judge::is_wordy(value));
    Ok((run.is_long(BARE_BYTES_MIN) && telling).then_some(open(from, run.end, Class::Token)))
}

/// The value of a `Cookie` or `Set-Cookie` header.
pub(super) fn cookie(window: &Window<'_>, from: usize) -> Look<Option<Found>> {
    let name = run(window, Class::Dotted, from, COOKIE_NAME_BYTES)?;
    if name.bytes == 0 || window.byte(name.end)? != Some(b'=') {
        return Ok(None);
    }
    let value = run(window, Class::Line, name.end + 1, 1)?;
    let found = Found { start: from, end: value.end, open: Some(Class::Line), kind: Kind::Cookie };
    Ok((value.end > name.end + 1 && !value.masked).then_some(found))
}

fn credential(window: &Window<'_>, start: usize, class: Class) -> Look<Option<Found>> {
    let word = run(window, Class::Token, start, SEEN_BYTES)?;
    let value = window.seen(start, word.end);
    if !word.is_long(1) || (!word.known && judge::is_stand_in(value)) {
        return Ok(None);
    }
    if !word.known && judge::is_wordy(value) && is_prose(window, word.end)? {
        return Ok(None);
    }
    Ok(Some(open(start, word.end, class)))
}

fn bare(window: &Window<'_>, end: usize, is_secret: fn(&[u8]) -> bool) -> Look<Option<Found>> {
    let Some(start) = behind_spaces(window, end)? else { return Ok(None) };
    let run = run(window, Class::Token, start, SEEN_BYTES)?;
    let telling = run.known || is_secret(window.seen(start, run.end));
    Ok((run.is_long(1) && telling).then_some(open(start, run.end, Class::Token)))
}

fn judge_bearer(value: &[u8]) -> bool {
    value.len() >= BARE_BYTES_MIN && !judge::is_stand_in(value) && !judge::is_wordy(value)
}

fn open(start: usize, end: usize, class: Class) -> Found {
    Found { start, end, open: Some(class), kind: Kind::Authorization }
}

/// Whether another word follows on the same line.
pub(super) fn is_prose(window: &Window<'_>, end: usize) -> Look<bool> {
    if window.byte(end)? != Some(b' ') {
        return Ok(false);
    }
    Ok(!matches!(window.byte(end + 1)?, None | Some(b'\n' | b'\r')))
}

fn behind_spaces(window: &Window<'_>, from: usize) -> Look<Option<usize>> {
    let mut at = from;
    while at - from < SPACES_MAX {
        match window.item(at)? {
            Item::Byte(b' ' | b'\t') => at += 1,
            Item::Byte(_) | Item::Known(_) | Item::Masked(_) | Item::End => break,
        }
    }
    Ok((at > from).then_some(at))
}
