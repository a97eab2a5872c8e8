//! Keys in a token rotate by themselves when they have sealed enough, and refuse when nobody could rotate them.

use std::time::Duration;

use keywright_clock::Clock;
use keywright_envelope::Envelope;
use keywright_home::{Node, SealLimits};
use keywright_tls::Protocol;
use keywright_tokens::{Store, on_each};
use keywright_types::State;

use super::scene::{VAULT, home_with, open, rotate, states, try_seal, with_vault};
use crate::fixture::*;

fn over(home: Home, limits: SealLimits) -> Site {
    let node = Node::open_with_limits(&home.config(), Clock::system(), limits).unwrap();
    Site::serve(home, &node)
}

fn site(store: &Store, limits: SealLimits) -> Site {
    with_vault(over(home_with(store, ""), limits))
}

fn version_of(sealed: &[u8]) -> u32 {
    Envelope::parse(sealed).unwrap().header().version.number()
}

#[test]
fn a_key_rotates_by_itself_and_what_it_sealed_opens() {
    on_each(|store| {
        let site = site(store, SealLimits::lower(4, 20, 1000));
        let mut wire = site.wire(TRADING, Protocol::Http2);
        let clock = Clock::system();
        let end = clock.monotonic().plus(Duration::from_secs(30));
        let mut sealed: Vec<Vec<u8>> = Vec::new();
        while sealed.last().is_none_or(|last| version_of(last) < 3) {
            assert!(clock.monotonic() < end, "{:?}", states(&site, VAULT));
            sealed.push(try_seal(&mut wire, VAULT, b"text").unwrap());
        }
        // Its check value was the first of twenty.
        let firsts = sealed.iter().filter(|one| version_of(one) == 1).count();
        assert!(firsts >= 19, "{firsts}");
        for one in &sealed {
            assert_eq!(open(&mut wire, VAULT, one).as_deref(), Ok(&b"text"[..]));
        }
        let states = states(&site, VAULT);
        assert_eq!(states[..2], [State::Retired; 2]);
        drop(wire);
        let home = site.stop();
        let rotations = home.records().into_iter().filter(|record| {
            record["type"] == "order-after" && record["operation"] == "key-rotate"
        });
        assert!(rotations.count() >= 2, "it is an order, on record");
        home.verify();
    });
}

#[test]
fn a_version_at_its_end_refuses_to_seal_goes_on_opening_and_is_rotated_by_hand() {
    on_each(|store| {
        // Due later than it ends: nobody rotates it in time.
        let limits = SealLimits::lower(4, 1000, 8);
        let site = site(store, limits);
        let mut wire = site.wire(TRADING, Protocol::Http2);
        let sealed: Vec<_> = (0..7)
            .map(|_| try_seal(&mut wire, VAULT, b"text").unwrap())
            .collect();
        for _ in 0..3 {
            let got = wire.post(&path(VAULT, "encrypt"), item(&[("plaintext", b"x")]));
            assert_eq!(
                (got.status, got.code().as_str()),
                (409, "no_active_version")
            );
        }
        let made = wire.post(&path(VAULT, "datakey"), "{}");
        assert_eq!(made.code(), "no_active_version");
        assert_eq!(
            open(&mut wire, VAULT, &sealed[0]).as_deref(),
            Ok(&b"text"[..])
        );
        drop(wire);
        // A restart forgets nothing.
        let site = over(site.stop(), limits);
        let mut wire = site.wire(TRADING, Protocol::Http2);
        assert_eq!(
            try_seal(&mut wire, VAULT, b"x"),
            Err("no_active_version".to_owned())
        );
        assert_eq!(rotate(&site, VAULT).unwrap().number(), 2);
        assert_eq!(version_of(&try_seal(&mut wire, VAULT, b"x").unwrap()), 2);
        assert_eq!(
            open(&mut wire, VAULT, &sealed[6]).as_deref(),
            Ok(&b"text"[..])
        );
        drop(wire);
        site.stop().verify();
    });
}

#[test]
fn a_batch_is_sealed_whole_or_not_at_all() {
    on_each(|store| {
        let site = site(store, SealLimits::lower(4, 1000, 8));
        let mut wire = site.wire(TRADING, Protocol::Http2);
        let many = |count| batch((0..count).map(|_| item(&[("plaintext", b"x")])));
        let got = wire.post(&path(VAULT, "encrypt"), many(8));
        assert_eq!(got.code(), "no_active_version");
        let got = wire.post(&path(VAULT, "encrypt"), many(7));
        assert_eq!(got.status, 200, "{}", got.json());
        assert_eq!(
            try_seal(&mut wire, VAULT, b"x"),
            Err("no_active_version".to_owned())
        );
    });
}
