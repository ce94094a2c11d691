//! What is written of an attempt while it goes on. Each write is one
//! statement that compares and sets, and so one commit; one that lost its
//! comparison changes nothing and says so.

use durable::entropy::Entropy;
use durable::{Digest, Generation, Timestamp};
use engine::AttemptKey;
use rusqlite::{OptionalExtension, params};
use serde_json::Value;

use super::keep::{DETAIL_FOR, RESUME_FOR};
use super::schema;
use super::word::{Coverage, Ending, Kind, State};
use super::worker::Process;
use super::{Registry, RegistryError};

/// The kept beginning of what a provider says of its failure.
const ERROR_BYTES: usize = 2 << 10;

/// The longest name of a conversation that is kept. Those of the known
/// providers have 30 to 40 bytes.
const SESSION_BYTES: usize = 512;

/// How much of the digest of a key names its attempt.
const ID_DIGITS: usize = 16;

/// One process that owns attempts, told from all others before and after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnerId(String);

/// All that is known of an attempt before its launch.
#[derive(Debug, Clone, Copy)]
pub struct Registration<'a> {
    pub kind: Kind,
    pub provider: &'a str,
    pub workspace: &'a str,
    pub blueprint: &'a str,
    pub key: &'a AttemptKey,
    pub owner: &'a OwnerId,
    /// Rises when the same attempt gets another process.
    pub generation: Generation,
    pub capabilities: &'a Value,
    pub source_key: Option<&'a str>,
}

/// What the owner of an attempt holds, and shows at every write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    id: String,
    owner: OwnerId,
    generation: Generation,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End<'a> {
    Completed,
    Failed {
        error: &'a str,
    },
    /// It changed nothing and will be asked again: a limit was reached.
    Waiting {
        why: &'a str,
    },
    /// The run asked for it, and all of its processes are gone.
    Cancelled,
    /// Nobody saw the end, or nobody can tell what it changed.
    Uncertain {
        error: &'a str,
    },
}

