//! How long the book remembers: for so long a conversation may be gone on
//! with, and for so long the details stay. Both count from the end of the
//! attempt or from the last word that its worker accepted after it. Nothing
//! of a user's is removed, only what the book says of it.

use durable::{Span, Timestamp};
use rusqlite::params;

use super::{Registry, RegistryError, schema};

const DAY: u64 = 24 * 60 * 60;

/// Seven days.
pub const RESUME_FOR: Span = Span::from_secs(7 * DAY);

/// Thirty days.
pub const DETAIL_FOR: Span = Span::from_secs(30 * DAY);

impl Registry {
    /// The worker has accepted a word after its end, which opens both windows
    /// anew. `false` when the first one has closed, or never opened.
    pub fn followed_up(&self, id: &str, now: Timestamp) -> Result<bool, RegistryError> {
        let (resume, detail) = (now.after(RESUME_FOR), now.after(DETAIL_FOR));
        self.write(schema::FOLLOWED_UP, params![id, now.millis(), resume.millis(), detail.millis()])
    }

    /// Forgets the details of what ended long enough ago, and gives how many
    /// attempts those were. What may still go on, and what nobody knows the
    /// end of, stays whole.
    pub fn prune(&self, now: Timestamp) -> Result<usize, RegistryError> {
        let changed = self.database.connection().execute(schema::PRUNE, [now.millis()]);
        changed.map_err(|source| self.fault(source))
    }
}
