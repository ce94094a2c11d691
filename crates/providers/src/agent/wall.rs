//! A time as a clock on the wall shows it. So a program may tell people when
//! its limit resets: `try again at 2:50 AM`, and with a date where that is not
//! today: `try again at Dec 2nd, 2026 2:50 AM`. It means the clock of this
//! machine, whose time zone the program shares.

use durable::Timestamp;
use jiff::ToSpan as _;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;

/// What stands before such a time.
const LEAD: &str = "try again at ";

/// The longest such time, in bytes.
const LONGEST: usize = 40;

/// A minute of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WallTime {
    /// Today where none is told.
    date: Option<Date>,
    time: Time,
}

impl WallTime {
    pub(super) fn in_text(text: &str) -> Option<Self> {
        let (_, rest) = text.split_once(LEAD)?;
        let end = ["AM", "PM"].iter().filter_map(|half| rest.find(half)).min()? + 2;
        let told = rest.get(..end).filter(|told| told.len() <= LONGEST)?;
        // `2nd,` is a day too.
        let plain = |word: &str| match word.starts_with(|first: char| first.is_ascii_digit()) {
            true => word.trim_end_matches(|last: char| !last.is_ascii_digit()).to_owned(),
            false => word.to_owned(),
        };
        let words: Vec<String> = told.split_whitespace().map(plain).collect();
        let told = words.join(" ");
        if let Ok(time) = Time::strptime("%I:%M %p", &told) {
            return Some(Self { date: None, time });
        }
        let at = DateTime::strptime("%b %d %Y %I:%M %p", &told).ok()?;
        Some(Self { date: Some(at.date()), time: at.time() })
    }

    /// When that minute is over in this time zone: its seconds are not told.
    pub(super) fn over(self, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let now = jiff::Timestamp::from_millisecond(now.millis()).ok()?;
        let date = self.date.unwrap_or_else(|| zone.to_datetime(now).date());
        // Of an hour that comes twice the second: nobody is asked too early.
        let minute = zone.to_ambiguous_timestamp(date.to_datetime(self.time)).later().ok()?;
        let over = minute.checked_add(1.minute()).ok()?;
        Some(Timestamp::from_millis(over.as_millisecond()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-12-01T02:49:30Z.
    const NOW: i64 = 1_796_093_370_000;

    fn over(text: &str, zone: &str) -> Option<String> {
        let zone = TimeZone::posix(zone).unwrap();
        let at = WallTime::in_text(text)?.over(Timestamp::from_millis(NOW), &zone)?;
        Some(at.to_string())
    }

    #[test]
    fn a_time_of_today_is_over_with_its_minute() {
        let limit = "You’ve hit your usage limit. Upgrade to Pro or try again at 2:50 AM.";
        assert_eq!(over(limit, "UTC0").as_deref(), Some("2026-12-01T02:51:00.000Z"));
        assert_eq!(
            over("try again at 12:05 PM.", "UTC0").as_deref(),
            Some("2026-12-01T12:06:00.000Z")
        );
        // It may be over by now.
        assert_eq!(
            over("try again at 2:40 AM.", "UTC0").as_deref(),
            Some("2026-12-01T02:41:00.000Z")
        );
        // Where it is still the evening of the day before.
        assert_eq!(
            over("try again at 11:30 PM.", "EST5").as_deref(),
            Some("2026-12-01T04:31:00.000Z")
        );
    }

    #[test]
    fn a_date_is_read_in_the_words_of_people() {
        for (day, date) in
            [("Dec 2nd", "2026-12-02"), ("Dec 23rd", "2026-12-23"), ("Dec 11th", "2026-12-11")]
        {
            let text = format!("or try again at {day}, 2026 2:50 AM.");
            assert_eq!(over(&text, "UTC0"), Some(format!("{date}T02:51:00.000Z")));
        }
    }

    #[test]
    fn the_hour_that_comes_twice_is_waited_for_twice() {
        let text = "try again at Oct 31st, 2027 2:30 AM.";
        let berlin = "CET-1CEST,M3.5.0,M10.5.0/3";
        assert_eq!(over(text, berlin).as_deref(), Some("2027-10-31T01:31:00.000Z"));
    }

    #[test]
    fn what_is_no_time_is_not_waited_for() {
        for text in [
            "try again at 2:50",
            "try again at Feb 30th, 2027 2:50 AM.",
            "try again at 25:00 AM",
            "try again at your own risk",
            "try again at the SAME place, and then again, and again, until 2:50 AM",
            "it broke at 2:50 AM",
        ] {
            assert_eq!(over(text, "UTC0"), None, "{text}");
        }
    }
}
