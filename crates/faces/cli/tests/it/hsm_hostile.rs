//! Labels and ids that would move a cursor, forge a row or turn a line around (CWE-150): no line of any command obeys
//! them, a row stays a row, and documents keep the exact text.
#![expect(
    clippy::too_many_lines,
    reason = "a story with a token is told in one go: a store for each part would take longer than the part"
)]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use keywright_encoding::terminal::is_obeyed;
use keywright_tokens::{Kind, USER_PIN, on_each_with};

use crate::hsm::{Scene, data};
use crate::program::Ended;

/// Line feed and return, an escape sequence, a title of the window, C1, marks of direction, a separator of lines.
const EVIL: &str =
    "a\n1  owned  secret\r\u{1b}[2J\u{1b}]0;t\u{7}\u{7f}\u{9b}1m\u{202e}x\u{2066}\u{200b}\u{2028}";

/// A label of a token has 32 bytes.
const EVIL_TOKEN: &str = "t\n9  x\u{1b}[31m\u{202e}";

#[track_caller]
fn harmless(what: &str, ended: &Ended) -> String {
    let text = String::from_utf8(ended.stdout.clone()).unwrap() + &ended.stderr;
    for line in text.lines() {
        assert!(!line.chars().any(is_obeyed), "{what}: {line:?}");
        assert!(!line.trim_start().starts_with("1  owned"), "{what}: {text}");
        assert!(!line.trim_start().starts_with("9  x"), "{what}: {text}");
    }
    // `lines` takes the return before a line feed for a part of the end.
    assert!(!text.contains('\r'), "{what}: {text:?}");
    text
}

#[test]
fn no_command_prints_what_a_terminal_obeys() {
    on_each_with(&["keywright", EVIL_TOKEN], |store| {
        let scene = Scene::new(store);
        scene.data(&["gen-symmetric-key", "--key-label", EVIL, "--id", "1b5b"]);
        scene.data(&["gen-symmetric-key", "--key-label", "neighbour"]);
        let near = EVIL.replacen('a', "b", 1);
        // A label that is no UTF-8, as another program writes it.
        let mut tool = store.pkcs11_tool("keywright").unwrap();
        let key = scene.file("raw", [7; 16]);
        let raw = OsStr::from_bytes(b"raw\xff\x1b[2J\x9b");
        tool.args(["--login", "--pin", USER_PIN, "--write-object", &key])
            .args(["--type", "secrkey", "--key-type", "AES:16", "--label"])
            .arg(raw);
        // Kryoptic takes no such label.
        let is_written = tool.output().unwrap().status.success();
        assert!(is_written || store.kind() == Kind::Kryoptic);
        let (file, forged) = (scene.file("m", "m"), scene.file("code", [7; 32]));
        for (words, code) in [
            (&["list-objects"][..], 0),
            (&["list-objects", "--detailed"], 0),
            (&["inspect-key", "--key-label", EVIL], 0),
            (
                &[
                    "inspect-key",
                    "--class",
                    "secret-key",
                    "--uri",
                    "pkcs11:type=secret-key",
                ],
                0,
            ),
            (&["find-key", "--key-label", EVIL], 0),
            (&["find-key", "--key-label", &near, "--show-similar"], 9),
            (&["sign", "--key-label", EVIL, "--input", &file], 9),
            (&["delete-key", "--key-label", EVIL, "--dry-run"], 0),
            (&["delete-key", "--key-label", EVIL], 13),
            (&["delete-key", "--key-label", EVIL, "--confirm", "00"], 13),
            (
                &[
                    "diff-keys",
                    "--key1-label",
                    EVIL,
                    "--key2-label",
                    "neighbour",
                ],
                0,
            ),
            (
                &["diff-keys", "--key1-label", EVIL, "--key2-label", &near],
                9,
            ),
            (
                &["encrypt-symmetric", "--key-label", &near, "--input", &file],
                9,
            ),
            (&["gen-symmetric-key", "--key-label", EVIL], 13),
            (
                &[
                    "hmac-verify",
                    "--key-label",
                    EVIL,
                    "--input",
                    &file,
                    "--hmac",
                    &forged,
                ],
                2,
            ),
            (&["audit-keys", "--fail-on", "never"], 0),
            (
                &[
                    "wrap-key",
                    "--key-label",
                    EVIL,
                    "--wrapping-key-label",
                    &near,
                ],
                9,
            ),
        ] {
            let ended = scene.user(words);
            harmless(words[0], &ended);
            if words[0] != "hmac-verify" {
                assert_eq!(ended.code, code, "{words:?}: {ended:?}");
            }
        }
        let listed = scene.user(&["list-objects", "--class", "secret-key"]);
        let rows = harmless("list-objects", &listed);
        assert_eq!(rows.lines().count(), 2 + usize::from(is_written), "{rows}");
        assert!(rows.contains("a\\n1  owned  secret\\r\\u{1b}[2J"), "{rows}");
        // The document has the text itself, in letters that no terminal obeys.
        let ended = scene.user(&["list-objects", "--json", "--key-label", EVIL]);
        assert_eq!(data(&ended)["objects"][0]["label"], EVIL);
        harmless("--json", &ended);
    });
}

#[test]
fn tokens_and_files_with_such_names_are_rows_too() {
    on_each_with(&["keywright", EVIL_TOKEN], |store| {
        let scene = Scene::new(store);
        let slots = harmless("list-slots", &scene.bare(&["list-slots"]));
        assert!(slots.contains("t\\n9  x\\u{1b}[31m\\u{202e}"), "{slots}");
        for words in [
            &["list-objects", "--label", "none"][..],
            &["list-objects"],
            &["find-key", "--all-tokens", "--key-label", "none"],
            &["list-objects", "--label", EVIL_TOKEN],
            &["delete-token", "--label", EVIL_TOKEN, "--dry-run"],
            &["delete-token", "--label", EVIL_TOKEN],
            &["config", "show", "--label", EVIL_TOKEN],
            &[
                "hash",
                "--label",
                "keywright",
                "--input",
                "no\nerror: such\u{1b}[2J",
            ],
            &[
                "sign",
                "--key-label",
                "\u{1b}[2J\nhelp: a",
                "--label",
                "keywright",
                "--bogus\u{9b}",
            ],
            &["info", "--config", "no\n\u{1b}file"],
        ] {
            let ended = scene.bare(words);
            harmless(words[0], &ended);
            if ended.code != 0 {
                assert_eq!(
                    ended
                        .stderr
                        .lines()
                        .filter(|line| line.starts_with("error: "))
                        .count(),
                    1
                );
            }
        }
        let listed = data(&scene.bare(&["list-slots", "--json"]));
        let slots = listed["all_slots"].as_array().unwrap().iter();
        let labels: Vec<_> = slots.map(|slot| slot["token"]["label"].clone()).collect();
        assert!(labels.contains(&EVIL_TOKEN.into()), "{labels:?}");
    });
}
