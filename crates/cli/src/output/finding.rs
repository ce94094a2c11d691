//! Findings as people read them: each with its place in the file, what is
//! wrong there, and what to write instead. Pure.

mod excerpt;
#[cfg(test)]
mod tests;

use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{Annotation, AnnotationKind, Element, Group, Level, Renderer};
use host::api::{CheckedSource, Finding, Severity};

use self::excerpt::Excerpt;
use super::escape;
use crate::style::Style;

/// Related places further apart than this are shown apart.
const LINES_TOGETHER: usize = 200;

/// A place that explains a finding, with its label.
type Related = (Range<usize>, String);

#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    pub(crate) style: Style,
    pub(crate) width: usize,
}

/// All findings, an empty line between two, without a last line end. `path`
/// is the file's name as it is shown.
pub(crate) fn render(checked: &CheckedSource, path: &str, look: Look) -> String {
    let renderer = if look.style.color { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.decor_style(DecorStyle::Ascii).term_width(look.width);
    let source = &checked.source.bytes;
    let one = |finding| report(&renderer, finding, source, path);
    checked.findings.iter().map(one).collect::<Vec<_>>().join("\n\n")
}

/// `2 errors, 1 warning`; `None` when there is nothing to count.
pub(crate) fn summary(checked: &CheckedSource) -> Option<String> {
    let count = |severity| checked.findings.iter().filter(|f| f.severity == severity).count();
    let part = |count: usize, noun: &str| match count {
        0 => None,
        1 => Some(format!("1 {noun}")),
        _ => Some(format!("{count} {noun}s")),
    };
    let omitted = (checked.omitted > 0).then(|| format!("{} more not shown", checked.omitted));
    let parts =
        [part(count(Severity::Error), "error"), part(count(Severity::Warning), "warning"), omitted];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn report(renderer: &Renderer, finding: &Finding, source: &[u8], path: &str) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let (near, far) = split(finding, source);
    let excerpt = Excerpt::around(source, near.iter().map(|(span, _)| span).chain([&finding.span]));
    let primary = AnnotationKind::Primary.span(excerpt.span(&finding.span));
    let related: Vec<_> = near.iter().map(|(span, label)| context(&excerpt, span, label)).collect();
    let first = excerpt.snippet(path).annotation(primary).annotations(related);
    let rest = far.iter().map(|(span, label)| {
        let excerpt = Excerpt::around(source, [span]);
        excerpt.snippet(path).annotation(context(&excerpt, span, label))
    });
    let mut elements: Vec<Element<'_>> = vec![first.into()];
    elements.extend(rest.map(Element::from));
    if let Some(suggestion) = &finding.suggestion {
        elements.push(Level::HELP.message(escape::text(suggestion)).into());
    }
    let title = level.primary_title(escape::text(&finding.message)).id(finding.rule.code());
    let shown = renderer.render(&[Group::with_title(title).elements(elements)]);
    // The renderer counts what it shows; the file has fewer characters where
    // some had to be escaped.
    let (line, column) = excerpt.place(&finding.span);
    let (seen, real) = (format!("{line}:{column}"), format!("{}:{}", finding.line, finding.column));
    shown.replacen(&format!("{path}:{seen}"), &format!("{path}:{real}"), 1)
}

/// The related places near the finding's own, and those far from it.
fn split<'a>(finding: &'a Finding, source: &[u8]) -> (Vec<&'a Related>, Vec<&'a Related>) {
    let own = excerpt::lines(source, &finding.span);
    finding.related.iter().partition(|(span, _)| {
        let other = excerpt::lines(source, span);
        let (from, to) = (own.start.min(other.start), own.end.max(other.end));
        source[from..to].iter().filter(|byte| **byte == b'\n').count() <= LINES_TOGETHER
    })
}

fn context(excerpt: &Excerpt, span: &Range<usize>, label: &str) -> Annotation<'static> {
    AnnotationKind::Context.span(excerpt.span(span)).label(escape::line(label).into_owned())
}
