//! Tells code from comments and literals, byte by byte. Pure.

/// What a byte of source belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Code,
    Comment,
    Literal,
}

/// The kind of every byte.
pub(crate) fn kinds(text: &str) -> Vec<Kind> {
    let mut kinds = Vec::with_capacity(text.len());
    let mut after_word = false;
    while kinds.len() < text.len() {
        let rest = &text[kinds.len()..];
        let (kind, bytes) = token(rest, after_word);
        after_word = kind == Kind::Code && rest[..bytes].ends_with(super::is_word_char);
        kinds.resize(kinds.len() + bytes, kind);
    }
    kinds
}

/// The text with all other kinds blanked; lines and offsets stay.
pub(crate) fn keep(text: &str, kinds: &[Kind], kept: &[Kind]) -> String {
    let mut out = String::with_capacity(text.len());
    for (offset, c) in text.char_indices() {
        if c == '\n' || kept.contains(&kinds[offset]) {
            out.push(c);
        } else {
            out.extend(std::iter::repeat_n(' ', c.len_utf8()));
        }
    }
    out
}

/// The token at the start of a text that is not empty: its kind and length.
fn token(rest: &str, after_word: bool) -> (Kind, usize) {
    if rest.starts_with("//") {
        return (Kind::Comment, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (Kind::Comment, block_comment(rest));
    }
    if let Some(bytes) = string(rest, after_word).or_else(|| character(rest, after_word)) {
        return (Kind::Literal, bytes);
    }
    (Kind::Code, rest.chars().next().map_or(0, char::len_utf8))
}

fn block_comment(rest: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        let here = &rest.as_bytes()[at..];
        if here.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// A string of any sort: `""`, `b""`, `c""`, `r#""#`, `br""`, `cr""`.
fn string(rest: &str, after_word: bool) -> Option<usize> {
    if let Some(body) = rest.strip_prefix('"') {
        return Some(1 + escaped(body, b'"'));
    }
    if after_word {
        return None;
    }
    let tail = rest.strip_prefix(['b', 'c']).unwrap_or(rest);
    let prefix = rest.len() - tail.len();
    if let Some(body) = tail.strip_prefix('"') {
        return Some(prefix + 1 + escaped(body, b'"'));
    }
    let fence = tail.strip_prefix('r')?;
    let hashes = fence.len() - fence.trim_start_matches('#').len();
    let body = fence[hashes..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let inside = body.find(&close).map_or(body.len(), |at| at + close.len());
    Some(prefix + 1 + hashes + 1 + inside)
}

/// A character or byte literal; not a lifetime.
fn character(rest: &str, after_word: bool) -> Option<usize> {
    let (prefix, body) = match rest.strip_prefix("b'") {
        Some(body) if !after_word => (2, body),
        Some(_) | None => (1, rest.strip_prefix('\'')?),
    };
    let first = body.chars().next()?;
    let is_literal = first == '\\' || body[first.len_utf8()..].starts_with('\'');
    is_literal.then(|| prefix + escaped(body, b'\''))
}

/// Bytes up to and with the closing quote, minding backslashes.
fn escaped(body: &str, quote: u8) -> usize {
    let mut skip = false;
    for (at, byte) in body.bytes().enumerate() {
        match byte {
            _ if skip => skip = false,
            b'\\' => skip = true,
            _ if byte == quote => return at + 1,
            _ => {}
        }
    }
    body.len()
}
