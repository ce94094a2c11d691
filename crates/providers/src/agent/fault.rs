//! Every way in which an agent's turn can fail, with its code, its class and
//! what it says of the outside. One table, the same for all providers.

use engine::{Class, Effect};

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    NotLoggedIn,
    Forbidden,
    RateLimited,
    LimitReached,
    Overloaded,
    ServerError,
    ConnectionLost,
    ModelUnknown,
    PromptTooLong,
    BadRequest,
    Refused,
    OutputLimit,
    EmptyAnswer,
    MalformedOutput,
    MalformedAnswer,
    ErrorEvent,
    NoCompletion,
    SessionNotFound,
    SessionInUse,
    StoreBusy,
    SessionChanged,
    PermissionDenied,
    TurnsReached,
    CostReached,
    FolderNotTrusted,
    RootRefused,
    BadArguments,
    Interrupted,
    Exit,
}

/// How far a failed turn is known to have gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Course {
    /// The program itself said how the turn ended.
    pub(super) definite: bool,
    /// Something was done, or it cannot be told that nothing was.
    pub(super) acted: bool,
}

impl Fault {
    pub const ALL: [Self; 29] = [
        Self::NotLoggedIn,
        Self::Forbidden,
        Self::RateLimited,
        Self::LimitReached,
        Self::Overloaded,
        Self::ServerError,
        Self::ConnectionLost,
        Self::ModelUnknown,
        Self::PromptTooLong,
        Self::BadRequest,
        Self::Refused,
        Self::OutputLimit,
        Self::EmptyAnswer,
        Self::MalformedOutput,
        Self::MalformedAnswer,
        Self::ErrorEvent,
        Self::NoCompletion,
        Self::SessionNotFound,
        Self::SessionInUse,
        Self::StoreBusy,
        Self::SessionChanged,
        Self::PermissionDenied,
        Self::TurnsReached,
        Self::CostReached,
        Self::FolderNotTrusted,
        Self::RootRefused,
        Self::BadArguments,
        Self::Interrupted,
        Self::Exit,
    ];

