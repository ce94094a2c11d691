//! What the command exits with. The numbers are promises; 0 to 7 are those
//! of the reference.

use std::process::ExitCode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Done = 0,
    Failed = 1,
    NotFound = 2,
    NoSession = 3,
    StoreUnavailable = 4,
    Ambiguous = 5,
    HostNotRunning = 6,
    /// The owner of a run, or the host, did not answer in time.
    NoAnswer = 7,
    Invalid = 8,
    Denied = 9,
    RunFailed = 10,
    Waiting = 11,
    UnknownOutcome = 12,
    Conflict = 13,
    Usage = 64,
    TryLater = 75,
    HungUp = 129,
    Interrupted = 130,
    Terminated = 143,
}

impl Exit {
    pub(crate) const ALL: [Self; 19] = [
        Self::Done,
        Self::Failed,
        Self::NotFound,
        Self::NoSession,
        Self::StoreUnavailable,
        Self::Ambiguous,
        Self::HostNotRunning,
        Self::NoAnswer,
        Self::Invalid,
        Self::Denied,
        Self::RunFailed,
        Self::Waiting,
        Self::UnknownOutcome,
        Self::Conflict,
        Self::Usage,
        Self::TryLater,
        Self::HungUp,
        Self::Interrupted,
        Self::Terminated,
    ];

    /// The exit that a table of the host names by its number.
    pub(crate) fn of(code: u8) -> Self {
        Self::ALL.into_iter().find(|exit| *exit as u8 == code).unwrap_or(Self::Failed)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exit_is_found_by_its_number() {
        for exit in Exit::ALL {
            assert_eq!(Exit::of(exit as u8), exit);
        }
        assert_eq!(Exit::of(99), Exit::Failed);
    }
}
