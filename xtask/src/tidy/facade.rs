//! `lib.rs` is a table of contents: documentation, attributes, `mod` and
//! `pub use`. Pure.

use crate::finding::Finding;
use crate::source::{Source, words};

pub(crate) fn check(source: &Source<'_>) -> Vec<Finding> {
    if !(source.path == "lib.rs" || source.path.ends_with("/lib.rs")) {
        return Vec::new();
    }
    let mut code = source.code.clone();
    for attribute in source.attributes.iter().rev() {
        let blank = " ".repeat(attribute.range.len());
        code.replace_range(attribute.range.clone(), &blank);
    }
    let mut findings = Vec::new();
    let mut at = 0;
    for item in code.split_inclusive(';') {
        if !item.trim().is_empty() && !is_entry(item) {
            let start = at + item.len() - item.trim_start().len();
            let message = "lib.rs holds only docs, attributes, `mod x;` and `pub use`";
            findings.push(Finding::new(source.path, source.line(start), message));
        }
        at += item.len();
    }
    findings
}

fn is_entry(item: &str) -> bool {
    let Some(item) = item.trim().strip_suffix(';') else { return false };
    let mut names = words(item).map(|(_, word)| word);
    match (names.next(), names.next()) {
        (Some("mod"), Some(_)) => !item.contains('{'),
        (Some("pub"), Some("mod")) => !item.contains('{'),
        (Some("pub"), Some("use")) => true,
        (Some("pub"), Some(_)) if item.trim().starts_with("pub(") => {
            let tail = item.split_once(')').map_or("", |(_, tail)| tail.trim_start());
            tail.starts_with("use ") || tail.starts_with("mod ") && !tail.contains('{')
        }
        (Some(_), _) | (None, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        check(&Source::new("crates/a/src/lib.rs", text)).iter().map(|f| f.line).collect()
    }

    #[test]
    fn a_table_of_contents_passes() {
        let text = "\
//! A.
#![warn(missing_docs)]

mod a;
pub mod b;
pub(crate) mod c;
#[cfg(feature = \"disk\")]
pub mod disk;
/// D.
#[cfg(test)]
mod tests;

pub use a::{A, B};
pub(crate) use b::C;
";
        assert_eq!(lines(text), [0; 0]);
    }

    #[test]
    fn anything_else_is_found() {
        for (text, expected) in [
            ("//! A.\nmod a;\nuse std::fmt;\nmod b;\n", vec![3]),
            ("//! A.\nfn a() {}\n", vec![2]),
            ("//! A.\nmod a;\n\npub struct B;\n", vec![4]),
            ("//! A.\nmod a {}\nmod b;\n", vec![2]),
            ("//! A.\npub(crate) const A: u8 = 1;\n", vec![2]),
        ] {
            assert_eq!(lines(text), expected, "{text}");
        }
    }

    #[test]
    fn other_files_are_free() {
        assert!(check(&Source::new("crates/a/src/glib.rs", "fn a() {}")).is_empty());
    }
}
