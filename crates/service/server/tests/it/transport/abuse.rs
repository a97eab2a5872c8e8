//! Clients that break off, send garbage or flood, beside a client that behaves.

use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use keywright_server::transport::Limits;
use keywright_tls::Protocol;
use keywright_types::Code;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::fixture::{PKI, Seen, Server, eventually, run};

#[test]
fn garbage_and_plain_http_on_the_tls_port_are_refused_and_counted() {
    run(async {
        let server = Server::start(1, Limits::default());
        let inputs: [&[u8]; 5] = [
            b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            &[0; 100],
            &[0xFF; 70_000],
            b"\x16\x03\x01\x00\x05hello",
        ];
        for input in inputs {
            let mut tcp = TcpStream::connect(server.addr()).await.unwrap();
            let _ = tcp.write_all(input).await;
            let mut answer = Vec::new();
            let _ = tcp.read_to_end(&mut answer).await;
            // An alert at most: never a word of HTTP.
            assert!(answer.len() <= 7, "{answer:?}");
            assert!(answer.is_empty() || answer[0] == 21, "{answer:?}");
        }
        let silent = TcpStream::connect(server.addr()).await.unwrap();
        drop(silent);
        eventually("six refusals", || {
            server.seen.refusals() == [Code::HandshakeFailed; 6]
        })
        .await;
        server.end().await;
    });
}

#[test]
fn garbage_after_the_handshake_ends_the_connection() {
    run(async {
        let server = Server::start(1, Limits::default());
        for protocol in [Protocol::Http1, Protocol::Http2] {
            let mut stream = server.tls(PKI.client(protocol)).await;
            let _ = stream.write_all(&[0xEE; 5000]).await;
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer).await;
        }
        eventually("no connections", || server.running.connections() == 0).await;
        assert_eq!(Seen::count(&server.seen.started), 0);
        server.end().await;
    });
}

#[test]
fn a_client_that_vanishes_in_the_middle_of_a_body_leaves_nothing_behind() {
    run(async {
        let server = Server::start(1, Limits::default());
        let mut http1 = server.tls(PKI.client(Protocol::Http1)).await;
        http1
            .write_all(b"POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\nabc")
            .await
            .unwrap();
        let stream = server.tls(PKI.client(Protocol::Http2)).await;
        let (mut client, connection) = h2::client::handshake(stream).await.unwrap();
        let http2 = tokio::spawn(connection);
        let request = Request::post("https://localhost/echo").body(()).unwrap();
        let (_answer, mut body) = client.send_request(request, false).unwrap();
        body.send_data(Bytes::from_static(b"abc"), false).unwrap();
        eventually("both requests run", || {
            Seen::count(&server.seen.started) == 2
        })
        .await;
        http1.get_ref().0.set_zero_linger().unwrap();
        drop(http1);
        http2.abort();
        eventually("no connections", || server.running.connections() == 0).await;
        eventually("no requests", || {
            server.seen.at_once.load(Ordering::SeqCst) == 0
        })
        .await;
        server.end().await;
    });
}

/// Bytes of memory this process has resident.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    status.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

/// HPACK: GET / over https to "localhost", from the static table and one literal.
const HEADERS: &[u8] = b"\x82\x87\x84\x01\x09localhost";

/// A stream that is opened and reset in one breath.
fn open_and_reset(stream: u32) -> Vec<u8> {
    let id = stream.to_be_bytes();
    let length = u8::try_from(HEADERS.len()).unwrap();
    let mut bytes = vec![0, 0, length, 1, 5, id[0], id[1], id[2], id[3]];
    bytes.extend_from_slice(HEADERS);
    bytes.extend_from_slice(&[0, 0, 4, 3, 0, id[0], id[1], id[2], id[3], 0, 0, 0, 8]);
    bytes
}

/// Opens and resets streams on one connection, `burst` at a time with a pause between, until the
/// server ends it; says how many.
async fn flood(server: &Server, burst: u32, pause: Duration, until: Instant) -> u32 {
    let mut stream = server.tls(PKI.client(Protocol::Http2)).await;
    stream
        .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0")
        .await
        .unwrap();
    let (mut read, mut write) = tokio::io::split(stream);
    let reading = tokio::spawn(async move {
        let mut sink = [0; 4096];
        while matches!(read.read(&mut sink).await, Ok(1..)) {}
    });
    let mut opened = 0;
    while Instant::now() < until && !reading.is_finished() {
        let bytes: Vec<u8> = (0..burst)
            .flat_map(|i| open_and_reset(2 * (opened + i) + 1))
            .collect();
        if write.write_all(&bytes).await.is_err() || write.flush().await.is_err() {
            break;
        }
        opened += burst;
        tokio::time::sleep(pause).await;
    }
    reading.abort();
    opened
}

#[test]
fn rapid_resets_end_their_connection_and_neither_grow_memory_nor_starve_a_good_client() {
    run(async {
        let server = Server::start(1, Limits::default());
        let mut good = server.client(Protocol::Http2).await;
        good.send("GET", "/empty", "").await.unwrap();
        let (before, until) = (resident(), Instant::now() + Duration::from_secs(4));
        let bursts = async {
            let mut opened = Vec::new();
            while Instant::now() < until {
                opened.push(flood(&server, 500, Duration::ZERO, until).await);
            }
            opened
        };
        // Few enough at a time for the protocol library to let them pass: ours must count them.
        let patient = async {
            let mut opened = Vec::new();
            while Instant::now() < until {
                opened.push(flood(&server, 10, Duration::from_millis(2), until).await);
            }
            opened
        };
        let behaves = async {
            let mut slowest = Duration::ZERO;
            while Instant::now() < until {
                let began = Instant::now();
                let (status, _, _) = good.send("GET", "/empty", "").await.unwrap();
                assert_eq!(status.as_u16(), 204);
                slowest = slowest.max(began.elapsed());
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            slowest
        };
        let (bursts, patient, slowest) = tokio::join!(bursts, patient, behaves);
        assert!(bursts.len() > 1, "the flood was cut: {bursts:?}");
        assert!(patient.len() > 1, "the patient flood was cut: {patient:?}");
        // Uncut it would have opened some 20,000; a busy machine sweeps late, so the bound is wide.
        assert!(patient.iter().all(|opened| *opened < 10_000), "{patient:?}");
        assert!(slowest < Duration::from_secs(5), "{slowest:?}");
        // Other tests of this process run beside it, so the bound leaves them room.
        let grown = resident().saturating_sub(before);
        assert!(grown < 256 << 20, "{grown}");
        eventually("one connection is left", || {
            server.running.connections() == 1
        })
        .await;
        server.end().await;
    });
}

#[test]
fn streams_that_are_cancelled_at_a_human_pace_do_not_end_the_connection() {
    run(async {
        let server = Server::start(1, Limits::default());
        let client = server.client(Protocol::Http2).await;
        for _ in 0..100 {
            let mut another = client.another();
            let hanging = tokio::spawn(async move { another.send("GET", "/hang", "").await });
            tokio::time::sleep(Duration::from_millis(5)).await;
            hanging.abort();
        }
        let mut client = client;
        client.send("GET", "/empty", "").await.unwrap();
        eventually("cancelled requests end", || {
            server.seen.at_once.load(Ordering::SeqCst) == 0
        })
        .await;
        assert!(Seen::count(&server.seen.started) > 50);
        server.end().await;
    });
}
