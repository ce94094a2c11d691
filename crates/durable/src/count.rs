//! Counters that cannot be mixed up.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! counter {
    ($(#[$doc:meta])* $name:ident, first $first:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl $name {
            pub const FIRST: Self = Self($first);

            #[must_use]
            pub fn next(self) -> Self {
                Self(self.0.saturating_add(1))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

counter!(
    /// The place of an event in its log, from 0.
    Seq, first 0
);
counter!(
    /// One period of ownership of a run, from 1. It rises with every new
    /// owner, so that what an earlier one still says can be refused.
    Generation, first 1
);
counter!(
    /// One try at one node in one round, from 1.
    Attempt, first 1
);
counter!(
    /// One pass of a loop's body, from 0.
    Round, first 0
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_begin_where_they_should_and_stop_at_the_end() {
        assert_eq!((Seq::FIRST.0, Generation::FIRST.0), (0, 1));
        assert_eq!((Attempt::FIRST.0, Round::FIRST.0), (1, 0));
        assert_eq!(Seq(4).next(), Seq(5));
        assert_eq!(Seq(u64::MAX).next(), Seq(u64::MAX));
        assert!(Generation(2) > Generation::FIRST);
    }

    #[test]
    fn a_counter_is_a_plain_number_in_text_and_json() {
        assert_eq!(Seq(12).to_string(), "12");
        assert_eq!(format!("{:>4}", Round(3)), "   3");
        assert_eq!(serde_json::to_string(&Attempt(2)).unwrap(), "2");
        assert_eq!(serde_json::from_str::<Seq>("18446744073709551615").unwrap(), Seq(u64::MAX));
        for bad in ["-1", "1.5", "\"1\"", "18446744073709551616"] {
            assert!(serde_json::from_str::<Seq>(bad).is_err(), "{bad}");
        }
    }
}
