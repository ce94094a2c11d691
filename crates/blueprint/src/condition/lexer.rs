//! The words of an expression, one at a time: what is no word of CEL is a
//! word too, and says what to write instead when the parser comes to it.

use std::ops::Range;

use crate::template::SyntaxError;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) word: Word,
    pub(super) range: Range<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Word {
    End,
    Name,
    Text(String),
    /// Digits, perhaps with a point and an exponent.
    Number,
    /// `3u`
    Unsigned,
    Mark(&'static str),
    Bad(SyntaxError),
}

/// Longer marks first, so that `<=` is not `<` and `=`.
const MARKS: [&str; 24] = [
    "==", "!=", "<=", ">=", "&&", "||", "(", ")", "[", "]", "{", "}", ".", ",", ":", "?", "+", "-",
    "*", "/", "%", "!", "<", ">",
];

/// The word at or behind `at`.
pub(super) fn next(source: &str, at: usize) -> Token {
    let start = skip_blanks(source, at);
    let rest = &source[start..];
    let Some(first) = rest.chars().next() else {
        return Token { word: Word::End, range: start..start };
    };
    let (word, length) = match first {
        'r' | 'R' if rest[1..].starts_with(['\'', '"']) => raw_text(source, start),
        'b' | 'B' if rest[1..].starts_with(['\'', '"']) => {
            let what = bad("bytes have no use in a condition", "write a string without the `b`");
            (what(start..start + 1), 1)
        }
        '\'' | '"' => text(source, start),
        '0'..='9' => number(source, start),
        _ if first.is_ascii_alphabetic() || first == '_' => (Word::Name, name_length(rest)),
        _ => mark(source, start, first),
    };
    Token { word, range: start..start + length }
}

/// How many bytes of `text`, from its start, are one name. Unlike the name of
/// a key in a template it holds no `-`, which is an operator here.
pub(super) fn name_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    if !bytes.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_') {
        return 0;
    }
    bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
}

/// White space, and comments from `//` to the end of the line.
fn skip_blanks(source: &str, mut at: usize) -> usize {
    loop {
        let rest = source[at..].trim_start();
        at = source.len() - rest.len();
        if !rest.starts_with("//") {
            return at;
        }
        at += rest.find('\n').unwrap_or(rest.len());
    }
}

fn mark(source: &str, start: usize, first: char) -> (Word, usize) {
    let rest = &source[start..];
    for (wrong, message, help) in MISTAKES {
        if rest.starts_with(wrong) {
            return (bad(message, help)(start..start + wrong.len()), wrong.len());
        }
    }
    if rest.starts_with('=') && !rest.starts_with("==") {
        return (bad("`=` compares nothing", "write `==`")(start..start + 1), 1);
    }
    if rest.starts_with('&') && !rest.starts_with("&&") {
        return (bad("`&` joins nothing", "write `&&`")(start..start + 1), 1);
    }
    if rest.starts_with('|') && !rest.starts_with("||") {
        let behind = rest[1..].trim_start();
        let filter = ["json", "default", "file"]
            .iter()
            .any(|filter| &behind[..name_length(behind)] == *filter);
        let what = if filter {
            bad(
                "a path in a condition has no filters",
                "remove it; ask `has(…)` first where a value may be missing",
            )
        } else {
            bad("`|` joins nothing", "write `||`")
        };
        return (what(start..start + 1), 1);
    }
    if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) {
        return (Word::Mark(mark), mark.len());
    }
    let range = start..start + first.len_utf8();
    let word = if matches!(first, '“' | '”' | '„' | '‘' | '’' | '`' | '«' | '»') {
        bad("this is no quotation mark of conditions", "write `'` or `\"` on both sides")(range)
    } else {
        Word::Bad(SyntaxError {
            message: format!("`{}` has no meaning in a condition", first.escape_debug()),
            suggestion: Some("remove it, or put the text that it belongs to in quotes".to_owned()),
            range,
        })
    };
    (word, first.len_utf8())
}

/// What is written by mistake, what is wrong with it, and what to write.
const MISTAKES: [(&str, &str, &str); 7] = [
    ("===", "`===` is no comparison here", "write `==`"),
    ("!==", "`!==` is no comparison here", "write `!=`"),
    ("=>", "`=>` compares nothing", "write `>=`"),
    ("<>", "`<>` compares nothing", "write `!=`"),
    ("=~", "`=~` compares nothing", "write `x.matches('…')`"),
    ("&&&", "`&&&` joins nothing", "write `&&`"),
    (
        "{{",
        "a condition is an expression itself, without braces",
        "write `nodes.a.output.ok`, not `{{nodes.a.output.ok}}`",
    ),
];

