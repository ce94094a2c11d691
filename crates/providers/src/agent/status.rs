//! From what a model service answered to a fault: by its status and its own
//! word for the error, and only where those are missing by the text.

use durable::Span;

use super::fault::Fault;

/// An HTTP status, with the text beside it for what the status leaves open.
pub(super) fn by_status(status: u64, text: &str) -> Option<Fault> {
    Some(match status {
        401 => Fault::NotLoggedIn,
        403 => Fault::Forbidden,
        404 if mentions_model(text) => Fault::ModelUnknown,
        413 => Fault::PromptTooLong,
        429 if is_quota(text) => Fault::LimitReached,
        429 => Fault::RateLimited,
        503 | 529 => Fault::Overloaded,
        400 | 422 => match by_text(text) {
            // An account without credit, or at its spend limit, is told so too.
            Some(
                fault @ (Fault::PromptTooLong
                | Fault::ModelUnknown
                | Fault::NotLoggedIn
                | Fault::LimitReached),
            ) => fault,
            _ => Fault::BadRequest,
        },
        402 => Fault::LimitReached,
        404..=499 => Fault::BadRequest,
        500..=599 => Fault::ServerError,
        _ => return None,
    })
}

/// The word that a service or a program has for an error.
pub(super) fn by_word(word: &str, text: &str) -> Option<Fault> {
    Some(match word {
        "authentication_failed"
        | "authentication_error"
        | "invalid_api_key"
        | "oauth_org_not_allowed" => Fault::NotLoggedIn,
        "permission_error" | "PERMISSION_DENIED" => Fault::Forbidden,
        "rate_limit" | "rate_limit_error" | "rate_limit_exceeded" | "RESOURCE_EXHAUSTED" => {
            if is_quota(text) {
                Fault::LimitReached
            } else {
                Fault::RateLimited
            }
        }
        "billing_error" | "insufficient_quota" | "usage_limit_reached" | "quota_exceeded" => {
            Fault::LimitReached
        }
        "overloaded" | "overloaded_error" | "UNAVAILABLE" => Fault::Overloaded,
        "server_error" | "api_error" | "INTERNAL" => Fault::ServerError,
        "model_not_found"
        | "not_found_error"
        | "ModelNotFoundError"
        | "ProviderModelNotFoundError" => Fault::ModelUnknown,
        "prompt_too_long" | "context_length_exceeded" | "ContextOverflowError" => {
            Fault::PromptTooLong
        }
        "max_output_tokens" | "MessageOutputLengthError" | "MAX_TOKENS" => Fault::OutputLimit,
        "refusal" | "ContentFilterError" | "content_filter" | "SAFETY" => Fault::Refused,
        "ProviderAuthError" | "UNAUTHENTICATED" => Fault::NotLoggedIn,
        "MessageAbortedError" => Fault::Interrupted,
        _ => return None,
    })
}

/// What programs are known to print. Each phrase is long enough that an agent
/// writing about errors does not produce it by chance.
const PHRASES: &[(&[&str], Fault)] = &[
    (
        &[
            "ran out of room in the model's context",
            "prompt is too long",
            "context_length_exceeded",
            "input token count",
            "maximum context length",
        ],
        Fault::PromptTooLong,
    ),
    (
        &[
            "usage limit",
            "usage_limit_reached",
            "insufficient_quota",
            "exceeded your current quota",
            "credit balance is too low",
            "out of credits",
        ],
        Fault::LimitReached,
    ),
    (
        &[
            "status 401",
            "401 unauthorized",
            "invalid api key",
            "not logged in",
            "please run /login",
            "set an auth method",
            "api key not valid",
            "please set an auth",
        ],
        Fault::NotLoggedIn,
    ),
    (&["status 403", "403 forbidden"], Fault::Forbidden),
    (
        &["status 429", "status: 429", "429 too many requests", "rate limit reached"],
        Fault::RateLimited,
    ),
    (&["at capacity", "overloaded", "status 503", "status: 503"], Fault::Overloaded),
    (
        &["experiencing high demand", "internal server error", "status 500", "status: 500"],
        Fault::ServerError,
    ),
    (&["max_output_tokens"], Fault::OutputLimit),
    (
        &[
            "stream disconnected",
            "stream closed before",
            "connection refused",
            "error sending request",
            "econnreset",
            "enotfound",
            "socket hang up",
            "stream ended",
        ],
        Fault::ConnectionLost,
    ),
    (
        &["malformed response", "incomplete json segment", "json parsing failed"],
        Fault::MalformedAnswer,
    ),
    (
        &[
            "no conversation found with session id",
            "no rollout found",
            "session not found",
            "invalid session identifier",
            "no previous sessions found",
        ],
        Fault::SessionNotFound,
    ),
    (&["already in use", "another process", "thread is locked"], Fault::SessionInUse),
    // Two that set up the one database of a program at once.
    (&["database is locked", "failed query:"], Fault::StoreBusy),
    (
        &[
            "model not found",
            "model_not_found",
            "unknown model",
            "no such model",
            "model is not supported",
            "providermodelnotfounderror",
        ],
        Fault::ModelUnknown,
    ),
    (&["cannot be used with root"], Fault::RootRefused),
    (
        &["unexpected argument", "unknown option", "unknown argument", "unrecognized option"],
        Fault::BadArguments,
    ),
    (&["invalid_request_error"], Fault::BadRequest),
];

/// The fault that a text tells of, where nothing better tells.
pub(super) fn by_text(text: &str) -> Option<Fault> {
    let text = text.to_ascii_lowercase();
    let has = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    PHRASES.iter().find(|(phrases, _)| has(phrases)).map(|(_, fault)| *fault)
}

