//! The snapshot that a run keeps of its program, `blueprint.json`. Reading it
//! runs the same checks as reading the file did, so that a changed or invalid
//! graph is refused and a sound one runs exactly as before.

use durable::version::{Access, Format};
use durable::{Digest, limits};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use thiserror::Error;

use crate::Program;
use crate::check::{Sink, judge};
use crate::yaml::Yaml;

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

#[derive(Serialize)]
struct Document<'a> {
    format: Format,
    graph: Sorted<'a>,
    hash: Digest,
}

/// What any version of the format has; the rest is for those who know it.
#[derive(Deserialize)]
struct Stored {
    format: Format,
    #[serde(default)]
    hash: Value,
    #[serde(default)]
    graph: Value,
}

/// A value whose keys are written in order, however maps are kept.
struct Sorted<'a>(&'a Value);

impl Program {
    /// The program as bytes, the same bytes for the same program.
    pub fn snapshot(&self) -> Vec<u8> {
        let document = Document { format: FORMAT, graph: Sorted(&self.graph), hash: self.hash };
        let mut bytes = serde_json::to_vec_pretty(&document).expect("a JSON value has a text");
        bytes.push(b'\n');
        bytes
    }

    pub fn from_snapshot(bytes: &[u8]) -> Result<Self, SnapshotError> {
        if bytes.len() > BYTES {
            return Err(SnapshotError::TooLarge(bytes.len()));
        }
        let stored: Stored = serde_json::from_slice(bytes).map_err(SnapshotError::Json)?;
        if FORMAT.access(stored.format) == Access::TooNew {
            return Err(SnapshotError::TooNew(stored.format));
        }
        let recorded = Digest::deserialize(&stored.hash).map_err(SnapshotError::Json)?;
        let checked = judge(&Yaml::from_json(&stored.graph), true, Sink::new(""));
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

impl Serialize for Sorted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(map) => {
                let mut pairs: Vec<_> = map.iter().collect();
                pairs.sort_unstable_by_key(|(key, _)| key.as_str());
                let mut written = serializer.serialize_map(Some(pairs.len()))?;
                for (key, value) in pairs {
                    written.serialize_entry(key, &Sorted(value))?;
                }
                written.end()
            }
            Value::Array(items) => {
                let mut written = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    written.serialize_element(&Sorted(item))?;
                }
                written.end()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                self.0.serialize(serializer)
            }
        }
    }
}

#[cfg(test)]
mod tests;
