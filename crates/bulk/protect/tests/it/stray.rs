//! Quotes that quote nothing: they never hide rows with values in them.

use std::ops::ControlFlow;

use keywright_format::Rules;
use keywright_mutate::SplitMix;
use keywright_protect::{Ambiguity, Error, Plan, Protection, protection_of};
use keywright_tabular::Error as TableError;
use keywright_tabular::csv::Quoting;

use crate::table::{Table, card, go_on, keys, options, rules};

const CARD: &str = "name = \"card\"\nformat = \"card\"";

fn cards() -> Rules {
    rules(&[CARD])
}

/// Cards of a file in place of `C1`, `C2` and so on.
fn filled(text: &str) -> String {
    (1..=9_u64).fold(text.to_owned(), |text, number| {
        text.replace(&format!("C{number}"), &card(number))
    })
}

/// The error of protecting a file, of which nothing is left.
#[track_caller]
fn refused(text: &str, quoting: Quoting, rules: &Rules) -> Error {
    let table = Table::new(filled(text).as_bytes()).with_quoting(quoting);
    let error = table.protect(rules).unwrap_err();
    assert_eq!(table.names(), ["in.csv"], "{text}");
    let told = format!("{error} {error:?}");
    for number in 1..=9 {
        assert!(!told.contains(&card(number)), "{told}");
    }
    error
}

#[track_caller]
fn ambiguity(text: &str, quoting: Quoting, rules: &Rules) -> (u64, u64, usize, Ambiguity) {
    match refused(text, quoting, rules) {
        Error::Ambiguous {
            row,
            line,
            column,
            why,
        } => (row, line, column, why),
        other => panic!("{text:?}: {other}"),
    }
}

#[test]
fn malformed_quotes_are_refused_in_every_column() {
    for (text, told) in [
        (
            "id\tnote\tcard\n1\tabc\tC1\n2\t\"efg\tC2\n3\thij\tC3\n4\t\"klm\"\tC4\n5\toh\"\tC5\n",
            "line 5, column number 2: text behind the closing quote; the quote was opened at line 3",
        ),
        (
            "id,note,card\n1,\"six inch,C1\n2,plain,C2\n3,12\" pipe,C3\n",
            "line 4, column number 2: text behind the closing quote; the quote was opened at line 2",
        ),
        (
            "id,note,card\n1,12\" pipe,C1\n",
            "line 2, column number 2: a quote inside a field that is not quoted",
        ),
        (
            "id,note,card\n1, \"six\",C1\n",
            "line 2, column number 2: a quote inside a field that is not quoted",
        ),
        (
            "id,note,card\n1,\"six\" ,C1\n",
            "line 2, column number 2: text behind the closing quote; the quote was opened at line 2",
        ),
        (
            "id,note,card\n1,\"six\\\"\",C1\n",
            "the quote opened at line 2, column number 2 is never closed",
        ),
        (
            "id,note,card\n1,six,\"C1\"x\n",
            "line 2, column number 3: text behind the closing quote; the quote was opened at line 2",
        ),
    ] {
        for quoting in [Quoting::Assumed, Quoting::Double, Quoting::Accepted] {
            let error = refused(text, quoting, &cards());
            assert_eq!(error.to_string(), told);
        }
    }
}

#[test]
fn a_long_record_is_refused_for_the_quote_that_made_it_long() {
    let rows: String = (0..100).map(|row| format!("{row},plain,C2\n")).collect();
    let text = format!("id,note,card\n1,\"six,C1\n{rows}2,\"seven\",C3\n{rows}");
    let table = Table::new(filled(&text).as_bytes());
    let small = options(1).with_block(64).with_longest_record(4_000);
    let error = table
        .protect_with(&cards(), &small, &mut go_on)
        .unwrap_err();
    let is_told = matches!(
        error,
        Error::Table(TableError::TextBehindQuote {
            line: 103,
            column: 1,
            opened: 2
        })
    );
    assert!(is_told, "{error}");
}

