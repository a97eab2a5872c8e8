//! More than the service can do: what is accepted is right, what is not is refused at once, and
//! everything is answered.

use std::sync::Arc;
use std::time::Duration;

use keywright_holders::Throttled;
use keywright_program::load::{Offer, Outcome, Target, open_loop};
use keywright_tls::Protocol;

use crate::fixture::*;

const CAPACITY: u32 = 5_000;

fn offer(per_second: u32) -> (Outcome, Home) {
    let site = Site::with_holder(Home::demo(), |holder| {
        Arc::new(Throttled::new(holder, CAPACITY))
    });
    let target = Target {
        address: site.address(),
        tls: site
            .home
            .tls(Some(site.home.identity(TRADING)), Protocol::Http2),
        path: path(EXCHANGE, "encrypt"),
        body: item(&[("plaintext", b"Hello World!")]).into(),
    };
    let offer = Offer {
        per_second,
        duration: Duration::from_secs(3),
        connections: 4,
        patience: Duration::from_secs(60),
    };
    let outcome = open_loop(&target, &offer, |body| {
        let answer: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
        let sealed =
            keywright_encoding::base64::decode(answer["ciphertext"].as_str().unwrap_or_default());
        sealed.is_ok_and(|sealed| sealed.len() == 114 + 12) && answer["key_version"] == 1
    });
    (outcome.unwrap(), site.stop())
}

/// The part of the promise that holds on any machine; how fast it is kept is measured elsewhere.
fn check(per_second: u32) {
    let (outcome, home) = offer(per_second);
    let millis = |duration: Duration| duration.as_secs_f64() * 1e3;
    println!(
        "offered {per_second}/s for 3 s: {} accepted, p99 {:.1} ms; {} refused, p99 {:.1} ms; \
         generator late by {:.1} ms at worst; all answered after {:.1} s",
        outcome.accepted.count(),
        millis(outcome.accepted.per_mille(990)),
        outcome.refusals(),
        outcome
            .refused
            .get("overloaded")
            .map_or(0.0, |all| millis(all.per_mille(990))),
        millis(outcome.worst_lateness),
        outcome.took.as_secs_f64(),
    );
    assert_eq!(outcome.offered, u64::from(per_second) * 3);
    assert_eq!(
        (outcome.wrong, outcome.lost, outcome.without_retry_after),
        (0, 0, 0),
        "{:?}",
        outcome.causes
    );
    assert!(outcome.accepted.count() > 0);
    let codes: Vec<_> = outcome.refused.keys().map(String::as_str).collect();
    assert_eq!(codes, ["overloaded"]);
    let requests = home.requests();
    let recorded = |code: &str| requests.iter().filter(|one| one["outcome"] == code).count();
    assert_eq!(recorded("ok"), outcome.accepted.count());
    // What was read before the holder's line was full has a record, what its thread did not even begin is counted.
    let counted = home
        .records()
        .into_iter()
        .filter(|one| one["type"] == "refused");
    let counted: u64 = counted.map(|one| one["items"].as_u64().unwrap()).sum();
    assert_eq!(
        recorded("overloaded") as u64 + counted,
        outcome.refusals() as u64
    );
    home.verify();
}

#[test]
fn half_as_much_again_as_the_holder_can_do() {
    check(CAPACITY * 3 / 2);
}

#[test]
fn ten_times_as_much_as_the_holder_can_do() {
    check(CAPACITY * 10);
}
