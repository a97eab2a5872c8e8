//! Whom to call, and how long to wait.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::uri::Authority;
use http::{Uri, uri::Scheme};
use keywright_api::Codec;
use rustls::pki_types::ServerName;

use crate::Error;

/// Where the service is, and with which TLS configuration it is called.
#[derive(Clone)]
pub struct Settings {
    pub(crate) authority: Authority,
    pub(crate) server_name: ServerName<'static>,
    pub(crate) address: Option<SocketAddr>,
    pub(crate) tls: Arc<rustls::ClientConfig>,
    pub(crate) timeout: Duration,
    pub(crate) answer_bytes: usize,
    pub(crate) codec: Codec,
}

impl Settings {
    /// A service at `https://host[:port]`, port 443 if none is given. The server's certificate must
    /// be for `host`. Waits 30 seconds for an answer, of at most 64 MiB.
    ///
    /// # Errors
    /// [`Error::Url`] if the scheme is another, or there is a path, a query or user information.
    pub fn new(url: &str, tls: Arc<rustls::ClientConfig>) -> Result<Self, Error> {
        let uri: Uri = url.parse().map_err(|_| Error::Url)?;
        let plain_path = matches!(uri.path(), "" | "/") && uri.query().is_none();
        let authority = uri.authority().cloned().ok_or(Error::Url)?;
        // With neither a port nor anything else, an authority is its host and no more: this also
        // finds user information and ports that are none.
        let port = authority.port_u16().map(|port| format!(":{port}"));
        let plain = format!("{}{}", authority.host(), port.unwrap_or_default());
        if uri.scheme() != Some(&Scheme::HTTPS) || !plain_path || authority.as_str() != plain {
            return Err(Error::Url);
        }
        Ok(Self {
            server_name: name(host(&authority))?,
            authority,
            address: None,
            tls,
            timeout: Duration::from_secs(30),
            answer_bytes: 64 << 20,
            codec: Codec::Json,
        })
    }

    /// Connects to this address instead of asking for the host's.
    #[must_use]
    pub fn with_address(mut self, address: SocketAddr) -> Self {
        self.address = Some(address);
        self
    }

    /// Expects the server's certificate to be for this name instead of the host.
    ///
    /// # Errors
    /// [`Error::Url`] if it is neither a DNS name nor an IP address.
    pub fn with_server_name(mut self, server_name: &str) -> Result<Self, Error> {
        self.server_name = name(server_name)?;
        Ok(self)
    }

    /// How long a call may take, connecting included.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How many bytes an answer may have.
    #[must_use]
    pub fn with_answer_bytes(mut self, bytes: usize) -> Self {
        self.answer_bytes = bytes;
        self
    }

    /// In which form items are sent and answered: JSON if nothing is said. Everything else is JSON.
    #[must_use]
    pub fn with_codec(mut self, codec: Codec) -> Self {
        self.codec = codec;
        self
    }

    pub(crate) fn host(&self) -> &str {
        host(&self.authority)
    }

    pub(crate) fn port(&self) -> u16 {
        self.authority.port_u16().unwrap_or(443)
    }
}

/// An IPv6 address stands in brackets in a URL and nowhere else.
fn host(authority: &Authority) -> &str {
    let host = authority.host();
    host.strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host)
}

fn name(text: &str) -> Result<ServerName<'static>, Error> {
    ServerName::try_from(text.to_owned()).map_err(|_| Error::Url)
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("authority", &self.authority)
            .field("address", &self.address)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
