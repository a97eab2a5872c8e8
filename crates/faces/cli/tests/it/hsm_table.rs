//! Every command of the table, in its order and with the flags of the tool that it comes from, on each token; and
//! every one once more where it has to fail.
//!
//! What each command does is tested elsewhere. Here it is shown that none is missing, that a script written for that
//! tool finds its flags, and that success and failure are one document with one shape.

use keywright_tokens::{SO_PIN, USER_PIN, on_each};

use crate::hsm::{Scene, document};
use crate::program::{Ended, keywright};

/// A row: the command, whether it takes a token and its PIN, and its own words. A word that begins with `@` is a file
/// in the folder of the test.
struct Row {
    command: &'static str,
    login: Login,
    words: &'static [&'static str],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Login {
    /// Neither module nor token.
    Nowhere,
    /// The module alone.
    Module,
    /// `--label` alone.
    Public,
    /// `--label` and `--user-pin`.
    User,
    /// `--so-pin` alone.
    Officer,
}

const fn row(command: &'static str, login: Login, words: &'static [&'static str]) -> Row {
    Row {
        command,
        login,
        words,
    }
}

use Login::{Module, Nowhere, Officer, Public, User};

const TABLE: [Row; 41] = [
    row("info", Module, &[]),
    row("list-slots", Module, &[]),
    row(
        "list-mechanisms",
        Module,
        &["--detailed", "--label", "keywright"],
    ),
    row("init-token", Officer, &["--label", "second"]),
    row(
        "init-pin",
        Officer,
        &["--label", "second", "--user-pin", "second-pin"],
    ),
    row(
        "change-pin",
        Module,
        &[
            "--label",
            "second",
            "--user-pin",
            "second-pin",
            "--new-pin-file",
            "@new-pin",
        ],
    ),
    row("delete-token", Officer, &["--label", "second", "--yes"]),
    row(
        "gen-keypair",
        User,
        &["--key-label", "rsa", "--key-type", "rsa", "--bits", "2048"],
    ),
    row(
        "gen-keypair",
        User,
        &["--key-label", "ec", "--key-type", "p256"],
    ),
    row(
        "gen-keypair",
        User,
        &[
            "--key-label",
            "box",
            "--key-type",
            "rsa",
            "--usage",
            "encrypt",
        ],
    ),
    row("list-objects", User, &["--detailed"]),
    row(
        "sign",
        User,
        &[
            "--key-label",
            "rsa",
            "--input",
            "@message",
            "--output",
            "@signature",
        ],
    ),
    row(
        "verify",
        User,
        &[
            "--key-label",
            "rsa",
            "--input",
            "@message",
            "--signature",
            "@signature",
        ],
    ),
    row(
        "export-pubkey",
        User,
        &["--key-label", "rsa", "--output", "@public"],
    ),
    row("inspect-key", User, &["--key-label", "rsa"]),
    row(
        "encrypt",
        User,
        &[
            "--key-label",
            "box",
            "--input",
            "@message",
            "--output",
            "@sealed",
        ],
    ),
    row(
        "decrypt",
        User,
        &[
            "--key-label",
            "box",
            "--input",
            "@sealed",
            "--output",
            "@opened",
        ],
    ),
    row(
        "gen-symmetric-key",
        User,
        &["--key-label", "aes", "--bits", "256"],
    ),
    row(
        "encrypt-symmetric",
        User,
        &[
            "--key-label",
            "aes",
            "--input",
            "@message",
            "--output",
            "@sealed-aes",
        ],
    ),
    row(
        "decrypt-symmetric",
        User,
        &[
            "--key-label",
            "aes",
            "--input",
            "@sealed-aes",
            "--output",
            "@opened-aes",
        ],
    ),
    row(
        "gen-symmetric-key",
        User,
        &["--key-label", "wrapping", "--usage", "wrap"],
    ),
    row(
        "gen-symmetric-key",
        User,
        &["--key-label", "leaving", "--extractable"],
    ),
    row(
        "wrap-key",
        User,
        &[
            "--key-label",
            "leaving",
            "--wrapping-key-label",
            "wrapping",
            "--output",
            "@wrapped",
        ],
    ),
    row(
        "unwrap-key",
        User,
        &[
            "--key-label",
            "back",
            "--wrapping-key-label",
            "wrapping",
            "--input",
            "@wrapped",
            "--key-type",
            "aes",
        ],
    ),
    row(
        "gen-csr",
        User,
        &[
            "--key-label",
            "ec",
            "--subject",
            "CN=a.example,O=Example",
            "--output",
            "@request",
        ],
    ),
    row(
        "hash",
        Public,
        &[
            "--algorithm",
            "sha256",
            "--input",
            "@message",
            "--output",
            "@digest",
        ],
    ),
    row(
        "gen-hmac-key",
        User,
        &["--key-label", "hmac", "--bits", "256"],
    ),
    row(
        "hmac-sign",
        User,
        &[
            "--key-label",
            "hmac",
            "--algorithm",
            "sha256",
            "--input",
            "@message",
            "--output",
            "@hmac",
        ],
    ),
    row(
        "hmac-verify",
        User,
        &[
            "--key-label",
            "hmac",
            "--algorithm",
            "sha256",
            "--input",
            "@message",
            "--hmac",
            "@hmac",
        ],
    ),
    row(
        "gen-cmac-key",
        User,
        &["--key-label", "cmac", "--bits", "256"],
    ),
    row(
        "cmac-sign",
        User,
        &[
            "--key-label",
            "cmac",
            "--input",
            "@message",
            "--output",
            "@cmac",
            "--mac-len",
            "12",
        ],
    ),
    row(
        "cmac-verify",
        User,
        &[
            "--key-label",
            "cmac",
            "--input",
            "@message",
            "--cmac",
            "@cmac",
            "--mac-len",
            "12",
        ],
    ),
    row("gen-random", Public, &["--bytes", "32", "--hex"]),
    row(
        "gen-random",
        Public,
        &["--bytes", "16", "--output", "@random"],
    ),
    row("explain-error", Nowhere, &["0xA0", "--context", "login"]),
    row("find-key", User, &["--key-label", "rsa", "--show-similar"]),
    row(
        "diff-keys",
        User,
        &["--key1-label", "rsa", "--key2-label", "box"],
    ),
    row("audit-keys", User, &["--fail-on", "never"]),
    row(
        "benchmark",
        User,
        &[
            "--key-label",
            "aes",
            "--iterations",
            "3",
            "--warmup",
            "1",
            "--no-history",
        ],
    ),
    row(
        "delete-key",
        User,
        &["--key-label", "rsa", "--with-pair", "--yes"],
    ),
    row("delete-key", User, &["--key-label", "back", "--yes"]),
];

fn run(scene: &Scene<'_>, row: &Row, module: &str) -> Ended {
    let mut words: Vec<String> = ["hsm", row.command].map(str::to_owned).to_vec();
    for word in row.words {
        words.push(match word.strip_prefix('@') {
            Some(file) => scene.name(file),
            None => (*word).to_owned(),
        });
    }
    let mut more = |parts: &[&str]| words.extend(parts.iter().map(|part| (*part).to_owned()));
    more(&["--format", "json"]);
    if row.login != Nowhere {
        more(&["--module", module]);
    }
    if matches!(row.login, Public | User) {
        more(&["--label", "keywright"]);
    }
    match row.login {
        User => more(&["--user-pin", USER_PIN, "--insecure-pin-argv"]),
        Officer => more(&["--so-pin", SO_PIN, "--insecure-pin-argv"]),
        Module if row.words.contains(&"--user-pin") => more(&["--insecure-pin-argv"]),
        _ => (),
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    keywright(&words)
}

#[test]
fn every_command_of_the_table_runs_with_the_flags_it_had_and_answers_in_json() {
    on_each(|store| {
        let scene = Scene::new(store);
        scene.file("message", b"a message of 33 bytes, every time");
        scene.file("new-pin", b"other-pin-2\n");
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(scene.name("new-pin"), private).unwrap();
        for row in &TABLE {
            let ended = run(&scene, row, &scene.module);
            assert_eq!(ended.code, 0, "{} {:?}: {ended:?}", row.command, row.words);
            if row.command == "benchmark" {
                let document: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
                assert!(!document["cases"].as_array().unwrap().is_empty());
                continue;
            }
            let document = document(&ended);
            assert_eq!(document["command"], row.command);
            assert!(document["data"].is_object(), "{document}");
            let shown = String::from_utf8_lossy(&ended.stdout);
            assert!(
                !shown.contains(USER_PIN) && !shown.contains(SO_PIN),
                "{shown}"
            );
            // A PIN among the words is used, and warned of.
            let warned = document["warnings"].to_string().contains("PIN");
            let asked = matches!(row.login, User | Officer) || row.words.contains(&"--user-pin");
            assert_eq!(warned, asked, "{document}");
        }
        let read = |name: &str| std::fs::read(scene.name(name)).unwrap();
        assert_eq!(read("opened"), read("message"));
        assert_eq!(read("opened-aes"), read("message"));
        assert_eq!((read("cmac").len(), read("random").len()), (12, 16));
    });
}

#[test]
fn every_command_of_the_table_fails_in_one_document_with_code_and_exit() {
    on_each(|store| {
        let scene = Scene::new(store);
        scene.file("message", b"text");
        for name in [
            "signature",
            "sealed",
            "sealed-aes",
            "wrapped",
            "hmac",
            "cmac",
            "new-pin",
        ] {
            scene.file(name, b"none of ours\n");
        }
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(scene.name("new-pin"), private).unwrap();
        for row in TABLE.iter().filter(|row| row.login != Nowhere) {
            let ended = run(&scene, row, "/nonexistent/module.so");
            let document = document(&ended);
            assert!(matches!(ended.code, 2 | 9), "{ended:?}");
            assert_eq!(document["command"], row.command);
            let error = &document["error"];
            assert_eq!(error["exit"], ended.code);
            let message = error["message"].as_str().unwrap();
            assert!(message.contains("/nonexistent/module.so"), "{message}");
            assert!(!error["hint"].as_str().unwrap().is_empty());
        }
        // No key of the table is there yet: what uses one says which it looked for, and writes nothing.
        let uses = |row: &&Row| {
            row.login == User
                && row.words.contains(&"--key-label")
                && !row.command.starts_with("gen-")
                && row.command != "unwrap-key"
        };
        for row in TABLE.iter().filter(uses) {
            let output = row.words.iter().position(|word| *word == "--output");
            let output = output.map(|at| scene.name(row.words[at + 1].trim_start_matches('@')));
            if let Some(output) = &output {
                drop(std::fs::remove_file(output));
            }
            let ended = run(&scene, row, &scene.module);
            assert_eq!(ended.code, 9, "{}: {ended:?}", row.command);
            let document = document(&ended);
            assert_eq!(document["error"]["kind"], "not-found", "{document}");
            if let Some(output) = output {
                assert!(!std::path::Path::new(&output).exists(), "{output}");
                std::fs::write(output, b"none of ours").unwrap();
            }
        }
        let unknown = keywright(&[
            "hsm",
            "explain-error",
            "CKR_PIN_INCORECT",
            "--format",
            "json",
        ]);
        assert_eq!(document(&unknown)["error"]["exit"], unknown.code);
        assert_ne!(unknown.code, 0);
    });
}
