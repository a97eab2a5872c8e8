//! Forged backups. A recipient's public key is enough to seal one, so a restore believes, writes and loads nothing
//! before the signature of the audit log's signer and the row MACs hold (design 7.22).

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use keywright_clock::Clock;
use keywright_encoding::{Reader, put_lp};
use keywright_home::backup::{BackupError, CONFIRMABLE, LaterLog, Restoration, Restored};
use keywright_home::{Config, Contents, HomeError};
use keywright_keystore::{Keystore, Root, ServiceKey};
use keywright_password::Limits;
use keywright_primitives::hash::sha256;
use keywright_primitives::random::RandomStream;
use keywright_primitives::signature::{SigningKey, VerifyingKey};
use keywright_secret::SecretBytes;
use keywright_store::{SqliteEngine, Table, read_meta};

use crate::backup::{Keeper, Shelf, fingerprint, shelf};
use crate::fixture::Home;

// === the text ===

const CONFIGURATION: usize = 0;
const LABEL: &[u8] = b"keywright/backup-signature/v2";

#[derive(Clone)]
struct ForgedRow {
    key: Vec<u8>,
    tenant: [u8; 16],
    revision: u64,
    epoch: u64,
    body: Vec<u8>,
    mac: [u8; 32],
}

/// The text of a backup without its signature, each field to be changed.
#[derive(Clone)]
struct ForgedText {
    version: u32,
    created: u64,
    head: Vec<u8>,
    files: Vec<Vec<u8>>,
    tables: Vec<Vec<ForgedRow>>,
}

impl ForgedText {
    fn parse(text: &[u8]) -> Self {
        let mut reader = Reader::new(&text[..text.len() - 64]);
        assert_eq!((reader.u8(), reader.u16()), (Ok(2), Ok(6)));
        let version = reader.u32().unwrap();
        reader.take(32).unwrap();
        assert_eq!(reader.u8(), Ok(0), "no key has changed");
        let created = reader.u64().unwrap();
        let head = reader.lp().unwrap().to_vec();
        let files = (0..5).map(|_| reader.lp().unwrap().to_vec()).collect();
        let tables = Table::ALL.iter().map(|_| {
            let count = reader.u64().unwrap();
            (0..count).map(|_| read_row(&mut reader)).collect()
        });
        let tables = tables.collect();
        assert!(reader.is_empty());
        Self {
            version,
            created,
            head,
            files,
            tables,
        }
    }

    /// Everything before the signature, which names `signer`.
    fn unsigned(&self, signer: &VerifyingKey) -> Vec<u8> {
        let mut out = vec![2];
        out.extend_from_slice(&6_u16.to_be_bytes());
        out.extend_from_slice(&self.version.to_be_bytes());
        out.extend_from_slice(signer.as_bytes());
        out.push(0);
        out.extend_from_slice(&self.created.to_be_bytes());
        put_lp(&mut out, &self.head).unwrap();
        for file in &self.files {
            put_lp(&mut out, file).unwrap();
        }
        for table in &self.tables {
            out.extend_from_slice(&(table.len() as u64).to_be_bytes());
            table.iter().for_each(|row| put_row(&mut out, row));
        }
        out
    }

    fn signed(&self, key: &SigningKey) -> Vec<u8> {
        sign(self.unsigned(&key.verifying_key()), LABEL, key)
    }

    fn with(&self, change: impl FnOnce(&mut Self)) -> Self {
        let mut changed = self.clone();
        change(&mut changed);
        changed
    }

    fn with_configuration(&self, text: &str) -> Self {
        self.with(|forged| forged.files[CONFIGURATION] = text.as_bytes().to_vec())
    }

    fn configuration(&self) -> String {
        String::from_utf8(self.files[CONFIGURATION].clone()).unwrap()
    }
}

fn sign(mut text: Vec<u8>, label: &[u8], key: &SigningKey) -> Vec<u8> {
    let signature = key.sign(&[label, &sha256(&text)].concat());
    text.extend_from_slice(&signature);
    text
}

