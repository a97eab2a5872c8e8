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
fn symbols_are_hidden_but_for_separators() {
    assert_eq!(masked("last4", "!$%&/()=?"), "*********");
    assert_eq!(
        masked("last(0)", "\u{1f600}\u{1f468}\u{200d}\u{1f469}"),
        "****"
    );
    assert_eq!(masked("last(2)", "p-a!s_s"), "*-**s*s");
    assert_eq!(masked("last(0)", "-a-b-"), "**-**");
    assert_eq!(masked("last(0)", "a--b"), "****");
    assert_eq!(masked("first(3)", "ada@example.org"), "ada********.***");
    assert_eq!(masked("last(0)", "e\u{301}\u{a0}x"), "****");
    assert_eq!(masked("last(2)", "12:34"), "**:34");
}

#[test]
fn recorded_masks_keep_their_meaning() {
    for text in [
        "last(4)",
        "first(6)",
        "ends(6, 4)",
        "last@2(4)",
        "ends@2(1, 1)",
        "null",
        "hash",
        "truncate(4)",
    ] {
        assert_eq!(Mask::parse_recorded(text).unwrap().to_string(), text);
    }
    let recorded = Masker::new(Mask::parse_recorded("last(1)").unwrap()).unwrap();
    let mut out = Vec::new();
    recorded.apply(b"+49 (30)", &mut out);
    assert_eq!(out, b"+** (*0)");
    assert_eq!(masked("last@1(0)", "!$%"), "!$%");
    for text in [
        "last@3(4)",
        "last@0(4)",
        "null@1",
        "hash@2",
        "truncate@1(4)",
    ] {
        assert!(
            Mask::parse(text).is_err() && Mask::parse_recorded(text).is_err(),
            "{text}"
        );
    }
}

#[test]
fn bytes_that_are_no_text_do_not_come_through() {
    let masker = Masker::new(Mask::parse("last(1)").unwrap()).unwrap();
    let mut out = Vec::new();
    masker.apply(b"ab\xffcd", &mut out);
    assert_eq!(String::from_utf8(out).unwrap(), "****d");
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
