//! Sets of tables with versions of their own in one database, so that crates
//! that do not know each other can share it. A step is one transaction; its
//! number stands in the database if and only if all of it does.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use super::DatabaseError;

/// Tables that belong together, as the steps that make them. A step is never
/// changed once it was released; what is new is a step behind the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migrations {
    pub set: &'static str,
    pub steps: &'static [&'static str],
}

const TABLE: &str = "\
    create table if not exists migrations (
        set_name text primary key,
        version integer not null
    ) strict, without rowid";

/// By which the file says whose it is: `wrdn`.
const OURS: u32 = 0x7772_646e;

impl Migrations {
    fn known(&self) -> u32 {
        u32::try_from(self.steps.len()).unwrap_or(u32::MAX)
    }
}

/// Refuses a database that has tables and does not say that it is ours.
pub(super) fn refuse_foreign(connection: &Connection, path: &Path) -> Result<(), DatabaseError> {
    // Both are written at once, so that who sees a table of ours, and looks
    // whose it is afterwards, sees that as well.
    let asked = || -> rusqlite::Result<(u32, bool)> {
        let any = "select exists (select 1 from sqlite_schema)";
        let any = connection.query_row(any, [], |row| row.get(0))?;
        Ok((connection.pragma_query_value(None, "application_id", |row| row.get(0))?, any))
    };
    match asked().map_err(|source| DatabaseError::query(path, source))? {
        (OURS, _) | (_, false) => Ok(()),
        (_, true) => Err(DatabaseError::Foreign { path: path.to_owned() }),
    }
}

/// Brings the tables of a set to the version that is known. One that has it
/// already costs a read.
pub(super) fn migrate(
    connection: &mut Connection,
    path: &Path,
    set: &Migrations,
) -> Result<(), DatabaseError> {
    let fault = |source| DatabaseError::query(path, source);
    let mut next = version(connection, set).map_err(fault)?;
    while next < set.known() {
        next = step(connection, set).map_err(fault)?;
    }
    if next > set.known() { Err(newer(path, set, next)) } else { Ok(()) }
}

/// Whether the tables of the set are there, in the version that is known.
pub(super) fn is_current(
    connection: &Connection,
    path: &Path,
    set: &Migrations,
) -> Result<bool, DatabaseError> {
    let found = version(connection, set).map_err(|source| DatabaseError::query(path, source))?;
    let known = set.known();
    match found {
        0 => Ok(false),
        _ if found > known => Err(newer(path, set, found)),
        _ if found < known => {
            Err(DatabaseError::Older { path: path.to_owned(), set: set.set, found, known })
        }
        _ => Ok(true),
    }
}

/// Takes the step behind the version that stands, which another process may
/// just have taken; says which version stands then.
fn step(connection: &mut Connection, set: &Migrations) -> rusqlite::Result<u32> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.pragma_update(None, "application_id", OURS)?;
    transaction.execute_batch(TABLE)?;
    let stands = version(&transaction, set)?;
    let Some(step) = set.steps.get(stands as usize) else { return Ok(stands) };
    transaction.execute_batch(step)?;
    let note = "insert into migrations (set_name, version) values (?1, ?2) \
                on conflict (set_name) do update set version = excluded.version";
    transaction.execute(note, params![set.set, stands + 1])?;
    transaction.commit()?;
    Ok(stands + 1)
}

/// How many steps of the set were taken here.
fn version(connection: &Connection, set: &Migrations) -> rusqlite::Result<u32> {
    let table = "select 1 from sqlite_schema where name = 'migrations'";
    if !connection.prepare(table)?.exists([])? {
        return Ok(0);
    }
    let version = "select version from migrations where set_name = ?1";
    let version = connection.query_row(version, [set.set], |row| row.get(0)).optional()?;
    Ok(version.unwrap_or(0))
}

fn newer(path: &Path, set: &Migrations, found: u32) -> DatabaseError {
    DatabaseError::Newer { path: path.to_owned(), set: set.set, found, known: set.known() }
}
