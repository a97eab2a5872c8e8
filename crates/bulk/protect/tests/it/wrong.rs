//! Wrong keys, edited descriptions, edited rules, and rules that cannot be carried out.

use std::os::unix::fs::PermissionsExt as _;

use keywright_protect::{Error, Keys, Plan, Protection, protection_of};
use keywright_tabular::csv::{Options, Reader};

use crate::table::{PEOPLE, Table, go_on, key, keys, options, people, rules};

fn protected() -> Table {
    let table = Table::new(people(20).as_bytes());
    table.protect(&rules(&PEOPLE)).unwrap();
    table
}

#[test]
fn a_wrong_key_is_refused_before_a_file_is_made() {
    let table = protected();
    let before = table.names();
    let error = table.reveal(None, &keys(2)).unwrap_err();
    assert!(matches!(error, Error::WrongKey { .. }), "{error:?}");
    let error = table.reveal(None, &Keys::none()).unwrap_err();
    assert!(matches!(error, Error::NoKey { .. }), "{error:?}");
    assert_eq!(table.names(), before);
}

#[test]
fn every_edit_of_the_description_is_noticed() {
    let table = protected();
    let text = table.text("out.csv.protection.json");
    let edits = [
        ("keep=none", "keep=last4"),
        ("\"column\"", "\"column constant(x)\""),
        ("aes-256", "aes-128"),
        ("0001-01-01", "0001-01-02"),
        ("\"version\": 1", "\"version\": 2"),
        ("\"small_domain\": false", "\"small_domain\": true"),
        ("\"name\": \"born\"", "\"name\": \"note\""),
    ];
    for (old, new) in edits {
        assert!(text.contains(old), "{old} is not in {text}");
        for edited in [text.replacen(old, new, 1), text.replace(old, new)] {
            std::fs::write(protection_of(&table.path("out.csv")), edited).unwrap();
            let error = table.reveal(None, &keys(1)).unwrap_err();
            let noticed = matches!(error, Error::ProtectionChanged | Error::WrongKey { .. });
            assert!(noticed, "{old}: {error:?}");
        }
    }
    let document: Vec<&str> = text.split("    {").collect();
    let swapped = [document[0], document[2], document[1]].join("    {");
    assert!(Protection::parse(swapped.as_bytes()).is_err());
}

#[test]
fn rules_that_are_not_those_of_the_file_are_refused() {
    let table = protected();
    let last4 = "name = \"card\"\nformat = \"card\"\nkeep = \"last4\"";
    let other = "name = \"card\"\nformat = \"card\"\ntweak = \"constant(x)\"";
    for columns in [
        vec![PEOPLE[0]],
        vec![last4, PEOPLE[1]],
        vec![other, PEOPLE[1]],
        vec![PEOPLE[0], PEOPLE[1], "name = \"note\"\nmask = \"null\""],
    ] {
        let error = table.reveal(Some(&rules(&columns)), &keys(1)).unwrap_err();
        assert!(matches!(error, Error::RulesChanged { .. }), "{error:?}");
    }
    let swapped = rules(&[PEOPLE[1], PEOPLE[0]]);
    table.reveal(Some(&swapped), &keys(1)).unwrap();
    assert!(table.read("back.csv") == table.read("in.csv"));
}

#[test]
fn what_is_revealed_is_for_its_owner_alone() {
    let table = protected();
    table.reveal(None, &keys(1)).unwrap();
    let mode = |name: &str| table.path(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("back.csv"), 0o600);
    assert!(
        !table
            .names()
            .contains(&"back.csv.protection.json".to_owned())
    );
}

