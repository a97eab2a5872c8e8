//! What keeps a node from starting: each mistake and each sign of tampering, named.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use keywright_audit::AuditError;
use keywright_clock::{Clock, WallTime};
use keywright_encoding::{base64, hex};
use keywright_home::{ConfigError, Contents, HomeError, Order, Profile, RuleChanges, create};
use keywright_keystore::Error as KeystoreError;
use keywright_store::{Error as StoreError, Table};
use keywright_tls::issue::Reason;
use keywright_tls::{Older, Protocol};
use keywright_types::{KeySpec, Operation, Purpose};
use rusqlite::Connection;

use crate::fixture::*;
use crate::uses;

/// Both lines of a refusal, with its causes.
fn told(error: &HomeError) -> String {
    let mut text = error.to_string();
    let mut next = std::error::Error::source(error);
    while let Some(error) = next {
        text.push_str(&format!(": {error}"));
        next = error.source();
    }
    assert!(!error.advice().is_empty());
    text
}

fn refused(home: &Home) -> HomeError {
    home.open().expect_err("the node must not start")
}

#[test]
fn a_configuration_with_a_mistake_is_refused_by_key_and_line() {
    for (from, to, words) in [
        (
            "version = 1",
            "version = 1\nsurprise = 2",
            &["surprise", "line 5"][..],
        ),
        ("version = 1", "version = 2", &["version 2"]),
        (
            "version = 1",
            "version = \"1\"",
            &["version", "line 4", "expected"],
        ),
        ("version = 1\n", "", &["version"]),
        ("version = 1", "version = ", &["line 4"]),
        ("[audit]", "[audit]\nsink = \"x\"", &["sink", "line"]),
        (
            "sync = \"grouped\"",
            "sync = \"never\"",
            &["never", "grouped", "strict"],
        ),
        (
            "items = 10000",
            "items = 0",
            &["limits.items is 0", "1 to 10000"],
        ),
        ("items = 10000", "items = 10001", &["limits.items is 10001"]),
        ("items = 10000", "items = -1", &["items"]),
        (
            "body_bytes = 16777216",
            "body_bytes = \"16M\"",
            &["body_bytes"],
        ),
        (
            "memory_lock = \"try\"",
            "memory_lock = \"maybe\"",
            &["maybe"],
        ),
        (
            "listen = \"127.0.0.1:8443\"",
            "listen = \"here\"",
            &["listen"],
        ),
        ("listen = \"127.0.0.1:8443\"\n", "", &["listen"]),
    ] {
        let home = Home::demo().configure(from, to);
        let error = refused(&home);
        assert!(matches!(error, HomeError::Config(_)), "{to}: {error:?}");
        let told = told(&error);
        assert!(words.iter().all(|word| told.contains(word)), "{to}: {told}");
    }
}

#[test]
fn a_missing_file_is_named_with_its_key() {
    for (file, key) in [
        ("server.pem", "server.certificate"),
        ("server.key", "server.key"),
        ("ca.pem", "clients.authorities"),
        ("crl.pem", "clients.revocation_lists"),
        ("store.sqlite", "store.file"),
        ("root.kwf", "keystore.root"),
        ("root.password", "keystore.password_file"),
    ] {
        let home = Home::demo();
        fs::remove_file(home.path().join(file)).unwrap();
        let error = refused(&home);
        assert!(
            matches!(error, HomeError::Config(ConfigError::Missing { .. })),
            "{error:?}"
        );
        let told = told(&error);
        assert!(
            told.starts_with(&format!("{key} names ")) && told.contains(file),
            "{told}"
        );
        assert!(!home.path().join(file).exists(), "{file} was made anew");
    }
    let home = Home::demo();
    fs::remove_file(home.config()).unwrap();
    assert!(matches!(
        refused(&home),
        HomeError::Config(ConfigError::Read(..))
    ));
}