fn number(source: &str, start: usize) -> (Word, usize) {
    let rest = &source[start..];
    let bytes = rest.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut length = digits(0);
    let leading_zero = length > 1 && bytes[0] == b'0';
    let mut whole = true;
    if bytes.get(length) == Some(&b'.') && digits(length + 1) > 0 {
        length += 1 + digits(length + 1);
        whole = false;
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let exponent = bytes.get(length + 1 + sign).map_or(0, |_| digits(length + 1 + sign));
        if exponent > 0 {
            length += 1 + sign + exponent;
            whole = false;
        }
    }
    let number = length;
    length += bytes[length..]
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
        .count();
    let unsigned = whole && matches!(&rest[number..length], "u" | "U");
    if leading_zero || (length > number && !unsigned) {
        let word = Word::Bad(SyntaxError {
            message: format!("`{}` is not a number", &rest[..length]),
            suggestion: Some("write it as in `3`, `-3`, `0.5` or `1e6`".to_owned()),
            range: start..start + length,
        });
        return (word, length);
    }
    (if unsigned { Word::Unsigned } else { Word::Number }, length)
}

/// `r'…'`: nothing inside is an escape, as patterns like it.
fn raw_text(source: &str, start: usize) -> (Word, usize) {
    let quote = &source[start + 1..start + 2];
    let inside = &source[start + 2..];
    let line = inside.find(['\n', '\r']).unwrap_or(inside.len());
    match inside[..line].find(quote) {
        Some(end) => (Word::Text(inside[..end].to_owned()), end + 3),
        None => (unclosed(start..start + 2 + line), line + 2),
    }
}

/// A string in either kind of quotes.
fn text(source: &str, start: usize) -> (Word, usize) {
    let mut rest = source[start..].chars();
    let quote = rest.next();
    let at = |rest: &std::str::Chars<'_>| source.len() - rest.as_str().len();
    let mut text = String::new();
    loop {
        let before = at(&rest);
        match rest.next() {
            None | Some('\n' | '\r') => {
                return (unclosed(start..before), before - start);
            }
            Some('\\') => match escape(&mut rest) {
                Some(character) => text.push(character),
                None => {
                    let end = at(&rest).max(before + 1);
                    let word = bad(
                        "a backslash here is followed by no escape",
                        "write `\\\\` for a backslash, or put an `r` before the quotes of a pattern",
                    )(before..end);
                    return (word, end - start);
                }
            },
            character if character == quote => return (Word::Text(text), at(&rest) - start),
            Some(character) => text.push(character),
        }
    }
}

fn escape(rest: &mut std::str::Chars<'_>) -> Option<char> {
    let coded = |rest: &mut std::str::Chars<'_>, length: usize, radix: u32| {
        let digits = rest.as_str().get(..length)?;
        if !digits.chars().all(|digit| digit.is_digit(radix)) {
            return None;
        }
        *rest = rest.as_str()[length..].chars();
        u32::from_str_radix(digits, radix).ok().and_then(char::from_u32)
    };
    if rest.as_str().starts_with(['0', '1', '2', '3']) {
        return coded(rest, 3, 8);
    }
    match rest.next()? {
        same @ ('\\' | '\'' | '"' | '`' | '?') => Some(same),
        'a' => Some('\u{7}'),
        'b' => Some('\u{8}'),
        'f' => Some('\u{c}'),
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'v' => Some('\u{b}'),
        'x' | 'X' => coded(rest, 2, 16),
        'u' => coded(rest, 4, 16),
        'U' => coded(rest, 8, 16),
        _ => None,
    }
}

fn unclosed(range: Range<usize>) -> Word {
    bad("this quoted string is never closed", "quote it as in `'done'` or `\"done\"`")(range)
}

fn bad(message: &str, suggestion: &str) -> impl Fn(Range<usize>) -> Word {
    let (message, suggestion) = (message.to_owned(), Some(suggestion.to_owned()));
    move |range| {
        Word::Bad(SyntaxError { message: message.clone(), suggestion: suggestion.clone(), range })
    }
}
