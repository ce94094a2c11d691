//! A signal as its file holds it. Pure.

use durable::version::{Access, Format};
use engine::{Signal, SignalId, Site, Verb};
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub const SIGNAL_FORMAT: Format = Format { major: 1, minor: 0 };

/// Why a file in an inbox is no signal.
#[derive(Debug, Error)]
pub enum SignalError {
    #[error("it is not a regular file")]
    NoFile,
    #[error("it has {0} bytes, more than a signal can have")]
    TooLarge(u64),
    #[error("it is not of the known shape")]
    Shape(#[from] serde_json::Error),
    #[error(
        "it has format {}.{}; this program reads signal formats up to {}.x",
        found.major, found.minor, SIGNAL_FORMAT.major
    )]
    TooNew { found: Format },
    #[error("the verb `{0}` is not known")]
    Verb(String),
    #[error("it names itself `{0}`, which is not its file's name")]
    OtherName(String),
}

#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    format: Format,
    id: SignalId,
    verb: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    node: Option<Site>,
    /// What was asked for, where it was denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    denied: Option<String>,
    actor: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

const DENIED: &str = "denied";

pub(super) fn encode(signal: &Signal) -> Vec<u8> {
    let Signal { id, verb, actor, note } = signal;
    let (word, node, denied) = match verb {
        Verb::Approve { node } | Verb::Reject { node } => (verb.word(), node.clone(), None),
        Verb::Cancel | Verb::Resume => (verb.word(), None, None),
        Verb::Denied { verb } => (DENIED, None, Some(verb.clone())),
    };
    let stored = Stored {
        format: SIGNAL_FORMAT,
        id: id.clone(),
        verb: word.to_owned(),
        node,
        denied,
        actor: actor.clone(),
        note: note.clone(),
    };
    let mut bytes = serde_json::to_vec(&stored).expect("text can be written to memory");
    bytes.push(b'\n');
    bytes
}

pub(super) fn decode(bytes: &[u8], name: &str) -> Result<Signal, SignalError> {
    #[derive(Deserialize)]
    struct Probe {
        format: Format,
    }
    let Probe { format: found } = serde_json::from_slice(bytes)?;
    if SIGNAL_FORMAT.access(found) == Access::TooNew {
        return Err(SignalError::TooNew { found });
    }
    let stored: Stored = serde_json::from_slice(bytes)?;
    let node = stored.node;
    let verb = match (stored.verb.as_str(), stored.denied) {
        ("approve", _) => Verb::Approve { node },
        ("reject", _) => Verb::Reject { node },
        ("cancel", _) => Verb::Cancel,
        ("resume", _) => Verb::Resume,
        (DENIED, Some(verb)) => Verb::Denied { verb },
        (other, _) => return Err(SignalError::Verb(other.to_owned())),
    };
    if name.strip_suffix(".json") != Some(stored.id.as_str()) {
        return Err(SignalError::OtherName(stored.id.to_string()));
    }
    Ok(Signal { id: stored.id, verb, actor: stored.actor, note: stored.note })
}
