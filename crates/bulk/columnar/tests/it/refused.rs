//! What a run refuses, and that it leaves nothing then.

use keywright_columnar::{Error, Kind, Table};
use keywright_protect::{Error as Common, Plan, Protection, protection_of};
use std::ops::ControlFlow;

use crate::scene::{KINDS, RULES, Work, batch, contains, keys, whole};

/// Nairobi is too short.
fn rule(on_bad: &str) -> String {
    format!(
        "version = 1\n[[column]]\nname = \"city\"\nformat = \"letter(8..20)\"\non_bad = \"{on_bad}\"\n\
         [[column]]\nname = \"card\"\nformat = \"card\"\n"
    )
}

#[test]
fn values_that_do_not_fit_end_the_run_with_row_and_column() {
    for kind in KINDS {
        let work = Work::new();
        work.write(kind, &[batch(1), batch(119)]);
        let error = work.protect(&rule("fail")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "row 3, column \"city\": wrong length",
            "{kind:?}"
        );
        assert_eq!(work.names(), ["in"], "{kind:?}");
    }
}

#[test]
fn values_that_do_not_fit_become_null() {
    for kind in KINDS {
        let work = Work::new();
        work.write(kind, &[batch(120)]);
        let summary = work.protect(&rule("null")).unwrap();
        let city = summary
            .columns
            .iter()
            .find(|column| column.name == "city")
            .unwrap();
        assert_eq!((city.counts.nulled, summary.rejected), (60, 0), "{kind:?}");
        assert!(!contains(&work.read("out"), "Nairobi"), "{kind:?}");
        let after = whole(&work, "out", kind);
        let nulls = after.column(3).logical_nulls().unwrap();
        assert!(
            (0..120).all(|row| row % 2 == 0 || nulls.is_null(row)),
            "{kind:?}"
        );
        assert_eq!(
            work.names(),
            ["in", "out", "out.protection.json"],
            "{kind:?}"
        );
    }
}

#[test]
fn rows_whose_values_do_not_fit_go_to_a_second_file() {
    for kind in KINDS {
        let work = Work::new();
        work.write(kind, &[batch(120), batch(1), batch(79)]);
        let summary = work.protect(&rule("reject")).unwrap();
        assert_eq!((summary.rows, summary.rejected), (200, 99), "{kind:?}");
        assert_eq!(Kind::of(&work.path("rejects")), Some(kind));
        let names = ["in", "out", "out.protection.json", "rejects"];
        assert_eq!(work.names(), names, "{kind:?}");
        // Rejected rows are as they were; the others, revealed, are the rest.
        let (input, rejects) = (whole(&work, "in", kind), whole(&work, "rejects", kind));
        work.reveal();
        let back = whole(&work, "back", kind);
        assert_eq!(back.schema(), input.schema());
        let rows = |from: &arrow_array::RecordBatch, goes: bool| {
            let odd: Vec<bool> = [120, 1, 79]
                .into_iter()
                .flat_map(|rows| (0..rows).map(|row| row % 2 == 1))
                .map(|odd| odd == goes)
                .collect();
            arrow_select::filter::filter_record_batch(from, &odd.into()).unwrap()
        };
        // Dictionaries may differ in values that no row has.
        let texts = |batch: &arrow_array::RecordBatch| format!("{batch:?}");
        for column in [0, 1, 2, 4, 5] {
            assert_eq!(
                rejects.column(column),
                rows(&input, true).column(column),
                "{kind:?} {column}"
            );
            assert_eq!(
                back.column(column),
                rows(&input, false).column(column),
                "{kind:?} {column}"
            );
        }
        assert!(texts(&rejects).len() > 10);
        assert!(!contains(&work.read("out"), "Nairobi"), "{kind:?}");
    }
}

#[test]
fn columns_of_other_types_and_missing_ones_are_refused() {
    for kind in KINDS {
        let work = Work::new();
        work.write(kind, &[batch(10)]);
        let lists = if kind == Kind::Parquet {
            "tags.list.item"
        } else {
            "tags"
        };
        for (column, is_there) in [("id", true), (lists, true), ("none", false)] {
            let rules =
                format!("version = 1\n[[column]]\nname = \"{column}\"\nformat = \"card\"\n");
            let error = work.protect(&rules).unwrap_err();
            let of_type = matches!(&error, Error::Type { column: named, .. } if named == column);
            assert_eq!(of_type, is_there, "{kind:?} {column}: {error:?}");
        }
        assert_eq!(work.names(), ["in"]);
    }
}

#[test]
fn a_dictionary_cannot_have_a_tweak_for_each_row() {
    let rules = "version = 1\n[[column]]\nname = \"city\"\nformat = \"letter(6..20)\"\ntweak = \"row(id)\"\n";
    let work = Work::new();
    work.write(Kind::ArrowFile, &[batch(10)]);
    let error = work.protect(rules).unwrap_err();
    assert!(matches!(error, Error::DictionaryTweak { .. }), "{error:?}");
    // Parquet has its dictionaries by row group, and they are made anew.
    work.write(Kind::Parquet, &[batch(10)]);
    work.protect(rules).unwrap();
}

