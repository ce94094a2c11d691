//! A set of nodes, by their places.

/// Sets of equal width are combined word by word, which keeps questions about
/// all pairs of nodes far from quadratic time in practice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    pub(super) fn none(width: usize) -> Self {
        Self(vec![0; width.div_ceil(64)])
    }

    pub(super) fn all(width: usize) -> Self {
        Self(vec![u64::MAX; width.div_ceil(64)])
    }

    pub(super) fn insert(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    pub(super) fn has(&self, at: usize) -> bool {
        self.0[at / 64] & (1 << (at % 64)) != 0
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }

    pub(super) fn keep(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= other;
        }
    }
}
