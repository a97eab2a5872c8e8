//! Files through `keywright seal|open` and `keywright lock|unlock`: whole or not there, opened or one answer.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::program::{
    Ended, Folder, eventually, keywright, keywright_read_partly, keywright_reading, program, signal,
};

const CHUNK: usize = 16 << 10;

/// A folder with two key pairs and a password.
struct Place {
    folder: Folder,
}

impl Place {
    fn new() -> Self {
        let place = Self {
            folder: Folder::new(),
        };
        place.pair("alice", "x25519");
        place.pair("bob", "x-wing-draft");
        place.secret("password", "correct horse battery staple\n");
        place
    }

    /// `NAME.key` and `NAME.pub`.
    fn pair(&self, name: &str, kem: &str) {
        let out = self.folder.name(&format!("{name}.key"));
        let words = ["seal", "keygen", "--kem", kem, "--out", &out];
        let public = keywright(&words).text();
        self.folder.write(&format!("{name}.pub"), public);
    }

    /// A file for its owner alone.
    fn secret(&self, name: &str, text: &str) -> String {
        let path = self.folder.write(name, text);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        path
    }

    fn name(&self, name: &str) -> String {
        self.folder.name(name)
    }

    fn seal(&self, recipients: &[&str], text: &[u8]) -> Vec<u8> {
        let mut words = vec!["seal".to_owned()];
        for name in recipients {
            words.extend(["--recipient".to_owned(), self.name(&format!("{name}.pub"))]);
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        keywright_reading(&words, text).bytes()
    }

    fn open(&self, name: &str, file: &[u8], more: &[&str]) -> Ended {
        let key = self.name(&format!("{name}.key"));
        keywright_reading(&[&["open", "--key-file", &key], more].concat(), file)
    }

    fn lock(&self, text: &[u8]) -> Vec<u8> {
        let password = self.name("password");
        let words = ["lock", "--profile", "fast", "--password-file", &password];
        keywright_reading(&words, text).bytes()
    }

    fn unlock(&self, password: &str, file: &[u8]) -> Ended {
        let password = self.name(password);
        keywright_reading(&["unlock", "--password-file", &password], file)
    }
}

fn text(length: usize) -> Vec<u8> {
    (0..=250_u8).cycle().take(length).collect()
}

#[track_caller]
fn rejected(ended: &Ended) {
    ended.refused(
        8,
        "the file does not open (file_rejected)",
        "check the key or the password",
    );
}

#[track_caller]
fn malformed(ended: &Ended) {
    ended.refused(
        8,
        "no protected file of a known form (file_malformed)",
        "whole output",
    );
}

#[test]
fn what_is_sealed_opens_with_the_key_of_each_recipient_at_every_edge_of_length() {
    let place = Place::new();
    for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, (5 << 20) + 3] {
        let text = text(length);
        let file = place.seal(&["alice", "bob"], &text);
        for name in ["alice", "bob"] {
            assert!(
                place.open(name, &file, &[]).bytes() == text,
                "{name} {length}"
            );
            let streamed = place.open(name, &file, &["--stream"]).bytes();
            assert!(streamed == text, "{name} {length}");
        }
    }
}

#[test]
fn what_is_locked_is_unlocked_with_the_password_and_no_other() {
    let place = Place::new();
    let text = text(CHUNK + 1);
    let file = place.lock(&text);
    assert!(file != text && place.unlock("password", &file).bytes() == text);
    place.secret("same", "correct horse battery staple");
    assert!(place.unlock("same", &file).bytes() == text);
    for wrong in [
        "correct horse battery stapl",
        "correct horse battery staple ",
        "x",
    ] {
        place.secret("wrong", wrong);
        rejected(&place.unlock("wrong", &file));
    }
    // The salt of the container: a changed file gives the answer of a wrong password.
    let mut changed = file;
    changed[30] ^= 1;
    rejected(&place.unlock("password", &changed));
}