fn read_row(reader: &mut Reader<'_>) -> ForgedRow {
    ForgedRow {
        key: reader.lp().unwrap().to_vec(),
        tenant: *reader.array().unwrap(),
        revision: reader.u64().unwrap(),
        epoch: reader.u64().unwrap(),
        body: reader.lp().unwrap().to_vec(),
        mac: *reader.array().unwrap(),
    }
}

fn put_row(out: &mut Vec<u8>, row: &ForgedRow) {
    put_lp(out, &row.key).unwrap();
    out.extend_from_slice(&row.tenant);
    out.extend_from_slice(&row.revision.to_be_bytes());
    out.extend_from_slice(&row.epoch.to_be_bytes());
    put_lp(out, &row.body).unwrap();
    out.extend_from_slice(&row.mac);
}

/// Each field of a row changed, and what that is called.
fn changed_rows(row: &ForgedRow) -> Vec<(&'static str, ForgedRow)> {
    type Change = fn(&mut ForgedRow);
    let changes: [(&'static str, Change); 6] = [
        ("key", |row| row.key.push(b'x')),
        ("tenant", |row| row.tenant[3] ^= 1),
        ("revision", |row| row.revision += 1),
        ("epoch", |row| row.epoch += 1),
        ("body", |row| row.body.push(b' ')),
        ("mac", |row| row.mac[5] ^= 1),
    ];
    let changed = changes.into_iter().map(|(name, change)| {
        let mut row = row.clone();
        change(&mut row);
        (name, row)
    });
    changed.collect()
}

/// A text with each row changed in each field, and with each row taken out.
fn forged_rows(text: &ForgedText) -> Vec<(String, ForgedText)> {
    let mut all = Vec::new();
    for (table, rows) in text.tables.iter().enumerate() {
        for (number, row) in rows.iter().enumerate() {
            let place = format!("{} {number}", Table::ALL[table]);
            for (field, row) in changed_rows(row) {
                let forged = text.with(|text| text.tables[table][number] = row);
                all.push((format!("{place} {field}"), forged));
            }
            let without = text.with(|text| drop(text.tables[table].remove(number)));
            all.push((format!("{place} taken out"), without));
        }
    }
    all
}

/// A text with every other field changed.
fn forged_fields(text: &ForgedText) -> Vec<(String, ForgedText)> {
    let mut all = vec![
        (
            "key version".to_owned(),
            text.with(|text| text.version += 1),
        ),
        ("created".to_owned(), text.with(|text| text.created += 1)),
    ];
    for at in (0..text.head.len()).step_by(7) {
        let forged = text.with(|text| text.head[at] ^= 1);
        // What is no head any longer has no field to forge.
        if keywright_audit::head::SignedHead::from_bytes(&forged.head).is_ok() {
            all.push((format!("head at {at}"), forged));
        }
    }
    for number in 0..text.files.len() {
        let forged = text.with(|text| text.files[number].push(b'\n'));
        all.push((format!("file {number}"), forged));
    }
    for key in CONFIRMABLE.into_iter().chain(["token.module"]) {
        let (configuration, _) = reaching_out(&text.configuration(), key, "/tmp/elsewhere");
        all.push((key.to_owned(), text.with_configuration(&configuration)));
    }
    all
}

// === configurations ===

/// A configuration whose `key` reaches outside of the home, and all keys that do so then.
fn reaching_out(text: &str, key: &'static str, path: &str) -> (String, Vec<&'static str>) {
    let (section, name) = key.split_once('.').unwrap();
    let admin = "[admin]\nlisten = \"127.0.0.1:0\"\nauthorities = \"a.pem\"\nrevocation_lists = \"l.pem\"\n";
    let token = "[token]\nmodule = \"/m.so\"\nlabel = \"t\"\npin_file = \"token.pin\"\n";
    let telemetry = "[telemetry]\nendpoint = \"http://127.0.0.1:4318\"\n";
    let set = |text: &str, value: &str| set_key(text, (section, name), value);
    let path = format!("{path:?}");
    match key {
        "server.listen" => (set(text, "\"0.0.0.0:8443\""), vec![key]),
        "admin.listen" => (set(&format!("{text}{admin}"), "\"[::]:1\""), vec![key]),
        "token.pin_file" => {
            let keys = vec!["token.module", key];
            (set(&format!("{text}{token}"), &path), keys)
        }
        "token.module" => (set(&format!("{text}{token}"), &path), vec![key]),
        "telemetry.endpoint" => (format!("{text}{telemetry}"), vec![key]),
        "telemetry.allow_plaintext" => {
            let text = format!("{text}{telemetry}allow_plaintext = true\n");
            (text, vec!["telemetry.endpoint", key])
        }
        "telemetry.authorities" => {
            let text =
                format!("{text}{telemetry}authorities = {path}\n").replace("http:", "https:");
            (text, vec!["telemetry.endpoint", key])
        }
        _ if section == "admin" => (set(&format!("{text}{admin}"), &path), vec![key]),
        "clients.roster" => {
            let text = text.replace("[clients]\n", &format!("[clients]\nroster = {path}\n"));
            (text, vec![key])
        }
        _ => (set(text, &path), vec![key]),
    }
}

/// Sets a key that a configuration has.
fn set_key(text: &str, (section, name): (&str, &str), value: &str) -> String {
    let (mut here, mut found) = (false, false);
    let lines = text.lines().map(|line| {
        if line.starts_with('[') {
            here = line == format!("[{section}]");
        }
        if here && line.starts_with(&format!("{name} = ")) {
            found = true;
            return format!("{name} = {value}\n");
        }
        format!("{line}\n")
    });
    let text = lines.collect();
    assert!(found, "{section}.{name} is not in the configuration");
    text
}

// === the attempt ===

/// A backup, what is in it, and the key that may sign it.
struct Forgery {
    shelf: Shelf,
    original: Vec<u8>,
    text: ForgedText,
    signer: SigningKey,
}

/// What the operator gives beside the backup.
#[derive(Clone, Copy, Default)]
struct RestoreInput<'a> {
    module: Option<&'a Path>,
    pin: Option<&'a Path>,
    accepted: &'a [&'a str],
    /// The setting whose file is not given again.
    without: &'a str,
}

