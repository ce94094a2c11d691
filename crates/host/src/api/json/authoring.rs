//! The documents of the author's tools. Pure.

use std::ops::Range;

use serde::Serialize;
use serde_json::Value;

use super::{Diagnostic, SCHEMA, diagnostic};
use crate::api::authoring::{
    DiffReport, Difference, Done, FirstAutomation, FormatReport, Formatted, Linted, NewAutomation,
    Place, Side,
};
use crate::api::{CheckedSource, Finding};

/// What became of the layout of each file; `written` says whether files were.
pub fn formatted(reports: &[FormatReport], written: bool) -> FormattedDocument<'_> {
    let ok = reports.iter().all(|report| matches!(report.outcome, Formatted::Done(_)));
    FormattedDocument { schema: SCHEMA, ok, written, files: reports.iter().map(layout).collect() }
}

/// The findings of several files, and what was mended in them before.
pub fn linted(files: &[Linted]) -> LintedDocument<'_> {
    let ok = files.iter().all(|file| file.checked.ok);
    LintedDocument { schema: SCHEMA, ok, files: files.iter().map(lint).collect() }
}

/// A file that was made.
pub fn created(new: &NewAutomation) -> CreatedDocument<'_> {
    CreatedDocument {
        schema: SCHEMA,
        blueprint_id: &new.id,
        name: &new.name,
        path: new.path.display().to_string(),
    }
}

/// The first automation of a repository.
pub fn first(first: &FirstAutomation) -> FirstDocument<'_> {
    FirstDocument {
        created: created(&first.new),
        repository: first.repository.display().to_string(),
        provider: first.provider.as_deref(),
        found: &first.found,
        tests: first.tests.as_deref(),
    }
}

/// What differs from one graph to another.
pub fn diff(report: &DiffReport) -> DiffDocument<'_> {
    DiffDocument {
        schema: SCHEMA,
        same: report.differences.is_empty(),
        old: side(&report.old),
        new: side(&report.new),
        differences: report.differences.iter().map(difference).collect(),
    }
}

fn layout(report: &FormatReport) -> FormattedFile<'_> {
    let path = report.source.path.display().to_string();
    match &report.outcome {
        Formatted::Done(_) => {
            FormattedFile { path, changed: Some(report.is_changed()), diagnostics: Vec::new() }
        }
        Formatted::Refused(checked) => {
            FormattedFile { path, changed: None, diagnostics: diagnostics(checked) }
        }
    }
}

fn lint(Linted { checked, done }: &Linted) -> LintedFile<'_> {
    LintedFile {
        path: checked.source.path.display().to_string(),
        blueprint_id: checked.blueprint_id.as_deref(),
        ok: checked.ok,
        fixed: done.iter().map(fixed).collect(),
        diagnostics: diagnostics(checked),
        omitted: checked.omitted,
    }
}

fn diagnostics(checked: &CheckedSource) -> Vec<LintDiagnostic<'_>> {
    checked.findings.iter().map(lint_diagnostic).collect()
}

fn lint_diagnostic(finding: &Finding) -> LintDiagnostic<'_> {
    let bytes = |span: &Range<usize>| [span.start, span.end];
    let fix = finding.fix.as_ref();
    LintDiagnostic {
        diagnostic: diagnostic(finding),
        span: bytes(&finding.span),
        fix: fix.map(|fix| FixBody { span: bytes(&fix.span), text: &fix.text, safe: fix.safe }),
    }
}

fn fixed(done: &Done) -> FixedBody<'_> {
    FixedBody {
        code: done.finding.rule.code(),
        line: done.finding.line,
        message: &done.finding.message,
        before: &done.before,
        after: &done.after,
    }
}

fn side(side: &Side) -> SideBody<'_> {
    SideBody { source: &side.label, blueprint_id: &side.blueprint_id, hash: &side.hash }
}

fn difference(difference: &Difference) -> DifferenceBody<'_> {
    let (kind, node, path, edge) = match &difference.place {
        Place::Key(key) => ("key", None, Some(key.as_str()), None),
        Place::Node(node) => ("node", Some(node.as_str()), None, None),
        Place::Part { node, path } => ("part", Some(node.as_str()), Some(path.as_str()), None),
        Place::Edge(edge) => ("edge", None, None, Some(edge.as_str())),
        Place::NodeOrder => ("node_order", None, None, None),
        Place::EdgeOrder => ("edge_order", None, None, None),
    };
    let change = match (&difference.old, &difference.new) {
        (None, _) => "added",
        (Some(_), None) => "removed",
        (Some(_), Some(_)) => "changed",
    };
    let (old, new) = (difference.old.as_ref(), difference.new.as_ref());
    DifferenceBody { change, kind, node, path, edge, old, new }
}

#[derive(Debug, Serialize)]
pub struct FormattedDocument<'a> {
    schema: u32,
    ok: bool,
    written: bool,
    files: Vec<FormattedFile<'a>>,
}

#[derive(Debug, Serialize)]
struct FormattedFile<'a> {
    path: String,
    /// Whether the layout is another than before; `null` for a file that
    /// cannot be read.
    changed: Option<bool>,
    diagnostics: Vec<LintDiagnostic<'a>>,
}

#[derive(Debug, Serialize)]
pub struct LintedDocument<'a> {
    schema: u32,
    ok: bool,
    files: Vec<LintedFile<'a>>,
}

#[derive(Debug, Serialize)]
struct LintedFile<'a> {
    path: String,
    blueprint_id: Option<&'a str>,
    ok: bool,
    fixed: Vec<FixedBody<'a>>,
    diagnostics: Vec<LintDiagnostic<'a>>,
    omitted: usize,
}

#[derive(Debug, Serialize)]
struct LintDiagnostic<'a> {
    #[serde(flatten)]
    diagnostic: Diagnostic<'a>,
    /// Bytes of the file, from the first to before the last.
    span: [usize; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<FixBody<'a>>,
}

#[derive(Debug, Serialize)]
struct FixBody<'a> {
    span: [usize; 2],
    text: &'a str,
    safe: bool,
}

#[derive(Debug, Serialize)]
struct FixedBody<'a> {
    code: &'static str,
    line: usize,
    message: &'a str,
    before: &'a str,
    after: &'a str,
}

#[derive(Debug, Serialize)]
pub struct FirstDocument<'a> {
    #[serde(flatten)]
    created: CreatedDocument<'a>,
    repository: String,
    provider: Option<&'a str>,
    found: &'a [String],
    tests: Option<&'a str>,
}

#[derive(Debug, Serialize)]
pub struct CreatedDocument<'a> {
    schema: u32,
    blueprint_id: &'a str,
    name: &'a str,
    path: String,
}

#[derive(Debug, Serialize)]
pub struct DiffDocument<'a> {
    schema: u32,
    same: bool,
    old: SideBody<'a>,
    new: SideBody<'a>,
    differences: Vec<DifferenceBody<'a>>,
}

#[derive(Debug, Serialize)]
struct SideBody<'a> {
    source: &'a str,
    blueprint_id: &'a str,
    hash: &'a str,
}

#[derive(Debug, Serialize)]
struct DifferenceBody<'a> {
    change: &'static str,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    edge: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<&'a Value>,
}
