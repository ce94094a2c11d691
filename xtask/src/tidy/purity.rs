//! Pure crates, and files whose first paragraph ends in "Pure.", take values
//! and give values: no disk, net, process, thread, environment, clock, chance,
//! task or hash order. Their tests may. Pure.

use crate::finding::Finding;
use crate::layers::table::{Kind, row};
use crate::source::{Source, words};
use crate::tree::{Tree, is_test_file};

/// Modules of `std` that reach outside.
const STD: [&str; 5] = ["fs", "net", "process", "thread", "env"];

/// Names that do, wherever they come from.
const NAMES: [(&str, &str); 7] = [
    ("SystemTime", "time comes in as a value"),
    ("Instant", "time comes in as a value"),
    ("tokio", "tasks belong to a shell"),
    ("async", "tasks belong to a shell"),
    ("rand", "chance comes in as a value"),
    ("HashMap", "its order differs from run to run; take BTreeMap"),
    ("HashSet", "its order differs from run to run; take BTreeSet"),
];

pub(crate) fn check(source: &Source<'_>, tree: &Tree) -> Vec<Finding> {
    if is_test_file(source.path) || !must_be_pure(source, tree) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let mut say = |offset, message| {
        if !source.in_test(offset) {
            findings.push(Finding::new(source.path, source.line(offset), message));
        }
    };
    for (offset, word) in source.words() {
        if word == "std" {
            for module in outside_modules(&source.code[offset + word.len()..]) {
                say(offset, format!("is pure and must not use std::{module}"));
            }
        } else if let Some((_, reason)) = NAMES.iter().find(|(name, _)| *name == word)
            && (word != "Instant" || is_std_instant(&source.code, offset))
        {
            say(offset, format!("is pure and must not use {word}: {reason}"));
        }
    }
    findings
}

fn must_be_pure(source: &Source<'_>, tree: &Tree) -> bool {
    source.first_paragraph().ends_with("Pure.") || is_in_pure_crate(source.path, tree)
}

/// Whether the file belongs to a pure crate, and not to a module that the
/// crate opens only with a feature.
fn is_in_pure_crate(path: &str, tree: &Tree) -> bool {
    let Some((name, inside)) =
        path.strip_prefix("crates/").and_then(|rest| rest.split_once("/src/"))
    else {
        return false;
    };
    if row(name).is_none_or(|row| row.kind != Kind::Pure) {
        return false;
    }
    let lib = tree.text(&format!("crates/{name}/src/lib.rs")).unwrap_or_default();
    let module = inside.split(['/', '.']).next().unwrap_or_default();
    !behind_feature(lib).iter().any(|gated| gated == module)
}

/// The modules that stand in `lib.rs` right behind a `cfg(feature …)`.
fn behind_feature(lib: &str) -> Vec<String> {
    let source = Source::new("lib.rs", lib);
    let gates = source.attributes.iter().filter(|attribute| {
        let names: Vec<&str> = words(&attribute.text).map(|(_, word)| word).collect();
        names.starts_with(&["cfg", "feature"])
    });
    gates
        .filter_map(|gate| {
            let item = source.code[gate.range.end..].split(';').next()?;
            let names: Vec<&str> = words(item).map(|(_, word)| word).collect();
            match names.as_slice() {
                ["mod", name] | ["pub", "mod", name] => Some((*name).to_owned()),
                _ => None,
            }
        })
        .collect()
}

/// Whether this `Instant` is the clock's and not a name of our own.
fn is_std_instant(code: &str, offset: usize) -> bool {
    let (before, after) = code.split_at(offset);
    let statement = before.rsplit(';').next().unwrap_or_default();
    before.ends_with("time::")
        || after.starts_with("Instant::now")
        || words(statement).skip_while(|(_, word)| *word != "use").any(|(_, word)| word == "time")
}

/// What follows `std`: the outside modules named by `::fs` or `::{fs, …}`.
fn outside_modules(after: &str) -> Vec<&'static str> {
    let Some(path) = after.trim_start().strip_prefix("::").map(str::trim_start) else {
        return Vec::new();
    };
    let named: Vec<&str> = if path.starts_with('{') {
        top_names(path)
    } else {
        words(path).next().map(|(_, name)| name).into_iter().collect()
    };
    STD.into_iter().filter(|module| named.contains(module)).collect()
}

/// The first name of each entry of a `{…}` group.
fn top_names(group: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let mut names = Vec::new();
    for piece in group.split_inclusive(['{', '}', ',']) {
        if depth == 1 {
            names.extend(words(piece).next().map(|(_, name)| name));
        }
        match piece.chars().last() {
            Some('{') => depth += 1,
            Some('}') => depth = depth.saturating_sub(1),
            Some(_) | None => {}
        }
        if depth == 0 {
            break;
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIB: &str = "//! A.\n#[cfg(feature = \"disk\")]\npub mod disk;\nmod canon;\n";

    fn tree() -> Tree {
        let mut tree = Tree::default();
        for name in ["durable", "host"] {
            tree.files.insert(format!("crates/{name}/src/lib.rs"), LIB.to_owned());
        }
        tree
    }

    fn found(path: &str, text: &str) -> usize {
        check(&Source::new(path, text), &tree()).len()
    }

    #[test]
    fn what_reaches_outside_is_found_in_a_pure_crate() {
        for bad in [
            "use std::fs;",
            "use std::{fmt, fs::File};",
            "use ::std::{collections::{BTreeMap, btree_map}, process};",
            "fn a() { std::env::var(b) }",
            "use std::time::Instant;",
            "fn a() {}\nuse std::{fmt, time::{Duration, Instant}};",
            "fn a() { Instant::now() }",
            "fn a(b: SystemTime) {}",
            "use std::collections::HashMap;",
            "async fn a() {}",
            "use tokio::spawn;",
            "use rand::Rng;",
        ] {
            assert_eq!(found("crates/durable/src/canon.rs", bad), 1, "{bad}");
        }
    }

    #[test]
    fn values_and_tests_pass() {
        for good in [
            "use std::{fmt, io};",
            "use std::collections::BTreeMap;",
            "fn fs() {} mod env {}",
            "use std::time::Duration; enum A { Instant(B) } const C: A = A::Instant(d);",
            "// std::fs",
            "const A: &str = \"std::fs HashMap\";",
            "#[cfg(test)]\nmod tests { use std::collections::HashMap; }",
        ] {
            assert_eq!(found("crates/durable/src/canon.rs", good), 0, "{good}");
        }
    }

    #[test]
    fn shells_tests_and_what_a_feature_opens_are_free() {
        for path in [
            "crates/host/src/canon.rs",
            "crates/durable/src/disk.rs",
            "crates/durable/src/disk/real.rs",
            "crates/durable/src/canon/tests.rs",
            "crates/durable/tests/it/main.rs",
        ] {
            assert_eq!(found(path, "use std::fs;"), 0, "{path}");
        }
    }

    #[test]
    fn a_file_may_promise_it_for_itself() {
        let text = "//! What it is for.\n//! Pure.\n//!\n//! More.\nuse std::fs;\n";
        assert_eq!(found("crates/host/src/plan.rs", text), 1);
    }
}
