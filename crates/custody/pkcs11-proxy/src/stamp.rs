//! Times as text, without making the date anew for each record of a second.

use keywright_clock::WallTime;

/// RFC 3339 in UTC with nanoseconds.
#[derive(Default)]
pub(crate) struct Stamp {
    /// The second that the date and time of day in the text stand for, and one more.
    known: u64,
    text: String,
}

/// Bytes of `2026-01-31T23:59:59`.
const WHOLE: usize = 19;

impl Stamp {
    /// Takes a time.
    pub(crate) fn set(&mut self, wall: WallTime) {
        let second = wall.unix_seconds().saturating_add(1);
        if second != self.known {
            self.text = wall.rfc3339();
            self.known = second;
        }
        self.text.truncate(WHOLE);
        let mut rest = wall.unix_nanos() % 1_000_000_000;
        let mut digits = [b'0'; 9];
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + u8::try_from(rest % 10).unwrap_or_default();
            rest /= 10;
        }
        self.text.push('.');
        self.text.extend(digits.map(char::from));
        self.text.push('Z');
    }

    /// The time that was taken last.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_nine_digits_behind_its_second() {
        let mut stamp = Stamp::default();
        for (nanos, text) in [
            (0, "1970-01-01T00:00:00.000000000Z"),
            (7, "1970-01-01T00:00:00.000000007Z"),
            (999_999_999, "1970-01-01T00:00:00.999999999Z"),
            (1_000_000_000, "1970-01-01T00:00:01.000000000Z"),
            (1_600_000_000_120_000_000, "2020-09-13T12:26:40.120000000Z"),
            (5, "1970-01-01T00:00:00.000000005Z"),
        ] {
            stamp.set(WallTime::from_unix_nanos(nanos));
            assert_eq!(stamp.text(), text);
        }
    }
}
