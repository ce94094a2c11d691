//! The document about a crash test. Pure.

use serde::Serialize;

use super::SCHEMA;
use crate::api::{CrashFinding, CrashTestReport};

pub fn crash_test(report: &CrashTestReport) -> CrashTestDocument<'_> {
    CrashTestDocument {
        schema: SCHEMA,
        ok: !report.findings.iter().any(|finding| finding.kind.is_fault()),
        status: report.status.word(),
        failure: report.failure.as_deref(),
        boundaries: report.boundaries,
        plays: report.plays,
        findings: report.findings.iter().map(entry).collect(),
        unsteady: &report.unsteady,
    }
}

#[derive(Debug, Serialize)]
pub struct CrashTestDocument<'a> {
    schema: u32,
    ok: bool,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'a str>,
    boundaries: usize,
    plays: usize,
    findings: Vec<Entry<'a>>,
    unsteady: &'a [String],
}

#[derive(Debug, Serialize)]
struct Entry<'a> {
    kind: &'static str,
    fault: bool,
    node: &'a str,
    seq: u64,
    boundary: &'a str,
    message: &'a str,
    files: &'a [String],
    advice: &'a str,
    times: usize,
}

fn entry(finding: &CrashFinding) -> Entry<'_> {
    Entry {
        kind: finding.kind.word(),
        fault: finding.kind.is_fault(),
        node: &finding.node,
        seq: finding.seq,
        boundary: &finding.boundary,
        message: &finding.message,
        files: &finding.files,
        advice: &finding.advice,
        times: finding.times,
    }
}
