//! The book of worker attempts: who was asked to do what, before anybody was,
//! and what came of it. A write counts only while its speaker still holds the
//! attempt, so that a late end never covers what a restart has concluded.
//! Runs do not need this book; their logs are the truth. Beside the attempts
//! it has the accounts whose limits were met.

mod accounts;
mod block;
mod find;
mod keep;
mod schema;
mod word;
mod worker;
mod write;

#[cfg(test)]
mod tests;

use std::path::Path;

use durable::sqlite::{Database, DatabaseError};
use engine::AttemptKey;
use thiserror::Error;

pub use block::{BLOCK_MAX, Block};
pub use find::{Filter, Found, Mark, Page};
pub use keep::{DETAIL_FOR, RESUME_FOR};
pub use word::{Coverage, Ending, Kind, State};
pub use worker::{Process, Worker};
pub use write::{Claim, End, OwnerId, Registration};

/// The book, open. Writing takes one commit a call.
#[derive(Debug)]
pub struct Registry {
    database: Database,
}

/// Why the book gives no answer.
#[derive(Debug, Error)]
pub enum RegistryError {
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error("the attempt {key} was registered before, by another owner or generation")]
    Taken { key: String },
}

impl Registry {
    /// Opens the book for writing; it is made where there is none. Its folder
    /// must exist.
    pub fn open(path: &Path) -> Result<Self, RegistryError> {
        let mut database = Database::open(path, &schema::WORKERS)?;
        database.also(&accounts::ACCOUNTS)?;
        Ok(Self { database })
    }

    /// Opens the book for reading and changes nothing. `None` where there is
    /// none.
    pub fn read(path: &Path) -> Result<Option<Self>, RegistryError> {
        let database = Database::read(path, &schema::WORKERS)?;
        Ok(database.map(|database| Self { database }))
    }

    fn fault(&self, source: rusqlite::Error) -> RegistryError {
        self.database.fault(source).into()
    }
}

impl RegistryError {
    fn taken(key: &AttemptKey) -> Self {
        Self::Taken { key: key.to_string() }
    }
}
