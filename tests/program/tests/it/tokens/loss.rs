//! The token goes and comes back under load: a stable answer in between, the same keys after, and nothing wrong
//! at any time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use keywright_clock::Clock;
use keywright_tls::Protocol;
use keywright_tokens::{Store, on_each};

use super::scene::{VAULT, home_with, open, try_seal, with_vault};
use crate::fixture::*;

/// How long the service may take to notice that the token is back.
const LIMIT: Duration = Duration::from_secs(5);
/// For what has no limit of its own.
const PATIENCE: Duration = Duration::from_secs(30);

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

/// What clients saw.
#[derive(Default)]
struct Seen {
    stop: AtomicBool,
    good: AtomicU64,
    refused: AtomicU64,
}

impl Seen {
    /// Seals, opens, and opens something old, until it is told to stop. Every answer is right or the stable
    /// refusal.
    fn work(&self, site: &Site, old: &[u8]) {
        let mut wire = site.wire(TRADING, Protocol::Http2);
        while !self.stop.load(Ordering::Relaxed) {
            let made = try_seal(&mut wire, VAULT, b"text");
            let opened = made.and_then(|sealed| open(&mut wire, VAULT, &sealed));
            let before = open(&mut wire, VAULT, old);
            for (result, expected) in [(opened, &b"text"[..]), (before, b"from before")] {
                match result {
                    Ok(text) => {
                        assert_eq!(text, expected);
                        self.good.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(code) => {
                        assert_eq!(code, "holder_unavailable");
                        self.refused.fetch_add(1, Ordering::Relaxed);
                        std::thread::sleep(Duration::from_millis(5));
                    }
                }
            }
        }
    }

    fn progress(&self, count: &AtomicU64, limit: Duration) -> bool {
        let (clock, before) = (Clock::system(), count.load(Ordering::Relaxed));
        until(&clock, limit, || count.load(Ordering::Relaxed) > before + 8)
    }
}

/// Whether keys are copied into the session.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Copies {
    None,
    Made,
}

impl Copies {
    const fn line(self) -> &'static str {
        match self {
            Self::None => "session_copies = false",
            Self::Made => "session_copies = true",
        }
    }
}

fn rides_it_out(store: &Store, copies: Copies) {
    let site = with_vault(Site::over(home_with(store, copies.line())));
    let mut wire = site.wire(TRADING, Protocol::Http2);
    let old = seal(&mut wire, VAULT, b"from before", b"");
    let seen = Seen::default();
    std::thread::scope(|threads| {
        for _ in 0..3 {
            threads.spawn(|| seen.work(&site, &old));
        }
        assert!(seen.progress(&seen.good, PATIENCE), "work is done at first");
        for _ in 0..2 {
            store.take_away();
            let noticed = seen.progress(&seen.refused, LIMIT);
            // A copy in the session needs no store.
            assert!(noticed || copies == Copies::Made, "the loss is noticed");
            if noticed {
                let health = wire.get("/v1/health");
                assert_eq!(health.status, 503);
                assert_eq!(health.json()["holder"], "failed");
            }
            // Contexts that are not in the token go on.
            let wrapped = seal(&mut wire, EXCHANGE, b"x", b"");
            assert_eq!(
                open(&mut wire, EXCHANGE, &wrapped).as_deref(),
                Ok(&b"x"[..])
            );
            store.put_back();
            assert!(
                seen.progress(&seen.good, LIMIT),
                "work goes on within the limit"
            );
        }
        seen.stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(
        open(&mut wire, VAULT, &old).as_deref(),
        Ok(&b"from before"[..])
    );
    assert_eq!(wire.get("/v1/health").json()["status"], "ready");
    drop(wire);
    site.stop().verify();
}

#[test]
fn the_service_rides_out_the_loss_of_its_token() {
    on_each(|store| rides_it_out(store, Copies::None));
}

#[test]
fn so_it_does_with_keys_copied_into_the_session() {
    on_each(|store| rides_it_out(store, Copies::Made));
}

#[test]
fn an_order_while_the_token_is_away_changes_nothing_and_works_when_it_is_back() {
    on_each(|store| {
        use super::scene::{rotate, states};
        let site = with_vault(Site::over(home_with(store, "session_copies = false")));
        let mut wire = site.wire(TRADING, Protocol::Http2);
        let old = seal(&mut wire, VAULT, b"old", b"");
        store.take_away();
        let clock = Clock::system();
        let gone = || try_seal(&mut wire, VAULT, b"x").is_err();
        assert!(until(&clock, LIMIT, gone), "the loss is noticed");
        assert!(rotate(&site, VAULT).is_err());
        assert_eq!(states(&site, VAULT).len(), 1);
        store.put_back();
        assert!(until(&clock, LIMIT, || rotate(&site, VAULT).is_ok()));
        assert_eq!(states(&site, VAULT).len(), 2);
        assert_eq!(open(&mut wire, VAULT, &old).as_deref(), Ok(&b"old"[..]));
    });
}

#[test]
fn more_than_the_queue_holds_is_refused_at_once_and_the_rest_is_right() {
    on_each(|store| {
        let site = with_vault(Site::over(home_with(store, "sessions = 1\nqueue = 1")));
        let (good, full) = (AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|threads| {
            for _ in 0..12 {
                threads.spawn(|| {
                    let mut wire = site.wire(TRADING, Protocol::Http2);
                    let body = batch((0..200).map(|_| item(&[("plaintext", b"x")])));
                    for _ in 0..20 {
                        let got = wire.post(&path(VAULT, "encrypt"), body.clone());
                        if got.status == 200 {
                            good.fetch_add(1, Ordering::Relaxed);
                            continue;
                        }
                        assert_eq!((got.status, got.code().as_str()), (503, "overloaded"));
                        assert!(got.header("retry-after").is_some());
                        full.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(
            good.load(Ordering::Relaxed) + full.load(Ordering::Relaxed),
            240
        );
        assert!(good.into_inner() > 0 && full.into_inner() > 0);
        site.stop().verify();
    });
}