#[test]
fn files_with_other_contents_are_refused() {
    for file in [
        "server.pem",
        "server.key",
        "ca.pem",
        "crl.pem",
        "root.kwf",
        "store.sqlite",
    ] {
        for bytes in [&b""[..], b"\0", b"not what it should be\n", &[0xFF; 5000]] {
            let home = Home::demo();
            fs::write(home.path().join(file), bytes).unwrap();
            let error = refused(&home);
            let expected = match file {
                "root.kwf" => matches!(error, HomeError::Keystore(_)),
                "store.sqlite" => {
                    matches!(error, HomeError::Store(_) | HomeError::StoreIncomplete(_))
                }
                _ => matches!(error, HomeError::Tls(_)),
            };
            assert!(expected, "{file}: {error:?}");
        }
    }
}

#[test]
fn a_password_that_others_can_read_is_not_used_and_a_wrong_one_opens_nothing() {
    for mode in [0o640, 0o604, 0o644, 0o666, 0o610] {
        let home = Home::demo();
        let path = home.path().join("root.password");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        assert!(
            matches!(refused(&home), HomeError::PasswordExposed(_)),
            "{mode:o}"
        );
    }
    let home = Home::demo();
    let path = home.path().join("root.password");
    let right = fs::read_to_string(&path).unwrap();
    for wrong in [
        "x\n".to_owned(),
        format!(" {right}"),
        right.to_lowercase(),
        right.repeat(2),
    ] {
        fs::write(&path, wrong).unwrap();
        let error = refused(&home);
        assert!(
            matches!(error, HomeError::Keystore(KeystoreError::Rejected)),
            "{error:?}"
        );
        assert!(!told(&error).contains(right.trim()));
    }
    for empty in ["", "\n", "\r\n\n"] {
        fs::write(&path, empty).unwrap();
        assert!(matches!(refused(&home), HomeError::PasswordEmpty(_)));
    }
    fs::write(&path, right.trim_end()).unwrap();
    home.open().unwrap().shutdown().unwrap();
}

#[test]
fn a_place_that_cannot_be_written_is_left_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "kept").unwrap();
    let make = |place: &Path| create(place, Contents::Demo, Profile::Fast, &Clock::system());
    for place in [file.join("home"), "/proc/keywright-home".into()] {
        let error = make(&place).unwrap_err();
        assert!(
            matches!(error, HomeError::File { .. } | HomeError::Occupied(_)),
            "{error:?}"
        );
    }
    fs::create_dir(folder.path().join("taken")).unwrap();
    fs::write(folder.path().join("taken/x"), "kept").unwrap();
    for place in [&file, &folder.path().join("taken")] {
        assert!(matches!(make(place).unwrap_err(), HomeError::Occupied(_)));
    }
    let left: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|one| one.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 2, "debris: {left:?}");
    assert_eq!(fs::read(folder.path().join("taken/x")).unwrap(), b"kept");
}

#[test]
fn an_audit_folder_that_cannot_be_one_is_refused() {
    let home = Home::demo();
    let audit = home.path().join("audit");
    fs::remove_dir_all(&audit).unwrap();
    fs::write(&audit, "a file").unwrap();
    assert!(matches!(refused(&home), HomeError::Audit(_)));
}

#[test]
fn a_port_in_use_is_refused_and_a_free_one_is_taken_after_it() {
    let home = Home::demo();
    let taken = std::net::TcpListener::bind(loopback()).unwrap();
    let node = home.open().unwrap();
    let error = node.serve(Some(taken.local_addr().unwrap())).unwrap_err();
    assert!(matches!(error, HomeError::Transport(_)), "{error:?}");
    assert!(
        told(&error).contains(&taken.local_addr().unwrap().port().to_string()),
        "{}",
        told(&error)
    );
    node.serve(Some(loopback())).unwrap().stop().unwrap();
}

