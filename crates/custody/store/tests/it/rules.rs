//! What a transaction may and may not do, and what handles answer.

use keywright_store::{Error, Table, Transaction};
use keywright_types::{KeyVersion, TenantId};

use crate::{KEY, TENANT, each_store, memory};

#[test]
fn a_transaction_happens_whole_or_not_at_all() {
    each_store(|store| {
        let good = || {
            Transaction::new()
                .insert(Table::Keys, b"k", TENANT, b"key")
                .insert(Table::KeyVersions, b"k1", TENANT, b"version")
        };
        let table = Table::Policies;
        for bad in [
            good().require(table, b"p", 1),
            good().update(table, b"p", 1, b"x"),
            good().update(table, b"p", 0, b"x"),
            good().delete(table, b"p", 1),
            good().delete(table, b"p", 0),
        ] {
            assert_eq!(store.transact(bad), Err(Error::Conflict { table }));
            assert_eq!(store.get(Table::Keys, b"k"), Ok(None));
        }
        store.transact(good().require(table, b"p", 0)).unwrap();
        assert_eq!(store.range(Table::KeyVersions, b"k").unwrap().len(), 1);
    });
}

#[test]
fn a_stale_revision_loses() {
    each_store(|store| {
        let table = Table::Policies;
        let insert = || Transaction::new().insert(table, b"p", TENANT, b"1");
        let update = |revision| Transaction::new().update(table, b"p", revision, b"2");
        store.transact(insert()).unwrap();
        assert_eq!(store.transact(insert()), Err(Error::Exists { table }));
        store.transact(update(1)).unwrap();
        for stale in [0, 1, 3, u64::MAX] {
            assert_eq!(
                store.transact(update(stale)),
                Err(Error::Conflict { table })
            );
        }
        let delete = |revision| Transaction::new().delete(table, b"p", revision);
        assert_eq!(store.transact(delete(1)), Err(Error::Conflict { table }));
        store.transact(delete(2)).unwrap();
        assert_eq!(store.get(table, b"p"), Ok(None));
    });
}

#[test]
fn a_row_keeps_its_tenant_and_counts_its_writes() {
    each_store(|store| {
        let table = Table::Keys;
        store
            .transact(Transaction::new().insert(table, b"k", TENANT, b"1"))
            .unwrap();
        for revision in 1..4 {
            let update = Transaction::new().update(table, b"k", revision, b"2");
            let committed = store.commit(update).unwrap();
            let stored = store.get(table, b"k").unwrap().unwrap();
            assert_eq!(committed.rows, [(table, stored.clone())]);
            assert_eq!(committed.epoch.0, revision + 1);
            assert_eq!((stored.tenant, stored.revision), (TENANT, revision + 1));
            assert_ne!(stored.mac, [0; 32]);
        }
    });
}

#[test]
fn rows_of_tenants_keys_and_versions_are_never_deleted() {
    let store = memory();
    for table in [Table::Tenants, Table::Keys, Table::KeyVersions] {
        store
            .transact(Transaction::new().insert(table, b"x", TENANT, b""))
            .unwrap();
        let delete = store.transact(Transaction::new().delete(table, b"x", 1));
        assert_eq!(delete, Err(Error::Permanent { table }));
    }
}

#[test]
fn the_stores_own_rows_and_counters_are_out_of_reach() {
    let store = memory();
    store.reserve(KEY, KeyVersion::FIRST, 1).unwrap();
    let counter = store.range(Table::Counters, b"").unwrap().remove(0);
    let mut rows = vec![(Table::Counters, counter.key)];
    rows.extend([b"epoch".to_vec(), b"summary".to_vec()].map(|key| (Table::Meta, key)));
    for (table, key) in rows {
        let refused = Err(Error::ReservedRow { table });
        let transaction = Transaction::new;
        let update = transaction().update(table, key.clone(), 1, b"x");
        assert_eq!(store.transact(update), refused);
        let delete = transaction().delete(table, key.clone(), 1);
        assert_eq!(store.transact(delete), refused);
        let insert = transaction().insert(table, key, TENANT, b"x");
        assert_eq!(store.transact(insert), refused);
    }
}

