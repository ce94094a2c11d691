//! The words of the book, as they stand in it and in every answer. Pure.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use thiserror::Error;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $variant:ident => $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$of])* $variant,)*
        }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.word() == word)
            }
        }

        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(self.word().into())
            }
        }

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                let word = value.as_str()?;
                Self::from_word(word).ok_or_else(|| FromSqlError::other(NoWord(word.to_owned())))
            }
        }
    };
}

/// A word that nobody has written here.
#[derive(Debug, Error)]
#[error("`{0}` is no word of this column")]
struct NoWord(String);

words! {
    /// Who asked for the worker.
    Kind {
        /// A node of a run.
        Automation => "automation",
        /// An agent, by itself.
        ProviderChild => "provider_child",
    }
}

words! {
    /// How far an attempt is.
    State {
        Requested => "requested",
        Running => "running",
        Waiting => "waiting",
        Succeeded => "succeeded",
        Failed => "failed",
        Cancelled => "cancelled",
        Unknown => "unknown",
    }
}

words! {
    /// What came of an attempt that ended.
    Ending {
        Completed => "completed",
        ProviderFailed => "provider_failed",
        CancelledByRun => "cancelled_by_run",
    }
}

words! {
    /// What is known of an attempt, and why not more.
    Coverage {
        Pending => "pending",
        SessionIdentified => "provider_session_identified",
        SessionUnavailable => "provider_session_unavailable",
        CancellationAcknowledged => "run_cancellation_acknowledged",
        OutcomeUncertain => "provider_outcome_uncertain",
        OwnerLost => "runtime_owner_lost",
        DetailExpired => "detail_retention_expired",
    }
}

impl State {
    /// Whether somebody may still be at work.
    pub fn is_active(self) -> bool {
        match self {
            Self::Requested | Self::Running | Self::Waiting => true,
            Self::Succeeded | Self::Failed | Self::Cancelled | Self::Unknown => false,
        }
    }
}
