//! Whatever is done to the rows behind the store's back is found at the next start.

use std::fs;
use std::path::PathBuf;

use keywright_clock::Clock;
use keywright_primitives::mac::MacKey;
use keywright_store::testing::MemoryEngine;
use keywright_store::{
    Engine, Error, Row, RowKey, SqliteEngine, Store, Table, Transaction, Write, read_meta,
    write_meta,
};
use keywright_types::KeyVersion;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::{KEY, TENANT, open, start};

/// A closed store, and an older state of the same file beside it.
struct Scene {
    _folder: TempDir,
    path: PathBuf,
    older: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let (path, older) = (
            folder.path().join("store.db"),
            folder.path().join("older.db"),
        );
        let mut engine = SqliteEngine::open(&path).unwrap();
        write_meta(&mut engine, b"sealed", b"envelope").unwrap();
        let store = start(engine).unwrap();
        for (table, key) in [
            (Table::Keys, "a"),
            (Table::Keys, "b"),
            (Table::Policies, "p"),
            (Table::Approvals, "o"),
        ] {
            let body = format!("body of {key}");
            store
                .transact(Transaction::new().insert(table, key, TENANT, body))
                .unwrap();
        }
        store.reserve(KEY, KeyVersion::FIRST, 10).unwrap();
        store.shutdown();
        fs::copy(&path, &older).unwrap();
        let store = open(&path).unwrap();
        let update = Transaction::new().update(Table::Policies, b"p", 1, b"narrower");
        store.transact(update).unwrap();
        store
            .transact(Transaction::new().delete(Table::Approvals, b"o", 1))
            .unwrap();
        store
            .transact(Transaction::new().insert(Table::Keys, b"c", TENANT, b"new"))
            .unwrap();
        store.reserve(KEY, KeyVersion::FIRST, 10).unwrap();
        store.shutdown();
        Self {
            _folder: folder,
            path,
            older,
        }
    }

    /// The answer of the start after `statements`, which see the older file as `older`.
    fn after(statements: &str) -> Result<Store, Error> {
        let scene = Self::new();
        let connection = Connection::open(&scene.path).unwrap();
        let older = scene.older.to_str().unwrap();
        connection.execute("ATTACH ?1 AS older", [older]).unwrap();
        connection.execute_batch(statements).unwrap();
        assert!(
            connection.changes() > 0,
            "nothing was altered: {statements}"
        );
        drop(connection);
        open(&scene.path)
    }
}

fn assert_error(statements: &str, expected: Error) {
    assert_eq!(
        Scene::after(statements).err(),
        Some(expected),
        "{statements}"
    );
}

fn altered(table: Table, key: &str) -> Error {
    let key = RowKey::from_vec(key.as_bytes().to_vec());
    Error::RowAltered { table, key }
}

fn set_altered(table: Table) -> Error {
    Error::SetAltered { table }
}

#[test]
fn an_untouched_store_starts() {
    let store = Scene::after("UPDATE meta SET body = body").unwrap();
    assert_eq!((store.epoch(), store.verification().rows), (7, 5));
}

#[test]
fn a_change_of_any_column_is_found_and_names_the_row() {
    for change in [
        "body = CAST('body of b' AS BLOB)",
        "body = x''",
        "body = CAST(body || x'00' AS BLOB)",
        "tenant = zeroblob(16)",
        "tenant = x'0303'",
        "revision = 2",
        "revision = -1",
        "epoch = 0",
        "epoch = 6",
        "epoch = 99",
        "mac = zeroblob(32)",
        "mac = x''",
    ] {
        let statement = format!("UPDATE keys SET {change} WHERE key = x'61'");
        assert_error(&statement, altered(Table::Keys, "a"));
    }
}

