//! The documents about attempts of agents. Whose process owns one, and which
//! process it is, are no part of them. Pure.

use serde::Serialize;
use serde_json::Value;

use super::SCHEMA;
use crate::api::{Timestamp, WorkerCoverage, WorkerRow, WorkersPage};

pub fn workers(page: &WorkersPage) -> WorkersDocument<'_> {
    let workers = page.rows.iter().map(entry).collect();
    WorkersDocument { schema: SCHEMA, workers, more: page.more }
}

pub fn worker(row: &WorkerRow) -> WorkerDocument<'_> {
    WorkerDocument { schema: SCHEMA, worker: entry(row) }
}

fn entry(row: &WorkerRow) -> WorkerEntry<'_> {
    let worker = &row.worker;
    let coverage = if row.owner_lost { WorkerCoverage::OwnerLost } else { worker.coverage };
    WorkerEntry {
        worker_id: &worker.id,
        kind: worker.kind.word(),
        provider: &worker.provider,
        workspace: worker.workspace.as_deref(),
        blueprint_id: &worker.blueprint,
        run_id: &worker.run,
        node_id: &worker.node,
        round: worker.round.0,
        attempt: worker.attempt.0,
        runtime_session_id: &worker.runtime_session,
        provider_session_id: worker.provider_session.as_deref(),
        runtime_generation: worker.generation.0,
        state: row.state().word(),
        recorded_state: worker.state.word(),
        outcome: worker.outcome.map(|outcome| outcome.word()),
        coverage: coverage.word(),
        capabilities: &worker.capabilities,
        source_key: worker.source_key.as_deref(),
        requested_at: worker.requested_at,
        started_at: worker.started_at,
        terminal_at: worker.terminal_at,
        last_observed_at: worker.last_observed_at,
        last_follow_up_accepted_at: worker.last_follow_up_accepted_at,
        resumable_until: worker.resumable_until,
        detail_retained_until: worker.detail_retained_until,
        error: worker.error.as_deref(),
    }
}

#[derive(Debug, Serialize)]
pub struct WorkersDocument<'a> {
    schema: u32,
    workers: Vec<WorkerEntry<'a>>,
    /// There are others behind the limit.
    more: bool,
}

#[derive(Debug, Serialize)]
pub struct WorkerDocument<'a> {
    schema: u32,
    worker: WorkerEntry<'a>,
}

#[derive(Debug, Serialize)]
struct WorkerEntry<'a> {
    worker_id: &'a str,
    kind: &'static str,
    provider: &'a str,
    workspace: Option<&'a str>,
    blueprint_id: &'a str,
    run_id: &'a str,
    node_id: &'a str,
    round: u64,
    attempt: u64,
    runtime_session_id: &'a str,
    provider_session_id: Option<&'a str>,
    runtime_generation: u64,
    /// `unknown` for one that is under way by the book and has no owner.
    state: &'static str,
    recorded_state: &'static str,
    outcome: Option<&'static str>,
    coverage: &'static str,
    capabilities: &'a Value,
    source_key: Option<&'a str>,
    requested_at: Timestamp,
    started_at: Option<Timestamp>,
    terminal_at: Option<Timestamp>,
    last_observed_at: Timestamp,
    last_follow_up_accepted_at: Option<Timestamp>,
    resumable_until: Option<Timestamp>,
    detail_retained_until: Option<Timestamp>,
    error: Option<&'a str>,
}
