//! JSON for programs, which may all the same end up on a terminal: what a
//! terminal could act upon is written as `\uXXXX`, which means the same.

use std::io;

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use super::escape;

/// A document on one line.
pub(crate) fn encode(document: &impl Serialize) -> Vec<u8> {
    let mut bytes = Vec::new();
    document
        .serialize(&mut Serializer::with_formatter(&mut bytes, Safe))
        .expect("documents have text keys and are written to memory");
    bytes
}

struct Safe;

impl Formatter for Safe {
    fn write_string_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        if !fragment.contains(escape::is_dangerous) {
            return writer.write_all(fragment.as_bytes());
        }
        let mut shown = String::with_capacity(fragment.len() + 16);
        fragment.chars().for_each(|c| escape::push_json(&mut shown, c));
        writer.write_all(shown.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_document_keeps_its_meaning_and_loses_its_teeth() {
        let document =
            json!({"a\u{9b}": ["\u{1b}[2J", "\u{202e}", "ü\u{7f}", 18_446_744_073_709_551_615u64]});
        let bytes = encode(&document);
        let text = std::str::from_utf8(&bytes).unwrap();
        assert!(!text.contains(escape::is_dangerous));
        assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap(), document);
    }
}
