//! Manifests and lint settings: every package takes the lints of the
//! workspace, and no folder replaces them. Nor is a snapshot left unread. Pure.

use crate::finding::Finding;
use crate::tree::Tree;

/// A `clippy.toml` further down replaces the one of the root, it does not add.
const LINT_SETTINGS: [&str; 2] = ["clippy.toml", ".clippy.toml"];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.with_extension("toml") {
        if path.ends_with("/Cargo.toml") && !takes_lints(text) {
            let message = "does not take the lints of the workspace: `[lints] workspace = true`";
            findings.push(Finding::new(path, 1, message));
        }
    }
    for path in &tree.paths {
        let name = path.rsplit('/').next().unwrap_or(path);
        if LINT_SETTINGS.contains(&name) && path != "clippy.toml" {
            findings.push(Finding::new(
                path,
                1,
                "shadows clippy.toml of the root; put the rule there",
            ));
        }
        if name.ends_with(".snap.new") {
            findings.push(Finding::new(path, 1, "a snapshot waits to be read and accepted"));
        }
    }
    findings
}

fn takes_lints(manifest: &str) -> bool {
    manifest
        .lines()
        .map(str::trim)
        .skip_while(|line| *line != "[lints]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .any(|line| line.replace(' ', "") == "workspace=true")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let mut tree = Tree::default();
        for (path, text) in files {
            tree.files.insert((*path).to_owned(), (*text).to_owned());
            tree.paths.push((*path).to_owned());
        }
        check(&tree).into_iter().map(|finding| finding.path).collect()
    }

    #[test]
    fn the_lints_of_the_workspace_hold_everywhere() {
        assert!(
            found(&[
                ("Cargo.toml", "[workspace]"),
                ("clippy.toml", ""),
                ("crates/a/Cargo.toml", "[package]\n[lints]\nworkspace = true\n[dependencies]\n"),
            ])
            .is_empty()
        );
        for manifest in
            ["[package]\n", "[lints]\n[x]\nworkspace = true\n", "[lints]\nworkspace = false\n"]
        {
            assert_eq!(found(&[("crates/a/Cargo.toml", manifest)]), ["crates/a/Cargo.toml"]);
        }
    }

    #[test]
    fn shadowed_settings_and_unread_snapshots_are_found() {
        for path in
            ["crates/a/clippy.toml", "tests/.clippy.toml", "crates/a/src/snapshots/b.snap.new"]
        {
            assert_eq!(found(&[(path, "")]), [path]);
        }
    }
}
