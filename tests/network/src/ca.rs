//! A throw-away certificate authority, with the clients a server must let in and those it must not.
//!
//! A thin layer over `keywright_tls::issue`. Nothing touches the disk. All times hang on the `now`
//! that is given, so a simulated clock fits as well as the real one. The functions panic when
//! issuing fails: in a test that is the answer.
#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "fixtures: a failure here fails the test that asked for it"
)]

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use keywright_clock::{Clock, WallTime};
use keywright_tls::issue::hostile::{Attribute, Purpose, Recipe, Text};
use keywright_tls::issue::{Authority, ClientSubject, Issued, Reason, Revoked};
use keywright_tls::{
    ClientConfig, ClientIdentity, ClientTrust, Error, Protocol, ServerConfig, ServerIdentity,
    client_config, server_config,
};
use keywright_types::PrincipalId;

/// One day.
pub const DAY: Duration = Duration::from_secs(86_400);

/// Validity of the authority. Leaves live for 30 days, its revocation list for seven.
pub const AUTHORITY_LIFE: Duration = Duration::from_secs(3650 * 86_400);
/// Validity of leaves.
pub const LEAF_LIFE: Duration = Duration::from_secs(30 * 86_400);
/// Validity of the revocation list.
pub const LIST_LIFE: Duration = Duration::from_secs(7 * 86_400);

/// An authority for one test.
#[derive(Debug)]
pub struct TestAuthority {
    authority: Authority,
    now: WallTime,
    revoked: Issued,
}

impl TestAuthority {
    /// An authority named `Test CA`.
    #[must_use]
    pub fn new(now: WallTime) -> Self {
        Self::named("Test CA", now)
    }

    /// An authority with a name of its own. Two of one name have different keys.
    #[must_use]
    pub fn named(name: &str, now: WallTime) -> Self {
        Self::over(
            Authority::create(name, now, AUTHORITY_LIFE).expect("an authority"),
            now,
        )
    }

    /// Takes an authority that a test has made itself.
    #[must_use]
    pub fn over(authority: Authority, now: WallTime) -> Self {
        let subject = ClientSubject {
            common_name: "revoked-1",
            organizational_unit: Some("Trading"),
            principal: None,
        };
        let revoked = authority
            .issue_client(&subject, now, LEAF_LIFE)
            .expect("a client certificate");
        Self {
            authority,
            now,
            revoked,
        }
    }

    /// The authority itself.
    #[must_use]
    pub const fn authority(&self) -> &Authority {
        &self.authority
    }

    /// Its certificate, for both sides.
    #[must_use]
    pub fn certificate_pem(&self) -> &str {
        self.authority.certificate_pem()
    }

    /// Its revocation list with [`TestAuthority::revoked`] on it.
    #[must_use]
    pub fn crl_pem(&self) -> String {
        self.crl_with(&[], 1)
    }

    /// Its revocation list with further serial numbers on it.
    #[must_use]
    pub fn crl_with(&self, serials: &[&[u8]], number: u64) -> String {
        let revoked: Vec<Revoked> = std::iter::once(self.revoked.serial.as_slice())
            .chain(serials.iter().copied())
            .map(|serial| Revoked {
                serial: serial.to_vec(),
                at: self.now,
                reason: Reason::KeyCompromise,
            })
            .collect();
        self.authority
            .revocation_list(&revoked, number, self.now, self.now.plus(LIST_LIFE))
            .expect("a revocation list")
    }

    /// Trust in this authority alone.
    #[must_use]
    pub fn trust(&self, clock: &Clock) -> Arc<ClientTrust> {
        let list = self.crl_pem();
        let trust = ClientTrust::new(
            self.certificate_pem().as_bytes(),
            list.as_bytes(),
            clock.clone(),
        );
        Arc::new(trust.expect("a trust"))
    }

    /// A server's certificate for `localhost`, 127.0.0.1 and `::1`.
    #[must_use]
    pub fn server(&self) -> Issued {
        let loopback = [
            IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(Ipv6Addr::LOCALHOST),
        ];
        self.authority
            .issue_server(&["localhost"], &loopback, self.now, LEAF_LIFE)
            .expect("a server certificate")
    }

    /// A faultless client.
    #[must_use]
    pub fn client(&self, name: &str, unit: &str, principal: Option<PrincipalId>) -> Issued {
        let subject = ClientSubject {
            common_name: name,
            organizational_unit: Some(unit),
            principal,
        };
        self.authority
            .issue_client(&subject, self.now, LEAF_LIFE)
            .expect("a client certificate")
    }

