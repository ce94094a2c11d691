//! Chance that repeats: a tree of streams grown from one seed. Each part of
//! a test takes a child of its own, so one more draw in one part does not
//! shift what the others see.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Digest;
use crate::entropy::Entropy;

/// One stream. Clones go on with the same stream; children are streams of
/// their own, and the same label gives the same one again.
#[derive(Debug, Clone)]
pub struct SeededEntropy {
    key: Digest,
    drawn: Arc<AtomicU64>,
}

impl SeededEntropy {
    pub fn new(seed: u64) -> Self {
        Self::with_key(Digest::of_parts(&[b"seed", &seed.to_be_bytes()]))
    }

    /// The stream for the part of the test called `label`.
    #[must_use]
    pub fn child(&self, label: &str) -> Self {
        Self::with_key(Digest::of_parts(&[b"child", self.key.bytes(), label.as_bytes()]))
    }

    /// A number below `bound`; 0 when the bound is 0.
    pub fn below(&self, bound: u64) -> u64 {
        let mut bytes = [0u8; 16];
        self.fill(&mut bytes);
        let wide = u128::from_be_bytes(bytes).checked_rem(u128::from(bound));
        wide.and_then(|number| u64::try_from(number).ok()).unwrap_or(0)
    }

    fn with_key(key: Digest) -> Self {
        Self { key, drawn: Arc::new(AtomicU64::new(0)) }
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(32) {
            let number = self.drawn.fetch_add(1, Ordering::SeqCst);
            let block = Digest::of_parts(&[self.key.bytes(), &number.to_be_bytes()]);
            chunk.copy_from_slice(&block.bytes()[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(entropy: &SeededEntropy) -> [u8; 40] {
        let mut bytes = [0u8; 40];
        entropy.fill(&mut bytes);
        bytes
    }

    #[test]
    fn one_seed_is_one_stream_and_another_seed_another() {
        let (first, same, other) =
            (SeededEntropy::new(7), SeededEntropy::new(7), SeededEntropy::new(8));
        assert_eq!(draw(&first), draw(&same));
        assert_ne!(draw(&first), draw(&other));
        assert_ne!(draw(&first), draw(&SeededEntropy::new(7)), "a stream goes on");
    }

    #[test]
    fn a_draw_in_one_child_does_not_shift_another() {
        let quiet = SeededEntropy::new(1);
        let busy = SeededEntropy::new(1);
        draw(&busy);
        draw(&busy.child("a"));
        assert_eq!(draw(&quiet.child("b")), draw(&busy.child("b")));
        assert_ne!(draw(&quiet.child("a")), draw(&quiet.child("b")));
        assert_ne!(draw(&quiet.child("a").child("b")), draw(&quiet.child("b").child("a")));
    }

    #[test]
    fn numbers_stay_below_their_bound() {
        let entropy = SeededEntropy::new(3);
        assert!((0..200).all(|_| entropy.below(7) < 7));
        assert!((0..7).all(|want| (0..500).any(|_| entropy.below(7) == want)));
        assert_eq!(entropy.below(0), 0);
        assert_eq!(entropy.below(1), 0);
    }
}
