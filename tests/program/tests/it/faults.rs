//! What a machine does to a service: a store without space, no descriptors left, a clock that is set back, a
//! certificate that ends under open connections, names that nobody resolves, a kill in the midst of many clients.

use std::fs;
use std::net::TcpStream;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use keywright_audit::show::{Filter, show};
use keywright_client::{Error, Settings, blocking};
use keywright_clock::{Clock, WallTime};
use keywright_encoding::hex;
use keywright_envelope::Envelope;
use keywright_home::control::send;
use keywright_home::{Answer, HomeError, MemoryPlan, Node, Order};
use keywright_network::ca::{DAY, client_identity};
use keywright_tls::issue::hostile::Recipe;
use keywright_tls::{ClientIdentity, Protocol};
use keywright_types::Code;
use serde_json::Value;

use crate::alerts::put_certificate;
use crate::audit_first::{Disk, SmallDisk, skipped, until_carried_out};
use crate::fixture::*;

fn rotate() -> Order {
    Order::KeyRotate {
        tenant: name("default"),
        name: name(EXCHANGE),
    }
}

/// How many versions of the key there are.
fn versions(home: &Home) -> usize {
    let order = Order::Contexts {
        tenant: name("default"),
        name: Some(name(EXCHANGE)),
    };
    match send(&home.path(), &order) {
        Ok(Some(Answer::Contexts { contexts })) => contexts[0].versions.len(),
        other => panic!("{other:?}"),
    }
}

