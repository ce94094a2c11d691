//! One attempt, as the book has it. Pure.

use durable::{Attempt, Generation, Round, Timestamp};
use rusqlite::Row;
use serde_json::Value;

use super::word::{Coverage, Ending, Kind, State};

/// One attempt by one worker.
#[derive(Debug, Clone, PartialEq)]
pub struct Worker {
    pub id: String,
    pub kind: Kind,
    pub provider: String,
    pub workspace: Option<String>,
    pub blueprint: String,
    pub run: String,
    /// The node, and inside of a `for_each` the item: `fix[3]`.
    pub node: String,
    pub round: Round,
    pub attempt: Attempt,
    /// Our own name for the worker's session. It is not the provider's.
    pub runtime_session: String,
    /// The provider's name for the conversation.
    pub provider_session: Option<String>,
    pub generation: Generation,
    pub state: State,
    pub outcome: Option<Ending>,
    /// What can be done with such a worker.
    pub capabilities: Value,
    pub coverage: Coverage,
    /// By which the usage of this worker is counted once.
    pub source_key: Option<String>,
    pub requested_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub terminal_at: Option<Timestamp>,
    pub last_observed_at: Timestamp,
    pub last_follow_up_accepted_at: Option<Timestamp>,
    /// The last instant at which the conversation may be gone on with.
    pub resumable_until: Option<Timestamp>,
    /// The last instant at which the details are kept.
    pub detail_retained_until: Option<Timestamp>,
    pub error: Option<String>,
    pub owner: String,
    /// For the owner alone: a process id may mean another process by now.
    pub process: Option<Process>,
}

/// The process of a provider, and when the kernel says that it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    pub pid: u32,
    /// In ticks of the kernel since the machine started.
    pub started: u64,
}

impl Worker {
    /// Reads the columns of [`super::schema`], in their order.
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let count = |at: usize| row.get::<_, i64>(at).map(i64::unsigned_abs);
        let instant = |at: usize| row.get::<_, i64>(at).map(Timestamp::from_millis);
        let maybe = |at: usize| {
            row.get::<_, Option<i64>>(at).map(|millis| millis.map(Timestamp::from_millis))
        };
        let capabilities: String = row.get(14)?;
        let pid: Option<u32> = row.get(26)?;
        let started: Option<i64> = row.get(27)?;
        Ok(Self {
            id: row.get(0)?,
            kind: row.get(1)?,
            provider: row.get(2)?,
            workspace: row.get(3)?,
            blueprint: row.get(4)?,
            run: row.get(5)?,
            node: row.get(6)?,
            round: Round(count(7)?),
            attempt: Attempt(count(8)?),
            runtime_session: row.get(9)?,
            provider_session: row.get(10)?,
            generation: Generation(count(11)?),
            state: row.get(12)?,
            outcome: row.get(13)?,
            capabilities: serde_json::from_str(&capabilities).unwrap_or(Value::Null),
            coverage: row.get(15)?,
            source_key: row.get(16)?,
            requested_at: instant(17)?,
            started_at: maybe(18)?,
            terminal_at: maybe(19)?,
            last_observed_at: instant(20)?,
            last_follow_up_accepted_at: maybe(21)?,
            resumable_until: maybe(22)?,
            detail_retained_until: maybe(23)?,
            error: row.get(24)?,
            owner: row.get(25)?,
            process: pid
                .zip(started)
                .map(|(pid, started)| Process { pid, started: started.unsigned_abs() }),
        })
    }
}
