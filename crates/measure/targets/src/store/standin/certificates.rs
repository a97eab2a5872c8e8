//! The stand-in's certificates: made when it starts, gone when it stops.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use keywright_clock::Clock;
use keywright_secret::SecretBytes;
use keywright_tls::issue::{Authority, ClientSubject};
use keywright_tls::{
    ClientIdentity, ClientTrust, Error, Protocol, ServerConfig, ServerIdentity, server_config,
};

/// One authority for both sides.
pub(super) struct Certificates {
    roots_pem: String,
    server: Arc<ServerConfig>,
    client: ClientIdentity,
    client_pem: String,
    client_key_pem: SecretBytes,
}

const DAY: Duration = Duration::from_secs(86_400);

impl Certificates {
    pub(super) fn make(clock: &Clock) -> Result<Self, Error> {
        let now = clock.wall();
        let authority = Authority::create("Keywright stand-in CA", now, DAY)?;
        let roots_pem = authority.certificate_pem().to_owned();
        let revoked = authority.revocation_list(&[], 1, now, now.plus(DAY))?;
        let trust = ClientTrust::new(roots_pem.as_bytes(), revoked.as_bytes(), clock.clone())?;
        let loopback = [IpAddr::V4(Ipv4Addr::LOCALHOST)];
        let server = authority.issue_server(&["localhost"], &loopback, now, DAY)?;
        let subject = ClientSubject {
            common_name: "keywright-bench",
            organizational_unit: None,
            principal: None,
        };
        let client = authority.issue_client(&subject, now, DAY)?;
        let identity =
            ServerIdentity::from_pem(server.certificate_pem.as_bytes(), server.key_pem.expose())?;
        let protocols = [Protocol::Http2, Protocol::Http1];
        Ok(Self {
            server: server_config(identity, Arc::new(trust), &protocols)?,
            client: ClientIdentity::from_pem(
                client.certificate_pem.as_bytes(),
                client.key_pem.expose(),
            )?,
            client_pem: client.certificate_pem,
            client_key_pem: client.key_pem,
            roots_pem,
        })
    }

    pub(super) const fn roots_pem(&self) -> &[u8] {
        self.roots_pem.as_bytes()
    }

    pub(super) const fn client_pem(&self) -> &[u8] {
        self.client_pem.as_bytes()
    }

    pub(super) fn client_key_pem(&self) -> &[u8] {
        self.client_key_pem.expose()
    }

    pub(super) fn server(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.server)
    }

    pub(super) fn client(&self) -> ClientIdentity {
        self.client.clone()
    }
}
