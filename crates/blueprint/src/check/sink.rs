//! Where the parts of a check leave their findings.

use std::ops::Range;

use durable::limits;

use crate::document::Lines;
use crate::fix::make;
use crate::yaml::{place_within, plain_place};
use crate::{Finding, Fix, NodeId, Rule, Severity, suggest};

#[derive(Debug)]
pub(crate) struct Sink<'t> {
    text: &'t str,
    lines: Lines<'t>,
    findings: Vec<Finding>,
}

impl<'t> Sink<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, lines: Lines::new(text), findings: Vec::new() }
    }

    /// Where a part of a text value stands in the file. To look it up costs
    /// time in proportion to the value, so that ends with [`Self::is_full`];
    /// the end of the value then answers, behind the places that are exact.
    pub(crate) fn place_within(
        &self,
        span: &Range<usize>,
        value: &str,
        part: &Range<usize>,
    ) -> Range<usize> {
        if !self.is_full() {
            return place_within(self.text, span, value, part);
        }
        plain_place(self.text, span, value, part).unwrap_or(span.end..span.end)
    }

    /// The change of a mistyped word at `span` to the nearest candidate.
    pub(crate) fn rename<'a>(
        &self,
        span: &Range<usize>,
        written: &str,
        candidates: impl IntoIterator<Item = &'a str>,
    ) -> Option<Fix> {
        if self.is_full() {
            return None;
        }
        make::rename(self.text, span, written, suggest::nearest(written, candidates)?)
    }

    /// The same for the id of a node in a path: the part `path` of the text
    /// `value` at `span`.
    pub(crate) fn rename_in_path<'a>(
        &self,
        (span, value, path): (&Range<usize>, &str, &Range<usize>),
        written: &str,
        candidates: impl IntoIterator<Item = &'a str>,
    ) -> Option<Fix> {
        let id = make::id_in_path(value, path, written).filter(|_| !self.is_full())?;
        let place = self.place_within(span, value, &id);
        self.rename(&place, written, candidates)
    }

    /// The removal of the item of a list at `span`.
    pub(crate) fn removal(&self, span: &Range<usize>) -> Option<Fix> {
        if self.is_full() { None } else { make::removal(self.text, span) }
    }

    /// The line of a byte, for messages that name a second place.
    pub(crate) fn line(&self, byte: usize) -> usize {
        self.lines.place(byte).0
    }

    /// A place with its line and column.
    pub(crate) fn place(&self, span: &Range<usize>) -> (Range<usize>, usize, usize) {
        let (line, column) = self.lines.place(span.start);
        (span.clone(), line, column)
    }

    /// As many findings as are reported at all: what costs time to say is
    /// left unsaid from here on.
    pub(crate) fn is_full(&self) -> bool {
        self.findings.len() >= limits::FINDINGS
    }

    pub(crate) fn add(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    pub(crate) fn error(
        &mut self,
        rule: Rule,
        span: &Range<usize>,
        message: impl Into<String>,
    ) -> &mut Finding {
        self.push(Finding::new(rule, Severity::Error, span.clone(), message))
    }

    pub(crate) fn warn(
        &mut self,
        rule: Rule,
        span: &Range<usize>,
        message: impl Into<String>,
    ) -> &mut Finding {
        self.push(Finding::new(rule, Severity::Warning, span.clone(), message))
    }

    fn push(&mut self, finding: Finding) -> &mut Finding {
        self.findings.push(finding);
        let last = self.findings.len() - 1;
        &mut self.findings[last]
    }

    /// How many findings there are, as a mark for [`Self::assign_since`].
    pub(crate) fn mark(&self) -> usize {
        self.findings.len()
    }

    /// Says of every finding since `mark` which node it is about.
    pub(crate) fn assign_since(&mut self, mark: usize, node: Option<&str>) {
        let Some(node) = node.map(NodeId::new) else { return };
        for finding in &mut self.findings[mark..] {
            finding.node.get_or_insert_with(|| node.clone());
        }
    }

    /// The findings in the order of the file, and how many were left out.
    pub(crate) fn finish(mut self) -> (Vec<Finding>, usize) {
        // The file is read once, so equal places keep the order of the rules.
        self.findings.sort_by(|a, b| {
            (a.span.start, a.rule, a.span.end).cmp(&(b.span.start, b.rule, b.span.end))
        });
        // An error that is cut off must not leave a list of mere warnings.
        if self.findings.len() > limits::FINDINGS {
            self.findings.sort_by_key(|finding| finding.severity);
        }
        let omitted = self.findings.len().saturating_sub(limits::FINDINGS);
        self.findings.truncate(limits::FINDINGS);
        self.findings.sort_by_key(|finding| (finding.span.start, finding.rule, finding.span.end));
        for finding in &mut self.findings {
            (finding.line, finding.column) = self.lines.place(finding.span.start);
        }
        (self.findings, omitted)
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }
}
