//! `keywright admin backup`: a home in one file and a new home of it, and every way in which that is refused.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::program::{Ended, Folder, Home, keywright};

/// A home, the folder of its backups, and that of their passwords.
struct Scene {
    home: Home,
    backups: Folder,
    passwords: Folder,
}

impl Scene {
    fn new() -> Self {
        let (home, backups, passwords) = (Home::demo(), Folder::new(), Folder::new());
        let scene = Self {
            home,
            backups,
            passwords,
        };
        scene.secret("password", "a backup of tuesday\n");
        scene.secret("wrong", "a backup of monday\n");
        scene
    }

    fn secret(&self, name: &str, text: &str) -> String {
        let path = self.passwords.write(name, text);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        path
    }

    fn password(&self) -> String {
        self.passwords.name("password")
    }

    fn file(&self) -> String {
        self.backups.name("home.kwb")
    }

    fn create(&self, more: &[&str]) -> Ended {
        let (file, password) = (self.file(), self.password());
        let words = ["backup", "create", "--out", &file, "--profile", "fast"];
        let words = match more {
            [] => [&words[..], &["--password-file", &password]].concat(),
            more => [&words[..], more].concat(),
        };
        self.home.admin(&words)
    }

    fn verify(&self, more: &[&str]) -> Ended {
        let (file, password) = (self.file(), self.password());
        let words = ["backup", "verify", &file, "--password-file", &password];
        self.home.admin(&[&words[..], more].concat())
    }

    /// Restores into `new` beside the home, with the secrets of the old one.
    fn restore(&self, more: &[&str]) -> Ended {
        let password = self.password();
        self.restore_under(&password, more)
    }

    fn restore_under(&self, password: &str, more: &[&str]) -> Ended {
        self.restore_for(&self.home.word("server.key"), password, more)
    }

    fn restore_for(&self, key: &str, password: &str, more: &[&str]) -> Ended {
        let (file, root) = (self.file(), self.home.word("root.password"));
        let (new, signer) = (self.new_home(), self.signer());
        let words = [
            "admin",
            "--home",
            &new,
            "backup",
            "restore",
            &file,
            "--password-file",
            password,
            "--root-password-file",
            &root,
            "--server-key",
            key,
            "--fingerprint-file",
            &signer,
        ];
        keywright(&[&words[..], more].concat())
    }

    /// The fingerprint that was noted when the home was made.
    fn signer(&self) -> String {
        self.home.word("audit-signer.txt")
    }

    fn new_home(&self) -> String {
        self.backups.name("new")
    }

    /// Nothing but the backup is where the new home was to be.
    fn left(&self) {
        assert_eq!(self.backups.names(), ["home.kwb"]);
    }
}

#[test]
fn a_file_longer_than_a_backup_is_refused_before_it_is_read() {
    let scene = Scene::new();
    scene
        .create(&["--password-file", &scene.password()])
        .bytes();
    let file = std::fs::File::options()
        .write(true)
        .open(scene.file())
        .unwrap();
    file.set_len((1 << 30) + 1).unwrap();
    scene
        .verify(&[])
        .refused(12, "1073741824 at most", "admin backup create");
}