#[test]
fn a_second_process_is_kept_out_and_the_first_goes_on() {
    let site = Site::start();
    assert!(matches!(refused(&site.home), HomeError::Busy));
    let second = Command::new(env!("CARGO_BIN_EXE_keywright-served-home"))
        .arg(site.home.path())
        .output()
        .unwrap();
    assert!(!second.status.success());
    let told = String::from_utf8(second.stderr).unwrap();
    assert!(told.contains("in use by another process"), "{told}");
    assert!(second.stdout.is_empty());
    let answer = keywright_home::control::send(&site.home.path(), &Order::PolicyShow).unwrap();
    assert!(answer.is_some(), "the first node's control socket is gone");
    let mut wire = site.wire(TRADING, BOTH[0]);
    seal(&mut wire, EXCHANGE, b"x", b"");
    site.stop().verify();
}

// === Tampering ===

/// The closed store of a home.
fn database(home: &Home) -> Connection {
    Connection::open(home.path().join("store.sqlite")).unwrap()
}

const TABLES: [&str; 6] = [
    "tenants",
    "keys",
    "key_versions",
    "names",
    "policies",
    "heads",
];

/// Changes one column of the first row of a table: the last bit of bytes, one more of a number.
fn edit(connection: &Connection, table: &str, column: &str) {
    let first = format!("key = (SELECT key FROM {table} LIMIT 1)");
    if matches!(column, "revision" | "epoch") {
        let sql = format!("UPDATE {table} SET {column} = {column} + 1 WHERE {first}");
        assert_eq!(connection.execute(&sql, []).unwrap(), 1);
        return;
    }
    let sql = format!("SELECT {column} FROM {table} WHERE {first}");
    let mut bytes: Vec<u8> = connection.query_row(&sql, [], |row| row.get(0)).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    let sql = format!("UPDATE {table} SET {column} = ?1 WHERE {first}");
    assert_eq!(connection.execute(&sql, [bytes]).unwrap(), 1);
}

#[test]
fn a_flipped_byte_in_any_row_keeps_the_node_from_starting_and_names_the_table() {
    for table in TABLES {
        for column in ["body", "mac", "key", "tenant", "revision", "epoch"] {
            let home = Home::demo();
            let connection = database(&home);
            edit(&connection, table, column);
            connection.close().unwrap();
            let error = refused(&home);
            let HomeError::Store(StoreError::RowAltered { table: named, .. }) = &error else {
                panic!("{table}.{column}: {error:?}")
            };
            assert_eq!(named.name(), table, "{column}");
            assert!(told(&error).contains(table));
        }
    }
}

#[test]
fn a_row_that_was_removed_or_added_keeps_the_node_from_starting() {
    for table in TABLES {
        let home = Home::demo();
        let connection = database(&home);
        connection
            .execute(&format!("DELETE FROM {table}"), [])
            .unwrap();
        connection.close().unwrap();
        let error = refused(&home);
        assert!(
            matches!(error, HomeError::Store(StoreError::SetAltered { .. })),
            "{table}: {error:?}"
        );
        assert!(told(&error).contains(table), "{error}");
    }
    let home = Home::demo();
    let connection = database(&home);
    let sql =
        "INSERT INTO approvals SELECT key, tenant, revision, epoch, body, mac FROM keys LIMIT 1";
    assert_eq!(connection.execute(sql, []).unwrap(), 1);
    connection.close().unwrap();
    let error = refused(&home);
    let moved = StoreError::RowAltered {
        table: Table::Approvals,
        key: match &error {
            HomeError::Store(StoreError::RowAltered { key, .. }) => key.clone(),
            other => panic!("{other:?}"),
        },
    };
    assert_eq!(error.to_string(), HomeError::Store(moved).to_string());
}

#[test]
fn service_keys_and_the_epoch_are_covered_too() {
    let home = Home::demo();
    let rows: Vec<Vec<u8>> = database(&home)
        .prepare("SELECT key FROM meta")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert!(rows.len() >= 5, "row key, audit key, node, epoch, summary");
    for key in rows {
        let what = String::from_utf8_lossy(&key).into_owned();
        for change in [
            "DELETE FROM meta",
            "UPDATE meta SET body = CAST(substr(body, 2) AS BLOB)",
            "UPDATE meta SET body = CAST(x'01' || substr(body, 2) AS BLOB)",
        ] {
            // The node's id is checked by the audit log, which belongs to one node.
            let home = Home::demo();
            let connection = database(&home);
            let sql = format!("{change} WHERE key = ?1");
            assert_eq!(connection.execute(&sql, [&key]).unwrap(), 1, "{what}");
            connection.close().unwrap();
            assert!(home.open().is_err(), "{what}: {change}");
        }
    }
}