#[test]
fn a_quoted_cell_whose_lines_are_rows_is_refused_whatever_the_values_are() {
    let masked = rules(&["name = \"card\"\nmask = \"null\""]);
    let nulled = rules(&["name = \"card\"\nformat = \"card\"\non_bad = \"null\""]);
    for (text, place) in [
        ("id,note,card\n1,\",no card\n2,plain,x\n3,\",y\n", (1, 2, 1)),
        (
            "id,note,card\n0,,\n1,\"\"\"six,a\n2,inch\"\"\",b\n",
            (2, 3, 1),
        ),
        ("note,card\n\"six,a\n\nseven\",b\n", (1, 2, 0)),
        ("note,card\r\n\"six,a\r\nseven\",b\r\n", (1, 2, 0)),
        ("id,card,\"note\n1,x,y\"\n2,y,z\n", (0, 1, 2)),
        ("card\n\"x\ny\"\n", (1, 2, 0)),
    ] {
        for rules in [&masked, &nulled] {
            for quoting in [Quoting::Assumed, Quoting::Double] {
                let (row, line, column, why) = ambiguity(text, quoting, rules);
                assert_eq!((row, line, column), place, "{text}");
                assert_eq!(why, Ambiguity::Rows);
            }
            let table = Table::new(text.as_bytes()).with_quoting(Quoting::Accepted);
            table.protect(rules).unwrap();
        }
    }
}

#[test]
fn a_value_between_quotes_with_a_separator_or_line_end_is_refused() {
    for text in [
        "id,note,card\n1,\"C1, and more\",C2\n",
        "id,note,card\n1,\"see\nC1\",C2\n",
        "id,note,card\n1,\"a,b C1!\",C2\n",
        "id;note;card\n1;\"C1;x\";C2\n",
        "id|note|card\n1|\"x|no. C1\"|C2\n",
        "id,note,card\n1,\"x\n\n\"\"C1\"\"\",C2\n",
        "id,\"C1, or what\",card\n1,x,C2\n",
        "id,note,card\n1,x\rC1,C2\n",
        "id,note,card\n1,\"x\rC1\",C2\n",
    ] {
        for quoting in [Quoting::Assumed, Quoting::Double] {
            let (.., column, why) = ambiguity(text, quoting, &cards());
            let value = Ambiguity::Value {
                column: "card".to_owned(),
            };
            assert_eq!((column, why), (1, value), "{text}");
        }
        let table = Table::new(filled(text).as_bytes()).with_quoting(Quoting::Accepted);
        table.round_trip(&cards());
        // What was accepted once is accepted when it is revealed.
        assert_eq!(
            table.protection("out.csv").quoting(),
            Some(Quoting::Accepted)
        );
    }
    for text in [
        "id,note,card\n1,\"a, b\nc\",C2\n",
        "id,note,card\n1,\"2 of 16, 4111 1111 1111 1112\",C2\n",
        "id,note,card\n1,C1,C2\n",
        "id,note,card\n1,\"C1\",C2\n",
        "id,note,card\n1,\"x, y\",\"C2\"\r\n",
    ] {
        Table::new(filled(text).as_bytes()).round_trip(&cards());
    }
}

#[test]
fn with_tabs_cells_span_nothing_until_quoting_is_said() {
    for text in [
        "id\tnote\tcard\n1\t\"a\tb\"\tC1\n",
        "id\tnote\tcard\n1\t\"a\nb\"\tC1\n",
    ] {
        let (row, line, column, why) = ambiguity(text, Quoting::Assumed, &cards());
        assert_eq!((row, line, column, why), (1, 2, 1, Ambiguity::Tabs));
        let table = Table::new(filled(text).as_bytes()).with_quoting(Quoting::Double);
        table.round_trip(&cards());
        assert_eq!(table.protection("out.csv").quoting(), Some(Quoting::Double));
    }
    let table = Table::new(filled("id\tnote\tcard\n1\t\"a, b\"\tC1\n").as_bytes());
    table.round_trip(&cards());
    assert_eq!(table.protection("out.csv").quoting(), None);
}

#[test]
fn without_quoting_every_line_is_a_row_and_comes_back() {
    let text = filled("id\tno\"te\tcard\n1\t\"efg\tC2\n2\t\"\t\n3\t\"a\"b\tC3\r\n\"\t\"\"\tC4");
    let table = Table::new(text.as_bytes()).with_quoting(Quoting::None);
    let out = String::from_utf8(table.round_trip(&cards())).unwrap();
    for number in 1..=4 {
        assert!(!out.contains(&card(number)), "{out}");
    }
    assert_eq!(out.matches('"').count(), text.matches('"').count());
    let summary = table.reveal(None, &keys(1)).unwrap();
    assert_eq!((summary.rows, summary.lines), (4, Some(4)));
    // A quote belongs to the value, which does not fit with it.
    let error = refused("id\tcard\n1\t\"C1\"\n", Quoting::None, &cards());
    assert!(matches!(error, Error::Misfit { line: 2, .. }), "{error}");
}

