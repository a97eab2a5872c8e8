//! Names of time zones: free text within a type, which cannot be left out.

/// The names of the time zone database of 2026, a line each, in their order. Others are searched for values.
const NAMES: &str = include_str!("zones.txt");

/// Whether a text is a name that the database has, or an offset such as +02:00: it need not be searched.
pub(crate) fn is_zone(text: &str) -> bool {
    is_offset(text) || NAMES.lines().any(|name| name == text)
}

fn is_offset(text: &str) -> bool {
    let digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    match text.as_bytes() {
        [b'+' | b'-', hours @ .., b':', a, b] => {
            hours.len() == 2 && digits(hours) && digits(&[*a, *b])
        }
        [b'Z'] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_told_from_other_texts() {
        for zone in [
            "UTC",
            "Europe/Berlin",
            "America/Argentina/Buenos_Aires",
            "+02:00",
            "-11:30",
            "Z",
        ] {
            assert!(is_zone(zone), "{zone}");
        }
        for text in [
            "",
            "Smith",
            "Europe/Smith",
            "4111111111111111",
            "+1234",
            "02:00",
            "+2:000",
            "é",
        ] {
            assert!(!is_zone(text), "{text}");
        }
    }
}
