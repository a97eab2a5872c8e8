//! Many callers, one store thread: compare-and-set loses nothing.

use std::sync::{Arc, Mutex};
use std::thread;

use keywright_store::{Error, Store, Table, Transaction};

use crate::{TENANT, each_store};

const THREADS: u64 = 8;
const STEPS: u64 = 20;

/// Adds one to the number in the row, from a fresh read each time until nobody was in between.
fn increment(store: &Store) -> u64 {
    let table = Table::Policies;
    let mut lost = 0;
    loop {
        let row = store.get(table, b"sum").unwrap().unwrap();
        let sum = u64::from_be_bytes(row.body.try_into().unwrap()) + 1;
        let update = Transaction::new().update(table, b"sum", row.revision, sum.to_be_bytes());
        match store.transact(update) {
            Ok(_) => return lost,
            Err(Error::Conflict { .. }) => lost += 1,
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn increments_from_eight_threads_are_all_there() {
    each_store(|store| {
        let table = Table::Policies;
        let zero = 0_u64.to_be_bytes();
        store
            .transact(Transaction::new().insert(table, b"sum", TENANT, zero))
            .unwrap();
        let epochs = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&epochs);
        store
            .watch(Box::new(move |epoch| seen.lock().unwrap().push(epoch)))
            .unwrap();
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| (0..STEPS).map(|_| increment(&store)).sum::<u64>());
            }
        });
        let row = store.get(table, b"sum").unwrap().unwrap();
        assert_eq!(row.body, (THREADS * STEPS).to_be_bytes());
        assert_eq!(row.revision, THREADS * STEPS + 1);
        assert!(
            epochs
                .lock()
                .unwrap()
                .iter()
                .copied()
                .eq(2..THREADS * STEPS + 2)
        );
    });
}

#[test]
fn of_eight_that_insert_one_row_exactly_one_succeeds() {
    each_store(|store| {
        for round in 0..10_u8 {
            let winners: usize = thread::scope(|scope| {
                let insert = || {
                    let transaction = Transaction::new();
                    store.transact(transaction.insert(Table::Keys, [round], TENANT, b""))
                };
                let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(insert)).collect();
                threads
                    .into_iter()
                    .filter_map(|thread| thread.join().unwrap().ok())
                    .count()
            });
            assert_eq!(winners, 1);
        }
        assert_eq!(store.epoch(), 10);
    });
}

#[test]
fn a_shutdown_finishes_what_was_ordered_and_nothing_half() {
    each_store(|store| {
        let answers = thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS as u8)
                .map(|thread| {
                    let store = &store;
                    scope.spawn(move || {
                        (0..=u8::MAX).find_map(|i| {
                            let transaction = Transaction::new();
                            let key = [thread, i];
                            let insert = transaction.insert(Table::Heads, key, TENANT, b"");
                            store.transact(insert).err()
                        })
                    })
                })
                .collect();
            while store.epoch() < 20 {
                thread::yield_now();
            }
            store.shutdown();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect::<Vec<_>>()
        });
        assert!(
            answers
                .iter()
                .all(|answer| matches!(answer, None | Some(Error::Stopped)))
        );
    });
}
