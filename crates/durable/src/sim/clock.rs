//! A clock that stands still until it is moved.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::{Clock, Span, Timestamp};

/// Clones share one time.
#[derive(Debug, Clone)]
pub struct ManualClock {
    millis: Arc<AtomicI64>,
}

impl ManualClock {
    pub fn new(now: Timestamp) -> Self {
        Self { millis: Arc::new(AtomicI64::new(now.millis())) }
    }

    /// Moves on by `span`; gives the new time.
    pub fn advance(&self, span: Span) -> Timestamp {
        let now = self.now().after(span);
        self.set(now);
        now
    }

    /// Jumps to `now`, backwards too, as clocks that people set do.
    pub fn set(&self, now: Timestamp) {
        self.millis.store(now.millis(), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.millis.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_moves_only_when_told_and_clones_move_with_it() {
        let clock = ManualClock::new(Timestamp::from_millis(1000));
        let other = clock.clone();
        assert_eq!(clock.now().millis(), 1000);
        assert_eq!(clock.advance(Span::from_secs(2)).millis(), 3000);
        assert_eq!(other.now().millis(), 3000);
        other.set(Timestamp::from_millis(5));
        assert_eq!(clock.now().millis(), 5);
    }
}
