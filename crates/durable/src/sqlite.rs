//! One way to open a database: local, for this user alone, every commit
//! synced, and of the version that its reader knows. A file that is damaged,
//! too new or not ours is refused and left as it is; nothing is ever made
//! anew in its place.

mod error;
mod migrate;
#[cfg(test)]
mod tests;

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::io::Errno;

use crate::disk::refuse_network_home;

pub use error::DatabaseError;
pub use migrate::Migrations;

/// How long a writer waits for another one. A commit takes milliseconds, so
/// whoever waits this long waits for somebody who hangs.
const BUSY: Duration = Duration::from_secs(5);

/// How often a new database is found busy by its first writers, at most.
const TRIES: u32 = 100;

/// Readable and writable for its owner alone.
const MODE: u32 = 0o600;

/// An open database. It is for one thread at a time.
#[derive(Debug)]
pub struct Database {
    connection: Connection,
    path: PathBuf,
}

impl Database {
    /// Opens a database for writing, makes it where there is none, and brings
    /// the tables of `set` to the version that is known here. Its folder must
    /// exist.
    pub fn open(path: &Path, set: &Migrations) -> Result<Self, DatabaseError> {
        let path = refuse_network_home(path)?;
        make_private(&path).map_err(|source| DatabaseError::file(&path, source))?;
        let mut database = Self::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        migrate::refuse_foreign(&database.connection, &database.path)?;
        database.prepare_to_write()?;
        migrate::migrate(&mut database.connection, &database.path, set)?;
        Ok(database)
    }

    /// Opens a database for reading and changes nothing in it. `None` where
    /// there is none, or where nobody has made the tables of `set`.
    pub fn read(path: &Path, set: &Migrations) -> Result<Option<Self>, DatabaseError> {
        match fs::metadata(path) {
            Ok(found) if found.len() == 0 => return Ok(None),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(DatabaseError::file(path, error)),
        }
        let path = refuse_network_home(path)?;
        let database = Self::connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        migrate::refuse_foreign(&database.connection, &database.path)?;
        let stands = migrate::is_current(&database.connection, &database.path, set)?;
        Ok(stands.then_some(database))
    }

    /// Brings the tables of another set in the same file to the version that
    /// is known.
    pub fn also(&mut self, set: &Migrations) -> Result<(), DatabaseError> {
        migrate::migrate(&mut self.connection, &self.path, set)
    }

    /// Whether somebody has made the tables of another set in the same file.
    pub fn has(&self, set: &Migrations) -> Result<bool, DatabaseError> {
        migrate::is_current(&self.connection, &self.path, set)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// For a transaction.
    pub fn connection_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }

    /// What a failed query says of the database.
    pub fn fault(&self, source: rusqlite::Error) -> DatabaseError {
        DatabaseError::query(&self.path, source)
    }

    fn connect(path: PathBuf, access: OpenFlags) -> Result<Self, DatabaseError> {
        let fault = |source| DatabaseError::query(&path, source);
        // No names of the form `file:…`, and no lock around every call.
        let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags).map_err(fault)?;
        connection.busy_timeout(BUSY).map_err(fault)?;
        // What stands in the file cannot call functions behind our back.
        connection.pragma_update(None, "trusted_schema", false).map_err(fault)?;
        connection.pragma_update(None, "foreign_keys", true).map_err(fault)?;
        Ok(Self { connection, path })
    }

    /// The last of many short-lived writers would pay for a checkpoint at
    /// every close; the log of the database is folded in as it grows instead.
    fn prepare_to_write(&self) -> Result<(), DatabaseError> {
        let set = || {
            let connection = &self.connection;
            write_ahead(connection)?;
            connection.pragma_update(None, "synchronous", "full")?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            Ok(())
        };
        set().map_err(|source| self.fault(source))
    }
}

/// A new database learns to write ahead. SQLite waits for nobody who reads at
/// that moment, so it is tried again when those are done, whom it does wait
/// for before it lets one in alone.
fn write_ahead(connection: &Connection) -> rusqlite::Result<()> {
    for _ in 0..TRIES {
        let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
        if mode == "wal" {
            return Ok(());
        }
        match connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(())) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                connection.execute_batch("begin exclusive; rollback")?;
            }
            done => return done,
        }
    }
    connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))
}

/// The files beside it get the mode that it has. The file is made without
/// being opened: to close it would end the locks that another thread has on
/// it by then.
fn make_private(path: &Path) -> io::Result<()> {
    match mknodat(CWD, path, FileType::RegularFile, Mode::from_raw_mode(MODE), 0) {
        Ok(()) => return Ok(()),
        Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    let mode = fs::metadata(path)?.permissions().mode();
    if mode & 0o077 == 0 { Ok(()) } else { fs::set_permissions(path, Permissions::from_mode(MODE)) }
}