impl Forgery {
    fn new() -> Self {
        Self::over(shelf())
    }

    /// Of an installation of its own: all others are copies of one.
    fn elsewhere() -> Self {
        let home = Home::made_by(|place| {
            let (contents, profile) = (Contents::Empty, keywright_home::Profile::Fast);
            keywright_home::create(place, contents, profile, &Clock::system()).unwrap();
        });
        let (keeper, file) = (Keeper::new(), home.beside("backup.kwb"));
        let node = home.open().unwrap();
        keeper.back_up(&node, &file);
        node.shutdown().unwrap();
        Self::over(Shelf { home, keeper, file })
    }

    fn over(shelf: Shelf) -> Self {
        let original = shelf.keeper.reseal(&shelf.file, |_| ());
        let signer = audit_key(&shelf.home);
        let text = ForgedText::parse(&original);
        assert_eq!(text.signed(&signer), original, "one text for one content");
        Self {
            shelf,
            original,
            text,
            signer,
        }
    }

    fn seal(&self, text: &[u8]) {
        let keeper = &self.shelf.keeper;
        keeper.reseal(&self.shelf.file, |old| *old = text.to_vec());
    }

    /// Restores what is sealed there, into a folder whose parent is not there either.
    fn restore(&self, given: RestoreInput<'_>) -> Result<Restored, BackupError> {
        let home = &self.shelf.home;
        let (password, key) = (
            home.path().join("root.password"),
            home.path().join("server.key"),
        );
        let order = Restoration {
            log: LaterLog::Lost,
            root_password: (given.without != "keystore.password_file").then_some(&password),
            token_pin: given.pin,
            server_key: (given.without != "server.key").then_some(&key),
            server_certificate: None,
            module: given.module,
            accepted: given.accepted,
        };
        let backup = self.shelf.keeper.open(&self.shelf.file, home)?;
        backup.restore(&self.place(), &order, &Clock::system())
    }

    fn place(&self) -> PathBuf {
        self.shelf.home.beside("deep/new")
    }

