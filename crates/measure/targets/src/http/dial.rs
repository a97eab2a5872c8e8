//! One connection: TCP, TLS, HTTP, and a sign of life from the server.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use http_body_util::Full;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use keywright_client::watched::Watched;
use keywright_measure::{Fault, FaultPhase};
use keywright_tls::Protocol;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::Endpoint;
use super::failure::{Health, connecting};
use super::flight::plain;

/// A connection that is up. Dropping it lets what is under way end.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) sender: Sender,
    pub(super) health: Arc<Health>,
}

/// The end of a connection that requests are put into.
#[derive(Debug)]
pub(super) enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(h2::client::SendRequest<Bytes>),
}

/// Room for the answers of batches, so that none waits for a window to open.
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 64 << 20;

/// How long connecting may take, the sign of life included.
const PATIENCE: Duration = Duration::from_secs(10);

/// Connects after a pause. A server that refuses our certificate says so only after our own handshake is
/// done, so a connection counts as made when the server has answered something.
pub(super) async fn dial(
    endpoint: Rc<Endpoint>,
    group: u32,
    pause: Duration,
) -> Result<Link, Fault> {
    if !pause.is_zero() {
        tokio::time::sleep(pause).await;
    }
    tokio::time::timeout(PATIENCE, connect(&endpoint, group))
        .await
        .unwrap_or_else(|_| Err(Fault::new(FaultPhase::Dial, "no_answer")))
}

async fn connect(endpoint: &Endpoint, group: u32) -> Result<Link, Fault> {
    let tcp = match endpoint.address {
        Some(address) => TcpStream::connect(address).await,
        None => TcpStream::connect((endpoint.host.as_str(), endpoint.port)).await,
    };
    let tcp = tcp.map_err(|error| connecting(&error))?;
    // A socket that refuses the option only gets slower.
    let _ = tcp.set_nodelay(true);
    let identity = endpoint.identities.get(group as usize);
    let identity = identity.ok_or_else(|| Fault::new(FaultPhase::Tls, "no_identity"))?;
    let tls = TlsConnector::from(Arc::clone(identity))
        .connect(endpoint.server_name.clone(), tcp)
        .await
        .map_err(|error| connecting(&error))?;
    if Protocol::negotiated(tls.get_ref().1.alpn_protocol()) != Some(endpoint.protocol) {
        return Err(Fault::new(FaultPhase::Tls, "no_application_protocol"));
    }
    let health = Arc::new(Health::default());
    let stream = Watched::new(tls, health.alert());
    let link = match endpoint.protocol {
        Protocol::Http2 => http2(stream, health).await,
        _ => http1(stream, health, endpoint).await,
    };
    link.map_err(|fault| match fault.phase() {
        // What a refusal looks like whose alert was lost: the server closed on bytes that it had not read.
        FaultPhase::Stream => Fault::new(FaultPhase::Tls, "closed_after_handshake"),
        _ => fault,
    })
}

async fn http2(stream: Watched, health: Arc<Health>) -> Result<Link, Fault> {
    let (sender, mut connection) = h2::client::Builder::new()
        .initial_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .enable_push(false)
        .handshake::<_, Bytes>(stream)
        .await
        .map_err(|error| health.h2(&error))?;
    let ping = connection.ping_pong();
    let driven = Arc::clone(&health);
    tokio::spawn(async move {
        // Every stream is told of the failure as well.
        let _ = connection.await;
        driven.end();
    });
    if let Some(mut ping) = ping {
        let pong = ping.ping(h2::Ping::opaque()).await;
        pong.map_err(|error| health.h2(&error))?;
    }
    let sender = Sender::Http2(sender);
    Ok(Link { sender, health })
}

async fn http1(stream: Watched, health: Arc<Health>, endpoint: &Endpoint) -> Result<Link, Fault> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| health.http1(&error))?;
    let driven = Arc::clone(&health);
    tokio::spawn(async move {
        let _ = connection.await;
        driven.end();
    });
    if let Some(path) = &endpoint.hello
        && let Ok(request) = endpoint.prepare(Method::GET, path, Bytes::new())
    {
        plain(&mut sender, request, &health).await?;
    }
    let sender = Sender::Http1(sender);
    Ok(Link { sender, health })
}

impl Link {
    /// Whether it takes no more requests.
    pub(super) fn is_over(&self) -> bool {
        self.health.is_over()
            || match &self.sender {
                Sender::Http1(sender) => sender.is_closed(),
                Sender::Http2(_) => false,
            }
    }

    /// How many requests the server takes at a time.
    pub(super) fn allowed(&self) -> usize {
        match &self.sender {
            Sender::Http1(_) => 1,
            // Its settings came before the answer to the ping.
            Sender::Http2(sender) => sender.current_max_send_streams(),
        }
    }

    /// A handle for one stream's use, where a connection has several.
    pub(super) fn share(&self) -> Option<h2::client::SendRequest<Bytes>> {
        match &self.sender {
            Sender::Http1(_) => None,
            Sender::Http2(sender) => Some(sender.clone()),
        }
    }
}
