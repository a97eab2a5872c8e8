//! Figures that agree give no finding: the counterpart of every fixture, with the same layout.

use keywright_claims::read;

macro_rules! clean {
    ($($name:literal),+) => {
        [$(($name, include_str!(concat!("../../fixtures/", $name)))),+]
    };
}

#[test]
fn documents_and_claims_that_agree_give_no_finding() {
    let clean = clean!(
        "a-clean.md",
        "b-clean.md",
        "c-clean.md",
        "d-clean.md",
        "e-clean.md",
        "a-clean.toml",
        "b-clean.toml",
        "c-clean.toml",
        "d-clean.toml",
        "e-clean.toml"
    );
    for (name, text) in clean {
        let document = read(name, text.as_bytes()).unwrap();
        assert!(
            document.understood() >= 4,
            "{name}: {} rows",
            document.understood()
        );
        let findings = document.check();
        assert!(findings.is_empty(), "{name}: {findings:#?}");
    }
}

#[test]
fn every_clean_row_is_one_that_a_wrong_digit_breaks() {
    let broken = [
        (
            "a-clean.md",
            "Ops/sec: 89.2, Avg: 11.21ms",
            "Ops/sec: 89.2, Avg: 14.21ms",
        ),
        ("a-clean.md", "1000/1000 [00:00:03]", "1000/1000 [00:00:35]"),
        (
            "a-clean.md",
            "P95: 4.55ms, P99: 4.91ms",
            "P95: 4.95ms, P99: 4.91ms",
        ),
        ("a-clean.md", "8765.4       0.114", "8765.4       0.154"),
        ("a-clean.md", "+47.0%", "+57.0%"),
        ("a-clean.md", "11210.0", "1023.45"),
        (
            "a-clean.md",
            "RSA-4096 Sign,1000,18.5",
            "RSA-4096 Sign,1000,28.5",
        ),
        (
            "a-clean.md",
            "RSA-4096 Sign,1000,18.5",
            "RSA-4096 Sign,500,18.5",
        ),
        ("b-clean.md", "14,990 req/s", "12,990 req/s"),
        ("b-clean.md", "9,998 req/s", "7,998 req/s"),
        ("b-clean.md", "46ms per", "40ms per"),
        ("b-clean.md", "71k req/s | +255%", "20k req/s | 0%"),
        ("b-clean.md", "71k req/s", "61k req/s"),
        ("c-clean.md", "~11 us", "~21 us"),
        ("c-clean.md", "76% @ 16", "86% @ 16"),
        ("c-clean.md", "75-95%", "80-95%"),
        ("c-clean.md", "AES 27%", "AES 47%"),
        ("d-clean.md", "702.57", "1772.57"),
        ("e-clean.md", "113 MB/s**", "745 MB/s**"),
        ("e-clean.md", "93 \u{b5}s |", "95 \u{b5}s |"),
        ("e-clean.md", "52\u{2013}490 ms", "42\u{2013}490 ms"),
        ("e-clean.md", "160 \u{b5}s\tOK", "190 \u{b5}s\tOK"),
        ("e-clean.md", "12 \u{b5}s\tFAIL", "12 \u{b5}s\tOK"),
    ];
    let clean = clean!(
        "a-clean.md",
        "b-clean.md",
        "c-clean.md",
        "d-clean.md",
        "e-clean.md"
    );
    for (name, good, bad) in broken {
        let (_, text) = clean.iter().find(|(own, _)| *own == name).unwrap();
        assert!(text.contains(good), "{name} has no {good}");
        let text = text.replacen(good, bad, 1);
        let findings = read(name, text.as_bytes()).unwrap().check();
        assert!(!findings.is_empty(), "{name}: {bad} goes unnoticed");
    }
}
