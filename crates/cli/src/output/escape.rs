//! The one way from a text of unknown origin to a terminal. What a terminal
//! could act upon is shown instead of sent: control characters of both
//! tables, marks that reorder or hide text. Pure.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The text with everything escaped but line ends and tabs.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    escape(text, |c| c == '\n' || c == '\t')
}

/// The text as one line: line ends and tabs are escaped as well.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    escape(text, |_| false)
}

/// Bytes as one line; those that are not UTF-8 show as `\xNN`.
pub(crate) fn bytes(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        shown.push_str(&line(chunk.valid()));
        push_bytes(&mut shown, chunk.invalid());
    }
    shown
}

/// A line of JSON with the same meaning: inside strings, which is the only
/// place where they can be, dangerous characters become `\uXXXX`.
pub(crate) fn json(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            push_json(&mut shown, c);
        }
        push_bytes(&mut shown, chunk.invalid());
    }
    shown
}

/// What a terminal could act upon, or a reader not see.
pub(crate) fn is_dangerous(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// One dangerous character as it is shown to people.
pub(crate) fn push_shown(shown: &mut String, c: char) {
    // Writing to a String cannot fail.
    let _ = match c {
        '\n' => shown.write_str("\\n"),
        '\r' => shown.write_str("\\r"),
        '\t' => shown.write_str("\\t"),
        c if u32::from(c) < 0x100 => write!(shown, "\\x{:02x}", u32::from(c)),
        c => write!(shown, "\\u{{{:x}}}", u32::from(c)),
    };
}

pub(crate) fn push_bytes(shown: &mut String, bytes: &[u8]) {
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(shown, "\\x{byte:02x}");
    }
}

/// One character of a JSON string.
pub(crate) fn push_json(shown: &mut String, c: char) {
    if !is_dangerous(c) {
        shown.push(c);
        return;
    }
    for unit in c.encode_utf16(&mut [0; 2]) {
        // Writing to a String cannot fail.
        let _ = write!(shown, "\\u{unit:04x}");
    }
}

fn escape(text: &str, keep: fn(char) -> bool) -> Cow<'_, str> {
    let bad = |c: char| is_dangerous(c) && !keep(c);
    if !text.contains(bad) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match bad(c) {
            true => push_shown(&mut shown, c),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Title, clipboard, screen, cursor report, hyperlink, C1 forms.
    const CORPUS: [&str; 10] = [
        "\u{1b}]0;owned\u{7}",
        "\u{1b}]52;c;cm0gLXJmIC8=\u{1b}\\",
        "\u{1b}[2J\u{1b}[H",
        "\u{1b}[6n",
        "\u{1b}]8;;http://evil\u{1b}\\ok\u{1b}]8;;\u{1b}\\",
        "\u{9b}31m\u{9d}0;x\u{9c}",
        "over\rwrite\u{8}\u{8}",
        "a\u{202e}fdp.exe\u{2069}",
        "\u{7f}\u{0}",
        "hidden\u{e0041}\u{200b}\u{feff}",
    ];

    #[test]
    fn t22_nothing_that_a_terminal_acts_upon_gets_through() {
        for sample in CORPUS {
            for shown in [text(sample).into_owned(), line(sample).into_owned()] {
                assert!(!shown.contains(is_dangerous), "{sample:?} → {shown:?}");
            }
        }
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        let sample = "Grüße, 世界 👩‍🚀 \\x1b stays";
        assert!(matches!(line(sample), Cow::Borrowed(same) if same == sample));
        assert_eq!(text("a\n\tb"), "a\n\tb");
        assert_eq!(line("a\n\tb"), "a\\n\\tb");
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_as_numbers() {
        assert_eq!(bytes(b"a\xff\xc3\xa9\xc3"), "a\\xffé\\xc3");
    }

    #[test]
    fn escaped_json_means_the_same() {
        for sample in CORPUS {
            let plain = serde_json::to_string(sample).unwrap();
            let shown = json(plain.as_bytes());
            assert!(!shown.contains(is_dangerous));
            assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), sample);
        }
    }
}
