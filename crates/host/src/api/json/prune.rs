//! The documents about looking after a home: what was removed, what was
//! recovered. Pure.

use serde::Serialize;

use super::SCHEMA;
use crate::api::{LeftRun, PrunePlan, PruneRow, Pruned, Recovered, RecoveryAction, Timestamp};

/// What a prune would remove.
pub fn prune_plan(plan: &PrunePlan) -> PruneDocument<'_> {
    document(true, &plan.rows, &plan.left)
}

/// What a prune removed.
pub fn pruned(pruned: &Pruned) -> PruneDocument<'_> {
    document(false, &pruned.rows, &pruned.left)
}

pub fn recovered(all: &[Recovered]) -> RecoverDocument<'_> {
    let runs = all.iter().map(|one| {
        let (action, killed, why) = match &one.action {
            RecoveryAction::Interrupted { killed } => ("interrupted", Some(*killed), None),
            RecoveryAction::Resumed => ("resumed", None, None),
            RecoveryAction::WorktreeRemoved => ("worktree_removed", None, None),
            RecoveryAction::Left { why, .. } => ("left", None, Some(why.as_str())),
        };
        RecoveredRun { run_id: &one.run_id, action, killed, why }
    });
    RecoverDocument { schema: SCHEMA, ok: true, runs: runs.collect() }
}

fn document<'a>(dry_run: bool, rows: &'a [PruneRow], left: &'a [LeftRun]) -> PruneDocument<'a> {
    let runs = rows.iter().map(|row| GoneRun {
        run_id: &row.run_id,
        blueprint_id: &row.blueprint_id,
        status: row.status.word(),
        ended_at: row.ended_at,
        bytes: row.bytes,
    });
    let left = left.iter().map(|left| KeptRun { run_id: &left.run_id, why: &left.why });
    PruneDocument {
        schema: SCHEMA,
        ok: true,
        dry_run,
        count: rows.len(),
        bytes: rows.iter().map(|row| row.bytes).sum(),
        runs: runs.collect(),
        left: left.collect(),
    }
}

#[derive(Debug, Serialize)]
pub struct PruneDocument<'a> {
    schema: u32,
    ok: bool,
    /// Nothing was removed; this is what would be.
    dry_run: bool,
    count: usize,
    bytes: u64,
    runs: Vec<GoneRun<'a>>,
    /// Runs that were meant and stay.
    left: Vec<KeptRun<'a>>,
}

#[derive(Debug, Serialize)]
struct GoneRun<'a> {
    run_id: &'a str,
    blueprint_id: &'a str,
    status: &'static str,
    ended_at: Option<Timestamp>,
    bytes: u64,
}

#[derive(Debug, Serialize)]
struct KeptRun<'a> {
    run_id: &'a str,
    why: &'a str,
}

#[derive(Debug, Serialize)]
pub struct RecoverDocument<'a> {
    schema: u32,
    ok: bool,
    runs: Vec<RecoveredRun<'a>>,
}

#[derive(Debug, Serialize)]
struct RecoveredRun<'a> {
    run_id: &'a str,
    action: &'static str,
    /// Processes that the dead owner had left and that were ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    killed: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}
