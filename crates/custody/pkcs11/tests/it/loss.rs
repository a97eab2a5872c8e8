//! The token goes and comes back: a stable error in between, the same keys after, and no log-in too many.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use keywright_clock::Clock;
use keywright_custody::{HolderError, KeyHolder};
use keywright_pkcs11::{Copies, Credential, Error, PoolOptions, User};
use keywright_tokens::{Store, on_each};

use crate::holder::{holder, made, open, pool, pool_with, seal};
use crate::scene::pin;

/// How long a token may take to be noticed again.
const LIMIT: Duration = Duration::from_secs(5);

fn until(clock: &Clock, limit: Duration, mut done: impl FnMut() -> bool) -> bool {
    let end = clock.monotonic().plus(limit);
    while clock.monotonic() < end {
        if done() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

fn options(copies: Copies) -> PoolOptions {
    PoolOptions {
        copies,
        retry_after: Duration::from_millis(100),
        ..PoolOptions::default()
    }
}

fn comes_back_under_load(store: &Store, copies: Copies) {
    let clock = Clock::system();
    let pool = pool_with(store, options(copies));
    let holder = holder(&pool);
    let keys = [made(&holder, 1, 1), made(&holder, 2, 1)];
    let sealed = keys
        .each_ref()
        .map(|key| seal(&holder, key, b"from before").unwrap());
    let (stop, done, refused) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let work = |index: usize| {
        let (key, old) = (&keys[index], &sealed[index]);
        while !stop.load(Ordering::Relaxed) {
            let made = seal(&holder, key, b"text").and_then(|new| open(&holder, key, &new));
            let opened = open(&holder, key, old);
            for (result, expected) in [(made, &b"text"[..]), (opened, b"from before")] {
                match result {
                    Ok(Ok(text)) => {
                        assert_eq!(text, expected);
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(HolderError::Unavailable) => {
                        refused.fetch_add(1, Ordering::Relaxed);
                        std::thread::sleep(Duration::from_millis(5));
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
    };
    let progress = |count: &AtomicU64| {
        let before = count.load(Ordering::Relaxed);
        until(&clock, LIMIT, || count.load(Ordering::Relaxed) > before + 8)
    };
    std::thread::scope(|threads| {
        for index in [0, 1, 0] {
            threads.spawn(move || work(index));
        }
        assert!(progress(&done), "work is done at first");
        store.take_away();
        let noticed = progress(&refused);
        store.put_back();
        let resumed = progress(&done);
        stop.store(true, Ordering::Relaxed);
        assert!(resumed, "work goes on within the limit");
        // A copy in the session needs no store.
        assert!(noticed || copies == Copies::WhereAllowed, "{pool:?}");
    });
    for (key, old) in keys.iter().zip(&sealed) {
        assert_eq!(
            open(&holder, key, old).unwrap(),
            Ok(b"from before".to_vec())
        );
    }
}

#[test]
fn work_goes_on_with_the_same_keys_when_the_token_is_back() {
    on_each(|store| comes_back_under_load(store, Copies::Never));
}

#[test]
fn so_it_does_with_keys_copied_into_the_session() {
    on_each(|store| comes_back_under_load(store, Copies::WhereAllowed));
}

#[test]
fn a_new_connection_while_the_token_is_away_fails_and_comes_back_by_itself() {
    on_each(|store| {
        let clock = Clock::system();
        let pool = pool_with(store, options(Copies::Never));
        let holder = holder(&pool);
        let key = made(&holder, 1, 1);
        let sealed = seal(&holder, &key, b"text").unwrap();
        store.take_away();
        let generation = pool.take().unwrap().generation();
        pool.end(generation);
        for _ in 0..50 {
            assert_eq!(
                seal(&holder, &key, b"text").err(),
                Some(HolderError::Unavailable)
            );
        }
        assert_eq!(holder.probe(), Err(HolderError::Unavailable));
        store.put_back();
        let back = until(&clock, LIMIT, || holder.probe().is_ok());
        assert!(back, "{pool:?}");
        assert_eq!(open(&holder, &key, &sealed).unwrap(), Ok(b"text".to_vec()));
    });
}

#[test]
fn handles_of_an_ended_connection_are_found_anew() {
    on_each(|store| {
        let pool = pool(store);
        let holder = holder(&pool);
        let key = made(&holder, 1, 1);
        let sealed = seal(&holder, &key, b"text").unwrap();
        for _ in 0..3 {
            let held = pool.take().unwrap();
            let generation = held.generation();
            pool.end(generation);
            pool.end(generation);
            // One session of the old connection is still lent: the module is not restarted under it.
            assert_eq!(open(&holder, &key, &sealed).unwrap(), Ok(b"text".to_vec()));
            held.check().unwrap();
            drop(held);
            let now = pool.take().unwrap().generation();
            assert_eq!(now, generation + 1);
            assert_eq!(open(&holder, &key, &sealed).unwrap(), Ok(b"text".to_vec()));
        }
    });
}

#[test]
fn a_log_in_that_is_refused_is_not_tried_again_by_itself() {
    on_each(|store| {
        let pool = pool_with(store, options(Copies::Never));
        let (old, new) = (pin(store.tokens()[0].user_pin()), pin("another-5678"));
        let session = pool.open_writing().unwrap();
        session
            .change_pin(Credential::Pin(&old), Credential::Pin(&new))
            .unwrap();
        drop(session);
        let generation = pool.take().unwrap().generation();
        pool.end(generation);
        for _ in 0..30 {
            let refused = pool.take().unwrap_err();
            assert!(matches!(refused, Error::Login { .. }), "{refused}");
        }
        let holder = holder(&pool);
        assert_eq!(holder.probe(), Err(HolderError::Unavailable));
        let token = crate::scene::token(store);
        let session = token.open_writing().unwrap();
        session.login(User::User, Credential::Pin(&new)).unwrap();
        session
            .change_pin(Credential::Pin(&new), Credential::Pin(&old))
            .unwrap();
        drop(session);
        assert!(pool.take().is_err());
        pool.try_again();
        pool.take().unwrap().check().unwrap();
    });
}

#[test]
fn a_pool_lends_no_more_sessions_than_it_may() {
    on_each(|store| {
        let options = PoolOptions {
            sessions: 2,
            ..PoolOptions::default()
        };
        let pool = pool_with(store, options);
        let holder = holder(&pool);
        let key = made(&holder, 1, 1);
        let (one, two) = (pool.take().unwrap(), pool.take().unwrap());
        assert!(matches!(pool.take(), Err(Error::PoolExhausted)));
        assert_eq!(seal(&holder, &key, b"text").err(), Some(HolderError::Full));
        let number = one.number();
        drop(one);
        assert_eq!(pool.take().unwrap().number(), number, "it is used again");
        drop(two);
        let shared = Arc::new(holder);
        std::thread::scope(|threads| {
            for _ in 0..2 {
                let (holder, key) = (Arc::clone(&shared), Arc::clone(&key));
                threads.spawn(move || {
                    for _ in 0..50 {
                        let sealed = seal(holder.as_ref(), &key, b"text").unwrap();
                        let opened = open(holder.as_ref(), &key, &sealed).unwrap();
                        assert_eq!(opened, Ok(b"text".to_vec()));
                    }
                });
            }
        });
    });
}
