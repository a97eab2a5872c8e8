//! Whom to call, and as whom.

use std::fmt;
use std::sync::Arc;

use http::HeaderValue;
use keywright_clock::Clock;
use keywright_measure::TargetError;
use keywright_secret::SecretBytes;
use keywright_tls::{ClientIdentity, Protocol, client_config};

use crate::http::Endpoint;

/// A store and how it is called.
///
/// The token is handed in by the caller, who has it from a file or from the environment. It goes into a
/// header that is marked as secret and nowhere else; the copies in requests are not wiped.
#[derive(Clone)]
pub struct Settings {
    pub(super) name: String,
    pub(super) url: String,
    pub(super) mounts: Mounts,
    pub(super) protocol: Protocol,
    pub(super) connections: u32,
    pub(super) streams: u32,
    pub(super) process: Option<u32>,
    pub(super) clock: Clock,
    pub(super) origin: Origin,
    token: Arc<SecretBytes>,
    roots_pem: Vec<u8>,
    identity: Option<ClientIdentity>,
}

/// Where the engines of a store are mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "three paths of the same kind")]
pub struct Mounts {
    /// The key/value engine, version 2.
    pub kv: String,
    /// The key/value engine, version 1.
    pub kv1: String,
    /// The transit engine.
    pub transit: String,
}

impl Default for Mounts {
    /// `secret`, `kv` and `transit`: what the products' own commands take if they are not told otherwise.
    fn default() -> Self {
        Self {
            kv: "secret".to_owned(),
            kv1: "kv".to_owned(),
            transit: "transit".to_owned(),
        }
    }
}

/// Where the settings came from. Nobody outside can take the label off again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// An address that was given.
    Address,
    /// A server in development mode that was started for the measurement.
    Development,
    /// A stand-in.
    StandIn,
}

impl fmt::Debug for Settings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Settings")
            .field("name", &self.name)
            .field("url", &self.url)
            .field("mounts", &self.mounts)
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

impl Settings {
    /// A store that people know as `name`, at `https://host[:port]`, whose certificate is signed by one of
    /// `roots_pem`. One connection with one request at a time, over HTTP/2, at the usual mounts.
    #[must_use]
    pub fn new(name: &str, url: &str, token: SecretBytes, roots_pem: &[u8]) -> Self {
        Self {
            name: name.to_owned(),
            url: url.to_owned(),
            mounts: Mounts::default(),
            protocol: Protocol::Http2,
            connections: 1,
            streams: 1,
            process: None,
            clock: Clock::system(),
            origin: Origin::Address,
            token: Arc::new(token),
            roots_pem: roots_pem.to_vec(),
            identity: None,
        }
    }

    /// Another token.
    #[must_use]
    pub fn with_token(mut self, token: SecretBytes) -> Self {
        self.token = Arc::new(token);
        self
    }

    /// Other mounts.
    #[must_use]
    pub fn with_mounts(mut self, mounts: Mounts) -> Self {
        self.mounts = mounts;
        self
    }

    /// A certificate for listeners that ask for one.
    #[must_use]
    pub fn with_identity(mut self, identity: ClientIdentity) -> Self {
        self.identity = Some(identity);
        self
    }

    /// Over this protocol.
    #[must_use]
    pub const fn with_protocol(mut self, protocol: Protocol) -> Self {
        self.protocol = protocol;
        self
    }

    /// Over so many connections with so many requests at a time each. HTTP/1.1 takes one.
    #[must_use]
    pub const fn with_connections(mut self, connections: u32, streams: u32) -> Self {
        self.connections = connections;
        self.streams = streams;
        self
    }

    /// The store's process, where it is local and alone in it: its processor time stands beside rates.
    #[must_use]
    pub const fn with_process(mut self, id: u32) -> Self {
        self.process = Some(id);
        self
    }

    /// Another clock, for the dates of certificates and the time of decoding.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    pub(super) const fn from(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    pub(super) const fn shows_certificate(&self) -> bool {
        self.identity.is_some()
    }

    /// The name people know it by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its address.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Most requests in flight at once.
    #[must_use]
    pub fn places(&self) -> u32 {
        let streams = match self.protocol {
            Protocol::Http2 => self.streams.max(1),
            _ => 1,
        };
        self.connections.max(1).saturating_mul(streams)
    }

    pub(super) fn endpoint(&self) -> Result<Endpoint, TargetError> {
        let identity = self.identity.clone();
        let config = client_config(&self.roots_pem, identity, &[self.protocol], &self.clock);
        let config = config.map_err(|error| self.refused(&error.to_string()))?;
        let endpoint = Endpoint::new(&self.name, &self.url, vec![config], self.protocol)?;
        Ok(endpoint.with_hello("/v1/sys/health"))
    }

    /// The token as the value of a header. White space around it, such as the end of a file's line, is no
    /// part of it.
    pub(super) fn token(&self) -> Result<HeaderValue, TargetError> {
        let token = self.token.expose().trim_ascii();
        if token.is_empty() {
            return Err(self.refused("no token was given"));
        }
        let mut value = HeaderValue::from_bytes(token)
            .map_err(|_| self.refused("the token has characters that a header cannot carry"))?;
        value.set_sensitive(true);
        Ok(value)
    }

    pub(super) fn refused(&self, reason: &str) -> TargetError {
        TargetError::Authentication {
            target: self.name.clone(),
            reason: reason.to_owned(),
        }
    }

    pub(super) fn unreachable(&self, reason: &str) -> TargetError {
        TargetError::Unreachable {
            target: self.name.clone(),
            reason: reason.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(token: &[u8]) -> Settings {
        let token = SecretBytes::from_vec(token.to_vec());
        Settings::new("vault", "https://127.0.0.1:1", token, b"")
    }

    #[test]
    fn a_token_is_in_no_text_about_it() {
        let settings = settings(b"canary-7361\n");
        let header = settings.token().unwrap();
        assert_eq!(header.as_bytes(), b"canary-7361");
        for text in [format!("{settings:?}"), format!("{header:?}")] {
            assert!(!text.contains("canary"), "{text}");
        }
    }

    #[test]
    fn a_token_that_is_none_is_refused_without_being_shown() {
        for token in [b"".as_slice(), b" \n", b"cana\nry", b"canary\0"] {
            let error = settings(token).token().unwrap_err();
            assert!(matches!(error, TargetError::Authentication { .. }));
            assert!(!error.to_string().contains("cana"), "{error}");
        }
    }
}
