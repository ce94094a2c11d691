//! `cargo xtask layers`: dependencies go down, siblings do not know each
//! other, pure crates ask for nothing impure, and nobody gives another's types
//! further. The table is data; the checks are functions over it.

pub(crate) mod table;

use std::path::Path;
use std::process::ExitCode;

use crate::cargo::{PROFILE, cargo};
use crate::finding::Finding;
use crate::metadata::{Dependency, Package, Section, Workspace};
use crate::source::{Source, words};
use crate::tree::{self, Tree};
use table::{DURABLE, FACE, Kind, Row, TABLE, crate_of, row};

/// What the tests of a shell may ask of `durable`.
const FOR_TESTS: [&str; 3] = ["disk", "sqlite", "sim"];

pub(crate) fn run() -> Result<ExitCode, String> {
    let root = tree::root();
    let mut findings = check(&root)?;
    let workspace = Workspace::read(&root)?;
    for package in pure_packages(&workspace) {
        findings.extend(builds_alone(&root, package)?);
    }
    Ok(crate::report("layers", &findings))
}

/// Everything that is seen without building.
pub(crate) fn check(root: &Path) -> Result<Vec<Finding>, String> {
    let workspace = Workspace::read(root)?;
    let tree = Tree::read(root).map_err(|error| format!("cannot read the repository: {error}"))?;
    let mut findings = Vec::new();
    for package in &workspace.packages {
        let manifest = format!("{}/Cargo.toml", package.folder);
        findings.extend(check_package(package, tree.text(&manifest).unwrap_or_default()));
        findings.extend(check_face(package, &tree));
    }
    Ok(findings)
}

pub(crate) fn pure_packages(workspace: &Workspace) -> impl Iterator<Item = &str> {
    TABLE
        .iter()
        .filter(|row| row.kind == Kind::Pure)
        .filter_map(|row| workspace.package(&format!("wardian-{}", row.name)))
        .map(|package| package.name.as_str())
}

