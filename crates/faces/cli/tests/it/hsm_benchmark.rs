//! `hsm benchmark` on real tokens: its rows and names, its forms, and that nothing is left.

use std::io::{BufRead as _, BufReader};

use keywright_tokens::{Kind, USER_PIN, on_each};
use serde_json::Value;

use crate::hsm::{Scene, document, error, refused};
use crate::program::{Ended, eventually, keywright, program, signal};

/// The rows of the published benchmark, in its order.
const ROWS: [&str; 14] = [
    "RSA-2048 Sign",
    "RSA-4096 Sign",
    "ECDSA-P-256 Sign",
    "ECDSA-P-384 Sign",
    "RSA-2048 Verify",
    "ECDSA-P256 Verify",
    "RSA-2048 Encrypt",
    "AES-256-GCM Encrypt (1KB)",
    "SHA-256 Hash (1KB)",
    "SHA-384 Hash (1KB)",
    "SHA-512 Hash (1KB)",
    "HMAC-SHA256",
    "AES-CMAC",
    "Random (32 bytes)",
];

/// Few operations, and no word about how few.
const SHORT: [&str; 9] = [
    "benchmark",
    "--iterations",
    "5",
    "--runs",
    "1",
    "--no-history",
    "--quiet",
    "--inconclusive",
    "pass",
];

fn measured(scene: &Scene<'_>, words: &[&str]) -> Ended {
    scene.user(&[&SHORT[..], words].concat())
}

/// Demands a result, and gives the document of the engine.
#[track_caller]
fn result(ended: &Ended) -> Value {
    assert_eq!(ended.code, 0, "{ended:?}");
    let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
    for case in document["cases"].as_array().unwrap() {
        let counts = &case["counts"];
        assert_eq!(counts["error"].as_u64().unwrap_or(0), 0, "{case}");
        assert_eq!(counts["wrong"].as_u64().unwrap_or(0), 0, "{case}");
    }
    document
}

fn ids(document: &Value) -> Vec<String> {
    let cases = document["cases"].as_array().unwrap().iter();
    cases
        .map(|case| case["id"].as_str().unwrap().to_owned())
        .collect()
}

/// The names of the rows in the form of the published benchmark.
fn seed_names(ended: &Ended) -> Vec<String> {
    let seed: Value = serde_json::from_slice(&ended.stdout).unwrap();
    let results = seed["results"].as_array().unwrap().iter();
    results
        .map(|line| line["name"].as_str().unwrap().to_owned())
        .collect()
}

/// How many keys the user sees in the token.
fn objects(scene: &Scene<'_>) -> usize {
    let listed = scene.data(&["list-objects"]);
    let all = listed["objects"].as_array().unwrap().iter();
    let class = |one: &&Value| {
        one["class"]
            .as_str()
            .is_some_and(|class| class.ends_with("_KEY"))
    };
    all.filter(class).count()
}

#[test]
fn fourteen_names_and_order_in_every_form() {
    on_each(|store| {
        let scene = Scene::new(store);
        let seed = measured(&scene, &["--as", "seed-json"]);
        assert_eq!(seed.code, 0, "{seed:?}");
        assert_eq!(seed_names(&seed), ROWS);
        let seed: Value = serde_json::from_slice(&seed.stdout).unwrap();
        assert_eq!(seed["metadata"]["token_label"], "keywright");
        assert_eq!(seed["metadata"]["iterations_per_test"], 5);
        has_the_fields_of_the_published_form(&seed);
        let csv = measured(&scene, &["--as", "seed-csv"]);
        let csv = csv.text();
        let names: Vec<&str> = csv
            .lines()
            .skip(1)
            .map(|l| l.split(',').next().unwrap())
            .collect();
        assert_eq!(names, ROWS);
        assert!(csv.starts_with(
            "operation,iterations,ops_per_sec,avg_ms,p50_ms,p95_ms,p99_ms,min_ms,max_ms\n"
        ));
        let own = result(&measured(&scene, &["--format", "json", "--warmup", "2"]));
        assert_eq!(ids(&own), ROWS);
        let facts = &own["environment"]["targets"]["pkcs11"];
        assert_eq!(facts["label"], "keywright");
        // The page says where the module is, whatever links lead there.
        let module = std::fs::canonicalize(&scene.module).unwrap();
        assert_eq!(facts["module"], module.to_str().unwrap());
        assert_eq!(facts["keys"], "session objects");
        // The members of the published form stand beside our own.
        assert_eq!(own["metadata"]["token_label"], "keywright");
        let names = own["results"].as_array().unwrap().iter();
        assert!(names.map(|line| &line["name"]).eq(ROWS));
        let beside = measured(&scene, &["--format", "csv"]).text();
        assert!(beside.starts_with(
            "operation,iterations,ops_per_sec,avg_ms,p50_ms,p95_ms,p99_ms,min_ms,max_ms,runs,achieved_per_s,"
        ));
        for (form, start) in [
            ("keywright-csv", "run_id,case,target,op,"),
            ("keywright-json", "{\n  \"schema\""),
        ] {
            let ours = measured(&scene, &["--as", form]).text();
            assert!(
                ours.starts_with(start) && !ours.contains("\"metadata\""),
                "{ours}"
            );
        }
        assert_eq!(objects(&scene), 0);
    });
}

