//! What can go wrong at a call, as data.

use std::error::Error as StdError;
use std::io::{Error, ErrorKind};

use thiserror::Error;

/// What a crash leaves of the call that it falls on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crash {
    /// Nothing: it comes before the call.
    Before,
    /// All: it comes after the call, which nobody learns of.
    After,
    /// Of a call that writes, the first bytes; of another call, nothing.
    Prefix(usize),
}

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    pub(super) kind: ErrorKind,
    /// Of a call that writes, bytes that still get through.
    pub(super) written: usize,
    pub(super) forever: bool,
}

/// The error of the call at which the machine or the process stopped, and
/// of every call after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the simulated process crashed")]
pub struct Crashed;

impl Fault {
    /// The call does nothing and fails with `kind`. A sync that fails drops
    /// the bytes it was to make durable, and a later one succeeds without
    /// them, as on Linux.
    pub fn error(kind: ErrorKind) -> Self {
        Self { kind, written: 0, forever: false }
    }

    /// The call writes `written` bytes and no more. A call that writes
    /// nothing finds the disk full.
    pub fn short_write(written: usize) -> Self {
        Self { kind: ErrorKind::StorageFull, written, forever: false }
    }

    /// All later calls that change the disk fail too.
    #[must_use]
    pub fn forever(self) -> Self {
        Self { forever: true, ..self }
    }
}

/// Whether `error`, or what caused it, is a simulated crash.
pub fn is_crash(error: &(dyn StdError + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        let inner = error.downcast_ref::<Error>().and_then(Error::get_ref);
        if inner.is_some_and(|inner| inner.is::<Crashed>()) || error.is::<Crashed>() {
            return true;
        }
        next = error.source();
    }
    false
}
