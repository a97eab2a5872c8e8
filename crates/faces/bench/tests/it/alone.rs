//! `keywright-bench` without `keywright`, and beside one that does not match.

use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// The program in a folder without the other one.
struct Alone(TempDir);

impl Alone {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (
            env!("CARGO_BIN_EXE_keywright-bench"),
            folder.path().join("keywright-bench"),
        );
        // A link where both are on one file system.
        if std::fs::hard_link(from, &to).is_err() {
            std::fs::copy(from, &to).unwrap();
        }
        Self(folder)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(self.0.path().join("keywright-bench"));
        command
            .args(words)
            .current_dir(self.0.path())
            .stdin(Stdio::null());
        command.env(
            "KEYWRIGHT_BENCH_HISTORY",
            self.0.path().join("history.sqlite"),
        );
        command.env_remove("KEYWRIGHT_DISPATCH");
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }
}

#[track_caller]
fn refused(output: &Output, code: i32, happened: &str, advice: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    let lines: Vec<_> = said
        .lines()
        .filter(|line| !line.starts_with("exit "))
        .collect();
    assert!(
        lines.contains(&format!("error: {happened}").as_str()),
        "{said}"
    );
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("help: ") && line.contains(advice)),
        "{said}"
    );
}

#[test]
fn another_version_of_keywright_is_refused() {
    let alone = Alone::new();
    let happened = format!(
        "keywright-bench {} does not match keywright 0.0.9",
        env!("CARGO_PKG_VERSION")
    );
    let mut command = alone.command(&["list"]);
    let output = command.env("KEYWRIGHT_DISPATCH", "0.0.9").output().unwrap();
    refused(&output, 2, &happened, "in the same version");
    let mut command = alone.command(&["--format", "json", "list"]);
    let output = command.env("KEYWRIGHT_DISPATCH", "0.0.9").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["error"]["message"], happened);
    let mut command = alone.command(&["list"]);
    let same = command.env("KEYWRIGHT_DISPATCH", env!("CARGO_PKG_VERSION"));
    assert!(same.output().unwrap().status.success());
}

#[test]
fn what_needs_no_service_works_without_keywright() {
    let alone = Alone::new();
    for words in [
        &["list", "ops"][..],
        &["op", "hash.sha256.1k", "-n", "200", "--runs", "1", "-w0s"],
        &["session-demo", "--messages", "5"],
        &["vectors", "--help"],
        &["token", "--help"],
        &["calls", "--help"],
    ] {
        let output = alone.run(words);
        assert!(output.status.success(), "{words:?}: {output:?}");
    }
}

#[test]
fn operations_of_a_service_need_keywright_beside_it_or_by_name() {
    let alone = Alone::new();
    let own = alone
        .0
        .path()
        .canonicalize()
        .unwrap()
        .join("keywright-bench");
    let words = ["op", "service.null", "-n", "20", "--runs", "1", "-w0s"];
    let happened = format!("keywright is not installed beside {}", own.display());
    refused(&alone.run(&words), 12, &happened, "--program FILE");
    let planted = alone.0.path().join("keywright");
    std::fs::write(&planted, "#!/bin/sh\nexit 1\n").unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o775);
    std::fs::set_permissions(&planted, open).unwrap();
    let happened = format!(
        "{} can be changed by its group or by others (mode 0775)",
        planted.canonicalize().unwrap().display()
    );
    refused(&alone.run(&words), 13, &happened, "chmod go-w");
}

#[test]
fn its_pages_and_completions_are_its_own() {
    let alone = Alone::new();
    let output = alone.run(&["man", "--output", "."]);
    assert!(output.status.success(), "{output:?}");
    for name in [
        "keywright-bench.1",
        "keywright-bench-run.1",
        "keywright-bench-token.1",
    ] {
        let page = std::fs::read_to_string(alone.0.path().join(name)).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{name}");
    }
    let output = alone.run(&["completions", "bash"]);
    let script = String::from_utf8(output.stdout).unwrap();
    assert!(script.contains("keywright-bench"), "{script}");
}
