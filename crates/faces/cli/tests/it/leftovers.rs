//! What commands with keys and passwords leave in memory and in core files, looked at from outside as in
//! `hd_memory`: each stands still before it says what came of its work, and no secret may be left by then.

use std::io::Write as _;
use std::process::{Command, Stdio};

use keywright_encoding::{base64, hex};
use keywright_tokens::on_each;
use serde_json::Value;

use crate::hd::private;
use crate::hd_memory::{Halted, found};
use crate::hsm::Scene;
use crate::program::{Folder, eventually, keywright, program, signal};

/// Longer than what is searched for, and nowhere else.
const PASSWORD: &str = "canary of a password that stands nowhere else";
const TOKEN_KEY: &str = "7e4c0ffee7e4c0ffee55aa0102030405060708090a0b0c0d0e0f1122c0ffee77";
const SEED: &str = "0f5eed0f5eed0f5eed77889900aabbccddeeff102132435465768798a9bacbdc";

struct Place {
    folder: Folder,
}

impl Place {
    fn new() -> Self {
        Self {
            folder: Folder::new(),
        }
    }

    fn secret(&self, name: &str, text: &str) -> String {
        let path = self.folder.write(name, text);
        private(&path);
        path
    }

    /// Runs a command up to its last words, which are in JSON and have `there` in them, and looks for what
    /// must not be left. Nothing is found out where another process of the same user may not look.
    #[track_caller]
    fn leaves_nothing(&self, words: &[&str], there: &str, secrets: &[(&'static str, Vec<u8>)]) {
        let words = [words, &["--format", "json"]].concat();
        let halted = Halted::start(&words);
        let Some(memory) = halted.memory() else {
            return;
        };
        let said = [("said", there.as_bytes().to_vec())];
        assert_eq!(found(&memory, &said).first(), Some(&"said"), "{words:?}");
        assert_eq!(found(&memory, secrets), [""; 0], "{words:?}");
    }
}

/// Text and bytes of a secret that is written in hexadecimal digits.
fn both(digits: &str) -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("digits", digits.as_bytes().to_vec()),
        ("bytes", hex::decode(digits).unwrap()),
    ]
}

#[test]
fn t32_lock_and_unlock_leave_no_password() {
    let place = Place::new();
    let password = place.secret("password", PASSWORD);
    let plain = place.folder.write("plain", "some text");
    let (locked, opened) = (place.folder.name("locked"), place.folder.name("opened"));
    let secrets = [("password", PASSWORD.as_bytes().to_vec())];
    let end = ["--password-file", &password, "--output"];
    let lock = ["lock", "--profile", "fast", "--input", &plain];
    let said = "\"password_memory_locked\":";
    place.leaves_nothing(&[&lock[..], &end, &[&locked]].concat(), said, &secrets);
    let unlock = ["unlock", "--input", &locked];
    place.leaves_nothing(&[&unlock[..], &end, &[&opened]].concat(), said, &secrets);
    assert_eq!(place.folder.read("opened"), b"some text");
}

#[test]
fn t32_seal_and_open_leave_no_private_key() {
    let place = Place::new();
    let (key, public) = (place.folder.name("key"), place.folder.name("public"));
    let keygen = ["seal", "keygen", "--kem", "x25519", "--out", &key];
    keywright(&[&keygen[..], &["--public-out", &public]].concat()).bytes();
    let line = String::from_utf8(place.folder.read("key")).unwrap();
    let digits = line.split_whitespace().nth(2).unwrap();
    let secrets = [
        ("digits", digits.as_bytes().to_vec()),
        ("bytes", base64::decode(digits).unwrap()),
    ];
    let plain = place.folder.write("plain", "some text");
    let (sealed, opened) = (place.folder.name("sealed"), place.folder.name("opened"));
    let seal = [
        "seal",
        "--recipient",
        &public,
        "--input",
        &plain,
        "--output",
    ];
    keywright(&[&seal[..], &[&sealed]].concat()).bytes();
    let open = [
        "open",
        "--key-file",
        &key,
        "--input",
        &sealed,
        "--output",
        &opened,
    ];
    // The document of this command is no longer than this.
    place.leaves_nothing(&open, "{\"schema_version\":", &secrets);
    assert_eq!(place.folder.read("opened"), b"some text");
    let shown = ["seal", "public", "--key-file", &key];
    place.leaves_nothing(&shown, "keywright-public", &secrets);
}

