//! `cargo xtask tidy`: the rules of the house that a compiler does not know.
//! Each check takes text and gives findings; all are shown at once.

mod attributes;
mod facade;
mod manifests;
mod old_names;
mod pages;
mod purity;
mod shape;
mod words;

use std::path::Path;
use std::process::ExitCode;

use crate::finding::Finding;
use crate::formats;
use crate::source::Source;
use crate::tree::{self, Tree};

pub(crate) fn run() -> Result<ExitCode, String> {
    Ok(crate::report("tidy", &check(&tree::root())?))
}

pub(crate) fn check(root: &Path) -> Result<Vec<Finding>, String> {
    let tree = Tree::read(root).map_err(|error| format!("cannot read the repository: {error}"))?;
    let mut findings = Vec::new();
    for (path, text) in tree.with_extension("rs") {
        let source = Source::new(path, text);
        findings.extend(shape::check(&source));
        findings.extend(facade::check(&source));
        findings.extend(purity::check(&source, &tree));
        findings.extend(words::check(&source));
        findings.extend(attributes::check(&source));
        findings.extend(old_names::check(&source));
    }
    findings.extend(manifests::check(&tree));
    findings.extend(pages::check(&tree));
    findings.extend(formats::check(&tree));
    findings.sort();
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        let findings = check(&tree::root()).expect("the repository can be read");
        let shown: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert!(findings.is_empty(), "\n{}", shown.join("\n"));
    }
}