fn fields(value: &Value) -> Vec<&str> {
    let fields = value.as_object().unwrap().keys();
    fields.map(String::as_str).collect()
}

/// Every field of the published document, by its name and kind, and nothing else that a reader of it would not know.
#[track_caller]
fn has_the_fields_of_the_published_form(seed: &Value) {
    let same = |value: &Value, expected: &[&str]| {
        let mut expected = expected.to_vec();
        let mut found = fields(value);
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected);
    };
    same(seed, &["metadata", "results"]);
    let metadata = &seed["metadata"];
    same(
        metadata,
        &[
            "timestamp",
            "token_label",
            "iterations_per_test",
            "warmup_iterations",
            "system_info",
        ],
    );
    same(
        &metadata["system_info"],
        &["os", "os_version", "cpu_count", "total_memory_mb"],
    );
    assert!(metadata["timestamp"].as_str().unwrap().ends_with('Z'));
    for line in seed["results"].as_array().unwrap() {
        same(
            line,
            &[
                "name",
                "iterations",
                "total_duration",
                "min",
                "max",
                "percentiles",
                "ops_per_sec",
                "avg_latency_ms",
                "p50_ms",
                "p95_ms",
                "p99_ms",
            ],
        );
        same(&line["percentiles"], &["p50", "p95", "p99"]);
        assert!(
            line["iterations"].is_u64() && line["min"].is_f64(),
            "{line}"
        );
        let of = |name: &str| line[name].as_f64().unwrap();
        assert!(
            of("min") <= of("p50_ms") && of("p50_ms") <= of("max"),
            "{line}"
        );
        assert_eq!(line["percentiles"]["p95"], line["p95_ms"]);
    }
}

#[track_caller]
fn are_events(text: &str) {
    for line in text.lines() {
        assert!(serde_json::from_str::<Value>(line).unwrap().is_object());
    }
    assert!(text.lines().count() >= 2, "{text}");
}

