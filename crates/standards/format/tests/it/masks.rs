//! Masks.

use keywright_format::{Error, Mask, Masker};

use crate::scene::master;

fn masked(mask: &str, value: &str) -> String {
    let masker = Masker::new(Mask::parse(mask).unwrap()).unwrap();
    let mut out = Vec::new();
    masker.apply(value.as_bytes(), &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn ends_stay_and_the_rest_becomes_stars() {
    assert_eq!(
        masked("last4", "4111 1111 1111 1234"),
        "**** **** **** 1234"
    );
    assert_eq!(masked("first6", "4111111111111234"), "411111**********");
    assert_eq!(masked("ends(6, 4)", "4111111111111234"), "411111******1234");
    assert_eq!(masked("last(0)", "Grüße"), "*****");
    assert_eq!(masked("truncate(4)", "1960-01-30"), "1960");
    assert_eq!(masked("fixed(\"-\")", "anything"), "-");
    assert_eq!(masked("null", "anything"), "");
}

#[test]
fn short_values_are_not_shown_whole() {
    assert_eq!(masked("last4", "1234"), "****");
    assert_eq!(masked("last4", "12"), "**");
    assert_eq!(masked("ends(6, 4)", "123456789"), "*********");
    assert_eq!(masked("last4", ""), "");
    assert_eq!(masked("fixed(x)", ""), "");
}

#[test]
fn bytes_that_are_no_text_do_not_come_through() {
    let masker = Masker::new(Mask::parse("last(1)").unwrap()).unwrap();
    let mut out = Vec::new();
    masker.apply(b"ab\xffcd", &mut out);
    assert_eq!(String::from_utf8(out).unwrap(), "**\u{fffd}*d");
}

#[test]
fn hashes_need_a_key_and_differ_by_column() {
    assert!(matches!(Masker::new(Mask::Hash), Err(Error::MaskKey)));
    let hash = |column: &str, value: &str| {
        let masker = Masker::keyed(Mask::Hash, &master(), column).unwrap();
        let mut out = Vec::new();
        masker.apply(value.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    };
    assert_eq!(hash("a", "x").len(), 32);
    assert_eq!(hash("a", "x"), hash("a", "x"));
    assert_ne!(hash("a", "x"), hash("b", "x"));
    assert_ne!(hash("a", "x"), hash("a", "y"));
    assert_ne!(hash("ab", "c"), hash("a", "bc"));
    assert_eq!(hash("a", ""), "");
}