    pub fn code(self) -> &'static str {
        match self {
            Self::NotLoggedIn => "not_logged_in",
            Self::Forbidden => "forbidden",
            Self::RateLimited => "rate_limited",
            Self::LimitReached => "limit_reached",
            Self::Overloaded => "overloaded",
            Self::ServerError => "server_error",
            Self::ConnectionLost => "connection_lost",
            Self::ModelUnknown => "model_unknown",
            Self::PromptTooLong => "prompt_too_long",
            Self::BadRequest => "bad_request",
            Self::Refused => "refused",
            Self::OutputLimit => "output_limit",
            Self::EmptyAnswer => "empty_answer",
            Self::MalformedOutput => "malformed_output",
            Self::MalformedAnswer => "malformed_answer",
            Self::ErrorEvent => "error_event",
            Self::NoCompletion => "no_completion",
            Self::SessionNotFound => "session_not_found",
            Self::SessionInUse => "session_in_use",
            Self::StoreBusy => "store_busy",
            Self::SessionChanged => "session_changed",
            Self::PermissionDenied => "permission_denied",
            Self::TurnsReached => "turns_reached",
            Self::CostReached => "cost_reached",
            Self::FolderNotTrusted => "folder_not_trusted",
            Self::RootRefused => "root_refused",
            Self::BadArguments => "bad_arguments",
            Self::Interrupted => "interrupted",
            Self::Exit => "exit",
        }
    }

    pub fn class(self) -> Class {
        match self {
            Self::NotLoggedIn | Self::Forbidden => Class::Auth,
            Self::RateLimited
            | Self::LimitReached
            | Self::Overloaded
            | Self::ServerError
            | Self::ConnectionLost
            | Self::EmptyAnswer
            | Self::SessionInUse
            | Self::StoreBusy => Class::Transient,
            Self::ModelUnknown
            | Self::SessionNotFound
            | Self::FolderNotTrusted
            | Self::RootRefused
            | Self::BadArguments => Class::Preflight,
            Self::Refused | Self::PermissionDenied | Self::TurnsReached | Self::CostReached => {
                Class::Policy
            }
            Self::PromptTooLong | Self::BadRequest | Self::OutputLimit => Class::Bug,
            Self::MalformedOutput
            | Self::MalformedAnswer
            | Self::ErrorEvent
            | Self::NoCompletion
            | Self::SessionChanged
            | Self::Interrupted
            | Self::Exit => Class::Unknown,
        }
    }

    /// Whether the outside changed. "No" is said only where the program
    /// reported that its request was turned away and nothing had been done
    /// before; what the program did not report stays uncertain.
    pub(super) fn effect(self, course: Course) -> Effect {
        match (course.definite, course.acted) {
            (true, false) if self.is_turned_away() => Effect::None,
            (true, _) => Effect::Done,
            (false, _) => Effect::Uncertain,
        }
    }

    /// Turned away before the model answered.
    fn is_turned_away(self) -> bool {
        match self {
            Self::NotLoggedIn
            | Self::Forbidden
            | Self::RateLimited
            | Self::LimitReached
            | Self::Overloaded
            | Self::ServerError
            | Self::ModelUnknown
            | Self::PromptTooLong
            | Self::BadRequest
            | Self::SessionNotFound
            | Self::SessionInUse
            | Self::StoreBusy
            | Self::FolderNotTrusted
            | Self::RootRefused
            | Self::BadArguments => true,
            Self::ConnectionLost
            | Self::Refused
            | Self::OutputLimit
            | Self::EmptyAnswer
            | Self::MalformedOutput
            | Self::MalformedAnswer
            | Self::ErrorEvent
            | Self::NoCompletion
            | Self::SessionChanged
            | Self::PermissionDenied
            | Self::TurnsReached
            | Self::CostReached
            | Self::Interrupted
            | Self::Exit => false,
        }
    }

    /// What a person does next; nothing where only the message can tell.
    pub(super) fn next_step(self, program: &str) -> Option<String> {
        Some(match self {
            Self::NotLoggedIn => format!("log in with `{program}` itself, or set its key"),
            Self::Forbidden => "ask the owner of the account for access".to_owned(),
            Self::ModelUnknown => "correct `model`, or leave it out".to_owned(),
            Self::PromptTooLong => "hand large text over as files of the workspace".to_owned(),
            Self::OutputLimit => "ask for less at a time, or for a file".to_owned(),
            Self::SessionNotFound => "leave `session` out to begin a new one".to_owned(),
            Self::StoreBusy => {
                format!("start `{program}` once by itself, so that its own database is set up")
            }
            Self::PermissionDenied => {
                "allow the tool with `mode` and `tools`, or do not ask for it".to_owned()
            }
            Self::RootRefused => "use another `mode`, or another user than root".to_owned(),
            Self::BadArguments => {
                format!("see `{program} --version`: this version takes other arguments")
            }
            Self::RateLimited
            | Self::LimitReached
            | Self::Overloaded
            | Self::ServerError
            | Self::ConnectionLost
            | Self::BadRequest
            | Self::Refused
            | Self::EmptyAnswer
            | Self::MalformedOutput
            | Self::MalformedAnswer
            | Self::ErrorEvent
            | Self::NoCompletion
            | Self::SessionInUse
            | Self::SessionChanged
            | Self::TurnsReached
            | Self::CostReached
            | Self::FolderNotTrusted
            | Self::Interrupted
            | Self::Exit => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_fault_has_a_code_of_its_own() {
        let codes: BTreeSet<&str> = Fault::ALL.into_iter().map(Fault::code).collect();
        assert_eq!(codes.len(), Fault::ALL.len());
    }

    #[test]
    fn nothing_changed_only_when_the_program_said_so_and_nothing_was_done() {
        for fault in Fault::ALL {
            let effect = |definite, acted| fault.effect(Course { definite, acted });
            assert_eq!(effect(false, false), Effect::Uncertain, "{fault:?}");
            assert_eq!(effect(false, true), Effect::Uncertain, "{fault:?}");
            assert_eq!(effect(true, true), Effect::Done, "{fault:?}");
        }
        let effect = |fault: Fault| fault.effect(Course { definite: true, acted: false });
        assert_eq!(effect(Fault::RateLimited), Effect::None);
        assert_eq!(effect(Fault::EmptyAnswer), Effect::Done);
    }
}
