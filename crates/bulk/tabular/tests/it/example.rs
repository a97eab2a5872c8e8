//! The committed example file is what its generator says, and the columns to protect are found in it.

use std::fs;
use std::path::PathBuf;

use keywright_tabular::csv::{Options, Reader};
use keywright_tabular::detect::{Kind, candidates};

fn example() -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../examples/customers.csv");
    fs::read(path).unwrap()
}

/// Luhn, written apart from the one in the crate.
fn luhn(number: &[u8]) -> bool {
    let sum: u32 = number
        .iter()
        .rev()
        .enumerate()
        .map(|(place, &byte)| {
            let digit = u32::from(byte - b'0') * if place % 2 == 1 { 2 } else { 1 };
            digit / 10 + digit % 10
        })
        .sum();
    sum.is_multiple_of(10)
}

#[test]
fn it_has_ten_thousand_whole_records_and_every_card_passes_luhn() {
    let file = example();
    assert!(file.len() < 1_900_000, "{} bytes", file.len());
    let mut reader = Reader::new(&file[..], &Options::default()).unwrap();
    assert_eq!(
        reader.layout().names(),
        [
            "id",
            "name",
            "email",
            "phone",
            "national_id",
            "card_number",
            "birth_date",
            "balance",
            "note"
        ]
    );
    let card = reader.layout().column("card_number").unwrap();
    let mut rows = 0;
    while let Some(record) = reader.next_record().unwrap() {
        rows += 1;
        let number = record.text(card).unwrap();
        assert!(
            (15..=16).contains(&number.len()) && luhn(&number),
            "line {}",
            record.line()
        );
    }
    assert_eq!(rows, 10_000);
}

#[test]
fn nobody_can_be_reached_or_charged_by_it() {
    let file = example();
    let mut reader = Reader::new(&file[..], &Options::default()).unwrap();
    let columns = reader
        .layout()
        .columns(&["email", "phone", "national_id"])
        .unwrap();
    while let Some(record) = reader.next_record().unwrap() {
        let text = |i: usize| String::from_utf8(record.text(columns[i]).unwrap().into()).unwrap();
        let domain = text(0).split_once('@').unwrap().1.to_owned();
        assert!(
            ["example.com", "example.net", "example.org"].contains(&&*domain),
            "{domain}"
        );
        let phone = text(1);
        let fictional = ["+1-", "+44 7700 900", "+44 20 7946 0"]
            .iter()
            .any(|p| phone.starts_with(p));
        let american = !phone.starts_with("+1-") || phone[7..].starts_with("555-01");
        assert!(fictional && american, "{phone}");
        let area: u32 = text(2)[..3].parse().unwrap();
        assert!(
            area == 0 || area == 666 || (900..1000).contains(&area),
            "{area}"
        );
    }
}

#[test]
fn it_has_the_quoting_that_makes_csv_hard() {
    let file = String::from_utf8(example()).unwrap();
    for odd in ["\"\"", ",\"", "\"\n", "\r\n", "ß", "東"] {
        assert!(file.contains(odd), "{odd:?}");
    }
    let mut reader = Reader::new(file.as_bytes(), &Options::default()).unwrap();
    let note = reader.layout().column("note").unwrap();
    let (mut lines, mut commas) = (0, 0);
    while let Some(record) = reader.next_record().unwrap() {
        let text = record.text(note).unwrap();
        lines += usize::from(text.contains(&b'\n'));
        commas += usize::from(text.contains(&b','));
    }
    assert!(lines > 100 && commas > 100, "{lines} {commas}");
}

#[test]
fn the_sensitive_columns_are_found_and_the_others_are_not() {
    let file = example();
    let mut reader = Reader::new(&file[..], &Options::default()).unwrap();
    let sample = reader.sample(200).unwrap();
    let found: Vec<(String, Kind)> = candidates(reader.layout(), &sample)
        .iter()
        .map(|candidate| (candidate.name().to_owned(), candidate.kind()))
        .collect();
    let expected = [
        ("name", Kind::Name),
        ("email", Kind::Email),
        ("phone", Kind::Phone),
        ("national_id", Kind::NationalId),
        ("card_number", Kind::Card),
        ("birth_date", Kind::BirthDate),
    ];
    assert_eq!(found, expected.map(|(name, kind)| (name.to_owned(), kind)));
}
