//! What a caller asks for beyond its rate, and beyond what the node takes on: refused at once, with the
//! time to come back, counted in the log, and nobody else's trouble.

use std::collections::BTreeMap;
use std::time::Duration;

use http::Method;
use keywright_policy::LimitEntry;
use keywright_tls::Protocol;
use keywright_types::{Name, Operation};

use crate::fixture::*;

/// A limit that refills so slowly that a test sees nothing of it.
fn limit(client: &str, burst: u32) -> LimitEntry {
    LimitEntry {
        tenant: Name::default_tenant(),
        principals: vec![name(client)],
        groups: Vec::new(),
        per_second: 1,
        burst: Some(burst),
        costs: BTreeMap::new(),
    }
}

fn limited(limit: LimitEntry) -> Site {
    let site = Site::start();
    site.change_policy(|document| document.limits.push(limit));
    site
}

fn one() -> String {
    item(&[("plaintext", b"Hello World!")])
}

fn many(count: usize) -> String {
    batch((0..count).map(|_| one()))
}

fn is_refused(got: &Got) -> u32 {
    assert_eq!((got.status, got.code().as_str()), (429, "rate_limited"));
    let body = got.json();
    let keys: Vec<_> = body["error"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["code", "message"], "there is no record to look up");
    got.header("retry-after").unwrap().parse().unwrap()
}

/// Requests of the log, and those that it counted: outcome and principal to number.
fn counted(home: &Home, outcome: &str) -> BTreeMap<String, u64> {
    let mut counted = BTreeMap::new();
    for record in home.records() {
        if record["type"] == "refused" && record["outcome"] == outcome {
            let principal = record["principal"].as_str().unwrap_or_default().to_owned();
            *counted.entry(principal).or_default() += record["items"].as_u64().unwrap();
        }
    }
    counted
}

#[test]
fn beyond_its_rate_a_caller_is_refused_whatever_it_asks_and_others_are_not() {
    let site = limited(limit(TRADING, 5));
    let principal = site.principal(TRADING).to_string();
    let mut answered = 0;
    let mut refused = 0;
    for protocol in BOTH {
        let mut wire = site.wire(TRADING, protocol);
        for _ in 0..10 {
            let got = wire.post(&path(EXCHANGE, "encrypt"), one());
            match got.status {
                200 => answered += 1,
                _ => {
                    assert!(is_refused(&got) >= 1);
                    refused += 1;
                }
            }
        }
        for path in ["/v1/health", "/v1/contexts", "/metrics", "/v1/nowhere"] {
            is_refused(&wire.get(path));
            refused += 1;
        }
        // The body is not looked at any more.
        is_refused(&wire.post(&path(EXCHANGE, "decrypt"), "nonsense"));
        refused += 1;
    }
    // Five at once, and what the seconds of the test brought.
    assert!((5..=15).contains(&answered), "{answered}");
    let mut other = site.wire(WEB, Protocol::Http2);
    for _ in 0..50 {
        let got = other.post(&path(TWO_FACTOR, "encrypt"), one());
        assert_eq!(got.status, 200, "{}", got.json());
    }
    let home = site.stop();
    assert_eq!(home.requests().len(), answered + 50);
    let expected = BTreeMap::from([(principal, refused)]);
    assert_eq!(counted(&home, "rate_limited"), expected);
    home.verify();
}

#[test]
fn all_connections_of_a_caller_share_its_bucket() {
    let site = limited(limit(TRADING, 20));
    let mut wires: Vec<_> = (0..8)
        .map(|_| site.wire(TRADING, Protocol::Http2))
        .collect();
    let mut answered = 0;
    for _ in 0..10 {
        for wire in &mut wires {
            let got = wire.post(&path(EXCHANGE, "encrypt"), one());
            answered += usize::from(got.status == 200);
        }
    }
    assert!((20..=40).contains(&answered), "{answered}");
}

#[test]
fn a_batch_pays_for_each_item_and_owes_what_is_not_there() {
    let site = limited(limit(TRADING, 10));
    let mut wire = site.wire(TRADING, Protocol::Http2);
    let got = wire.post(&path(EXCHANGE, "encrypt"), many(100));
    assert_eq!(got.status, 200, "{}", got.json());
    assert_eq!(got.json()["items"].as_array().unwrap().len(), 100);
    let seconds = is_refused(&wire.post(&path(EXCHANGE, "encrypt"), one()));
    assert!(
        (60..=91).contains(&seconds),
        "ninety are owed, and one: {seconds}"
    );
    let seconds = is_refused(&wire.post(&path(EXCHANGE, "encrypt"), many(3)));
    assert!(seconds >= 60);
}

