//! The text of OpenSC's spy, written on this machine where it is installed.

use std::path::Path;
use std::process::Command;

use keywright_calls::{Analyzer, Options, Report, Scrubber, Zone};
use keywright_tokens::{Kind, Store, USER_PIN, on_each};

use crate::made::report;

const PLACES: [&str; 3] = [
    "/usr/lib/x86_64-linux-gnu/pkcs11-spy.so",
    "/usr/lib/pkcs11-spy.so",
    "/usr/lib64/pkcs11-spy.so",
];

fn tool(store: &Store, spy: &str, log: &Path) -> Command {
    let mut tool = store.command("pkcs11-tool");
    tool.args(["--module", spy, "--token-label", "keywright"]);
    tool.env("PKCS11SPY", store.tokens()[0].module())
        .env("PKCS11SPY_OUTPUT", log);
    tool
}

fn scrubbed(log: &[u8]) -> Vec<u8> {
    let (mut scrubber, mut out) = (Scrubber::new(), Vec::new());
    scrubber.push(log, &mut out);
    let count = scrubber.finish(&mut out);
    assert!(count.kept > 0);
    out
}

fn counts(report: &Report) -> Vec<(String, u64, u64)> {
    let rows = report.by_function.iter();
    rows.map(|(name, row)| (name.clone(), row.count, row.error_count))
        .collect()
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "what is done, and all that must be told of it"
)]
fn spy_corpus_import() {
    on_each(|store| {
        let Some(spy) = PLACES.into_iter().find(|path| Path::new(path).exists()) else {
            return;
        };
        // The tables of a module of version 3 are handed through by the spy of OpenSC 0.23, and nothing is written.
        if store.kind() == Kind::Kryoptic {
            return;
        }
        let log = store.folder().join("spy.log");
        let input = store.folder().join("in");
        std::fs::write(&input, b"plain-canary-of-the-data-0123456").unwrap();
        let login = ["--login", "--pin", USER_PIN];
        let make = [
            "--keypairgen",
            "--key-type",
            "EC:prime256v1",
            "--id",
            "01",
            "--label",
            "label-canary",
        ];
        assert!(
            tool(store, spy, &log)
                .args(login)
                .args(make)
                .output()
                .unwrap()
                .status
                .success()
        );
        let mut sign = tool(store, spy, &log);
        sign.args(login)
            .args(["--sign", "-m", "ECDSA", "--id", "01", "-i"])
            .arg(&input);
        assert!(
            sign.arg("-o")
                .arg(store.folder().join("out"))
                .output()
                .unwrap()
                .status
                .success()
        );
        assert!(
            !tool(store, spy, &log)
                .args(["--login", "--pin", "wrong-pin", "-O"])
                .output()
                .unwrap()
                .status
                .success()
        );
        let text = std::fs::read(&log).unwrap();
        let held = |canary: &str, text: &[u8]| String::from_utf8_lossy(text).contains(canary);
        assert!(held(&USER_PIN[..4], &text), "the spy writes PINs");

        let report = report(&text);
        assert_eq!(report.source.form, "pkcs11-spy");
        assert_eq!(
            (report.source.processes, report.source.unreadable_lines),
            (3, 0),
            "{:?}",
            report.source
        );
        assert_eq!(report.incomplete_count, 0);
        assert_eq!((report.logins.succeeded, report.logins.wrong_pin), (2, 1));
        let signing = report
            .operations
            .iter()
            .find(|row| row.operation == "sign")
            .unwrap();
        assert_eq!(
            (signing.completed, signing.mechanism.as_deref()),
            (1, Some("CKM_ECDSA"))
        );
        assert_eq!(report.sessions.opened, 3);
        assert!(
            report
                .findings
                .iter()
                .any(|one| one.code == "secrets-in-log")
        );
        // Durations are not known, and none is made up.
        assert_eq!(report.source.durations, "unknown");
        assert!(
            report.duration_stats.is_none()
                && report.latency.is_empty()
                && report.concurrency.is_none()
        );
        assert!(
            report
                .by_function
                .values()
                .all(|row| row.avg_duration_ms.is_none())
        );

        let everything =
            serde_json::to_string(&report).unwrap() + &keywright_calls::render::text(&report);
        let clean = scrubbed(&text);
        for canary in [
            USER_PIN,
            "wrong-pin",
            "plain-canary",
            "label-canary",
            "38 37",
            "canary",
            "spy-",
        ] {
            assert!(!held(canary, everything.as_bytes()), "{canary}");
            assert!(!held(canary, &clean), "{canary}");
        }
        let again = crate::made::report(&clean);
        assert_eq!(counts(&again), counts(&report));
        assert_eq!(again.source.secret_lines, 0);
        assert_eq!(again.source.first, report.source.first);
    });
}

