//! Times in logs: RFC 3339 of the recorder, and local times of the spy.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// The zone in which a log without zones was written.
#[derive(Clone, Debug)]
pub struct Zone {
    zone: TimeZone,
    name: String,
}

/// A zone that nobody knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no time zone")]
#[expect(
    clippy::exhaustive_structs,
    reason = "what was asked for is all there is"
)]
pub struct ZoneError(pub String);

impl Default for Zone {
    fn default() -> Self {
        Self {
            zone: TimeZone::UTC,
            name: "utc".to_owned(),
        }
    }
}

impl Zone {
    /// A zone that the caller has found, with what it is to be called.
    #[must_use]
    pub fn new(zone: TimeZone, name: impl Into<String>) -> Self {
        Self {
            zone,
            name: name.into(),
        }
    }

    /// By its name in the zone database, as `Europe/Berlin`; `utc`; or an offset, as `+02:00`.
    ///
    /// # Errors
    /// [`ZoneError`] if it is none of them.
    pub fn named(name: &str) -> Result<Self, ZoneError> {
        let zone = match name {
            "utc" | "UTC" | "Z" => Some(TimeZone::UTC),
            _ => offset(name).or_else(|| TimeZone::get(name).ok()),
        };
        zone.map(|zone| Self::new(zone, name))
            .ok_or_else(|| ZoneError(name.to_owned()))
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Nanoseconds since 1970 of a local time `YYYY-MM-DD HH:MM:SS.mmm`. Of an hour that came twice, the first.
    pub(crate) fn read(&self, text: &[u8]) -> Option<i128> {
        let (civil, nanos) = civil(text)?;
        let zoned = civil.to_zoned(self.zone.clone()).ok()?;
        Some(zoned.timestamp().as_nanosecond() + i128::from(nanos))
    }
}

/// `+HH:MM`, with or without the colon.
fn offset(text: &str) -> Option<TimeZone> {
    let (sign, rest) = match text.as_bytes() {
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let digits: Vec<u8> = rest.iter().copied().filter(|byte| *byte != b':').collect();
    let [a, b, c, d] = digits.as_slice() else {
        return None;
    };
    let (hours, minutes) = (number(&[*a, *b])?, number(&[*c, *d])?);
    if hours > 25 || minutes > 59 {
        return None;
    }
    let seconds = sign * i32::try_from(hours * 3600 + minutes * 60).ok()?;
    Some(jiff::tz::Offset::from_seconds(seconds).ok()?.to_time_zone())
}

fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 9 {
        return None;
    }
    digits.iter().try_fold(0, |all, digit| {
        digit
            .is_ascii_digit()
            .then(|| all * 10 + u64::from(digit - b'0'))
    })
}

/// Date, `T` or a blank, time, and the nanoseconds behind the point.
fn civil(text: &[u8]) -> Option<(DateTime, u64)> {
    let (head, rest) = text.split_at_checked(19)?;
    let nanos = match rest {
        [] => 0,
        [b'.', digits @ ..] if digits.len() <= 9 => {
            let scale = u32::try_from(9 - digits.len()).ok()?;
            number(digits)? * 10_u64.pow(scale)
        }
        _ => return None,
    };
    let [y @ .., _, _, _, _, _, _, _, _, _, _, _, _, _, _, _] = head else {
        return None;
    };
    let part = |from: usize, to: usize| number(head.get(from..to)?);
    let marks = (
        head.get(4)?,
        head.get(7)?,
        head.get(10)?,
        head.get(13)?,
        head.get(16)?,
    );
    if !matches!(marks, (b'-', b'-', b'T' | b't' | b' ', b':', b':')) {
        return None;
    }
    let small = |value: u64| i8::try_from(value).ok();
    let year = i16::try_from(number(y)?).ok()?;
    let date = DateTime::new(
        year,
        small(part(5, 7)?)?,
        small(part(8, 10)?)?,
        small(part(11, 13)?)?,
        small(part(14, 16)?)?,
        small(part(17, 19)?.min(59))?,
        0,
    );
    Some((date.ok()?, nanos))
}

/// Nanoseconds since 1970 of an RFC 3339 time.
pub(crate) fn rfc3339(text: &str) -> Option<i128> {
    let bytes = text.as_bytes();
    let at = bytes
        .iter()
        .skip(19)
        .position(|byte| matches!(byte, b'Z' | b'z' | b'+' | b'-'))?;
    let (local, zone) = text.split_at_checked(19 + at)?;
    let (civil, nanos) = civil(local.as_bytes())?;
    let seconds = seconds(civil)? - i64::from(shift(zone)?);
    Some(i128::from(seconds) * 1_000_000_000 + i128::from(nanos))
}

/// Seconds east of UTC.
fn shift(zone: &str) -> Option<i32> {
    match zone {
        "Z" | "z" => Some(0),
        _ => {
            let zone = offset(zone)?;
            Some(zone.to_fixed_offset().ok()?.seconds())
        }
    }
}

/// Seconds since 1970, as if it were UTC: by the count of days of the proleptic calendar.
fn seconds(civil: DateTime) -> Option<i64> {
    let (year, month, day) = (
        i64::from(civil.year()),
        i64::from(civil.month()),
        i64::from(civil.day()),
    );
    let shifted = if month <= 2 { year - 1 } else { year };
    let era = shifted.div_euclid(400);
    let of_era = shifted - era * 400;
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    let of_day =
        i64::from(civil.hour()) * 3600 + i64::from(civil.minute()) * 60 + i64::from(civil.second());
    days.checked_mul(86_400)?.checked_add(of_day)
}

/// As RFC 3339 in UTC, to the millisecond.
pub(crate) fn written(nanos: i128) -> String {
    match jiff::Timestamp::from_nanosecond(nanos) {
        Ok(time) => format!("{time:.3}"),
        Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_both_kinds_are_read_and_what_is_none_is_not() {
        let whole = rfc3339("2026-11-21T02:41:33.721475936Z").unwrap();
        assert_eq!(whole, 1_795_228_893_721_475_936);
        assert_eq!(rfc3339("2026-11-21T04:41:33.721475936+02:00"), Some(whole));
        assert_eq!(rfc3339("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(
            rfc3339("2000-02-29T12:00:00-00:30"),
            Some(951_827_400_000_000_000)
        );
        assert_eq!(written(whole), "2026-11-21T02:41:33.721Z");
        let summer = Zone::named("Europe/Berlin").map(|zone| zone.read(b"2026-07-01 12:00:00.250"));
        if let Ok(summer) = summer {
            assert_eq!(summer, rfc3339("2026-07-01T10:00:00.250Z"));
        }
        let fixed = Zone::named("-0330").unwrap();
        assert_eq!(
            fixed.read(b"2026-07-01 12:00:00.250"),
            rfc3339("2026-07-01T15:30:00.250Z")
        );
        for wrong in [
            "",
            "2026",
            "2026-11-21T02:41:33",
            "2026-13-21T02:41:33Z",
            "2026-11-21T02:41:33.Z",
            "2026-11-21x02:41:33Z",
            "2026-11-21T02:41:33+9999",
            "\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}Z",
        ] {
            assert_eq!(rfc3339(wrong), None, "{wrong}");
        }
        for wrong in [
            "",
            "Nowhere/None",
            "+1",
            "+99:00",
            "+00:60",
            "../etc/passwd",
        ] {
            assert!(Zone::named(wrong).is_err(), "{wrong}");
        }
    }
}
