//! The state epoch rises by one with each transaction that raises it, and watchers see each step.

use std::sync::{Arc, Mutex};

use keywright_store::{Error, Table, Transaction, testing::MemoryEngine};
use keywright_types::KeyVersion;

use crate::{KEY, TENANT, each_store, memory, start};

#[test]
fn each_raising_transaction_raises_it_by_exactly_one() {
    each_store(|store| {
        assert_eq!(store.epoch(), 0);
        for expected in 1..=5_u64 {
            // How much is written does not matter.
            let transaction = (0..expected).fold(Transaction::new(), |transaction, i| {
                transaction.insert(Table::Principals, [expected as u8, i as u8], TENANT, b"p")
            });
            assert_eq!(store.transact(transaction).unwrap().0, expected);
            assert_eq!(store.epoch(), expected);
        }
        for row in store.range(Table::Principals, b"").unwrap() {
            assert_eq!(row.epoch, u64::from(row.key[0]));
            assert_eq!(row.revision, 1);
        }
    });
}

#[test]
fn keeping_transactions_reservations_and_failures_do_not_raise_it() {
    each_store(|store| {
        let insert = || Transaction::new().insert(Table::Heads, b"head", TENANT, b"1");
        store.transact(insert()).unwrap();
        assert!(store.transact(insert()).is_err());
        let keep = Transaction::new().update(Table::Heads, b"head", 1, b"2");
        assert_eq!(store.transact(keep.keep_epoch()).unwrap().0, 1);
        store.reserve(KEY, KeyVersion::FIRST, 10).unwrap();
        assert_eq!(store.epoch(), 1);
        let row = store.get(Table::Heads, b"head").unwrap().unwrap();
        assert_eq!((row.revision, row.epoch), (2, 1));
    });
}

#[test]
fn it_goes_on_where_it_was_after_a_restart() {
    let engine = MemoryEngine::new();
    for expected in 1..5 {
        let store = start(engine.clone()).unwrap();
        assert_eq!(store.epoch(), expected - 1);
        assert_eq!(store.transact(Transaction::new()).unwrap().0, expected);
        store.shutdown();
    }
}

#[test]
fn watchers_are_called_in_order_and_before_the_answer() {
    let store = memory();
    store.transact(Transaction::new()).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    for watcher in [1, 2] {
        let seen = Arc::clone(&seen);
        let note = move |epoch| seen.lock().unwrap().push((watcher, epoch));
        assert_eq!(store.watch(Box::new(note)), Ok(1));
    }
    store.transact(Transaction::new()).unwrap();
    assert_eq!(*seen.lock().unwrap(), [(1, 2), (2, 2)]);
    store.transact(Transaction::new().keep_epoch()).unwrap();
    assert_eq!(seen.lock().unwrap().len(), 2);
    for epoch in 3..50 {
        store.transact(Transaction::new()).unwrap();
        assert_eq!(seen.lock().unwrap().last(), Some(&(2, epoch)));
    }
}

#[test]
fn a_watcher_finds_the_new_epoch_and_cannot_call_the_store() {
    let store = memory();
    let found = Arc::new(Mutex::new(None));
    let (handle, note) = (
        Arc::new(Mutex::new(Some(store.clone()))),
        Arc::clone(&found),
    );
    let inside = Arc::clone(&handle);
    let watcher = move |epoch| {
        // Taken out, so that the watcher does not keep the store alive.
        if let Some(store) = inside.lock().unwrap().take() {
            let answer = store.get(Table::Keys, b"k");
            *note.lock().unwrap() = Some((epoch, store.epoch(), answer));
        }
    };
    store.watch(Box::new(watcher)).unwrap();
    store.transact(Transaction::new()).unwrap();
    assert_eq!(*found.lock().unwrap(), Some((1, 1, Err(Error::Reentrant))));
}

#[test]
fn a_watcher_that_panics_stops_the_store_and_what_was_committed_stays() {
    let engine = MemoryEngine::new();
    let store = start(engine.clone()).unwrap();
    store
        .watch(Box::new(|_| panic!("a watcher's own mistake")))
        .unwrap();
    assert_eq!(store.transact(Transaction::new()), Err(Error::Stopped));
    assert_eq!(store.get(Table::Keys, b"k"), Err(Error::Stopped));
    drop(store);
    assert_eq!(start(engine).unwrap().epoch(), 1);
}
