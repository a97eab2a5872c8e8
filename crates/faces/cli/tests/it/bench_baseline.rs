//! Results against earlier ones and against each other: what may be compared, and how that ends.

use serde_json::Value;

use crate::bench::{Bench, CLOSED, QUICK, verdicts};

/// Far enough apart for the noise of any machine.
const FAST: &str = "service = \"1us\"";
const SLOW: &str = "service = \"1s\"";

#[test]
fn a_baseline_that_cannot_be_read_is_found_before_the_measurement() {
    let bench = Bench::new();
    let good = bench.kept("good.json", &QUICK);
    let good = String::from_utf8(std::fs::read(good).unwrap()).unwrap();
    let newer = good.replacen("\"schema_version\": \"1.", "\"schema_version\": \"9.", 1);
    assert_ne!(newer, good);
    std::fs::create_dir(bench.folder.path().join("folder.json")).unwrap();
    for (name, bytes, happened) in [
        ("empty.json", &b""[..], "EOF"),
        ("junk.json", b"x", "not the JSON of a result"),
        (
            "binary.json",
            &[0xFF, 0xFE, 0x00],
            "not the JSON of a result",
        ),
        ("cut.json", &good.as_bytes()[..good.len() / 2], "EOF"),
        (
            "foreign.json",
            br#"{"results":1}"#,
            "does not name the form",
        ),
        (
            "twice.json",
            br#"{"schema":"a","schema":"a"}"#,
            "not the JSON of a result",
        ),
        ("newer.json", newer.as_bytes(), "version 1."),
    ] {
        bench.folder.write(name, bytes);
        let words = [&QUICK[..], &["--events", "events", "--baseline", name]].concat();
        bench.run(&words).refused(7, happened, "-o FILE.json");
    }
    for (name, happened) in [
        ("folder.json", "folder.json cannot be read"),
        ("none", "no baseline called \"none\""),
    ] {
        let words = [&QUICK[..], &["--events", "events", "--baseline", name]].concat();
        bench.run(&words).refused(7, happened, "");
    }
    assert!(
        !bench.folder.names().contains(&"events".to_owned()),
        "nothing was measured"
    );
}

#[test]
fn a_baseline_from_other_settings_is_refused_with_what_differs_and_the_result_is_kept() {
    let bench = Bench::new();
    let here = bench.script("here.toml", FAST, CLOSED);
    let file = bench.kept("here.json", &["run", &here]);
    let there = std::fs::read_to_string(&file).unwrap();
    let mut elsewhere: Value = serde_json::from_str(&there).unwrap();
    elsewhere["environment"]["cpu"] = "another processor".into();
    bench.folder.write("elsewhere.json", elsewhere.to_string());

    let wider = CLOSED.replace("concurrency = 1", "concurrency = 2");
    let wider = bench.script("wider.toml", FAST, &wider);
    for (suite, baseline, differs) in [
        (&wider, "here.json", "load.cap is 2, in the baseline 1"),
        (&here, "elsewhere.json", "in the baseline another processor"),
    ] {
        let document = bench.document(7, &["run", suite, "--baseline", baseline]);
        assert_eq!(document["cases"][0]["counts"]["error"], 0);
        assert!(
            verdicts(&document).contains(&"NOT-COMPARABLE"),
            "{document}"
        );
        let said = bench.run(&["run", suite, "--baseline", baseline]).stderr;
        let lines: Vec<&str> = said.lines().collect();
        assert!(
            lines[0].starts_with("error: ") && lines[0].contains(differs),
            "{said}"
        );
        assert!(
            lines[1].starts_with("help: ") && lines[1].contains("--force"),
            "{said}"
        );
        assert_eq!(lines[2..], ["exit 7 not_comparable"]);

        // Doubt is let pass: whether this machine is quiet decides between PASS and INCONCLUSIVE.
        let words = [
            "run",
            suite,
            "--baseline",
            baseline,
            "--force",
            "--inconclusive",
            "pass",
        ];
        let document = bench.document(0, &words);
        let remarks = document["validity"].as_array().unwrap();
        let marked = |remark: &Value| {
            remark["word"] == "NOT-COMPARABLE"
                && remark["text"].as_str().unwrap().contains("--force")
        };
        assert!(remarks.iter().any(marked), "{document}");
        assert!(!document["comparison"].as_array().unwrap().is_empty());
    }
}

#[test]
fn closed_loads_of_different_length_are_compared_by_rate() {
    let bench = Bench::new();
    let here = bench.script("here.toml", FAST, CLOSED);
    bench.kept("here.json", &["run", &here]);
    let fewer = bench.script("fewer.toml", FAST, &CLOSED.replace("200", "100"));
    let words = [
        "run",
        &fewer,
        "--baseline",
        "here.json",
        "--inconclusive",
        "pass",
    ];
    let document = bench.document(0, &words);
    assert!(
        !verdicts(&document).contains(&"NOT-COMPARABLE"),
        "{document}"
    );
    let compared = document["comparison"].as_array().unwrap();
    assert!(!compared.is_empty());
    for one in compared {
        let of = |name: &str| one[name].as_f64().unwrap();
        let expected = of("current") / of("baseline");
        assert!((of("ratio") / expected - 1.0).abs() < 1e-12, "{one}");
    }
}

