//! Why a database cannot be used, with its path and what to do. Pure.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use thiserror::Error;

use crate::disk::HomeError;

/// Why a database cannot be used. It is as it was in every case.
#[derive(Debug, Error)]
pub enum DatabaseError {
    #[error(transparent)]
    Place(#[from] HomeError),
    #[error(
        "{path} was written by a newer wardian: its `{set}` tables are of version {found} and \
         this wardian knows version {known}; use one that knows version {found}",
        path = path.display()
    )]
    Newer { path: PathBuf, set: &'static str, found: u32, known: u32 },
    #[error(
        "{path} was written by an older wardian: its `{set}` tables are of version {found} and \
         this wardian reads version {known}; the next one that writes to it brings them there",
        path = path.display()
    )]
    Older { path: PathBuf, set: &'static str, found: u32, known: u32 },
    #[error(
        "{path} is damaged and is left as it is; put back a copy, or move it away together with \
         {name}-wal and {name}-shm and let a new one be made",
        path = path.display(), name = name(path)
    )]
    Damaged {
        path: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
    #[error(
        "{path} is a database of another program and is left as it is; move it away",
        path = path.display()
    )]
    Foreign { path: PathBuf },
    #[error(
        "{path} has been busy for five seconds; find the program that holds it, then try again",
        path = path.display()
    )]
    Busy {
        path: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
    #[error("cannot open {path}", path = path.display())]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the database {path} does not answer", path = path.display())]
    Query {
        path: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
}

impl DatabaseError {
    pub(super) fn file(path: &Path, source: io::Error) -> Self {
        Self::File { path: path.to_owned(), source }
    }

    pub(super) fn query(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        let is_no_value = matches!(
            source,
            rusqlite::Error::FromSqlConversionFailure(..) | rusqlite::Error::InvalidColumnType(..)
        );
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged { path, source }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Self::Busy { path, source }
            }
            Some(ErrorCode::DiskFull) => {
                Self::File { path, source: io::Error::new(io::ErrorKind::StorageFull, source) }
            }
            // A value in a row that no reader of it can mean.
            None if is_no_value => Self::Damaged { path, source },
            Some(_) | None => Self::Query { path, source },
        }
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
