//! The file: whose it is, who may read it, who has it open, and what a damaged one does.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use keywright_clock::Clock;
use keywright_store::{Engine, Error, Snapshot, SqliteEngine, Store, Table, Transaction};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::child::{Role, key};
use crate::{TENANT, open};

fn folder() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("store.db");
    (folder, path)
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn refused(path: &Path) -> Error {
    SqliteEngine::open(path).err().unwrap()
}

fn fill(store: &Store, rows: u64) {
    for table in [Table::Keys, Table::KeyVersions, Table::Principals] {
        let transaction = (0..rows).fold(Transaction::new(), |transaction, i| {
            transaction.insert(table, key(i), TENANT, vec![i as u8; 200])
        });
        store.transact(transaction).unwrap();
    }
}

#[test]
fn only_the_owner_may_read_it() {
    let (folder, path) = folder();
    let store = open(&path).unwrap();
    fill(&store, 1);
    let files: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|file| file.unwrap())
        .collect();
    assert!(files.len() >= 2, "the database and its log");
    assert!(files.iter().all(|file| mode(&file.path()) == 0o600));
    store.shutdown();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let store = open(&path).unwrap();
    fill_one_more(&store);
    let files = fs::read_dir(folder.path()).unwrap();
    assert!(
        files
            .into_iter()
            .all(|file| mode(&file.unwrap().path()) == 0o600)
    );
}

fn fill_one_more(store: &Store) {
    store
        .transact(Transaction::new().insert(Table::Keys, b"more", TENANT, b""))
        .unwrap();
}

#[test]
fn another_programs_file_is_refused_and_left_alone() {
    let (folder, foreign) = folder();
    let connection = Connection::open(&foreign).unwrap();
    connection
        .execute_batch("CREATE TABLE t (a); PRAGMA user_version = 1;")
        .unwrap();
    drop(connection);
    let marked = folder.path().join("marked.db");
    let connection = Connection::open(&marked).unwrap();
    connection
        .execute_batch("PRAGMA application_id = 7; PRAGMA user_version = 1;")
        .unwrap();
    drop(connection);
    let short = folder.path().join("short.txt");
    fs::write(&short, "name,card\n").unwrap();
    let long = folder.path().join("long.txt");
    fs::write(&long, "name,card\n".repeat(10_000)).unwrap();
    let byte = folder.path().join("byte");
    fs::write(&byte, "x").unwrap();
    for path in [&foreign, &marked, &byte, &short, &long] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o640)).unwrap();
        let before = fs::read(path).unwrap();
        assert_eq!(refused(path), Error::NotOurs, "{}", path.display());
        assert_eq!(fs::read(path).unwrap(), before);
        assert_eq!(mode(path), 0o640);
    }
    assert_eq!(refused(folder.path()), Error::NotOurs);
}

#[test]
fn a_newer_schema_is_refused_by_its_number() {
    let (_folder, path) = folder();
    open(&path).unwrap().shutdown();
    let set = |version: i64| {
        let connection = Connection::open(&path).unwrap();
        connection
            .pragma_update(None, "user_version", version)
            .unwrap();
    };
    set(2);
    let newer = Error::NewerSchema {
        found: 2,
        supported: 1,
    };
    assert_eq!(refused(&path), newer);
    for impossible in [0, -1] {
        set(impossible);
        assert_eq!(refused(&path), Error::Corrupt);
    }
    set(1);
    assert!(open(&path).is_ok());
}

#[test]
fn objects_that_are_not_ours_are_refused() {
    for statement in [
        "CREATE TRIGGER t AFTER INSERT ON keys BEGIN DELETE FROM policies; END",
        "CREATE VIEW v AS SELECT * FROM keys",
        "CREATE TABLE extra (a)",
        "CREATE INDEX i ON keys (body)",
        "ALTER TABLE keys ADD COLUMN extra BLOB",
        "ALTER TABLE keys RENAME TO other",
        "DROP TABLE intents",
    ] {
        let (_folder, path) = folder();
        open(&path).unwrap().shutdown();
        Connection::open(&path)
            .unwrap()
            .execute_batch(statement)
            .unwrap();
        assert_eq!(refused(&path), Error::Corrupt, "{statement}");
    }
}

#[test]
fn an_empty_file_becomes_a_store_and_a_missing_folder_does_not() {
    let (folder, path) = folder();
    fs::write(&path, b"").unwrap();
    assert!(open(&path).is_ok());
    let nowhere = folder.path().join("missing/store.db");
    assert_eq!(refused(&nowhere), Error::Io(ErrorKind::NotFound));
    assert_eq!(refused(Path::new("")), Error::Io(ErrorKind::NotFound));
}

#[test]
fn one_process_has_it_and_the_other_is_told_so_quickly() {
    let (_folder, path) = folder();
    let mut holder = Role::spawn("hold", &path);
    assert_eq!(holder.next().as_deref(), Some("open"));
    let clock = Clock::system();
    let start = clock.monotonic();
    assert_eq!(refused(&path), Error::Busy);
    assert!(clock.monotonic().since(start) < Duration::from_secs(3));
    holder.release();
    let store = open(&path).unwrap();
    assert_eq!(
        refused(&path),
        Error::Busy,
        "the same process counts as another"
    );
    fill_one_more(&store);
    drop(store);
    assert!(open(&path).is_ok());
}

