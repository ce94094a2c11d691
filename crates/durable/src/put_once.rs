//! The one idempotency primitive: what a request under a key means, given
//! what was kept under that key before. The store keeps key and digest in
//! one transaction; the caller decides what a mismatch means.

use crate::Digest;

/// What a request is to its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutOnce {
    /// Nothing was kept under the key: do it and keep the digest.
    Fresh,
    /// The same request was done before: answer as then, do nothing.
    Replay,
    /// Another request was done under this key.
    Mismatch,
}

/// Judges a request with the digest `request` against the digest that was
/// kept under its key, if any.
pub fn put_once(existing: Option<&Digest>, request: &Digest) -> PutOnce {
    match existing {
        None => PutOnce::Fresh,
        Some(kept) if kept == request => PutOnce::Replay,
        Some(_) => PutOnce::Mismatch,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_fresh_then_a_replay_and_never_changes_its_request() {
        let (first, other) = (Digest::of(b"first"), Digest::of(b"other"));
        assert_eq!(put_once(None, &first), PutOnce::Fresh);
        assert_eq!(put_once(Some(&first), &first), PutOnce::Replay);
        assert_eq!(put_once(Some(&first), &other), PutOnce::Mismatch);
    }
}
