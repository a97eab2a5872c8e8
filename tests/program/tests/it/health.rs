//! Health, and the local probe, tell the truth: within five seconds of a trouble, and of its end.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use keywright_clock::{Clock, Hand};
use keywright_holders::{Broken, Fault, Faults};
use keywright_home::{HomeError, MemoryPlan, Node};
use keywright_service::Lack;
use keywright_tls::Protocol;

use crate::alerts::put_certificate;
use crate::fixture::*;

fn with_probe(home: Home) -> Home {
    home.configure("[log]", "[probe]\nlisten = \"127.0.0.1:0\"\n\n[log]")
}

fn probe(site: &Site) -> SocketAddr {
    site.serving().probe_addr().unwrap()
}

/// The whole answer of the probe.
fn asked(addr: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(addr).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

fn says(addr: SocketAddr, path: &str) -> bool {
    let text = asked(addr, path);
    match text.split(' ').nth(1) {
        Some("200") => true,
        Some("503") => false,
        _ => panic!("{text}"),
    }
}

/// What the probe may say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Yes,
    No,
}

/// Waits until the probe says so, for as long as a node may take to notice.
fn until(addr: SocketAddr, path: &str, expected: Word) {
    let clock = Clock::system();
    let started = clock.monotonic();
    while says(addr, path) != (expected == Word::Yes) {
        let waited = clock.monotonic().since(started);
        assert!(
            waited < Duration::from_secs(5),
            "{path}: {expected:?} was not said"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn breakable() -> (Site, Faults) {
    let mut faults = None;
    let site = Site::with_holder(with_probe(Home::demo()), |holder| {
        let (broken, switch) = Broken::new(holder);
        faults = Some(switch);
        Arc::new(broken)
    });
    (site, faults.unwrap())
}

#[test]
fn a_holder_that_fails_makes_a_node_not_ready_and_no_dead_one() {
    let (site, faults) = breakable();
    let addr = probe(&site);
    assert!(says(addr, "/ready") && says(addr, "/live"));
    let mut wire = site.wire(TRADING, Protocol::Http2);
    for fault in [Fault::Unavailable, Fault::KeyRejected, Fault::Panic] {
        faults.fail(fault);
        until(addr, "/ready", Word::No);
        assert!(says(addr, "/live"), "starting it again mends no token");
        let health = wire.get("/v1/health");
        assert_eq!(health.status, 503);
        assert_eq!(health.json()["holder"], "failed");
        assert_eq!(health.json()["status"], "degraded");
        assert_eq!(health.json()["store"], "ok");
        faults.heal();
        until(addr, "/ready", Word::Yes);
        assert_eq!(wire.get("/v1/health").json()["status"], "ready");
    }
    site.stop();
}

fn at(home: Home) -> (Site, Hand) {
    let (clock, hand) = Clock::simulated(Clock::system().wall());
    let node = Node::open(&home.config(), clock, MemoryPlan::LeaveAlone).unwrap();
    (Site::serve(home, &node), hand)
}

#[test]
fn a_certificate_that_has_ended_makes_a_node_not_ready_until_there_is_another() {
    let home = with_probe(Home::demo());
    put_certificate(&home, Duration::from_secs(86_400));
    let (site, hand) = at(home);
    let addr = probe(&site);
    until(addr, "/ready", Word::Yes);
    hand.advance(Duration::from_secs(86_400 - 60));
    until(addr, "/ready", Word::Yes);
    hand.advance(Duration::from_secs(120));
    until(addr, "/ready", Word::No);
    let mut wire = site.wire(TRADING, Protocol::Http2);
    let health = wire.get("/v1/health");
    assert_eq!(health.json()["certificates"], "failed");
    assert!(
        site.node().reload().is_err(),
        "the one on disk has ended too"
    );
    put_certificate(&site.home, Duration::from_secs(30 * 86_400));
    site.node().reload().unwrap();
    until(addr, "/ready", Word::Yes);
    assert_eq!(wire.get("/v1/health").json()["certificates"], "ok");
    site.stop();
}

#[test]
fn revocation_lists_that_have_ended_make_a_node_not_ready() {
    let (site, hand) = at(with_probe(Home::demo()));
    let addr = probe(&site);
    until(addr, "/ready", Word::Yes);
    // The lists of a new home hold for as long as its certificates.
    put_certificate(&site.home, Duration::from_secs(1000 * 86_400));
    site.node().reload().unwrap();
    hand.advance(Duration::from_secs(400 * 86_400));
    // For this clock nobody has looked for 400 days; that passes with the next look.
    until(addr, "/live", Word::Yes);
    let lacks = || site.node().admin().shared().lacks();
    while lacks().contains(&Lack::Stale) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(lacks(), [Lack::Certificates]);
    assert!(!says(addr, "/ready"));
    site.stop();
}

#[test]
fn a_clock_that_jumped_is_told_and_keeps_nobody_from_serving() {
    let (site, hand) = at(with_probe(Home::demo()));
    let mut wire = site.wire(TRADING, Protocol::Http2);
    assert_eq!(wire.get("/v1/health").json()["clock"], "sure");
    let jumped = site.node().admin().shared().clock().wall();
    hand.set_wall(jumped.plus(Duration::from_secs(3 * 3600)));
    let clock = Clock::system();
    let started = clock.monotonic();
    loop {
        let health = wire.get("/v1/health");
        assert_eq!(health.status, 200);
        if health.json()["clock"] == "uncertain" {
            break;
        }
        assert!(clock.monotonic().since(started) < Duration::from_secs(5));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(says(probe(&site), "/ready"));
    site.stop();
}

#[test]
fn nobody_answers_where_no_probe_is_asked_for_and_none_outside_loopback() {
    let site = Site::start();
    assert_eq!(site.serving().probe_addr(), None);
    site.stop();
    for address in ["0.0.0.0:0", "192.0.2.1:8081", "[::]:0"] {
        let section = format!("[probe]\nlisten = \"{address}\"\n\n[log]");
        let refused = Home::demo().configure("[log]", &section).open();
        let refused = refused.expect_err("nobody is asked who they are there");
        assert!(matches!(refused, HomeError::Config(_)), "{refused:?}");
        assert!(refused.to_string().contains("probe.listen"), "{refused}");
    }
}

#[test]
fn a_probe_whose_port_is_taken_keeps_the_node_from_serving() {
    let taken = std::net::TcpListener::bind(loopback()).unwrap();
    let addr = taken.local_addr().unwrap();
    let section = format!("[probe]\nlisten = \"{addr}\"\n\n[log]");
    let node = Home::demo().configure("[log]", &section);
    let opened = node.open().unwrap();
    let refused = opened.serve(Some(loopback())).unwrap_err();
    assert!(refused.to_string().contains(&addr.to_string()), "{refused}");
    opened.shutdown().unwrap();
}

#[test]
fn the_probe_leaves_no_record_and_says_nothing_of_the_node() {
    let home = with_probe(Home::demo());
    let site = Site::over(home);
    let addr = probe(&site);
    for path in ["/ready", "/live", "/metrics", "/v1/health", "/"] {
        let text = asked(addr, path);
        let (_, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(["yes\n", "no\n"].contains(&body), "{text}");
        assert!(!text.to_lowercase().contains("server:"), "{text}");
    }
    let home = site.stop();
    assert_eq!(home.requests().len(), 0);
}

#[test]
fn answers_say_where_their_time_went_only_where_that_is_asked_for() {
    let site = Site::start();
    let mut wire = site.wire(TRADING, Protocol::Http2);
    let one = || item(&[("plaintext", b"x")]);
    let got = wire.post(&path(EXCHANGE, "encrypt"), one());
    assert_eq!((got.status, got.header("server-timing")), (200, None));
    site.stop();
    let site = Site::over(Home::demo().configure("timing = false", "timing = true"));
    for protocol in BOTH {
        let mut wire = site.wire(TRADING, protocol);
        let got = wire.post(&path(EXCHANGE, "encrypt"), one());
        let [queue, holder, total] = times(&got, ["queue", "holder", "total"]);
        assert_eq!(queue, 0.0, "no queue in this process");
        assert!(holder > 0.0 && total >= holder, "{got:?}");
        for got in [
            wire.post(&path("nobody", "encrypt"), one()),
            wire.get("/v1/health"),
            wire.get("/no/such/route"),
        ] {
            let [total] = times(&got, ["total"]);
            assert!(total > 0.0, "{got:?}");
        }
    }
    site.stop();
    let home = Home::demo().configure("timing = false", "timing = true");
    let wait = Duration::from_millis(50);
    let site = Site::with_holder(home, |holder| {
        Arc::new(keywright_holders::Slow::new(holder, wait))
    });
    let got = site
        .wire(TRADING, Protocol::Http2)
        .post(&path(EXCHANGE, "encrypt"), one());
    let [queue, holder, total] = times(&got, ["queue", "holder", "total"]);
    assert!(
        queue < holder && holder >= 50.0 && total >= holder,
        "{got:?}"
    );
    site.stop();
}

/// The times of an answer, in milliseconds, if they have exactly these names.
fn times<const N: usize>(got: &Got, names: [&str; N]) -> [f64; N] {
    let told = got.header("server-timing").unwrap();
    let parts: Vec<_> = told.split(", ").collect();
    assert_eq!(parts.len(), N, "{told}");
    std::array::from_fn(|place| {
        let (name, value) = parts[place].split_once(";dur=").unwrap();
        assert_eq!(name, names[place], "{told}");
        value.parse().unwrap()
    })
}