    /// `trading-1` of the unit `Trading`.
    #[must_use]
    pub fn trading(&self) -> Issued {
        self.client("trading-1", "Trading", None)
    }

    /// `web-2fa-1` of the unit `2FA`.
    #[must_use]
    pub fn web_2fa(&self) -> Issued {
        self.client("web-2fa-1", "2FA", None)
    }

    /// A client on the revocation list.
    #[must_use]
    pub const fn revoked(&self) -> &Issued {
        &self.revoked
    }

    /// A client whose certificate ended one second ago.
    #[must_use]
    pub fn expired(&self) -> Issued {
        let now = self.now.unix_seconds();
        self.hostile(&Recipe {
            not_before: WallTime::from_unix_seconds(now - 3600),
            not_after: WallTime::from_unix_seconds(now - 1),
            ..self.recipe("expired-1")
        })
    }

    /// A client whose certificate begins in an hour.
    #[must_use]
    pub fn not_yet_valid(&self) -> Issued {
        self.hostile(&Recipe {
            not_before: self.now.plus(Duration::from_secs(3600)),
            ..self.recipe("early-1")
        })
    }

    /// A client whose certificate does not say what it is for.
    #[must_use]
    pub fn without_purpose(&self) -> Issued {
        self.hostile(&Recipe {
            purpose: Purpose::Unstated,
            ..self.recipe("any-1")
        })
    }

    /// A server's certificate in the hands of a client.
    #[must_use]
    pub fn server_as_client(&self) -> Issued {
        self.hostile(&Recipe {
            purpose: Purpose::Server,
            ..self.recipe("server-1")
        })
    }

    /// A client with two common names, the first of which is that of [`TestAuthority::trading`].
    #[must_use]
    pub fn two_common_names(&self) -> Issued {
        self.hostile(&Recipe {
            subject: vec![
                (Attribute::CommonName, Text::Utf8("trading-1")),
                (Attribute::CommonName, Text::Utf8("other-1")),
            ],
            ..self.recipe("")
        })
    }

    /// A client with a control character in its common name.
    #[must_use]
    pub fn control_character(&self) -> Issued {
        self.hostile(&self.recipe("trading-1\nadmin"))
    }

    /// A client with a NUL in its common name.
    #[must_use]
    pub fn nul(&self) -> Issued {
        self.hostile(&self.recipe("trading-1\0.evil"))
    }

    /// A faultless recipe, to be spoilt.
    #[must_use]
    pub fn recipe<'a>(&self, name: &'a str) -> Recipe<'a> {
        Recipe::client(name, self.now, LEAF_LIFE)
    }

    /// Signs a spoilt recipe.
    #[must_use]
    pub fn hostile(&self, recipe: &Recipe<'_>) -> Issued {
        self.authority
            .issue_hostile(recipe)
            .expect("a hostile certificate")
    }

    /// The configuration of a server with a certificate of this authority that trusts its clients.
    #[must_use]
    pub fn server_config(&self, clock: &Clock) -> Arc<ServerConfig> {
        server_config(
            server_identity(&self.server()).expect("a server identity"),
            self.trust(clock),
            &[Protocol::Http2, Protocol::Http1],
        )
        .expect("a server configuration")
    }

    /// The configuration of a client that trusts servers of this authority.
    #[must_use]
    pub fn client_config(&self, client: Option<&Issued>, clock: &Clock) -> Arc<ClientConfig> {
        let identity = client.map(|issued| client_identity(issued).expect("a client identity"));
        client_config(
            self.certificate_pem().as_bytes(),
            identity,
            &[Protocol::Http2, Protocol::Http1],
            clock,
        )
        .expect("a client configuration")
    }
}

/// What was issued, as a server uses it.
///
/// # Errors
/// As [`ServerIdentity::from_pem`].
pub fn server_identity(issued: &Issued) -> Result<ServerIdentity, Error> {
    ServerIdentity::from_pem(issued.certificate_pem.as_bytes(), issued.key_pem.expose())
}

/// What was issued, as a client uses it.
///
/// # Errors
/// As [`ClientIdentity::from_pem`].
pub fn client_identity(issued: &Issued) -> Result<ClientIdentity, Error> {
    ClientIdentity::from_pem(issued.certificate_pem.as_bytes(), issued.key_pem.expose())
}