#[test]
fn files_are_written_whole_with_fitting_permissions_and_told_in_json() {
    let place = Place::new();
    let plain = place.folder.write("plain", text(100_000));
    let (sealed, opened) = (place.name("sealed"), place.name("opened"));
    let recipient = place.name("alice.pub");
    let list = [
        place.folder.read("alice.pub"),
        b"\n".to_vec(),
        place.folder.read("bob.pub"),
    ];
    let list = place.folder.write("both.pub", list.concat());
    let front = [
        "--format",
        "json",
        "seal",
        "--recipient",
        &recipient,
        "--recipient",
        &list,
    ];
    let words = [&front[..], &["--input", &plain, "--output", &sealed]].concat();
    let told = keywright(&words).document();
    assert_eq!(
        (&told["bytes"], &told["recipients"]),
        (&100_000.into(), &3.into())
    );
    let key = place.name("bob.key");
    let front = ["open", "--key-file", &key, "--input", &sealed];
    let words = [&front[..], &["--output", &opened, "--format", "json"]].concat();
    assert_eq!(keywright(&words).document()["bytes"], 100_000);
    assert!(place.folder.read("opened") == text(100_000));
    assert_eq!(place.folder.mode("opened"), 0o600);
    assert_eq!(
        keywright(&[&front[..], &["--output", "/dev/null"]].concat()).text(),
        ""
    );
    assert!(
        keywright(&front).bytes() == text(100_000),
        "from a file to standard output"
    );

    let password = place.name("password");
    let front = [
        "lock",
        "--profile",
        "fast",
        "--password-file",
        &password,
        "--input",
        &plain,
    ];
    let locked = place.name("locked");
    let words = [&front[..], &["--output", &locked, "--format", "json"]].concat();
    let told = keywright(&words).document();
    assert!(told["password_memory_locked"].is_boolean() && told["recipients"].is_null());
    let parts = place
        .folder
        .names()
        .iter()
        .any(|name| name.contains("part"));
    assert!(!parts, "{:?}", place.folder.names());
}

#[test]
fn a_file_that_stands_there_is_overwritten_only_on_demand_and_never_by_what_fails() {
    let place = Place::new();
    let sealed = place.folder.write("sealed", place.seal(&["alice"], b"new"));
    let there = place.folder.write("there", "before");
    let key = place.name("alice.key");
    let front = [
        "open",
        "--key-file",
        &key,
        "--input",
        &sealed,
        "--output",
        &there,
    ];
    keywright(&front).refused(13, "overwrite", "--yes");
    assert_eq!(place.folder.read("there"), b"before");
    let other = place.name("bob.key");
    place.folder.write(
        "cut",
        &place.folder.read("sealed")[..place.folder.read("sealed").len() - 1],
    );
    let cut = place.name("cut");
    let words = [
        "open",
        "--key-file",
        &key,
        "--input",
        &cut,
        "--output",
        &there,
        "--yes",
    ];
    rejected(&keywright(&words));
    let words = [
        "open",
        "--key-file",
        &other,
        "--input",
        &sealed,
        "--output",
        &there,
        "--yes",
    ];
    keywright(&words).refused(8, "not sealed to a key of this kind", "another kind");
    assert_eq!(place.folder.read("there"), b"before");
    keywright(&[&front[..], &["--yes"]].concat()).text();
    assert_eq!(place.folder.read("there"), b"new");
    let names = place.folder.names();
    assert!(
        !names.iter().any(|name| name.contains(".part")),
        "{names:?}"
    );
}

#[test]
fn nothing_is_written_before_the_last_byte_was_verified_unless_asked_for() {
    let place = Place::new();
    // Not a multiple of the chunks, so that each cut takes text away.
    let text = text((3 << 20) + 5);
    let file = place.seal(&["alice"], &text);
    for cut in [1, 16, CHUNK + 16, 1 << 20] {
        let cut = &file[..file.len() - cut];
        rejected(&place.open("alice", cut, &[]));
        let path = place.folder.write("cut", cut);
        rejected(&place.open("alice", b"", &["--input", &path]));
        let streamed = place.open("alice", cut, &["--stream"]);
        assert_eq!(streamed.code, 8);
        assert!(text.starts_with(&streamed.stdout) && streamed.stdout.len() < text.len());
    }
    let mut changed = file.clone();
    let last = changed.len() - 1;
    changed[last] ^= 1;
    rejected(&place.open("alice", &changed, &[]));
    let whole = place.folder.write("whole", &file);
    let key = place.name("alice.key");
    let words = ["open", "--key-file", &key, "--input", &whole];
    assert_eq!(
        keywright_read_partly(&words, 100).code,
        0,
        "a reader that has enough"
    );
}