#[test]
fn an_output_that_is_there_or_is_the_input_is_refused() {
    let work = Work::new();
    work.write(Kind::ArrowFile, &[batch(10)]);
    std::fs::hard_link(work.path("in"), work.path("out")).unwrap();
    let error = work.protect(RULES).unwrap_err();
    assert!(
        matches!(error, Error::Protect(Common::SameFile { .. })),
        "{error:?}"
    );
    std::fs::remove_file(work.path("out")).unwrap();
    std::fs::write(work.path("out"), b"there").unwrap();
    let error = work.protect(RULES).unwrap_err();
    assert!(
        matches!(error, Error::Protect(Common::Exists { .. })),
        "{error:?}"
    );
    assert_eq!(work.read("out"), b"there");
}

#[test]
fn a_wrong_key_and_a_changed_description_are_refused_before_the_first_row() {
    for kind in KINDS {
        let work = Work::new();
        work.write(kind, &[batch(10)]);
        work.protect(RULES).unwrap();
        let table = Table::open(&work.path("out")).unwrap();
        let text = std::fs::read_to_string(protection_of(&work.path("out"))).unwrap();
        let protection = Protection::parse(text.as_bytes()).unwrap();
        let error = Plan::reveal(table.layout(), &protection, None, &keys_of(4)).unwrap_err();
        assert!(matches!(error, Common::WrongKey { .. }), "{error:?}");
        let changed = text.replace("letter@1", "upper@1");
        let protection = Protection::parse(changed.as_bytes()).unwrap();
        let error = Plan::reveal(table.layout(), &protection, None, &keys()).unwrap_err();
        assert!(matches!(error, Common::ProtectionChanged), "{error:?}");
    }
}

fn keys_of(number: u8) -> keywright_protect::Keys {
    let key = keywright_secret::Secret::from_fill(|key| key.fill(number));
    let key = keywright_protect::ColumnKey::without_id(1, key).unwrap();
    keywright_protect::Keys::none().with_unnamed(key)
}

#[test]
fn migration_gives_the_tokens_of_the_new_key_and_refuses_a_wrong_old_one() {
    for kind in KINDS {
        let work = Work::new();
        work.write(kind, &[batch(300)]);
        work.protect(RULES).unwrap();
        let table = Table::open(&work.path("out")).unwrap();
        let text = std::fs::read(protection_of(&work.path("out"))).unwrap();
        let protection = Protection::parse(&text).unwrap();
        let rules = keywright_format::Rules::parse(RULES).unwrap();
        let (old, new) = (keys(), keys_of(9));
        let origin = keywright_protect::Origin::Here(&protection, &old);
        let plan = Plan::migrate(table.layout(), &origin, &rules, &new).unwrap();
        let files = work.files("moved");
        let go = |plan: &Plan| work.run((&table, plan), &files, &mut |_| ControlFlow::Continue(()));
        go(&plan).unwrap();
        let moved = Table::open(&work.path("moved")).unwrap();
        let text = std::fs::read(protection_of(&work.path("moved"))).unwrap();
        let protection = Protection::parse(&text).unwrap();
        let plan = Plan::reveal(moved.layout(), &protection, None, &new).unwrap();
        let back = work.files("back");
        work.run((&moved, &plan), &back, &mut |_| ControlFlow::Continue(()))
            .unwrap();
        assert_eq!(
            whole(&work, "back", kind),
            whole(&work, "in", kind),
            "{kind:?}"
        );
        // Tokens from elsewhere, under a key that is not theirs, do not become values of the new format.
        let foreign = keywright_protect::Foreign::new(
            keywright_protect::Mode::Ff1,
            keywright_secret::SecretBytes::from_vec(vec![7; 16]),
            b"tweak",
        );
        let was =
            "version = 1\n[[column]]\nname = \"card\"\nformat = \"digit(16)\"\non_bad = \"null\"\n";
        let rules = RULES.replace("format = \"card\"", "format = \"card\"\non_bad = \"null\"");
        let (was, rules) = (keywright_format::Rules::parse(was).unwrap(), rules);
        let only_card = rules
            .split("[[column]]")
            .take(2)
            .collect::<Vec<_>>()
            .join("[[column]]");
        let rules = keywright_format::Rules::parse(&only_card).unwrap();
        let origin = keywright_protect::Origin::Elsewhere(&was, &foreign);
        let plan = Plan::migrate(table.layout(), &origin, &rules, &new).unwrap();
        let again = work.files("again");
        let error = work.run((&table, &plan), &again, &mut |_| ControlFlow::Continue(()));
        let error = error.unwrap_err();
        assert!(
            matches!(error, Error::Protect(Common::OldKey { .. })),
            "{kind:?}: {error:?}"
        );
        assert!(!work.names().iter().any(|name| name.starts_with("again")));
    }
}

#[test]
fn what_is_behind_the_end_of_a_stream_is_refused() {
    let work = Work::new();
    work.write(Kind::ArrowStream, &[batch(3)]);
    let stream = work.read("in");
    for (more, what) in [
        (stream.as_slice(), "another stream"),
        (b"ARROW1\0\0 and more", "an Arrow file"),
        (b"and a text\n", "something that is no part of it"),
        (b"\0", "something that is no part of it"),
    ] {
        std::fs::write(work.path("in"), [&stream, more].concat()).unwrap();
        let error = Table::open(&work.path("in")).unwrap_err();
        let behind = matches!(&error, Error::Behind { at, what: found, .. }
            if *at == stream.len() as u64 && *found == what);
        assert!(behind, "{error:?}");
    }
    std::fs::write(work.path("in"), &stream).unwrap();
    Table::open(&work.path("in")).unwrap();
}