#[test]
fn a_baseline_without_any_of_the_cases_cannot_be_compared_even_by_force() {
    let bench = Bench::new();
    let here = bench.script("here.toml", FAST, CLOSED);
    bench.kept("here.json", &["run", &here]);
    let document = bench.document(
        7,
        &[&QUICK[..], &["--baseline", "here.json", "--force"]].concat(),
    );
    assert_eq!(
        document["comparison"].as_array().map_or(0, Vec::len),
        0,
        "no case in common"
    );
}

#[test]
fn a_regression_fails_where_it_was_to_and_is_named_everywhere() {
    let bench = Bench::new();
    let fast = bench.script("fast.toml", FAST, CLOSED);
    bench.kept("fast.json", &["run", &fast]);
    let slow = bench.script("slow.toml", SLOW, CLOSED);
    for (flags, code) in [(&[][..], 0), (&["--fail-on-regression"], 3)] {
        let words = [&["run", &slow, "--baseline", "fast.json"], flags].concat();
        let document = bench.document(code, &words);
        assert!(verdicts(&document).contains(&"REGRESSION"), "{document}");
        let compared = document["comparison"].as_array().unwrap();
        assert_eq!(compared.len(), 2);
        assert!(
            compared.iter().all(|one| one["verdict"] == "REGRESSION"),
            "{document}"
        );
    }
    // What stayed the same is no regression.
    let words = [
        "run",
        &fast,
        "--baseline",
        "fast.json",
        "--fail-on-regression",
        "--inconclusive",
        "pass",
    ];
    let document = bench.document(0, &words);
    assert!(!verdicts(&document).contains(&"REGRESSION"), "{document}");
}

#[test]
fn too_few_runs_decide_nothing_and_say_how_many_would() {
    let bench = Bench::new();
    let fast = bench.script("fast.toml", FAST, CLOSED);
    bench.kept("fast.json", &["run", &fast]);
    let slow = bench.script("slow.toml", SLOW, CLOSED);
    let document = bench.document(7, &["run", &slow, "--runs", "2", "--baseline", "fast.json"]);
    let words = verdicts(&document);
    assert!(
        !words.contains(&"REGRESSION") && !words.contains(&"PASS"),
        "{document}"
    );
    let remarks = document["cases"][0]["validity"].as_array().unwrap();
    let told = |remark: &Value| {
        remark["text"]
            .as_str()
            .unwrap()
            .ends_with("5 of each are needed")
    };
    assert!(remarks.iter().any(told), "{document}");
}

#[test]
fn the_gate_of_a_suite_is_a_gate() {
    let bench = Bench::new();
    let fast = bench.script("fast.toml", FAST, CLOSED);
    bench.kept("fast.json", &["run", &fast]);
    let gate = "\ngate = { baseline = \"fast.json\", threshold = \"10%\" }";
    let slow = bench.script("slow.toml", SLOW, &format!("{CLOSED}{gate}"));
    let document = bench.document(3, &["run", &slow]);
    assert_eq!(document["exit"]["name"], "gate_failed");
    let none = gate.replace("fast.json", "none");
    let slow = bench.script("slow.toml", SLOW, &format!("{CLOSED}{none}"));
    bench
        .run(&["run", &slow])
        .refused(7, "\"none\"", "baseline list");
    // The command line has the last word.
    let document = bench.document(0, &["run", &slow, "--baseline", "fast.json"]);
    assert!(verdicts(&document).contains(&"REGRESSION"));
}

#[test]
fn a_debug_build_makes_no_baseline() {
    let bench = Bench::new();
    let document = bench.document(0, &QUICK);
    let id = document["run"]["id"].as_str().unwrap();
    let saved = bench.run(&["baseline", "save", "main", id]);
    let direct = bench.run(&[&QUICK[..], &["--save-baseline", "other", "-q"]].concat());
    if cfg!(debug_assertions) {
        saved.refused(13, "debug or quick build", "release build");
        direct.refused(13, "debug or quick build", "release build");
        assert_eq!(bench.run(&["baseline", "list"]).text(), "");
    } else {
        assert_eq!((saved.code, direct.code), (0, 0), "{saved:?} {direct:?}");
        assert_eq!(bench.run(&["baseline", "list"]).text().lines().count(), 2);
    }
    bench
        .run(&["baseline", "show", "none"])
        .refused(7, "\"none\"", "baseline list");
    bench
        .run(&["baseline", "rm", "none"])
        .refused(7, "\"none\"", "baseline list");
}

#[test]
fn two_operations_take_turns_and_what_differs_has_an_interval() {
    let bench = Bench::new();
    let words = [
        "compare",
        "hash.sha256.1k",
        "hash.sha512.1k",
        "-n",
        "50",
        "-w",
        "0s",
    ];
    let document = bench.document(0, &words);
    assert_eq!(document["cases"].as_array().unwrap().len(), 2);
    let runs = document["cases"][0]["runs"].as_array().unwrap().len();
    assert!(
        runs >= 6,
        "so many pairs that a difference could be shown: {runs}"
    );
    for compared in document["comparison"].as_array().unwrap() {
        let end = |name: &str| compared["interval"][name].as_f64().unwrap();
        let ratio = compared["ratio"].as_f64().unwrap();
        assert!(end("lo") <= ratio && ratio <= end("hi"), "{compared}");
        assert!(
            compared["p"].is_number() && compared["against"] == "hash.sha512.1k",
            "{compared}"
        );
    }
    bench
        .run(&["compare", "hash.sha256.1k"])
        .refused(2, "<OTHER>", "usage:");
}