    /// A text that must be refused without one write, even one that is taken back.
    fn refused(&self, text: &[u8], given: RestoreInput<'_>) -> BackupError {
        self.seal(text);
        let folder = self.shelf.home.beside("");
        let before = tree(&folder);
        let error = self.restore(given).expect_err("it was restored");
        assert_eq!(tree(&folder), before, "something was written: {error}");
        assert!(!error.to_string().is_empty() && !error.advice().is_empty());
        error
    }
}

/// Everything below a folder. The times of folders tell of entries that were made and removed again.
fn tree(folder: &Path) -> Vec<(PathBuf, i64, i64, u64)> {
    let about = fs::metadata(folder).unwrap();
    let mut all = vec![(folder.to_owned(), about.mtime(), about.mtime_nsec(), 0)];
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let about = entry.metadata().unwrap();
        match about.is_dir() {
            true => all.extend(tree(&entry.path())),
            false => all.push((entry.path(), about.mtime(), about.mtime_nsec(), about.len())),
        }
    }
    all.sort();
    all
}

/// The key by which a home signs its log and its backups.
fn audit_key(home: &Home) -> SigningKey {
    let password = fs::read(home.path().join("root.password")).unwrap();
    let password = SecretBytes::from_vec(password.trim_ascii_end().to_vec());
    let limits = Limits::standard();
    let root = Root::open(&home.path().join("root.kwf"), &password, &limits).unwrap();
    let keystore = Keystore::new(&root, 64, Clock::system()).unwrap();
    let engine = SqliteEngine::open(&home.path().join("store.sqlite")).unwrap();
    let sealed = read_meta(&engine, b"audit-key").unwrap().unwrap();
    let seed = keystore.open_service_key(ServiceKey::AuditSigning, &sealed);
    SigningKey::from_seed(&seed.unwrap()).unwrap()
}

fn stranger() -> SigningKey {
    let seed = RandomStream::new().unwrap().secret().unwrap();
    SigningKey::from_seed(&seed).unwrap()
}

// === the promises ===

#[test]
fn a_backup_forged_in_any_field_is_refused_under_the_true_fingerprint_and_nothing_is_written() {
    let forgery = Forgery::new();
    let (own, other) = (&forgery.signer.verifying_key(), stranger());
    let old_signature = &forgery.original[forgery.original.len() - 64..];
    let mut forged = forged_fields(&forgery.text);
    forged.extend(forged_rows(&forgery.text));
    assert!(forged.len() > 150, "{}", forged.len());
    for (name, text) in &forged {
        let kept = [&text.unsigned(own), old_signature].concat();
        let disguised = sign(text.unsigned(own), LABEL, &other);
        for text in [kept, text.signed(&other), disguised] {
            let error = forgery.refused(&text, RestoreInput::default());
            assert!(matches!(error, BackupError::Signer), "{name}: {error}");
        }
    }
    // The unchanged text under another signature, and the unchanged file.
    let error = forgery.refused(&forgery.text.signed(&other), RestoreInput::default());
    assert!(matches!(error, BackupError::Signer), "{error}");
    forgery.seal(&forgery.original);
    forgery.restore(RestoreInput::default()).unwrap();
}

#[test]
fn a_text_that_is_cut_extended_or_signed_for_something_else_is_refused() {
    let forgery = Forgery::new();
    let whole = &forgery.original;
    let (text, signature) = whole.split_at(whole.len() - 64);
    for length in [
        0,
        1,
        40,
        63,
        64,
        65,
        103,
        104,
        500,
        text.len() - 1,
        text.len(),
        whole.len() - 1,
    ] {
        let error = forgery.refused(&whole[..length], RestoreInput::default());
        let as_stated = matches!(error, BackupError::Signer | BackupError::Content);
        assert!(as_stated, "{length}: {error}");
        let cut = [&text[..length.min(text.len() - 1)], signature].concat();
        let error = forgery.refused(&cut, RestoreInput::default());
        let as_stated = matches!(
            error,
            BackupError::Signer | BackupError::Content | BackupError::Format(_)
        );
        assert!(as_stated, "{length}: {error}");
    }
    let extended = [
        [whole, &b"x"[..]].concat(),
        [text, b"x", signature].concat(),
    ];
    for text in extended {
        let error = forgery.refused(&text, RestoreInput::default());
        assert!(matches!(error, BackupError::Signer), "{error}");
    }
    for label in [
        &b"keywright/audit-head/v1"[..],
        b"keywright/backup-signature/v1",
        b"",
    ] {
        let text = sign(text.to_vec(), label, &forgery.signer);
        let error = forgery.refused(&text, RestoreInput::default());
        assert!(matches!(error, BackupError::Signer), "{error}");
    }
    // What a node of before would have written.
    let old = [&[1], &text[40..]].concat();
    let error = forgery.refused(&old, RestoreInput::default());
    assert!(matches!(error, BackupError::Format(1)), "{error}");
}

