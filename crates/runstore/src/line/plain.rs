//! The short way through a line as [`super::encode`] writes most of them:
//! `seq`, `ts` and `kind` first, then texts without escapes, small numbers
//! and objects, without blanks. A long log is read at the speed of this. Pure.
//!
//! The law: what is read here is what `serde_json` reads of the same line.
//! Whatever is not plain is left to it, errors included.

use durable::{Attempt, Generation, Round};

use super::decode::{Instant, RawLine, Text};

/// Objects inside of objects, so far; a deeper one is not plain.
const DEPTH: usize = 8;

/// Digits of a number that fits whatever they are.
const DIGITS: usize = 18;

/// Reads the line into `raw`, which must be empty. When it is not plain
/// there is no answer, and what `raw` holds means nothing.
pub(super) fn read<'a>(line: &'a [u8], raw: &mut RawLine<'a>) -> Option<()> {
    let mut rest = Rest { text: std::str::from_utf8(line).ok()?, at: 0 };
    rest.eat(b"{\"seq\":")?;
    raw.seq = rest.number()?;
    rest.eat(b",\"ts\":\"")?;
    raw.ts = Instant(rest.text()?.parse().ok()?);
    rest.eat(b",\"kind\":\"")?;
    raw.kind = Text(rest.text()?.into());
    while rest.eat(b",\"").is_some() {
        let name = rest.text()?;
        rest.eat(b":")?;
        field(raw, name, &mut rest)?;
    }
    rest.eat(b"}")?;
    (rest.at == line.len()).then_some(())
}

/// One field more. One that comes twice is an error, so it is not plain.
fn field<'a>(raw: &mut RawLine<'a>, name: &str, rest: &mut Rest<'a>) -> Option<()> {
    match name {
        "node" => put(&mut raw.node, rest.quoted()?),
        "attempt" => put(&mut raw.attempt, Attempt(rest.number()?)),
        "output" => put(&mut raw.output, rest.object()?),
        "work" => put(&mut raw.work, rest.quoted()?),
        "generation" => put(&mut raw.generation, Generation(rest.number()?)),
        "repeat" => put(&mut raw.repeat, rest.quoted()?),
        "port" => put(&mut raw.port, rest.quoted()?),
        "op" => put(&mut raw.op, rest.quoted()?),
        "entries" => put(&mut raw.entries, rest.object()?),
        "message" => put(&mut raw.message, rest.quoted()?),
        "error" => put(&mut raw.error, rest.quoted()?),
        "class" => put(&mut raw.class, rest.quoted()?),
        "code" => put(&mut raw.code, rest.quoted()?),
        "effect" => put(&mut raw.effect, rest.quoted()?),
        "cause" => put(&mut raw.cause, rest.quoted()?),
        "session" => put(&mut raw.session, rest.quoted()?),
        "iteration" => put(&mut raw.iteration, Round(rest.number()?)),
        "item" => put(&mut raw.item, rest.number()?.try_into().ok()?),
        "index" => put(&mut raw.index, rest.number()?.try_into().ok()?),
        // The frame of the line is judged elsewhere.
        "batch" => rest.number().map(drop),
        "prev" | "h" => rest.quoted().map(drop),
        _ => None,
    }
}

fn put<T>(slot: &mut Option<T>, value: T) -> Option<()> {
    slot.replace(value).is_none().then_some(())
}

/// What is still to be read of a line.
struct Rest<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Rest<'a> {
    fn bytes(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.at..]
    }

    fn eat(&mut self, wanted: &[u8]) -> Option<()> {
        self.bytes().starts_with(wanted).then(|| self.at += wanted.len())
    }

    /// A number without sign, fraction, exponent or leading zeros.
    fn number(&mut self) -> Option<u64> {
        let bytes = self.bytes();
        let mut number = 0;
        let mut digits = 0;
        while let Some(digit) = bytes.get(digits).filter(|byte| byte.is_ascii_digit()) {
            number = number * 10 + u64::from(digit - b'0');
            digits += 1;
            if digits > DIGITS {
                return None;
            }
        }
        let is_number = digits == 1 || (digits > 1 && bytes[0] != b'0');
        let ends = matches!(bytes.get(digits), Some(b',' | b'}'));
        self.at += digits;
        (is_number && ends).then_some(number)
    }

    fn quoted(&mut self) -> Option<Text<'a>> {
        self.eat(b"\"")?;
        self.text().map(|text| Text(text.into()))
    }

    /// A text without escapes, behind its first quote.
    fn text(&mut self) -> Option<&'a str> {
        let length = plain_bytes(self.bytes())?;
        let text = self.text.get(self.at..self.at + length)?;
        self.at += length + 1;
        Some(text)
    }

    /// An object; what is inside need not be plain.
    fn object<T: serde::de::DeserializeOwned>(&mut self) -> Option<T> {
        let length = object_bytes(self.bytes())?;
        let text = self.text.get(self.at..self.at + length)?;
        self.at += length;
        serde_json::from_str(text).ok()
    }
}

/// The bytes before the next quote; nothing when an escape or a byte that
/// must be escaped comes first. Looks at eight bytes at a time.
fn plain_bytes(bytes: &[u8]) -> Option<usize> {
    let mut eights = bytes.chunks_exact(8);
    let mut passed = 0;
    for eight in &mut eights {
        let eight = u64::from_le_bytes(eight.try_into().ok()?);
        let ends = ends(eight);
        if ends != 0 {
            let length = passed + ends.trailing_zeros() as usize / 8;
            return (bytes[length] == b'"').then_some(length);
        }
        passed += 8;
    }
    let ends = |byte: &u8| matches!(byte, b'"' | b'\\' | ..b' ');
    let length = passed + eights.remainder().iter().position(ends)?;
    (bytes[length] == b'"').then_some(length)
}

/// Sets the highest bit of each of eight bytes that is a quote, a backslash
/// or a control character. Only the first such byte is told for sure: the
/// subtraction may borrow from the bytes behind it.
fn ends(eight: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    let below = |eight: u64, least: u8| eight.wrapping_sub(ONES * u64::from(least)) & !eight;
    let is = |byte: u8| below(eight ^ (ONES * u64::from(byte)), 1);
    (below(eight, b' ') | is(b'"') | is(b'\\')) & HIGH
}

/// The bytes of the object that `bytes` begin with.
fn object_bytes(bytes: &[u8]) -> Option<usize> {
    if bytes.first() != Some(&b'{') {
        return None;
    }
    let (mut deep, mut at) = (0, 0);
    loop {
        match bytes.get(at)? {
            b'{' | b'[' => deep += 1,
            b'}' | b']' => deep -= 1,
            b'"' => at = quoted_end(bytes, at + 1)?,
            _ => {}
        }
        at += 1;
        match deep {
            0 => return Some(at),
            deep if deep > DEPTH => return None,
            _ => {}
        }
    }
}

/// The quote that ends a text which begins at `at`.
fn quoted_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests;