#[test]
fn of_many_that_make_it_at_once_one_has_it() {
    for _ in 0..4 {
        let (_folder, path) = folder();
        assert_one_has_it(&path);
    }
}

#[test]
fn of_many_that_open_what_is_there_one_has_it() {
    let (_folder, path) = folder();
    open(&path).unwrap().shutdown();
    for _ in 0..4 {
        assert_one_has_it(&path);
    }
}

fn assert_one_has_it(path: &Path) {
    let start = Barrier::new(5);
    let opened: Vec<_> = thread::scope(|scope| {
        let open = || {
            start.wait();
            SqliteEngine::open(path)
        };
        let threads: Vec<_> = (0..5).map(|_| scope.spawn(open)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(opened.iter().filter(|engine| engine.is_ok()).count(), 1);
    let others = opened.iter().filter_map(|engine| engine.as_ref().err());
    assert!(others.into_iter().all(|error| *error == Error::Busy));
    // Another process is still kept out: no descriptor that closed took the lock with it.
    let mut late = Role::spawn("hold", path);
    assert_eq!(late.next().as_deref(), Some("busy"));
}

#[test]
fn a_file_that_may_not_grow_is_an_error_and_nothing_that_was_acknowledged_is_lost() {
    let (_folder, path) = folder();
    let mut filler = Role::spawn_limited("fill", &path, 1500);
    assert_eq!(filler.next().as_deref(), Some("open"));
    let mut acknowledged = 0_u64;
    loop {
        match filler
            .next()
            .expect("the role ends with its own word")
            .as_str()
        {
            "usable" => break,
            number => assert_eq!(number, acknowledged.to_string()),
        }
        acknowledged += 1;
    }
    filler.release();
    assert!(acknowledged > 2);
    let store = open(&path).unwrap();
    assert_eq!(
        store.range(Table::Keys, b"").unwrap().len() as u64,
        acknowledged
    );
    assert_eq!(
        store.get(Table::Heads, b"h").unwrap().unwrap().body,
        b"small"
    );
}

/// All rows of all protected tables, and the epoch.
fn contents(store: &Store) -> Snapshot {
    store
        .snapshot(&Table::PROTECTED.map(|table| (table, &b""[..])))
        .unwrap()
}

#[test]
fn a_flipped_byte_anywhere_is_noticed_or_changes_no_row() {
    let (folder, path) = folder();
    let store = open(&path).unwrap();
    fill(&store, 30);
    let expected = contents(&store);
    store.shutdown();
    let good = fs::read(&path).unwrap();
    let copy = folder.path().join("copy.db");
    let (mut noticed, mut harmless) = (0, 0);
    for position in (0..good.len()).step_by(163).chain(0..100) {
        let mut bytes = good.clone();
        bytes[position] ^= 0x21;
        fs::write(&copy, &bytes).unwrap();
        match open(&copy) {
            Err(_) => noticed += 1,
            Ok(store) => {
                assert!(contents(&store) == expected, "byte {position}");
                harmless += 1;
            }
        }
        for name in ["copy.db-wal", "copy.db-journal", "copy.db"] {
            let _ = fs::remove_file(folder.path().join(name));
        }
    }
    assert!(
        noticed > 100 && harmless > 10,
        "{noticed} noticed, {harmless} harmless"
    );
}

#[test]
fn a_cut_file_never_opens_as_a_smaller_store() {
    let (folder, path) = folder();
    let store = open(&path).unwrap();
    fill(&store, 30);
    store.shutdown();
    let good = fs::read(&path).unwrap();
    let copy = folder.path().join("copy.db");
    for length in (1..good.len()).step_by(997) {
        fs::write(&copy, &good[..length]).unwrap();
        let error = open(&copy).expect_err("a cut file");
        assert!(
            matches!(error, Error::Corrupt | Error::NotOurs),
            "{length}: {error:?}"
        );
    }
}

#[test]
fn twenty_thousand_rows_are_checked_at_start_in_good_time() {
    let (_folder, path) = folder();
    let store = open(&path).unwrap();
    for table in [Table::Keys, Table::KeyVersions] {
        let transaction = (0..10_000_u64).fold(Transaction::new(), |transaction, i| {
            transaction.insert(table, [key(i), key(i)].concat(), TENANT, vec![i as u8; 300])
        });
        store.transact(transaction).unwrap();
    }
    store.shutdown();
    let verification = open(&path).unwrap().verification();
    println!("{verification:?}");
    assert_eq!(verification.rows, 20_000);
    // Far from the bar of one second for an optimised build: this one is not, and shares its cores.
    assert!(
        verification.took < Duration::from_secs(3),
        "{verification:?}"
    );
}

#[test]
fn the_engine_closes_its_log_when_it_is_dropped() {
    let (folder, path) = folder();
    let mut engine = SqliteEngine::open(&path).unwrap();
    engine.apply(&[], 4).unwrap();
    drop(engine);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(SqliteEngine::open(&path).unwrap().epoch(), Ok(4));
}