#[test]
fn a_backup_is_made_looked_at_and_restored_with_the_log_of_what_came_after() {
    let scene = Scene::new();
    let server = scene.home.serve();
    let made = scene
        .create(&["--password-file", &scene.password(), "--format", "json"])
        .document();
    assert_eq!(
        (made["contexts"].as_u64(), made["versions"].as_u64()),
        (Some(2), Some(2))
    );
    let mode = std::fs::metadata(scene.file())
        .unwrap()
        .permissions()
        .mode()
        & 0o777;
    assert_eq!(mode, 0o600);
    scene.home.admin(&["key", "suspend", "2fa", "1"]).bytes();
    scene.home.admin(&["key", "rotate", "exchange-key"]).bytes();
    server.stop();
    let told = scene.verify(&["--format", "json"]).document();
    assert_eq!(
        (told["epoch"].as_u64(), told["policy"].as_bool()),
        (made["epoch"].as_u64(), Some(true))
    );
    let log = scene.home.word("audit");
    let ended = scene.restore(&["--audit", &log]);
    assert!(
        ended.stderr.contains("clock confirm") && ended.stderr.contains("made after the backup"),
        "{ended:?}"
    );
    let text = ended.text();
    assert!(
        text.contains("orders done again") && text.contains(".2\n"),
        "{text}"
    );
    let new = scene.new_home();
    let listed = keywright(&["admin", "--home", &new, "key", "list", "2fa"]).text();
    assert!(listed.contains("suspended"), "{listed}");
    let rotated = keywright(&["admin", "--home", &new, "key", "list", "exchange-key"]).text();
    assert!(
        rotated.contains("retired") && rotated.contains("destroyed"),
        "{rotated}"
    );
    keywright(&["audit", "verify", "--home", &new]).bytes();
}

#[test]
fn a_key_of_another_server_makes_no_home() {
    let scene = Scene::new();
    scene.create(&[]).bytes();
    let (password, new) = (scene.password(), scene.new_home());
    let restore = |key: &str| scene.restore_for(key, &password, &["--without-log"]);
    let mismatch = "the private key does not belong to the certificate";
    restore(&scene.home.word("ca.key")).refused(2, mismatch, "certificate, key");
    restore(&password).refused(2, "private key: ", "certificate, key");
    scene.left();
    restore(&scene.home.word("server.key")).bytes();
    let serve = ["serve", "--check", "--home", &new];
    let said = String::from_utf8(keywright(&serve).stdout).unwrap();
    assert!(said.contains("ok       server.certificate: "), "{said}");
}

#[test]
fn a_backup_to_a_public_key_is_opened_by_the_private_key_alone() {
    let scene = Scene::new();
    let (private, public) = (scene.passwords.name("key"), scene.passwords.name("key.pub"));
    keywright(&["seal", "keygen", "--out", &private, "--public-out", &public]).bytes();
    scene.create(&["--recipient", &public]).bytes();
    let file = scene.file();
    scene
        .home
        .admin(&["backup", "verify", &file, "--key-file", &private])
        .bytes();
    // What helps goes with the same command: `keywright open` opens no backup.
    scene
        .verify(&[])
        .refused(8, "no_slot", "give --key-file FILE");
    scene
        .restore(&["--without-log"])
        .refused(8, "no_slot", "give --key-file FILE");
    let root = scene.home.word("root.password");
    let (new, signer) = (scene.new_home(), scene.signer());
    let words = [
        "admin",
        "--home",
        &new,
        "backup",
        "restore",
        &file,
        "--fingerprint-file",
        &signer,
        "--key-file",
        &private,
        "--root-password-file",
        &root,
        "--without-log",
    ];
    let ended = keywright(&words);
    assert!(ended.stderr.contains("server.key in place"), "{ended:?}");
    ended.bytes();
}

/// D25: "Backup keeps the PIN beside the tokens": a password beside the backup, and the root's, are refused.
#[test]
fn a_password_beside_the_backup_and_the_password_of_the_root_are_refused() {
    let scene = Scene::new();
    let beside = scene.backups.write("password", "beside\n");
    std::fs::set_permissions(&beside, std::fs::Permissions::from_mode(0o600)).unwrap();
    scene.create(&["--password-file", &beside]).refused(
        13,
        "would lie beside the backup",
        "another place",
    );
    std::fs::remove_file(beside).unwrap();
    let root = std::fs::read_to_string(scene.home.path("root.password")).unwrap();
    let same = scene.secret("same", &root);
    scene.create(&["--password-file", &same]).refused(
        13,
        "password of the root key",
        "another password",
    );
    let root = scene.home.word("root.password");
    scene.create(&["--password-file", &root]).refused(
        13,
        "password of the root key",
        "another password",
    );
    let inside = scene.home.word("backup.kwb");
    let words = [
        "backup",
        "create",
        "--out",
        &inside,
        "--profile",
        "fast",
        "--password-file",
    ];
    scene
        .home
        .admin(&[&words[..], &[&scene.password()]].concat())
        .refused(13, "lies in the home itself", "outside of the home");
    assert!(scene.backups.names().is_empty());
}