/// What the published document lists as planned, one after the other.
#[test]
fn ten_enhancements_smoke() {
    on_each(|store| {
        let scene = Scene::new(store);
        let history = scene.name("history.sqlite");
        let run = |words: &[&str]| {
            let usual = ["benchmark", "--runs", "1", "--inconclusive", "pass", "-q"];
            scene.user(&[&usual[..], &["--history", &history], words].concat())
        };
        let one = ["--ops", "random.32", "--format", "json"];
        // 1 threads, 2 duration with an error rate, 6 percentiles.
        let words = "--threads 1,2 --duration 100ms --error-budget 1 --percentiles p50,p90,p99.9";
        let words: Vec<_> = words.split(' ').collect();
        let document = result(&run(&[&one[..], &words].concat()));
        assert_eq!(document["cases"].as_array().unwrap().len(), 2);
        let quantiles = &document["cases"][1]["service"];
        assert!(quantiles["p90_ns"]["value"].is_u64(), "{quantiles}");
        assert!(
            quantiles["p99_9_ns"].is_object() || quantiles["p99.9_ns"].is_object(),
            "{quantiles}"
        );
        // 3 histograms.
        let words: Vec<_> = "benchmark --ops random.32 --iterations 200 -v"
            .split(' ')
            .collect();
        let shown = scene.user(&[&words[..], &["--no-history", "--runs", "1"]].concat());
        assert!(shown.text().contains("####"));
        // 4 a mix, 10 the way there against the operation.
        let words = [
            "--mix",
            "verify=80,sign=15,encrypt=5",
            "--ops",
            "random.32",
            "--split",
        ];
        let document = result(&run(&[&words[..], &["--format", "json"]].concat()));
        let mut ids = ids(&document);
        ids.sort_unstable();
        assert_eq!(ids, ["Mix", "Null call", "Random (32 bytes)"]);
        // 7 what a dashboard draws, as events.
        let events = scene.name("events.ndjson");
        result(&run(&[&one[..], &["--events", &events]].concat()));
        are_events(&std::fs::read_to_string(events).unwrap());
        // 8 a code for machines.
        assert_eq!(run(&[&one[..], &["--slo", "p50=1ns"]].concat()).code, 3);
        // 9 the history of all that.
        let words = [
            "bench",
            "history",
            "--case",
            "Random*",
            "--history",
            &history,
        ];
        let listed = keywright(&[&words[..], &["--format", "json"]].concat()).document();
        assert!(listed["runs"].as_array().unwrap().len() >= 4, "{listed}");
        // 5, suites, is `the_suite_has_the_same_rows`.
    });
}

#[test]
fn the_other_name_of_the_command_is_the_same_command() {
    on_each(|store| {
        let scene = Scene::new(store);
        let words = [
            &SHORT[..],
            &["--module", &scene.module, "--label", "keywright"],
            &["--pin-file", scene.pin_file(), "--ops", "random.32"],
            &["--format", "json"],
        ]
        .concat();
        assert_eq!(ids(&result(&keywright(&words))), ["Random (32 bytes)"]);
        // The short word for the form, of a result and of a refusal.
        let (words, _) = words.split_at(words.len() - 2);
        let short = keywright(&[words, &["--json"]].concat());
        assert_eq!(ids(&result(&short)), ["Random (32 bytes)"]);
        let none = scene.name("none.json");
        let ended = keywright(&[words, &["--json", "--compare", &none]].concat());
        error(&ended, 7, None);
    });
}

#[test]
fn everything_there_is_is_measured_or_said_to_be_lacking() {
    on_each(|store| {
        let scene = Scene::new(store);
        let document = result(&measured(&scene, &["--all", "--format", "json"]));
        let ids = ids(&document);
        for row in ROWS.into_iter().chain([
            "pkcs11.login",
            "pkcs11.rsa2048-pkcs1.decrypt",
            "pkcs11.aes-256-gcm.open.1k",
            "pkcs11.aes-256.wrap",
            "pkcs11.keygen.rsa2048",
            "pkcs11.session.open",
            "pkcs11.object.find",
            "Null call",
        ]) {
            assert!(ids.iter().any(|id| id == row), "{row}: {ids:?}");
        }
        let remarks = document["validity"].to_string();
        for row in [
            "pkcs11.agreement.x25519",
            "pkcs11.ml-dsa-65.sign",
            "pkcs11.ml-dsa-65.verify",
            "pkcs11.ml-kem-768.encapsulate",
            "pkcs11.ml-kem-768.decapsulate",
        ] {
            let has = store.kind() == Kind::Kryoptic;
            assert_eq!(ids.iter().any(|id| id == row), has, "{row}: {ids:?}");
            assert_eq!(!remarks.contains(row), has, "{row}: {remarks}");
        }
        assert_eq!(objects(&scene), 0);
    });
}

#[test]
fn a_key_of_ones_own_is_measured_under_its_real_name() {
    on_each(|store| {
        let scene = Scene::new(store);
        let made = ["gen-keypair", "--key-label", "mine", "--bits", "3072"];
        scene.data(&made);
        let words = ["--key-label", "mine", "--format", "json"];
        let document = result(&measured(&scene, &words));
        assert_eq!(ids(&document), ["RSA-3072 Sign", "RSA-3072 Verify"]);
        scene.data(&["gen-symmetric-key", "--key-label", "aes", "--bits", "128"]);
        let words = ["--key-label", "aes", "--format", "json", "--data-sizes"];
        let document = result(&measured(&scene, &words));
        assert_eq!(
            ids(&document),
            [
                "AES-128-GCM Encrypt (1KB)",
                "AES-128-GCM Decrypt (1KB)",
                "AES-128-GCM Encrypt (10KB)",
                "AES-128-GCM Encrypt (100KB)",
                "AES-128-GCM Encrypt (1MB)",
            ]
        );
        let absent = measured(&scene, &["--key-label", "mnie"]);
        refused(&absent, 9, "mine");
        let sizes = measured(&scene, &["--key-label", "mine", "--data-sizes"]);
        refused(&sizes, 2, "encrypts nothing of several sizes");
        // Two objects of the pair and the AES key, as before.
        assert_eq!(objects(&scene), 3);
    });
}

