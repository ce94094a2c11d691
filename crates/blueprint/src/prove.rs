//! What must hold once a node claims success: data here, judged by the run.

use durable::Span;
use serde_json::Value;

use crate::{ShellCommand, Template};

/// One check.
#[derive(Debug, Clone)]
pub enum Check {
    /// A command that exits with 0 in the node's workspace.
    Command { command: ShellCommand, timeout: Span },
    /// Something in the workspace differs from when the node began; with
    /// paths, something at one of them.
    Changed { paths: Vec<Glob> },
    /// A file of the workspace is there, and has this text in it.
    File { path: Template, contains: Option<Template> },
    /// A place of the node's own output has this value.
    Output { pointer: String, equals: Value },
}

impl Check {
    /// What is checked, in a line for people.
    pub fn told(&self) -> String {
        match self {
            Self::Command { command, .. } => format!("command {}", first_line(command.source())),
            Self::Changed { paths } if paths.is_empty() => "changed".to_owned(),
            Self::Changed { paths } => {
                let paths: Vec<&str> = paths.iter().map(Glob::as_str).collect();
                format!("changed {}", paths.join(", "))
            }
            Self::File { path, .. } => format!("file {}", first_line(path.source())),
            Self::Output { pointer, .. } => format!("output {pointer}"),
        }
    }
}

/// As much of a text as one line holds.
fn first_line(text: &str) -> String {
    const SHOWN: usize = 80;
    let line = text.trim().lines().next().unwrap_or_default();
    if line.chars().count() <= SHOWN && line.len() == text.trim().len() {
        return line.to_owned();
    }
    let start: String = line.chars().take(SHOWN).collect();
    format!("{start} …")
}

/// A pattern of paths from the workspace: `?` is one character and `*` any
/// number of them, both up to the next `/`; `**` is any number of folders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob(String);

impl Glob {
    /// The pattern, or what is wrong with it, to follow its name.
    pub fn new(text: &str) -> Result<Self, &'static str> {
        if text.trim().is_empty() {
            return Err("is empty");
        }
        if text.starts_with('/') {
            return Err("begins at the root, not in the workspace");
        }
        let parts: Vec<&str> = text.split('/').collect();
        if parts.contains(&"..") {
            return Err("leads out of the workspace");
        }
        if parts.iter().any(|part| part.contains("**") && *part != "**") {
            return Err("has `**` beside other characters");
        }
        if text.chars().any(|c| matches!(c, '\\' | '[' | ']' | '{' | '}' | '\0')) {
            return Err("has a character that patterns do not know");
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the path is one that the pattern means, or lies below it.
    pub fn matches(&self, path: &str) -> bool {
        let pattern: Vec<&str> = parts(&self.0);
        folders(&pattern, &parts(path))
    }
}

fn parts(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".").collect()
}

/// Each `**` tries the fewest folders first and is not gone back behind once
/// a later one has found its place, so this takes time in proportion to both.
fn folders(pattern: &[&str], path: &[&str]) -> bool {
    let (mut at, mut seen) = (0, 0);
    let mut again: Option<(usize, usize)> = None;
    loop {
        match pattern.get(at) {
            // What lies below a place that is meant is meant too.
            None => return true,
            Some(&"**") => {
                again = Some((at + 1, seen));
                at += 1;
                // A last one means all that is inside.
                if at == pattern.len() {
                    return seen < path.len();
                }
            }
            Some(part) if path.get(seen).is_some_and(|name| one(part, name)) => {
                at += 1;
                seen += 1;
            }
            Some(_) => match again {
                Some((next, from)) if from < path.len() => {
                    again = Some((next, from + 1));
                    (at, seen) = (next, from + 1);
                }
                Some(_) | None => return false,
            },
        }
    }
}

/// One name against one part, `*` by the same rule.
fn one(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut seen) = (0, 0);
    let mut again: Option<(usize, usize)> = None;
    while seen < name.len() {
        match pattern.get(at) {
            Some('*') => {
                at += 1;
                again = Some((at, seen));
            }
            Some(c) if *c == '?' || *c == name[seen] => {
                at += 1;
                seen += 1;
            }
            Some(_) | None => {
                let Some((next, from)) = again else { return false };
                again = Some((next, from + 1));
                (at, seen) = (next, from + 1);
            }
        }
    }
    pattern[at..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        Glob::new(pattern).unwrap().matches(path)
    }

    #[test]
    fn a_star_stays_in_its_folder_and_two_do_not() {
        for (pattern, path) in [
            ("src/*.rs", "src/a.rs"),
            ("src/**", "src/a/b.rs"),
            ("**/*.rs", "a.rs"),
            ("**/*.rs", "a/b/c.rs"),
            ("a/**/b/**/c", "a/x/b/y/b/z/c"),
            ("*", "a"),
            ("a?c", "abc"),
            ("docs", "docs/page.md"),
            ("./docs/", "docs/page.md"),
            ("a*b*c", "axxbyybzzc"),
        ] {
            assert!(matches(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("src/*.rs", "src/a/b.rs"),
            ("src/**", "src"),
            ("**/*.rs", "a/b.py"),
            ("a?c", "ac"),
            ("docs", "docs2/page.md"),
            ("a/**/b", "a/x/c"),
            ("a*b", "axc"),
        ] {
            assert!(!matches(pattern, path), "{pattern} {path}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_takes_no_longer_than_its_length() {
        let pattern = format!("{}b", "*a".repeat(200));
        assert!(!matches(&pattern, &"a".repeat(5_000)));
        let folders = format!("{}b", "**/a/".repeat(200));
        assert!(!matches(&folders, &"a/".repeat(2_000)));
    }

    #[test]
    fn a_pattern_that_leads_out_or_means_nothing_is_refused() {
        for text in ["", " ", "/etc", "../a", "a/../b", "a**b", "[ab]", "a\\b", "{a,b}"] {
            assert!(Glob::new(text).is_err(), "{text}");
        }
    }
}
