//! `keywright format`: what it says of formats and files, and that it never repeats a value.

use crate::program::{Folder, keywright};

#[test]
fn the_list_has_every_built_in_with_an_example_and_its_bits() {
    let text = keywright(&["format", "list"]).text();
    for name in [
        "card", "ssn", "iban", "phone", "email", "date", "uuid", "ipv6", "mac", "postal", "text",
    ] {
        assert!(
            text.lines().any(|line| line.starts_with(name)),
            "{name}: {text}"
        );
    }
    let document = keywright(&["format", "list", "--format", "json"]).document();
    assert_eq!(
        document["formats"][0]["format"],
        r#"card@1(length=13..19, keep=none, luhn=keep, delims=" -")"#
    );
    assert_eq!(document["items"][0], "digit");
}

#[test]
fn a_format_is_described_with_its_domain_and_what_the_floor_says() {
    let document = keywright(&["format", "describe", "ssn", "--format", "json"]).document();
    assert_eq!(document["domain"], "888931098");
    assert_eq!(
        (&document["radix"], &document["digits"]),
        (&29_815.into(), &2.into())
    );
    assert_eq!(document["walks"], true);
    let text = keywright(&["format", "describe", "card(keep=bin6-last4, length=16)"]).text();
    assert!(
        text.contains("100000 values") && text.contains("small_domain"),
        "{text}"
    );
    let text = keywright(&["format", "describe", "int(min=0, max=50)"]).text();
    assert!(text.contains("never accepted"), "{text}");
}

#[test]
fn a_text_that_is_no_format_is_refused_with_its_column() {
    let text = keywright(&["format", "describe", "phone"]).text();
    assert!(text.contains("libphonenumber 9."), "{text}");
    assert!(
        text.contains("small_domain") && text.contains(" +290 "),
        "{text}"
    );
    let refused = keywright(&["format", "describe", "card(keep=bin7)"]);
    refused.refused(2, "line 1, column 11", "keywright format list");
    keywright(&["format", "describe", "kard"]).refused(2, "unknown name", "docs/format.md");
}

#[test]
fn a_file_is_held_against_its_rules_without_repeating_a_value() {
    let folder = Folder::new();
    let file = folder.write(
        "people.csv",
        "id,card,born\n1,4111111111111111,1960-01-30\n2,4111111111111112,\n3,,1983-13-01\n",
    );
    let rules = folder.write(
        "rules.toml",
        "version = 1\n[[column]]\nname = \"card\"\nformat = \"card\"\n\
         [[column]]\nname = \"born\"\nformat = \"date\"\n",
    );
    let ended = keywright(&["format", "check", &file, "--rules", &rules]);
    assert_eq!(ended.code, 3, "{ended:?}");
    let text = String::from_utf8(ended.stdout).unwrap();
    assert!(text.contains("card: row 2: check digit wrong"), "{text}");
    assert!(text.contains("born: row 3: out of range"), "{text}");
    for value in ["4111111111111112", "1983-13-01", "1960-01-30"] {
        assert!(!text.contains(value), "{text}");
    }
}

#[test]
fn columns_without_rules_get_suggestions() {
    let folder = Folder::new();
    let file = folder.write(
        "people.csv",
        "card,when,odd\n4111111111111111,1960-01-30,\"<\u{1}>\"\n",
    );
    let document = keywright(&["format", "check", &file, "--format", "json"]).document();
    let first = |column: usize| document["columns"][column]["formats"][0]["format"].as_str();
    assert!(
        first(0).is_some_and(|format| format.starts_with("card@1")),
        "{document}"
    );
    assert!(
        first(1).is_some_and(|format| format.starts_with("date@1")),
        "{document}"
    );
    assert_eq!(first(2), None);
}

#[test]
fn wrong_rules_files_and_columns_are_refused() {
    let folder = Folder::new();
    let file = folder.write("people.csv", "card\n4111111111111111\n");
    let missing = folder.write(
        "missing.toml",
        "version = 1\n[[column]]\nname = \"pan\"\nformat = \"card\"\n",
    );
    keywright(&["format", "check", &file, "--rules", &missing]).refused(2, "pan", "header");
    let broken = folder.write(
        "broken.toml",
        "version = 1\n[[column]]\nname = \"card\"\nformat = \"card(\"\n",
    );
    keywright(&["format", "check", &file, "--rules", &broken]).refused(
        2,
        "line 4, column 16",
        "docs/format.md",
    );
    keywright(&["format", "check", &folder.name("none.csv")]).refused(1, "none.csv", "exists");
}
