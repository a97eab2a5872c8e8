//! What can be measured, what would be, how a result is repeated, and what is in none: a secret.

use std::process::Command;

use serde_json::Value;

use crate::bench::{Bench, CLOSED, ended};
use crate::program::{Home, keywright};

#[test]
fn lists_name_everything_that_can_be_measured() {
    let listed: Value =
        serde_json::from_str(&keywright(&["bench", "list", "ops", "--format", "json"]).text())
            .unwrap();
    let members: Vec<&String> = listed.as_object().unwrap().keys().collect();
    assert_eq!(members, ["operations", "schema_version"]);
    let operations = listed["operations"].as_array().unwrap();
    assert!(operations.len() > 50, "{}", operations.len());
    let mut names: Vec<&str> = Vec::new();
    for operation in operations {
        let members: Vec<&String> = operation.as_object().unwrap().keys().collect();
        assert_eq!(members, ["name", "target", "unit"]);
        names.push(operation["name"].as_str().unwrap());
    }
    let text = keywright(&["bench", "list"]).text();
    let told: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(told, names);
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), operations.len(), "no name twice");

    for suite in keywright(&["bench", "list", "suites"]).text().lines() {
        let plan = keywright(&["bench", "run", suite, "--dry-run"]).text();
        assert!(
            plan.starts_with("case ") && plan.lines().count() > 1,
            "{suite}: {plan}"
        );
    }
}

#[test]
fn a_dry_run_tells_the_cases_and_measures_none() {
    let bench = Bench::new();
    let told = bench
        .run(&[
            "run",
            "ci",
            "--dry-run",
            "--tags",
            "service",
            "-o",
            "a.json",
        ])
        .text();
    let cases: Vec<&str> = told.lines().skip(1).collect();
    assert!(
        cases.len() >= 6 && cases.iter().all(|line| line.contains("service.")),
        "{told}"
    );
    assert_eq!(bench.folder.names(), [""; 0]);
}

#[test]
fn the_schema_that_is_printed_is_the_one_that_is_published() {
    let printed = keywright(&["bench", "schema"]).bytes();
    let published = include_bytes!("../../../../measure/report/schema/bench-1.0.0.json");
    assert!(printed == published);
}

#[test]
fn a_command_that_is_repeated_from_the_result_gives_the_same_figures() {
    let bench = Bench::new();
    bench.script("slow suite.toml", "mean = \"1ms\"", CLOSED);
    let document = bench.document(
        3,
        &[
            "run",
            "slow suite.toml",
            "--seed",
            "7",
            "--gate",
            "rate:a<=1",
        ],
    );
    let command = document["run"]["command"].as_str().unwrap();
    let words = command.strip_prefix("keywright ").unwrap();
    assert!(
        words.contains("'slow suite.toml'") && words.contains("'rate:a<=1'"),
        "{words}"
    );
    let mut shell = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_keywright");
    shell
        .args(["-c", &format!("\"{program}\" {words}")])
        .current_dir(bench.folder.path());
    shell.env(
        "KEYWRIGHT_BENCH_HISTORY",
        bench.folder.name("history.sqlite"),
    );
    let again = ended(&mut shell);
    assert_eq!(again.code, 3, "{again:?}");
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(
        again["cases"][0]["service"],
        document["cases"][0]["service"]
    );
    assert_eq!(
        again["cases"][0]["achieved_per_s"],
        document["cases"][0]["achieved_per_s"]
    );
}

/// A token that nobody may see again.
const CANARY: &str = "hvs.canary-7f3a91c2";

/// Demands that no file of the folder but the token's own has the token in it.
#[track_caller]
fn nowhere(bench: &Bench) {
    for name in bench.folder.names().iter().filter(|name| *name != "token") {
        let bytes = bench.folder.read(name);
        let mut windows = bytes.windows(CANARY.len());
        assert!(!windows.any(|window| window == CANARY.as_bytes()), "{name}");
    }
}

const FILES: [&str; 9] = [
    "-o",
    "a.json",
    "-o",
    "a.html",
    "--events",
    "events",
    "--status-file",
    "status",
    "-v",
];

#[test]
fn the_token_of_a_store_is_in_no_output_of_a_command_that_fails() {
    let (bench, home) = (Bench::new(), Home::demo());
    let token = bench.folder.write("token", format!("{CANARY}\n"));
    let ca = home.word("ca.pem");
    let operation = [
        "op",
        "vault.kv.get",
        "hash.sha256.1k",
        "-n",
        "20",
        "--runs",
        "1",
        "-w0s",
    ];
    let store = [
        "--store",
        "https://127.0.0.1:1",
        "--store-token-file",
        &token,
        "--store-ca",
        &ca,
    ];
    for format in ["text", "json"] {
        let ended = bench.run(&[&operation[..], &store, &FILES, &["--format", format]].concat());
        assert_eq!(ended.code, 5, "{ended:?}");
        let printed = String::from_utf8_lossy(&ended.stdout) + ended.stderr.as_str();
        assert!(!printed.contains(CANARY), "{ended:?}");
        nowhere(&bench);
    }
}

#[test]
fn the_token_of_a_suite_is_in_no_output_of_what_was_measured() {
    let (bench, home) = (Bench::new(), Home::demo());
    bench.folder.write("token", format!("{CANARY}\n"));
    let ca = home.word("ca.pem");
    for token in ["{ file = \"token\" }", "{ env = \"KEYWRIGHT_CANARY\" }"] {
        let suite = format!(
            "version = 1\n\
             [defaults]\nruns = 1\nwarmup = \"0s\"\niterations = 20\n\
             [target.store]\nkind = \"kv\"\nurl = \"https://127.0.0.1:1\"\n\
             tls = {{ ca = \"{ca}\" }}\ntoken = {token}\n\
             [[case]]\nid = \"there\"\ntarget = \"store\"\nop = \"vault.kv.get\"\n\
             [[case]]\nid = \"here\"\ntarget = \"local\"\nop = \"hash.sha256.1k\"\n"
        );
        bench.folder.write("suite.toml", suite);
        let mut command = bench.command(&[&["run", "suite.toml"][..], &FILES].concat());
        let ended = ended(command.env("KEYWRIGHT_CANARY", CANARY));
        let printed = String::from_utf8_lossy(&ended.stdout) + ended.stderr.as_str();
        assert!(!printed.contains(CANARY), "{ended:?}");
        let document: Value = serde_json::from_slice(&bench.folder.read("a.json")).unwrap();
        let cases = document["cases"].as_array().unwrap();
        assert!(cases.iter().any(|case| case["id"] == "here"), "{document}");
        // Nothing is at that address: what answered, if anything did, says that it is not that store.
        for case in cases.iter().filter(|case| case["id"] == "there") {
            let words = case["verdicts"].as_array().unwrap();
            assert!(words.contains(&"STAND-IN".into()), "{case}");
        }
        nowhere(&bench);
    }
}

#[test]
fn a_token_cannot_be_given_in_words_that_every_process_can_read() {
    let bench = Bench::new();
    let ended = bench.run(&["op", "vault.kv.get", "--store-token", CANARY]);
    assert_eq!(ended.code, 2, "{ended:?}");
    let words = ["op", "vault.kv.get", "--store", "https://127.0.0.1:1"];
    bench
        .run(&words)
        .refused(2, "needs a token", "--store-token-file FILE");
    let suite = "version = 1\n[target]\nx = { kind = \"kv\", url = \"https://127.0.0.1:1\", token = \"t\" }\n";
    let file = bench.folder.write("suite.toml", suite);
    bench
        .run(&["run", &file])
        .refused(2, "line 3", "BENCHMARKING.md");
}
