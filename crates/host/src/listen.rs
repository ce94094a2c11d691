//! Reads along with what the attempts of a run print, until the run rests.
//! It never writes and never owns. Each byte of each file is told once, in
//! order; pieces end between characters.

use std::collections::BTreeMap;
use std::time::Duration;

use durable::Round;
use engine::site::Site;

use crate::Host;
use crate::api::{Followed, HostError, Listened, OutputPiece};
use crate::follow::Follower;
use crate::library::store;
use crate::reading::output_parts;

/// How much of one file is told at once.
const PIECE_BYTES: u64 = 64 << 10;

#[derive(Debug)]
pub struct Listener {
    follower: Follower,
    node: Option<String>,
    files: BTreeMap<String, File>,
    /// Set when the run rests: one more look, and that is all.
    rests: bool,
}

/// How far a file was told.
#[derive(Debug, Default)]
struct File {
    offset: u64,
    /// Its attempt had ended before the last look, which found nothing new.
    done: bool,
}

impl Host {
    /// Listens to the attempts of a run, or to those of one node, from the
    /// beginning of what they printed.
    pub fn listen(&self, run: &str, node: Option<&str>) -> Result<Listener, HostError> {
        let follower = self.follow(run)?;
        self.known_node(follower.place(), node)?;
        let node = node.map(str::to_owned);
        Ok(Listener { follower, node, files: BTreeMap::new(), rests: false })
    }
}

impl Listener {
    /// What is new, waiting for it at most about as long as `patience`.
    pub fn next(&mut self, patience: Duration) -> Result<Listened, HostError> {
        let pieces = self.look()?;
        if !pieces.is_empty() {
            return Ok(Listened::Pieces(pieces));
        }
        if self.rests {
            return Ok(Listened::Rest);
        }
        self.rests = match self.follower.next(patience)? {
            Followed::Events(_) | Followed::Quiet => false,
            Followed::Rest | Followed::Abandoned => true,
        };
        Ok(Listened::Quiet)
    }

    fn look(&mut self) -> Result<Vec<OutputPiece>, HostError> {
        let folder = self.follower.place().output();
        let disk = self.follower.disk();
        let mut pieces = Vec::new();
        if disk.stat(&folder).map_err(|fault| store(&fault))?.is_none() {
            return Ok(pieces);
        }
        for name in disk.list(&folder).map_err(|fault| store(&fault))? {
            let Some((node, round, attempt)) = output_parts(&name) else { continue };
            if self.node.as_ref().is_some_and(|wanted| !is_of(node, wanted)) {
                continue;
            }
            let file = self.files.entry(name.clone()).or_default();
            if file.done {
                continue;
            }
            let ended = self.rests || has_ended(&self.follower, node, (round, attempt));
            let bytes = disk.read_from(&folder.join(&name), file.offset, PIECE_BYTES);
            let bytes = bytes.map_err(|fault| store(&fault))?;
            let is_all = ended && (bytes.len() as u64) < PIECE_BYTES;
            let kept = if is_all { bytes.len() } else { whole(&bytes) };
            if kept == 0 {
                file.done = ended;
                continue;
            }
            let text = String::from_utf8_lossy(&bytes[..kept]).into_owned();
            let (node, offset) = (node.to_owned(), file.offset);
            pieces.push(OutputPiece { node, round, attempt, offset, text });
            file.offset += kept as u64;
        }
        // Who began first comes first, among those who spoke meanwhile.
        let began = |piece: &OutputPiece| {
            let node = self.follower.state().node(&Site::parse(&piece.node));
            let at = node.and_then(|node| node.started_at);
            (at.is_none(), at, piece.node.clone(), piece.round, piece.attempt)
        };
        pieces.sort_by_cached_key(began);
        Ok(pieces)
    }
}

/// Whether the attempt that prints into a file is over for certain.
fn has_ended(follower: &Follower, node: &str, key: (Round, u64)) -> bool {
    let site = Site::parse(node);
    let state = follower.state();
    let latest = state.node(&site).map_or((Round::FIRST, 0), |node| (node.round, node.attempt.0));
    let goes_on = state.in_flight.contains(&site) || state.claims.contains(&site);
    key < latest || (key == latest && !goes_on)
}

/// Whether a site is what somebody means: itself, or an item of a node.
fn is_of(site: &str, wanted: &str) -> bool {
    site == wanted || Site::parse(site).node.as_str() == wanted
}

/// How many bytes hold whole characters; what is no text at all counts as
/// whole.
fn whole(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Err(_) => bytes.len() - begun(bytes),
        Ok(_) => bytes.len(),
    }
}

/// How many bytes at the end begin a character that is not all there.
fn begun(bytes: &[u8]) -> usize {
    let most = bytes.len().min(3);
    let is_begun = |back: &usize| {
        let end = &bytes[bytes.len() - back..];
        std::str::from_utf8(end)
            .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    (1..=most).rev().find(is_begun).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_end_between_characters_also_behind_bytes_that_are_no_text() {
        assert_eq!(whole("aé".as_bytes()), 3);
        assert_eq!(whole(b"a\xc3"), 1);
        assert_eq!(whole(b"\xff\xf0\x9f\xa6"), 1);
        assert_eq!(whole(b"\xff"), 1);
        assert_eq!(whole(b"\x80\x80\x80\x80"), 4);
        assert_eq!(whole(b""), 0);
    }
}