#[test]
fn every_kind_of_key_that_this_program_makes_is_measured_or_refused_with_the_reason() {
    on_each(|store| {
        let scene = Scene::new(store);
        let mut made = vec![(
            &["--key-type", "p256", "--usage", "derive"][..],
            &["ECDH-P-256 Agree"][..],
        )];
        if store.kind() == Kind::Kryoptic {
            made.extend([
                (&["--key-type", "x25519"][..], &["X25519 Agree"][..]),
                (
                    &["--key-type", "ml-dsa-65"],
                    &["ML-DSA-65 Sign", "ML-DSA-65 Verify"],
                ),
                (
                    &["--key-type", "ed25519"],
                    &["Ed25519 Sign", "Ed25519 Verify"],
                ),
            ]);
        }
        for (words, rows) in made {
            let label = rows[0];
            scene.data(&[&["gen-keypair", "--key-label", label], words].concat());
            let document = result(&measured(
                &scene,
                &["--key-label", label, "--format", "json"],
            ));
            assert_eq!(ids(&document), rows);
        }
        scene.data(&["gen-keypair", "--key-label", "wraps", "--usage", "wrap"]);
        let wraps = measured(&scene, &["--key-label", "wraps"]);
        refused(&wraps, 2, "wrapping is measured with AES keys only");
    });
}

#[test]
fn sizes_have_a_line_threads_a_law_and_the_way_there_a_share() {
    on_each(|store| {
        let scene = Scene::new(store);
        let words = [
            "--ops",
            "hash.sha256.1k",
            "--data-sizes",
            "--format",
            "json",
            "--runs",
            "3",
        ];
        let words = words.as_slice();
        let more = [
            "benchmark",
            "--iterations",
            "20",
            "--no-history",
            "-q",
            "--inconclusive",
            "pass",
        ];
        let document = result(&scene.user(&[&more[..], words].concat()));
        let names = ["1KB", "10KB", "100KB", "1MB"].map(|size| format!("SHA-256 Hash ({size})"));
        assert_eq!(ids(&document), names);
        let last = &document["cases"][3];
        assert_eq!(last["model"]["kind"], "size", "{last}");
        let words = [
            "--ops",
            "random.32",
            "--threads",
            "1,2,4",
            "--format",
            "json",
        ];
        let document = result(&measured(&scene, &words));
        let names = ["x1", "x2", "x4"].map(|count| format!("Random (32 bytes) {count}"));
        assert_eq!(ids(&document), names);
        assert_eq!(document["cases"][2]["load"]["cap"], 4);
        assert_eq!(document["cases"][2]["model"]["kind"], "scaling");
        let words = ["--ops", "rsa2048-pkcs1.sign", "--split", "--format", "json"];
        let document = result(&measured(&scene, &words));
        assert_eq!(ids(&document), ["RSA-2048 Sign", "Null call"]);
        assert_eq!(document["cases"][0]["model"]["kind"], "breakdown");
    });
}

#[test]
fn a_mix_is_drawn_by_its_weights_and_a_stretch_of_time_counts_failures() {
    on_each(|store| {
        let scene = Scene::new(store);
        let words = ["--mix", "verify=80,sign=15,encrypt=5", "--format", "json"];
        let document = result(&compared(&scene, &words));
        let mut cases = document["cases"].as_array().unwrap().iter();
        let mix = cases.find(|case| case["id"] == "Mix").unwrap();
        assert!(
            mix["parameters"]["mix"]
                .as_str()
                .unwrap()
                .contains("pkcs11.rsa2048-pkcs1.verify=80")
        );
        let stress = [
            "benchmark",
            "--duration",
            "200ms",
            "--runs",
            "1",
            "--threads",
            "2",
        ];
        let more = [
            "--ops",
            "hmac-sha256.sign",
            "--no-history",
            "-q",
            "--inconclusive",
            "pass",
            "--format",
            "json",
        ];
        let document = result(&scene.user(&[&stress[..], &more].concat()));
        assert!(document["cases"][0]["counts"]["sent"].as_u64().unwrap() > 2);
        let login = ["--mix", "login=1,sign=1"];
        refused(&measured(&scene, &login), 2, "log-in cannot be mixed");
    });
}

