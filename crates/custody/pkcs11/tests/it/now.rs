//! Short work under keys in the session is done at once while the token is quick, and nothing else is.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;
use std::time::Duration;

use keywright_clock::{Clock, Hand, WallTime};
use keywright_custody::{
    HolderError, HolderOperation, Items, KeyHolder as _, KeyMaterial, NO_DEADLINE, Reply, Request,
    Versions,
};
use keywright_envelope::Binding;
use keywright_pkcs11::{Copies, PoolOptions, SessionPool, TokenHolder};
use keywright_policy::Policy;
use keywright_primitives::random::RandomStream;
use keywright_tokens::{Store, on_each};
use keywright_types::{KeyId, Operation};

use crate::holder::{made, open, pool_with, seal};

/// On a clock that stands still every token is quick.
fn quick(store: &Store, copies: Copies) -> (Arc<SessionPool>, TokenHolder, (Clock, Hand)) {
    let options = PoolOptions {
        copies,
        ..PoolOptions::default()
    };
    let pool = pool_with(store, options);
    let (clock, hand) = Clock::simulated(WallTime::from_unix_seconds(0));
    hand.advance(Duration::from_secs(1));
    let holder = TokenHolder::new(Arc::clone(&pool), clock.clone());
    (pool, holder, (clock, hand))
}

fn request(key: &Arc<KeyMaterial>, deadline_ns: u64) -> Request {
    Request {
        operation: HolderOperation::Seal,
        versions: Versions::from_iter([Arc::clone(key)]),
        binding: Binding::None,
        deadline_ns,
    }
}

fn byte(number: usize) -> u8 {
    u8::try_from(number).unwrap()
}

fn items(count: usize, len: usize) -> Items {
    let mut items = Items::default();
    for number in 0..count {
        let text = vec![byte(number); len];
        items.push_slices(0, &text, b"aad").unwrap();
    }
    items
}

/// What is done at once, or how many items came back.
fn now(
    (holder, clock): (&TokenHolder, &Clock),
    key: &Arc<KeyMaterial>,
    items: Items,
) -> Result<Result<Reply, HolderError>, usize> {
    let permit = Policy::owner().permit(key.key(), Operation::Encrypt);
    let mut random = RandomStream::unseeded();
    let asked = request(key, NO_DEADLINE);
    let done = holder.perform_now(&permit, (&asked, clock.monotonic()), items, &mut random);
    done.map(|done| done.reply).map_err(|items| {
        for (number, item) in items.iter().enumerate() {
            assert!(item.payload.iter().all(|one| *one == byte(number)));
            assert_eq!(item.aad, b"aad");
        }
        items.len()
    })
}

#[test]
fn work_is_done_at_once_when_key_and_pace_are_known_and_opens_like_any_other() {
    on_each(|store| {
        let (_pool, holder, (clock, _)) = quick(store, Copies::WhereAllowed);
        let key = made(&holder, 1, 1);
        assert_eq!(
            now((&holder, &clock), &key, items(1, 32)).err(),
            Some(1),
            "nothing is known yet"
        );
        seal(&holder, &key, b"text").unwrap();
        let reply = now((&holder, &clock), &key, items(3, 32)).unwrap().unwrap();
        assert_eq!(reply.len(), 3);
        for (number, item) in reply.iter().enumerate() {
            let opened = open(&holder, &key, item.payload).unwrap();
            assert_eq!(opened, Ok(vec![byte(number); 32]));
        }
        let other = made(&holder, 2, 1);
        assert_eq!(
            now((&holder, &clock), &other, items(1, 32)).err(),
            Some(1),
            "another key"
        );
    });
}

#[test]
fn long_work_and_keys_that_are_not_in_the_session_are_left_to_the_pool() {
    on_each(|store| {
        for copies in [Copies::WhereAllowed, Copies::Never] {
            let (_pool, holder, (clock, _)) = quick(store, copies);
            let key = made(&holder, if copies == Copies::Never { 1 } else { 2 }, 1);
            seal(&holder, &key, b"text").unwrap();
            assert_eq!(now((&holder, &clock), &key, items(5, 1)).err(), Some(5));
            assert_eq!(now((&holder, &clock), &key, items(1, 5000)).err(), Some(1));
            let short = now((&holder, &clock), &key, items(1, 1));
            assert_eq!(short.is_ok(), copies == Copies::WhereAllowed);
        }
    });
}

#[test]
fn a_connection_that_ended_is_not_made_anew_on_the_callers_thread() {
    on_each(|store| {
        let (pool, holder, (clock, _)) = quick(store, Copies::WhereAllowed);
        let key = made(&holder, 1, 1);
        seal(&holder, &key, b"text").unwrap();
        let generation = pool.take().unwrap().generation();
        pool.end(generation);
        assert_eq!(now((&holder, &clock), &key, items(1, 32)).err(), Some(1));
        assert!(format!("{pool:?}").contains("down"), "{pool:?}");
        seal(&holder, &key, b"text").unwrap();
        assert!(now((&holder, &clock), &key, items(1, 32)).unwrap().is_ok());
    });
}

#[test]
fn sessions_that_are_all_lent_are_not_waited_for() {
    on_each(|store| {
        let (pool, holder, (clock, _)) = quick(store, Copies::WhereAllowed);
        let key = made(&holder, 1, 1);
        seal(&holder, &key, b"text").unwrap();
        let lent: Vec<_> = std::iter::from_fn(|| pool.take().ok()).collect();
        assert_eq!(lent.len(), PoolOptions::default().sessions);
        assert_eq!(now((&holder, &clock), &key, items(1, 32)).err(), Some(1));
        drop(lent);
        assert!(now((&holder, &clock), &key, items(1, 32)).unwrap().is_ok());
    });
}

#[test]
fn who_may_not_or_is_too_late_is_told_so_at_once() {
    on_each(|store| {
        let (_pool, holder, (clock, hand)) = quick(store, Copies::WhereAllowed);
        let key = made(&holder, 1, 1);
        seal(&holder, &key, b"text").unwrap();
        let mut random = RandomStream::unseeded();
        let mut ask = |key_id, deadline| {
            let permit = Policy::owner().permit(key_id, Operation::Encrypt);
            let (asked, now) = (request(&key, deadline), clock.monotonic());
            let done = holder.perform_now(&permit, (&asked, now), items(1, 1), &mut random);
            done.ok().map(|done| done.reply.err())
        };
        let foreign = KeyId::from_bytes([9; 16]);
        assert_eq!(
            ask(foreign, NO_DEADLINE),
            Some(Some(HolderError::PermitMismatch))
        );
        hand.advance(Duration::from_secs(1));
        assert_eq!(ask(key.key(), 1), Some(Some(HolderError::DeadlineExceeded)));
        assert_eq!(ask(key.key(), NO_DEADLINE), Some(None));
    });
}