#[test]
fn a_row_under_another_key_or_in_another_table_is_found() {
    assert_error(
        "UPDATE keys SET key = x'7A' WHERE key = x'61'",
        altered(Table::Keys, "z"),
    );
    assert_error(
        "INSERT INTO keys SELECT x'7A', tenant, revision, epoch, body, mac FROM keys WHERE key = x'61'",
        altered(Table::Keys, "z"),
    );
    assert_error(
        "INSERT INTO principals SELECT * FROM keys WHERE key = x'61'",
        altered(Table::Principals, "a"),
    );
    assert_error(
        "INSERT INTO principals SELECT * FROM keys WHERE key = x'61';
         DELETE FROM keys WHERE key = x'61'",
        altered(Table::Principals, "a"),
    );
    assert_error(
        "UPDATE keys SET (tenant, revision, epoch, body, mac) =
           (SELECT tenant, revision, epoch, body, mac FROM older.keys WHERE key = x'62')
         WHERE key = x'61'",
        altered(Table::Keys, "a"),
    );
}

#[test]
fn a_row_that_was_put_back_to_its_older_state_is_found() {
    assert_error(
        "REPLACE INTO policies SELECT * FROM older.policies",
        set_altered(Table::Policies),
    );
    assert_error(
        "REPLACE INTO counters SELECT * FROM older.counters",
        set_altered(Table::Counters),
    );
}

#[test]
fn a_row_that_was_deleted_or_brought_back_is_found() {
    for key in ["61", "62", "63"] {
        let statement = format!("DELETE FROM keys WHERE key = x'{key}'");
        assert_error(&statement, set_altered(Table::Keys));
    }
    assert_error("DELETE FROM policies", set_altered(Table::Policies));
    assert_error("DELETE FROM counters", set_altered(Table::Counters));
    assert_error(
        "INSERT INTO approvals SELECT * FROM older.approvals",
        set_altered(Table::Approvals),
    );
}

#[test]
fn an_older_summary_does_not_vouch_for_an_older_table() {
    let policies = "REPLACE INTO policies SELECT * FROM older.policies;";
    let summary = "REPLACE INTO meta SELECT * FROM older.meta WHERE key = CAST('summary' AS BLOB);";
    let epoch = "REPLACE INTO meta SELECT * FROM older.meta WHERE key = CAST('epoch' AS BLOB);";
    assert_error(&format!("{policies} {summary}"), Error::SummaryAltered);
    // With the old epoch too, the summary holds, but the rows of other tables are ahead of it.
    assert_error(
        &format!("{policies} {summary} {epoch}"),
        Error::SummaryAltered,
    );
    // With those as well, all that differs from the older file is one row that is still missing.
    assert_error(
        &format!(
            "{policies} {summary} {epoch} DELETE FROM keys WHERE key = x'63';
             REPLACE INTO counters SELECT * FROM older.counters"
        ),
        set_altered(Table::Approvals),
    );
}

#[test]
fn an_altered_epoch_or_summary_is_found() {
    let at = |key: &str| format!("WHERE key = CAST('{key}' AS BLOB)");
    for statement in [
        format!("UPDATE meta SET body = x'0000000000000006' {}", at("epoch")),
        format!("UPDATE meta SET body = x'0000000000000008' {}", at("epoch")),
        format!("UPDATE meta SET body = x'07' {}", at("epoch")),
        format!("DELETE FROM meta {}", at("epoch")),
        format!("DELETE FROM meta {}", at("summary")),
        format!("UPDATE meta SET body = zeroblob(392) {}", at("summary")),
        format!("UPDATE meta SET body = x'' {}", at("summary")),
        format!(
            "UPDATE meta SET body = substr(body, 1, 40) {}",
            at("summary")
        ),
        format!("UPDATE meta SET revision = revision - 1 {}", at("summary")),
        format!("UPDATE meta SET epoch = 6 {}", at("summary")),
    ] {
        let error = Scene::after(&statement).err();
        assert_eq!(error, Some(Error::SummaryAltered), "{statement}");
    }
    let both = "DELETE FROM meta WHERE key <> CAST('sealed' AS BLOB)";
    assert_error(both, set_altered(Table::Keys));
}

#[test]
fn another_stores_key_is_refused() {
    let scene = Scene::new();
    let engine = Box::new(SqliteEngine::open(&scene.path).unwrap());
    let error = Store::start(engine, MacKey::new(&[0; 32]), &Clock::system()).err();
    assert_eq!(error, Some(Error::SummaryAltered));
}

