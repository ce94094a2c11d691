//! A set of nodes, by their places.

/// Sets of equal width are combined word by word, which keeps questions about
/// all pairs of nodes far from quadratic time in practice. The set of all has
/// no words, so that it costs nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bits(Option<Vec<u64>>);

impl Bits {
    pub(super) const ALL: Self = Self(None);

    pub(super) fn none(width: usize) -> Self {
        Self(Some(vec![0; width.div_ceil(64)]))
    }

    pub(super) fn insert(&mut self, at: usize) {
        if let Some(words) = &mut self.0 {
            words[at / 64] |= 1 << (at % 64);
        }
    }

    pub(super) fn has(&self, at: usize) -> bool {
        self.0.as_ref().is_none_or(|words| words[at / 64] & (1 << (at % 64)) != 0)
    }

    pub(super) fn add(&mut self, other: &Self) {
        match (&mut self.0, &other.0) {
            (Some(words), Some(others)) => {
                for (word, other) in words.iter_mut().zip(others) {
                    *word |= other;
                }
            }
            (_, None) => *self = Self::ALL,
            (None, Some(_)) => {}
        }
    }

    pub(super) fn keep(&mut self, other: &Self) {
        match (&mut self.0, &other.0) {
            (Some(words), Some(others)) => {
                for (word, other) in words.iter_mut().zip(others) {
                    *word &= other;
                }
            }
            (None, Some(_)) => self.clone_from(other),
            (_, None) => {}
        }
    }
}
