//! The form of a file, and what is no such file.

use keywright_claims::{Check, Error, Form, MAX_BYTES, read};

use crate::reading::{codes, findings};

#[test]
fn the_end_of_the_name_decides_and_otherwise_the_content_does() {
    for (name, text, form) in [
        ("a.json", "{}", Form::Json),
        ("a", " {\"a\": 1}", Form::Json),
        ("a.out", "[{\"a\": 1}]", Form::Json),
        ("a.CSV", "", Form::Csv),
        ("a", "a,b,c\n1,2,3\n", Form::Csv),
        ("a.toml", "version = 1", Form::Claims),
        (
            "a",
            "version = 1\n[[claim]]\nname = \"a\"\nvalue = 1",
            Form::Claims,
        ),
        ("a.md", "a,b,c\n1,2,3\n", Form::Markdown),
        ("a.txt", "Hello, there, all\nYou, too", Form::Markdown),
        ("", "", Form::Markdown),
    ] {
        assert_eq!(
            read(name, text.as_bytes()).unwrap().form(),
            form,
            "{name}: {text}"
        );
    }
}

#[test]
fn what_is_not_the_named_form_is_an_error() {
    assert!(matches!(read("a.json", b"{"), Err(Error::Json(_))));
    assert!(matches!(read("a.json", b""), Err(Error::Json(_))));
    assert!(matches!(read("a.toml", b"x"), Err(Error::Toml(_))));
    assert!(matches!(read("a.md", b"\xff\xfe"), Err(Error::Text)));
    assert!(matches!(
        read("a", &vec![b' '; MAX_BYTES + 1]),
        Err(Error::TooLarge)
    ));
    let deep = "[".repeat(100_000);
    assert!(matches!(
        read("a.json", deep.as_bytes()),
        Err(Error::Json(_))
    ));
}

const RESULTS: &str = r#"{"metadata": {"iterations_per_test": 1000}, "results": [
  {"name": "RSA-2048 Sign", "iterations": 1000, "total_duration": 11210.0, "min": 9.1, "max": 15.6,
   "percentiles": {"p50": 10.9, "p99": 13.1}, "ops_per_sec": 89.2, "avg_latency_ms": 11.21}]}"#;

#[test]
fn the_json_of_the_token_benchmark_is_read_in_milliseconds() {
    assert_eq!(codes("r.json", RESULTS), []);
    for (from, to, check) in [
        ("11210.0", "9210.0", Check::RateTimesTime),
        (
            "\"ops_per_sec\": 89.2",
            "\"ops_per_sec\": 99.2",
            Check::RateTimesTime,
        ),
        ("\"p50\": 10.9", "\"p50\": 13.9", Check::QuantileOrder),
        (
            "\"iterations\": 1000, \"total_duration\": 11210.0",
            "\"iterations\": 100, \"total_duration\": 1121.0",
            Check::QuantileFromTooFewSamples,
        ),
        (
            "\"min\": 9.1",
            "\"min\": 9.1, \"min\": 9.2",
            Check::DuplicateKey,
        ),
    ] {
        assert_eq!(codes("r.json", &RESULTS.replace(from, to)), [check], "{to}");
    }
}

#[test]
fn one_name_for_two_results_is_found_however_it_is_hyphenated() {
    let text =
        "operation,ops_per_sec,p50_ms\nECDSA-P256 Sign,10,1\nECDSA P-256 sign,11,2\nSHA-256,12,3\n";
    let found = findings("a.csv", text);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].check, Check::DuplicateName);
    assert_eq!(found[0].place.line, Some(3));
    assert_eq!(found[0].claimed, "ECDSA P-256 sign");
}

#[test]
fn csv_of_others_is_read_with_its_own_separator_and_lines() {
    let text = "\u{feff}name;threads;ops_per_sec\nx;1;760\nx;2;1080\nx;3;1453\nx;4;1543\nx;5;1282\nx;6;1484\n";
    let found = findings("scale.csv", text);
    let codes: Vec<Check> = found.iter().map(|finding| finding.check).collect();
    assert_eq!(codes, [Check::RateStopsGrowing, Check::Efficiency]);
    assert_eq!(found[0].place.line, Some(6));
    assert!(
        found[0].recomputed.contains("1,282/s after 1,543/s at 4"),
        "{}",
        found[0].recomputed
    );
}

#[test]
fn findings_are_data_with_the_stable_code() {
    let text = "| Size | Time | Throughput |\n|-|-|-|\n| 1 MiB | 1 ms | 5 MB/s |\n";
    let value = serde_json::to_value(findings("a.md", text)).unwrap();
    assert_eq!(value[0]["check"], "bytes-over-time");
    assert_eq!(value[0]["place"]["line"], 3);
    assert_eq!(value[0]["place"]["columns"][0], "Throughput");
    for check in Check::ALL {
        assert_eq!(serde_json::to_value(check).unwrap(), check.code());
        assert_eq!(check.to_string(), check.code());
    }
}