#[test]
fn nothing_is_written_over_and_no_home_is_needed_to_be_told_so() {
    let scene = Scene::new();
    scene.create(&[]).bytes();
    let before = scene.backups.read("home.kwb");
    let refused = |ended: Ended| {
        ended.refused(13, "exists and is not written over", "choose another name");
    };
    refused(scene.create(&[]));
    let server = scene.home.serve();
    refused(scene.create(&[]));
    server.stop();
    assert_eq!(scene.backups.read("home.kwb"), before);
    let nowhere = scene.backups.name("no-home");
    let file = scene.backups.name("other");
    let words = [
        "admin", "--home", &nowhere, "backup", "create", "--out", &file,
    ];
    keywright(&words).refused(2, "there is no home", "--home DIR");
    scene.left();
}

#[test]
fn what_is_not_the_right_backup_under_the_right_password_is_refused_and_leaves_nothing() {
    let scene = Scene::new();
    scene.create(&[]).bytes();
    let wrong = scene.passwords.name("wrong");
    scene
        .restore_under(&wrong, &["--without-log"])
        .refused(8, "file_rejected", "password");
    let whole = scene.backups.read("home.kwb");
    for (length, happened) in [
        (0, "no protected file"),
        (3, "no protected file"),
        (whole.len() / 2, "does not open"),
        (whole.len() - 1, "does not open"),
    ] {
        scene.backups.write("home.kwb", &whole[..length]);
        scene
            .restore(&["--without-log"])
            .refused(8, happened, "whole file");
        scene.left();
    }
    let mut changed = whole.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 0x40;
    scene.backups.write("home.kwb", &changed);
    scene
        .restore(&["--without-log"])
        .refused(8, "does not open", "whole file");
    scene.verify(&[]).refused(8, "does not open", "whole file");
    // A file of something else under the same password.
    let (password, text) = (scene.password(), scene.passwords.write("text", "no backup"));
    std::fs::remove_file(scene.file()).unwrap();
    let out = scene.file();
    keywright(&[
        "lock",
        "--password-file",
        &password,
        "--profile",
        "fast",
        "--input",
        &text,
        "--output",
        &out,
    ])
    .bytes();
    scene
        .restore(&["--without-log"])
        .refused(8, "does not open", "whole file");
    scene.left();
    scene.backups.write("home.kwb", &whole);
    scene.restore(&["--without-log"]).bytes();
}

#[test]
fn a_restore_without_log_or_flag_over_a_home_or_without_the_root_is_refused() {
    let scene = Scene::new();
    scene.create(&[]).bytes();
    for way in ["--audit", "--without-log"] {
        scene.restore(&[]).refused(2, way, "usage");
    }
    let log = scene.home.word("audit");
    scene
        .restore(&["--audit", &log, "--without-log"])
        .refused(2, "--without-log", "usage");
    let (file, password, root) = (
        scene.file(),
        scene.password(),
        scene.home.word("root.password"),
    );
    let signer = scene.signer();
    let words = [
        "backup",
        "restore",
        &file,
        "--fingerprint-file",
        &signer,
        "--password-file",
        &password,
        "--without-log",
    ];
    scene
        .home
        .admin(&[&words[..], &["--root-password-file", &root]].concat())
        .refused(2, "exists and is not empty", "another --home");
    let new = scene.new_home();
    keywright(&[&["admin", "--home", &new], &words[..]].concat()).refused(
        2,
        "password of the root key is needed",
        "--root-password-file",
    );
    let wrong = scene.passwords.name("wrong");
    let ended = keywright(
        &[
            &["admin", "--home", &new],
            &words[..],
            &["--root-password-file", &wrong],
        ]
        .concat(),
    );
    ended.refused(
        11,
        "does not open with this password",
        "--root-password-file",
    );
    scene.left();
}

