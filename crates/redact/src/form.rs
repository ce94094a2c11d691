//! The forms in which programs write a value: plain, inside JSON, inside a
//! URL, as hex and as base64. Not covered: a form broken over several lines,
//! and compressed or encrypted ones. Pure.

use std::collections::BTreeSet;

use crate::mark;

/// The shortest value worth masking. A shorter one ("admin", "12345") stands
/// in ordinary words and numbers everywhere: masking it would ruin the text
/// and, by the places of its marks, tell the value to anyone who looks.
const VALUE_BYTES_MIN: usize = 6;

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE64_URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// A way of percent-encoding: which signs stay as they are.
struct Percent {
    keep: &'static str,
    space_as_plus: bool,
}

const PERCENT: [Percent; 5] = [
    // RFC 3986, everything that may be encoded is.
    Percent { keep: "-._~", space_as_plus: false },
    // The same for a path, as Python's `quote` does it.
    Percent { keep: "-._~/", space_as_plus: false },
    // JavaScript's encodeURIComponent and encodeURI.
    Percent { keep: "-_.!~*'()", space_as_plus: false },
    Percent { keep: "-_.!~*'();,/?:@&=+$#", space_as_plus: false },
    // HTML forms.
    Percent { keep: "*-._", space_as_plus: true },
];

/// The part of a value that is matched, or nothing where it cannot be.
///
/// White space at the ends is left out, because a shell drops it on the way.
/// So are brackets that could belong to a mark beside the value. A value that
/// holds a mark has been masked before: there is no secret in it any more.
pub(crate) fn bare(value: &str) -> Option<&str> {
    let mut bare = value;
    loop {
        let shorter = without_mark_start(bare.trim().trim_start_matches(']'));
        if shorter.len() == bare.len() {
            break;
        }
        bare = shorter;
    }
    let masked = bare.contains(mark::OPEN) || bare.contains(mark::OPEN_KIND);
    (bare.len() >= VALUE_BYTES_MIN && !masked).then_some(bare)
}

/// Every form of a bare value, the value itself among them.
pub(crate) fn forms(bare: &str) -> BTreeSet<String> {
    let mut forms = BTreeSet::from([bare.to_owned()]);
    forms.extend(json_forms(bare));
    forms.extend(percent_forms(bare));
    let lower = hex(bare);
    forms.insert(lower.to_ascii_uppercase());
    forms.insert(lower);
    for lead in 0..3 {
        for alphabet in [BASE64, BASE64_URL] {
            let core = base64_core(bare.as_bytes(), lead, alphabet);
            // Base64 in a URL, and in JSON that escapes slashes.
            forms.extend(percent_forms(&core));
            forms.insert(core.replace('/', "\\/"));
            forms.insert(core);
        }
    }
    // Part of every mark: masking it would never come to an end.
    forms.retain(|form| ![mark::OPEN, mark::OPEN_KIND].iter().any(|open| open.contains(form)));
    forms
}

fn without_mark_start(text: &str) -> &str {
    let starts = [mark::OPEN, mark::OPEN_KIND]
        .into_iter()
        .flat_map(|open| (1..=open.len()).map(move |bytes| &open[..bytes]));
    starts
        .filter_map(|start| text.strip_suffix(start))
        .min_by_key(|rest| rest.len())
        .unwrap_or(text)
}

fn json_forms(bare: &str) -> impl Iterator<Item = String> {
    let once = json_by_writers(bare);
    // JSON text that is a string of JSON, by another writer perhaps.
    let twice = once.clone().into_iter().flat_map(|form| json_by_writers(&form));
    once.into_iter().chain(twice)
}

/// The inside of a JSON string, as the usual writers write it.
fn json_by_writers(text: &str) -> [String; 5] {
    let plain = json(text);
    let slashes = plain.replace('/', "\\/");
    let html = escape_chars(&plain, |c| matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}'));
    let ascii = escape_chars(&plain, |c| !c.is_ascii());
    let ascii_upper = upper_escapes(&ascii);
    [plain, slashes, html, ascii, ascii_upper]
}

