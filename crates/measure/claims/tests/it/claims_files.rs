//! What the five documents say in prose is flagged by the name of the broken relation.

use keywright_claims::{Error, read};

use crate::reading::findings;

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("../../fixtures/", $name))
    };
}

fn broken(text: &str) -> Vec<(String, &'static str)> {
    let findings = findings("claims.toml", text);
    findings
        .into_iter()
        .map(|finding| (finding.place.row, finding.check.code()))
        .collect()
}

fn assert_broken(text: &str, expected: &[(&str, &str)]) {
    let broken = broken(text);
    let broken: Vec<(&str, &str)> = broken
        .iter()
        .map(|(row, code)| (row.as_str(), *code))
        .collect();
    assert_eq!(broken, expected);
}

#[test]
fn every_contradiction_of_the_token_benchmark_is_flagged_by_name() {
    let expected = [
        ("p95-is-not-p99", "quantile-equals-next"),
        ("bar-of-35-seconds", "elapsed-does-not-fit"),
        (
            "regression-of-a-2-us-operation",
            "difference-below-resolution",
        ),
        ("p99-from-100-samples", "quantile-from-too-few-samples"),
    ];
    assert_broken(fixture!("a.toml"), &expected);
}

#[test]
fn every_contradiction_of_the_service_test_is_flagged_by_name() {
    let expected = [
        ("total-of-the-ladders", "total-does-not-add-up"),
        ("mean-of-a-round-trip", "rate-times-time"),
        (
            "latency-at-a-quarter-of-the-load",
            "latency-falls-with-load",
        ),
        (
            "improvement-from-answered-to-requested",
            "achieved-below-target",
        ),
        ("linear-in-cores", "efficiency"),
    ];
    assert_broken(fixture!("b.toml"), &expected);
    let total = &findings("b.toml", fixture!("b.toml"))[0];
    assert!(
        total.recomputed.ends_with("is 8,629,170"),
        "{}",
        total.recomputed
    );
    assert_eq!(total.claimed, "requests.total 4,000,000 requests");
}

#[test]
fn every_contradiction_of_the_cipher_library_is_flagged_by_name() {
    let expected = [
        ("scaling-of-80-to-95-percent", "prose-contradicts-table"),
        (
            "sixteen-cores-7-times-or-13-times",
            "prose-contradicts-table",
        ),
        ("aes-20-percent-or-2-to-3-times", "prose-contradicts-table"),
        ("one-class-90000-or-150000", "prose-contradicts-table"),
    ];
    assert_broken(fixture!("c.toml"), &expected);
}

#[test]
fn every_contradiction_of_the_key_derivation_is_flagged_by_name() {
    let expected = [
        ("derive-rate-stops-growing-at-16", "rate-stops-growing"),
        ("derive-efficiency-at-32", "efficiency"),
        ("store-rate-stops-growing-at-16", "rate-stops-growing"),
        ("store-efficiency-at-32", "efficiency"),
    ];
    assert_broken(fixture!("d.toml"), &expected);
}

#[test]
fn every_contradiction_of_the_session_library_is_flagged_by_name() {
    let expected = [
        ("seal-64-kib", "bytes-over-time"),
        ("seal-1-mib", "bytes-over-time"),
        ("hkdf-32-b", "bytes-over-time"),
        ("hkdf-1-kib", "bytes-over-time"),
        ("blake3-32-b", "bytes-over-time"),
        ("seal-faster-than-open-64-kib", "prose-contradicts-table"),
        ("seal-faster-than-open-1-mib", "prose-contradicts-table"),
        ("argon2-within-50-to-500-ms", "limit-exceeded"),
    ];
    assert_broken(fixture!("e.toml"), &expected);
}

const TWO: &str = "version = 1\n[[claim]]\nname = \"a\"\nvalue = 10\nunit = \"s\"\n\
    [[claim]]\nname = \"b\"\nvalue = 10\nunit = \"s\"\n\
    [[claim]]\nname = \"r\"\nvalue = 5\nunit = \"ms\"\n\
    [[claim]]\nname = \"l\"\nseries = [1, 2]\nunit = \"s\"\n";

fn error(relation: &str) -> Error {
    let text = format!("{TWO}[[relation]]\nname = \"x\"\n{relation}\n");
    read("a.toml", text.as_bytes()).unwrap_err()
}