#[test]
fn columns_have_keys_of_their_own() {
    let table = Table::new(people(20).as_bytes());
    let both = rules(&[
        "name = \"card\"\nformat = \"card\"\nkey = \"payments\"",
        PEOPLE[1],
    ]);
    let source = table.open("in.csv");
    let named = |card, rest| {
        Keys::none()
            .with_named("payments", key(card))
            .with_unnamed(key(rest))
    };
    let plan = Plan::protect(source.layout(), &both, &named(7, 1)).unwrap();
    let files = table.files("out.csv");
    keywright_protect::run(&source, &plan, &files, &options(2), &mut go_on).unwrap();
    let wrong = [
        (named(8, 1), "card"),
        (named(7, 2), "born"),
        (named(1, 7), "card"),
    ];
    for (keys, of) in &wrong {
        match table.reveal(None, keys) {
            Err(Error::WrongKey { column }) => assert_eq!(column, *of),
            other => panic!("{other:?}"),
        }
    }
    let error = table.reveal(None, &keys(1)).unwrap_err();
    assert!(matches!(error, Error::NoKey { .. }), "{error:?}");
    table.reveal(None, &named(7, 1)).unwrap();
    assert!(table.read("back.csv") == table.read("in.csv"));
    let ids: Vec<_> = plan
        .protection()
        .unwrap()
        .keys()
        .map(|(column, id, _)| (column, id.len()))
        .collect();
    assert_eq!(ids, [("card", 32), ("born", 32)]);
}

fn refused(columns: &[&str]) -> Error {
    let reader = Reader::new(&b"id,card,born,note\n"[..], &Options::default()).unwrap();
    Plan::protect(reader.layout(), &rules(columns), &keys(1)).unwrap_err()
}

/// Rules, and how their error is told.
type Case<'a> = (&'a [&'a str], fn(&Error) -> bool);

#[test]
fn rules_that_cannot_be_carried_out_are_refused() {
    let cases: [Case<'_>; 6] = [
        (&["name = \"pan\"\nformat = \"card\""], |error| {
            matches!(
                error,
                Error::Table(keywright_tabular::Error::UnknownColumn { .. })
            )
        }),
        (
            &["name = \"card\"\nformat = \"card\"\ntweak = \"row(key)\""],
            |error| {
                matches!(
                    error,
                    Error::Table(keywright_tabular::Error::UnknownColumn { .. })
                )
            },
        ),
        (
            &[
                "name = \"card\"\nformat = \"card\"\ntweak = \"row(born)\"",
                PEOPLE[1],
            ],
            |error| matches!(error, Error::TweakColumn { column, other } if column == "card" && other == "born"),
        ),
        (
            &["name = \"card\"\nformat = \"card\"\ntweak = \"caller\""],
            |error| matches!(error, Error::CallerTweak { .. }),
        ),
        (
            &["name = \"card\"\nformat = \"card\"\ntweak = \"none\""],
            |error| matches!(error, Error::Rule { .. }),
        ),
        (
            &["name = \"born\"\nformat = \"date(from=1900-01-01, to=2099-12-31)\""],
            |error| {
                matches!(
                    error,
                    Error::Rule {
                        source: keywright_format::Error::SmallDomain { .. },
                        ..
                    }
                )
            },
        ),
    ];
    for (columns, expected) in cases {
        let error = refused(columns);
        assert!(expected(&error), "{columns:?}: {error:?}");
    }
}

#[test]
fn a_file_that_is_only_masked_needs_no_key_and_has_nothing_to_reveal() {
    let table = Table::new(people(4).as_bytes());
    let masked = rules(&["name = \"card\"\nmask = \"last4\""]);
    let source = table.open("in.csv");
    let plan = Plan::protect(source.layout(), &masked, &Keys::none()).unwrap();
    keywright_protect::run(
        &source,
        &plan,
        &table.files("out.csv"),
        &options(1),
        &mut go_on,
    )
    .unwrap();
    let error = table.reveal(None, &Keys::none()).unwrap_err();
    assert!(matches!(error, Error::NothingToDo), "{error:?}");
    let hashed = rules(&["name = \"card\"\nmask = \"hash\""]);
    let error = Plan::protect(source.layout(), &hashed, &Keys::none()).unwrap_err();
    assert!(matches!(error, Error::NoKey { .. }), "{error:?}");
}
