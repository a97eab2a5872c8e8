//! `phone` against the numbers that libphonenumber publishes as examples.

use std::collections::BTreeMap;

use keywright_format::{FLOOR, Misfit};

use crate::scene::{format, key, misfit, tokens};

/// One for each region and type of number, made by `scripts/phone-plans`.
const EXAMPLES: &str = include_str!("../data/phone-examples.txt");

#[test]
fn every_example_number_round_trips_within_its_plan() {
    let examples: Vec<String> = EXAMPLES.lines().map(str::to_owned).collect();
    assert!(examples.len() > 1_000);
    let checked = format("phone");
    let mut checker = checked.checker();
    for (value, token) in examples.iter().zip(tokens(&key("phone"), &examples)) {
        assert_eq!(value.len(), token.len());
        assert!(checker.check(token.as_bytes()).is_ok(), "{token}");
    }
}

#[test]
fn numbers_that_the_first_revision_refused_fit() {
    for value in [
        "+225 07 12 34 56 78",
        "+229 01 95 12 34 56",
        "+242 06 123 4567",
        "+241 06 03 12 34",
        "+378 0549 886377",
        "+61 1300 975 707",
        "+61 1800 801 920",
        "+1-800-411-1234",
        "+39 06 69812345",
    ] {
        assert!(
            format("phone").checker().check(value.as_bytes()).is_ok(),
            "{value}"
        );
    }
    assert_eq!(misfit("phone@1", "+225 07 12 34 56 78"), Misfit::Excluded);
    assert_eq!(misfit("phone@1", "+1-800-411-1234"), Misfit::Excluded);
}

#[test]
fn numbers_longer_than_their_plan_are_refused() {
    // The longest example of each calling code that the two-digit codes 20 to 69 have.
    let mut longest: BTreeMap<&str, usize> = BTreeMap::new();
    for example in EXAMPLES.lines() {
        if matches!(&example[1..3], "33" | "34" | "45" | "47" | "54" | "65") {
            let length = longest.entry(&example[..3]).or_default();
            *length = example.len().max(*length);
        }
    }
    assert_eq!(longest.len(), 6);
    for (code, length) in longest {
        let value = format!("{code}{}", "8".repeat(15 - code.len() + 1));
        assert!(value.len() > length);
        assert_eq!(misfit("phone", &value), Misfit::Length, "{value}");
    }
}

#[test]
fn the_version_of_the_plans_is_named() {
    let source = format("phone(country=44)").data_source();
    assert!(source.is_some_and(|text| text.starts_with("libphonenumber 9.")));
    assert_eq!(format("card").data_source(), None);
    assert_ne!(format("phone@1").data_source(), source);
}

#[test]
fn small_sets_are_listed() {
    for text in ["phone", "phone(prefix=3)", "phone@1"] {
        let format = format(text);
        let sets = format.small_sets(FLOOR);
        let mut checker = format.checker();
        let mut refused = 0;
        for example in EXAMPLES.lines() {
            let Ok(count) = checker.check(example.as_bytes()) else {
                continue;
            };
            // Of two codes that a number begins with, none is the beginning of the other.
            let listed = sets.iter().any(|set| {
                let digits = example.strip_prefix(&set.beginning);
                digits.is_some_and(|digits| set.lengths.contains(&digits.len()))
            });
            let is_unassigned = text == "phone@1" && !listed;
            assert!(
                is_unassigned || listed == count.is_below(FLOOR.into()),
                "{text}: {example}"
            );
            refused += u32::from(listed);
        }
        // Small sets of the first revision are those of calling codes that it does not know.
        assert!(refused > 0 || text == "phone@1", "{text}");
    }
    let sets = format("phone").small_sets(FLOOR);
    let all: Vec<&str> = sets
        .iter()
        .filter(|set| set.is_all)
        .map(|set| &*set.beginning)
        .collect();
    for code in ["+247", "+290", "+500"] {
        assert!(all.contains(&code), "{all:?}");
    }
    for code in ["+376", "+683", "+690"] {
        assert!(!all.contains(&code) && sets.iter().any(|set| set.beginning == code));
    }
    let one = format("phone(country=290)").small_sets(FLOOR);
    assert_eq!(
        (one.len(), &*one[0].beginning, one[0].is_all),
        (1, "+290", true)
    );
    assert_eq!(format("phone(country=33)").small_sets(FLOOR), []);
    assert_eq!(format("card").small_sets(FLOOR), []);
}
