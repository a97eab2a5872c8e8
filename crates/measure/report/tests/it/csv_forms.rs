//! Comma-separated values, read by another implementation.

use std::collections::BTreeMap;

use keywright_measure::document::Document;
use keywright_report::csv::{long, wide};

use crate::documents::{every, hostile, many, rich};

/// Rows as maps from the head.
fn rows(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::ReaderBuilder::new()
        .flexible(false)
        .from_reader(text.as_bytes());
    reader.deserialize().map(|row| row.unwrap()).collect()
}

#[test]
fn every_row_has_every_field_whatever_names_there_are() {
    for (name, document) in every() {
        for text in [long(&document), wide(&document)] {
            assert!(text.ends_with("\r\n"), "{name}");
            assert_eq!(
                rows(&text).len() + 1,
                text.matches("\r\n").count(),
                "{name}"
            );
        }
        assert_eq!(rows(&wide(&document)).len(), document.cases.len(), "{name}");
    }
}

#[test]
fn the_long_form_has_the_promised_columns_and_a_row_per_figure() {
    let text = long(&rich());
    assert!(text.starts_with(
        "run_id,case,target,op,size_bytes,threads,rate_per_s,metric,value,unit,lo,hi,n,bound,verdict\r\n"
    ));
    let rows = rows(&text);
    let find = |case: &str, metric: &str| {
        rows.iter()
            .find(|row| row["case"] == case && row["metric"] == metric)
            .unwrap()
    };
    let p99 = find("sign-mix", "response_p99");
    let figure = [
        "value",
        "unit",
        "lo",
        "hi",
        "n",
        "bound",
        "verdict",
        "rate_per_s",
        "size_bytes",
    ];
    let figure = figure.map(|column| p99[column].as_str());
    assert_eq!(
        figure,
        [
            "1830000", "ns", "1750000", "1940000", "119980", "exact", "PASS", "2000", "32"
        ]
    );
    assert_eq!(find("encrypt-25k", "response_p99")["bound"], "at-least");
    let withheld = find("blake3-32B", "service_p99.9");
    assert_eq!(
        [&withheld["value"], &withheld["lo"], &withheld["bound"]],
        ["", "", "too-few-samples"]
    );
    assert_eq!(find("encrypt-25k", "never_sent")["value"], "23800");
    assert_eq!(find("encrypt-25k", "achieved")["value"], "20700");
}

#[test]
fn no_field_of_foreign_text_starts_a_formula() {
    for start in ["=", "+", "-", "@", "\t=", "\r="] {
        let document = hostile(&format!("{start}SUM(A1:A9)"));
        for text in [long(&document), wide(&document)] {
            for row in rows(&text) {
                for column in ["case", "op", "target"] {
                    assert!(row[column].starts_with('\''), "{:?}", row[column]);
                }
            }
        }
    }
}

#[test]
fn the_wide_form_has_columns_for_every_quantile_there_is() {
    let rows = rows(&wide(&rich()));
    let row = |case: &str| rows.iter().find(|row| row["case"] == case).unwrap();
    assert_eq!(row("sign-mix")["p99.9_ns"], "4100000");
    assert_eq!(row("sign-mix")["kind"], "response");
    assert_eq!(row("blake3-32B")["p50_ns"], "412.25");
    assert_eq!(row("blake3-32B")["kind"], "service");
    assert_eq!(row("encrypt-25k")["p99_bound"], "at-least");
    assert_eq!(row("encrypt-25k")["p99_over_p50"], "");
    assert_eq!(
        row("encrypt-25k")["words"],
        "SATURATED CONCURRENCY-LIMITED CO-LOCATED"
    );
    assert_eq!(row("gcm-sizes")["p50_ns"], "");
}

#[test]
fn a_document_without_cases_is_a_head_alone() {
    assert_eq!(long(&Document::default()).lines().count(), 1);
    assert_eq!(wide(&Document::default()).lines().count(), 1);
    assert_eq!(wide(&many(30, 0)).lines().count(), 31);
}
