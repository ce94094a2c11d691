//! The documents about providers of agents. Pure.

use std::path::Path;

use serde::Serialize;

use super::SCHEMA;
use crate::api::{BlockedAccount, ProviderProbe, ProviderReport, ProviderRow, Timestamp};

pub fn providers(rows: &[ProviderRow]) -> ProvidersDocument<'_> {
    ProvidersDocument { schema: SCHEMA, ok: true, providers: rows.iter().map(row).collect() }
}

pub fn provider(report: &ProviderReport) -> ProviderDocument<'_> {
    let modes = report.modes.iter().map(|mode| ModeEntry {
        mode: mode.mode,
        args: mode.args.as_deref().ok(),
        refused: mode.args.as_ref().err().map(String::as_str),
        warnings: &mode.warnings,
    });
    ProviderDocument {
        schema: SCHEMA,
        ok: true,
        provider: row(&report.row),
        modes: modes.collect(),
        variables: &report.variables,
    }
}

pub fn probes(probes: &[ProviderProbe]) -> ProbesDocument<'_> {
    let entries = probes.iter().map(|probe| ProbeEntry {
        provider: row(&probe.row),
        version: probe.version.as_deref(),
        trouble: probe.trouble.as_deref(),
    });
    ProbesDocument {
        schema: SCHEMA,
        ok: probes.iter().any(|probe| probe.trouble.is_none()),
        probes: entries.collect(),
    }
}

fn row(row: &ProviderRow) -> ProviderEntry<'_> {
    ProviderEntry {
        name: &row.name,
        configured: row.configured,
        program: &row.program,
        path: row.path.as_deref(),
        blocked: row.blocked.iter().map(blocked).collect(),
    }
}

fn blocked(account: &BlockedAccount) -> BlockedEntry<'_> {
    let BlockedAccount { account, label, since, until, reset_known, backoffs, .. } = account;
    BlockedEntry {
        account,
        label,
        since: *since,
        until: *until,
        reset_known: *reset_known,
        backoffs: *backoffs,
    }
}

#[derive(Debug, Serialize)]
pub struct ProvidersDocument<'a> {
    schema: u32,
    ok: bool,
    providers: Vec<ProviderEntry<'a>>,
}

#[derive(Debug, Serialize)]
pub struct ProviderDocument<'a> {
    schema: u32,
    ok: bool,
    #[serde(flatten)]
    provider: ProviderEntry<'a>,
    modes: Vec<ModeEntry<'a>>,
    /// Variables of the host that reach it and nobody else.
    variables: &'a [String],
}

#[derive(Debug, Serialize)]
pub struct ProbesDocument<'a> {
    schema: u32,
    /// Whether one of them can be worked with.
    ok: bool,
    probes: Vec<ProbeEntry<'a>>,
}

#[derive(Debug, Serialize)]
struct ProviderEntry<'a> {
    name: &'a str,
    configured: bool,
    program: &'a str,
    path: Option<&'a Path>,
    /// Accounts whose limit is reached, so that nobody asks them for a while.
    blocked: Vec<BlockedEntry<'a>>,
}

#[derive(Debug, Serialize)]
struct BlockedEntry<'a> {
    account: &'a str,
    label: &'a str,
    since: Timestamp,
    until: Timestamp,
    reset_known: bool,
    backoffs: u32,
}

#[derive(Debug, Serialize)]
struct ModeEntry<'a> {
    mode: &'static str,
    args: Option<&'a [String]>,
    refused: Option<&'a str>,
    warnings: &'a [String],
}

#[derive(Debug, Serialize)]
struct ProbeEntry<'a> {
    #[serde(flatten)]
    provider: ProviderEntry<'a>,
    version: Option<&'a str>,
    trouble: Option<&'a str>,
}
