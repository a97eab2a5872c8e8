//! What a measurement ends with: words, exit codes, also for whoever sees the code through `make`.
//!
//! The servers are simulated: a run of theirs repeats to the nanosecond. Only the noise of this machine is
//! real, which is why no code here rests on an objective that is met.

use std::process::Command;

use serde_json::Value;

use crate::bench::{Bench, CLOSED, OPEN, QUICK, ended, verdicts};
use crate::program::{Ended, eventually, program, signal};

/// What the server is, what the case is, which words it gets, how the command ends.
type Row = (
    &'static str,
    &'static str,
    &'static [&'static str],
    i32,
    &'static str,
);

const ROWS: &[Row] = &[
    ("service = \"1ms\", places = 4", OPEN, &[], 0, "ok"),
    ("service = \"1ms\"", CLOSED, &["CLOSED-LOOP"], 0, "ok"),
    (
        "service = \"1ms\"",
        "duration = \"2s\"\nload = { rate = 5000, cap = 64 }",
        &["SATURATED", "CONCURRENCY-LIMITED"],
        6,
        "measurement_invalid",
    ),
    // The generator takes longer for a start than the schedule gives it.
    (
        "generator = \"2ms\"",
        OPEN,
        &["GENERATOR-LIMITED"],
        6,
        "measurement_invalid",
    ),
    (
        "wrong_every = 100",
        "verify = \"all\"\niterations = 200\nload = { concurrency = 1 }",
        &["WRONG-OUTPUT"],
        5,
        "target_wrong",
    ),
    (
        "fault_every = 10",
        OPEN,
        &["TARGET-ERRORS"],
        5,
        "target_wrong",
    ),
    (
        "service = \"1ms\", places = 4",
        "duration = \"2s\"\nload = { rate = 1000, cap = 64 }\nslo = { p50 = \"100us\" }",
        &["SLO-MISSED"],
        3,
        "gate_failed",
    ),
    (
        "service = \"1ms\", places = 4",
        "iterations = 20\nload = { rate = 1000, cap = 64 }\nslo = { p99 = \"1s\" }",
        &["TOO-FEW-SAMPLES", "INCONCLUSIVE"],
        4,
        "inconclusive",
    ),
];

#[test]
fn every_verdict_has_its_word_and_its_code_in_the_document_and_in_the_status_file() {
    let bench = Bench::new();
    for (target, case, expected, code, name) in ROWS {
        let suite = bench.script("suite.toml", target, case);
        let document = bench.document(*code, &["run", &suite, "--status-file", "status"]);
        assert_eq!(document["exit"]["name"], *name, "{document}");
        let status = bench.folder.read("status");
        assert_eq!(status, format!("exit {code} {name}\n").as_bytes());
        for word in *expected {
            assert!(verdicts(&document).contains(word), "{word}: {document}");
        }
        for word in ["ACCOUNTING-BROKEN", "INTERRUPTED"] {
            assert!(!verdicts(&document).contains(&word), "{document}");
        }
        assert!(verdicts(&document).contains(&"DEBUG-BUILD") == cfg!(debug_assertions));
    }
}

#[test]
fn counts_balance_in_every_end() {
    let bench = Bench::new();
    for (target, case, _, code, _) in ROWS {
        let suite = bench.script("suite.toml", target, case);
        let document = bench.document(*code, &["run", &suite]);
        let counts = &document["cases"][0]["counts"];
        let sum = |names: &[&str]| {
            names
                .iter()
                .map(|name| counts[*name].as_u64().unwrap())
                .sum::<u64>()
        };
        assert_eq!(sum(&["planned"]), sum(&["sent", "never_sent"]), "{counts}");
        let ends = [
            "verified",
            "unverified",
            "wrong",
            "error",
            "timeout",
            "censored",
        ];
        assert_eq!(sum(&["sent"]), sum(&ends), "{counts}");
    }
}

#[test]
fn the_last_line_on_standard_error_is_code_and_name_and_the_text_says_it_beside_the_case() {
    let bench = Bench::new();
    for (target, case, expected, code, name) in ROWS {
        let suite = bench.script("suite.toml", target, case);
        let ended = bench.run(&["run", &suite]);
        assert_eq!(ended.code, *code, "{ended:?}");
        assert_eq!(
            ended.stderr.lines().last().unwrap(),
            format!("exit {code} {name}")
        );
        let text = String::from_utf8(ended.stdout).unwrap();
        assert!(expected.iter().all(|word| text.contains(word)), "{text}");
        assert_eq!(
            text.contains(&format!("exit {code} {name}")),
            *code != 0,
            "{text}"
        );
    }
}

#[test]
fn doubt_passes_only_where_that_is_asked_for() {
    let bench = Bench::new();
    let case = "iterations = 20\nload = { rate = 1000, cap = 64 }\nslo = { p99 = \"1s\" }";
    let suite = bench.script("suite.toml", "service = \"1ms\"", case);
    for (flags, code) in [
        (&[][..], 4),
        (&["--inconclusive", "fail"], 4),
        (&["--inconclusive", "pass"], 0),
    ] {
        let document = bench.document(code, &[&["run", &suite], flags].concat());
        assert!(
            verdicts(&document).contains(&"INCONCLUSIVE"),
            "the word stays: {document}"
        );
    }
    // Doubt is not the same as a miss.
    let suite = bench.script(
        "suite.toml",
        "service = \"1ms\"",
        "iterations = 2000\nslo = { p50 = \"1us\" }",
    );
    bench.document(3, &["run", &suite, "--inconclusive", "pass"]);
}