#[test]
fn one_row_is_named_once() {
    let store = memory();
    let table = Table::Keys;
    let twice = [
        Transaction::new()
            .insert(table, b"k", TENANT, b"")
            .update(table, b"k", 1, b""),
        Transaction::new()
            .require(table, b"k", 0)
            .insert(table, b"k", TENANT, b""),
        Transaction::new()
            .insert(table, b"k", TENANT, b"")
            .insert(table, b"k", TENANT, b""),
    ];
    for transaction in twice {
        assert_eq!(
            store.transact(transaction),
            Err(Error::RepeatedRow { table })
        );
    }
    let other_table = Transaction::new().insert(table, b"k", TENANT, b"").insert(
        Table::Tenants,
        b"k",
        TENANT,
        b"",
    );
    assert_eq!(store.transact(other_table).unwrap().0, 1);
}

#[test]
fn keys_and_bodies_have_limits() {
    let store = memory();
    let table = Table::Policies;
    let insert = |key: usize, body: usize| {
        let transaction = Transaction::new();
        store.transact(transaction.insert(table, vec![1; key], TENANT, vec![2; body]))
    };
    assert_eq!(insert(1025, 0), Err(Error::TooLong { table }));
    assert_eq!(insert(1, (16 << 20) + 1), Err(Error::TooLong { table }));
    assert!(insert(1024, 0).is_ok());
    assert!(insert(1, 16 << 20).is_ok());
}

#[test]
fn ranges_are_whole_however_long_they_are() {
    each_store(|store| {
        let transaction = (0..2000_u16).fold(Transaction::new(), |transaction, i| {
            let key = [&[b'a' + (i % 2) as u8][..], &i.to_be_bytes()].concat();
            transaction.insert(Table::Keys, key, TENANT, i.to_be_bytes())
        });
        store.transact(transaction).unwrap();
        let rows = store.range(Table::Keys, b"a").unwrap();
        assert_eq!(rows.len(), 1000);
        assert!(rows.is_sorted_by(|a, b| a.key < b.key));
        assert_eq!(store.range(Table::Keys, b"").unwrap().len(), 2000);
        assert!(store.range(Table::Keys, b"c").unwrap().is_empty());
        let asked: [(Table, &[u8]); 3] = [
            (Table::Keys, b"b"),
            (Table::Tenants, b""),
            (Table::Keys, b"b\0"),
        ];
        let snapshot = store.snapshot(&asked).unwrap();
        assert_eq!(snapshot.epoch.0, 1);
        assert_eq!(
            snapshot.rows.iter().map(Vec::len).collect::<Vec<_>>(),
            [1000, 0, 128]
        );
    });
}

#[test]
fn meta_rows_are_the_callers_and_carry_no_mac() {
    each_store(|store| {
        let insert = Transaction::new().insert(Table::Meta, b"sealed", TenantId::NONE, b"1");
        store.transact(insert.keep_epoch()).unwrap();
        let row = store.get(Table::Meta, b"sealed").unwrap().unwrap();
        assert_eq!((row.mac, row.body), ([0; 32], b"1".to_vec()));
    });
}

#[test]
fn a_store_that_was_shut_down_answers_so_on_every_handle() {
    let store = memory();
    let other = store.clone();
    store.transact(Transaction::new()).unwrap();
    store.shutdown();
    store.shutdown();
    assert_eq!(other.get(Table::Keys, b"k"), Err(Error::Stopped));
    assert_eq!(other.transact(Transaction::new()), Err(Error::Stopped));
    assert_eq!(
        other.reserve(KEY, KeyVersion::FIRST, 1),
        Err(Error::Stopped)
    );
    assert_eq!(other.watch(Box::new(|_| {})), Err(Error::Stopped));
    assert_eq!(other.epoch(), 1);
}

#[test]
fn nothing_that_prints_shows_a_body() {
    let store = memory();
    let insert = Transaction::new().insert(Table::Keys, b"k", TENANT, b"canary");
    store.transact(insert).unwrap();
    let row = store.get(Table::Keys, b"k").unwrap().unwrap();
    let text = format!("{row:?} {store:?}");
    assert!(
        !text.contains("canary") && !text.contains("99, 97, 110"),
        "{text}"
    );
}
