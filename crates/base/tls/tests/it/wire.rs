//! Two TLS ends and the buffers between them; no sockets.

use std::sync::Arc;
use std::time::Duration;

use keywright_clock::{Clock, Hand, WallTime};
use keywright_network::ca::TestAuthority;
use keywright_tls::issue::Issued;
use keywright_tls::{Refusal, certificates, refusal_of};
use keywright_types::{Code, Credential};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, ServerConfig, ServerConnection};

/// 2027-01-15, far from every edge.
pub(crate) const NOW: WallTime = WallTime::from_unix_seconds(1_800_000_000);

/// A clock that stands at [`NOW`].
pub(crate) fn clock() -> (Clock, Hand) {
    Clock::simulated(NOW)
}

pub(crate) fn hours(count: u64) -> Duration {
    Duration::from_secs(3600 * count)
}

/// Both ends after as many flights as they wanted.
pub(crate) struct Outcome {
    pub(crate) server: Result<ServerConnection, rustls::Error>,
    pub(crate) client: Result<ClientConnection, rustls::Error>,
}

impl Outcome {
    /// Both ends finished.
    pub(crate) fn established(self) -> (ServerConnection, ClientConnection) {
        let (server, client) = (self.server.unwrap(), self.client.unwrap());
        assert!(!server.is_handshaking() && !client.is_handshaking());
        (server, client)
    }

    /// What the server counts.
    pub(crate) fn server_code(&self) -> Option<Code> {
        self.server.as_ref().err().map(|error| refusal_of(error))
    }

    /// What the client counts.
    pub(crate) fn client_code(&self) -> Option<Code> {
        self.client.as_ref().err().map(|error| refusal_of(error))
    }
}

pub(crate) fn connect(client: &Arc<ClientConfig>, server: &Arc<ServerConfig>) -> Outcome {
    connect_to("localhost", client, server)
}

pub(crate) fn connect_to(
    name: &'static str,
    client: &Arc<ClientConfig>,
    server: &Arc<ServerConfig>,
) -> Outcome {
    let name = ServerName::try_from(name).unwrap();
    let mut client = ClientConnection::new(Arc::clone(client), name).unwrap();
    let mut server = ServerConnection::new(Arc::clone(server)).unwrap();
    let (mut client_error, mut server_error) = (None, None);
    // A TLS 1.3 handshake has three flights; the alerts of both ends fit into ten.
    for _ in 0..10 {
        let mut wire = Vec::new();
        while client.wants_write() {
            client.write_tls(&mut wire).unwrap();
        }
        server_error = server_error.or(feed_server(&mut server, &wire));
        let mut wire = Vec::new();
        while server.wants_write() {
            server.write_tls(&mut wire).unwrap();
        }
        client_error = client_error.or(feed_client(&mut client, &wire));
    }
    Outcome {
        server: server_error.map_or(Ok(server), Err),
        client: client_error.map_or(Ok(client), Err),
    }
}

fn feed_server(server: &mut ServerConnection, mut wire: &[u8]) -> Option<rustls::Error> {
    while !wire.is_empty() {
        if server.read_tls(&mut wire).is_err() {
            return None;
        }
        if let Err(error) = server.process_new_packets() {
            return Some(error);
        }
    }
    None
}

fn feed_client(client: &mut ClientConnection, mut wire: &[u8]) -> Option<rustls::Error> {
    while !wire.is_empty() {
        if client.read_tls(&mut wire).is_err() {
            return None;
        }
        if let Err(error) = client.process_new_packets() {
            return Some(error);
        }
    }
    None
}

pub(crate) fn chain(issued: &Issued) -> Vec<CertificateDer<'static>> {
    certificates(issued.certificate_pem.as_bytes()).unwrap()
}

/// What the authority's own trust says about a certificate at [`NOW`].
pub(crate) fn judge(authority: &TestAuthority, issued: &Issued) -> Result<Credential, Refusal> {
    authority.trust(&clock().0).verify(&chain(issued), NOW)
}
