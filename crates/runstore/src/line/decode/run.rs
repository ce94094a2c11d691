//! The beginning of a run and its failure, with what logs of the reference
//! leave out.

use std::sync::Arc;

use blueprint::{BlueprintId, NodeId};
use durable::Generation;
use durable::version::{Access, Format};
use engine::event::LOG_FORMAT;
use engine::{Fact, FailReason, RunId, RunStarted, Site};

use super::super::REFERENCE_FORMAT;
use super::{Fault, RawLine, digest, need, optional, run_id_of, text, word};

pub(super) fn started(raw: &mut RawLine<'_>) -> Result<RunStarted, Fault> {
    let format = raw.format.unwrap_or(REFERENCE_FORMAT);
    match LOG_FORMAT.access(format) {
        Access::TooNew => return Err(Fault::TooNew(format)),
        Access::ReadWrite | Access::ReadOnly => {}
    }
    let run_id = match &raw.run_id {
        Some(id) => run_id_of(id, "run_id")?,
        None if format == REFERENCE_FORMAT => unnamed(),
        None => return Err(Fault::Missing("run_id")),
    };
    let blueprint_id = need(raw.blueprint_id.as_ref(), "blueprint_id")?;
    Ok(RunStarted {
        run_id,
        blueprint_id: BlueprintId::new(&blueprint_id.0)
            .map_err(|_| Fault::Value("blueprint_id", blueprint_id.0.to_string()))?,
        blueprint_hash: digest(raw.blueprint_hash.as_ref(), "blueprint_hash")?,
        schema: raw.schema.unwrap_or(2),
        trigger: Arc::new(raw.trigger.take().unwrap_or_default()),
        format,
        generation: raw.generation.unwrap_or(Generation::FIRST),
        blueprint_digest: digest(raw.blueprint_digest.as_ref(), "blueprint_digest")?,
        invocation_digest: digest(raw.invocation_digest.as_ref(), "invocation_digest")?,
        principal: optional(&raw.principal),
        retry_of: raw.retry_of.as_ref().map(|id| run_id_of(id, "retry_of")).transpose()?,
        fork_of: match (&raw.fork_of, raw.fork_at) {
            (Some(id), Some(at)) => Some((run_id_of(id, "fork_of")?, at)),
            (Some(_), None) => return Err(Fault::Missing("fork_at")),
            (None, _) => None,
        },
        parent: raw.parent.take(),
        deadline: raw.deadline.as_ref().map(|deadline| deadline.0),
        budget: raw.budget.take().map(|budget| *budget).unwrap_or_default(),
    })
}

/// The oldest logs of the reference do not name their run.
fn unnamed() -> RunId {
    RunId::new("unnamed").expect("letters are a safe component")
}

pub(super) fn failed(raw: &RawLine<'_>, format: Option<Format>) -> Result<Fact, Fault> {
    let error = text(&raw.error, "error")?;
    let reason = match &raw.reason {
        Some(_) => word(&raw.reason, "reason", FailReason::from_word)?,
        None => told_reason(&error, format),
    };
    let site = raw.node.as_ref().map(|node| Site::at(&NodeId::new(&node.0), raw.item));
    Ok(Fact::RunFailed { reason, error, node: site })
}

/// The reference names no reason; its own sentences tell the most of them.
fn told_reason(error: &str, format: Option<Format>) -> FailReason {
    if format.is_none() {
        // No `run_started` came before: a launch that failed.
        FailReason::Launch
    } else if error.contains("cancelled by operator") {
        FailReason::Cancelled
    } else if error.contains("interrupted by application restart") {
        FailReason::Interrupted
    } else if error.ends_with("approval rejected") {
        FailReason::Rejected
    } else {
        FailReason::Error
    }
}
