//! What a record says of time: when all of its request was there, and how long it took from its head on.

use std::time::Duration;

use keywright_clock::Clock;
use keywright_tls::Protocol;
use rustls::pki_types::ServerName;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::fixture::*;

/// Long beside what a request takes, and beside the steps of any clock.
const PAUSE: Duration = Duration::from_millis(300);
const DAY: u128 = 86_400 * 1_000_000_000;

/// Nanoseconds since midnight, of `2026-01-31T23:59:59.123456789Z`.
fn of_day(record: &Value) -> u128 {
    let time = record["time"].as_str().unwrap();
    let (_, time) = time.split_once('T').unwrap();
    let (clock, nanos) = time.trim_end_matches('Z').split_once('.').unwrap();
    assert_eq!(nanos.len(), 9, "{time}");
    let seconds = clock
        .split(':')
        .fold(0, |sum, part| sum * 60 + part.parse::<u128>().unwrap());
    seconds * 1_000_000_000 + nanos.parse::<u128>().unwrap()
}

/// From one time of a day to the next that is called so.
fn between(from: u128, to: u128) -> Duration {
    Duration::from_nanos(u64::try_from((to + DAY - from) % DAY).unwrap())
}

/// The record of the last request: each comes over a connection of its own here, and each thread has a file of its own.
fn last(site: &Site) -> Value {
    let connection = |record: &Value| record["connection"].as_u64();
    site.home
        .requests()
        .into_iter()
        .max_by_key(connection)
        .unwrap()
}

fn took(record: &Value) -> Duration {
    Duration::from_nanos(record["duration_ns"].as_u64().unwrap())
}

/// A request whose body is sent a while after its head.
async fn dawdle(site: &Site, tls: std::sync::Arc<rustls::ClientConfig>) {
    let tcp = TcpStream::connect(site.address()).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = TlsConnector::from(tls).connect(name, tcp).await.unwrap();
    let body = item(&[("plaintext", b"x")]);
    let head = format!(
        "POST {} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        path(EXCHANGE, "encrypt"),
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.flush().await.unwrap();
    tokio::time::sleep(PAUSE).await;
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[test]
fn a_record_says_when_its_request_was_there_and_no_more_time_than_it_took() {
    let home = Home::demo();
    let node = home.open().unwrap();
    // A node that is opened long before it serves counts time from no other start than its listener does.
    std::thread::sleep(PAUSE);
    let site = Site::serve(home, &node);
    drop(node);
    let clock = Clock::system();
    for protocol in BOTH {
        let mut wire = site.wire(TRADING, protocol);
        let (before, begun) = (clock.wall(), clock.monotonic());
        let got = wire.post(&path(EXCHANGE, "encrypt"), item(&[("plaintext", b"x")]));
        let (after, most) = (clock.wall(), clock.monotonic().since(begun));
        assert_eq!(got.status, 200);
        let record = last(&site);
        assert!(
            took(&record) > Duration::ZERO && took(&record) <= most,
            "{record}"
        );
        let dated = of_day(&record);
        let length = after.unix_nanos() - before.unix_nanos();
        assert!(
            between(u128::from(before.unix_nanos()) % DAY, dated) <= Duration::from_nanos(length),
            "{record}"
        );
    }
    let before = clock.wall();
    let tls = site
        .home
        .tls(Some(site.home.identity(TRADING)), Protocol::Http1);
    block(dawdle(&site, tls));
    let record = last(&site);
    // The head waits in the socket for the rest of the handshake.
    assert!(took(&record) >= PAUSE / 2, "{record}");
    let dated = between(u128::from(before.unix_nanos()) % DAY, of_day(&record));
    assert!(dated >= PAUSE, "{record}");
    site.stop();
}
