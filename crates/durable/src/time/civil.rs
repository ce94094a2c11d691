//! The one shape in which instants are stored, `2026-11-30T09:00:00.000Z`,
//! without a library: every line of a log has such a text. All other shapes
//! are left to one.

/// Days from 0000-03-01 to 1970-01-01. A year that begins in March ends with
/// its leap day.
const EPOCH: i64 = 719_468;

const DAY: i64 = 86_400_000;

/// The days of 400 years, after which the calendar repeats itself.
const ERA: i64 = 146_097;

/// The text of an instant between 1970 and 9999, in milliseconds since 1970.
pub(super) fn write(millis: i64) -> [u8; 24] {
    let (days, mut rest) = (millis.div_euclid(DAY), millis.rem_euclid(DAY));
    let (year, month, day) = date(days);
    let mut text = *b"0000-00-00T00:00:00.000Z";
    digits(&mut text[0..4], year);
    digits(&mut text[5..7], month);
    digits(&mut text[8..10], day);
    for (place, unit) in [(11..13, 3_600_000), (14..16, 60_000), (17..19, 1000), (20..23, 1)] {
        digits(&mut text[place], rest / unit);
        rest %= unit;
    }
    text
}

/// The instant of a text that [`write`] gives; nothing for any other text,
/// and none of the last year, which ends early.
pub(super) fn read(text: &[u8]) -> Option<i64> {
    const SHAPE: &[u8; 24] = b"0000-00-00T00:00:00.000Z";
    let text: &[u8; 24] = text.try_into().ok()?;
    let fits = |(byte, shape): (&u8, &u8)| match shape {
        b'0' => byte.is_ascii_digit(),
        _ => byte == shape,
    };
    if !text.iter().zip(SHAPE).all(fits) {
        return None;
    }
    let number = |place: std::ops::Range<usize>| {
        text[place].iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0'))
    };
    let (year, month, day) = (number(0..4), number(5..7), number(8..10));
    let (hour, minute, second) = (number(11..13), number(14..16), number(17..19));
    if !(1970..9999).contains(&year) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let days = days(year, month, day);
    // A day that no month has leads to another one.
    if !(1..=12).contains(&month) || date(days) != (year, month, day) {
        return None;
    }
    Some(((days * 24 + hour) * 60 + minute) * 60_000 + second * 1000 + number(20..23))
}

/// The year, month and day that begin so many days after 1970 did.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + EPOCH;
    let (era, day) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    let leaps = day / 1460 - day / 36_524 + day / (ERA - 1);
    let year = (day - leaps) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // Five months from March on have 153 days, and so have the next five.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let year = era * 400 + year;
    if month < 10 { (year, month + 3, day) } else { (year + 1, month - 9, day) }
}

/// The days from 1970-01-01 to a date.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let before = of_era * 365 + of_era / 4 - of_era / 100;
    era * ERA + before + (153 * month + 2) / 5 + day - 1 - EPOCH
}

fn digits(place: &mut [u8], mut number: i64) {
    for digit in place.iter_mut().rev() {
        *digit = b'0' + u8::try_from(number.rem_euclid(10)).expect("a digit is less than ten");
        number /= 10;
    }
}
