//! Reading the book: a page of it, or one attempt by the beginning of its id.

use durable::Timestamp;
use rusqlite::params;

use super::word::State;
use super::worker::Worker;
use super::{Registry, RegistryError, schema};

/// Ids that are named when several begin alike.
const CHOICES: usize = 10;

/// All that is said must hold.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub run: Option<String>,
    /// One of these; any state when there is none.
    pub states: Vec<State>,
}

/// The latest attempts behind a place.
#[derive(Debug, Clone)]
pub struct Page {
    pub limit: usize,
    pub after: Option<Mark>,
}

/// A place in the book.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    requested_at: Timestamp,
    id: String,
}

/// What a beginning of an id leads to.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    None,
    One(Box<Worker>),
    /// The first of those that begin so.
    Many(Vec<String>),
}

impl Mark {
    pub fn of(worker: &Worker) -> Self {
        Self { requested_at: worker.requested_at, id: worker.id.clone() }
    }
}

impl Registry {
    /// Attempts, the latest first.
    pub fn list(&self, filter: &Filter, page: &Page) -> Result<Vec<Worker>, RegistryError> {
        let words: Vec<&str> = filter.states.iter().map(|state| state.word()).collect();
        let states = (!words.is_empty()).then(|| format!(",{},", words.join(",")));
        let after = page.after.as_ref();
        let params = params![
            filter.run,
            states,
            after.map(|mark| mark.requested_at.millis()),
            after.map(|mark| mark.id.as_str()),
            i64::try_from(page.limit).unwrap_or(i64::MAX),
        ];
        self.query(schema::LIST, params)
    }

    /// The attempt whose id begins so.
    pub fn show(&self, beginning: &str) -> Result<Found, RegistryError> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if beginning.is_empty() || !beginning.bytes().all(is_digit) {
            return Ok(Found::None);
        }
        let most = i64::try_from(CHOICES).unwrap_or(i64::MAX);
        let mut found = self.query(schema::SHOW, params![beginning, most])?;
        Ok(match found.len() {
            0 => Found::None,
            1 => Found::One(Box::new(found.remove(0))),
            _ => Found::Many(found.into_iter().map(|worker| worker.id).collect()),
        })
    }

    fn query(
        &self,
        query: &str,
        params: impl rusqlite::Params,
    ) -> Result<Vec<Worker>, RegistryError> {
        let read = || -> rusqlite::Result<Vec<Worker>> {
            let mut statement = self.database.connection().prepare(query)?;
            statement.query_map(params, Worker::read)?.collect()
        };
        read().map_err(|source| self.fault(source))
    }
}
