//! Logs that the recorder wrote of other people's programs on real tokens.

use std::path::{Path, PathBuf};
use std::process::Command;

use keywright_calls::Report;
use keywright_tokens::{Store, USER_PIN, on_each};

use crate::made::report;

/// Beside the program of the tests, where cargo builds it for them.
fn recorder() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    program
        .ancestors()
        .nth(1)
        .unwrap()
        .join("libkeywright_pkcs11_recorder.so")
}

fn tool(store: &Store, log: &Path) -> Command {
    let mut tool = store.command("pkcs11-tool");
    tool.arg("--module")
        .arg(recorder())
        .args(["--token-label", "keywright"]);
    tool.env("KEYWRIGHT_P11_TARGET", store.tokens()[0].module());
    tool.env("KEYWRIGHT_P11_LOG", log);
    tool
}

#[track_caller]
fn done(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn of(log: &Path) -> Report {
    report(&std::fs::read(log).unwrap())
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "what is done, and all that must be told of it"
)]
fn a_session_of_pkcs11_tool_is_told_as_it_was() {
    on_each(|store| {
        let log = store.folder().join("log");
        let login = ["--login", "--pin", USER_PIN];
        let make = [
            "--keypairgen",
            "--key-type",
            "EC:prime256v1",
            "--id",
            "01",
            "--label",
            "k",
        ];
        done(tool(store, &log).args(login).args(make));
        let input = store.folder().join("in");
        std::fs::write(&input, [7; 32]).unwrap();
        for _ in 0..12 {
            let mut sign = tool(store, &log);
            sign.args(login)
                .args(["--sign", "-m", "ECDSA", "--id", "01", "-i"])
                .arg(&input);
            done(sign.arg("-o").arg(store.folder().join("out")));
        }
        let wrong = tool(store, &log)
            .args(["--login", "--pin", "wrong-pin", "-O"])
            .output()
            .unwrap();
        assert!(!wrong.status.success());
        let report = of(&log);
        assert_eq!(report.source.form, "recorder");
        assert_eq!(
            (report.source.unreadable_lines, report.source.processes),
            (0, 14)
        );
        assert_eq!(report.source.durations, "measured");
        let signing = report
            .operations
            .iter()
            .find(|row| row.operation == "sign")
            .unwrap();
        assert_eq!(
            (signing.completed, signing.mechanism.as_deref()),
            (12, Some("CKM_ECDSA"))
        );
        assert!(signing.times.min_ns.unwrap() > 0 && signing.times.n == 12);
        assert_eq!((report.logins.succeeded, report.logins.wrong_pin), (13, 1));
        assert!(
            report
                .errors
                .iter()
                .any(|row| row.func == "C_Login" && row.rv == 0xa0)
        );
        // Each process opened a session, logged in and looked its key up for one signature.
        let codes: Vec<_> = report.findings.iter().map(|one| one.code).collect();
        for code in [
            "login-per-operation",
            "search-per-operation",
            "session-per-operation",
        ] {
            assert!(codes.contains(&code), "{code}: {codes:?}");
        }
        // The tool leaves when the PIN is wrong.
        assert_eq!(report.sessions.leaked + report.sessions.still_open, 1);
        assert_eq!(report.sessions.opened, 14);
    });
}