#[test]
fn conditions_hold_or_end_with_3_and_one_that_names_nothing_keeps_the_result() {
    let bench = Bench::new();
    for (condition, code, holds) in [
        ("rate:hash.sha256.1k>=1", 0, Some(true)),
        ("rate:hash.sha256.1k<=1", 3, Some(false)),
        ("rate:hash.sha256.1k/hash.sha256.1k<=1", 0, Some(true)),
        ("rate:hash.sha256.1k/hash.sha512.1k<=1", 2, None),
        ("figure:hash.sha256.1k<=1", 2, None),
    ] {
        let document = bench.document(code, &[&QUICK[..], &["--gate", condition]].concat());
        assert_eq!(document["cases"][0]["counts"]["sent"], 200);
        match holds {
            Some(holds) => assert_eq!(document["gates"][0]["holds"], holds, "{document}"),
            None => assert_eq!(
                document["gates"].as_array().map_or(0, Vec::len),
                0,
                "{document}"
            ),
        }
    }
}

#[test]
fn a_command_that_fails_without_a_result_says_so_in_the_status_file_and_leaves_no_older_word_there()
{
    let bench = Bench::new();
    for (words, line) in [
        (&["op", "hash.sha265.1k"][..], "exit 9 not_found\n"),
        (&["op", "hash.sha256.1k", "-n", "0"], "exit 2 usage\n"),
        (
            &["op", "hash.sha256.1k", "--baseline", "none"],
            "exit 7 not_comparable\n",
        ),
        (&["run", "nothing"], "exit 9 not_found\n"),
    ] {
        for flag in [&["--status-file", "status"][..], &["--status-file=status"]] {
            bench.folder.write("status", "exit 0 ok\n");
            let ended = bench.run(&[words, flag].concat());
            assert_ne!(ended.code, 0);
            assert_eq!(bench.folder.read("status"), line.as_bytes(), "{ended:?}");
        }
    }
}

/// `make` with a recipe of its own that runs this.
fn make(bench: &Bench, words: &str) -> Ended {
    let text = format!("bench:\n\t@\"$(KEYWRIGHT)\" bench {words} --status-file status -q\n");
    bench.folder.write("Makefile", text);
    let mut command = Command::new("make");
    let variable = format!("KEYWRIGHT={}", program().get_program().to_str().unwrap());
    command
        .args(["--no-print-directory", "bench", &variable])
        .current_dir(bench.folder.path())
        .env(
            "KEYWRIGHT_BENCH_HISTORY",
            bench.folder.name("history.sqlite"),
        )
        // The tests may themselves run under make.
        .env_remove("MAKEFLAGS")
        .env_remove("MAKELEVEL");
    ended(&mut command)
}

#[test]
fn under_make_every_failure_is_2_and_the_status_file_knows_which() {
    let bench = Bench::new();
    for (target, case, _, code, name) in ROWS {
        bench.script("suite.toml", target, case);
        let ended = make(&bench, "run suite.toml");
        assert_eq!(ended.code, if *code == 0 { 0 } else { 2 }, "{ended:?}");
        assert_eq!(
            bench.folder.read("status"),
            format!("exit {code} {name}\n").as_bytes()
        );
    }
    for (words, line) in [
        ("op hash.sha265.1k", "exit 9 not_found\n"),
        (
            "op hash.sha256.1k --baseline none",
            "exit 7 not_comparable\n",
        ),
        ("op hash.sha256.1k --rate 0", "exit 2 usage\n"),
    ] {
        assert_eq!(make(&bench, words).code, 2);
        assert_eq!(bench.folder.read("status"), line.as_bytes());
    }
}

#[test]
fn what_was_done_until_ctrl_c_is_written_and_marked() {
    let bench = Bench::new();
    let words = [
        "op",
        "hash.sha256.1k",
        "-d",
        "2s",
        "--runs",
        "100",
        "-w",
        "0s",
        "--events",
        "events",
    ];
    let output = [
        "-o",
        "part.json",
        "-o",
        "part.csv",
        "--status-file",
        "status",
        "--format",
        "json",
    ];
    let child = bench
        .command(&[&words[..], &output].concat())
        .spawn()
        .unwrap();
    let events = || std::fs::read_to_string(bench.folder.path().join("events")).unwrap_or_default();
    assert!(
        eventually(|| events().contains("\"event\":\"block\"")),
        "events are there when they happen"
    );
    signal("INT", child.id());
    let output = child.wait_with_output().unwrap();

    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert_eq!(bench.folder.read("status"), b"exit 130 interrupted\n");
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "exit 130 interrupted\n"
    );
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        serde_json::from_slice::<Value>(&bench.folder.read("part.json")).unwrap(),
        document
    );
    assert_eq!(document["exit"]["name"], "interrupted");
    assert!(verdicts(&document).contains(&"INTERRUPTED"));
    let case = &document["cases"][0];
    let runs = case["runs"].as_array().unwrap().len();
    assert!(runs < 100, "{runs}");
    assert!(case["counts"]["sent"].as_u64().unwrap() > 0);
    let csv = String::from_utf8(bench.folder.read("part.csv")).unwrap();
    assert!(csv.lines().count() > 5, "{csv}");
    // It is a result like every other.
    assert_eq!(bench.run(&["report", "part.json"]).code, 0);
    assert_eq!(bench.run(&["lint", "part.json"]).code, 0);
    for line in events().lines() {
        serde_json::from_str::<Value>(line).unwrap();
    }
}
