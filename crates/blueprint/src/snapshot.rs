//! The snapshot that a run keeps of its program, `blueprint.json`. Reading it
//! runs the same checks as reading the file did, so that a changed or invalid
//! graph is refused and a sound one runs exactly as before.

use durable::version::{Access, Format};
use durable::{Digest, limits};
use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use crate::Program;
use crate::check::{Sink, judge};
use crate::yaml::{Data, Yaml};

/// The format that is written.
pub const FORMAT: Format = Format { major: 1, minor: 0 };

/// The most bytes of a snapshot: those of a file, each as an escape of JSON.
const BYTES: usize = 8 * limits::BLUEPRINT_BYTES;

/// Why a snapshot gives no program.
#[derive(Debug, Error)]
pub enum SnapshotError {
    #[error("the snapshot has {0} bytes, the most is {BYTES}")]
    TooLarge(usize),
    #[error("the snapshot is not the JSON of a blueprint")]
    Json(#[source] serde_json::Error),
    #[error(
        "the snapshot has format {}.{}, this program reads up to {}.{}; use a newer one",
        .0.major, .0.minor, FORMAT.major, FORMAT.minor
    )]
    TooNew(Format),
    #[error("the graph in the snapshot is not valid: {first} (findings: {count})")]
    Invalid { first: String, count: usize },
    #[error("the graph was changed after the run started: its hash is {found}, not {recorded}")]
    Changed { recorded: Digest, found: Digest },
}

/// What any version of the format has; the rest is for those who know it.
#[derive(Deserialize)]
struct Stored<'a> {
    format: Format,
    #[serde(default)]
    hash: Value,
    #[serde(borrow, default = "nothing")]
    graph: Yaml<'a>,
}

const fn nothing<'a>() -> Yaml<'a> {
    Yaml { data: Data::Null, span: 0..0 }
}

impl Program {
    /// The program as bytes, the same bytes for the same program.
    pub fn snapshot(&self) -> Vec<u8> {
        let json = |part: Result<String, _>| part.expect("a format and a digest have a text");
        let format = json(serde_json::to_string(&FORMAT));
        let hash = json(serde_json::to_string(&self.hash));
        indented(&format!(r#"{{"format":{format},"graph":{},"hash":{hash}}}"#, self.graph.text()))
    }

    pub fn from_snapshot(bytes: &[u8]) -> Result<Self, SnapshotError> {
        if bytes.len() > BYTES {
            return Err(SnapshotError::TooLarge(bytes.len()));
        }
        let stored: Stored<'_> =
            serde_json::from_slice(bytes).map_err(|fault| unread(bytes, fault))?;
        if FORMAT.access(stored.format) == Access::TooNew {
            return Err(SnapshotError::TooNew(stored.format));
        }
        let recorded = Digest::deserialize(&stored.hash).map_err(SnapshotError::Json)?;
        let checked = judge(&stored.graph, true, Sink::new(""));
        let Some(program) = checked.program else {
            let first = checked.findings.first().map_or_else(String::new, |f| f.message.clone());
            return Err(SnapshotError::Invalid { first, count: checked.findings.len() });
        };
        if program.hash != recorded {
            return Err(SnapshotError::Changed { recorded, found: program.hash });
        }
        Ok(program)
    }
}

/// Why the bytes could not be read. What only a newer format allows is none of
/// our faults.
fn unread(bytes: &[u8], fault: serde_json::Error) -> SnapshotError {
    #[derive(Deserialize)]
    struct Head {
        format: Format,
    }
    match serde_json::from_slice::<Head>(bytes) {
        Ok(head) if FORMAT.access(head.format) == Access::TooNew => {
            SnapshotError::TooNew(head.format)
        }
        Ok(_) | Err(_) => SnapshotError::Json(fault),
    }
}

/// Compact JSON with a line for each value, as `serde_json` sets it out.
fn indented(compact: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(compact.len() * 5 / 2);
    let mut depth: usize = 0;
    let mut rest = compact.as_bytes();
    let line = |out: &mut Vec<u8>, depth: usize| {
        out.push(b'\n');
        out.resize(out.len() + 2 * depth, b' ');
    };
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'{' | b'[' => {
                out.push(*byte);
                depth += 1;
                if !matches!(rest.first(), Some(b'}' | b']')) {
                    line(&mut out, depth);
                    continue;
                }
                depth -= 1;
                out.push(rest[0]);
                rest = &rest[1..];
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(*byte);
            }
            b',' => {
                out.push(b',');
                line(&mut out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            b'"' => {
                let length = text_length(rest);
                out.push(b'"');
                out.extend_from_slice(&rest[..length]);
                rest = &rest[length..];
            }
            other => out.push(*other),
        }
    }
    out.push(b'\n');
    out
}

/// How long a text is, behind its first quote and with its last.
fn text_length(bytes: &[u8]) -> usize {
    let mut escaped = false;
    let ends = |byte: &u8| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    };
    bytes.iter().position(ends).map_or(bytes.len(), |at| at + 1)
}

#[cfg(test)]
mod tests;