#[test]
fn a_cut_at_every_boundary_of_the_header_is_refused_without_a_byte() {
    let place = Place::new();
    place.pair("carol", "x25519");
    let file = place.seal(&["alice", "carol"], b"some text");
    // Magic and count; type and length, content, of both slots; the stream's header and its prefix.
    let slot = 5 + 6 + 32 + 64;
    let edges = [
        0,
        1,
        3,
        4,
        5,
        9,
        4 + slot,
        9 + slot,
        4 + 2 * slot,
        30 + 2 * slot,
    ];
    for edge in edges {
        for length in [edge, edge + 1] {
            malformed(&place.open("carol", &file[..length], &[]));
        }
    }
    for (at, byte) in [(0, 0x28), (2, 0x74), (3, 0), (4, 0), (4, 4), (5, 1)] {
        let mut changed = file.clone();
        changed[at] = byte;
        malformed(&place.open("carol", &changed, &[]));
    }
    malformed(&place.unlock("password", b"some text that was never locked"));
    // The encapsulation, the ciphertext and the tag of her slot.
    for at in [9 + slot + 6, 9 + slot + 38, 4 + 2 * slot - 1] {
        let mut changed = file.clone();
        changed[at] ^= 1;
        rejected(&place.open("carol", &changed, &[]));
        assert!(place.open("alice", &changed, &[]).bytes() == b"some text");
    }
}

#[test]
fn another_key_gets_the_one_answer_and_another_sort_of_opener_is_told_so() {
    let place = Place::new();
    place.pair("mallory", "x25519");
    let sealed = place.seal(&["alice"], b"text");
    rejected(&place.open("mallory", &sealed, &[]));
    let error = place
        .open("mallory", &sealed, &["--format", "json", "--output", "x"])
        .error(8);
    assert_eq!(error["code"], "file_rejected");
    place
        .open("bob", &sealed, &[])
        .refused(8, "not sealed to a key of this kind", "unlock");
    place
        .unlock("password", &sealed)
        .refused(8, "under no password", "keywright open");
    let locked = place.lock(b"text");
    place
        .open("alice", &locked, &[])
        .refused(8, "not sealed to a key", "keywright unlock");
}

#[test]
fn a_container_that_asks_for_too_much_is_refused_before_it_gets_it() {
    let place = Place::new();
    let mut file = place.lock(b"text");
    // Magic and count, type and length, the container's magic and numbers: then its memory in KiB.
    file[4 + 5 + 8..4 + 5 + 12].copy_from_slice(&u32::MAX.to_be_bytes());
    let ended = place.unlock("password", &file);
    ended.refused(8, "outside the limits (password_cost)", "do not trust");
}

#[test]
fn keys_are_never_written_over_and_never_taken_for_one_another() {
    let place = Place::new();
    let before = place.folder.read("alice.key");
    assert_eq!(place.folder.mode("alice.key"), 0o600);
    let (key, public) = (place.name("alice.key"), place.name("alice.pub"));
    let new = place.name("new.key");
    let again = keywright(&["seal", "keygen", "--out", &key]);
    again.refused(13, "is not written over", "another name");
    let again = keywright(&["seal", "keygen", "--out", &new, "--public-out", &public]);
    again.refused(13, "is not written over", "another name");
    assert!(!place.folder.names().contains(&"new.key".to_owned()));
    assert_eq!(place.folder.read("alice.key"), before);

    let private = keywright_reading(&["seal", "--recipient", &key], b"text");
    private.refused(2, "is a private key", "keep it to yourself");
    let secret = String::from_utf8(before).unwrap();
    assert!(
        !private
            .stderr
            .contains(secret.split(' ').nth(2).unwrap().trim())
    );
    std::fs::set_permissions(&public, std::fs::Permissions::from_mode(0o600)).unwrap();
    keywright(&["open", "--key-file", &public]).refused(2, "holds a public key", "keygen");
    for (name, content) in [("empty", ""), ("other", "age1qqqq"), ("cut", &secret[..60])] {
        let file = place.secret(name, content);
        keywright(&["open", "--key-file", &file]).refused(2, "holds no private key", "keygen");
        keywright(&["seal", "--recipient", &file]).refused(2, "line 1 of", "");
    }
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o640)).unwrap();
    keywright(&["open", "--key-file", &key]).refused(2, "can be read by others", "chmod 600");
}