/// The signer's key is not the root: rows prove themselves under the root, before a secret is copied.
#[test]
fn rows_that_the_root_did_not_write_are_refused() {
    let forgery = Forgery::new();
    let firsts = |name: &str| {
        let (place, _) = name.rsplit_once(' ').unwrap();
        place.ends_with(" 0") || place.starts_with("meta")
    };
    let mut seen = 0;
    for (name, text) in forged_rows(&forgery.text) {
        let name = name.replace(" taken out", " removed");
        let is_meta = name.starts_with("meta");
        // Rows of meta are sealed or counted: only keys and bodies say anything.
        let says_nothing = ["tenant", "revision", "epoch", "mac"];
        let says_nothing = says_nothing.iter().any(|field| name.ends_with(field));
        if !firsts(&name) || is_meta && says_nothing {
            continue;
        }
        let error = forgery.refused(&text.signed(&forgery.signer), RestoreInput::default());
        let as_stated = match error {
            BackupError::Rows(_) | BackupError::Incomplete => true,
            // Of meta: the service keys, the node, the order of the keys.
            BackupError::Home(_) | BackupError::Signer | BackupError::Content => is_meta,
            _ => false,
        };
        assert!(as_stated, "{name}: {error}");
        seen += 1;
    }
    assert!(seen > 50, "{seen}");
}

#[test]
fn an_epoch_that_was_set_back_and_a_row_that_is_there_twice_are_refused() {
    let forgery = Forgery::new();
    let meta = Table::ALL
        .iter()
        .position(|table| *table == Table::Meta)
        .unwrap();
    let epoch = |by: fn(u64) -> u64| {
        forgery.text.with(|text| {
            let mut rows = text.tables[meta].iter_mut();
            let row = rows.find(|row| row.key == b"epoch").unwrap();
            let old = u64::from_be_bytes(row.body[..].try_into().unwrap());
            row.body = by(old).to_be_bytes().to_vec();
        })
    };
    for text in [epoch(|old| old - 1), epoch(|old| old + 1), epoch(|_| 0)] {
        let error = forgery.refused(&text.signed(&forgery.signer), RestoreInput::default());
        assert!(matches!(error, BackupError::Rows(_)), "{error}");
    }
    let twice = forgery.text.with(|text| {
        let row = text.tables[2][0].clone();
        text.tables[2].insert(0, row);
    });
    let error = forgery.refused(&twice.signed(&forgery.signer), RestoreInput::default());
    assert!(matches!(error, BackupError::Content), "{error}");
}

#[test]
fn a_backup_of_another_installation_and_a_signature_of_an_older_one_are_refused() {
    let (forgery, other) = (Forgery::new(), Forgery::elsewhere());
    let error = forgery.refused(&other.original, RestoreInput::default());
    assert!(matches!(error, BackupError::Signer), "{error}");
    assert_ne!(
        fingerprint(&forgery.shelf.home),
        fingerprint(&other.shelf.home)
    );
    // One installation's content, signed by the key of the other.
    let mixed = other.text.signed(&forgery.signer);
    let error = forgery.refused(&mixed, RestoreInput::default());
    assert!(matches!(error, BackupError::Signer), "{error}");
    // Its root file and rows, under a head of this one.
    let mixed = other
        .text
        .with(|text| text.head = forgery.text.head.clone());
    let error = forgery.refused(&mixed.signed(&forgery.signer), RestoreInput::default());
    assert!(
        matches!(error, BackupError::Home(HomeError::Keystore(_))),
        "{error}"
    );
    let newer = forgery.text.with(|text| text.created += 1);
    let newer = newer.signed(&forgery.signer);
    let swapped = [
        &newer[..newer.len() - 64],
        &forgery.original[forgery.original.len() - 64..],
    ];
    let error = forgery.refused(&swapped.concat(), RestoreInput::default());
    assert!(matches!(error, BackupError::Signer), "{error}");
}