#[test]
fn keys_in_the_token_are_gone_afterwards() {
    on_each(|store| {
        let scene = Scene::new(store);
        let words = [
            "--token-objects",
            "--own-keys",
            "--threads",
            "2",
            "--format",
            "json",
        ];
        let document = result(&measured(
            &scene,
            &[&words[..], &["--ops", "ecdsa-p256.sign,aes-cmac.sign"]].concat(),
        ));
        assert_eq!(
            document["environment"]["targets"]["pkcs11"]["keys"],
            "token objects"
        );
        assert_eq!(objects(&scene), 0);
    });
}

#[test]
fn keys_removed_after_interrupt() {
    on_each(|store| {
        let scene = Scene::new(store);
        for stored in [false, true] {
            let mut command = program();
            command.args(["hsm", "benchmark", "--module", &scene.module]);
            command.args(["--label", "keywright", "--pin-file", scene.pin_file()]);
            command.args([
                "--ops",
                "hmac-sha256.sign,ecdsa-p256.sign",
                "--duration",
                "60s",
            ]);
            command.args([
                "--no-history",
                "--format",
                "json",
                "--events",
                &scene.name("events"),
            ]);
            if stored {
                command.arg("--token-objects");
            }
            let mut child = command.spawn().unwrap();
            let begun = || {
                let events = std::fs::read_to_string(scene.name("events"));
                events.is_ok_and(|events| events.contains("started"))
            };
            assert!(eventually(begun), "the measurement begins");
            if stored {
                assert!(
                    eventually(|| objects(&scene) == 3),
                    "keys are in the token meanwhile"
                );
            }
            signal("INT", child.id());
            let mut report = String::new();
            let mut out = BufReader::new(child.stdout.take().unwrap());
            while out.read_line(&mut report).unwrap() > 0 {}
            let status = child.wait().unwrap();
            assert_eq!(status.code(), Some(130), "{report}");
            let document: Value = serde_json::from_str(&report).unwrap();
            assert_eq!(document["exit"]["code"], 130);
            assert_eq!(objects(&scene), 0, "stored: {stored}");
            std::fs::remove_file(scene.name("events")).unwrap();
        }
    });
}

/// `hsm benchmark` on one cheap row, with enough runs for a comparison.
fn compared(scene: &Scene<'_>, words: &[&str]) -> Ended {
    let usual = ["benchmark", "--ops", "random.32", "--iterations", "200"];
    let more = [
        "--runs",
        "6",
        "--no-history",
        "-q",
        "--inconclusive",
        "pass",
    ];
    scene.user(&[&usual[..], &more, words].concat())
}

#[test]
fn compare_gate_exit_codes() {
    on_each(|store| {
        let scene = Scene::new(store);
        let base = scene.name("base.json");
        let kept = compared(&scene, &["-o", &base]);
        assert_eq!(kept.code, 0, "{kept:?}");
        let same = compared(&scene, &["--compare", &base]);
        assert_eq!(same.code, 0, "{same:?}");
        // A baseline that no token reaches.
        let mut document: Value = serde_json::from_slice(&scene.folder.read("base.json")).unwrap();
        for run in document["cases"][0]["runs"].as_array_mut().unwrap() {
            let rate = run["achieved_per_s"].as_f64().unwrap();
            run["achieved_per_s"] = (rate * 1e5).into();
            run["p50_ns"] = 1.into();
        }
        let fast = scene.file("fast.json", document.to_string());
        let slower = compared(&scene, &["--compare", &fast, "--fail-on-regression"]);
        assert_eq!(slower.code, 3, "{slower:?}");
        let few = measured(&scene, &["--ops", "random.32", "--compare", &base]);
        assert_eq!(few.code, 7, "{few:?}");
        let missing = compared(&scene, &["--compare", &scene.name("none.json")]);
        assert_eq!(missing.code, 7, "{missing:?}");
        let objective = compared(&scene, &["--slo", "p50=1ns"]);
        assert_eq!(objective.code, 3, "{objective:?}");
    });
}

