//! Stored formats are promises. The digest of each file that defines one stands
//! in `docs/formats.md`, so that a change to the file cannot pass without a
//! look at the page: `cargo xtask generate` renews the digest, and the page's
//! text and the format's version are then part of the same change.
//!
//! The digest is FNV-1a of 64 bits. It notices a change that someone forgot;
//! it is no protection against one that is meant to go unseen.

use crate::finding::Finding;
use crate::source::Source;
use crate::tree::Tree;

/// The page about formats.
pub(crate) const PAGE: &str = "docs/formats.md";

/// The files that define a format. One that does not exist is passed over.
const FILES: [&str; 14] = [
    "crates/durable/src/frame.rs",
    "crates/engine/src/event.rs",
    "crates/engine/src/checkpoint.rs",
    "crates/engine/src/checkpoint/node.rs",
    "crates/engine/src/checkpoint/progress.rs",
    "crates/runstore/src/line/encode.rs",
    "crates/runstore/src/line/decode.rs",
    "crates/runstore/src/line/decode/claim.rs",
    "crates/runstore/src/line/decode/run.rs",
    "crates/runstore/src/checkpoint.rs",
    "crates/runstore/src/invocation.rs",
    "crates/runstore/src/inbox/stored.rs",
    "crates/runstore/src/index/line.rs",
    "crates/blueprint/src/snapshot.rs",
];

const BEGIN: &str = "<!-- digests: written by `cargo xtask generate` -->";
const END: &str = "<!-- end of digests -->";

/// What a page begins with when there is none yet.
const NEW_PAGE: &str = "# Formats\n";

const SECTION: &str = "\n## Digests\n\nA file that defines a stored format does not change unnoticed. After a change, see\nwhether its version and this page still tell the truth, then run `cargo xtask generate`.\n\n";

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let page = tree.text(PAGE).unwrap_or_default();
    let mut findings = Vec::new();
    for (file, digest) in digests(tree) {
        let row = page.lines().position(|line| line.contains(&format!("`{file}`")));
        let message = match row {
            None => format!("has no digest of {file}"),
            Some(row) if !page.lines().nth(row).is_some_and(|line| line.contains(&digest)) => {
                format!("{file} changed and this page did not")
            }
            Some(_) => continue,
        };
        let message = format!(
            "{message}; see whether version and text hold, then run `cargo xtask generate`"
        );
        findings.push(Finding::new(PAGE, row.map_or(1, |row| row + 1), message));
    }
    findings
}

/// The page with the digests of today.
pub(crate) fn renewed(tree: &Tree) -> String {
    let mut table = format!("{BEGIN}\n\n| file | digest |\n|---|---|\n");
    for (file, digest) in digests(tree) {
        table.push_str(&format!("| `{file}` | `{digest}` |\n"));
    }
    table.push_str(&format!("\n{END}"));
    let page = tree.text(PAGE).unwrap_or(NEW_PAGE);
    match page.split_once(BEGIN).and_then(|(head, rest)| Some((head, rest.split_once(END)?.1))) {
        Some((head, tail)) => format!("{head}{table}{tail}"),
        None => format!("{}\n{SECTION}{table}\n", page.trim_end()),
    }
}

fn digests(tree: &Tree) -> impl Iterator<Item = (&'static str, String)> {
    FILES.into_iter().filter_map(|file| {
        // Tests may change freely: they do not say what is written.
        let body = Source::new(file, tree.text(file)?).body();
        Some((file, format!("{:016x}", fnv1a(body.trim_end().as_bytes()))))
    })
}

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        let mut tree = Tree::default();
        for (path, text) in files {
            tree.files.insert((*path).to_owned(), (*text).to_owned());
        }
        tree
    }

    #[test]
    fn the_hash_is_fnv1a() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn a_changed_format_is_found_until_the_page_follows() {
        let mut tree = tree(&[(FILES[0], "//! A.\n"), (PAGE, "# Formats\n\nText.\n")]);
        assert_eq!(check(&tree).len(), 1);
        let page = renewed(&tree);
        assert!(page.starts_with("# Formats\n\nText.\n\n## Digests\n"), "{page}");
        tree.files.insert(PAGE.to_owned(), page.clone());
        assert!(check(&tree).is_empty());
        assert_eq!(renewed(&tree), page);

        tree.files.insert(FILES[0].to_owned(), "//! A.\nstruct B;\n".to_owned());
        let shown = check(&tree)[0].to_string();
        assert!(shown.contains("frame.rs changed and this page did not"), "{shown}");
        tree.files.insert(PAGE.to_owned(), renewed(&tree));
        assert!(check(&tree).is_empty());
    }

    #[test]
    fn tests_of_a_format_change_freely() {
        let mut tree = tree(&[(FILES[0], "//! A.\n")]);
        tree.files.insert(PAGE.to_owned(), renewed(&tree));
        let with_tests = "//! A.\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n}\n";
        tree.files.insert(FILES[0].to_owned(), with_tests.to_owned());
        assert!(check(&tree).is_empty());
    }

    #[test]
    fn text_around_the_digests_stays() {
        let tree = tree(&[(FILES[1], "//! A.\n"), (PAGE, &format!("a\n{BEGIN}\nold\n{END}\nb\n"))]);
        let page = renewed(&tree);
        assert!(page.starts_with("a\n<!--") && page.ends_with("-->\nb\n"), "{page}");
        assert!(page.contains("| `crates/engine/src/event.rs` | `"), "{page}");
        assert!(!page.contains("old"));
    }
}
