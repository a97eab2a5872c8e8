//! Who has shown no certificate has a place for a moment and nothing else.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use keywright_tls::Protocol;
use rustls::pki_types::ServerName;

use super::beside::Attacked;
use crate::fixture::*;

const STRANGERS: usize = 400;

/// A whole ClientHello.
pub(super) fn hello(attacked: &Attacked) -> Vec<u8> {
    let tls = attacked.home.tls(None, Protocol::Http2);
    let name = ServerName::try_from("localhost").unwrap();
    let mut hello = Vec::new();
    let mut connection = rustls::ClientConnection::new(tls, name).unwrap();
    connection.write_tls(&mut hello).unwrap();
    hello
}

/// How far a stranger goes before it falls silent.
fn words(attacked: &Attacked, number: usize) -> Vec<u8> {
    let hello = hello(attacked);
    match number % 4 {
        0 => Vec::new(),
        1 => hello[..hello.len() / 2].to_vec(),
        // Answered with a whole flight, to which nothing comes back.
        2 => hello,
        // A record that says it is long, and the beginning of it.
        _ => [&[22, 3, 1, 0x40, 0][..], &[1, 0, 0x3f, 0xfc], &[3; 5000]].concat(),
    }
}

#[test]
fn handshakes_that_never_end_are_ended_and_keep_nobody_out() {
    let attacked = Attacked::start(Home::demo());
    // A first connection, so that what every server needs once is there before memory is looked at.
    assert_eq!(
        attacked
            .wire(TRADING, Protocol::Http2)
            .get("/v1/health")
            .status,
        200
    );
    attacked.bears("strangers", STRANGERS as u64 * (128 << 10), || {
        let mut strangers: Vec<_> = (0..STRANGERS)
            .map(|number| {
                let mut tcp = TcpStream::connect(attacked.served.address).unwrap();
                // Garbage may be refused before all of it is said.
                drop(tcp.write_all(&words(&attacked, number)));
                tcp
            })
            .collect();
        // New clients come in among them.
        for protocol in BOTH {
            assert_eq!(
                attacked.wire(TRADING, protocol).get("/v1/health").status,
                200
            );
        }
        // Five seconds are promised; a busy machine is late.
        let patience = Some(Duration::from_secs(30));
        for tcp in &mut strangers {
            tcp.set_read_timeout(patience).unwrap();
            let mut told = Vec::new();
            // A reset is an end as well; what must not be is waiting.
            if let Err(error) = tcp.read_to_end(&mut told) {
                assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "it may stay");
            }
            assert!(!told.starts_with(b"HTTP"), "{told:?}");
        }
    });
    let home = attacked.stop();
    let refused: u64 = home
        .records()
        .iter()
        .filter(|one| one["type"] == "refused")
        .map(|one| one["items"].as_u64().unwrap())
        .sum();
    assert!(refused >= STRANGERS as u64, "{refused}");
    let nobodys = home.requests();
    let nobodys = nobodys
        .iter()
        .filter(|one| one["principal"] == "0".repeat(32));
    assert_eq!(nobodys.count(), 0);
}