#[test]
fn without_quoting_a_text_that_needs_quotes_ends_the_run() {
    let odd = rules(&["name = \"card\"\nformat = 'class(set=\"u-z,\", length=8)'"]);
    let text = "card,x\nuuuuuuuu,\"\nvvvvvvvv,2\nwwwwwwww,3\nxxxxxxxx,4\nyyyyyyyy,5\n";
    let error = refused(text, Quoting::None, &odd);
    assert!(
        matches!(&error, Error::Unquotable { column, .. } if column == "card"),
        "{error}"
    );
    let nulled = rules(&["name = \"card\"\nformat = \"card\"\non_bad = \"null\""]);
    let error = refused("card\nx\ny", Quoting::None, &nulled);
    assert!(matches!(error, Error::Unquotable { .. }), "{error}");
}

#[test]
fn the_description_says_how_the_file_is_quoted_under_its_mac() {
    let text = filled("id,note,card\n1,\"efg,C1\n");
    let table = Table::new(text.as_bytes()).with_quoting(Quoting::None);
    table.protect(&cards()).unwrap();
    let document = table.text("out.csv.protection.json");
    assert!(document.contains("\"quoting\": \"none\""), "{document}");
    let reveal = |quoting| {
        let source = table.open("out.csv");
        let described = table.protection("out.csv");
        assert_eq!(described.quoting(), quoting);
        Plan::reveal(source.layout(), &described, None, &keys(1)).map(drop)
    };
    reveal(Some(Quoting::None)).unwrap();
    let path = protection_of(&table.path("out.csv"));
    for (edit, quoting) in [("accepted", Quoting::Accepted), ("double", Quoting::Double)] {
        std::fs::write(&path, document.replace("\"none\"", &format!("\"{edit}\""))).unwrap();
        let error = reveal(Some(quoting)).unwrap_err();
        assert!(matches!(error, Error::ProtectionChanged), "{error}");
    }
    std::fs::write(&path, document.replace("  \"quoting\": \"none\",\n", "")).unwrap();
    let error = reveal(None).unwrap_err();
    assert!(matches!(error, Error::ProtectionChanged), "{error}");
    let unknown = document.replace("\"none\"", "\"single\"");
    assert!(Protection::parse(unknown.as_bytes()).is_err());
    std::fs::write(&path, &document).unwrap();
    let table = table.with_quoting(Quoting::Double);
    std::fs::write(table.path("out.csv"), "id,note,card\n1,x,y\n").unwrap();
    let error = table.reveal(None, &keys(1)).unwrap_err();
    assert_eq!(error.to_string(), "the file was protected without quotes");
}

#[test]
fn a_header_that_is_data_is_not_told() {
    for (text, told) in [
        (
            "1,C1,Ada\n2,C2,Bob\n",
            "no column \"card\"; the first line has 3 columns, and data in number 1, 2: no header?",
        ),
        (
            "Ada,uuuuvvvv\n",
            "no column \"card\"; the first line has 2 columns, and data in number 2: no header?",
        ),
        (
            "note,uuuuvvvv\n",
            "no column \"card\"; the first line has 2 columns, and data in number 2: no header?",
        ),
        (
            "note,other\n",
            "no column \"card\"; the first line has 2 columns, none of a name that was asked for: no header?",
        ),
        (
            "Card,x\n",
            "no column \"card\"; the first line has 2 columns, and such a name in another spelling in number 1",
        ),
        (
            "jones,hunter2,pin\n",
            "no column \"card\"; the first line has 3 columns, none of a name that was asked for: no header?",
        ),
    ] {
        let rules = rules(&["name = \"card\"\nformat = 'class(set=\"u-z\", length=8)'"]);
        assert_eq!(refused(text, Quoting::Assumed, &rules).to_string(), told);
    }
}