/// The inside of a JSON string, with no more escapes than needed.
fn json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn escape_chars(json: &str, escaped: impl Fn(char) -> bool) -> String {
    let mut out = String::new();
    for c in json.chars() {
        if escaped(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// The same JSON with the digits of its `\u` escapes in upper case.
fn upper_escapes(json: &str) -> String {
    let mut out = String::new();
    let mut chars = json.chars();
    while let Some(c) = chars.next() {
        out.push(c);
        if c != '\\' {
            continue;
        }
        let kind = chars.next();
        out.extend(kind);
        if kind == Some('u') {
            out.extend(chars.by_ref().take(4).map(|digit| digit.to_ascii_uppercase()));
        }
    }
    out
}

fn percent_forms(bare: &str) -> impl Iterator<Item = String> {
    PERCENT.iter().flat_map(move |way| [percent(bare, way, true), percent(bare, way, false)])
}

fn percent(bare: &str, way: &Percent, upper: bool) -> String {
    let mut out = String::new();
    for byte in bare.bytes() {
        match byte {
            b' ' if way.space_as_plus => out.push('+'),
            _ if byte.is_ascii_alphanumeric() || way.keep.as_bytes().contains(&byte) => {
                out.push(byte.into());
            }
            _ if upper => out.push_str(&format!("%{byte:02X}")),
            _ => out.push_str(&format!("%{byte:02x}")),
        }
    }
    out
}

fn hex(bare: &str) -> String {
    bare.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// The base64 digits that a value alone decides when `lead` bytes (modulo
/// three) stand before it. The digit at either end may be shared with a
/// neighbour and stays; it holds four bits of the value at most.
fn base64_core(bytes: &[u8], lead: usize, alphabet: &[u8; 64]) -> String {
    let skipped_bits = (6 - lead * 8 % 6) % 6;
    let digits = (bytes.len() * 8 - skipped_bits) / 6;
    let digit = |index: usize| {
        let bit = skipped_bits + index * 6;
        let first = u16::from(bytes[bit / 8]) << 8;
        let second = bytes.get(bit / 8 + 1).copied().map_or(0, u16::from);
        let six = (first | second) >> (10 - bit % 8) & 0b11_1111;
        char::from(alphabet[usize::from(six)])
    };
    (0..digits).map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(value: &str, form: &str) {
        let forms = forms(bare(value).expect("long enough"));
        assert!(forms.contains(form), "{form:?} is not in {forms:#?}");
    }

    #[test]
    fn what_is_too_short_or_masked_already_is_not_matched() {
        for value in ["", "12345", " 12345\n", "]]12345[", "[[[[[[[[", "a[redacted:b]cdef"] {
            assert_eq!(bare(value), None, "{value:?}");
        }
        assert_eq!(bare("123456"), Some("123456"));
    }

    #[test]
    fn space_and_brackets_at_the_ends_are_not_matched() {
        assert_eq!(bare("  hunter22\n"), Some("hunter22"));
        assert_eq!(bare("]hunter22["), Some("hunter22"));
        assert_eq!(bare("] ] hunter22[re [redacted"), Some("hunter22"));
        assert_eq!(bare("[hunter]22]"), Some("[hunter]22]"));
    }

    #[test]
    fn json_is_known_as_the_usual_writers_write_it() {
        has("say \"hi\"", r#"say \"hi\""#);
        has("say \"hi\"", r#"say \\\"hi\\\""#);
        has("a/b/c/d", r"a\/b\/c\/d");
        has("a/b/c/d", r"a\\/b\\/c\\/d");
        has("päss-wörd", r"p\\u00e4ss-w\\u00f6rd");
        // Written by one that keeps letters, then by one that does not.
        has("é \"a/b\"", r#"\u00e9 \\\"a/b\\\""#);
        has("é \"a/b\"", r#"é \\\"a\/b\\\""#);
        has("a<b&c>d", r"a\u003cb\u0026c\u003ed");
        has("päss-wörd", r"p\u00e4ss-w\u00f6rd");
        has("päss-wörd", r"p\u00E4ss-w\u00F6rd");
        has("key-🔑-key", r"key-\ud83d\udd11-key");
        has("one\ntwo\u{1f}", r"one\ntwo\u001f");
    }

    #[test]
    fn urls_are_known_as_the_usual_writers_write_them() {
        has("a b/c+d", "a%20b%2Fc%2Bd");
        has("a b/c+d", "a%20b%2fc%2bd");
        has("a b/c+d", "a%20b/c%2Bd");
        has("a b/c+d", "a+b%2Fc%2Bd");
        has("it's (ok)", "it's%20(ok)");
        has("päss-wörd", "p%C3%A4ss-w%C3%B6rd");
    }

    #[test]
    fn hex_and_base64_are_known_at_every_place() {
        has("hunter22", "68756e7465723232");
        has("hunter??", "68756E7465723F3F");
        // printf 'hunter22' | base64, then with one and two bytes before it.
        has("hunter22", "aHVudGVyMj");
        has("hunter22", "h1bnRlcjIy");
        has("hunter22", "odW50ZXIyM");
        has("~~~~~~?????", "fn5-fn5-Pz8_Pz");
        has("~~~~~~?????", "fn5%2Bfn5%2BPz8%2FPz");
        has("~~~~~~?????", r"fn5+fn5+Pz8\/Pz");
    }

    #[test]
    fn what_is_part_of_every_mark_is_no_form() {
        assert!(!forms("redacted").contains("redacted"));
        assert!(forms("redacted").contains("7265646163746564"));
    }
}