#[test]
fn t32_a_seed_that_was_taken_over_is_left_in_its_file_alone() {
    let place = Place::new();
    let password = place.secret("password", PASSWORD);
    let (input, out) = (place.secret("seed", SEED), place.folder.name("seed.kws"));
    let words = [
        "hd",
        "seed",
        "import",
        "--seed-scheme",
        "raw",
        "--input",
        &input,
    ];
    let end = [
        "--out",
        &out,
        "--profile",
        "fast",
        "--password-file",
        &password,
    ];
    let mut secrets = both(SEED);
    secrets.push(("password", PASSWORD.as_bytes().to_vec()));
    place.leaves_nothing(
        &[&words[..], &end].concat(),
        "\"seed_scheme\":\"raw\"",
        &secrets,
    );
    let public = ["hd", "public", "--seed-file", &out, "--path", "m/1'"];
    let public = [
        &public[..],
        &["--password-file", &password, "--format", "json"],
    ]
    .concat();
    let shown: Value = keywright(&public).document();
    assert_eq!(shown["seed_scheme"], "raw");
}

/// A program that forbids nothing leaves a core file in its folder, if this system writes any there.
fn system_writes_core_files() -> bool {
    let folder = Folder::new();
    let mut child = Command::new("sh")
        .args(["-c", "ulimit -c unlimited && exec sleep 30"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let name = format!("/proc/{}/comm", child.id());
    eventually(|| std::fs::read_to_string(&name).is_ok_and(|name| name.trim() == "sleep"));
    signal("ABRT", child.id());
    let ended = eventually(|| child.try_wait().is_ok_and(|status| status.is_some()));
    drop(child.kill());
    drop(child.wait());
    ended && !folder.names().is_empty()
}

#[test]
fn what_a_token_decrypts_leaves_nothing_when_the_command_is_killed_in_the_middle() {
    on_each(|store| {
        let scene = Scene::new(store);
        scene.data(&["gen-symmetric-key", "--key-label", "aes"]);
        let plain = vec![7; 1 << 20];
        let sealed = scene.name("sealed");
        let words = [
            "encrypt-symmetric",
            "--key-label",
            "aes",
            "--output",
            &sealed,
        ];
        assert_eq!(scene.user_reading(&words, &plain).code, 0);
        let (sealed, back) = (scene.folder.read("sealed"), scene.name("back"));
        let before = scene.folder.names();
        for name in ["KILL", "TERM", "INT"] {
            let mut command = program();
            command.args(["hsm", "decrypt-symmetric", "--key-label", "aes"]);
            command.args(["--module", &scene.module, "--label", "keywright"]);
            command.args(["--pin-file", scene.pin_file(), "--output", &back]);
            let mut child = command
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            // A pipe holds 64 KiB: what is taken beyond that has been decrypted but for two pieces.
            let mut pipe = child.stdin.take().unwrap();
            pipe.write_all(&sealed[..1 << 19]).unwrap();
            signal(name, child.id());
            assert!(
                eventually(|| child.try_wait().is_ok_and(|ended| ended.is_some())),
                "{name}"
            );
            assert_eq!(scene.folder.names(), before, "{name}");
        }
    });
}

#[test]
fn t32_no_command_with_a_secret_leaves_a_core_file() {
    let place = Place::new();
    let password = place.secret("password", PASSWORD);
    let plain = place.folder.write("plain", "some text");
    let key = place.secret("key", TOKEN_KEY);
    let seed = place.secret("seed", SEED);
    let (locked, kept) = (place.folder.name("locked"), place.folder.name("kept"));
    let lock = ["lock", "--profile", "fast", "--password-file", &password];
    let lock = [&lock[..], &["--input", &plain, "--output", &locked]].concat();
    let build = ["token", "build", "--key-file", &key, "--expires-in", "1h"];
    let import = [
        "hd",
        "seed",
        "import",
        "--seed-scheme",
        "raw",
        "--input",
        &seed,
    ];
    let end = [
        "--out",
        &kept,
        "--profile",
        "fast",
        "--password-file",
        &password,
    ];
    let import = [&import[..], &end].concat();
    let token = ["hsm", "explain-error", "0xa0"];
    let writes = system_writes_core_files();
    for words in [&lock[..], &build, &import, &token] {
        let folder = Folder::new();
        let binary = program().get_program().to_owned();
        let mut command = Command::new("sh");
        command
            .args(["-c", "ulimit -c unlimited; exec \"$@\"", "sh"])
            .arg(binary)
            .args(words)
            .args(["--format", "json"])
            .current_dir(folder.path())
            .stdin(Stdio::null());
        let mut halted = Halted::run(&mut command);
        signal("ABRT", halted.child.id());
        assert!(
            eventually(|| halted.child.try_wait().is_ok_and(|ended| ended.is_some())),
            "{words:?}"
        );
        assert!(folder.names().is_empty(), "{words:?}, writes: {writes}");
    }
}
