//! Connections by the thousand that come to nothing, from one address: clients from another get in as if nothing
//! were, and those from the same one as well.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use keywright_clock::Clock;
use keywright_tls::Protocol;
use keywright_types::Plane;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;

use super::beside::Attacked;
use super::strangers::hello;
use crate::fixture::*;

const FLOODER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
const OTHER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);
const PER_SECOND: u32 = 8_000;
const SECONDS: u32 = 3;
/// Connections that are held at once, where a process may have as many files open.
const HELD: usize = 6_000;
const CLIENTS: usize = 15;

fn held_at_once() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
    let files = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"));
    let soft = files.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
    HELD.min(soft.unwrap_or(1024) / 3)
}

/// Opens connections from one address at a rate, says the beginning of something on each, and holds it; how many were
/// opened.
fn flood(target: SocketAddr, beginning: &[u8], stop: &AtomicBool) -> u32 {
    let clock = Clock::system();
    let started = clock.monotonic();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (mut held, most) = (VecDeque::new(), held_at_once());
    let mut opened = 0;
    runtime.block_on(async {
        while opened < PER_SECOND * SECONDS && !stop.load(Ordering::Relaxed) {
            let due = clock.monotonic().since(started).as_secs_f64() * f64::from(PER_SECOND);
            while f64::from(opened) < due && opened < PER_SECOND * SECONDS {
                opened += 1;
                let Ok(socket) = TcpSocket::new_v4() else {
                    held.pop_front();
                    continue;
                };
                socket.bind((FLOODER, 0).into()).unwrap();
                let beginning = beginning.to_vec();
                held.push_back(tokio::spawn(async move {
                    if let Ok(mut tcp) = socket.connect(target).await {
                        drop(tcp.write_all(&beginning).await);
                        // Until the other end has had enough.
                        while matches!(tcp.read(&mut [0; 4096]).await, Ok(1..)) {}
                        std::future::pending::<()>().await;
                    }
                }));
                if held.len() > most {
                    held.pop_front().inspect(tokio::task::JoinHandle::abort);
                }
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    });
    opened
}

/// One new client, in one try.
fn gets_in(target: SocketAddr, home: &Home, from: Ipv4Addr) -> Result<(), String> {
    let tls = home.tls(Some(home.identity(TRADING)), Protocol::Http2);
    let mut wire = Wire::connect_from(from, target, tls)?;
    let got = wire.send(http::Method::GET, "/v1/health", "")?;
    (got.status == 200)
        .then_some(())
        .ok_or(format!("{}", got.status))
}

/// Those of 15 clients from one address that get in, one after the other, and what the others were told.
fn newcomers(tries: usize, one: impl Fn() -> Result<(), String>) -> (usize, Vec<String>) {
    let client = |_| (1..tries).fold(one(), |tried, _| tried.or_else(|_| one()));
    let failed: Vec<_> = (0..CLIENTS).map(client).filter_map(Result::err).collect();
    (CLIENTS - failed.len(), failed)
}

/// Floods a listener, and demands that clients get in meanwhile: all that come from elsewhere, and so many of those that
/// come from the flooder's address.
fn bears(target: SocketAddr, home: &Home, (beginning, least): (&[u8], usize)) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let flooder = scope.spawn(|| flood(target, beginning, &stop));
        // The flood has reached every limit before they come.
        std::thread::sleep(Duration::from_millis(500));
        let (others, failed) = newcomers(1, || gets_in(target, home, OTHER));
        // Who shares the flooder's address may have to come again.
        let (own, own_failed) = newcomers(3, || gets_in(target, home, FLOODER));
        stop.store(true, Ordering::Relaxed);
        let opened = flooder.join().unwrap();
        println!("{opened} opened; {others} others and {own} of the same address got in");
        assert_eq!(others, CLIENTS, "{failed:?}");
        assert!(own >= least, "{own_failed:?}");
    });
}

fn dropped(page: &str, reason: &str) -> u64 {
    let series = format!("keywright_connections_dropped_total{{reason=\"{reason}\"}} ");
    let line = page.lines().find_map(|line| line.strip_prefix(&series));
    line.unwrap().parse().unwrap()
}