/// The limits that the front page of the crate states.
#[test]
fn a_whole_older_file_starts_with_its_older_epoch_and_meta_rows_prove_themselves() {
    let scene = Scene::new();
    let newest = open(&scene.path).unwrap().epoch();
    let older = open(&scene.older).unwrap();
    assert!(
        older.epoch() < newest,
        "this is what the audit head is compared with"
    );
    older.shutdown();
    let store = Scene::after("UPDATE meta SET body = x'00' WHERE key = CAST('sealed' AS BLOB)");
    let row = store.unwrap().get(Table::Meta, b"sealed").unwrap().unwrap();
    assert_eq!(row.body, [0]);
}

#[test]
fn a_row_that_is_altered_while_the_store_runs_is_refused_when_it_is_read() {
    let engine = MemoryEngine::new();
    let store = start(engine.clone()).unwrap();
    let table = Table::Policies;
    store
        .transact(Transaction::new().insert(table, b"p", TENANT, b"deny"))
        .unwrap();
    let good = store.get(table, b"p").unwrap().unwrap();
    let body = b"allow".to_vec();
    engine.overwrite(
        table,
        Row {
            body,
            ..good.clone()
        },
    );
    let refused = altered(table, "p");
    assert_eq!(store.get(table, b"p"), Err(refused.clone()));
    assert_eq!(store.range(table, b""), Err(refused.clone()));
    assert_eq!(store.snapshot(&[(table, b"p")]), Err(refused.clone()));
    let update = || Transaction::new().update(table, b"p", 1, b"x");
    assert_eq!(store.transact(update()), Err(refused.clone()));
    assert_eq!(
        store.transact(Transaction::new().delete(table, b"p", 1)),
        Err(refused)
    );
    engine.overwrite(table, good);
    store.transact(update()).unwrap();
    engine.remove(table, b"p");
    store.shutdown();
    assert_eq!(start(engine).err(), Some(set_altered(table)));
}

#[test]
fn rows_without_a_summary_are_not_taken_over() {
    let engine = MemoryEngine::new();
    start(engine.clone()).unwrap().shutdown();
    let donor = MemoryEngine::new();
    let store = start(donor.clone()).unwrap();
    store
        .transact(Transaction::new().insert(Table::Keys, b"k", TENANT, b""))
        .unwrap();
    let row = store.get(Table::Keys, b"k").unwrap().unwrap();
    engine.remove(Table::Meta, b"summary");
    engine.overwrite(Table::Keys, row);
    assert_eq!(start(engine).err(), Some(set_altered(Table::Keys)));
}

#[test]
fn the_sealed_key_is_read_before_any_mac_can_be_checked() {
    let scene = Scene::new();
    let engine = SqliteEngine::open(&scene.path).unwrap();
    assert_eq!(
        read_meta(&engine, b"sealed"),
        Ok(Some(b"envelope".to_vec()))
    );
}

/// A search tree in which a walk finds what a look-up does not.
struct Disordered(MemoryEngine);

impl Engine for Disordered {
    fn get(&self, table: Table, key: &[u8]) -> Result<Option<Row>, Error> {
        self.0.get(table, key)
    }

    fn range(
        &self,
        table: Table,
        prefix: &[u8],
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Row>, Error> {
        let mut rows = self.0.range(table, prefix, after, limit)?;
        rows.reverse();
        Ok(rows)
    }

    fn apply(&mut self, writes: &[Write], new_epoch: u64) -> Result<(), Error> {
        self.0.apply(writes, new_epoch)
    }
}

#[test]
fn keys_out_of_order_are_damage() {
    let engine = MemoryEngine::new();
    let store = start(engine.clone()).unwrap();
    let two = Transaction::new()
        .insert(Table::Keys, b"a", TENANT, b"")
        .insert(Table::Keys, b"b", TENANT, b"");
    store.transact(two).unwrap();
    store.shutdown();
    assert_eq!(start(Disordered(engine)).err(), Some(Error::Corrupt));
}
