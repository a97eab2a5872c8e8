//! Sets too large to count out: values that follow each other have tokens of their own, which come back, and of
//! which every place takes all its symbols about as often.

use std::collections::{BTreeMap, BTreeSet};

use crate::builtins::carded;
use crate::scene::{strict, tokens};

const VALUES: usize = 6_000;

/// Places of a token, and how many symbols each has.
type Places = &'static [(std::ops::Range<usize>, usize)];

fn hold(text: &str, places: Places, value: impl Fn(usize) -> String) {
    let key = strict(text);
    let values: Vec<String> = (0..VALUES).map(value).collect();
    let made = tokens(&key, &values);
    let different: BTreeSet<&String> = made.iter().collect();
    assert_eq!(different.len(), VALUES, "{text}: two values have one token");
    for (range, symbols) in places {
        for place in range.clone() {
            let mut counts = BTreeMap::<u8, usize>::new();
            for token in &made {
                *counts.entry(token.as_bytes()[place]).or_default() += 1;
            }
            assert!(counts.len() <= *symbols, "{text} {place}: {counts:?}");
            assert_uniform(&counts, *symbols, &format!("{text}, place {place}"));
        }
    }
}

/// Chi-squared within six standard deviations of what it is expected to be. Keys are fixed, so it passes always or
/// never.
fn assert_uniform(counts: &BTreeMap<u8, usize>, symbols: usize, what: &str) {
    let expected = VALUES as f64 / symbols as f64;
    let seen: f64 = counts
        .values()
        .map(|count| (*count as f64 - expected).powi(2) / expected)
        .sum();
    let missing = (symbols - counts.len()) as f64 * expected;
    let freedom = symbols as f64 - 1.0;
    let limit = freedom + 6.0 * (2.0 * freedom).sqrt();
    assert!(seen + missing < limit, "{what}: {}", seen + missing);
}

#[test]
fn places_of_digits_and_letters_take_all_their_symbols_alike() {
    hold("digit(16)", &[(0..16, 10)], |row| format!("{row:016}"));
    hold("upper(4) digit(5)", &[(0..4, 26), (4..9, 10)], |row| {
        format!("AAAA{row:05}")
    });
    hold("lower(12)", &[(0..12, 26)], |row| {
        let letters: Vec<char> = ('a'..='z').collect();
        let digit = |place: u32| letters[row / 26_usize.pow(place) % 26];
        (0..12).map(|place| digit(11 - place)).collect()
    });
}

#[test]
fn cards_and_accounts_do_too() {
    hold("card", &[(0..15, 10)], |row| carded(&format!("4{row:014}")));
    hold(
        "iban(country=FR)",
        &[(4..14, 10), (14..25, 36), (25..27, 10)],
        |row| {
            (2..99)
                .map(|check| format!("FR{check:02}{row:010}0500013M02606"))
                .find(|text| crate::validators::iban(text, 27))
                .unwrap()
        },
    );
    hold("iban(country=DE)", &[(4..22, 10)], |row| {
        (2..99)
            .map(|check| format!("DE{check:02}{row:018}"))
            .find(|text| crate::validators::iban(text, 22))
            .unwrap()
    });
}

#[test]
fn identifiers_and_numbers_do_too() {
    hold(
        "uuid(version=4)",
        &[
            (0..8, 16),
            (9..13, 16),
            (15..18, 16),
            (19..20, 4),
            (20..23, 16),
            (24..36, 16),
        ],
        |row| format!("00000000-0000-4000-8000-{row:012x}"),
    );
    hold(
        "int(min=0, max=9999999999, width=10)",
        &[(0..10, 10)],
        |row| format!("{row:010}"),
    );
    hold("mac", &[(3..5, 16), (6..8, 16), (15..17, 16)], |row| {
        let byte = |place: u32| row >> (8 * place) & 0xff;
        format!("00:00:00:00:{:02x}:{:02x}", byte(1), byte(0))
    });
}