/// Waits until it holds, ten times as long as it should take.
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let clock = Clock::system();
    let started = clock.monotonic();
    while !holds() {
        let waited = clock.monotonic().since(started);
        assert!(waited < Duration::from_secs(20), "not yet: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

// === A store without space ===

#[test]
fn a_store_without_space_refuses_orders_serves_requests_and_heals_by_itself() {
    on_a_full_store("full-store", Disk::Memory(16 << 20));
}

#[test]
fn a_store_on_a_full_loop_device_refuses_no_less_and_heals_no_later() {
    on_a_full_store("full-store-loop", Disk::Loop);
}

fn on_a_full_store(test: &str, disk: Disk) {
    let home = Home::demo().configure("store.sqlite", "disk/store.sqlite");
    let folder = home.path().join("disk");
    fs::create_dir(&folder).unwrap();
    for entry in fs::read_dir(home.path()).unwrap().map(Result::unwrap) {
        let file = entry.file_name();
        if file.to_string_lossy().starts_with("store.sqlite") {
            fs::rename(entry.path(), folder.join(file)).unwrap();
        }
    }
    let Some(disk) = SmallDisk::over(folder, &home.beside("kept"), disk) else {
        return skipped(test, "mounting is not allowed here");
    };
    let served = Served::start(&home.path());
    let tls = home.tls(Some(home.identity(TRADING)), Protocol::Http2);
    let mut wire = Wire::connect(served.address, tls).unwrap();
    let first = seal(&mut wire, EXCHANGE, b"before", b"");
    let mut known = versions(&home);
    for _ in 0..3 {
        disk.fill();
        known += rotate_until_refused(&home);
        // What is in memory goes on working, and is recorded.
        for _ in 0..20 {
            let sealed = seal(&mut wire, EXCHANGE, b"meanwhile", b"");
            let opened = wire.post(&path(EXCHANGE, "decrypt"), item(&[("ciphertext", &sealed)]));
            assert_eq!(opened.binary("plaintext"), b"meanwhile");
        }
        eventually("health says that the store fails", || {
            let health = wire.get("/v1/health");
            health.status == 503 && health.json()["store"] == "failed"
        });
        assert_eq!(versions(&home), known, "a refused order took place");
        disk.empty();
        match until_carried_out(|| send(&home.path(), &rotate())) {
            Some(Answer::KeyRotated { version }) => {
                assert_eq!(version.number() as usize, known + 1)
            }
            other => panic!("{other:?}"),
        }
        known += 1;
        eventually("health says that all is well", || {
            wire.get("/v1/health").status == 200
        });
    }
    let opened = wire.post(&path(EXCHANGE, "decrypt"), item(&[("ciphertext", &first)]));
    assert_eq!(opened.binary("plaintext"), b"before");
    drop(wire);
    served.stop();
    home.verify();
    check_rotations(&home, known);
    let again = Served::start(&home.path());
    assert_eq!(
        versions(&home),
        known,
        "what was acknowledged is in the file"
    );
    again.stop();
}

/// The last pages of a file have room for a few orders; how many were acknowledged until they had not.
fn rotate_until_refused(home: &Home) -> usize {
    let clock = Clock::system();
    for done in 0..200 {
        let started = clock.monotonic();
        match send(&home.path(), &rotate()) {
            Ok(_) => {}
            Err(HomeError::Refused { code, .. }) => {
                assert_eq!(code, Some(Code::StoreUnavailable));
                // A tenth of a second is promised; the outcome is what is asserted.
                assert!(clock.monotonic().since(started) < Duration::from_secs(1));
                return done;
            }
            other => panic!("{other:?}"),
        }
    }
    panic!("orders go on without a store")
}

/// As many rotations are recorded as done as were acknowledged; the first version was made otherwise.
fn check_rotations(home: &Home, known: usize) {
    let records = home.records();
    let of = |outcome: &str| {
        let ends = records.iter().filter(|one| {
            one["type"] == "order-after"
                && one["operation"] == "key-rotate"
                && one["outcome"] == outcome
        });
        ends.count()
    };
    assert_eq!(of("ok"), known - 1);
    assert!(of("store_unavailable") >= 3, "{}", of("store_unavailable"));
}

// === No descriptors left ===

/// From now on a process may have this many files open, and no more.
fn limit_descriptors(process: u32, most: usize) {
    let output = Command::new("prlimit")
        .args(["--pid", &process.to_string(), &format!("--nofile={most}:")])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
}

/// None where a process that refuses core files hides them.
fn descriptors(process: u32) -> Option<usize> {
    let folder = fs::read_dir(format!("/proc/{process}/fd")).ok()?;
    Some(folder.count())
}

/// Hundredths of a second of processor time that a process has taken.
fn processor_time(process: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    // Behind the name, which may hold anything, user and system time are the 12th and 13th word.
    let (_, words) = stat.rsplit_once(')').unwrap();
    let words = words.split_whitespace().skip(11).take(2);
    words.map(|word| word.parse::<u64>().unwrap()).sum()
}

#[test]
fn without_descriptors_open_connections_are_served_and_others_when_there_are_some() {
    if Command::new("prlimit").arg("--version").output().is_err() {
        return skipped("descriptors", "there is no prlimit here");
    }
    let home = Home::demo();
    let served = Served::start(&home.path());
    if descriptors(served.id()).is_none() {
        return skipped("descriptors", "those of the service are not shown here");
    }
    let tls = || home.tls(Some(home.identity(TRADING)), Protocol::Http2);
    let mut wire = Wire::connect(served.address, tls()).unwrap();
    let first = seal(&mut wire, EXCHANGE, b"before", b"");
    let serves_again = || {
        let wire = Wire::connect(served.address, tls());
        wire.is_ok_and(|mut wire| wire.get("/v1/health").status == 200)
    };
    for spare in [0, 7] {
        limit_descriptors(served.id(), descriptors(served.id()).unwrap() + spare);
        // The system takes them for the service, which takes them when it can.
        let waiting: Vec<_> = (0..spare + 60)
            .map(|_| TcpStream::connect(served.address).unwrap())
            .collect();
        let (address, last_tls) = (served.address, tls());
        let last = std::thread::spawn(move || Wire::connect(address, last_tls).is_ok());
        let folder = home.path();
        let order = std::thread::spawn(move || send(&folder, &rotate()).is_ok());
        let before = processor_time(served.id());
        for n in 0..50 {
            let sealed = seal(&mut wire, EXCHANGE, b"meanwhile", b"");
            let body = item(&[("ciphertext", &[&first, &sealed][n % 2][..])]);
            assert_eq!(wire.post(&path(EXCHANGE, "decrypt"), body).status, 200);
            std::thread::sleep(Duration::from_millis(20));
        }
        let spent = processor_time(served.id()) - before;
        // With none there is nothing to take a place of; with a few those that say nothing make room for it.
        assert!(
            spare > 0 || !last.is_finished(),
            "there was a descriptor for it"
        );
        // Of a second and more; who asks again at once takes all of it.
        assert!(
            spent < 90,
            "{spent} hundredths of a second of processor time"
        );
        // The second time nobody gives it more; those who waited go away.
        if spare == 0 {
            limit_descriptors(served.id(), 1024);
        }
        drop(waiting);
        eventually("new connections", serves_again);
        assert!(
            last.join().unwrap(),
            "who waited for a descriptor is served"
        );
        assert!(order.join().unwrap(), "an order that waited is carried out");
    }
    limit_descriptors(served.id(), 1024);
    eventually("orders", || send(&home.path(), &rotate()).is_ok());
    drop(wire);
    let told = served.stop();
    assert!(!told.contains("panicked"), "{told}");
    home.verify();
}

// === Time ===

/// A client whose certificate has been good for long.
fn old_friend(site: &Site, since: WallTime) -> ClientIdentity {
    let uri = format!("keywright:principal:{}", site.principal(TRADING));
    let recipe = Recipe {
        uris: vec![&uri],
        not_before: since,
        ..Recipe::client("x", Clock::system().wall(), DAY)
    };
    let issued = site.home.authority().issue_hostile(&recipe).unwrap();
    client_identity(&issued).unwrap()
}

#[test]
fn a_clock_that_is_set_back_stops_no_request_spoils_no_log_and_lets_nobody_in() {
    // The node's day is later than ours, so that its authority has been there for a while.
    let hours = |count: u64| {
        Clock::system()
            .wall()
            .plus(Duration::from_secs(3600 * count))
    };
    let (late, earlier, long_ago) = (hours(9), hours(5), hours(0));
    let (clock, hand) = Clock::simulated(late);
    let home = Home::demo();
    let node = Node::open(&home.config(), clock, MemoryPlan::LeaveAlone).unwrap();
    let site = Site::serve(home, &node);
    // Whoever keeps a hand on a node keeps its log.
    drop(node);
    site.node().carry_out(Order::ClockConfirm).unwrap();
    let friend = |since| {
        site.home
            .tls(Some(old_friend(&site, since)), Protocol::Http2)
    };
    let mut open = Wire::connect(site.address(), friend(long_ago)).unwrap();
    let sealed = seal(&mut open, EXCHANGE, b"before", b"");
    eventually("health is sure", || {
        open.get("/v1/health").json()["clock"] == "sure"
    });
    hand.set_wall(earlier);
    for _ in 0..20 {
        let meanwhile = seal(&mut open, EXCHANGE, b"meanwhile", b"");
        for sealed in [&sealed, &meanwhile] {
            let got = open.post(&path(EXCHANGE, "decrypt"), item(&[("ciphertext", sealed)]));
            assert_eq!(got.status, 200);
        }
    }
    eventually("health doubts the clock", || {
        open.get("/v1/health").json()["clock"] == "uncertain"
    });
    site.node()
        .admin()
        .rotate(&name("default"), &name(EXCHANGE))
        .unwrap();
    // Not valid yet by this clock; to let it in would be to guess.
    let young = hours(7);
    let refused = Wire::connect(site.address(), friend(young))
        .and_then(|mut wire| wire.send(http::Method::GET, "/v1/health", ""));
    assert!(refused.is_err(), "{refused:?}");
    let mut again = Wire::connect(site.address(), friend(long_ago)).unwrap();
    assert_eq!(again.get("/v1/health").status, 200);
    hand.set_wall(late);
    let got = again.post(&path(EXCHANGE, "decrypt"), item(&[("ciphertext", &sealed)]));
    assert_eq!(got.binary("plaintext"), b"before");
    let mut young = Wire::connect(site.address(), friend(young)).unwrap();
    assert_eq!(young.get("/v1/health").status, 200);
    drop((open, again, young));
    let home = site.stop();
    let report = home.verify();
    assert_eq!((report.unsigned, report.cut), (0, 0));
    home.open().unwrap().shutdown().unwrap();
}

#[test]
fn a_certificate_of_the_server_that_ends_ends_no_connection_and_begins_none() {
    let home = Home::demo();
    put_certificate(&home, Duration::from_secs(3));
    let site = Site::over(home);
    let tls = |client| {
        let identity = site.home.identity(client);
        site.home.tls(Some(identity), Protocol::Http2)
    };
    let mut open = Wire::connect(site.address(), tls(TRADING)).unwrap();
    let sealed = seal(&mut open, EXCHANGE, b"before", b"");
    eventually("its end", || {
        Wire::connect(site.address(), tls(WEB)).is_err()
    });
    // Who is in has seen it while it was good; to end what works would help nobody.
    for _ in 0..20 {
        let got = open.post(&path(EXCHANGE, "decrypt"), item(&[("ciphertext", &sealed)]));
        assert_eq!(got.binary("plaintext"), b"before");
    }
    let refused = Wire::connect(site.address(), tls(WEB)).err().unwrap();
    assert!(refused.contains("xpired"), "{refused}");
    eventually("health says so", || {
        open.get("/v1/health").json()["certificates"] == "failed"
    });
    assert!(
        site.node().reload().is_err(),
        "the one on disk has ended too"
    );
    put_certificate(&site.home, DAY);
    site.node().reload().unwrap();
    let mut new = Wire::connect(site.address(), tls(WEB)).unwrap();
    eventually("health is well", || new.get("/v1/health").status == 200);
    seal(&mut open, EXCHANGE, b"after", b"");
    drop((open, new));
    site.stop().verify();
}

// === Names ===

#[test]
fn a_name_that_nobody_resolves_is_an_error_of_the_connection_and_costs_no_open_one() {
    let site = Site::start();
    let open = site.client(TRADING);
    let tls = || {
        let identity = site.home.identity(TRADING);
        site.home.tls(Some(identity), Protocol::Http2)
    };
    // RFC 6761, 6.4: no resolver knows it, and one that is away knows nothing.
    for host in ["keywright.invalid", "a.b.c.invalid"] {
        let url = format!("https://{host}:{}", site.address().port());
        let settings = Settings::new(&url, tls()).unwrap();
        let settings = settings.with_timeout(Duration::from_secs(10));
        match blocking::Client::connect(settings).map(drop) {
            Err(Error::Connect(_) | Error::Timeout) => {}
            other => panic!("{other:?}"),
        }
        open.health().unwrap();
    }
    // A known address needs no name, whoever resolves names or does not.
    let named = settings(site.address(), tls());
    blocking::Client::connect(named).unwrap().health().unwrap();
    site.stop();
}

// === Kills ===

#[test]
fn a_kill_amid_many_clients_loses_nothing_that_they_were_answered() {
    let home = Home::demo();
    let served = Served::start(&home.path());
    let from = Clock::system().wall();
    let wires: Vec<_> = (0..8)
        .map(|n| {
            let tls = home.tls(Some(home.identity(TRADING)), BOTH[n % 2]);
            Wire::connect(served.address, tls).unwrap()
        })
        .collect();
    let killed = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = wires
        .into_iter()
        .map(|wire| {
            let killed = Arc::clone(&killed);
            std::thread::spawn(move || until_killed(wire, &killed))
        })
        .collect();
    std::thread::sleep(Duration::from_millis(700));
    killed.store(true, Ordering::SeqCst);
    served.kill();
    let sealed: Vec<_> = clients
        .into_iter()
        .flat_map(|client| client.join().unwrap())
        .collect();
    assert!(sealed.len() > 80, "{} answers", sealed.len());
    let served = Served::start(&home.path());
    let filter = Filter {
        from: Some(from),
        ..Filter::default()
    };
    let records: Vec<_> = show(&home.path().join("audit"), filter)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let logged: std::collections::BTreeSet<&str> = records
        .iter()
        .filter_map(|record| field(record, "message-id").and_then(Value::as_str))
        .collect();
    let tls = home.tls(Some(home.identity(TRADING)), Protocol::Http2);
    let mut wire = Wire::connect(served.address, tls).unwrap();
    // A quick machine answers more than one batch may hold.
    for some in sealed.chunks(1_000) {
        let bodies = some.iter().map(|one| item(&[("ciphertext", one)]));
        let opened = wire.post(&path(EXCHANGE, "decrypt"), batch(bodies)).json();
        assert_eq!(opened["failed"], 0, "{}", opened["error"]);
    }
    for one in &sealed {
        let id = hex::encode(Envelope::parse(one).unwrap().message_id().as_bytes());
        assert!(logged.contains(&id[..]), "answered and not in the log");
    }
    drop(wire);
    served.stop();
    assert_eq!(home.verify().crashes, 1);
}

/// The envelopes of all answers until the service is killed.
fn until_killed(mut wire: Wire, killed: &AtomicBool) -> Vec<Vec<u8>> {
    let mut sealed = Vec::new();
    loop {
        let body = item(&[("plaintext", b"amid many")]);
        match wire.send(http::Method::POST, &path(EXCHANGE, "encrypt"), body) {
            Ok(got) => {
                assert_eq!(got.status, 200, "{}", got.json());
                sealed.push(got.binary("ciphertext"));
            }
            Err(error) => {
                assert!(killed.load(Ordering::SeqCst), "before the kill: {error}");
                return sealed;
            }
        }
    }
}