#[test]
fn a_log_of_another_home_an_older_one_and_one_in_use_are_refused() {
    let scene = Scene::new();
    scene.create(&[]).bytes();
    let log = scene.home.word("audit");
    // Of another installation; and the right one as it was before the backup.
    let other = Folder::new();
    let home = other.name("other");
    keywright(&["admin", "init", "--home", &home, "--profile", "fast"]).bytes();
    let foreign = Path::new(&home).join("audit");
    scene
        .restore(&["--audit", foreign.to_str().unwrap()])
        .refused(13, "another installation", "of the node");
    let stale = Home::demo();
    scene.restore(&["--audit", &stale.word("audit")]).refused(
        13,
        "does not reach to the backup",
        "newest copy",
    );
    let server = scene.home.serve();
    scene
        .restore(&["--audit", &log])
        .refused(13, "running on this audit log", "stop");
    server.stop();
    scene.left();
    scene.restore(&["--audit", &log]).bytes();
}

#[test]
fn a_head_of_another_signer_and_a_missing_fingerprint_verify_nothing() {
    let scene = Scene::new();
    scene.create(&[]).bytes();
    let other = "ab".repeat(32);
    scene
        .verify(&["--fingerprint", &other])
        .refused(8, "was not signed by", "do not trust");
    scene
        .verify(&["--fingerprint", "ab"])
        .refused(2, "no fingerprint", "64");
    let (file, password) = (scene.file(), scene.password());
    let nowhere = scene.backups.name("nowhere");
    let words = [
        "admin",
        "--home",
        &nowhere,
        "backup",
        "verify",
        &file,
        "--password-file",
        &password,
    ];
    keywright(&words).refused(2, "not verified: the fingerprint", "--fingerprint");
    let signer = scene.signer();
    keywright(&[&words[..], &["--fingerprint-file", &signer]].concat()).bytes();
}

#[test]
fn a_restore_asks_for_the_signer_from_outside_the_backup() {
    let scene = Scene::new();
    scene.create(&[]).bytes();
    let (file, password, root) = (
        scene.file(),
        scene.password(),
        scene.home.word("root.password"),
    );
    let new = scene.new_home();
    let words = [
        "admin",
        "--home",
        &new,
        "backup",
        "restore",
        &file,
        "--password-file",
        &password,
        "--root-password-file",
        &root,
        "--without-log",
    ];
    let refused = |more: &[&str], exit, happened: &str, help: &str| {
        keywright(&[&words[..], more].concat()).refused(exit, happened, help);
        scene.left();
    };
    refused(
        &[],
        2,
        "not restored: the fingerprint",
        "--fingerprint-file",
    );
    let other = "ab".repeat(32);
    let signed = "the backup was not signed by";
    refused(&["--fingerprint", &other], 8, signed, "do not trust");
    refused(&["--fingerprint", "ab"], 2, "no fingerprint", "64");
    let signer = std::fs::read_to_string(scene.signer()).unwrap();
    let given = ["--fingerprint", signer.trim()];
    let module = [&given[..], &["--module", "/nowhere.so"]].concat();
    refused(&module, 2, "--module is for a token", "leave it out");
    let nonsense = [&given[..], &["--accept", "store.file"]].concat();
    refused(&nonsense, 2, "store.file", "similar value");
    keywright(&[&words[..], &given].concat()).bytes();
}

