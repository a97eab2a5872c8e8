//! Our own result documents.

use keywright_claims::{Check, Form, read};

use crate::reading::{codes, findings};

/// A case in which everything agrees.
const CASE: &str = r#"{"schema_version": "1.0.0", "cases": [{
  "id": "encrypt", "op": "encrypt", "achieved_per_s": 1999.8,
  "load": {"mode": "open", "rate_per_s": 2000, "cap": 64},
  "counts": {"planned": 300112, "sent": 300112, "never_sent": 0, "verified": 3214, "unverified": 296898,
             "wrong": 0, "error": 0, "timeout": 0, "censored": 0},
  "response": {"p50_ns": {"value": 412000, "n": 300112}, "p99_9_ns": {"value": 4100000, "n": 300112},
               "p99_ns": {"value": 1830000, "n": 300112}, "p99_99_ns": {"value": null, "n": 40},
               "min_ns": 300000, "max_ns": 9020000, "mean_ns": 450000},
  "service": {"p50_ns": {"value": 398000, "n": 300112}, "min_ns": 290000, "max_ns": 9000000, "mean_ns": 430000}
}]}"#;

fn changed(from: &str, to: &str) -> Vec<Check> {
    assert!(CASE.contains(from), "{from}");
    codes("result.json", &CASE.replacen(from, to, 1))
}

#[test]
fn a_result_that_agrees_has_no_finding_and_is_known_as_ours() {
    let document = read("x", CASE.as_bytes()).unwrap();
    assert_eq!(document.form(), Form::Result);
    assert_eq!(document.understood(), 1);
    assert_eq!(document.check(), []);
}

#[test]
fn counts_that_do_not_balance_are_found_to_the_last_operation() {
    assert_eq!(
        changed("\"never_sent\": 0", "\"never_sent\": 1"),
        [Check::Accounting]
    );
    assert_eq!(
        changed("\"timeout\": 0", "\"timeout\": 1"),
        [Check::Accounting]
    );
    assert_eq!(
        changed(
            "\"value\": 412000, \"n\": 300112",
            "\"value\": 412000, \"n\": 300113"
        ),
        [Check::Accounting]
    );
    let found = findings(
        "r.json",
        &CASE.replacen("\"sent\": 300112", "\"sent\": 300111", 1),
    );
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].place.columns[0], "planned");
    assert_eq!(found[0].recomputed, "sent + never_sent are 300,111");
}

#[test]
fn a_missed_target_needs_a_verdict_that_says_so() {
    let missed = CASE.replace("1999.8", "1000.0");
    assert_eq!(codes("r.json", &missed), [Check::AchievedBelowTarget]);
    let said = |verdict: &str| missed.replace("]}", &format!("], \"verdicts\": [{verdict}]}}"));
    assert_eq!(
        codes(
            "r.json",
            &said(r#"{"case": "encrypt", "word": "SATURATED"}"#)
        ),
        []
    );
    assert_eq!(
        codes("r.json", &said(r#"{"word": "GENERATOR-LIMITED"}"#)),
        []
    );
    assert_eq!(
        codes(
            "r.json",
            &said(r#"{"case": "decrypt", "word": "SATURATED"}"#)
        ),
        [Check::AchievedBelowTarget]
    );
    assert_eq!(
        codes("r.json", &said(r#"{"case": "encrypt", "word": "VALID"}"#)),
        [Check::AchievedBelowTarget]
    );
}

#[test]
fn more_in_flight_than_the_cap_allows_is_found() {
    assert_eq!(changed("\"cap\": 64", "\"cap\": 0.5"), [Check::LittlesLaw]);
}

#[test]
fn a_mean_that_is_the_cap_divided_by_the_rate_needs_the_word_for_it() {
    // 2,000 in flight at 21,470 a second: the mean is 93 ms whatever the server does.
    let pinned = CASE
        .replace("1999.8", "21470")
        .replace("\"rate_per_s\": 2000", "\"rate_per_s\": 100000")
        .replace("\"cap\": 64", "\"cap\": 2000")
        .replace("\"mean_ns\": 430000", "\"mean_ns\": 93000000")
        .replace("\"mean_ns\": 450000", "\"mean_ns\": 93000000");
    let word = |word: &str| pinned.replace("]}", &format!("], \"verdicts\": [\"{word}\"]}}"));
    assert_eq!(codes("r.json", &word("SATURATED")), [Check::LittlesLaw]);
    assert_eq!(codes("r.json", &word("CONCURRENCY-LIMITED")), []);
    let found = findings("r.json", &word("SATURATED"));
    assert!(
        found[0].recomputed.contains("93.2 ms"),
        "{}",
        found[0].recomputed
    );
}

#[test]
fn quantiles_out_of_order_and_from_too_few_samples_are_found() {
    assert_eq!(
        changed("\"min_ns\": 300000", "\"min_ns\": 500000"),
        [Check::QuantileOrder]
    );
    assert_eq!(
        changed("\"max_ns\": 9020000", "\"max_ns\": 2000000"),
        [Check::QuantileOrder]
    );
    assert_eq!(
        changed("\"value\": 1830000", "\"value\": 411000"),
        [Check::QuantileOrder]
    );
    assert_eq!(
        changed("\"mean_ns\": 450000", "\"mean_ns\": 350000"),
        [Check::QuantileOrder]
    );
    let few = (
        "\"value\": 1830000, \"n\": 300112",
        "\"value\": 1830000, \"n\": 999",
    );
    assert_eq!(changed(few.0, few.1), [Check::QuantileFromTooFewSamples]);
    assert_eq!(changed(few.0, "\"value\": 1830000, \"n\": 1000"), []);
}

#[test]
fn a_case_or_a_key_that_stands_twice_is_found() {
    let start = CASE.find("[{").unwrap() + 1;
    let case = &CASE[start..CASE.len() - 2];
    let twice = format!("{}{case},{case}]}}", &CASE[..start]);
    assert_eq!(codes("r.json", &twice), [Check::DuplicateName]);
    assert_eq!(
        changed("\"min_ns\": 300000", "\"min_ns\": 300000, \"min_ns\": 1"),
        [Check::DuplicateKey]
    );
}

#[test]
fn missing_members_are_not_held_against_a_result() {
    for text in [
        r#"{"schema_version": "1.0", "cases": []}"#,
        r#"{"schema_version": "1.0", "cases": [{}, null, 3, "x", []]}"#,
        r#"{"schema_version": "1.0", "cases": [{"counts": {"planned": 3}, "load": 7, "response": []}]}"#,
    ] {
        assert_eq!(codes("r.json", text), [], "{text}");
    }
}