fn metrics(attacked: &Attacked) -> String {
    let got = attacked.wire(TRADING, Protocol::Http1).get("/metrics");
    assert_eq!(got.status, 200);
    String::from_utf8(got.body.to_vec()).unwrap()
}

#[test]
fn flood_from_one_address_keeps_no_client_out() {
    let attacked = Attacked::start(Home::demo());
    let page = metrics(&attacked);
    for reason in [
        "connections",
        "handshake_timeout",
        "unauthenticated_connections",
    ] {
        assert_eq!(dropped(&page, reason), 0);
    }
    assert_eq!(dropped(&page, "unauthenticated_per_source"), 0);
    let _alone = super::beside::alone();
    let hello = hello(&attacked);
    for flood in [
        (&[][..], CLIENTS - 1),
        (&hello[..hello.len() / 2], CLIENTS - 1),
        // Each costs a signature, and gets as far as a client on its way.
        (&hello[..], CLIENTS / 2),
    ] {
        bears(attacked.served.address, &attacked.home, flood);
    }
    let page = metrics(&attacked);
    let shares = dropped(&page, "unauthenticated_per_source");
    assert!(shares >= u64::from(PER_SECOND), "{shares}");
    assert_eq!(dropped(&page, "unauthenticated_connections"), 0);
    let home = attacked.stop();
    // Counted by network and second, and not listed.
    let records = home.records();
    let of_flood = |record: &&serde_json::Value| record["outcome"] == "overloaded";
    let refused = records.iter().filter(of_flood).count();
    assert!((1..200).contains(&refused), "{refused}");
}

#[test]
fn flood_of_the_admin_listener_keeps_no_administrator_out() {
    let home = Home::demo();
    let text = std::fs::read_to_string(home.config()).unwrap();
    let section = "\n[admin]\nlisten = \"127.0.0.1:0\"\n";
    std::fs::write(home.config(), text + section).unwrap();
    let site = Site::over(home);
    site.change_policy(|document| {
        let administrator = name(TRADING);
        document
            .grants
            .retain(|grant| !grant.principals.contains(&administrator));
        let mut principals = document.principals.iter_mut();
        let entry = principals.find(|entry| entry.name == administrator);
        entry.unwrap().plane = Plane::Admin;
    });
    let _alone = super::beside::alone();
    bears(
        site.serving().admin_addr().unwrap(),
        &site.home,
        (&[], CLIENTS - 1),
    );
    // The other listener has places of its own.
    let got = site.wire(WEB, Protocol::Http2).get("/v1/health");
    assert_eq!(got.status, 200);
    site.stop();
}

#[test]
fn connections_with_half_a_preface_end_and_keep_nobody_out() {
    let home = Home::demo().configure("header_timeout_s = 5", "header_timeout_s = 1");
    let attacked = Attacked::start(home);
    let tls = attacked
        .home
        .tls(Some(attacked.home.identity(TRADING)), Protocol::Http2);
    let address = attacked.served.address;
    block(async {
        let mut held = Vec::new();
        for count in 0..300 {
            let tcp = tokio::net::TcpStream::connect(address).await.unwrap();
            let name = "localhost".try_into().unwrap();
            let connector = tokio_rustls::TlsConnector::from(std::sync::Arc::clone(&tls));
            let mut stream = connector.connect(name, tcp).await.unwrap();
            let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
            stream
                .write_all(&preface[..count % preface.len()])
                .await
                .unwrap();
            stream.flush().await.unwrap();
            held.push(stream);
        }
        for stream in &mut held {
            let mut told = Vec::new();
            let ended = stream.read_to_end(&mut told);
            let ended = tokio::time::timeout(Duration::from_secs(30), ended).await;
            assert!(ended.is_ok(), "it may stay");
        }
    });
    assert_eq!(
        attacked
            .wire(TRADING, Protocol::Http2)
            .get("/v1/health")
            .status,
        200
    );
    attacked.stop();
}
