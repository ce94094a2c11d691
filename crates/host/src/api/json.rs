//! The documents that commands print with `--json`, and that servers answer
//! with: one type each, its fields in the order in which they are written.
//! They are promises: a name, once written, means the same for ever, and new
//! fields come beside the old. Inner types do not appear here. Pure.

mod authoring;
mod compare;
mod crash_test;
pub mod export;
mod pages;
mod providers;
mod prune;
mod run;
mod spent;
mod workers;
mod worktree;

use serde::Serialize;
use serde_json::Value;

use super::{
    AutomationRow, CheckedSource, DoctorLine, DoctorVerdict, Event, Finding, HostError, Rule,
    Severity,
};

pub use authoring::{
    CreatedDocument, DiffDocument, FirstDocument, FormattedDocument, LintedDocument, created, diff,
    first, formatted, linted,
};
pub use compare::{RunDiffDocument, run_diff};
pub use crash_test::{CrashTestDocument, crash_test};
pub use pages::{
    GraphDocument, NodeTypesDocument, RuleDocument, RulesDocument, graph, node_types, rule, rules,
};
pub use providers::{
    ProbesDocument, ProviderDocument, ProvidersDocument, probes, provider, providers,
};
pub use prune::{PruneDocument, RecoverDocument, prune_plan, pruned, recovered};
pub use run::{
    LogsDocument, OutcomeDocument, OutputPieceDocument, ReplayDocument, RunDocument, RunsDocument,
    SignalDocument, VerifyDocument, logs, outcome, output_piece, replay, run, run_at, runs,
    signalled, verify,
};
pub use workers::{WorkerDocument, WorkersDocument, worker, workers};
pub use worktree::{
    AppliedDocument, ChangesDocument, RemovedDocument, WorktreesDocument, applied, changes,
    worktree_removed, worktrees,
};

/// The version of every document of this page.
pub const SCHEMA: u32 = 1;

/// An event as its log line has it, without the hashes of the chain.
pub fn event_line(event: &Event) -> Vec<u8> {
    runstore::line::encode(event)
}

/// `{schema, error: {code, message, hint, details}}`.
pub fn error(error: &HostError) -> ErrorDocument<'_> {
    let findings = error.findings.as_deref();
    let findings = findings.map(|checked| CheckedDetails {
        path: checked.source.path.display().to_string(),
        diagnostics: checked.findings.iter().map(diagnostic).collect(),
        omitted: checked.omitted,
    });
    let details = match findings {
        Some(findings) => Details::Checked(findings),
        None => Details::Plain(&error.details),
    };
    error_document(error.code.word(), &error.message, error.hint.as_deref(), details)
}

/// The same for a refusal that is not the host's, such as a wrong argument.
pub fn plain_error<'a>(
    code: &'a str,
    message: &'a str,
    hint: Option<&'a str>,
) -> ErrorDocument<'a> {
    error_document(code, message, hint, Details::Plain(&Value::Null))
}

/// What a check says of a file.
pub fn checked(checked: &CheckedSource) -> CheckedDocument<'_> {
    CheckedDocument {
        schema: SCHEMA,
        ok: checked.ok,
        blueprint_id: checked.blueprint_id.as_deref(),
        name: checked.name.as_deref(),
        path: checked.source.path.display().to_string(),
        diagnostics: checked.findings.iter().map(diagnostic).collect(),
        omitted: checked.omitted,
    }
}

/// One automation: the file as it stands, and what the check says of it.
/// Bytes that are not UTF-8 are shown as U+FFFD.
pub fn automation(checked: &CheckedSource) -> AutomationDocument<'_> {
    AutomationDocument {
        schema: SCHEMA,
        automation: Automation {
            blueprint_id: checked.blueprint_id.as_deref(),
            name: checked.name.as_deref(),
            automation_path: checked.source.path.display().to_string(),
            ok: checked.ok,
            diagnostics: checked.findings.iter().map(diagnostic).collect(),
            source: String::from_utf8_lossy(&checked.source.bytes).into_owned(),
        },
    }
}

