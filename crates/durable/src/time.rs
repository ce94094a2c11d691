//! Time as values. Only [`Clock`] knows what time it is, and only the
//! outermost crate owns a real one.

mod civil;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// An instant: milliseconds since 1970-01-01T00:00:00Z. Printed and stored
/// as RFC 3339 in UTC with millisecond precision.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Timestamp(i64);

/// A length of time, in milliseconds. Written `250ms`, `3s`, `10m`, `2h`,
/// `1d`, or several of them (`1h30m`).
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Span(u64);

/// A text that is neither an instant nor a length of time.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TimeError {
    #[error("`{0}` is not an RFC 3339 instant such as `2026-11-30T09:00:00Z`")]
    Instant(String),
    #[error("`{0}` is not a length of time such as `90s`, `10m` or `1h30m`")]
    Span(String),
}

/// Tells the time. The real one lives in `host`, the manual one in `sim`.
pub trait Clock: Send + Sync + fmt::Debug {
    fn now(&self) -> Timestamp;
}

impl Timestamp {
    /// 9999-12-30T22:00:00Z, the last instant that is in a year of four
    /// digits in every time zone; later ones are not written by all tools.
    const MAX_MILLIS: i64 = 253_402_207_200_000;

    /// An instant from milliseconds since 1970, clamped to the years that
    /// RFC 3339 can write.
    pub fn from_millis(millis: i64) -> Self {
        Self(millis.clamp(0, Self::MAX_MILLIS))
    }

    pub fn millis(self) -> i64 {
        self.0
    }

    #[must_use]
    pub fn after(self, span: Span) -> Self {
        Self::from_millis(self.0.saturating_add_unsigned(span.0))
    }

    /// How long after `earlier` this is; zero when it is not.
    pub fn since(self, earlier: Self) -> Span {
        Span(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl Span {
    pub const ZERO: Self = Self(0);

    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1000))
    }

    pub const fn millis(self) -> u64 {
        self.0
    }

    pub const fn duration(self) -> Duration {
        Duration::from_millis(self.0)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&civil::write(self.0)).expect("digits are ASCII"))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Timestamp {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        if let Some(millis) = civil::read(text.as_bytes()) {
            return Ok(Self::from_millis(millis));
        }
        let instant = text.parse::<jiff::Timestamp>();
        let instant = instant.map_err(|_| TimeError::Instant(text.to_owned()))?;
        Ok(Self::from_millis(instant.as_millisecond()))
    }
}

impl TryFrom<String> for Timestamp {
    type Error = TimeError;

    fn try_from(text: String) -> Result<Self, TimeError> {
        text.parse()
    }
}

impl From<Timestamp> for String {
    fn from(at: Timestamp) -> Self {
        at.to_string()
    }
}

