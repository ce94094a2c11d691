//! Files for the tests, and findings as text.

use std::fs;
use std::path::{Path, PathBuf};

use blueprint::{Checked, check};

/// A fixture file.
pub(crate) struct Fixture {
    /// Its name without the extension.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// The fixtures of a folder, by name.
pub(crate) fn fixtures(folder: &str) -> Vec<Fixture> {
    let entries = fs::read_dir(root().join(folder)).expect("the folder of fixtures is there");
    let mut found: Vec<Fixture> = entries
        .map(|entry| entry.expect("the folder can be listed").path())
        .map(|path| Fixture { name: stem(&path), bytes: read(&path) })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

pub(crate) fn fixture(path: &str) -> Vec<u8> {
    read(&root().join(path))
}

/// The findings as a person would read them, each with its place.
pub(crate) fn render(bytes: &[u8], checked: &Checked) -> String {
    let mut lines = Vec::new();
    for finding in &checked.findings {
        let place = String::from_utf8_lossy(&bytes[finding.span.clone()]);
        let place: String = place.lines().next().unwrap_or("").chars().take(60).collect();
        let severity = format!("{:?}", finding.severity).to_lowercase();
        lines.push(format!("{severity} {finding}"));
        lines.push(format!("    at: {place}"));
        lines.extend(finding.node.as_ref().map(|node| format!("    node: {node}")));
        lines.extend(finding.suggestion.as_ref().map(|help| format!("    help: {help}")));
        for (span, label) in &finding.related {
            let place = String::from_utf8_lossy(&bytes[span.clone()]);
            lines.push(format!("    {label}: {place}"));
        }
    }
    lines.join("\n")
}

/// The codes of the findings of a file, in its order.
pub(crate) fn codes(text: &str) -> Vec<&'static str> {
    check(text.as_bytes()).findings.iter().map(|finding| finding.rule.code()).collect()
}

/// A file with these nodes and edges.
pub(crate) fn file(nodes: &str, edges: &str) -> String {
    format!("---\nid: test\nname: Test\nnodes:\n{nodes}\nedges:\n{edges}\n---\n")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
