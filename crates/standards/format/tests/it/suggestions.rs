//! Suggestions for a sampled column.

use keywright_format::{Cells, suggest};

fn first(values: &[&str]) -> Option<String> {
    let bytes = values.concat();
    let mut offsets = vec![0];
    for value in values {
        offsets.push(offsets.last().unwrap() + value.len());
    }
    let found = suggest(Cells::offsets(bytes.as_bytes(), &offsets).unwrap());
    for suggestion in &found {
        assert!(suggestion.fits <= suggestion.of && suggestion.fits * 10 >= suggestion.of * 9);
        // Nothing of a value is in a suggestion.
        let text = suggestion.format.canonical();
        assert!(
            values
                .iter()
                .all(|value| value.len() < 5 || !text.contains(value)),
            "{text}"
        );
    }
    found.first().map(|suggestion| {
        let text = suggestion.format.canonical();
        text.split('@').next().unwrap_or_default().to_owned()
    })
}

#[test]
fn columns_are_recognised_by_their_values() {
    for (values, expected) in [
        (&["4111111111111111", "5500000000000004", ""][..], "card"),
        (
            &["DE89370400440532013000", "GB29NWBK60161331926819"],
            "iban",
        ),
        (&["078-05-1120", "123-45-6789"], "ssn"),
        (&["939-46-6249", "966-45-3030"], "pattern"),
        (&["ada@example.com", "a.turing@example.org"], "email"),
        (&["+1-808-555-0170", "+44 7700 900473"], "phone"),
        (&["1960-01-30", "1983-07-19"], "date"),
        (&["11519.96", "-3.50"], "decimal"),
        (&["17", "4", "123456"], "int"),
        (&["f81d4fae-7dec-41d0-a765-00a0c91e6bf6"], "uuid"),
        (&["192.0.2.1", "10.0.0.1"], "ipv4"),
        (&["ABC-1234", "XYZ-0000"], "pattern"),
        (&["K1A 0B1", "V6T 1Z4"], "postal"),
        (&["García", "O'Neill", "Park"], "text"),
    ] {
        assert_eq!(first(values).as_deref(), Some(expected), "{values:?}");
    }
}

#[test]
fn nothing_is_suggested_for_nothing_or_for_what_nothing_fits() {
    assert_eq!(first(&[]), None);
    assert_eq!(first(&["", ""]), None);
    assert_eq!(first(&["a\u{7}b", "3 < 4", "№ 7", "x_y"]), None);
}
