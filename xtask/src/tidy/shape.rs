//! One idea a file, and functions that fit on a screen. Pure.

use crate::finding::Finding;
use crate::source::Source;
use crate::tree::is_test_file;

/// Lines of a file without its test items.
const FILE_LINES: usize = 500;

/// Lines of a function, from `fn` to its closing brace.
const FUNCTION_LINES: usize = 70;

pub(crate) fn check(source: &Source<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut say = |line, message: String| findings.push(Finding::new(source.path, line, message));
    if !source.text.starts_with("//!") {
        say(1, "opens without `//!`: say what the file is for".to_owned());
    }
    let lines = source.body().trim_end().lines().count();
    if lines > FILE_LINES && !is_test_file(source.path) {
        say(1, format!("{lines} lines without tests, {FILE_LINES} at most: split it by idea"));
    }
    for function in source.functions() {
        let lines = source.text[function.range.clone()].lines().count();
        if lines > FUNCTION_LINES {
            let line = source.line(function.range.start);
            say(line, format!("fn {} has {lines} lines, {FUNCTION_LINES} at most", function.name));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        check(&Source::new(path, text)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_file_says_what_it_is_for() {
        assert!(found("a.rs", "//! A.\n").is_empty());
        assert_eq!(
            found("a.rs", "// A.\n"),
            ["a.rs:1: opens without `//!`: say what the file is for"]
        );
    }

    #[test]
    fn a_file_is_short_tests_not_counted() {
        let body = format!("//! A.\n{}", "a;\n".repeat(FILE_LINES - 1));
        assert!(found("a.rs", &body).is_empty());
        let with_tests = format!("{body}#[cfg(test)]\nmod tests {{\n{}}}\n", "b;\n".repeat(90));
        assert!(found("a.rs", &with_tests).is_empty());
        let long = format!("{body}a;\n");
        assert_eq!(
            found("a.rs", &long),
            ["a.rs:1: 501 lines without tests, 500 at most: split it by idea"]
        );
        assert!(found("a/tests.rs", &long).is_empty());
    }

    #[test]
    fn a_function_is_short() {
        let function = |lines| format!("//! A.\nfn a() {{\n{}}}\n", "b();\n".repeat(lines - 2));
        assert!(found("a.rs", &function(FUNCTION_LINES)).is_empty());
        let long = found("a.rs", &function(FUNCTION_LINES + 1));
        assert_eq!(long, ["a.rs:2: fn a has 71 lines, 70 at most"]);
    }
}
