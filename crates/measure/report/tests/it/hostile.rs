//! Foreign bytes and foreign names.

use keywright_report::exports::{Profile, seed};
use keywright_report::json::{Layout, read, render};
use keywright_report::text::{Detail, Settings};
use keywright_report::{Style, html, text};

use crate::documents::{HOSTILE, hostile, rich};

/// A small generator of numbers that is the same everywhere.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(below.max(1)).unwrap()).unwrap()
    }
}

/// One to four bytes changed, cut out, doubled or put in; often ones that mean something in JSON.
fn mutated(good: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    const TELLING: &[u8] = b"{}[]\",:0-9eE.+nulltruefalse\\\x00\xff ";
    let mut bytes = good.to_vec();
    for _ in 0..=numbers.next(3) {
        let at = numbers.next(bytes.len());
        let byte = TELLING[numbers.next(TELLING.len())];
        match numbers.next(5) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, byte),
            2 => drop(bytes.drain(at..(at + numbers.next(40)).min(bytes.len()))),
            3 => bytes.extend_from_within(at..(at + numbers.next(40)).min(bytes.len())),
            _ => bytes[at] = byte,
        }
        if bytes.is_empty() {
            return bytes;
        }
    }
    bytes
}

#[test]
fn ten_thousand_damaged_documents_are_read_or_refused() {
    let mut small = rich();
    small.cases.truncate(4);
    for case in &mut small.cases {
        case.blocks.truncate(2);
        case.runs.truncate(1);
    }
    let good = render(&small, Layout::Line).unwrap().into_bytes();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut kept = 0_usize;
    for round in 0..10_000 {
        let bytes = mutated(&good, &mut numbers);
        if let Ok(document) = read(&bytes) {
            kept += 1;
            // What is read must also be printable; every twentieth keeps the test short.
            if round % 20 == 0 {
                assert!(!text::render(&document, Settings::default()).is_empty());
                keywright_report::fuzzing::result(&bytes);
            }
        }
    }
    assert!((1..10_000).contains(&kept), "{kept}");
}

#[test]
fn ten_thousand_damaged_seed_results_are_read_or_refused() {
    let good = seed::json(&rich()).unwrap().into_bytes();
    let mut numbers = Numbers(0x0123_4567_89ab_cdef);
    let read = (0..10_000)
        .filter(|_| seed::read(&mutated(&good, &mut numbers)).is_ok())
        .count();
    assert!((1..10_000).contains(&read), "{read}");
}

#[test]
fn figures_at_the_ends_of_their_types_are_printed_by_every_form() {
    let text_of_extremes = render(&rich(), Layout::Line).unwrap();
    for (figure, extreme) in [
        ("412000", "18446744073709551615"),
        ("120000", "18446744073709551615"),
        ("1000000000", "0"),
        ("30000000000", "18446744073709551615"),
        ("1999.7", "1e308"),
        ("1999.7", "5e-324"),
        ("1999.7", "-1e308"),
    ] {
        let bytes = text_of_extremes.replace(&format!(":{figure},"), &format!(":{extreme},"));
        assert_ne!(bytes, text_of_extremes, "{figure}");
        let document = read(bytes.as_bytes()).unwrap();
        for detail in [Detail::Brief, Detail::Normal, Detail::Verbose] {
            assert!(
                !text::render(&document, Settings::new(Style::Plain, detail)).contains("NaN"),
                "{figure}"
            );
        }
        let page = html::render(&document);
        assert!(
            !page.contains("NaN") && page.len() < html::LIMIT,
            "{figure} {extreme}"
        );
        for profile in Profile::ALL {
            assert!(
                !profile.render(&document).unwrap().contains("NaN"),
                "{figure} {profile}"
            );
        }
    }
}

#[test]
fn foreign_names_cannot_move_a_cursor_or_turn_a_line() {
    let document = hostile(HOSTILE);
    for detail in [Detail::Brief, Detail::Normal, Detail::Verbose] {
        let text = text::render(&document, Settings::new(Style::Plain, detail));
        for c in text.chars().filter(|c| *c != '\n') {
            assert!(!c.is_control() && c != '\u{202e}', "{c:?}");
        }
    }
}