/// A status that stands in a text in the ways in which programs write it:
/// `status 429`, `status: 429`, `API Error: 429`, `(429)`.
pub(super) fn status_in(text: &str) -> Option<u64> {
    for lead in ["status ", "status: ", "Error: ", "rejected (", "\"code\":", "\"status\":"] {
        for (at, _) in text.match_indices(lead) {
            let rest = text[at + lead.len()..].trim_start();
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            if digits.len() == 3
                && let Ok(status @ 400..=599) = digits.parse()
            {
                return Some(status);
            }
        }
    }
    None
}

/// A wait that a text asks for, as services write it: `try again in 20s`,
/// `retry in 1.5s`, `retry after 30 seconds`, `"retryDelay": "34s"`.
pub(super) fn wait_in(text: &str) -> Option<Span> {
    let lower = text.to_ascii_lowercase();
    for lead in [
        "try again in ",
        "retry in ",
        "retry after ",
        "resets in ",
        "reset after ",
        "retrydelay\": \"",
        "retrydelay\":\"",
    ] {
        if let Some(at) = lower.find(lead)
            && let Some(span) = span(&lower[at + lead.len()..])
        {
            return Some(span);
        }
    }
    None
}

/// `1h2m3.5s`, `2 days 3 hours`, `90 seconds`, `500ms`: amounts with units, as
/// long as they follow each other.
fn span(text: &str) -> Option<Span> {
    let mut rest = text;
    let mut millis = 0.0_f64;
    let mut found = false;
    loop {
        rest = rest.trim_start_matches([' ', ',']);
        let digits =
            rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
        let Ok(amount) = rest[..digits].trim_end_matches('.').parse::<f64>() else { break };
        let unit_text = rest[digits..].trim_start();
        let letters =
            unit_text.len() - unit_text.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
        let factor = match &unit_text[..letters] {
            "ms" | "milliseconds" => 1.0,
            "s" | "sec" | "secs" | "second" | "seconds" => 1e3,
            "m" | "min" | "mins" | "minute" | "minutes" => 60e3,
            "h" | "hr" | "hour" | "hours" => 3600e3,
            "d" | "day" | "days" => 86_400e3,
            _ => break,
        };
        millis += amount * factor;
        found = true;
        rest = &unit_text[letters..];
    }
    // A year is more than any limit; beyond it the text was misread.
    (found && millis <= 366.0 * 86_400e3).then(|| {
        let text = format!("{millis:.0}");
        Span::from_millis(text.parse().unwrap_or(u64::MAX))
    })
}

fn mentions_model(text: &str) -> bool {
    text.to_ascii_lowercase().contains("model")
}

/// A limit of the account and not of the moment.
fn is_quota(text: &str) -> bool {
    let text = text.to_ascii_lowercase().replace("rate limit reached", "");
    [
        "usage limit",
        "usage_limit",
        "current quota",
        "quota exceeded",
        "insufficient_quota",
        "limit reached",
        "hit your limit",
        "exhausted your",
        "credit balance",
        "out of credits",
    ]
    .iter()
    .any(|phrase| text.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_decides_before_the_text() {
        assert_eq!(by_status(401, "rate limit"), Some(Fault::NotLoggedIn));
        assert_eq!(by_status(400, "prompt is too long: 9"), Some(Fault::PromptTooLong));
        assert_eq!(by_status(400, "bad"), Some(Fault::BadRequest));
        assert_eq!(
            by_status(400, "Your credit balance is too low to access the API"),
            Some(Fault::LimitReached)
        );
        assert_eq!(by_status(404, "model: x was not found"), Some(Fault::ModelUnknown));
        assert_eq!(by_status(429, "slow down"), Some(Fault::RateLimited));
        assert_eq!(by_status(429, "you have hit your usage limit"), Some(Fault::LimitReached));
        for quota in
            ["You have exhausted your daily quota on this model.", "Quota exceeded for requests"]
        {
            assert_eq!(by_status(429, quota), Some(Fault::LimitReached), "{quota}");
        }
        assert_eq!(by_status(429, "Rate limit reached for x"), Some(Fault::RateLimited));
        assert_eq!(by_status(529, ""), Some(Fault::Overloaded));
        assert_eq!(by_status(200, "status 500"), None);
    }

    #[test]
    fn a_status_is_found_where_programs_write_it_and_nowhere_else() {
        assert_eq!(status_in("unexpected status 401 Unauthorized: no"), Some(401));
        assert_eq!(status_in("exceeded retry limit, last status: 429 Too Many"), Some(429));
        assert_eq!(status_in("API Error: 529 overloaded"), Some(529));
        assert_eq!(status_in("Request rejected (429) · limited"), Some(429));
        assert_eq!(status_in("line 401 of the file, error code 5000"), None);
        assert_eq!(status_in("status 200"), None);
    }

    #[test]
    fn a_wait_is_read_with_its_units() {
        let wait = |text: &str| wait_in(text).map(Span::millis);
        assert_eq!(wait("Please try again in 20s."), Some(20_000));
        assert_eq!(wait("try again in 1h2m3.5s"), Some(3_723_500));
        assert_eq!(wait("Try again in 2 days 3 hours 4 minutes."), Some(183_840_000));
        assert_eq!(wait("\"retryDelay\": \"34.07s\""), Some(34_070));
        assert_eq!(wait("Your quota will reset after 5h3m."), Some(18_180_000));
        assert_eq!(wait("try again in a while"), None);
        assert_eq!(wait("try again later"), None);
        assert_eq!(wait("retry after 900000 days"), None);
    }

    #[test]
    fn an_agent_that_writes_about_errors_is_no_error() {
        for prose in
            ["I fixed the 401 handling", "the model returns early", "limit the rate of calls"]
        {
            assert_eq!(by_text(prose), None, "{prose}");
        }
    }
}