const HEAD: &str = "*************** OpenSC PKCS#11 spy *****************\nLoaded: \"/x/y.so\"\n\n";

#[test]
fn spy_no_fake_duration_and_a_call_without_answer_is_no_success() {
    let text = format!(
        "{HEAD}0: C_Initialize\n2026-11-21 02:36:58.395\nReturned:  0 CKR_OK\n\n1: C_Sign\n2026-11-21 02:36:59.000\n[in] hSession = 0x1\n"
    );
    let one = report(text.as_bytes());
    assert_eq!(
        (one.total_ops, one.success_count, one.incomplete_count),
        (2, 1, 1)
    );
    assert!(
        one.findings
            .iter()
            .any(|found| found.code == "call-without-answer")
    );
    assert!(one.latency.is_empty());
    // The next process begins: the call before it never came back.
    let two = report((text.clone() + HEAD + "0: C_Initialize\nReturned:  0 CKR_OK\n").as_bytes());
    assert_eq!(
        (
            two.source.processes,
            two.incomplete_count,
            two.source.ambiguous_calls
        ),
        (2, 1, 0)
    );
    // So it is without a banner.
    let bare = report((text + "0: C_Initialize\nReturned:  0 CKR_OK\n").as_bytes());
    assert_eq!((bare.source.processes, bare.incomplete_count), (2, 1));
}

#[test]
fn the_layout_of_older_spies_is_read_as_well() {
    // No times, and mechanisms without a mark.
    let text = format!(
        "{HEAD}0: C_OpenSession\n[in] slotID = 0x0\n[in] flags = 0x4\npApplication=(nil)\nNotify=(nil)\n[out] *phSession = 0x1\nReturned:  0 CKR_OK\n\n\
         1: C_EncryptInit\n[in] hSession = 0x1\npMechanism->type=CKM_DES3_CBC\n[in] hKey = 0x5\nReturned:  0 CKR_OK\n\n\
         2: C_Encrypt\n[in] hSession = 0x1\n[in] pData[ulDataLen] 00007ffd / 8\n    00000000  63 61 6E 61 72 79 2D 31  canary-1\nReturned:  0 CKR_OK\n"
    );
    let report = report(text.as_bytes());
    assert_eq!(report.source.unreadable_lines, 0, "{:?}", report.source);
    assert_eq!((report.sessions.opened, report.source.secret_lines), (1, 1));
    let encrypting = &report.operations[0];
    assert_eq!(
        (encrypting.completed, encrypting.mechanism.as_deref()),
        (1, Some("CKM_DES3_CBC"))
    );
    assert!(report.throughput.is_none());
    assert!(
        report
            .findings
            .iter()
            .any(|one| one.code == "legacy-mechanism")
    );
}

#[test]
fn calls_of_threads_that_stand_between_each_other_are_marked() {
    let text = format!(
        "{HEAD}0: C_Initialize\nReturned:  0 CKR_OK\n\n1: C_Sign\n2: C_Sign\nReturned:  0 CKR_OK\nReturned:  0 CKR_OK\n"
    );
    let report = report(text.as_bytes());
    assert_eq!(report.source.ambiguous_calls, 1);
    assert_eq!((report.success_count, report.incomplete_count), (2, 1));
    assert!(
        report
            .findings
            .iter()
            .all(|one| one.code != "call-without-answer")
    );
}

#[test]
fn local_times_are_taken_in_the_zone_that_is_named() {
    let text = format!("{HEAD}0: C_Initialize\n2026-11-21 02:36:58.395\nReturned:  0 CKR_OK\n");
    let mut analyzer = Analyzer::new(Options::default().in_zone(Zone::named("+02:00").unwrap()));
    analyzer.push(text.as_bytes());
    analyzer.finish();
    let source = analyzer.report().source;
    assert_eq!(source.first.as_deref(), Some("2026-11-21T00:36:58.395Z"));
    assert_eq!(source.time_zone.as_deref(), Some("+02:00"));
}

#[test]
fn the_words_of_a_made_up_form_are_not_taken_for_calls() {
    let report = report(b"12: C_Login(6, 0, 1234, 4)\n12: [in] hSession = 0x1\n12: Returned: 0\n");
    assert_eq!(report.total_ops, 0);
    assert_eq!(report.source.unreadable_lines, 3);
    assert!(!serde_json::to_string(&report).unwrap().contains("1234"));
}
