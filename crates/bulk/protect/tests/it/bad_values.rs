//! Values that do not fit: the run stops, empties the cell, or moves the row; it never lets them through.

use keywright_format::Misfit;
use keywright_protect::Error;

use crate::table::{Table, card, go_on, keys, options, rules};

fn with(on_bad: &str) -> keywright_format::Rules {
    rules(&[&format!(
        "name = \"card\"\nformat = \"card\"\non_bad = \"{on_bad}\""
    )])
}

/// Twelve rows, of which the fourth and the ninth are wrong.
fn file() -> String {
    let mut text = "card,\"no\nte\"\n".to_owned();
    for row in 1..=12 {
        let value = match row {
            4 => "4111111111111112".to_owned(),
            9 => "\"no, card\"".to_owned(),
            _ => card(row),
        };
        text.push_str(&format!("{value},row {row}\n"));
    }
    text
}

#[test]
fn fail_names_row_line_column_and_reason_and_leaves_nothing() {
    for threads in [1, 3] {
        let table = Table::new(file().as_bytes());
        let error = table
            .protect_with(&with("fail"), &options(threads).with_block(40), &mut go_on)
            .unwrap_err();
        let Error::Misfit {
            row,
            line,
            column,
            misfit,
        } = &error
        else {
            panic!("{error:?}");
        };
        assert_eq!(
            (*row, *line, column.as_str(), *misfit),
            (4, 6, "card", Misfit::Check)
        );
        assert!(!error.to_string().contains("4111"), "{error}");
        assert_eq!(table.names(), ["in.csv"]);
    }
}

#[test]
fn null_empties_the_cell_and_keeps_the_row() {
    let table = Table::new(file().as_bytes());
    let summary = table.protect(&with("null")).unwrap();
    let counts = summary.columns[0].counts;
    assert_eq!((summary.rows, counts.changed, counts.nulled), (12, 10, 2));
    let out = table.text("out.csv");
    assert!(
        out.contains("\n,row 4\n") && out.contains("\n,row 9\n"),
        "{out}"
    );
    table.reveal(None, &keys(1)).unwrap();
    let expected = file()
        .replace("4111111111111112", "")
        .replace("\"no, card\"", "");
    assert_eq!(table.text("back.csv"), expected);
}

#[test]
fn reject_moves_the_row_as_it_is_to_the_second_file() {
    let table = Table::new(file().as_bytes());
    let summary = table.protect(&with("reject")).unwrap();
    assert_eq!((summary.rows, summary.rejected), (12, 2));
    assert_eq!(summary.columns[0].counts.rejected, 2);
    assert_eq!(
        table.text("rejects.csv"),
        "card,\"no\nte\"\n4111111111111112,row 4\n\"no, card\",row 9\n"
    );
    let out = table.text("out.csv");
    assert!(!out.contains("row 4") && !out.contains("row 9"), "{out}");
    assert_eq!(out.matches("row ").count(), 10);
    table.reveal(None, &keys(1)).unwrap();
    let expected = file()
        .replace("4111111111111112,row 4\n", "")
        .replace("\"no, card\",row 9\n", "");
    assert_eq!(table.text("back.csv"), expected);
}

#[test]
fn without_rejected_rows_there_is_no_second_file() {
    let table = Table::new(format!("card\n{}\n", card(5)).as_bytes());
    table.protect(&with("reject")).unwrap();
    assert_eq!(
        table.names(),
        ["in.csv", "out.csv", "out.csv.protection.json"]
    );
}

#[test]
fn a_row_that_one_rule_rejects_and_another_forbids_stops_the_run() {
    let file = format!("card,other\n{},x\n4111,4112\n", card(1));
    let table = Table::new(file.as_bytes());
    let both = rules(&[
        "name = \"card\"\nformat = \"card\"\non_bad = \"reject\"",
        "name = \"other\"\nformat = \"card | lower(1)\"\non_bad = \"fail\"\nsmall_domain = \"accept(test)\"",
    ]);
    let error = table.protect(&both).unwrap_err();
    assert!(matches!(error, Error::Misfit { .. }), "{error:?}");
    assert_eq!(table.names(), ["in.csv"]);
}

#[test]
fn the_only_cell_of_a_record_cannot_vanish() {
    let table = Table::new(b"card\nnone\nnone");
    table.protect(&with("null")).unwrap();
    assert_eq!(table.text("out.csv"), "card\n\"\"\n\"\"");
}

#[test]
fn clear_values_are_told_from_marked_tokens_on_reveal() {
    let file = format!("card\n{}\n{}\n", card(1), card(2));
    let table = Table::new(file.as_bytes());
    let marked = rules(&["name = \"card\"\nformat = \"card(luhn=break)\""]);
    table.protect(&marked).unwrap();
    let mixed = table.text("out.csv") + &card(3) + "\n";
    std::fs::write(table.path("out.csv"), mixed).unwrap();
    let error = table.reveal(None, &keys(1)).unwrap_err();
    assert!(matches!(error, Error::Misfit { row: 3, .. }), "{error:?}");
}
