//! [`engine::Event`] ⇄ the stored line. The kinds and fields that a reader
//! of the reference's logs knows are kept exactly; ours are added beside
//! them, as further fields and kinds. A stored name, once written, means the
//! same for ever. Pure.

mod decode;
mod encode;
mod plain;
#[cfg(test)]
mod tests;

use durable::Seq;
use durable::version::Format;
use engine::event::LOG_FORMAT;
use thiserror::Error;

pub use decode::decode;
pub use encode::encode;

/// The format of logs that name none: those of the reference.
pub const REFERENCE_FORMAT: Format = Format { major: 0, minor: 0 };

/// Why a line is not an event that this program can read.
#[derive(Debug, Error)]
pub enum LineError {
    #[error("it is not a JSON object with an event's fields")]
    Shape(#[source] serde_json::Error),
    #[error("event {seq} ({kind}) has no `{field}`")]
    Missing { seq: Seq, kind: String, field: &'static str },
    #[error("event {seq} ({kind}) has a `{field}` that means nothing here: `{value}`")]
    Value { seq: Seq, kind: String, field: &'static str, value: String },
    #[error(
        "event {seq} is of the kind `{kind}`, which this program does not know; the log has {}, \
         so use a release that reads what wrote it",
        named(*format)
    )]
    Kind { seq: Seq, kind: String, format: Option<Format> },
    #[error(
        "the log has format {}.{}; this program reads log formats up to {}.x, \
         so use a release that reads log format {}",
        found.major, found.minor, LOG_FORMAT.major, found.major
    )]
    TooNew { found: Format },
}

fn named(format: Option<Format>) -> String {
    match format {
        Some(REFERENCE_FORMAT) | None => "no format of its own".to_owned(),
        Some(Format { major, minor }) => format!("format {major}.{minor}"),
    }
}