#[test]
fn the_public_key_is_printed_again_from_the_private_one() {
    let place = Place::new();
    place.pair("dora", "p-256");
    for (name, kem) in [
        ("alice", "x25519"),
        ("bob", "x-wing-draft"),
        ("dora", "p-256"),
    ] {
        let key = place.name(&format!("{name}.key"));
        let words = ["seal", "public", "--key-file", &key];
        let printed = keywright(&words).bytes();
        assert_eq!(printed, place.folder.read(&format!("{name}.pub")));
        let told: Value = keywright(&[&words[..], &["--format", "json"]].concat()).document();
        assert_eq!(told["kem"], kem);
        assert_eq!(
            format!("{}\n", told["public_key"].as_str().unwrap()).into_bytes(),
            printed
        );
    }
    let (key, public) = (place.name("eve.key"), place.name("eve.pub"));
    let words = ["seal", "keygen", "--out", &key, "--public-out", &public];
    assert_eq!(keywright(&words).text(), "");
    let file = place.seal(&["eve", "dora"], b"text");
    assert_eq!(place.open("eve", &file, &[]).bytes(), b"text");
    assert_eq!(place.open("dora", &file, &[]).bytes(), b"text");
}

#[test]
fn passwords_that_are_none_are_refused_before_anything_is_read() {
    let place = Place::new();
    let locked = place.lock(b"text");
    for (content, happened) in [
        ("", "holds no password"),
        ("\n", "holds no password"),
        ("a\nb\n", "more than one line"),
    ] {
        place.secret("bad", content);
        place.unlock("bad", &locked).refused(2, happened, "line");
    }
    place.secret("long", &"x".repeat(5000));
    place
        .unlock("long", &locked)
        .refused(2, "too long", "alone");
    let open = place.folder.write("open", "x");
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o644)).unwrap();
    place
        .unlock("open", &locked)
        .refused(2, "can be read by others", "chmod 600");
    place
        .unlock("absent", &locked)
        .refused(1, "cannot be read", "");
    // The shell opens the descriptor.
    let script = format!(
        "exec 3<'{}'; exec \"$0\" unlock --password-fd 3",
        place.name("password")
    );
    let input = place.folder.write("locked", &locked);
    let ended = std::process::Command::new("sh")
        .args(["-c", &script, program().get_program().to_str().unwrap()])
        .stdin(std::fs::File::open(input).unwrap())
        .output();
    assert_eq!(ended.unwrap().stdout, b"text");
}

#[test]
fn what_cannot_be_done_is_said_before_anything_is_done() {
    let place = Place::new();
    let (recipient, key) = (place.name("alice.pub"), place.name("alice.key"));
    let json = keywright(&["seal", "--recipient", &recipient, "--format", "json"]);
    assert!(
        json.error(2)["message"]
            .as_str()
            .unwrap()
            .contains("cannot both")
    );
    keywright(&["seal", "--input", &recipient]).refused(2, "no recipient", "--recipient FILE");
    let absent = place.name("absent");
    let nowhere = place.name("absent/file");
    let words = ["seal", "--recipient", &recipient, "--input", &absent];
    keywright(&words).refused(1, "cannot be read", "exists");
    let words = ["seal", "--recipient", &recipient, "--output", &nowhere];
    keywright(&words).refused(1, "cannot be written", "exists");
    let here = place.folder.path().to_str().unwrap();
    let words = ["seal", "--recipient", &recipient, "--input", here];
    keywright(&words).refused(1, "cannot be read", "");
    let words = ["open", "--key-file", &key, "--output", here];
    keywright(&words).refused(1, "cannot be written", "");
    let many = place.folder.read("alice.pub").repeat(256);
    let many = place.folder.write("many", many);
    keywright(&["seal", "--recipient", &many]).refused(2, "between 1 and 255", "255 recipients");
}

#[test]
fn an_interrupted_command_leaves_nothing_behind() {
    let place = Place::new();
    let before = place.folder.names();
    let (recipient, out) = (place.name("alice.pub"), place.name("out"));
    for name in ["INT", "TERM"] {
        let words = ["seal", "--recipient", &recipient, "--output", &out];
        let mut child = program()
            .args(words)
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        // Held open, so that the command waits for more.
        let input = child.stdin.take();
        assert!(eventually(|| place.folder.names().len() > before.len()));
        signal(name, child.id());
        assert_eq!(child.wait().unwrap().code(), Some(130), "{name}");
        drop(input);
        assert_eq!(place.folder.names(), before, "{name}");
    }
}