/// What was printed, however it ended.
fn shown(ended: &Ended) -> &str {
    std::str::from_utf8(&ended.stdout).unwrap()
}

/// Demands the table of differences with these rows.
#[track_caller]
fn has_the_table(ended: &Ended, rows: &[&str]) {
    let text = shown(ended);
    let (_, table) = text.split_once("BENCHMARK COMPARISON").unwrap_or_default();
    assert!(
        table.contains("Diff %") && table.contains("P95 Base"),
        "{text}"
    );
    for row in rows {
        let line = table.lines().find(|line| line.starts_with(row));
        assert!(
            line.is_some_and(|line| line.contains("% ")),
            "{row}: {text}"
        );
    }
}

/// `hsm benchmark` as the published pages call it, with no word about runs. The operations are few, and enough
/// for the median of each run.
fn by_default(scene: &Scene<'_>, words: &[&str]) -> Ended {
    let usual = ["benchmark", "--iterations", "25", "--no-history", "-q"];
    scene.user(&[&usual[..], &["--inconclusive", "pass"], words].concat())
}

/// Demands that so many rows were held against the baseline and judged, and gives the runs that it took.
#[track_caller]
fn judged(document: &Value, rows: usize) -> usize {
    let compared = document["comparison"].as_array().unwrap();
    assert_eq!(compared.len(), 2 * rows, "{compared:?}");
    assert!(
        compared.iter().all(|one| one["verdict"].is_string()),
        "{compared:?}"
    );
    let verdicts = document["verdicts"].to_string();
    assert!(!verdicts.contains("NOT-COMPARABLE"), "{verdicts}");
    let cases = document["cases"].as_array().unwrap().iter();
    let mut runs: Vec<usize> = cases
        .map(|case| case["runs"].as_array().unwrap().len())
        .collect();
    runs.dedup();
    assert_eq!(runs.len(), 1, "{runs:?}");
    runs[0]
}

#[test]
fn a_baseline_and_a_result_that_are_both_measured_with_defaults_are_compared_row_by_row() {
    on_each(|store| {
        let mut scene = Scene::new(store);
        let base = scene.name("base.json");
        result(&by_default(&scene, &["--format", "json", "-o", &base]));
        let same = by_default(&scene, &["--compare", &base]);
        assert_eq!(same.code, 0, "{same:?}");
        has_the_table(&same, &ROWS);
        // The same module in another folder is the same module.
        let copy = scene.name("copied-module.so");
        std::fs::copy(&scene.module, &copy).unwrap();
        scene.module = copy;
        let words = ["--compare", &base, "--format", "json"];
        let document = result(&by_default(&scene, &words));
        assert_eq!(judged(&document, ROWS.len()), 7);
        let csv = by_default(&scene, &["--compare", &base, "--as", "keywright-csv"]).text();
        assert!(csv.contains(",throughput_diff,") && csv.contains(",p50_baseline,"));
    });
}

#[test]
fn a_baseline_of_few_runs_makes_the_comparison_take_more() {
    on_each(|store| {
        let scene = Scene::new(store);
        let base = scene.name("base.json");
        // Without the two that take longest.
        let rows = &ROWS[2..];
        let named = rows.join(",");
        let run = |words: &[&str]| by_default(&scene, &[&["--ops", &named], words].concat());
        result(&run(&["--format", "json", "-o", &base, "--runs", "5"]));
        let document = result(&run(&["--compare", &base, "--format", "json"]));
        assert_eq!(judged(&document, rows.len()), 8);
        let planned = run(&["--compare", &base, "--dry-run"]).text();
        let runs = |line: &str| line.split_whitespace().rev().nth(1).map(str::to_owned);
        let mut planned = planned.lines().skip(1);
        assert!(planned.all(|line| runs(line).as_deref() == Some("8")));
        // What is asked for by name is done, and said to be too little.
        let few = run(&["--compare", &base, "--runs", "2"]);
        assert_eq!(few.code, 7, "{few:?}");
        has_the_table(&few, rows);
        let text = shown(&few);
        assert!(text.contains("of each are needed") && text.contains("with no verdict"));
    });
}