#[test]
fn a_relation_that_means_nothing_is_refused() {
    let unknown = error("kind = \"sum\"\nclaim = \"a\"\nof = [\"z\"]");
    assert!(matches!(unknown, Error::UnknownClaim { claim, .. } if claim == "z"));
    let units = error("kind = \"equal\"\nclaim = \"a\"\nof = [\"r\"]");
    assert!(matches!(units, Error::Units { .. }));
    for operands in [
        "kind = \"sum\"\nclaim = \"a\"\nof = []",
        "kind = \"quotient\"\nclaim = \"a\"\nof = [\"b\"]",
        "kind = \"product\"\nclaim = \"a\"\nof = [\"b\", \"l\"]",
        "kind = \"ratio\"\nclaim = \"a\"\nof = [\"a\", \"b\", \"b\"]",
        "kind = \"within\"\nclaim = \"a\"\nof = [\"a\", \"b\"]",
        "kind = \"equal\"\nclaim = \"a\"\nof = [\"b\"]\ntimes = \"b\"",
        "kind = \"sum\"\nclaim = \"a\"\nof = [\"b\"]\ntimes = \"l\"",
    ] {
        assert!(
            matches!(error(operands), Error::Operands { .. }),
            "{operands}"
        );
    }
    for tolerance in ["-0.1", "1.5", "nan", "inf"] {
        let text =
            format!("kind = \"equal\"\nclaim = \"a\"\nof = [\"b\"]\ntolerance = {tolerance}");
        assert!(
            matches!(error(&text), Error::Tolerance { .. }),
            "{tolerance}"
        );
    }
    for other in [
        "kind = \"guess\"\nclaim = \"a\"\nof = [\"b\"]",
        "kind = \"equal\"\nclaim = \"a\"\nof = [\"b\"]\nnote = 1",
        "kind = \"equal\"\nclaim = \"a\"\nof = [\"b\"]\ncheck = \"no-such-code\"",
    ] {
        assert!(matches!(error(other), Error::Toml(_)), "{other}");
    }
}

#[test]
fn a_claim_without_one_finite_figure_is_refused() {
    for figures in [
        "",
        "value = nan",
        "value = inf",
        "range = [2, 1]",
        "series = []",
        "series = [1, inf]",
        "value = 1\nrange = [1, 2]",
    ] {
        let text = format!("version = 1\n[[claim]]\nname = \"a\"\n{figures}\n");
        let error = read("a.toml", text.as_bytes()).unwrap_err();
        assert!(
            matches!(error, Error::Figures { claim } if claim == "a"),
            "{figures}"
        );
    }
}

#[test]
fn another_version_and_a_file_without_one_are_refused() {
    assert!(matches!(
        read("a.toml", b"version = 2"),
        Err(Error::Version { found: 2 })
    ));
    assert!(matches!(read("a.toml", b""), Err(Error::Toml(_))));
    assert!(matches!(
        read("a.toml", b"version = 1\nclaims = 3"),
        Err(Error::Toml(_))
    ));
}

#[test]
fn a_claim_that_is_named_twice_is_a_finding_with_its_line() {
    let text =
        "version = 1\n[[claim]]\nname = \"a\"\nvalue = 1\n[[claim]]\nname = \"a\"\nvalue = 2\n";
    let found = findings("a.toml", text);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].check.code(), "duplicate-name");
    assert_eq!(found[0].place.line, Some(6));
}

#[test]
fn each_kind_breaks_on_one_side_of_its_tolerance_only() {
    let broken = |relation: &str| {
        let text = format!("{TWO}[[relation]]\nname = \"x\"\n{relation}\n");
        !findings("a.toml", &text).is_empty()
    };
    assert!(!broken("kind = \"equal\"\nclaim = \"a\"\nof = [\"b\"]"));
    assert!(!broken("kind = \"at_least\"\nclaim = \"a\"\nof = [\"l\"]"));
    assert!(broken("kind = \"at_most\"\nclaim = \"a\"\nof = [\"l\"]"));
    assert!(broken("kind = \"differ\"\nclaim = \"a\"\nof = [\"b\"]"));
    assert!(broken("kind = \"sum\"\nclaim = \"a\"\nof = [\"b\", \"l\"]"));
    assert!(!broken(
        "kind = \"sum\"\nclaim = \"a\"\nof = [\"b\", \"l\"]\ntolerance = 0.3"
    ));
    assert!(broken(
        "kind = \"sum\"\nclaim = \"a\"\nof = [\"b\", \"l\"]\ntolerance = 0.29"
    ));
    assert!(!broken(
        "kind = \"quotient\"\nclaim = \"r\"\nof = [\"a\", \"b\"]\ntolerance = 1.0"
    ));
}