impl OwnerId {
    pub fn fresh(entropy: &dyn Entropy) -> Self {
        Self(format!("owner-{}{}", entropy.hex8(), entropy.hex8()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    #[cfg(test)]
    pub(super) fn named(name: &str) -> Self {
        Self(name.to_owned())
    }
}

impl Claim {
    /// What a stale or a lying speaker shows.
    #[cfg(test)]
    pub(super) fn forged(id: &str, owner: &OwnerId, generation: Generation) -> Self {
        Self { id: id.to_owned(), owner: owner.clone(), generation }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// Our own name for the worker's session: one for each attempt, so that
    /// no round and no item is ever taken for another.
    pub fn runtime_session(&self) -> String {
        runtime_session(&self.id)
    }
}

impl Registry {
    /// Writes down an attempt before its launch. To ask twice gives the same.
    pub fn register(&self, new: &Registration<'_>, now: Timestamp) -> Result<Claim, RegistryError> {
        let id = id_of(new.blueprint, new.key);
        let node = new.key.node.to_string();
        let added = self.write(
            schema::REGISTER,
            params![
                id,
                new.kind,
                new.provider,
                new.workspace,
                new.blueprint,
                new.key.run.as_str(),
                node,
                stored(new.key.round.0),
                stored(new.key.attempt.0),
                runtime_session(&id),
                stored(new.generation.0),
                new.capabilities.to_string(),
                new.source_key,
                now.millis(),
                new.owner.0,
            ],
        )?;
        let claim = Claim { id, owner: new.owner.clone(), generation: new.generation };
        if added && new.key.attempt > durable::Attempt(1) {
            // What an earlier attempt waited for is over.
            self.settle(new.blueprint, new.key.run.as_str(), Some(&node), now)?;
        }
        if added || self.holder(new)?.as_ref() == Some(&claim) {
            return Ok(claim);
        }
        Err(RegistryError::taken(new.key))
    }

    /// The process has started. Where the conversation's name is known at the
    /// same time, both are one commit.
    pub fn running(
        &self,
        claim: &Claim,
        process: Option<Process>,
        session: Option<&str>,
        now: Timestamp,
    ) -> Result<bool, RegistryError> {
        let Claim { id, owner, generation } = claim;
        let pid = process.map(|process| process.pid);
        let started = process.map(|process| stored(process.started));
        let session = session.map(kept_session);
        let generation = stored(generation.0);
        self.write(
            schema::RUNNING,
            params![id, owner.0, generation, now.millis(), pid, started, session],
        )
    }

    /// The provider has told the name of the conversation.
    pub fn identified(
        &self,
        claim: &Claim,
        session: &str,
        now: Timestamp,
    ) -> Result<bool, RegistryError> {
        let Claim { id, owner, generation } = claim;
        let (generation, session) = (stored(generation.0), kept_session(session));
        self.write(schema::IDENTIFIED, params![id, owner.0, generation, session, now.millis()])
    }

    /// The attempt has ended, from whichever state.
    pub fn finish(
        &self,
        claim: &Claim,
        end: End<'_>,
        session: Option<&str>,
        now: Timestamp,
    ) -> Result<bool, RegistryError> {
        let Claim { id, owner, generation } = claim;
        let (state, outcome, coverage, error) = end.told();
        // An unknown end is none, as is a wait: their windows never close.
        let is_end = outcome.is_some();
        let until = |span| is_end.then(|| now.after(span).millis());
        self.write(
            schema::FINISH,
            params![
                id,
                owner.0,
                stored(generation.0),
                state,
                outcome,
                error.map(|text| beginning(text, ERROR_BYTES)),
                session.map(kept_session),
                coverage,
                now.millis(),
                is_end.then(|| now.millis()),
                until(RESUME_FOR),
                until(DETAIL_FOR),
            ],
        )
    }

    /// What other owners have left in flight of a run, they did not end:
    /// nobody will ever say how it ended. Gives how many those were.
    pub fn reconcile(
        &self,
        blueprint: &str,
        run: &str,
        owner: &OwnerId,
        now: Timestamp,
    ) -> Result<usize, RegistryError> {
        let params = params![run, blueprint, owner.0, now.millis()];
        let changed = self.database.connection().execute(schema::RECONCILE, params);
        changed.map_err(|source| self.fault(source))
    }

    /// What waited of a run, or of one of its nodes, does so no more: it had
    /// failed. Gives how many attempts those were.
    pub fn settle(
        &self,
        blueprint: &str,
        run: &str,
        node: Option<&str>,
        now: Timestamp,
    ) -> Result<usize, RegistryError> {
        let (resume, detail) = (now.after(RESUME_FOR).millis(), now.after(DETAIL_FOR).millis());
        let params = params![run, blueprint, node, now.millis(), resume, detail];
        let changed = self.database.connection().execute(schema::SETTLE, params);
        changed.map_err(|source| self.fault(source))
    }

    fn holder(&self, new: &Registration<'_>) -> Result<Option<Claim>, RegistryError> {
        let node = new.key.node.to_string();
        let (round, attempt) = (stored(new.key.round.0), stored(new.key.attempt.0));
        let params = params![new.key.run.as_str(), new.blueprint, node, round, attempt];
        let read = |row: &rusqlite::Row<'_>| {
            let generation = Generation(row.get::<_, i64>(2)?.unsigned_abs());
            Ok(Claim { id: row.get(0)?, owner: OwnerId(row.get(1)?), generation })
        };
        let held = self.database.connection().query_row(schema::HOLDER, params, read);
        held.optional().map_err(|source| self.fault(source))
    }

    /// Whether the statement changed its row.
    pub(super) fn write(
        &self,
        statement: &str,
        params: impl rusqlite::Params,
    ) -> Result<bool, RegistryError> {
        let changed = self.database.connection().execute(statement, params);
        changed.map(|rows| rows > 0).map_err(|source| self.fault(source))
    }
}

impl<'a> End<'a> {
    fn told(self) -> (State, Option<Ending>, Option<Coverage>, Option<&'a str>) {
        match self {
            Self::Completed => (State::Succeeded, Some(Ending::Completed), None, None),
            Self::Failed { error } => {
                (State::Failed, Some(Ending::ProviderFailed), None, Some(error))
            }
            Self::Waiting { why } => (State::Waiting, None, Some(Coverage::Pending), Some(why)),
            Self::Cancelled => {
                let coverage = Coverage::CancellationAcknowledged;
                (State::Cancelled, Some(Ending::CancelledByRun), Some(coverage), None)
            }
            Self::Uncertain { error } => {
                (State::Unknown, None, Some(Coverage::OutcomeUncertain), Some(error))
            }
        }
    }
}

/// The same for the same attempt, wherever it is asked.
pub(super) fn id_of(blueprint: &str, key: &AttemptKey) -> String {
    let (node, round, attempt) =
        (key.node.to_string(), key.round.to_string(), key.attempt.to_string());
    let parts = ["worker", blueprint, key.run.as_str(), &node, &round, &attempt];
    let digest = Digest::of_parts(&parts.map(str::as_bytes));
    let bytes = digest.bytes().iter().take(ID_DIGITS / 2);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

fn runtime_session(id: &str) -> String {
    format!("automation-temp-{id}")
}

fn kept_session(session: &str) -> &str {
    beginning(session, SESSION_BYTES)
}

fn beginning(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// Counters go into the table as numbers with a sign.
fn stored(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
