//! Two results side by side.

use keywright_measure::Word;
use keywright_measure::document::{Case, Document};
use keywright_report::text::comparison_table;

use crate::documents::{every, rich};

fn document(cases: &[(&str, f64)]) -> Document {
    let cases = cases.iter().map(|(id, rate)| Case {
        id: (*id).to_owned(),
        op: "sign".to_owned(),
        achieved_per_s: *rate,
        ..Case::default()
    });
    Document {
        cases: cases.collect(),
        ..Document::default()
    }
}

fn line<'a>(table: &'a str, start: &str) -> &'a str {
    table.lines().find(|line| line.starts_with(start)).unwrap()
}

#[test]
fn differences_beyond_five_percent_are_marked_with_words() {
    let current = document(&[("a", 106.0), ("b", 94.0), ("c", 104.0), ("d", 0.0)]);
    let baseline = document(&[("a", 100.0), ("b", 100.0), ("c", 100.0), ("d", 0.0)]);
    let table = comparison_table(&current, &baseline);
    assert!(line(&table, "a ").contains("+6.0 %") && line(&table, "a ").ends_with("faster"));
    assert!(line(&table, "b ").contains("-6.0 %") && line(&table, "b ").ends_with("slower"));
    assert!(line(&table, "c ").contains("+4.0 %") && line(&table, "c ").ends_with('-'));
    assert!(line(&table, "d ").contains("n/a") && line(&table, "d ").ends_with('-'));
    assert!(table.contains("does not exclude chance") && table.contains("no verdict"));
    assert!(!table.contains("IMPROVED") && !table.contains("REGRESSION"));
    assert!(table.is_ascii());
}

#[test]
fn a_verdict_with_interval_and_test_beats_the_bare_difference() {
    let current = rich();
    let mut baseline = rich();
    for case in &mut baseline.cases {
        case.achieved_per_s *= 0.5;
    }
    let table = comparison_table(&current, &baseline);
    assert!(
        line(&table, "burst").ends_with(Word::Regression.text()),
        "{table}"
    );
    assert!(line(&table, "sign-mix").ends_with('-'), "{table}");
    assert!(line(&table, "blake3-32B").ends_with("faster"), "{table}");
}

#[test]
fn new_missing_and_renamed_cases_are_listed() {
    let current = document(&[("same", 1.0), ("ECDSA-P-256", 1.0), ("only-now", 1.0)]);
    let baseline = document(&[("same", 1.0), ("ecdsa-p256", 1.0), ("only-then", 1.0)]);
    let table = comparison_table(&current, &baseline);
    assert!(table.contains("Renamed: ECDSA-P-256 was ecdsa-p256\n"));
    assert!(table.contains("New: only-now\n") && table.contains("Missing: only-then\n"));
    assert!(!table.contains("New: ECDSA") && !table.contains("Missing: ecdsa"));
}

#[test]
fn the_same_parameters_under_another_name_are_a_new_name() {
    let mut current = document(&[("new-name", 2.0)]);
    let mut baseline = document(&[("old-name", 1.0)]);
    for document in [&mut current, &mut baseline] {
        document.cases[0]
            .parameters
            .insert("size_bytes".to_owned(), "32".to_owned());
    }
    assert!(comparison_table(&current, &baseline).contains("Renamed: new-name was old-name"));
    baseline.cases[0]
        .parameters
        .insert("size_bytes".to_owned(), "64".to_owned());
    assert!(comparison_table(&current, &baseline).contains("Missing: old-name"));
}

#[test]
fn a_name_that_two_cases_could_have_had_is_not_guessed() {
    let current = document(&[("P-256", 1.0)]);
    let baseline = document(&[("p256", 1.0), ("P_256", 1.0)]);
    let table = comparison_table(&current, &baseline);
    assert!(!table.contains("Renamed"));
    assert!(table.contains("New: P-256") && table.contains("Missing: p256"));
}

#[test]
fn any_two_documents_can_stand_side_by_side() {
    for (one, current) in every() {
        for (other, baseline) in every() {
            let table = comparison_table(&current, &baseline);
            assert!(table.contains("BENCHMARK COMPARISON"), "{one} {other}");
            assert!(
                !table.contains("NaN") && !table.contains('\u{1b}'),
                "{one} {other}"
            );
        }
    }
}
