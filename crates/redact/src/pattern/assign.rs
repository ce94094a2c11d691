//! Values behind a name that says they are secret: `DB_PASSWORD=…`, `"apiKey":
//! "…"`, `x-auth-token: …`, `--token …`, plain, quoted, or inside JSON that is
//! itself a string. Pure.

use super::kind::Kind;
use super::name::{self, Meaning};
use super::rules::Found;
use super::run::{Class, run};
use super::window::{Item, Look, Window};
use super::{header, judge};

const NAME_BYTES: usize = 80;
/// Quotes, their backslashes and brackets behind a name.
const CLOSERS_MAX: usize = 20;
const SPACES_MAX: usize = 8;
/// Backslashes before a quote: JSON four times in JSON.
const ESCAPES_MAX: usize = 15;
/// Bytes of a value that are looked at before judging.
const SEEN_BYTES: usize = 256;
/// The longest text in quotes whose end is looked for.
const QUOTED_BYTES: usize = 512;

/// Where a value stands.
struct Place {
    at: usize,
    meaning: Meaning,
    /// A colon and a space, or only a space, stand before it: it may be a
    /// sentence.
    loose: bool,
    sign: Sign,
}

/// What stands between a name and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Equals,
    Colon,
    /// `--name value`
    Space,
    /// `<name>value</name>`
    Tag,
}

pub(super) fn find(window: &Window<'_>, at: usize) -> Look<Option<Found>> {
    if window.before(at).is_some_and(is_name_byte) && !window.behind_escape(at) {
        return Ok(None);
    }
    let name = run(window, Class::Dotted, at, NAME_BYTES)?;
    if name.known || name.masked || name.bytes >= NAME_BYTES {
        return Ok(None);
    }
    let Some(meaning) = name::meaning(window.seen(at, name.end)) else { return Ok(None) };
    match place(window, at, name.end, meaning)? {
        Some(place) => value(window, &place),
        None => Ok(None),
    }
}

/// The same for a whole text that is the value of a field.
pub(super) fn whole(window: &Window<'_>, meaning: Meaning, bytes: usize) -> Look<Option<Found>> {
    match meaning {
        Meaning::Authorization => header::authorization(window, 0),
        Meaning::Cookie => header::cookie(window, 0),
        Meaning::Password | Meaning::Secret | Meaning::Key => {
            let mut content = Content { end: 0, bytes: 0, known: false };
            while content.end < bytes {
                if content.end >= QUOTED_BYTES {
                    return bare(window, 0, meaning, false);
                }
                if !content.take(window.item(content.end)?) {
                    return Ok(None);
                }
            }
            Ok(content.judged(window, 0, meaning))
        }
    }
}

/// What a field of this name holds, if it may be a secret.
pub(super) fn meaning(name: &str) -> Option<Meaning> {
    let bytes = name.as_bytes();
    (bytes.len() < NAME_BYTES).then(|| name::meaning(bytes)).flatten()
}

/// The place of the value behind a name that ends at `end`.
fn place(window: &Window<'_>, at: usize, end: usize, meaning: Meaning) -> Look<Option<Place>> {
    let is_flag = window.seen(at, end).starts_with(b"--");
    let mut next = end;
    while next - end < CLOSERS_MAX
        && matches!(window.byte(next)?, Some(b'\\' | b'"' | b'\'' | b'`' | b']'))
    {
        next += 1;
    }
    next = behind_spaces(window, next)?;
    let Some(sign) = sign(window, at, next, is_flag && next > end)? else { return Ok(None) };
    next += usize::from(sign != Sign::Space);
    match (sign, window.byte(next)?) {
        // In `arn:aws:secretsmanager:…:secret:name` and `token::Kind` nothing is told.
        (Sign::Colon, Some(b':')) => return Ok(None),
        (Sign::Colon, _) if window.before(at) == Some(b':') => return Ok(None),
        (Sign::Colon | Sign::Equals, Some(b'=' | b'>')) => next += 1,
        (Sign::Colon | Sign::Equals | Sign::Space | Sign::Tag, _) => {}
    }
    let at = behind_spaces(window, next)?;
    let loose = sign == Sign::Space || (sign == Sign::Colon && at > next);
    Ok(Some(Place { at, meaning, loose, sign }))
}

fn sign(window: &Window<'_>, at: usize, next: usize, is_flag: bool) -> Look<Option<Sign>> {
    Ok(match window.byte(next)? {
        Some(b'=') => Some(Sign::Equals),
        Some(b':') => Some(Sign::Colon),
        Some(b'>') if window.before(at) == Some(b'<') => Some(Sign::Tag),
        Some(_) if is_flag => Some(Sign::Space),
        _ => None,
    })
}

fn value(window: &Window<'_>, place: &Place) -> Look<Option<Found>> {
    let mut start = place.at;
    // A string of bytes, raw or with places in it: b"…", r"…", f"…".
    if matches!(window.byte(start)?, Some(b'b' | b'r' | b'f' | b'u' | b'['))
        && matches!(window.byte(start + 1)?, Some(b'"' | b'\''))
    {
        start += 1;
    }
    let quote = quote(window, start)?;
    let content = quote.map_or(start, |quote| quote.end);
    match place.meaning {
        Meaning::Authorization => header::authorization(window, content),
        Meaning::Cookie if place.sign == Sign::Colon => header::cookie(window, content),
        Meaning::Cookie => Ok(None),
        Meaning::Password | Meaning::Secret | Meaning::Key => match quote {
            Some(quote) => quoted(window, quote, place.meaning),
            None => unquoted(window, place),
        },
    }
}

