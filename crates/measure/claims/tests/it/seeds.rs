//! What the five published documents say about themselves is found in their own text.
//!
//! The documents are other people's and are not copied: they are read from the folder that
//! `KEYWRIGHT_SEEDS` names, by default the one beside the repository. Without it every expectation is
//! counted as skipped; with the variable set, a missing document is a failure.

use std::path::PathBuf;

use keywright_claims::{Finding, read};
use keywright_vectors::{Tally, repository};

/// Code, beginning of the row, and a piece of what was recomputed.
type Expected = (&'static str, &'static str, &'static str);

const A: &[Expected] = &[
    (
        "quantile-equals-next",
        "AES-256-GCM Encrypt (10KB)",
        "p95 is taken from the sample of p99",
    ),
    (
        "elapsed-does-not-fit",
        "AES-256-GCM Encrypt (1MB)",
        "100 at 281.2 take 356 ms",
    ),
    (
        "difference-below-resolution",
        "Random (32 bytes)",
        "takes 2.00 us",
    ),
    (
        "printed-as-zero",
        "Random (32 bytes)",
        "anything under 5 us",
    ),
    (
        "quantile-from-too-few-samples",
        "RSA-2048 Sign",
        "200, 1,000 are needed",
    ),
    (
        "quantile-from-too-few-samples",
        "AES-256-GCM Encrypt (1KB)",
        "200, 1,000 are needed",
    ),
    ("rate-times-time", "$.results[0]", "97.7/s"),
];
const B: &[Expected] = &[
    (
        "achieved-below-target",
        "100,000",
        "21,470 req/s is 21.5 % of it",
    ),
    (
        "achieved-below-target",
        "100,000",
        "21,058 req/s is 21.1 % of it",
    ),
    (
        "achieved-below-target",
        "Test 3",
        "24,547 req/s is 24.5 % of it",
    ),
    ("quantile-never-moves", "20,000", "factor of 5"),
    ("rate-times-time", "Test 6", "45.8 ms"),
    (
        "rate-stops-growing",
        "Sustained Throughput",
        "20,500/s after 20,000/s",
    ),
];
const C: &[Expected] = &[("prose-contradicts-table", "efficiency", "FF3-1-AES 76.3 %")];
const D: &[Expected] = &[
    ("rate-stops-growing", "32", "18,053/s after 18,229/s at 16"),
    ("rate-stops-growing", "32", "13,450/s after 13,410/s at 16"),
    (
        "efficiency",
        "32",
        "18,053/s against 2,457/s on 1: efficiency 0.23",
    ),
    (
        "efficiency",
        "32",
        "13,450/s against 1,737/s on 1: efficiency 0.24",
    ),
];
const E: &[Expected] = &[
    ("bytes-over-time", "64 KiB", "113 MB/s"),
    ("bytes-over-time", "1 MiB", "114 MB/s"),
    ("bytes-over-time", "HKDF-SHA256 32 B", "6.27 MB/s"),
    ("bytes-over-time", "HKDF-SHA256 1 KiB", "11.4 MB/s"),
    ("bytes-over-time", "BLAKE3 32 B", "16.8 MB/s"),
    ("limit-exceeded", "Argon2id", "42\u{2013}510 ms is outside"),
];
/// Beginning of the file name, what must be found, and how many findings there are in all: one more would
/// be a false alarm that somebody has to look at.
const SEEDS: &[(&str, &[Expected], usize)] = &[
    ("000_", A, 14),
    ("001_", B, 19),
    ("002_", C, 3),
    ("003_", D, 4),
    ("004_", E, 6),
];

#[expect(
    clippy::disallowed_methods,
    reason = "a test: the folder of documents is named by the environment"
)]
fn folder() -> (PathBuf, bool) {
    let named = std::env::var_os("KEYWRIGHT_SEEDS").filter(|value| !value.is_empty());
    let demanded = named.is_some();
    let folder = named.map_or_else(|| PathBuf::from("../shared/seeds"), PathBuf::from);
    (repository().join(folder), demanded)
}

fn document(prefix: &str) -> Option<Vec<u8>> {
    let files = std::fs::read_dir(folder().0).ok()?.filter_map(Result::ok);
    let mut files = files.filter(|file| file.file_name().to_string_lossy().starts_with(prefix));
    files.next().map(|file| std::fs::read(file.path()).unwrap())
}

fn has(findings: &[Finding], (code, row, recomputed): &Expected) -> bool {
    findings.iter().any(|finding| {
        finding.check.code() == *code
            && finding.place.row.starts_with(row)
            && finding.recomputed.contains(recomputed)
    })
}

#[test]
fn every_contradiction_in_a_table_of_the_seeds_is_flagged_and_nothing_else_is() {
    let demanded = folder().1;
    let mut tally = Tally::new("claims-seeds");
    for (prefix, expected, all) in SEEDS {
        let Some(bytes) = document(prefix) else {
            assert!(
                !demanded,
                "no document {prefix} where KEYWRIGHT_SEEDS points"
            );
            tally.skip("the seed is not here", expected.len() as u64 + 1);
            continue;
        };
        let findings = read(&format!("{prefix}seed.txt"), &bytes).unwrap().check();
        for one in *expected {
            tally.check(format!("{prefix} {one:?}"), has(&findings, one));
        }
        let number = findings.len();
        tally.check(
            format!("{prefix} has {number} findings, not {all}"),
            number == *all,
        );
    }
    tally.finish().unwrap();
}
