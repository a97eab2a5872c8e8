//! A failed commit leaves the old state and a store that can be used on.

use std::io::ErrorKind;
use std::sync::{Arc, Mutex};

use keywright_store::testing::{Faults, FaultyEngine, MemoryEngine};
use keywright_store::{Error, Store, Table, Transaction};
use keywright_types::{KeyId, KeyVersion};

use crate::{TENANT, start};

const IO: Error = Error::Io(ErrorKind::Other);

fn faulty() -> (Store, Faults, MemoryEngine) {
    let memory = MemoryEngine::new();
    let (engine, faults) = FaultyEngine::new(Box::new(memory.clone()));
    (start(engine).unwrap(), faults, memory)
}

fn insert(key: u8) -> Transaction {
    Transaction::new().insert(Table::Keys, [key], TENANT, b"body")
}

#[test]
fn a_full_or_broken_disk_is_answered_by_name_and_changes_nothing() {
    for error in [Error::Full, IO, Error::Busy] {
        let (store, faults, memory) = faulty();
        store.transact(insert(1)).unwrap();
        for nth in 1..=3 {
            faults.fail_apply(nth, error.clone());
        }
        for _ in 0..3 {
            assert_eq!(store.transact(insert(2)), Err(error.clone()));
            assert_eq!(store.epoch(), 1);
            assert_eq!(store.get(Table::Keys, &[2]), Ok(None));
        }
        assert_eq!(store.transact(insert(2)).unwrap().0, 2);
        store.shutdown();
        assert_eq!(start(memory).unwrap().verification().rows, 2);
    }
}

#[test]
fn no_watcher_hears_of_a_commit_that_failed() {
    let (store, faults, _) = faulty();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = Arc::clone(&seen);
    store
        .watch(Box::new(move |epoch| note.lock().unwrap().push(epoch)))
        .unwrap();
    faults.fail_apply(1, Error::Full);
    assert_eq!(store.transact(insert(1)), Err(Error::Full));
    assert!(seen.lock().unwrap().is_empty());
    store.transact(insert(1)).unwrap();
    assert_eq!(*seen.lock().unwrap(), [1]);
}

#[test]
fn a_commit_whose_answer_was_lost_is_found_again() {
    let (store, faults, memory) = faulty();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = Arc::clone(&seen);
    store
        .watch(Box::new(move |epoch| note.lock().unwrap().push(epoch)))
        .unwrap();
    faults.fail_apply_after_commit(1, IO);
    assert_eq!(store.transact(insert(1)), Err(IO));
    // It did take place: the epoch, the watchers and a second try all say so.
    assert_eq!(store.epoch(), 1);
    assert_eq!(*seen.lock().unwrap(), [1]);
    assert_eq!(
        store.transact(insert(1)),
        Err(Error::Exists { table: Table::Keys })
    );
    assert_eq!(store.transact(insert(2)).unwrap().0, 2);
    store.shutdown();
    assert_eq!(start(memory).unwrap().verification().rows, 2);
}

#[test]
fn a_disk_that_is_gone_for_a_while_refuses_everything_and_then_nothing_is_lost() {
    let (store, faults, memory) = faulty();
    store.transact(insert(1)).unwrap();
    faults.break_all(IO);
    assert_eq!(store.transact(insert(2)), Err(IO));
    assert_eq!(store.get(Table::Keys, &[1]), Err(IO));
    assert_eq!(store.range(Table::Keys, b""), Err(IO));
    assert_eq!(
        store.snapshot(&[]),
        Err(IO),
        "what is in doubt is in no snapshot"
    );
    faults.heal();
    assert_eq!(store.range(Table::Keys, b"").unwrap().len(), 1);
    assert_eq!(store.transact(insert(2)).unwrap().0, 2);
    store.shutdown();
    assert_eq!(start(memory).unwrap().epoch(), 2);
}

#[test]
fn a_state_that_is_neither_before_nor_after_is_not_written_on() {
    let (store, faults, memory) = faulty();
    store.transact(insert(1)).unwrap();
    let older = memory.copy();
    store.transact(insert(2)).unwrap();
    faults.fail_apply(1, IO);
    let summary = keywright_store::Engine::get(&older, Table::Meta, b"summary")
        .unwrap()
        .unwrap();
    memory.overwrite(Table::Meta, summary);
    assert_eq!(store.transact(insert(3)), Err(IO));
    assert_eq!(store.transact(insert(3)), Err(Error::Corrupt));
    assert_eq!(store.transact(insert(4)), Err(Error::Corrupt));
}

#[test]
fn a_failure_of_the_very_first_write_is_answered_by_the_start() {
    let memory = MemoryEngine::new();
    let (engine, faults) = FaultyEngine::new(Box::new(memory.clone()));
    faults.fail_apply(1, Error::Full);
    assert_eq!(start(engine).err(), Some(Error::Full));
    assert_eq!(faults.applies(), 1);
    assert!(start(memory).is_ok());
}

#[test]
fn an_observer_is_told_of_every_write_and_whose_fault_a_failure_was() {
    let (store, faults, _) = faulty();
    let told = Arc::new(Mutex::new(Vec::new()));
    let writer = Arc::clone(&told);
    let observe = move |_, done: Result<(), &Error>| {
        let word = match done {
            Ok(()) => "ok",
            Err(error) if error.is_failure() => "failure",
            Err(_) => "order",
        };
        writer.lock().unwrap().push(word);
    };
    assert!(store.observe(Box::new(observe)));
    assert!(!store.observe(Box::new(|_, _| panic!("the first one stays"))));
    store.transact(insert(1)).unwrap();
    store.transact(insert(1)).unwrap_err();
    faults.fail_apply(1, Error::Full);
    store.transact(insert(2)).unwrap_err();
    store.reserve(KeyId::NONE, KeyVersion::FIRST, 4).unwrap();
    store.get(Table::Keys, &[1]).unwrap();
    store.shutdown();
    store.transact(insert(3)).unwrap_err();
    let told = told.lock().unwrap();
    assert_eq!(*told, ["ok", "order", "failure", "ok", "failure"]);
}