#[test]
fn a_store_that_was_put_back_is_refused_against_the_log() {
    let site = Site::start();
    let home = site.stop();
    let older = home.beside("older.sqlite");
    fs::copy(home.path().join("store.sqlite"), &older).unwrap();
    let site = Site::over(home);
    site.node()
        .admin()
        .rotate(&name("default"), &name(EXCHANGE))
        .unwrap();
    let home = site.stop();
    let newer = fs::read(home.path().join("store.sqlite")).unwrap();
    fs::copy(&older, home.path().join("store.sqlite")).unwrap();
    let known = behind(&refused(&home));
    // Having been refused once changes nothing.
    assert_eq!(behind(&refused(&home)), known);
    // Whatever an operator accepts, what was ordered since stays ordered.
    let home = accept(home, known);
    for _ in 0..2 {
        let error = refused(&home);
        let older = matches!(error, HomeError::Audit(AuditError::StoreOlder { .. }));
        assert!(older, "{error:?}");
    }
    fs::write(home.path().join("store.sqlite"), newer).unwrap();
    home.open().unwrap().shutdown().unwrap();
    home.verify();
}

#[test]
fn a_store_put_back_that_no_order_has_changed_since_is_refused_and_no_count_runs_backwards() {
    let site = Site::start();
    let rules = RuleChanges {
        refuse_after_uses: Some(100),
        ..RuleChanges::default()
    };
    let limit = Order::ContextSet {
        tenant: name("default"),
        name: name(EXCHANGE),
        rules,
    };
    site.node().carry_out(limit).unwrap();
    let home = site.stop();
    let store = home.path().join("store.sqlite");
    let older = home.beside("older.sqlite");
    fs::copy(&store, &older).unwrap();
    let site = Site::over(home);
    assert_eq!(seals(&site), 100);
    let home = site.stop();
    let newer = fs::read(&store).unwrap();
    fs::copy(&older, &store).unwrap();
    let known = behind(&refused(&home));
    assert_eq!(behind(&refused(&home)), known);
    fs::write(&store, newer).unwrap();
    let site = Site::over(home);
    assert_eq!(seals(&site), 0);
    let home = site.stop();
    // Another number than that of this store accepts nothing; the right one is an operator's word.
    fs::copy(&older, &store).unwrap();
    let home = accept(home, known + 1);
    assert_eq!(behind(&refused(&home)), known);
    let home = home.configure(
        &format!("store_at_head = {}", known + 1),
        &format!("store_at_head = {known}"),
    );
    Site::over(home).stop().verify();
}

/// How many single seals the context still takes.
fn seals(site: &Site) -> usize {
    let mut wire = site.wire(TRADING, Protocol::Http2);
    let mut seal = || {
        let body = item(&[("plaintext", b"x")]);
        wire.post(&path(EXCHANGE, "encrypt"), body).code() == "ok"
    };
    (0..200).take_while(|_| seal()).count()
}

/// Refused because the store lacks heads of the log: the newest that it knows.
fn behind(error: &HomeError) -> u64 {
    let text = told(error);
    let HomeError::Audit(AuditError::StoreBehind { known, newest }) = error else {
        panic!("{error:?}")
    };
    assert!(newest - known > 1, "{text}");
    assert!(error.advice().contains("audit.store_at_head"), "{text}");
    *known
}

fn accept(home: Home, known: u64) -> Home {
    let key = format!("[audit]\nstore_at_head = {known}");
    home.configure("[audit]", &key)
}

