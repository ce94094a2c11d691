//! How long an account that met its limit is left alone. Pure.

use durable::{Span, Timestamp};

/// The longest block: an account whose limit resets later than this is asked
/// once a day, since what it said may not hold.
pub const BLOCK_MAX: Span = Span::from_secs(24 * 3600);

/// Where a reset is told, at least this, twice as long each time; where none
/// is, the first block, twice as long each time, and the longest.
const KNOWN_LEAST: Span = Span::from_secs(1);
const UNKNOWN_FIRST: Span = Span::from_secs(15 * 60);
const UNKNOWN_MAX: Span = Span::from_secs(6 * 3600);

/// A block that has been over for so long has nothing to do with the next.
const FORGIVEN_AFTER: Span = Span::from_secs(24 * 3600);

/// An account that met its limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// When the limit was met.
    pub since: Timestamp,
    pub until: Timestamp,
    /// The provider said when its limit resets.
    pub reset_known: bool,
    /// How many blocks came before this one, each met as soon as the one
    /// before it was over.
    pub backoffs: u32,
}

impl Block {
    /// How long the account is still to be left alone; `None` when it may be
    /// asked. A block from the future was written by a clock that was wrong.
    pub fn rest(&self, now: Timestamp) -> Option<Span> {
        let rest = self.until.since(now);
        let stands = self.since <= now && rest.millis() > 0;
        stands.then(|| rest.min(BLOCK_MAX))
    }

    /// The block after an account met its limit at `now`, asked at `asked_at`.
    /// Whoever asked before a block was over met that one, so that many at
    /// once count once.
    pub fn met(
        before: Option<&Self>,
        asked_at: Timestamp,
        reset: Option<Span>,
        now: Timestamp,
    ) -> Self {
        let before = before.filter(|before| before.since <= now);
        let same = before.filter(|before| asked_at < before.until);
        if let (Some(same), None) = (same, reset) {
            return same.clone();
        }
        let is_fresh = |before: &&Self| now.since(before.until) < FORGIVEN_AFTER;
        let next = |before: &Self| before.backoffs.saturating_add(1);
        let backoffs = match same {
            Some(same) => same.backoffs,
            None => before.filter(is_fresh).map_or(0, next),
        };
        let doubled =
            |span: Span| Span::from_millis(span.millis().saturating_mul(1 << backoffs.min(20)));
        let pause = match reset {
            Some(reset) => reset.max(doubled(KNOWN_LEAST)).min(BLOCK_MAX),
            None => doubled(UNKNOWN_FIRST).min(UNKNOWN_MAX),
        };
        Self {
            since: same.map_or(now, |same| same.since),
            until: now.after(pause),
            reset_known: reset.is_some(),
            backoffs,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_millis(1_700_000_000_000).after(Span::from_secs(seconds))
    }

    fn secs(seconds: u64) -> Span {
        Span::from_secs(seconds)
    }

    #[test]
    fn a_known_reset_blocks_until_then_and_a_day_at_most() {
        let block = Block::met(None, at(0), Some(secs(600)), at(1));
        assert_eq!((block.until, block.reset_known, block.backoffs), (at(601), true, 0));
        assert_eq!(block.rest(at(1)), Some(secs(600)));
        assert_eq!(block.rest(at(601)), None);
        let far = Block::met(None, at(0), Some(secs(10 * 86_400)), at(0));
        assert_eq!(far.rest(at(0)), Some(BLOCK_MAX));
    }

    #[test]
    fn without_a_reset_each_block_is_twice_as_long_as_the_one_before_up_to_six_hours() {
        let (mut now, mut block, mut pauses) = (at(0), None, Vec::new());
        for _ in 0..7 {
            let next = Block::met(block.as_ref(), now, None, now);
            pauses.push(next.until.since(now).millis() / 60_000);
            now = next.until;
            block = Some(next);
        }
        assert_eq!(pauses, [15, 30, 60, 120, 240, 360, 360]);
    }

    #[test]
    fn those_who_asked_before_the_block_was_over_met_the_same_one() {
        let first = Block::met(None, at(0), None, at(1));
        assert_eq!(Block::met(Some(&first), at(0), None, at(2)), first);
        assert_eq!(Block::met(Some(&first), at(30), None, at(31)), first);
        let told = Block::met(Some(&first), at(0), Some(secs(60)), at(2));
        assert_eq!((told.since, told.until, told.backoffs), (at(1), at(62), 0));
    }

    #[test]
    fn a_limit_that_always_says_it_is_over_is_met_less_and_less() {
        let mut block = Block::met(None, at(0), Some(Span::default()), at(0));
        for expected in [2, 4, 8] {
            let now = block.until;
            block = Block::met(Some(&block), now, Some(Span::default()), now);
            assert_eq!(block.until.since(now), secs(expected));
        }
    }

    #[test]
    fn a_block_of_long_ago_and_one_of_a_wrong_clock_count_for_nothing() {
        let old = Block { since: at(0), until: at(900), reset_known: false, backoffs: 5 };
        let next = Block::met(Some(&old), at(200_000), None, at(200_000));
        assert_eq!(next.backoffs, 0);
        let wrong = Block { since: at(9_000), until: at(9_900), reset_known: false, backoffs: 5 };
        assert_eq!(wrong.rest(at(10)), None);
        assert_eq!(Block::met(Some(&wrong), at(10), None, at(10)).backoffs, 0);
    }

    proptest! {
        #[test]
        fn nobody_is_kept_away_for_more_than_a_day(
            since in 0..100_000_u64, until in 0..1_000_000_u64, backoffs in any::<u32>(),
            asked in 0..200_000_u64, took in 0..1000_u64, reset in proptest::option::of(any::<u64>()),
        ) {
            let before = Block { since: at(since), until: at(until), reset_known: false, backoffs };
            let now = at(asked + took);
            let reset = reset.map(Span::from_millis);
            let block = Block::met(Some(&before), at(asked), reset, now);
            prop_assert!(block.rest(now).is_none_or(|rest| rest <= BLOCK_MAX));
            prop_assert!(before.rest(now).is_none_or(|rest| rest <= BLOCK_MAX));
        }
    }
}
