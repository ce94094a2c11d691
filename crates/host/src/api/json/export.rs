//! The first and the last line of an exported run. Between them stand the
//! events as the log has them. Pure.

use durable::version::Format;
use serde::Serialize;

use super::SCHEMA;
use crate::api::{FailReason, RunStatus};

/// What the run is.
#[derive(Debug, Serialize)]
pub struct ExportHead<'a> {
    pub run_id: &'a str,
    pub blueprint_id: &'a str,
    pub blueprint_hash: Option<String>,
    pub blueprint_digest: Option<String>,
    pub invocation_digest: Option<String>,
    /// Of the log's lines; `null` for a log that does not begin well.
    pub format: Option<Format>,
    /// The first event that is given.
    pub from: u64,
    /// The last one, where something later was left out.
    pub at: Option<u64>,
}

/// What the events come to.
#[derive(Debug)]
pub struct ExportEnd<'a> {
    pub run_id: &'a str,
    /// All events up to here, also those before the first that was given.
    pub events: u64,
    pub status: RunStatus,
    pub reason: Option<FailReason>,
    /// Of the state that the events fold to, as `run replay` has it.
    pub state_digest: String,
    /// Digests; the bytes are not part of an export. `None` with a last
    /// event.
    pub artifacts: Option<Vec<String>>,
    /// Why the log was not given to its end.
    pub damage: Option<&'a str>,
}

#[derive(Serialize)]
struct HeadLine<'a> {
    schema: u32,
    export: &'a ExportHead<'a>,
}

#[derive(Serialize)]
struct EndLine<'a> {
    schema: u32,
    end: EndFields<'a>,
}

#[derive(Serialize)]
struct EndFields<'a> {
    run_id: &'a str,
    ok: bool,
    events: u64,
    status: &'static str,
    reason: Option<&'static str>,
    state_digest: &'a str,
    artifacts: Option<&'a [String]>,
    damage: Option<&'a str>,
}

/// The lines, without their ends.
pub mod lines {
    use super::{EndFields, EndLine, ExportEnd, ExportHead, FailReason, HeadLine, SCHEMA};

    pub fn head(head: &ExportHead<'_>) -> Vec<u8> {
        json(&HeadLine { schema: SCHEMA, export: head })
    }

    pub fn end(end: &ExportEnd<'_>) -> Vec<u8> {
        let fields = EndFields {
            run_id: end.run_id,
            ok: end.damage.is_none(),
            events: end.events,
            status: end.status.word(),
            reason: end.reason.map(FailReason::word),
            state_digest: &end.state_digest,
            artifacts: end.artifacts.as_deref(),
            damage: end.damage,
        };
        json(&EndLine { schema: SCHEMA, end: fields })
    }

    fn json<T: serde::Serialize>(value: &T) -> Vec<u8> {
        serde_json::to_vec(value).expect("texts and numbers can be written to memory")
    }
}