/// Also a true signature makes no setting right that reaches outside of the home.
#[test]
fn every_setting_that_reaches_outside_is_confirmed_by_name_or_refused() {
    let forgery = Forgery::new();
    let plain = forgery.text.configuration();
    let outside = [
        "/tmp/elsewhere",
        "../elsewhere",
        "a/../../b",
        "/proc/self/fd/3",
        ".",
    ];
    for key in CONFIRMABLE.into_iter().chain(["token.module"]) {
        for path in outside {
            let (text, keys) = reaching_out(&plain, key, path);
            let text = forgery
                .text
                .with_configuration(&text)
                .signed(&forgery.signer);
            let others: Vec<_> = CONFIRMABLE
                .into_iter()
                .filter(|other| *other != key)
                .collect();
            let pin = forgery.shelf.home.path().join("root.password");
            let given = RestoreInput {
                pin: (key == "token.module").then_some(&pin),
                accepted: &others,
                without: key,
                ..RestoreInput::default()
            };
            for given in [
                RestoreInput {
                    accepted: &[],
                    ..given
                },
                given,
            ] {
                let error = forgery.refused(&text, given);
                let BackupError::Unconfirmed(found) = &error else {
                    panic!("{key} = {path}: {error}")
                };
                let found: Vec<_> = found.settings().iter().map(|one| one.key).collect();
                let expected: Vec<_> = keys
                    .iter()
                    .copied()
                    .filter(|one| !given.accepted.contains(one))
                    .collect();
                assert_eq!(found, expected, "{path}");
                assert!(error.to_string().contains(key), "{error}");
                let flag = if key == "token.module" {
                    "--module FILE"
                } else {
                    key
                };
                assert!(error.advice().contains(flag), "{}", error.advice());
            }
        }
    }
}

#[test]
fn two_settings_do_not_name_one_file_and_none_is_in_the_log() {
    let forgery = Forgery::new();
    let plain = forgery.text.configuration();
    for (key, place) in [
        (("server", "certificate"), "root.kwf"),
        (("server", "certificate"), "keywright.toml"),
        (("server", "certificate"), "audit-signer.txt"),
        (("server", "certificate"), "control.sock"),
        (("server", "certificate"), "store.sqlite"),
        (("server", "key"), "server.pem"),
        (("clients", "authorities"), "audit/heads-00.bin"),
        (("clients", "revocation_lists"), "root.password"),
        (("keystore", "root"), "audit"),
        (("keystore", "password_file"), "ca.pem/password"),
        (("audit", "directory"), "server.key"),
    ] {
        let text = set_key(&plain, key, &format!("{place:?}"));
        let text = forgery
            .text
            .with_configuration(&text)
            .signed(&forgery.signer);
        let error = forgery.refused(&text, RestoreInput::default());
        assert!(
            matches!(error, BackupError::Collision { .. }),
            "{key:?} {place}: {error}"
        );
        // Not only at the restore, when it is late.
        let (keeper, file) = (&forgery.shelf.keeper, &forgery.shelf.file);
        let seen = keeper.open(file, &forgery.shelf.home).unwrap().verify();
        assert!(
            matches!(seen, Err(BackupError::Collision { .. })),
            "{key:?} {place}"
        );
    }
    for text in [&b"\xff"[..], b"version = 2\n", b"", b"[nonsense]\n"] {
        let forged = forgery
            .text
            .with(|forged| forged.files[CONFIGURATION] = text.to_vec());
        let error = forgery.refused(&forged.signed(&forgery.signer), RestoreInput::default());
        let as_stated = matches!(
            error,
            BackupError::Content | BackupError::Home(HomeError::Config(_))
        );
        assert!(as_stated, "{error}");
    }
}