/// Units in falling order, as [`Span`] prints them.
const UNITS: [(&str, u64); 5] =
    [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        if rest == 0 {
            return f.write_str("0s");
        }
        for (unit, size) in UNITS {
            if rest >= size {
                write!(f, "{}{unit}", rest / size)?;
                rest %= size;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Span {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        let fail = || TimeError::Span(text.to_owned());
        let mut rest = text.trim();
        let mut total = 0u64;
        if rest.is_empty() {
            return Err(fail());
        }
        while !rest.is_empty() {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (number, tail) = rest.split_at(digits);
            let letters =
                tail.len() - tail.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
            let (unit, tail) = tail.split_at(letters);
            let size = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(fail)?.1;
            let part =
                number.parse::<u64>().ok().and_then(|n| n.checked_mul(size)).ok_or_else(fail)?;
            total = total.checked_add(part).ok_or_else(fail)?;
            rest = tail;
        }
        Ok(Self(total))
    }
}

impl TryFrom<String> for Span {
    type Error = TimeError;

    fn try_from(text: String) -> Result<Self, TimeError> {
        text.parse()
    }
}

impl From<Span> for String {
    fn from(span: Span) -> Self {
        span.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_instant_is_written_in_utc_with_milliseconds() {
        assert_eq!(Timestamp::from_millis(0).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Timestamp::from_millis(1).to_string(), "1970-01-01T00:00:00.001Z");
        let last = Timestamp::from_millis(i64::MAX);
        assert_eq!(last.to_string(), "9999-12-30T22:00:00.000Z");
        assert_eq!(last.after(Span::from_millis(u64::MAX)), last);
        assert_eq!(Timestamp::from_millis(-5), Timestamp::from_millis(0));
    }

    #[test]
    fn any_rfc_3339_instant_is_read_and_other_texts_are_refused() {
        let noon: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
        for same in
            ["2026-11-30T12:00:00.000Z", "2026-11-30T13:30:00+01:30", "2026-11-30t12:00:00z"]
        {
            assert_eq!(same.parse(), Ok(noon), "{same}");
        }
        for bad in ["", "now", "2026-11-30", "2026-11-30T12:00:00", "2026-13-01T00:00:00Z", "5"] {
            assert_eq!(bad.parse::<Timestamp>(), Err(TimeError::Instant(bad.to_owned())));
        }
    }

    #[test]
    fn spans_are_read_by_unit_and_written_in_the_fewest() {
        let table = [
            ("0s", 0, "0s"),
            ("250ms", 250, "250ms"),
            ("90s", 90_000, "1m30s"),
            ("1h30m", 5_400_000, "1h30m"),
            ("36h", 129_600_000, "1d12h"),
            (" 1d2h3m4s5ms ", 93_784_005, "1d2h3m4s5ms"),
            ("60000ms", 60_000, "1m"),
        ];
        for (text, millis, written) in table {
            let span: Span = text.parse().unwrap();
            assert_eq!((span.millis(), span.to_string().as_str()), (millis, written));
        }
    }

    #[test]
    fn what_is_no_span_is_refused() {
        let bad = [
            "",
            " ",
            "5",
            "s",
            "-5s",
            "1.5h",
            "5 s",
            "5S",
            "5w",
            "1h30",
            "+5s",
            "٣s",
            "18446744073709551616ms",
            "99999999999999999d",
            "18446744073709551615ms1s",
        ];
        for bad in bad {
            assert_eq!(bad.parse::<Span>(), Err(TimeError::Span(bad.to_owned())), "{bad}");
        }
    }

    #[test]
    fn since_is_never_less_than_nothing() {
        let (early, late) = (Timestamp::from_millis(1000), Timestamp::from_millis(4000));
        assert_eq!(late.since(early), Span::from_secs(3));
        assert_eq!(early.since(late), Span::ZERO);
        assert_eq!(early.after(Span::from_secs(3)), late);
        assert_eq!(Span::from_secs(3).duration(), Duration::from_secs(3));
        assert_eq!(Span::from_secs(u64::MAX).millis(), u64::MAX);
    }

    #[test]
    fn times_are_texts_in_json() {
        let json =
            serde_json::to_string(&(Timestamp::from_millis(7), Span::from_secs(90))).unwrap();
        assert_eq!(json, r#"["1970-01-01T00:00:00.007Z","1m30s"]"#);
        let error = serde_json::from_str::<Span>("\"soon\"").unwrap_err();
        assert!(error.to_string().contains("`soon` is not a length of time"), "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_time_leads_back_from_its_text(millis in 0..=Timestamp::MAX_MILLIS, span in any::<u64>()) {
            let at = Timestamp::from_millis(millis);
            prop_assert_eq!(at.to_string().parse(), Ok(at));
            let span = Span::from_millis(span);
            prop_assert_eq!(span.to_string().parse(), Ok(span));
        }

        #[test]
        fn an_instant_is_written_and_read_as_a_library_does(
            millis in 0..=Timestamp::MAX_MILLIS,
            at in 0..24_usize,
            with in prop::sample::select(b"0123456789-:.TZtz 6".to_vec()),
        ) {
            let library = jiff::Timestamp::from_millisecond(millis).unwrap();
            let mut text = Timestamp::from_millis(millis).to_string().into_bytes();
            prop_assert_eq!(&text, &format!("{library:.3}").into_bytes());
            text[at] = with;
            let text = String::from_utf8(text).unwrap();
            let library = text.parse::<jiff::Timestamp>().ok();
            let expected = library.map(|at| Timestamp::from_millis(at.as_millisecond()));
            prop_assert_eq!(text.parse::<Timestamp>().ok(), expected, "{}", text);
        }

        #[test]
        fn texts_order_as_the_instants_do(one in 0..=Timestamp::MAX_MILLIS, two in 0..=Timestamp::MAX_MILLIS) {
            let (one, two) = (Timestamp::from_millis(one), Timestamp::from_millis(two));
            prop_assert_eq!(one.cmp(&two), one.to_string().cmp(&two.to_string()));
        }
    }
}
