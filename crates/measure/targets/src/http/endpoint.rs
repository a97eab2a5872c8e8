//! Whom requests go to, and requests that are made once and sent many times.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST};
use http::{HeaderName, HeaderValue, Method, Request, Uri};
use keywright_measure::TargetError;
use keywright_tls::{ClientConfig, Protocol};
use rustls::pki_types::ServerName;

/// A server, and the identities under which it is called.
#[derive(Clone, Debug)]
pub struct Endpoint {
    name: String,
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) address: Option<SocketAddr>,
    authority: String,
    pub(super) server_name: ServerName<'static>,
    pub(super) identities: Vec<Arc<ClientConfig>>,
    pub(super) protocol: Protocol,
    pub(super) hello: Option<String>,
}

impl Endpoint {
    /// A server at `https://host[:port]`, known to people as `name`, called under each of `identities` in
    /// turn, connection by connection. Their configurations must offer `protocol`.
    ///
    /// # Errors
    /// [`TargetError::Unreachable`] for what is no such URL.
    pub fn new(
        name: &str,
        url: &str,
        identities: Vec<Arc<ClientConfig>>,
        protocol: Protocol,
    ) -> Result<Self, TargetError> {
        let wrong = || TargetError::Unreachable {
            target: name.to_owned(),
            reason: "the address must be https://host or https://host:port".to_owned(),
        };
        let uri: Uri = url.parse().map_err(|_| wrong())?;
        let authority = uri.authority().ok_or_else(wrong)?;
        let plain = matches!(uri.path(), "" | "/") && uri.query().is_none();
        if uri.scheme_str() != Some("https") || !plain || authority.as_str().contains('@') {
            return Err(wrong());
        }
        let host = authority.host();
        let bare = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        let host = bare.unwrap_or(host).to_owned();
        Ok(Self {
            name: name.to_owned(),
            port: authority.port_u16().unwrap_or(443),
            address: None,
            authority: authority.as_str().to_owned(),
            server_name: ServerName::try_from(host.clone()).map_err(|_| wrong())?,
            host,
            identities,
            protocol,
            hello: None,
        })
    }

    /// Connects to this address instead of asking for the host's.
    #[must_use]
    pub const fn with_address(mut self, address: SocketAddr) -> Self {
        self.address = Some(address);
        self
    }

    /// Over HTTP/1.1 a connection is only good if a GET of this path is answered, whatever the answer.
    /// Without it a server that refuses the certificate is found out by the first request. HTTP/2 asks
    /// with a PING.
    #[must_use]
    pub fn with_hello(mut self, path: &str) -> Self {
        self.hello = Some(path.to_owned());
        self
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many identities there are.
    #[must_use]
    pub fn groups(&self) -> u32 {
        u32::try_from(self.identities.len().max(1)).unwrap_or(u32::MAX)
    }

    /// A request to this server. A body makes it JSON.
    ///
    /// # Errors
    /// [`TargetError::Load`] for a path that is none.
    pub fn prepare(
        &self,
        method: Method,
        path: &str,
        body: impl Into<Bytes>,
    ) -> Result<Prepared, TargetError> {
        let body = body.into();
        let mut head = Request::builder().method(method);
        head = match self.protocol {
            Protocol::Http2 => head.uri(format!("https://{}{path}", self.authority)),
            _ => head.uri(path).header(HOST, self.authority.as_str()),
        };
        if !body.is_empty() {
            head = head.header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let head = head
            .body(())
            .map_err(|_| TargetError::Load("a request's path is not one of HTTP"))?;
        Ok(Prepared { head, body })
    }
}

/// A request that is ready to be sent. Cloning it copies its few headers and shares the rest.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(super) head: Request<()>,
    pub(super) body: Bytes,
}

impl Prepared {
    /// The same head with another body.
    #[must_use]
    pub fn with_body(&self, body: impl Into<Bytes>) -> Self {
        Self {
            head: self.head.clone(),
            body: body.into(),
        }
    }

    /// With a header in addition. A value that is secret must be marked so; it is then kept out of
    /// `Debug` and out of the compression of headers.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.head.headers_mut().insert(name, value);
        self
    }

    /// Its body.
    #[must_use]
    pub const fn body(&self) -> &Bytes {
        &self.body
    }
}
