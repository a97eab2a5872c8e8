//! `keywright bench demo closed-loop`: a report that is believed, and what it should have said.
//!
//! With a server of capacity X, a cap of C operations in flight and T seconds: sent = X T + C; the mean time
//! from sending is C / X at every overload; the last response comes T - sent / R + C / X after it was due.

use serde_json::Value;

use crate::bench::Bench;

const X: f64 = 20_700.0;
const C: f64 = 2_000.0;
const T: f64 = 6.0;

fn near(value: &Value, expected: f64, what: &str) {
    let value = value.as_f64().unwrap_or(f64::NAN);
    assert!(
        (value / expected - 1.0).abs() <= 0.05,
        "{what}: {value}, by arithmetic {expected}"
    );
}

#[test]
fn figures_are_those_of_the_arithmetic() {
    let document = Bench::new().document(6, &["demo", "closed-loop"]);
    let cases = document["cases"].as_array().unwrap();
    let rates: Vec<f64> = cases
        .iter()
        .map(|case| case["load"]["rate_per_s"].as_f64().unwrap())
        .collect();
    assert_eq!(rates, [18_000.0, 25_000.0, 50_000.0, 100_000.0]);
    for (case, rate) in cases.iter().zip(&rates).skip(1) {
        let sent = X * T + C;
        near(&case["counts"]["sent"], sent, "sent");
        near(&case["counts"]["never_sent"], rate * T - sent, "never sent");
        near(
            &case["service"]["mean_ns"],
            C / X * 1e9,
            "mean from sending",
        );
        near(
            &case["response"]["max_ns"],
            (T - sent / rate + C / X) * 1e9,
            "last response",
        );
        let words = case["verdicts"].as_array().unwrap();
        for word in ["SATURATED", "CONCURRENCY-LIMITED"] {
            assert!(words.contains(&word.into()), "{rate}: {words:?}");
        }
        assert!(!words.contains(&"VALID".into()));
    }
    assert!(
        cases[0]["verdicts"]
            .as_array()
            .unwrap()
            .contains(&"VALID".into())
    );
    assert_eq!(cases[0]["counts"]["never_sent"], 0);
}

#[test]
fn no_line_calls_the_rate_that_was_asked_for_a_result() {
    let bench = Bench::new();
    for flags in [
        &[][..],
        &["--duration", "2s"],
        &["--cap", "500"],
        &["--rates", "25k,100k", "--seed", "3"],
    ] {
        let ended = bench.run(&[&["demo", "closed-loop"], flags].concat());
        assert_eq!(ended.code, 6, "{ended:?}");
        let text = String::from_utf8(ended.stdout).unwrap();
        let achieved: Vec<&str> = text
            .lines()
            .filter(|line| line.contains("achieved"))
            .collect();
        assert!(!achieved.is_empty());
        for rate in ["25,000", "50,000", "100,000"] {
            assert!(
                achieved
                    .iter()
                    .all(|line| !line.contains(&format!("achieved  {rate}/s"))),
                "{text}"
            );
            // In the summary the name of a case has the rate, and no other column.
            let summary = text.lines().filter(|line| line.starts_with("offered-"));
            for line in summary {
                assert!(
                    !line.split_whitespace().skip(1).any(|word| word == rate),
                    "{line}"
                );
            }
        }
        // Nor does one call what was sent all there was.
        assert!(
            !text.contains("100 %") && !text.contains("passed"),
            "{text}"
        );
    }
}

#[test]
fn below_capacity_nothing_is_wrong_and_rates_that_are_none_are_refused() {
    let bench = Bench::new();
    let document = bench.document(0, &["demo", "closed-loop", "--rates", "18000"]);
    assert_eq!(document["exit"]["name"], "ok");
    for words in [
        ["--rates", "0"],
        ["--rates", "11m"],
        ["--capacity", "0"],
        ["--cap", "0"],
        ["--duration", "0s"],
    ] {
        let ended = bench.run(&[&["demo", "closed-loop"], &words[..]].concat());
        ended.refused(2, words[0], "--help");
    }
}
