//! Instants and lengths of time as people read them. Pure.

use host::api::{Span, Timestamp};

/// `0.4s`, `12.3s`, `2:05`, `1:02:05`.
pub(crate) fn length(span: Span) -> String {
    let millis = span.millis();
    let (seconds, minutes, hours) = (millis / 1000, millis / 60_000, millis / 3_600_000);
    match (hours, minutes) {
        (0, 0) => format!("{}.{}s", seconds, millis % 1000 / 100),
        (0, _) => format!("{minutes}:{:02}", seconds % 60),
        (_, _) => format!("{hours}:{:02}:{:02}", minutes % 60, seconds % 60),
    }
}

/// `0s`, `12s`, `2:05`, `1:02:05`: a length that still grows.
pub(crate) fn ticking(span: Span) -> String {
    match span.millis() / 1000 {
        seconds @ ..60 => format!("{seconds}s"),
        _ => length(span),
    }
}

/// `2026-11-30 15:09:43Z`.
pub(crate) fn instant(at: Timestamp) -> String {
    let text = at.to_string();
    match text.split_once('.') {
        Some((seconds, _)) => format!("{}Z", seconds.replacen('T', " ", 1)),
        None => text,
    }
}

/// How long something took, or has taken so far.
pub(crate) fn between(from: Option<Timestamp>, to: Option<Timestamp>) -> Option<String> {
    Some(length(to?.since(from?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_read_like_a_watch() {
        let cases = [
            (0, "0.0s"),
            (449, "0.4s"),
            (12_399, "12.3s"),
            (59_999, "59.9s"),
            (60_000, "1:00"),
            (125_000, "2:05"),
            (3_725_000, "1:02:05"),
            (360_000_000, "100:00:00"),
        ];
        for (millis, text) in cases {
            assert_eq!(length(Span::from_millis(millis)), text);
        }
    }

    #[test]
    fn what_still_grows_is_told_in_whole_seconds() {
        let cases = [(0, "0s"), (59_999, "59s"), (60_000, "1:00"), (3_725_000, "1:02:05")];
        for (millis, text) in cases {
            assert_eq!(ticking(Span::from_millis(millis)), text);
        }
    }

    #[test]
    fn instants_say_their_zone() {
        assert_eq!(instant(Timestamp::from_millis(0)), "1970-01-01 00:00:00Z");
    }
}