#[test]
fn an_older_revocation_list_is_refused_at_start_and_while_running() {
    let home = Home::demo();
    let list = home.path().join("crl.pem");
    let older = fs::read(&list).unwrap();
    let client = home.path().join("clients/web-2fa-1.pem");
    home.pki()
        .revoke(&client, Reason::KeyCompromise, Clock::system().wall())
        .unwrap();
    let site = Site::over(home);
    let newer = fs::read(&list).unwrap();
    fs::write(&list, &older).unwrap();
    assert!(site.node().reload_trust().is_err());
    let mut client = site.client_of(Some(site.home.identity(WEB)), BOTH[0]);
    let refused_still = client
        .as_mut()
        .map_or(true, |client| client.health().is_err());
    assert!(refused_still, "a revoked client is let in by an older list");
    drop(client);
    let home = site.stop();
    assert!(matches!(
        refused(&home),
        HomeError::OlderTrust(Older::RevocationList)
    ));
    fs::write(&list, newer).unwrap();
    home.open().unwrap().shutdown().unwrap();
}

#[test]
fn a_log_that_lost_its_heads_is_refused() {
    type Damage = fn(&Path);
    let heads: Damage = |audit| each(audit, "heads-", |path| fs::remove_file(path).unwrap());
    let all: Damage = |audit| fs::remove_dir_all(audit).unwrap();
    let flipped: Damage = |audit| {
        each(audit, "heads-", |path| {
            let mut bytes = fs::read(path).unwrap();
            bytes[40] ^= 1;
            fs::write(path, bytes).unwrap();
        });
    };
    let cut: Damage = |audit| {
        each(audit, "heads-", |path| {
            let bytes = fs::read(path).unwrap();
            fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
        });
    };
    for (what, damage) in [
        ("removed", heads),
        ("all gone", all),
        ("flipped", flipped),
        ("cut", cut),
    ] {
        let home = Home::demo();
        damage(&home.path().join("audit"));
        let error = refused(&home);
        assert!(matches!(error, HomeError::Audit(_)), "{what}: {error:?}");
    }
}

fn each(folder: &Path, prefix: &str, act: impl Fn(&Path)) {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let found: Vec<_> = entries
        .filter(|path| {
            path.file_name()
                .unwrap()
                .to_string_lossy()
                .starts_with(prefix)
        })
        .collect();
    assert!(!found.is_empty());
    found.iter().for_each(|path| act(path));
}

#[test]
fn memory_that_must_be_locked_and_cannot_be_is_refused_or_is_locked() {
    let home = Home::demo().configure("memory_lock = \"try\"", "memory_lock = \"require\"");
    // Which of the two depends on the limit of whoever runs this; a node that goes on without is wrong.
    let output = Command::new("sh")
        .args([
            "-c",
            "ulimit -l 64 2>/dev/null; exec \"$0\" \"$1\" </dev/null",
        ])
        .arg(env!("CARGO_BIN_EXE_keywright-served-home"))
        .arg(home.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() || told.contains("memory_lock"),
        "{told}"
    );
}

