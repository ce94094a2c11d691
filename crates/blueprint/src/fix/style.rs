//! What is not wrong and yet better mended: warnings beyond those of the
//! check, which a run does not ask for.

use crate::document::{Document, Lines};
use crate::draft::SCHEMA;
use crate::yaml::{self, Data, Map};
use crate::{Checked, Finding, Fix, Rule, Severity, check, suggest};

/// Judges the bytes of a file as [`crate::check()`] does, and its style.
pub fn lint(bytes: &[u8]) -> Checked {
    let mut checked = check(bytes);
    let Ok(document) = Document::read(bytes) else { return checked };
    let reading = yaml::read(document.text(), document.front());
    let Some(Data::Map(map)) = reading.root.as_ref().map(|root| &root.data) else {
        return checked;
    };
    if let Some(finding) = missing_schema(&document, map) {
        let at = checked.findings.partition_point(|f| f.span.start < finding.span.start);
        checked.findings.insert(at, finding);
    }
    checked
}

/// A file that does not say its format will mean something else one day.
fn missing_schema(document: &Document<'_>, map: &Map<'_>) -> Option<Finding> {
    let first = map.entries.first()?;
    let meant = |key: &str| suggest::closest(key, ["schema"]).is_some();
    if map.partial || map.entries.iter().any(|entry| meant(&entry.key)) {
        return None;
    }
    let message = "the blueprint does not say which format it has";
    let span = first.key_span.clone();
    let mut finding = Finding::new(Rule::MissingKey, Severity::Warning, span, message);
    finding
        .suggest(format!("add `schema: {SCHEMA}`"))
        .fix(insertion(document, first.key_span.start));
    let (line, column) = Lines::new(document.text()).place(first.key_span.start);
    Some(Finding { line, column, ..finding })
}

/// A first line of the front matter, as far in as the first key.
fn insertion(document: &Document<'_>, first: usize) -> Option<Fix> {
    let (text, at) = (document.text(), document.front().start);
    let line = text[..first].rfind('\n').map_or(0, |end| end + 1);
    let indent = text[line..first].trim().is_empty().then(|| &text[line..first])?;
    let end = if text[..at].ends_with("\r\n") { "\r\n" } else { "\n" };
    Some(Fix { span: at..at, text: format!("{indent}schema: {SCHEMA}{end}"), safe: true })
}