pub fn automations(rows: &[AutomationRow]) -> AutomationsDocument<'_> {
    let automations = rows.iter().map(|row| AutomationEntry {
        blueprint_id: row.blueprint_id.as_deref(),
        name: row.name.as_deref(),
        automation_path: row.path.display().to_string(),
        error: row.error.as_deref(),
    });
    AutomationsDocument { schema: SCHEMA, automations: automations.collect() }
}

pub fn doctor(lines: &[DoctorLine]) -> DoctorDocument<'_> {
    let checks = lines.iter().map(|line| DoctorCheck {
        name: &line.name,
        verdict: line.verdict.word(),
        detail: &line.detail,
        fix: line.fix.as_deref(),
    });
    let ok = lines.iter().all(|line| line.verdict != DoctorVerdict::Fail);
    DoctorDocument { schema: SCHEMA, ok, checks: checks.collect() }
}

fn diagnostic(finding: &Finding) -> Diagnostic<'_> {
    Diagnostic {
        severity: finding.severity,
        code: finding.rule,
        message: &finding.message,
        node: finding.node.as_ref().map(blueprint::NodeId::as_str),
        line: finding.line,
        column: finding.column,
        suggestion: finding.suggestion.as_deref(),
    }
}

fn error_document<'a>(
    code: &'a str,
    message: &'a str,
    hint: Option<&'a str>,
    details: Details<'a>,
) -> ErrorDocument<'a> {
    ErrorDocument { schema: SCHEMA, error: ErrorBody { code, message, hint, details } }
}

#[derive(Debug, Serialize)]
pub struct ErrorDocument<'a> {
    schema: u32,
    error: ErrorBody<'a>,
}

#[derive(Debug, Serialize)]
struct ErrorBody<'a> {
    code: &'a str,
    message: &'a str,
    hint: Option<&'a str>,
    details: Details<'a>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Details<'a> {
    Plain(&'a Value),
    Checked(CheckedDetails<'a>),
}

#[derive(Debug, Serialize)]
struct CheckedDetails<'a> {
    path: String,
    diagnostics: Vec<Diagnostic<'a>>,
    omitted: usize,
}

#[derive(Debug, Serialize)]
pub struct CheckedDocument<'a> {
    schema: u32,
    ok: bool,
    blueprint_id: Option<&'a str>,
    name: Option<&'a str>,
    path: String,
    diagnostics: Vec<Diagnostic<'a>>,
    /// Findings beyond those listed.
    omitted: usize,
}

#[derive(Debug, Serialize)]
struct Diagnostic<'a> {
    severity: Severity,
    code: Rule,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<&'a str>,
    line: usize,
    column: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    suggestion: Option<&'a str>,
}

#[derive(Debug, Serialize)]
pub struct AutomationDocument<'a> {
    schema: u32,
    automation: Automation<'a>,
}

#[derive(Debug, Serialize)]
struct Automation<'a> {
    blueprint_id: Option<&'a str>,
    name: Option<&'a str>,
    automation_path: String,
    ok: bool,
    diagnostics: Vec<Diagnostic<'a>>,
    source: String,
}

#[derive(Debug, Serialize)]
pub struct AutomationsDocument<'a> {
    schema: u32,
    automations: Vec<AutomationEntry<'a>>,
}

#[derive(Debug, Serialize)]
struct AutomationEntry<'a> {
    blueprint_id: Option<&'a str>,
    name: Option<&'a str>,
    automation_path: String,
    error: Option<&'a str>,
}

#[derive(Debug, Serialize)]
pub struct DoctorDocument<'a> {
    schema: u32,
    ok: bool,
    checks: Vec<DoctorCheck<'a>>,
}

#[derive(Debug, Serialize)]
struct DoctorCheck<'a> {
    name: &'a str,
    verdict: &'static str,
    detail: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<&'a str>,
}

impl DoctorVerdict {
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}