#[test]
fn the_record_of_a_batch_lists_each_message_where_that_is_asked_for() {
    for (each, expected) in [("groups", 0), ("each", 3)] {
        let home = Home::demo().configure("items = \"groups\"", &format!("items = \"{each}\""));
        let site = Site::over(home);
        let mut wire = site.wire(TRADING, Protocol::Http2);
        let sealed = batch((0..3).map(|_| item(&[("plaintext", b"x")])));
        let sealed = wire.post(&path(EXCHANGE, "encrypt"), sealed);
        let envelopes: Vec<Vec<u8>> = sealed.json()["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| base64::decode(one["ciphertext"].as_str().unwrap()).unwrap())
            .collect();
        let mut opened: Vec<_> = envelopes
            .iter()
            .map(|envelope| item(&[("ciphertext", envelope)]))
            .collect();
        // One that cannot be read has no id; its place is kept.
        opened.push(item(&[("ciphertext", b"nothing")]));
        let opened = wire.post(&path(EXCHANGE, "decrypt"), batch(opened));
        assert_eq!((sealed.status, opened.status), (200, 200));
        drop(wire);
        let home = site.stop();
        let requests = home.requests();
        let ids = |operation: &str| {
            let mut records = requests.iter();
            let record = records.find(|one| one["operation"] == operation).unwrap();
            let ids = field(record, "item-ids");
            ids.map_or_else(Vec::new, |ids| ids.as_array().unwrap().clone())
        };
        let (made, read) = (ids("encrypt"), ids("decrypt"));
        assert_eq!(made.len(), expected);
        for (id, envelope) in made.iter().zip(&envelopes) {
            let id = id.as_str().unwrap();
            assert_eq!(id.len(), 32);
            assert!(hex::encode(envelope).contains(id), "{id}");
        }
        assert_eq!(read.get(..expected), Some(&made[..]));
        let nothing = "0".repeat(32);
        assert!(
            read.get(expected..)
                .unwrap()
                .iter()
                .all(|id| *id == *nothing)
        );
        assert_eq!(read.len(), if expected > 0 { expected + 1 } else { 0 });
        home.verify();
    }
}

/// When a data key of a home ends, as seconds from now.
fn validity(home: Home) -> u64 {
    let site = Site::over(home);
    let mut wire = site.wire(TRADING, Protocol::Http2);
    let got = wire.post(&path(EXCHANGE, "datakey"), "{}");
    let end = got.json()["not_after"].as_str().unwrap().to_owned();
    let now = Clock::system().wall().unix_millis() / 1000;
    drop(wire);
    site.stop();
    (0..200_000)
        .find(|ahead| WallTime::from_unix_seconds(now + ahead).rfc3339() == end)
        .unwrap()
}

/// Private memory of a served home, kibibytes, after all of its contexts were used.
fn memory(home: &Home) -> u64 {
    let served = Served::start(&home.path());
    let tls = home.tls(Some(home.identity(TRADING)), Protocol::Http2);
    let mut wire = Wire::connect(served.address, tls).unwrap();
    for round in 0..2 {
        for context in contexts() {
            let got = wire.post(&path(&context, "encrypt"), item(&[("plaintext", b"x")]));
            assert_eq!(got.code(), "ok", "{context}, round {round}");
        }
    }
    let status = fs::read_to_string(format!("/proc/{}/status", served.id())).unwrap();
    drop(wire);
    served.stop();
    let line = status.lines().find(|line| line.starts_with("VmData:"));
    let number = line.unwrap().split_ascii_whitespace().nth(1);
    number.unwrap().parse().unwrap()
}

/// More than fit into the smallest arena.
fn contexts() -> Vec<String> {
    (0..40).map(|number| format!("many-{number}")).collect()
}

#[test]
fn keys_have_the_room_and_data_keys_the_time_that_the_configuration_says() {
    let at = |seconds: u64| {
        Home::demo().configure("validity_s = 86400", &format!("validity_s = {seconds}"))
    };
    // Asked a moment after it was made: on the slowest machine minutes less than was said.
    for seconds in [1_000, 86_400] {
        let ahead = validity(at(seconds));
        assert!(
            ahead <= seconds && ahead + 600 > seconds,
            "{ahead} of {seconds}"
        );
    }
    let with = |slots: u64| {
        let key = format!("unwrapped_keys = {slots}");
        let home = Home::demo().configure("unwrapped_keys = 16384", &key);
        let site = Site::over(home);
        for context in contexts() {
            uses::make(
                site.node(),
                &context,
                uses::spec(Purpose::Seal, KeySpec::seal().algorithm),
                None,
            );
            uses::allow(&site, &context, &[Operation::Encrypt], &[]);
        }
        memory(&site.stop())
    };
    // Where keys take turns all of them work; a place is 32 bytes at least.
    let (small, large) = (with(16), with(1 << 20));
    assert!(large > small + 30 * 1024, "{small} and {large} KiB");
}
