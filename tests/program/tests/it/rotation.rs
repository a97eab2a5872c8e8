//! Rotation: old data opens, new data uses the new version, `rewrap` moves it. Versions are active or
//! retired here; `life` has the other states.

use std::collections::BTreeMap;

use keywright_envelope::Envelope;
use keywright_home::{Answer, Order};
use keywright_tls::Protocol;
use keywright_types::{KeyVersion, State};

use crate::fixture::*;

fn rotate(site: &Site, context: &str) -> u32 {
    let order = Order::KeyRotate {
        tenant: name("default"),
        name: name(context),
    };
    match site.node().carry_out(order).unwrap() {
        Answer::KeyRotated { version } => version.number(),
        other => panic!("{other:?}"),
    }
}

fn states(site: &Site, context: &str) -> BTreeMap<u32, State> {
    let order = Order::Contexts {
        tenant: name("default"),
        name: Some(name(context)),
    };
    let Answer::Contexts { contexts } = site.node().carry_out(order).unwrap() else {
        panic!()
    };
    let versions = contexts[0].versions.iter();
    versions
        .map(|version| (version.version.number(), version.state))
        .collect()
}

fn opens(wire: &mut Wire, envelope: &[u8], plaintext: &[u8]) -> u64 {
    let got = wire.post(
        &path(EXCHANGE, "decrypt"),
        item(&[("ciphertext", envelope), ("aad", b"a")]),
    );
    assert_eq!(got.status, 200, "{}", got.json());
    assert_eq!(got.binary("plaintext"), plaintext);
    got.json()["key_version"].as_u64().unwrap()
}

#[test]
fn every_version_opens_what_it_sealed_and_the_newest_seals() {
    let site = Site::start();
    let mut wire = site.wire(TRADING, Protocol::Http2);
    let mut sealed = Vec::new();
    for version in 1..=12_u32 {
        if version > 1 {
            assert_eq!(rotate(&site, EXCHANGE), version);
        }
        let text = format!("sealed by {version}").into_bytes();
        let envelope = seal(&mut wire, EXCHANGE, &text, b"a");
        let header = *Envelope::parse(&envelope).unwrap().header();
        assert_eq!(header.version, KeyVersion::from_number(version));
        sealed.push((version, text, envelope));
        let states = states(&site, EXCHANGE);
        assert_eq!(states.len(), version as usize);
        assert!(
            states
                .iter()
                .all(|(number, state)| match *number == version {
                    true => *state == State::Active,
                    false => *state == State::Retired,
                })
        );
        for (version, text, envelope) in &sealed {
            assert_eq!(opens(&mut wire, envelope, text), u64::from(*version));
        }
    }
    // And after a restart, from the store alone.
    let site = Site::over(site.stop());
    let mut wire = site.wire(TRADING, Protocol::Http1);
    for (version, text, envelope) in &sealed {
        assert_eq!(opens(&mut wire, envelope, text), u64::from(*version));
    }
    // Another context has not moved.
    assert_eq!(
        states(&site, TWO_FACTOR),
        BTreeMap::from([(1, State::Active)])
    );
    site.stop().verify();
}

#[test]
fn rewrap_moves_messages_and_data_keys_to_the_newest_version() {
    let site = Site::start();
    let mut wire = site.wire(TRADING, Protocol::Http2);
    let old = seal(&mut wire, EXCHANGE, b"kept", b"a");
    let made = wire.post(&path(EXCHANGE, "datakey"), item(&[("aad", b"a")]));
    let (key, wrapped) = (made.binary("plaintext"), made.binary("ciphertext"));
    rotate(&site, EXCHANGE);
    rotate(&site, EXCHANGE);
    let mut moved = Vec::new();
    for envelope in [&old, &wrapped] {
        let body = item(&[("ciphertext", envelope), ("aad", b"a")]);
        let got = wire.post(&path(EXCHANGE, "rewrap"), body);
        assert_eq!(got.json()["key_version"], 3);
        assert!(got.json().get("plaintext").is_none());
        moved.push(got.binary("ciphertext"));
    }
    for (from, to) in [(&old, &moved[0]), (&wrapped, &moved[1])] {
        let header = |envelope: &[u8]| *Envelope::parse(envelope).unwrap().header();
        let (from, to) = (header(from), header(to));
        assert_eq!((from.version.number(), to.version.number()), (1, 3));
        assert_eq!(
            (from.kind, from.binding, from.key),
            (to.kind, to.binding, to.key)
        );
    }
    assert_eq!(opens(&mut wire, &moved[0], b"kept"), 3);
    assert_eq!(opens(&mut wire, &old, b"kept"), 1);
    for envelope in [&wrapped, &moved[1]] {
        let body = item(&[("ciphertext", envelope), ("aad", b"a")]);
        let opened = wire.post(&path(EXCHANGE, "datakey/open"), body);
        assert_eq!(opened.binary("plaintext"), key);
        assert_eq!(opened.json()["id"], made.json()["id"]);
    }
    // Without its aad nothing moves.
    let got = wire.post(&path(EXCHANGE, "rewrap"), item(&[("ciphertext", &old)]));
    assert_eq!(got.code(), "decryption_failed");
    site.stop();
}

#[test]
fn rotation_under_load_fails_no_request() {
    let site = Site::start();
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let workers: Vec<_> = BOTH
            .into_iter()
            .map(|protocol| {
                let (mut wire, stop) = (site.wire(TRADING, protocol), &stop);
                scope.spawn(move || {
                    let mut seen = std::collections::BTreeSet::new();
                    while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                        let sealed = seal(&mut wire, EXCHANGE, b"under way", b"a");
                        seen.insert(opens(&mut wire, &sealed, b"under way"));
                    }
                    seen
                })
            })
            .collect();
        for version in 2..=20 {
            assert_eq!(rotate(&site, EXCHANGE), version);
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        for worker in workers {
            let seen = worker.join().unwrap();
            assert!(
                seen.len() > 5,
                "the load ran beside the rotations: {seen:?}"
            );
        }
    });
    let home = site.stop();
    let failed = home
        .requests()
        .into_iter()
        .filter(|record| record["outcome"] != "ok")
        .count();
    assert_eq!(failed, 0);
    home.verify();
}

#[test]
fn each_rotation_is_recorded_before_and_after_with_its_rows() {
    let site = Site::start();
    rotate(&site, EXCHANGE);
    let home = site.stop();
    let records = home.records();
    let of = |kind: &str| {
        let rotations = records
            .iter()
            .filter(|one| one["operation"] == "key-rotate");
        rotations
            .filter(|one| one["type"] == kind)
            .collect::<Vec<_>>()
    };
    let (before, after) = (of("order-before"), of("order-after"));
    assert_eq!((before.len(), after.len()), (1, 1));
    assert_eq!(before[0]["request"], after[0]["request"]);
    assert_eq!(after[0]["outcome"], "ok");
    let epoch = |record: &serde_json::Value| record["epoch"].as_u64().unwrap();
    assert_eq!(epoch(after[0]), epoch(before[0]) + 1);
    let rows = after[0]["fields"].as_array().unwrap();
    let tables: Vec<_> = rows.iter().filter(|field| field["name"] == "row").collect();
    assert!(
        tables
            .iter()
            .all(|row| row["value"]["table"] == "key_versions"),
        "{tables:?}"
    );
    assert_eq!(tables.len(), 2, "the new version and the retired one");
}
