//! The forms of the token benchmark that was this engine's first model.

use keywright_measure::Word;
use keywright_measure::document::Bound;
use keywright_report::Error;
use keywright_report::exports::seed::{self, csv, json, read};
use keywright_report::text::comparison_table;
use serde_json::Value;

use crate::documents::{every, rich};

/// The example of that form's own description.
const EXAMPLE: &str = r#"{
  "metadata": {
    "timestamp": "2025-12-14T17:51:37.336Z",
    "token_label": "TEST_TOKEN",
    "iterations_per_test": 100,
    "warmup_iterations": 0,
    "system_info": { "os": "Linux", "os_version": "6.1.0-debian", "cpu_count": 8, "total_memory_mb": 16384 }
  },
  "results": [
    {
      "name": "RSA-2048 Sign",
      "iterations": 100,
      "total_duration": 1023.45,
      "min": 9.12,
      "max": 15.67,
      "percentiles": { "p50": 10.95, "p95": 12.34, "p99": 13.12 },
      "ops_per_sec": 89.2,
      "avg_latency_ms": 11.21,
      "p50_ms": 10.95,
      "p95_ms": 12.34,
      "p99_ms": 13.12
    }
  ]
}"#;

#[test]
fn the_example_becomes_a_baseline_that_says_what_it_lacks() {
    let document = read(EXAMPLE.as_bytes()).unwrap();
    let case = &document.cases[0];
    assert_eq!(
        (case.id.as_str(), case.target.as_str()),
        ("RSA-2048 Sign", "TEST_TOKEN")
    );
    assert_eq!((case.achieved_per_s, case.counts.sent), (89.2, 100));
    assert!(case.counts.balance() && case.runs.is_empty());
    let times = case.service.as_ref().unwrap();
    assert_eq!(times.quantile("p50").unwrap().value, Some(10_950_000));
    assert_eq!(
        (times.min_ns, times.mean_ns),
        (Some(9_120_000), Some(11_210_000.0))
    );
    assert_eq!(document.environment.cores, 8);
    assert!(case.verdicts.contains(&Word::SingleRun));
    assert!(document.validity[0].text.contains("without run-level data"));
}

#[test]
fn a_row_has_one_name_however_that_tool_and_its_pages_call_it() {
    for (called, usual) in [
        ("RSA-2048 Signing", "RSA-2048 Sign"),
        ("ECDSA-P256 Signing", "ECDSA-P-256 Sign"),
        ("ECDSA-P-384 Sign", "ECDSA-P-384 Sign"),
        ("ECDSA-P-256 Verify", "ECDSA-P256 Verify"),
        ("AES-GCM Encrypt", "AES-256-GCM Encrypt (1KB)"),
        ("SHA-512", "SHA-512 Hash (1KB)"),
        ("AES-256-GCM Encrypt (10KB)", "AES-256-GCM Encrypt (10KB)"),
        ("a row of somebody else", "a row of somebody else"),
    ] {
        let document = read(EXAMPLE.replace("RSA-2048 Sign", called).as_bytes()).unwrap();
        assert_eq!(document.cases[0].id, usual, "{called}");
    }
}

#[test]
fn tails_that_a_hundred_values_cannot_carry_are_withheld() {
    let document = read(EXAMPLE.as_bytes()).unwrap();
    let times = document.cases[0].service.as_ref().unwrap();
    for name in ["p95", "p99"] {
        let quantile = times.quantile(name).unwrap();
        assert_eq!(
            (quantile.value, quantile.bound),
            (None, Bound::TooFewSamples)
        );
    }
    let more = EXAMPLE.replace("\"iterations\": 100,", "\"iterations\": 1000,");
    let times = read(more.as_bytes()).unwrap().cases[0]
        .service
        .clone()
        .unwrap();
    assert_eq!(times.quantile("p99").unwrap().value, Some(13_120_000));
}

#[test]
fn a_time_that_was_rounded_to_nothing_is_unknown() {
    let text = EXAMPLE.replace("10.95", "0.00").replace("9.12", "0.00");
    let times = read(text.as_bytes()).unwrap().cases[0]
        .service
        .clone()
        .unwrap();
    assert_eq!(
        (times.min_ns, times.quantile("p50").unwrap().value),
        (None, None)
    );
}