/// The published form with one rate far above and one far below what any token does.
fn published(scene: &Scene<'_>, ended: &Ended) -> String {
    let mut seed: Value = serde_json::from_slice(&ended.stdout).unwrap();
    for (place, rate) in [(0, 1e9), (13, 1e-3)] {
        seed["results"][place]["ops_per_sec"] = rate.into();
    }
    scene.file("published.json", seed.to_string())
}

#[test]
fn a_baseline_in_the_published_form_is_shown_beside_the_result_without_a_verdict() {
    on_each(|store| {
        let scene = Scene::new(store);
        let seed = by_default(&scene, &["--runs", "1", "--as", "seed-json"]);
        let seed = published(&scene, &seed);
        let one = |words: &[&str]| {
            by_default(
                &scene,
                &[&["--runs", "1", "--compare", &seed], words].concat(),
            )
        };
        let text = one(&[]);
        assert_eq!(text.code, 0, "{text:?}");
        has_the_table(&text, &ROWS);
        let table = shown(&text);
        let marked = |row: &str, mark: &str| {
            let mut lines = table.lines().filter(|line| line.starts_with(row));
            lines.any(|line| line.ends_with(mark))
        };
        assert!(
            marked(ROWS[0], " slower") && marked(ROWS[13], " faster"),
            "{table}"
        );
        assert!(!table.contains("REGRESSION") && !table.contains("IMPROVED"));
        assert!(table.contains("without statistics and verdicts"), "{table}");
        let document = result(&one(&["--format", "json"]));
        let compared = document["comparison"].as_array().unwrap();
        let rates = compared.iter().filter(|one| one["metric"] == "throughput");
        assert_eq!(rates.clone().count(), ROWS.len(), "{compared:?}");
        assert!(compared.iter().all(|one| one["verdict"].is_null()));
        let first = rates.clone().next().unwrap();
        assert!(first["ratio"].as_f64().unwrap() < 1e-3, "{first}");
        let csv = one(&["--as", "keywright-csv"]).text();
        assert_eq!(csv.matches(",throughput_diff,").count(), ROWS.len());
        // Whoever wants a code for a regression learns before the measurement that there will be none.
        for word in ["--fail-on-regression", "--ci"] {
            refused(&one(&[word]), 7, "has no runs");
        }
        let history = scene.name("history.sqlite");
        let kept = scene.user(&[
            "benchmark",
            "--ops",
            "random.32",
            "--runs",
            "1",
            "-q",
            "--history",
            &history,
            "--compare",
            &seed,
            "--inconclusive",
            "pass",
        ]);
        assert_eq!(kept.code, 0, "{kept:?}");
        assert!(!kept.stderr.contains("not kept"), "{kept:?}");
        // The suite has the rows by other names.
        let suite = suite(&scene, &["--tags", "full-suite", "--compare", &seed]);
        assert_eq!(suite.code, 0, "{suite:?}");
        has_the_table(&suite, &["encrypt/aes-256/gcm"]);
    });
}

#[test]
fn a_failure_behind_the_log_in_has_the_form_and_the_code_of_every_other() {
    on_each(|store| {
        let scene = Scene::new(store);
        let none = scene.name("none.json");
        let compare = ["--ops", "random.32", "--compare", &none];
        refused(&measured(&scene, &compare), 7, "none.json");
        for form in [&["--json"][..], &["--format", "json"]] {
            let ended = measured(&scene, &[&compare[..], form].concat());
            let told = error(&ended, 7, None);
            assert!(told["message"].as_str().unwrap().contains("none.json"));
            assert_eq!(document(&ended)["command"], "benchmark");
        }
        let status = scene.name("status");
        measured(
            &scene,
            &[&compare[..], &["--status-file", &status]].concat(),
        );
        assert_eq!(scene.folder.read("status"), b"exit 7 not_comparable\n");
        // A return code of the token stays one.
        if store.kind() == Kind::SoftHsm {
            let lacks = ["--ops", "ml-dsa-65.sign"];
            let ended = measured(&scene, &[&lacks[..], &["--json"]].concat());
            error(&ended, 12, Some("CKR_MECHANISM_INVALID"));
            let warnings = document(&ended)["warnings"].to_string();
            assert!(warnings.contains("pkcs11.ml-dsa-65.sign"), "{warnings}");
            let text = measured(&scene, &lacks);
            refused(&text, 12, "CKR_MECHANISM_INVALID");
            assert!(
                text.stderr.contains("keywright hsm explain-error 0x70"),
                "{text:?}"
            );
            let mix = measured(&scene, &["--mix", "ml-dsa-65.sign=1,ml-dsa-65.verify=1"]);
            refused(&mix, 12, "CKR_MECHANISM_INVALID");
        }
    });
}

