//! The examples of clients do what they say, against a real service.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::fixture::*;

fn example(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(path)
}

/// Whether a program is there. Without it `test` is skipped, and so counted where `scripts/run-tests` runs it.
#[expect(
    clippy::disallowed_methods,
    reason = "where the counts go is told by the environment"
)]
fn present(program: &str, version: &str, test: &str) -> bool {
    let asked = Command::new(program).arg(version).output();
    let present = asked.is_ok_and(|output| output.status.success());
    if !present {
        writeln!(std::io::stderr(), "skipped: no {program}: {test}").unwrap();
        if let Some(folder) = std::env::var_os("KEYWRIGHT_TEST_COUNTS") {
            let file = Path::new(&folder).join(format!("program-{test}"));
            std::fs::write(file, "0 0 1\n").unwrap();
        }
    }
    present
}

fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

/// Runs it as its words say, without words, on another folder, and when nobody listens any more.
fn tried(command: impl Fn() -> Command) -> String {
    let site = Site::start();
    let address = site.address().to_string();
    let text = said(
        &command()
            .arg(site.home.path())
            .arg(&address)
            .output()
            .unwrap(),
    );
    let fails = |command: &mut Command| !command.output().unwrap().status.success();
    assert!(fails(&mut command()));
    assert!(fails(
        command().arg(site.home.beside("nothing")).arg(&address)
    ));
    let home = site.stop();
    assert!(fails(command().arg(home.path()).arg(&address)));
    text
}

fn has(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(
            text.lines().any(|shown| shown == *line),
            "{line} is not in {text}"
        );
    }
}

#[test]
fn the_python_example_seals_opens_and_is_refused_where_it_must_be() {
    if !present("python3", "--version", "example-python") {
        return;
    }
    let text = tried(|| {
        let mut command = Command::new("python3");
        command.args(["-B", "-I"]).arg(example("python/client.py"));
        command
    });
    has(
        &text,
        &[
            "opened: Hello from Python",
            "sealed 999 of 1000 items",
            "item 500: base64_invalid",
            "without its aad: decryption_failed",
            "as web-2fa-1: context_not_found",
        ],
    );
}

#[test]
fn the_go_example_seals_opens_and_is_refused_where_it_must_be() {
    if !present("go", "version", "example-go") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("client");
    let mut build = Command::new("go");
    // The compiler that is there, and nothing from elsewhere.
    build
        .env("GOTOOLCHAIN", "local")
        .env("GOFLAGS", "-mod=mod")
        .env("GOPROXY", "off");
    said(
        &build
            .args(["build", "-o"])
            .arg(&program)
            .arg(example("go/main.go"))
            .output()
            .unwrap(),
    );
    let text = tried(|| Command::new(&program));
    has(
        &text,
        &[
            "opened: Hello from Go",
            "without its aad: decryption_failed",
            "as web-2fa-1: context_not_found",
        ],
    );
}