/// In a build of the whole workspace features unify, so a pure crate could use
/// the disk unnoticed. A build of that crate alone refuses it.
pub(crate) fn builds_alone(root: &Path, package: &str) -> Result<Option<Finding>, String> {
    let output = cargo(root, &["check", "--quiet", "--lib", "--package", package])
        .args(PROFILE)
        .output()
        .map_err(|error| format!("cargo does not start: {error}"))?;
    let failure = format!(
        "does not build by itself, without the features that others ask for\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let manifest = format!("crates/{}/Cargo.toml", crate_of(package));
    Ok((!output.status.success()).then(|| Finding::new(&manifest, 1, failure)))
}

fn check_package(package: &Package, manifest: &str) -> Vec<Finding> {
    let path = format!("{}/Cargo.toml", package.folder);
    let name = crate_of(&package.name);
    let Some(row) = row(name) else {
        let message = format!("crate {name} is not in the table of layers; give it a place there");
        return vec![Finding::new(&path, 1, message)];
    };
    let mut findings = Vec::new();
    if package.folder.rsplit('/').next() != Some(name) {
        findings.push(Finding::new(
            &path,
            1,
            format!("the folder of crate {name} is not named {name}"),
        ));
    }
    if name == DURABLE && package.features.get("default").is_some_and(|on| !on.is_empty()) {
        let message = "durable must be pure by default: its default features must be empty";
        findings.push(Finding::new(&path, 1, message));
    }
    for dependency in &package.dependencies {
        let line = line_of(manifest, dependency);
        let messages =
            check_edge(row, dependency).into_iter().chain(check_features(row, dependency));
        findings.extend(messages.map(|message| Finding::new(&path, line, message)));
    }
    findings
}

fn check_edge(from: &Row, dependency: &Dependency) -> Option<String> {
    let name = crate_of(&dependency.package);
    let to = row(name)?;
    if from.uses.contains(&name) {
        return None;
    }
    match dependency.section {
        Section::Dev if to.layer < from.layer || name == from.name => None,
        Section::Dev if to.layer > from.layer => {
            Some(format!("tests of {} must not point up to {name}; put them in `tests`", from.name))
        }
        Section::Normal | Section::Build | Section::Dev if to.layer == from.layer => {
            Some(format!("{} and {name} share a layer and must not know each other", from.name))
        }
        Section::Normal | Section::Build | Section::Dev => {
            Some(format!("{} may not use {name}; it may use [{}]", from.name, from.uses.join(", ")))
        }
    }
}

fn check_features(from: &Row, dependency: &Dependency) -> Option<String> {
    if crate_of(&dependency.package) != DURABLE {
        return None;
    }
    // Durable tests its own features by asking itself for them.
    let may_test = from.kind == Kind::Shell || from.name == DURABLE;
    let for_tests = dependency.section == Section::Dev && may_test;
    let refused: Vec<&str> = dependency
        .features
        .iter()
        .map(String::as_str)
        .filter(|feature| !from.durable.contains(feature))
        .filter(|feature| !(for_tests && FOR_TESTS.contains(feature)))
        .collect();
    let refused = refused.join(", ");
    (!refused.is_empty()).then(|| match from.kind {
        Kind::Pure => {
            format!("{} is pure and asks durable for no feature, not for {refused}", from.name)
        }
        Kind::Shell => format!("{} may not ask durable for {refused}", from.name),
    })
}

/// The line of a manifest that asks for a dependency, as good as can be told.
fn line_of(manifest: &str, dependency: &Dependency) -> usize {
    let header = match dependency.section {
        Section::Normal => "[dependencies]",
        Section::Build => "[build-dependencies]",
        Section::Dev => "[dev-dependencies]",
    };
    let names = [crate_of(&dependency.package), &dependency.package];
    manifest
        .lines()
        .enumerate()
        .skip_while(|(_, line)| line.trim() != header)
        .find(|(_, line)| {
            line.split([' ', '=', '.']).next().is_some_and(|key| names.contains(&key))
        })
        .map_or(1, |(index, _)| index + 1)
}

/// No crate gives another's types further, except the one that is the face.
fn check_face(package: &Package, tree: &Tree) -> Vec<Finding> {
    let others: Vec<&str> = package
        .dependencies
        .iter()
        .filter(|dependency| dependency.section == Section::Normal)
        .map(|dependency| crate_of(&dependency.package))
        .collect();
    let src = format!("{}/src/", package.folder);
    let face = format!("{}/{}", package.folder, FACE.1);
    let is_face = |path: &str| {
        crate_of(&package.name) == FACE.0
            && path.strip_prefix(&face).is_some_and(|rest| rest.starts_with(['.', '/']))
    };
    tree.with_extension("rs")
        .filter(|(path, _)| path.starts_with(&src) && !is_face(path))
        .flat_map(|(path, text)| re_exports(&Source::new(path, text), &others))
        .collect()
}

fn re_exports(source: &Source<'_>, others: &[&str]) -> Vec<Finding> {
    let all: Vec<(usize, &str)> = source.words().collect();
    all.windows(2)
        .enumerate()
        .filter(|(_, pair)| pair[0].1 == "pub" && matches!(pair[1].1, "use" | "extern"))
        .flat_map(|(index, pair)| {
            let at = pair[0].0;
            let end = source.code[at..].find(';').map_or(source.code.len(), |end| at + end);
            let given = first_names(&source.code[all[index + 1].0..end]);
            given.into_iter().filter(|name| others.contains(name)).map(move |name| {
                let message =
                    format!("gives types of {name} further; callers name {name} themselves");
                Finding::new(source.path, source.line(at), message)
            })
        })
        .collect()
}

/// The first name of each path of `use …` or `extern crate …`.
fn first_names(item: &str) -> Vec<&str> {
    let tail = item.trim_start_matches("extern crate").trim_start_matches("use");
    let tail = tail.trim().trim_start_matches("::").trim_start();
    let inside = tail.strip_prefix('{').unwrap_or(tail);
    let mut depth = 0_usize;
    inside
        .split_inclusive([',', '{', '}'])
        .filter_map(|piece| {
            let at_top = depth == 0;
            match piece.chars().last() {
                Some('{') => depth += 1,
                Some('}') => depth = depth.saturating_sub(1),
                Some(_) | None => {}
            }
            words(piece).next().filter(|_| at_top).map(|(_, name)| name)
        })
        .collect()
}

#[cfg(test)]
mod tests;