#[test]
fn what_cannot_be_measured_is_refused_in_the_form_that_was_asked_for() {
    on_each(|store| {
        let scene = Scene::new(store);
        let none = scene.user(&["benchmark", "--iterations", "0"]);
        refused(&none, 2, "zero iterations");
        let wrong = scene.file("wrong", "not-the-pin\n");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&wrong, mode).unwrap();
        let words = ["benchmark", "--pin-file", &wrong, "--json"];
        error(&scene.public(&words), 11, Some("CKR_PIN_INCORRECT"));
        let unknown = measured(&scene, &["--ops", "rsa2048.sgin"]);
        refused(&unknown, 9, "rsa2048.sgin");
        let twice = measured(&scene, &["--ops", "random.32,random.32"]);
        refused(&twice, 2, "named twice");
        let argv = scene.public(&["benchmark", "--user-pin", USER_PIN]);
        refused(&argv, 2, "words of the command");
    });
}

#[test]
fn a_pin_in_the_words_is_in_no_result() {
    on_each(|store| {
        let scene = Scene::new(store);
        let words = [&SHORT[..], &["--user-pin", USER_PIN, "--insecure-pin-argv"]].concat();
        let ended =
            scene.public(&[&words[..], &["--ops", "random.32", "--format", "json"]].concat());
        assert!(!String::from_utf8_lossy(&ended.stdout).contains(USER_PIN));
        assert!(
            result(&ended)["run"]["command"]
                .as_str()
                .unwrap()
                .contains("--user-pin ***")
        );
    });
}

/// `keywright bench run hsm` on the token.
fn suite(scene: &Scene<'_>, words: &[&str]) -> Ended {
    let mut command = program();
    command
        .args(["bench", "run", "hsm", "--runs", "1", "--no-history", "-q"])
        .args(["--inconclusive", "pass"])
        .args(words)
        .env("KEYWRIGHT_PKCS11_MODULE", &scene.module)
        .env("KEYWRIGHT_TOKEN", "keywright")
        .env("KEYWRIGHT_TOKEN_PIN", USER_PIN);
    crate::bench::ended(&mut command)
}

#[test]
fn the_suite_has_the_same_rows() {
    on_each(|store| {
        let scene = Scene::new(store);
        let seed = suite(&scene, &["--tags", "full-suite", "--as", "seed-json"]);
        assert_eq!(seed.code, 0, "{seed:?}");
        assert_eq!(seed_names(&seed), ROWS);
        let document = result(&suite(&scene, &["--tags", "mix,login", "--format", "json"]));
        assert_eq!(ids(&document), ["mix/verify-sign-encrypt", "beyond/login"]);
        assert_eq!(objects(&scene), 0);
    });
}

#[test]
fn every_tag_of_the_suite_is_measured_on_a_token() {
    on_each(|store| {
        let scene = Scene::new(store);
        for (tag, cases) in [("sizes", 6), ("threads", 3), ("beyond", 12)] {
            let document = result(&suite(&scene, &["--tags", tag, "--format", "json"]));
            let ids = ids(&document);
            assert_eq!(ids.len(), cases, "{tag}: {ids:?} {}", document["validity"]);
            assert!(ids.iter().all(|id| id.starts_with(&format!("{tag}/"))));
            let cap = |case: &Value| case["load"]["cap"].as_u64().unwrap();
            if tag == "threads" {
                let caps: Vec<_> = document["cases"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(cap)
                    .collect();
                assert_eq!(caps, [1, 2, 4]);
            }
        }
        assert_eq!(objects(&scene), 0);
    });
}
