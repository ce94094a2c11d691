//! The bytes of `state.json`: the folded state as [`engine::checkpoint`]
//! stores it, the place in the log up to which it was folded, and a digest
//! over both. The last two stand at the end of the object, so that they are
//! found without reading the rest. A file that is not sound in itself is
//! thrown away; the log is what counts. Pure.

use durable::Digest;
use durable::tail::Position;
use engine::RunState;
use engine::checkpoint::{CheckpointError, Stored, from_stored, to_stored};
use thiserror::Error;

const LOG: &[u8] = b",\"log\":";
const DIGEST: &[u8] = b",\"digest\":\"";
/// Bytes of `,"digest":"sha256:<64 hex>"}` and a line feed.
const DIGEST_BYTES: usize = DIGEST.len() + "sha256:".len() + 64 + 3;
/// The longest `,"log":{…}`: two numbers, a hash and the names.
const LOG_BYTES: usize = 160;

/// A sound checkpoint, its state not yet built.
#[derive(Debug)]
pub struct Saved {
    pub stored: Stored,
    /// Where the log stood.
    pub position: Position,
}

/// Why bytes are not a checkpoint to rely on.
#[derive(Debug, Error)]
pub enum Unsound {
    #[error("it carries no digest of ours")]
    NoDigest,
    #[error("it is not what its digest says")]
    WrongDigest,
    #[error("it does not say where the log stood")]
    NoPosition,
    #[error("its state and the place in the log that it names are of different events")]
    OtherSeq,
    #[error(transparent)]
    State(#[from] CheckpointError),
}

/// The bytes for a state that was folded up to `position`.
pub fn encode(state: &RunState, position: Position) -> Vec<u8> {
    let mut bytes = json(&to_stored(state));
    assert_eq!(bytes.pop(), Some(b'}'), "a stored state is a JSON object");
    bytes.extend_from_slice(LOG);
    bytes.extend(json(&position));
    let digest = Digest::of(&bytes);
    bytes.extend_from_slice(DIGEST);
    bytes.extend_from_slice(digest.to_string().as_bytes());
    bytes.extend_from_slice(b"\"}\n");
    bytes
}

/// The checkpoint in `bytes`, when it is sound in itself.
pub fn decode(bytes: &[u8]) -> Result<Saved, Unsound> {
    let position = position(bytes)?;
    let stored: Stored = serde_json::from_slice(bytes).map_err(CheckpointError::Shape)?;
    if stored.next_seq() != position.next_seq {
        return Err(Unsound::OtherSeq);
    }
    Ok(Saved { stored, position })
}

/// Where the log stood, from a file whose digest is right.
pub fn position(bytes: &[u8]) -> Result<Position, Unsound> {
    let cut = bytes.len().checked_sub(DIGEST_BYTES).ok_or(Unsound::NoDigest)?;
    let (content, end) = bytes.split_at(cut);
    let digest = end
        .strip_prefix(DIGEST)
        .and_then(|rest| rest.strip_suffix(b"\"}\n"))
        .and_then(|hex| std::str::from_utf8(hex).ok()?.parse::<Digest>().ok())
        .ok_or(Unsound::NoDigest)?;
    if Digest::of(content) != digest {
        return Err(Unsound::WrongDigest);
    }
    let near = &content[content.len().saturating_sub(LOG_BYTES)..];
    let at = near.windows(LOG.len()).rposition(|window| window == LOG);
    let text = at.and_then(|at| near.get(at + LOG.len()..)).ok_or(Unsound::NoPosition)?;
    serde_json::from_slice(text).map_err(|_| Unsound::NoPosition)
}

impl Saved {
    pub fn state(self) -> Result<RunState, Unsound> {
        Ok(from_stored(self.stored)?)
    }
}

fn json<T: serde::Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("values of text, numbers and JSON can be written to memory")
}