#[test]
fn store_root_and_log_come_into_the_home_and_no_older_store_is_let_pass() {
    let forgery = Forgery::new();
    let elsewhere = forgery.shelf.home.beside("elsewhere");
    let mut text = forgery.text.configuration();
    for key in [
        ("store", "file"),
        ("keystore", "root"),
        ("audit", "directory"),
        ("server", "key"),
    ] {
        let path = elsewhere.join(key.1);
        text = set_key(&text, key, &format!("{path:?}"));
    }
    text = text.replace("[audit]\n", "[audit]\nstore_at_head = 3\n");
    forgery.seal(
        &forgery
            .text
            .with_configuration(&text)
            .signed(&forgery.signer),
    );
    forgery.restore(RestoreInput::default()).unwrap();
    assert!(!elsewhere.exists());
    let config = Config::read(&forgery.place().join("keywright.toml")).unwrap();
    let places = [
        &config.store.file,
        &config.keystore.root,
        &config.audit.directory,
        &config.server.key,
    ];
    for place in places {
        assert!(
            place.starts_with(forgery.place()) && place.exists(),
            "{place:?}"
        );
    }
    assert_eq!(config.audit.store_at_head, None);
}

/// Only the operator's own flag loads a module.
#[test]
fn no_module_of_a_backup_is_loaded() {
    let forgery = Forgery::new();
    let marker = forgery.shelf.home.beside("loaded");
    let module = marker_module(&forgery.shelf.home, &marker);
    let pin = forgery.shelf.home.beside("pin");
    fs::write(&pin, "1234\n").unwrap();
    fs::set_permissions(&pin, fs::Permissions::from_mode(0o600)).unwrap();
    let missing = forgery.shelf.home.beside("no-module.so");
    for path in [module.to_str().unwrap(), "../module.so", "module.so"] {
        let (text, _) = reaching_out(&forgery.text.configuration(), "token.module", path);
        let text = forgery.text.with_configuration(&text);
        let given = RestoreInput {
            pin: Some(&pin),
            accepted: &CONFIRMABLE,
            ..RestoreInput::default()
        };
        let error = forgery.refused(&text.signed(&stranger()), given);
        assert!(matches!(error, BackupError::Signer), "{error}");
        let error = forgery.refused(&text.signed(&forgery.signer), given);
        assert!(matches!(error, BackupError::Unconfirmed(_)), "{error}");
        // Another module is given: that one is looked for.
        let given = RestoreInput {
            module: Some(&missing),
            ..given
        };
        let error = forgery.refused(&text.signed(&forgery.signer), given);
        assert!(
            matches!(error, BackupError::Home(HomeError::Token(_))),
            "{error}"
        );
        assert!(!marker.exists(), "{path} was loaded");
    }
    // The marker works: the operator's own flag loads it.
    let given = RestoreInput {
        module: Some(&module),
        pin: Some(&pin),
        ..RestoreInput::default()
    };
    forgery.restore(given).unwrap_err();
    assert!(marker.exists());
    // For a home without a token a module is a mistake.
    let error = {
        fs::remove_file(&marker).unwrap();
        forgery.refused(&forgery.original, given)
    };
    assert!(matches!(error, BackupError::NoToken(_)), "{error}");
}

/// A shared object that makes a file when it is loaded.
fn marker_module(home: &Home, marker: &Path) -> PathBuf {
    let (source, module) = (home.beside("module.c"), home.beside("module.so"));
    let text = format!(
        "#include <fcntl.h>\n__attribute__((constructor)) static void mark(void) {{ creat({marker:?}, 0600); }}\n"
    );
    fs::write(&source, text).unwrap();
    let mut compiler = Command::new("cc");
    compiler
        .args(["-shared", "-fPIC", "-o"])
        .args([&module, &source]);
    assert!(compiler.status().unwrap().success());
    module
}