#[test]
fn what_an_interrupted_run_leaves_has_no_value_of_an_accepted_row() {
    let mut text = "id,note,card\n".to_owned();
    for row in 0..400_u64 {
        let value = match row % 7 {
            0 => format!("4111111111{row:06}"),
            _ => card(1_000 + row),
        };
        text.push_str(&format!("{row},\"a, b\",{value}\n"));
    }
    let table = Table::new(text.as_bytes());
    let reject = rules(&["name = \"card\"\nformat = \"card\"\non_bad = \"reject\""]);
    let mut blocks = 0;
    let mut stop = |_: &keywright_protect::Progress| {
        blocks += 1;
        match blocks {
            20 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    };
    let ended = table.protect_with(&reject, &options(1), &mut stop);
    assert!(matches!(ended, Err(Error::Interrupted)));
    let none_is_left = |names: &[&str]| {
        for name in names {
            let bytes = String::from_utf8_lossy(&table.read(name)).into_owned();
            for row in (0..400).filter(|row| row % 7 != 0) {
                assert!(!bytes.contains(&card(1_000 + row)), "{name}: row {row}");
            }
        }
    };
    none_is_left(&["out.csv.part", "out.csv.journal", "rejects.csv.part"]);
    let summary = table.protect(&reject).unwrap();
    assert!(summary.rejected > 0 && summary.resumed > 0);
    none_is_left(&["out.csv", "out.csv.protection.json", "rejects.csv"]);
}

/// A file that was written without quoting, in which two notes of a hundred begin with a quote.
fn export(numbers: &mut SplitMix, separator: &str) -> (String, Vec<String>) {
    let words = [
        "abc",
        "six inch",
        "",
        "oh\"",
        "12\" pipe",
        "plain",
        "\"",
        "\"all\"",
    ];
    let mut text = ["id", "note", "card"].join(separator) + "\n";
    let mut values = Vec::new();
    for row in 0..5 + numbers.below(60) {
        let note = match numbers.below(100) {
            0 | 1 => format!("\"{}", ["efg", "", "klm\"", "no\"p"][numbers.below(4)]),
            2 => words[numbers.below(8)].to_owned(),
            _ => words[[0, 1, 2, 5][numbers.below(4)]].to_owned(),
        };
        let card = card(numbers.below(1_000_000) as u64 * 7_919);
        text.push_str(
            &[&row.to_string(), &note, &card]
                .map(String::as_str)
                .join(separator),
        );
        text.push('\n');
        values.push(card);
    }
    (text, values)
}

#[test]
fn unquoted_exports_never_leave_a_clear_value() {
    let mut numbers = SplitMix::new(0x7465_7874);
    let (mut accepted, mut refused) = (0, 0);
    for number in 0..200 {
        let separator = ["\t", "\t", ",", ";", "|"][number % 5];
        let (text, values) = export(&mut numbers, separator);
        let clear = |table: &Table, name: &str| {
            let bytes = table.text(name);
            values.iter().any(|value| bytes.contains(value.as_str()))
        };
        for quoting in [Quoting::Assumed, Quoting::Double] {
            let table = Table::new(text.as_bytes()).with_quoting(quoting);
            match table.protect(&cards()) {
                Ok(summary) => {
                    accepted += 1;
                    assert_eq!(summary.rows, values.len() as u64);
                    assert!(!clear(&table, "out.csv"), "{text}");
                }
                Err(error) => {
                    refused += 1;
                    assert!(!values.iter().any(|value| error.to_string().contains(value)));
                    assert_eq!(table.names(), ["in.csv"]);
                }
            }
        }
        let table = Table::new(text.as_bytes()).with_quoting(Quoting::None);
        table.round_trip(&cards());
        assert!(!clear(&table, "out.csv"));
    }
    assert!(accepted > 100 && refused > 100, "{accepted} {refused}");
}

#[test]
fn tokens_are_judged_when_they_are_revealed_or_migrated() {
    let table = Table::new(filled("id,note,card\n1,x,C1\n2,y,C2\n3,z,C3\n").as_bytes());
    table.protect(&cards()).unwrap();
    let out = table.text("out.csv");
    for (edited, is_malformed) in [
        (
            out.replace(",x,", ",\"x,")
                .replace(",z,", ",z\",")
                .replace("z\"", "\""),
            false,
        ),
        (out.replace(",y,", ",y\"y,"), true),
        (out.replace(",y,", ",\"y\"y,"), true),
    ] {
        std::fs::write(table.path("out.csv"), &edited).unwrap();
        let is_told = |error: Error| match error {
            Error::Ambiguous {
                why: Ambiguity::Rows,
                ..
            } => !is_malformed,
            Error::Table(TableError::BareQuote { .. } | TableError::TextBehindQuote { .. }) => {
                is_malformed
            }
            _ => false,
        };
        assert!(
            is_told(table.reveal(None, &keys(1)).unwrap_err()),
            "{edited}"
        );
        let protection = table.protection("out.csv");
        let source = table.open("out.csv");
        let (old, new) = (keys(1), keys(2));
        let origin = keywright_protect::Origin::Here(&protection, &old);
        let plan = Plan::migrate(source.layout(), &origin, &cards(), &new).unwrap();
        let files = table.files("new.csv");
        let migrated = keywright_protect::run(&source, &plan, &files, &options(1), &mut go_on);
        assert!(is_told(migrated.unwrap_err()), "{edited}");
    }
}

#[test]
fn column_name_that_is_a_value_is_refused() {
    let text = "id,card,C1\n1,C2,x\n";
    let error = refused(text, Quoting::default(), &cards());
    assert!(
        matches!(error, Error::NameIsValue { column: 2, .. }),
        "{error:?}"
    );
}
