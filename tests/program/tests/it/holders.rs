//! Key holders: the conformance suite on the real one and on a slow one, and what a broken one comes to.

use std::sync::Arc;
use std::time::Duration;

use keywright_clock::Clock;
use keywright_custody::{KeyHolder, Placement, conformance};
use keywright_holders::{Broken, Fault, Slow, Throttled};
use keywright_home::Order;
use keywright_home::control::send;
use keywright_keystore::{Keystore, Root};
use keywright_password::{Limits, Profile};
use keywright_secret::SecretBytes;
use keywright_tls::Protocol;

use crate::fixture::*;

fn keystore(slots: usize) -> Keystore {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("root.kwf");
    let password = SecretBytes::from_vec(b"a password of a test".to_vec());
    Root::create(&path, &password, Profile::Fast).unwrap();
    let root = Root::open(&path, &password, &Limits::standard()).unwrap();
    Keystore::new(&root, slots, Clock::system()).unwrap()
}

#[test]
fn the_keystore_keeps_every_promise_of_a_holder() {
    let keystore = keystore(1024);
    assert_eq!(keystore.placement(), Placement::Inline);
    conformance::run(&keystore).unwrap();
    // Again, over what the first run left in the arena.
    conformance::run(&keystore).unwrap();
}

#[test]
fn sixteen_slots_are_enough_for_eight_threads() {
    let keystore = keystore(16);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..3 {
                    conformance::run(&keystore).unwrap();
                }
            });
        }
    });
}

#[test]
fn a_slow_a_throttled_and_a_healed_holder_keep_them_too() {
    let keystore: Arc<dyn KeyHolder> = Arc::new(keystore(64));
    let throttled = Throttled::new(Arc::clone(&keystore), 5_000);
    conformance::run(&throttled).unwrap();
    assert!(throttled.performed() > 100 && throttled.placement() == Placement::Pool);
    conformance::run(&Slow::new(
        Arc::clone(&keystore),
        Duration::from_micros(100),
    ))
    .unwrap();
    let (broken, faults) = Broken::new(keystore);
    for fault in [Fault::Unavailable, Fault::Full, Fault::KeyRejected] {
        faults.fail(fault);
        assert!(conformance::run(&broken).is_err(), "{fault:?} is not seen");
        faults.heal();
        conformance::run(&broken).unwrap();
    }
}

#[test]
fn a_throttled_holder_does_its_number_a_second_and_no_more() {
    let holder = Throttled::new(Arc::new(keystore(64)), 500);
    let clock = Clock::system();
    let started = clock.monotonic();
    conformance::run(&holder).unwrap();
    let took = clock.monotonic().since(started);
    let at_least = Duration::from_millis(holder.performed() * 2);
    assert!(
        took >= at_least,
        "{} requests in {took:?}",
        holder.performed()
    );
}

fn is_degraded(wire: &mut Wire) {
    let health = wire.get("/v1/health");
    assert_eq!(health.status, 503);
    let health = health.json();
    let words = ["status", "holder", "audit"].map(|key| health[key].as_str().unwrap());
    assert_eq!(words, ["degraded", "failed", "ok"]);
}

/// What a request meets while the holder fails like this, and what it meets afterwards.
fn broken(fault: Fault, status: u16, code: &str) {
    let mut switch = None;
    let site = Site::with_holder(Home::demo(), |holder| {
        let (broken, faults) = Broken::new(holder);
        switch = Some(faults);
        Arc::new(broken)
    });
    let faults = switch.unwrap();
    let mut wires = BOTH.map(|protocol| site.wire(TRADING, protocol));
    let sealed = seal(&mut wires[0], EXCHANGE, b"x", b"");
    let open = item(&[("ciphertext", &sealed)]);
    faults.fail(fault);
    // More often than the pool has threads.
    for turn in 0..20 {
        let wire = &mut wires[turn % 2];
        for (action, body) in [
            ("decrypt", &open),
            ("encrypt", &item(&[("plaintext", b"x")])),
        ] {
            let got = wire.post(&path(EXCHANGE, action), body.clone());
            assert_eq!(
                (got.status, got.code().as_str()),
                (status, code),
                "{fault:?}"
            );
            assert!(got.header("retry-after").is_some(), "{fault:?}");
            assert!(!String::from_utf8_lossy(&got.body).contains("panic"));
        }
    }
    if fault != Fault::Panic {
        is_degraded(&mut wires[0]);
    }
    let order = Order::KeyRotate {
        tenant: name("default"),
        name: name(EXCHANGE),
    };
    assert!(send(&site.home.path(), &order).is_err(), "{fault:?}");
    faults.heal();
    for wire in &mut wires {
        let got = wire.post(&path(EXCHANGE, "decrypt"), open.clone());
        assert_eq!(got.binary("plaintext"), b"x", "after {fault:?}");
    }
    let rotated = send(&site.home.path(), &order);
    assert!(
        matches!(rotated, Ok(Some(_))),
        "after {fault:?}: {rotated:?}"
    );
    assert_eq!(wires[1].get("/v1/health").json()["status"], "ready");
    drop(wires);
    let home = site.stop();
    let outcomes = home
        .requests()
        .into_iter()
        .filter(|record| record["outcome"] == code);
    assert_eq!(outcomes.count(), 40, "{fault:?}");
    home.verify();
}

#[test]
fn a_holder_that_cannot_be_reached_is_503_and_degraded_until_it_is_back() {
    broken(Fault::Unavailable, 503, "holder_unavailable");
}

#[test]
fn a_holder_without_room_is_503_overloaded() {
    broken(Fault::Full, 503, "overloaded");
}

#[test]
fn a_stored_key_that_does_not_open_is_503_and_not_the_callers_fault() {
    broken(Fault::KeyRejected, 503, "holder_unavailable");
}

#[test]
fn a_holder_that_panics_takes_nothing_with_it() {
    broken(Fault::Panic, 503, "holder_unavailable");
}

#[test]
fn a_request_that_waits_too_long_for_a_holder_is_answered_and_recorded() {
    let home = Home::demo().configure("request_timeout_s = 60", "request_timeout_s = 1");
    let site = Site::with_holder(home, |holder| {
        Arc::new(Slow::new(holder, Duration::from_secs(6)))
    });
    let mut wire = site.wire(TRADING, Protocol::Http2);
    let clock = Clock::system();
    let started = clock.monotonic();
    let got = wire.post(&path(EXCHANGE, "encrypt"), item(&[("plaintext", b"x")]));
    assert_eq!(
        (got.status, got.code().as_str()),
        (503, "deadline_exceeded")
    );
    assert!(clock.monotonic().since(started) < Duration::from_millis(5500));
    drop(wire);
    let home = site.stop();
    let requests = home.requests();
    let ids: Vec<_> = requests
        .iter()
        .map(|one| one["outcome"].as_str().unwrap())
        .collect();
    assert!(
        ids.contains(&"deadline_exceeded") && !ids.contains(&"ok"),
        "{ids:?}"
    );
}
