//! analyze and audit-keys through the binary: logs of real applications, real tokens, every form.

use std::io::{BufRead as _, BufReader};
use std::process::Command;

use keywright_tokens::{Store, USER_PIN, on_each};
use serde_json::Value;

use crate::hsm::{Scene, data, document, error, refused};
use crate::program::{Ended, Folder, keywright, keywright_reading, program};

/// Calls as the recorder writes them: a login with a wrong PIN, and another one.
const LOG: &str = "{\"v\":\"1.0\",\"ts\":\"2026-11-21T02:41:33.7Z\",\"pid\":1,\"func\":\"C_Login\",\"rv\":160,\"dur_ns\":900,\"slot_id\":7,\"session\":1}\n\
    {\"v\":\"1.0\",\"ts\":\"2026-11-21T02:41:34.7Z\",\"pid\":1,\"func\":\"C_Login\",\"rv\":0,\"dur_ns\":900,\"slot_id\":7,\"session\":1}\n";

#[test]
fn a_log_is_told_in_every_form_and_fails_where_it_is_asked_to() {
    let folder = Folder::new();
    let log = folder.write("calls.jsonl", LOG);
    let report = data(&keywright(&["hsm", "analyze", &log, "--json"]));
    assert_eq!(
        (&report["total_ops"], &report["error_count"]),
        (&2.into(), &1.into())
    );
    assert_eq!(report["findings"][0]["code"], "retry-after-wrong-pin");
    let text = keywright(&["hsm", "analyze", &log]).text();
    assert!(
        text.contains("retry-after-wrong-pin") && text.contains("CKR_PIN_INCORRECT"),
        "{text}"
    );
    let table = keywright(&["hsm", "analyze", &log, "--format", "csv"]).text();
    assert!(
        table.starts_with("kind,name,") && table.contains("finding,retry-after-wrong-pin"),
        "{table}"
    );
    let page = folder.name("calls.html");
    keywright(&[
        "hsm", "analyze", &log, "--format", "html", "--output", &page,
    ])
    .text();
    let page = String::from_utf8(folder.read("calls.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("retry-after-wrong-pin"));
    let ended = keywright(&[
        "hsm",
        "analyze",
        &log,
        "--format",
        "sarif",
        "--fail-on",
        "high",
    ]);
    assert_eq!(ended.code, 3, "{ended:?}");
    sarif_valid(&ended.stdout, "retry-after-wrong-pin");
    assert_eq!(
        keywright(&["hsm", "analyze", &log, "--fail-on", "critical"]).code,
        0
    );
    assert_eq!(
        keywright_reading(&["hsm", "analyze", "-", "--json"], LOG.as_bytes()).code,
        0
    );
}

/// What SARIF 2.1.0 demands of a run, its rules and its results.
#[track_caller]
fn sarif_valid(bytes: &[u8], rule: &str) {
    let document: Value = serde_json::from_slice(bytes).unwrap();
    assert_eq!(document["version"], "2.1.0");
    let run = &document["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert!(run["tool"]["driver"]["name"].is_string());
    let results = run["results"].as_array().unwrap();
    assert!(
        results.iter().any(|result| result["ruleId"] == rule),
        "{document}"
    );
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(matches!(
            result["level"].as_str(),
            Some("error" | "warning" | "note")
        ));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        assert_eq!(result["locations"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn two_logs_are_compared_and_only_new_findings_count() {
    let folder = Folder::new();
    let log = folder.write("a.jsonl", LOG);
    let clean = folder.write("b.jsonl", LOG.lines().nth(1).unwrap());
    let compare = |a: &str, b: &str| {
        keywright(&[
            "hsm",
            "analyze",
            "--compare",
            a,
            b,
            "--json",
            "--fail-on",
            "low",
        ])
    };
    let worse = compare(&clean, &log);
    assert_eq!(worse.code, 3);
    assert_eq!(
        document(&worse)["data"]["new_findings"][0]["code"],
        "retry-after-wrong-pin"
    );
    assert_eq!(compare(&log, &log).code, 0);
    assert_eq!(
        data(&compare(&log, &clean))["gone_findings"][0],
        "retry-after-wrong-pin"
    );
    for (format, begin) in [("csv", "kind,name,"), ("html", "<!DOCTYPE html>")] {
        let told = keywright(&[
            "hsm",
            "analyze",
            "--compare",
            &clean,
            &log,
            "--format",
            format,
        ]);
        let text = told.text();
        assert!(
            text.starts_with(begin) && text.contains("retry-after-wrong-pin"),
            "{text}"
        );
    }
}

#[test]
fn what_is_no_log_is_said_and_what_is_wrong_with_the_words_too() {
    let folder = Folder::new();
    let noise = folder.write("noise", [0xff, 0, 0xfe, b'\n', 7]);
    let page = folder.write("page.md", "# Title\n\nText:\n\n    a: 00 11 22\n");
    let copy = folder.name("copy.log");
    let log = folder.write("calls.jsonl", LOG);
    for words in [
        vec![&noise[..], "--json"],
        vec![&page[..], "--fail-on", "high", "--json"],
        vec![&page[..], "--scrub", &copy, "--json"],
        vec!["--compare", &log, &page, "--json"],
    ] {
        let ended = keywright(&[&["hsm", "analyze"], &words[..]].concat());
        let refused = error(&ended, 2, None);
        let message = refused["message"].as_str().unwrap();
        assert!(message.contains("no line of"), "{refused}");
    }
    assert!(!std::path::Path::new(&copy).exists(), "no copy of it");
    refused(&keywright(&["hsm", "analyze", &page]), 2, "no line of");
    // A log without a call yet, and one with lines of another program, are logs.
    let empty = folder.write("empty", "");
    let ended = keywright(&["hsm", "analyze", &empty, "--json"]);
    assert_eq!(ended.code, 0);
    let document = document(&ended);
    assert!(
        document["warnings"][0]
            .as_str()
            .unwrap()
            .contains("no line of"),
        "{document}"
    );
    let mixed = folder.write("mixed", LOG.to_owned() + "Text:\n    a: 00 11 22\n");
    let told = keywright(&["hsm", "analyze", &mixed]).text();
    assert!(
        told.contains("unreadable-lines") && !told.contains("secrets-in-log"),
        "{told}"
    );
    error(
        &keywright(&["hsm", "analyze", "/nonexistent/log", "--json"]),
        1,
        None,
    );
    error(
        &keywright(&["hsm", "analyze", &noise, "--tz", "Nowhere/None", "--json"]),
        2,
        None,
    );
    for words in [
        vec!["hsm", "analyze"],
        vec!["hsm", "analyze", &noise, "--fail-on", "grave"],
        vec!["hsm", "info", "--format", "sarif"],
    ] {
        assert_eq!(keywright(&words).code, 2, "{words:?}");
    }
}

#[test]
fn a_scrubbed_copy_is_written_beside_and_never_over_a_file() {
    let folder = Folder::new();
    let spy = "0: C_Login\n2026-11-21 02:36:58.397\n[in] hSession = 0x1\n[in] pPin[ulPinLen] 00007ffdb800ba10 / 8\n    00000000  63 61 6E 61 72 79 2D 31                          canary-1        \nReturned:  0 CKR_OK\n";
    let log = folder.write("spy.log", spy);
    let clean = folder.name("clean.log");
    let ended = keywright(&["hsm", "analyze", &log, "--tz", "utc", "--scrub", &clean]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains("2 were left out"), "{ended:?}");
    let text = String::from_utf8(folder.read("clean.log")).unwrap();
    assert!(
        text.contains("C_Login") && !text.contains("canary") && !text.contains("63 61"),
        "{text}"
    );
    assert_eq!(folder.mode("clean.log"), 0o600);
    refused(
        &keywright(&["hsm", "analyze", &log, "--scrub", &clean]),
        13,
        "exists",
    );
}

#[test]
fn a_log_is_followed_while_it_grows_and_is_set_aside() {
    let folder = Folder::new();
    let log = folder.write("calls.jsonl", LOG);
    let mut child = program()
        .args([
            "hsm", "analyze", &log, "--follow", "--for", "4", "--every", "1", "--json",
        ])
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // The first view: what was there is read.
    let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(first["total_ops"], 2);
    // The recorder sets a file aside and begins another one.
    std::fs::rename(&log, folder.name("calls.jsonl.1")).unwrap();
    folder.write("calls.jsonl", LOG.repeat(3));
    let last = lines.last().unwrap().unwrap();
    let last: Value = serde_json::from_str(&last).unwrap();
    assert_eq!(last["data"]["total_ops"], 8, "{last}");
    assert!(child.wait().unwrap().success());
}

/// `keywright hsm` on this token through the recorder, started by `program`, and the log that is written.
pub(crate) fn through_recorder(
    store: &Store,
    program: &[&str],
    words: &[&str],
) -> (Command, std::path::PathBuf) {
    let at = std::env::current_exe().unwrap();
    let recorder = at
        .ancestors()
        .nth(1)
        .unwrap()
        .join("libkeywright_pkcs11_recorder.so");
    assert!(recorder.exists(), "{} was not built", recorder.display());
    let log = store.folder().join("recorded.jsonl");
    let all = [program, &[env!("CARGO_BIN_EXE_keywright")]].concat();
    let mut command: Command = store.command(all[0]);
    command
        .args(&all[1..])
        .arg("hsm")
        .args(words)
        .arg("--module")
        .arg(&recorder)
        .args(["--label", "keywright"]);
    // The token's own module, also where all tests go through a recorder already.
    command
        .env("KEYWRIGHT_P11_TARGET", store.kind().module().unwrap())
        .env("KEYWRIGHT_P11_LOG", &log);
    (command, log)
}

/// `keywright hsm` on this token as the user, through the recorder.
fn recorded(store: &Store, words: &[&str]) -> (Ended, String) {
    let (mut command, log) = through_recorder(store, &[], words);
    command
        .env("AUDIT_PIN", USER_PIN)
        .args(["--pin-env", "AUDIT_PIN"]);
    let output = command.output().unwrap();
    let ended = Ended {
        code: output.status.code().unwrap(),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    };
    (ended, std::fs::read_to_string(&log).unwrap_or_default())
}

/// The functions that an audit may call.
const READS: [&str; 20] = [
    "C_Initialize",
    "C_Finalize",
    "C_GetInfo",
    "C_GetFunctionList",
    "C_GetInterface",
    "C_GetInterfaceList",
    "C_GetSlotList",
    "C_GetSlotInfo",
    "C_GetTokenInfo",
    "C_GetMechanismList",
    "C_GetMechanismInfo",
    "C_OpenSession",
    "C_CloseSession",
    "C_GetSessionInfo",
    "C_Login",
    "C_Logout",
    "C_FindObjectsInit",
    "C_FindObjects",
    "C_FindObjectsFinal",
    "C_GetAttributeValue",
];

/// One pair that stays in the token, and two keys that may leave it.
fn with_keys_that_leave(store: &Store) -> Scene<'_> {
    let scene = Scene::new(store);
    let pair = |label| ["gen-keypair", "--key-label", label, "--key-type", "p256"];
    let extractable: &[&str] = &["--extractable"];
    scene.data(&pair("stays"));
    scene.data(&[&pair("leaves")[..], extractable].concat());
    let secret: &[&str] = &["gen-symmetric-key", "--key-label", "also-leaves"];
    scene.data(&[secret, extractable].concat());
    scene
}

/// What tools that read the seed's report look for.
fn has_the_counts_of_a_report(report: &Value) {
    let objects = [
        "total_objects",
        "private_keys",
        "public_keys",
        "secret_keys",
    ];
    for name in objects {
        assert!(report[name].is_u64(), "{name}");
    }
    let kinds = ["critical", "high", "medium", "low"].map(|kind| format!("{kind}_count"));
    for name in kinds
        .iter()
        .map(String::as_str)
        .chain(["total_issues", "unique_keys_affected"])
    {
        assert!(report["summary"][name].is_u64(), "{name}");
    }
}

#[test]
fn an_audit_finds_what_may_leave() {
    on_each(|store| {
        let scene = with_keys_that_leave(store);
        let ended = scene.user(&["audit-keys", "--json"]);
        assert_eq!(ended.code, 3, "{ended:?}");
        let report = &document(&ended)["data"];
        let found = |label: &str, issue: &str| {
            let issues = report["issues"].as_array().unwrap();
            issues.iter().any(|one| {
                one["key_label"] == label
                    && one["issue_type"] == issue
                    && one["severity"] == "CRITICAL"
            })
        };
        assert!(found("leaves", "ExtractablePrivateKey"), "{report}");
        assert!(found("also-leaves", "ExtractableSecretKey"), "{report}");
        assert!(!found("stays", "ExtractablePrivateKey"), "{report}");
        has_the_counts_of_a_report(report);
        let sarif = scene.user(&["audit-keys", "--format", "sarif", "--fail-on", "never"]);
        assert_eq!(sarif.code, 0);
        sarif_valid(&sarif.stdout, "ExtractablePrivateKey");
    });
}

#[test]
fn an_audit_is_silent_about_what_was_accepted() {
    on_each(|store| {
        let scene = with_keys_that_leave(store);
        let baseline = scene.name("baseline.json");
        scene.user(&["audit-keys", "--write-baseline", &baseline]);
        let words = [
            "audit-keys",
            "--baseline",
            &baseline,
            "--json",
            "--fail-on",
            "low",
        ];
        let known = scene.user(&words);
        let total = &document(&known)["data"]["summary"]["total_issues"];
        assert_eq!((known.code, total), (0, &Value::from(0)), "{known:?}");
    });
}

#[test]
fn an_audit_calls_nothing_that_writes() {
    on_each(|store| {
        let _scene = with_keys_that_leave(store);
        let (ended, log) = recorded(store, &["audit-keys"]);
        assert_eq!(ended.code, 3, "{ended:?}");
        let called: Vec<Value> = log
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert!(
            called
                .iter()
                .any(|call| call["func"] == "C_GetAttributeValue")
        );
        for call in &called {
            let name = call["func"].as_str().unwrap();
            assert!(READS.contains(&name) || name == "recorder:end", "{name}");
        }
        assert!(!log.contains(USER_PIN));
    });
}

#[test]
fn wrong_rules_waivers_and_baselines_are_said_before_a_pin_is_asked_for() {
    let folder = Folder::new();
    let rules = folder.write("rules.toml", "version = 1\n[[rule]]\nid = \"R\"\nseverity = \"HIGH\"\nwhen = 'extractable and sensitiv'\nsays = \"s\"\nadvice = \"a\"\n");
    let run = |flag: &str, file: &str| {
        keywright(&[
            "hsm",
            "audit-keys",
            "--module",
            "/nonexistent.so",
            flag,
            file,
        ])
    };
    let ended = run("--rules", &rules);
    refused(
        &ended,
        2,
        "rules.toml, line 5, column 25: sensitiv is not known; sensitive is",
    );
    let waivers = folder.write(
        "waivers.toml",
        "version = 1\n[[waiver]]\nrule = \"R\"\nlabel = \"k\"\nreason = \"x\"\nuntil = \"soon\"\n",
    );
    refused(
        &run("--waivers", &waivers),
        2,
        "waivers.toml, line 6, column 9",
    );
    refused(&run("--baseline", &waivers), 2, "is not a baseline");
    assert!(
        keywright(&["hsm", "audit-keys", "--fields"])
            .text()
            .contains("never_extractable")
    );
    let shown = keywright(&["hsm", "audit-keys", "--show-rules"]).text();
    let again = folder.write("shown.toml", shown);
    // What is shown is read: it is the module that is missing then.
    refused(&run("--rules", &again), 9, "/nonexistent.so");
}