#[test]
fn what_reaches_outside_of_the_home_is_listed_and_confirmed_by_name() {
    let scene = Scene::new();
    let path = scene.home.path("keywright.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let listen = text.lines().find(|line| line.starts_with("listen = "));
    let text = text.replace(listen.unwrap(), "listen = \"0.0.0.0:8443\"");
    let telemetry = "\n[telemetry]\nendpoint = \"http://127.0.0.1:4318\"\n";
    std::fs::write(&path, text + telemetry).unwrap();
    scene.create(&[]).bytes();
    let said = scene.verify(&[]);
    assert!(said.stderr.contains("server.listen"), "{said:?}");
    let outside = scene.verify(&["--format", "json"]).document();
    assert_eq!(outside["outside"][0]["key"], "server.listen");
    let listed = "server.listen = \"0.0.0.0:8443\", telemetry.endpoint = \"http://127.0.0.1:4318\"";
    let advice = "--accept server.listen --accept telemetry.endpoint";
    scene
        .restore(&["--without-log"])
        .refused(13, listed, advice);
    scene.left();
    let one = ["--without-log", "--accept", "server.listen"];
    let rest = "home: telemetry.endpoint";
    scene
        .restore(&one)
        .refused(13, rest, "--accept telemetry.endpoint");
    scene.left();
    let both = [&one[..], &["--accept", "telemetry.endpoint"]].concat();
    scene.restore(&both).bytes();
}

/// The system kills the process at the write that makes a file longer than this: a crash at a known place.
#[test]
fn a_restore_that_is_killed_at_any_write_leaves_no_home_and_is_done_again() {
    let scene = Scene::new();
    scene.create(&[]).bytes();
    let (file, password, root) = (
        scene.file(),
        scene.password(),
        scene.home.word("root.password"),
    );
    let (new, signer) = (scene.new_home(), scene.signer());
    let restore = [
        "admin",
        "--home",
        &new,
        "backup",
        "restore",
        &file,
        "--fingerprint-file",
        &signer,
        "--password-file",
        &password,
        "--root-password-file",
        &root,
        "--without-log",
    ];
    let mut killed = 0;
    for blocks in [0, 1, 2, 3, 4, 8, 16, 32, 64, 128] {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -f \"$0\"; exec \"$@\""]);
        command.arg(blocks.to_string());
        command.arg(env!("CARGO_BIN_EXE_keywright")).args(restore);
        if command.output().unwrap().status.success() {
            break;
        }
        killed += 1;
        assert!(!Path::new(&new).exists(), "{blocks} blocks: half a home");
        // What a crash leaves has another name; the next restore does not look at it.
        let left = scene.backups.names().into_iter();
        left.for_each(|name| assert!(name == "home.kwb" || name.starts_with("new.new-")));
    }
    assert!(killed >= 5, "{killed}");
    keywright(&restore).bytes();
    keywright(&["audit", "verify", "--home", &new]).bytes();
}

/// The system refuses to let any file grow further: a backup and a home in the making go away again.
#[test]
fn a_full_disk_leaves_neither_half_a_backup_nor_half_a_home() {
    let scene = Scene::new();
    let short = |kib: u32, words: &[&str]| {
        let mut command = Command::new("sh");
        // A signal that is ignored stays so in what is started: writes fail instead.
        command.args(["-c", "trap '' XFSZ; ulimit -f \"$0\"; exec \"$@\""]);
        let blocks = (kib * 2).to_string();
        command
            .arg(blocks)
            .arg(env!("CARGO_BIN_EXE_keywright"))
            .args(words);
        let output = command.output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert_eq!(told.lines().count(), 2, "{told}");
    };
    scene.create(&[]).bytes();
    let (file, password, root) = (
        scene.file(),
        scene.password(),
        scene.home.word("root.password"),
    );
    let (new, signer) = (scene.new_home(), scene.signer());
    let restore = [
        "admin",
        "--home",
        &new,
        "backup",
        "restore",
        &file,
        "--fingerprint-file",
        &signer,
        "--password-file",
        &password,
        "--root-password-file",
        &root,
        "--without-log",
    ];
    for kib in [0, 1, 16] {
        short(kib, &restore);
        scene.left();
    }
    keywright(&restore).bytes();
}
