//! A run's start as a text whose order is that of time.
//!
//! RFC 3339 in UTC sorts as text but for its fraction, whose length is free. With the fraction always nine
//! digits long it sorts altogether. Finer parts of a second than nanoseconds are cut.

use super::HistoryError;

/// `YYYY-MM-DDTHH:MM:SS`, digits marked with 0.
const SHAPE: &str = "0000-00-00T00:00:00";

/// The start, of one length, without the sign for UTC.
pub(super) fn sortable(started: &str) -> Result<String, HistoryError> {
    read(started).ok_or(HistoryError::MalformedStart)
}

fn read(started: &str) -> Option<String> {
    let local = ["Z", "z", "+00:00"]
        .into_iter()
        .find_map(|utc| started.strip_suffix(utc))?;
    let (whole, fraction) = local.split_at_checked(SHAPE.len())?;
    let fits = |(found, shape): (u8, u8)| match shape {
        b'0' => found.is_ascii_digit(),
        b'T' => matches!(found, b'T' | b't' | b' '),
        sign => found == sign,
    };
    if !whole.bytes().zip(SHAPE.bytes()).all(fits) {
        return None;
    }
    let digits = match fraction.strip_prefix('.') {
        Some(digits) if !digits.is_empty() => digits,
        None if fraction.is_empty() => "",
        _ => return None,
    };
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = digits.get(..9).unwrap_or(digits);
    let (day, time) = (whole.get(..10)?, whole.get(11..)?);
    Some(format!("{day}T{time}.{digits:0<9}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_moments_is_that_of_time_whatever_the_length_of_the_fraction() {
        let starts = [
            "2025-12-31T23:59:59.999999999999Z",
            "2026-01-01T00:00:00Z",
            "2026-01-01t00:00:00.000000001+00:00",
            "2026-01-01T00:00:00.05Z",
            "2026-01-01 00:00:00.1z",
            "2026-01-01T00:00:00.11Z",
            "2026-01-01T00:00:01Z",
        ];
        let moments: Vec<String> = starts.iter().map(|text| sortable(text).unwrap()).collect();
        assert!(
            moments.windows(2).all(|pair| pair[0] < pair[1]),
            "{moments:?}"
        );
        assert!(moments.iter().all(|moment| moment.len() == 29));
    }

    #[test]
    fn what_is_no_time_in_utc_has_no_place() {
        for text in [
            "",
            "Z",
            "2026-01-01",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00:00+01:00",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00.1x2Z",
            "2026-01-01T00:00:00,5Z",
            "2026-01-01X00:00:00Z",
            "2026-1-01T00:00:000Z",
            "2026-01-01T00:00:0\u{e9}Z",
            "yesterday",
        ] {
            assert_eq!(sortable(text), Err(HistoryError::MalformedStart), "{text}");
        }
    }
}
