//! Words that mean unfinished or careless work. Pure.

use crate::finding::Finding;
use crate::source::{Source, words};
use crate::tree::is_test_file;

/// Refused in code and comments.
const UNFINISHED: [&str; 2] = ["TODO", "FIXME"];

/// Refused as macros.
const MACROS: [&str; 2] = ["todo", "unimplemented"];

pub(crate) fn check(source: &Source<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut say = |offset, message: String| {
        findings.push(Finding::new(source.path, source.line(offset), message));
    };
    for (offset, word) in words(&source.unquoted) {
        if UNFINISHED.contains(&word) {
            say(offset, format!("{word}: finish it, or leave it out and say so elsewhere"));
        }
    }
    for (offset, word) in source.words() {
        let after = source.code[offset + word.len()..].trim_start();
        let before = source.code[..offset].trim_end();
        if MACROS.contains(&word) && after.starts_with('!') {
            say(offset, format!("{word}!: finish it, or leave it out"));
        } else if word == "should_panic" {
            say(offset, "should_panic hides which step fails; assert on a value".to_owned());
        } else if word == "unwrap"
            && before.ends_with('.')
            && is_empty_call(after)
            && !source.in_test(offset)
            && !is_test_file(source.path)
        {
            say(offset, "unwrap outside tests: handle it, or `expect` an invariant".to_owned());
        }
    }
    findings
}

fn is_empty_call(after: &str) -> bool {
    after.strip_prefix('(').is_some_and(|inside| inside.trim_start().starts_with(')'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        check(&Source::new(path, text)).len()
    }

    #[test]
    fn unfinished_work_is_found() {
        for bad in [
            "// TODO: later",
            "/* FIXME */",
            "fn a() { todo!() }",
            "fn a() { unimplemented! (\"b\") }",
            "#[should_panic]\nfn a() {}",
            "fn a() { b.unwrap() }",
            "fn a() { b\n.unwrap( ) }",
        ] {
            assert_eq!(found("a.rs", bad), 1, "{bad}");
        }
    }

    #[test]
    fn finished_work_passes() {
        for good in [
            "const A: &str = \"TODO\";",
            "fn todo() {}",
            "// a todolist, TODOs",
            "fn a() { b.unwrap_or(c) }",
            "fn a() { unwrap(b) }",
            "#[cfg(test)]\nmod tests { fn a() { b.unwrap() } }",
        ] {
            assert_eq!(found("a.rs", good), 0, "{good}");
        }
        assert_eq!(found("crates/a/tests/it/main.rs", "fn a() { b.unwrap() }"), 0);
    }
}
