//! Full handshakes per second on one thread, both ends in one process:
//! `cargo run --release -p keywright-tls --example handshake`.
//!
//! A sanity figure, not a benchmark: it shows at once when a backend makes handshakes many times
//! dearer, as one version of it has done (design, section 3).
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a measuring program"
)]

use std::sync::Arc;
use std::time::Duration;

use keywright_clock::Clock;
use keywright_tls::issue::{Authority, ClientSubject};
use keywright_tls::{
    ClientConfig, ClientIdentity, ClientTrust, Protocol, ServerConfig, ServerIdentity,
    client_config, server_config,
};
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, ServerConnection};

const COUNT: u32 = 500;
const DAY: Duration = Duration::from_secs(86_400);

fn main() {
    let clock = Clock::system();
    let (client, server, trust, chain) = configurations(&clock).expect("configurations");
    handshakes(&client, &server, 20);
    let start = clock.monotonic();
    handshakes(&client, &server, COUNT);
    report("handshakes", clock.monotonic().since(start));
    let start = clock.monotonic();
    for _ in 0..COUNT {
        trust.verify(&chain, clock.wall()).expect("a good client");
    }
    report("verifications", clock.monotonic().since(start));
}

fn report(what: &str, took: Duration) {
    let each = took / COUNT;
    let rate = f64::from(COUNT) / took.as_secs_f64();
    println!("{what:<14} {rate:>8.0}/s   {:>6} us each", each.as_micros());
}

type Configurations = (
    Arc<ClientConfig>,
    Arc<ServerConfig>,
    Arc<ClientTrust>,
    Vec<rustls::pki_types::CertificateDer<'static>>,
);

fn configurations(clock: &Clock) -> Result<Configurations, keywright_tls::Error> {
    let now = clock.wall();
    let authority = Authority::create("Example CA", now, DAY)?;
    let root = authority.certificate_pem().as_bytes();
    let list = authority.revocation_list(&[], 1, now, now.plus(DAY))?;
    let trust = Arc::new(ClientTrust::new(root, list.as_bytes(), clock.clone())?);
    let server = authority.issue_server(&["localhost"], &[], now, DAY)?;
    let subject = ClientSubject {
        common_name: "trading-1",
        organizational_unit: Some("Trading"),
        principal: None,
    };
    let client = authority.issue_client(&subject, now, DAY)?;
    let protocols = [Protocol::Http2];
    let server = server_config(
        ServerIdentity::from_pem(server.certificate_pem.as_bytes(), server.key_pem.expose())?,
        Arc::clone(&trust),
        &protocols,
    )?;
    let chain = keywright_tls::certificates(client.certificate_pem.as_bytes())?;
    let identity =
        ClientIdentity::from_pem(client.certificate_pem.as_bytes(), client.key_pem.expose())?;
    let client = client_config(root, Some(identity), &protocols, clock)?;
    Ok((client, server, trust, chain))
}

fn handshakes(client: &Arc<ClientConfig>, server: &Arc<ServerConfig>, count: u32) {
    let name = ServerName::try_from("localhost").expect("a name");
    for _ in 0..count {
        let mut client =
            ClientConnection::new(Arc::clone(client), name.clone()).expect("a client end");
        let mut server = ServerConnection::new(Arc::clone(server)).expect("a server end");
        while client.is_handshaking() || server.is_handshaking() {
            let mut wire = Vec::new();
            while client.wants_write() {
                client.write_tls(&mut wire).expect("a buffer grows");
            }
            let mut wire = wire.as_slice();
            while !wire.is_empty() {
                server.read_tls(&mut wire).expect("a buffer reads");
                server.process_new_packets().expect("a good client");
            }
            let mut wire = Vec::new();
            while server.wants_write() {
                server.write_tls(&mut wire).expect("a buffer grows");
            }
            let mut wire = wire.as_slice();
            while !wire.is_empty() {
                client.read_tls(&mut wire).expect("a buffer reads");
                client.process_new_packets().expect("a good server");
            }
        }
    }
}