#[test]
fn impossible_figures_and_other_files_are_refused() {
    for (wrong, field) in [
        ("\"min\": 9.12", "min"),
        ("\"ops_per_sec\": 89.2", "ops_per_sec"),
        ("\"p50_ms\": 10.95", "percentile"),
    ] {
        let name = wrong.split(':').next().unwrap();
        for value in ["-1", "-0.001"] {
            let text = EXAMPLE.replace(wrong, &format!("{name}: {value}"));
            let error = read(text.as_bytes()).unwrap_err();
            assert!(
                matches!(error, Error::ImpossibleFigure { place: 1, field: f } if f == field),
                "{error}"
            );
        }
    }
    let text = EXAMPLE.replace("\"max\": 15.67", "\"max\": 1e300");
    assert!(matches!(
        read(text.as_bytes()),
        Err(Error::ImpossibleFigure { field: "max", .. })
    ));
    for other in [
        "{}",
        "[]",
        "{\"metadata\":{}}",
        "{\"metadata\":{},\"results\":{}}",
        "{\"results\":[]}",
    ] {
        assert!(
            matches!(read(other.as_bytes()), Err(Error::NotAResult)),
            "{other}"
        );
    }
    let twice = EXAMPLE.replace("\"max\": 15.67,", "\"max\": 15.67, \"max\": 15.67,");
    assert!(matches!(read(twice.as_bytes()), Err(Error::Malformed(_))));
}

#[test]
fn what_is_written_has_the_fields_of_the_form_and_reads_back() {
    let text = json(&rich()).unwrap();
    let ours: Value = serde_json::from_str(&text).unwrap();
    let theirs: Value = serde_json::from_str(EXAMPLE).unwrap();
    let keys = |value: &Value| {
        value
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(&ours["metadata"]), keys(&theirs["metadata"]));
    assert_eq!(
        keys(&ours["metadata"]["system_info"]),
        keys(&theirs["metadata"]["system_info"])
    );
    assert_eq!(keys(&ours["results"][0]), keys(&theirs["results"][0]));
    assert_eq!(ours["metadata"]["token_label"], "DEV_TOKEN");
    let back = read(text.as_bytes()).unwrap();
    assert_eq!(back.cases.len(), rich().cases.len());
    let median = |document: &keywright_measure::document::Document| {
        document.cases[0]
            .headline()
            .unwrap()
            .quantile("p50")
            .unwrap()
            .value
    };
    assert_eq!(median(&back), median(&rich()));
}

#[test]
fn fast_operations_keep_their_digits_and_bounds_are_left_out() {
    let value: Value = serde_json::from_str(&json(&rich()).unwrap()).unwrap();
    let fast = &value["results"][1];
    assert_eq!(fast["p50_ms"], 0.000_412_25);
    let late = &value["results"][3];
    assert_eq!(
        (&late["name"], &late["p99_ms"]),
        (&Value::from("encrypt-25k"), &Value::Null)
    );
    let text = csv(&rich());
    assert!(text.starts_with(
        "operation,iterations,ops_per_sec,avg_ms,p50_ms,p95_ms,p99_ms,min_ms,max_ms\n"
    ));
    assert!(
        text.contains("\nblake3-32B,204800,2092050.209205021,0.000478,0.00041225,"),
        "{text}"
    );
    for (name, document) in every() {
        assert_eq!(
            csv(&document).lines().count(),
            document.cases.len() + 1,
            "{name}"
        );
        for cell in csv(&document).split([',', '\n']) {
            assert!(!matches!(cell, "0.00" | "NaN" | "inf"), "{name}");
        }
    }
}

#[test]
fn a_seed_result_can_stand_as_the_baseline_of_a_comparison() {
    let baseline = read(EXAMPLE.as_bytes()).unwrap();
    let mut current = baseline.clone();
    current.cases[0].id = "rsa2048 sign".to_owned();
    current.cases[0].achieved_per_s = 131.0;
    let table = comparison_table(&current, &baseline);
    assert!(table.contains("+46.9%"), "{table}");
    assert!(
        table.contains(" faster\n") && table.contains("Renamed: rsa2048 sign was RSA-2048 Sign")
    );
    assert!(table.contains("Baseline: 2025-12-14T17:51:37.336Z | TEST_TOKEN"));
}

#[test]
fn a_document_has_figures_alone_if_nobody_can_say_what_made_them_and_how_often() {
    let foreign = read(EXAMPLE.as_bytes()).unwrap();
    assert!(seed::is_figures_alone(&foreign));
    assert!(!seed::is_figures_alone(&rich()));
    let mut own = foreign;
    own.tool.name = "keywright".to_owned();
    assert!(!seed::is_figures_alone(&own));
}
