//! Two results side by side.

use keywright_measure::Word;
use keywright_measure::document::{Case, Comparison, Document};
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
    let (better, worse) = ('\u{1F7E2}', '\u{1F534}');
    for (row, difference, word) in [
        ("a ", format!(" {better} +6.0% "), "faster"),
        ("b ", format!(" {worse} -6.0% "), "slower"),
        ("c ", "  +4.0% ".to_owned(), "-"),
    ] {
        let line = line(&table, row);
        assert!(line.contains(&difference) && line.ends_with(word), "{line}");
    }
    assert!(table.contains(&format!(
        "{better} = Improvement >5%  |  {worse} = Regression >5%\n"
    )));
    assert!(line(&table, "d ").contains("n/a") && line(&table, "d ").ends_with('-'));
    assert!(table.contains("does not exclude chance") && table.contains("no verdict"));
    assert!(!table.contains("IMPROVED") && !table.contains("REGRESSION"));
    assert!(table.replace([better, worse], "").is_ascii());
}

#[test]
fn signs_of_a_judged_comparison_follow_verdict_and_interval() {
    let baseline = document(&[("a", 100.0)]);
    let current = document(&[("a", 80.0)]);
    for (verdict, delta, sign) in [
        (Word::Regression, -1.0, true),
        (Word::Inconclusive, -0.9, true),
        (Word::Inconclusive, -0.5, false),
        (Word::Pass, -1.0, false),
    ] {
        let mut current = current.clone();
        current.comparison = vec![Comparison {
            case: "a".to_owned(),
            metric: "throughput".to_owned(),
            ratio: 0.8,
            delta: Some(delta),
            verdict: Some(verdict),
            ..Comparison::default()
        }];
        let table = comparison_table(&current, &baseline);
        let line = line(&table, "a ");
        assert_eq!(line.contains('\u{1F534}'), sign, "{line}");
        assert!(
            line.contains(" -20.0% ") && !line.contains('\u{1F7E2}'),
            "{line}"
        );
    }
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
