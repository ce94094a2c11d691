//! The body of an answer: read under a cap, unpacked once under another, and
//! never grown beyond what a text can honestly be packed to.

use std::io::{self, Read};

use flate2::read::MultiGzDecoder;

use super::limits;

/// Why there is no body.
#[derive(Debug)]
pub(super) enum BodyError {
    TooLarge,
    Bomb,
    Encoding(String),
    /// It is not what its encoding says.
    Damaged(io::Error),
    Lost(io::Error),
}

/// Everything that `reader` has, as long as it stays under the cap.
pub(super) fn read(reader: impl Read) -> Result<Vec<u8>, BodyError> {
    let mut bytes = Vec::new();
    // One byte more tells a full body from one that is too large.
    let limit = u64::try_from(limits::RECEIVED_BYTES).unwrap_or(u64::MAX) + 1;
    reader.take(limit).read_to_end(&mut bytes).map_err(BodyError::Lost)?;
    if bytes.len() > limits::RECEIVED_BYTES { Err(BodyError::TooLarge) } else { Ok(bytes) }
}

/// Whether the list of encodings leaves the bytes as they are, or one gzip.
pub(super) fn is_packed<'a>(codings: impl Iterator<Item = &'a str>) -> Result<bool, BodyError> {
    let named: Vec<String> = codings
        .flat_map(|value| value.split(','))
        .map(|coding| coding.trim().to_ascii_lowercase())
        .filter(|coding| !coding.is_empty() && coding != "identity")
        .collect();
    match named.as_slice() {
        [] => Ok(false),
        [one] if one == "gzip" || one == "x-gzip" => Ok(true),
        [_, ..] => Err(BodyError::Encoding(named.join(", "))),
    }
}

/// What was packed with gzip. No bytes are no answer to unpack.
pub(super) fn unpack(packed: &[u8]) -> Result<Vec<u8>, BodyError> {
    let mut bytes = Vec::new();
    if packed.is_empty() {
        return Ok(bytes);
    }
    let mut decoder = MultiGzDecoder::new(packed);
    let mut part = vec![0; 64 << 10];
    loop {
        let count = decoder.read(&mut part).map_err(BodyError::Damaged)?;
        if count == 0 {
            return Ok(bytes);
        }
        bytes.extend_from_slice(&part[..count]);
        if bytes.len() > limits::RATIO_COUNTS_FROM && bytes.len() / limits::RATIO > packed.len() {
            return Err(BodyError::Bomb);
        }
        if bytes.len() > limits::RECEIVED_BYTES {
            return Err(BodyError::TooLarge);
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
