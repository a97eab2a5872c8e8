//! A connection to a collector, and one request over it.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, USER_AGENT};
use http::{Method, Request};
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use keywright_tls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::{Endpoint, Plain};

/// How a collector is reached.
pub(crate) struct Way {
    pub(crate) endpoint: Endpoint,
    pub(crate) plain: Plain,
    pub(crate) tls: Option<Arc<ClientConfig>>,
}

/// An open connection.
pub(crate) type Link = SendRequest<Full<Bytes>>;

/// A batch was not taken.
pub(crate) enum NotTaken {
    /// Nobody answered.
    Broken,
    /// Somebody did not want it.
    Refused,
}

/// What of an answer is read. Nothing in it is used: a connection goes on behind it.
const ANSWER: usize = 64 << 10;
const AGENT: &str = concat!("keywright/", env!("CARGO_PKG_VERSION"));

impl Way {
    pub(crate) async fn connect(&self) -> Result<Link, NotTaken> {
        let found = tokio::net::lookup_host(self.endpoint.address()).await;
        let allowed = |address: &SocketAddr| {
            self.endpoint.secure || self.plain == Plain::Anywhere || address.ip().is_loopback()
        };
        let addresses: Vec<_> = found
            .map_err(|_| NotTaken::Broken)?
            .filter(allowed)
            .collect();
        let tcp = TcpStream::connect(&addresses[..]).await;
        let tcp = tcp.map_err(|_| NotTaken::Broken)?;
        match (self.endpoint.secure, &self.tls) {
            (false, _) => speak(tcp).await,
            (true, None) => Err(NotTaken::Broken),
            (true, Some(config)) => {
                let name = ServerName::try_from(self.endpoint.host.clone());
                let name = name.map_err(|_| NotTaken::Broken)?;
                let tls = TlsConnector::from(Arc::clone(config)).connect(name, tcp);
                speak(tls.await.map_err(|_| NotTaken::Broken)?).await
            }
        }
    }

    /// Hands a batch over.
    pub(crate) async fn post(&self, link: &mut Link, body: Bytes) -> Result<(), NotTaken> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(&self.endpoint.path)
            .header(HOST, &self.endpoint.authority)
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, AGENT)
            .body(Full::new(body))
            .map_err(|_| NotTaken::Broken)?;
        link.ready().await.map_err(|_| NotTaken::Broken)?;
        let answer = link
            .send_request(request)
            .await
            .map_err(|_| NotTaken::Broken)?;
        let (head, body) = answer.into_parts();
        let read = Limited::new(body, ANSWER).collect().await;
        match head.status.is_success() && read.is_ok() {
            true => Ok(()),
            false => Err(NotTaken::Refused),
        }
    }
}

async fn speak(io: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Result<Link, NotTaken> {
    let spoken = http1::handshake(TokioIo::new(io)).await;
    let (link, connection) = spoken.map_err(|_| NotTaken::Broken)?;
    // What goes wrong with it, whoever asks next is told.
    tokio::spawn(async move { drop(connection.await) });
    Ok(link)
}