fn unquoted(window: &Window<'_>, place: &Place) -> Look<Option<Found>> {
    if place.sign == Sign::Colon {
        // `password: str = "…"`: the value stands behind its type.
        let word = run(window, Class::Bare, place.at, SEEN_BYTES)?;
        let next = behind_spaces(window, word.end)?;
        let behind = window.item(next)?;
        if matches!(behind, Item::Masked(_)) {
            return Ok(None);
        }
        if word.bytes > 0 && next > word.end && behind == Item::Byte(b'=') {
            let at = behind_spaces(window, next + 1)?;
            let place = Place { at, loose: false, sign: Sign::Equals, ..*place };
            return value(window, &place);
        }
    }
    let found = bare(window, place.at, place.meaning, place.loose)?;
    let Some(found) = found else { return Ok(None) };
    // What is open here is the end tag or, behind another sign, a type.
    let opens = window.byte(found.end)? == Some(b'<');
    let is_end = opens && window.byte(found.end + 1)? == Some(b'/');
    Ok((if place.sign == Sign::Tag { opens } else { !opens || is_end }).then_some(found))
}

/// An opening quote, with the backslashes that a string around it needs.
#[derive(Clone, Copy)]
struct Quote {
    escapes: usize,
    sign: u8,
    end: usize,
}

fn quote(window: &Window<'_>, at: usize) -> Look<Option<Quote>> {
    let escapes = escapes(window, at)?;
    Ok(match window.byte(at + escapes)? {
        Some(sign @ (b'"' | b'\'' | b'`')) => Some(Quote { escapes, sign, end: at + escapes + 1 }),
        _ => None,
    })
}

fn escapes(window: &Window<'_>, at: usize) -> Look<usize> {
    let mut count = 0;
    while count < ESCAPES_MAX && window.byte(at + count)? == Some(b'\\') {
        count += 1;
    }
    Ok(count)
}

/// A text in quotes, or, where its end is too far away, its first word.
fn quoted(window: &Window<'_>, quote: Quote, meaning: Meaning) -> Look<Option<Found>> {
    let mut content = Content { end: quote.end, bytes: 0, known: false };
    while content.end - quote.end < QUOTED_BYTES {
        let item = window.item(content.end)?;
        match item {
            Item::Byte(b'\n' | b'\r') | Item::End => break,
            Item::Byte(byte) if byte == quote.sign => {
                return Ok(content.judged(window, quote.end, meaning));
            }
            Item::Byte(b'\\') => {
                let escapes = escapes(window, content.end)?;
                let is_quote = window.byte(content.end + escapes)? == Some(quote.sign);
                if is_quote && escapes <= quote.escapes {
                    return Ok(content.judged(window, quote.end, meaning));
                }
                let taken = escapes + usize::from(is_quote);
                content.end += taken;
                content.bytes += taken;
            }
            Item::Byte(_) | Item::Known(_) | Item::Masked(_) => {
                if !content.take(item) {
                    return Ok(None);
                }
            }
        }
    }
    bare(window, quote.end, meaning, false)
}

/// What stands between two quotes, as far as it was read.
struct Content {
    end: usize,
    bytes: usize,
    known: bool,
}

impl Content {
    /// Reads one item; a mark of a pattern says that nothing is left to find.
    fn take(&mut self, item: Item) -> bool {
        match item {
            Item::Byte(byte) => {
                self.end += 1;
                self.bytes += usize::from(!byte.is_ascii_whitespace());
                true
            }
            Item::Known(end) => {
                self.known = true;
                self.end = end;
                true
            }
            Item::Masked(_) | Item::End => false,
        }
    }

    fn judged(&self, window: &Window<'_>, start: usize, meaning: Meaning) -> Option<Found> {
        let value = window.seen(start, self.end);
        let secret = self.bytes > 0 && (self.known || is_secret(meaning, value, true));
        secret.then(|| Found { start, end: self.end, open: None, kind: kind(meaning) })
    }
}

fn bare(window: &Window<'_>, start: usize, meaning: Meaning, loose: bool) -> Look<Option<Found>> {
    let run = run(window, Class::Bare, start, SEEN_BYTES)?;
    if !run.is_long(1) {
        return Ok(None);
    }
    let found = Found { start, end: run.end, open: Some(Class::Bare), kind: kind(meaning) };
    if run.known {
        return Ok(Some(found));
    }
    let value = window.seen(start, run.end);
    if !is_secret(meaning, value, false) || is_call(window, run.end)? {
        return Ok(None);
    }
    let only_letters =
        value.iter().all(|byte| byte.is_ascii_alphabetic() || b".!?-'".contains(byte));
    let sentence = loose && only_letters && header::is_prose(window, run.end)?;
    Ok((!sentence).then_some(found))
}

/// A function is called there.
fn is_call(window: &Window<'_>, at: usize) -> Look<bool> {
    Ok(window.byte(at)? == Some(b'('))
}

fn is_secret(meaning: Meaning, value: &[u8], quoted: bool) -> bool {
    match meaning {
        Meaning::Password => judge::is_password(value, quoted),
        Meaning::Secret => judge::is_secret(value, quoted),
        Meaning::Key => judge::is_random_key(value),
        Meaning::Authorization | Meaning::Cookie => false,
    }
}

fn kind(meaning: Meaning) -> Kind {
    match meaning {
        Meaning::Password => Kind::Password,
        Meaning::Secret | Meaning::Key => Kind::Secret,
        Meaning::Authorization => Kind::Authorization,
        Meaning::Cookie => Kind::Cookie,
    }
}

fn behind_spaces(window: &Window<'_>, from: usize) -> Look<usize> {
    let mut at = from;
    while at - from < SPACES_MAX && matches!(window.byte(at)?, Some(b' ' | b'\t')) {
        at += 1;
    }
    Ok(at)
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}