#[test]
fn what_an_operation_costs_is_taken_and_what_costs_nothing_goes_on() {
    let mut limit = limit(TRADING, 10);
    limit.costs = BTreeMap::from([(Operation::Encrypt, 10), (Operation::HealthRead, 0)]);
    let site = limited(limit);
    let mut wire = site.wire(TRADING, Protocol::Http2);
    assert_eq!(wire.post(&path(EXCHANGE, "encrypt"), one()).status, 200);
    is_refused(&wire.post(&path(EXCHANGE, "encrypt"), one()));
    for _ in 0..30 {
        assert_eq!(wire.get("/v1/health").status, 200);
    }
}

#[test]
fn a_change_of_the_state_fills_no_bucket_and_a_lifted_limit_is_none() {
    let site = limited(limit(TRADING, 2));
    let mut wire = site.wire(TRADING, Protocol::Http2);
    while wire.post(&path(EXCHANGE, "encrypt"), one()).status == 200 {}
    for _ in 0..5 {
        site.change_policy(|_| {});
        let mut again = site.wire(TRADING, Protocol::Http2);
        let two = [0; 2].map(|_| again.post(&path(EXCHANGE, "encrypt"), one()).status);
        assert_ne!(two, [200, 200]);
    }
    site.change_policy(|document| document.limits.clear());
    // A connection learns of it with the next look at it.
    std::thread::sleep(Duration::from_millis(600));
    for _ in 0..20 {
        assert_eq!(wire.post(&path(EXCHANGE, "encrypt"), one()).status, 200);
    }
}

#[test]
fn a_flood_of_refusals_is_a_few_records() {
    let site = limited(limit(TRADING, 1));
    let mut wire = site.wire(TRADING, Protocol::Http2);
    let refused = (0..2000)
        .filter(|_| wire.get("/v1/health").status == 429)
        .count();
    let home = site.stop();
    let records = home.records();
    let records = records
        .iter()
        .filter(|one| one["outcome"] == "rate_limited");
    let records = records.count();
    assert!(refused > 1900 && records < 60, "{refused}: {records}");
    let counts: u64 = counted(&home, "rate_limited").into_values().sum();
    assert_eq!(counts, refused as u64);
    home.verify();
}

#[test]
fn one_request_more_than_the_node_runs_is_refused_and_the_next_is_not() {
    let home = Home::demo()
        .configure("running_requests = 10000", "running_requests = 2")
        .configure("threads = 0", "threads = 1");
    let site = Site::over(home);
    let principal = site.principal(TRADING).to_string();
    let tls = || {
        let identity = site.home.identity(TRADING);
        site.home.tls(Some(identity), Protocol::Http1)
    };
    // Two whose bodies do not come.
    let half = format!(
        "POST {} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{{",
        path(EXCHANGE, "encrypt")
    );
    let address = site.address();
    let waiting: Vec<_> = (0..2)
        .map(|_| {
            let (tls, half) = (tls(), half.clone());
            std::thread::spawn(move || raw(address, tls, half.as_bytes(), Duration::from_secs(3)))
        })
        .collect();
    let mut wire = site.wire(TRADING, Protocol::Http2);
    // A busy machine takes its time until both are there.
    let refused = (0..4).find_map(|_| {
        std::thread::sleep(Duration::from_millis(700));
        let got = wire.send(Method::GET, "/v1/health", "").unwrap();
        (got.status != 200).then_some(got)
    });
    let got = refused.expect("a third request is refused");
    assert_eq!((got.status, got.code().as_str()), (503, "overloaded"));
    assert_eq!(got.header("retry-after"), Some("1"));
    for one in waiting {
        drop(one.join().unwrap());
    }
    // They went away, and took their places along.
    let free = (0..20).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        wire.get("/v1/health").status == 200
    });
    assert!(free);
    let home = site.stop();
    let refused = counted(&home, "overloaded");
    assert_eq!(refused.len(), 1);
    assert!(refused[&principal] >= 1);
    home.verify();
}
