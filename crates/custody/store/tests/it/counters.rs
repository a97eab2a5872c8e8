//! Reserved numbers are handed out once, whatever happens.

use std::collections::BTreeSet;

use keywright_store::testing::{FaultyEngine, MemoryEngine};
use keywright_store::{Error, Table, Transaction};
use keywright_types::{KeyId, KeyVersion, TenantId};

use crate::{KEY, TENANT, each_store, memory, start};

const FIRST: KeyVersion = KeyVersion::FIRST;

#[test]
fn blocks_follow_each_other_for_each_version() {
    each_store(|store| {
        let second = FIRST.next().unwrap();
        assert_eq!(store.reserved(KEY, FIRST), Ok(0));
        assert_eq!(store.reserve(KEY, FIRST, 100), Ok(0..100));
        assert_eq!(store.reserve(KEY, FIRST, 1), Ok(100..101));
        assert_eq!(store.reserve(KEY, second, 5), Ok(0..5));
        assert_eq!(store.reserve(KeyId::NONE, FIRST, 7), Ok(0..7));
        assert_eq!(store.reserve(KEY, FIRST, 1 << 20), Ok(101..101 + (1 << 20)));
        assert_eq!(store.reserved(KEY, FIRST), Ok(101 + (1 << 20)));
        assert_eq!(
            store.reserve(KEY, FIRST, 0),
            Ok(101 + (1 << 20)..101 + (1 << 20))
        );
    });
}

#[test]
fn a_restart_wastes_what_was_not_used() {
    let engine = MemoryEngine::new();
    let first = start(engine.clone()).unwrap();
    assert_eq!(first.reserve(KEY, FIRST, 10), Ok(0..10));
    first.shutdown();
    assert_eq!(start(engine).unwrap().reserve(KEY, FIRST, 10), Ok(10..20));
}

#[test]
fn a_counter_ends_instead_of_wrapping() {
    let store = memory();
    let end = u64::MAX - 3;
    let table = Table::Counters;
    store
        .transact(Transaction::new().open_counter(KEY, FIRST, TENANT, end))
        .unwrap();
    assert_eq!(
        store.reserve(KEY, FIRST, 4),
        Err(Error::Exhausted { table })
    );
    assert_eq!(store.reserve(KEY, FIRST, 3), Ok(end..u64::MAX));
    assert_eq!(
        store.reserve(KEY, FIRST, 1),
        Err(Error::Exhausted { table })
    );
}

#[test]
fn an_opened_counter_has_a_tenant_and_is_opened_once() {
    let store = memory();
    let table = Table::Counters;
    let open = |key| Transaction::new().open_counter(key, FIRST, TENANT, 7);
    store.transact(open(KEY)).unwrap();
    assert_eq!(store.transact(open(KEY)), Err(Error::Exists { table }));
    assert_eq!(store.reserve(KEY, FIRST, 2), Ok(7..9));
    let other = KeyId::from_bytes([9; 16]);
    store.reserve(other, FIRST, 1).unwrap();
    assert_eq!(store.transact(open(other)), Err(Error::Exists { table }));
    let tenants: Vec<_> = store
        .range(table, b"")
        .unwrap()
        .iter()
        .map(|row| row.tenant)
        .collect();
    assert_eq!(tenants, [TENANT, TenantId::NONE]);
}

#[test]
fn a_failed_reservation_hands_out_nothing_and_a_lost_answer_wastes_the_block() {
    let (engine, faults) = FaultyEngine::new(Box::new(MemoryEngine::new()));
    let store = start(engine).unwrap();
    faults.fail_apply(1, Error::Full);
    assert_eq!(store.reserve(KEY, FIRST, 5), Err(Error::Full));
    assert_eq!(store.reserve(KEY, FIRST, 5), Ok(0..5));
    faults.fail_apply_after_commit(1, Error::Full);
    assert_eq!(store.reserve(KEY, FIRST, 5), Err(Error::Full));
    assert_eq!(store.reserve(KEY, FIRST, 5), Ok(10..15));
}

#[test]
fn eight_threads_never_get_the_same_number() {
    let store = memory();
    let workers: Vec<_> = (0..8_u64)
        .map(|worker| {
            let store = store.clone();
            std::thread::spawn(move || {
                (0..50)
                    .flat_map(|_| store.reserve(KEY, FIRST, worker + 1).unwrap())
                    .collect()
            })
        })
        .collect();
    let numbers: Vec<Vec<u64>> = workers
        .into_iter()
        .map(|worker| worker.join().unwrap())
        .collect();
    let count = numbers.iter().map(Vec::len).sum::<usize>();
    let distinct: BTreeSet<_> = numbers.into_iter().flatten().collect();
    assert_eq!((count, distinct.len()), (36 * 50, 36 * 50));
}
