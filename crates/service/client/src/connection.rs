//! One connection: TCP, TLS, and HTTP by what ALPN agreed on.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::{Request, Response};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use keywright_tls::Protocol;
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio_rustls::TlsConnector;

use crate::error::{TlsFailure, find};
use crate::payload::Payload;
use crate::watched::{Alert, Watched};
use crate::{Answer, Error, Settings};

/// A connection, or for HTTP/2 a handle on one.
pub(crate) enum Connection {
    Http1(http1::SendRequest<Payload>, Arc<Link>),
    Http2(http2::SendRequest<Payload>, Arc<Link>),
}

/// What lives as long as the connection.
pub(crate) struct Link {
    alert: Alert,
    driver: AbortHandle,
}

/// Why a request brought no answer.
pub(crate) enum Failure {
    /// Certainly not begun by the server: it may be sent again.
    NotBegun(Error),
    Other(Error),
}

impl Failure {
    pub(crate) fn into_error(self) -> Error {
        match self {
            Self::NotBegun(error) | Self::Other(error) => error,
        }
    }
}

/// Space for the answers of batches, so that a round trip is not needed every 64 KiB.
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;

impl Connection {
    pub(crate) async fn open(settings: &Settings) -> Result<Self, Error> {
        let tcp = match settings.address {
            Some(address) => TcpStream::connect(address).await,
            None => TcpStream::connect((settings.host(), settings.port())).await,
        }
        .map_err(Error::Connect)?;
        // Without it a small request may wait for the acknowledgement of the one before; a socket
        // that refuses the option only gets slower.
        let _ = tcp.set_nodelay(true);
        let tls = TlsConnector::from(Arc::clone(&settings.tls))
            .connect(settings.server_name.clone(), tcp)
            .await
            .map_err(Error::connecting)?;
        let protocol = Protocol::negotiated(tls.get_ref().1.alpn_protocol());
        let alert = Alert::default();
        let io = TokioIo::new(Watched::new(tls, alert.clone()));
        match protocol {
            Some(Protocol::Http2) => Self::http2(io, alert).await,
            _ => Self::http1(io, alert).await,
        }
    }

    async fn http1(io: TokioIo<Watched>, alert: Alert) -> Result<Self, Error> {
        let (sender, connection) = http1::handshake(io).await.map_err(Error::exchanging)?;
        let driver = tokio::spawn(connection).abort_handle();
        Ok(Self::Http1(sender, Arc::new(Link { alert, driver })))
    }

    async fn http2(io: TokioIo<Watched>, alert: Alert) -> Result<Self, Error> {
        let (sender, connection) = http2::Builder::new(TokioExecutor::new())
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .handshake(io)
            .await
            .map_err(Error::exchanging)?;
        let driver = tokio::spawn(connection).abort_handle();
        Ok(Self::Http2(sender, Arc::new(Link { alert, driver })))
    }

    /// Another handle, where one connection serves many calls at once.
    pub(crate) fn share(&self) -> Option<Self> {
        match self {
            Self::Http1(..) => None,
            Self::Http2(sender, link) => Some(Self::Http2(sender.clone(), Arc::clone(link))),
        }
    }

    pub(crate) fn protocol(&self) -> Protocol {
        match self {
            Self::Http1(..) => Protocol::Http1,
            Self::Http2(..) => Protocol::Http2,
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        match self {
            Self::Http1(sender, _) => sender.is_closed(),
            Self::Http2(sender, _) => sender.is_closed(),
        }
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(self.link(), other.link())
    }

    fn link(&self) -> &Arc<Link> {
        match self {
            Self::Http1(_, link) | Self::Http2(_, link) => link,
        }
    }

    /// Sends a request and reads its answer, of at most `limit` bytes.
    pub(crate) async fn exchange(
        &mut self,
        request: Request<Payload>,
        limit: usize,
    ) -> Result<Answer, Failure> {
        let response = self.send(request).await?;
        let read = read(response, limit).await;
        read.map_err(|failure| match failure {
            Unread::Broken(error) => Failure::Other(self.explain(error)),
            Unread::TooLarge => Failure::Other(Error::Answer),
        })
    }

    /// Sends a request; the head of its answer, and its body to be read.
    pub(crate) async fn send(
        &mut self,
        request: Request<Payload>,
    ) -> Result<Response<Incoming>, Failure> {
        let response = match self {
            Self::Http1(sender, _) => match sender.ready().await {
                Ok(()) => sender.try_send_request(request).await,
                Err(error) => return Err(Failure::NotBegun(self.explain(error))),
            },
            Self::Http2(sender, _) => sender.try_send_request(request).await,
        };
        match response {
            Ok(response) => Ok(response),
            Err(mut unsent) => {
                let begun = unsent.take_message().is_none();
                let error = unsent.into_error();
                let refused = refused_unread(&error);
                let error = self.explain(error);
                match begun && !refused {
                    true => Err(Failure::Other(error)),
                    false => Err(Failure::NotBegun(error)),
                }
            }
        }
    }

    /// An alert says more than what came of it.
    fn explain(&self, error: hyper::Error) -> Error {
        match self.link().alert.get() {
            Some(alert) => TlsFailure::Alert(alert).into(),
            None => Error::exchanging(error),
        }
    }
}

pub(crate) enum Unread {
    Broken(hyper::Error),
    TooLarge,
}

/// Whether the server says that it has not looked at the stream: RFC 9113, sections 6.8 and 8.7.
fn refused_unread(error: &hyper::Error) -> bool {
    find::<h2::Error>(error).is_some_and(|error| match error.reason() {
        Some(h2::Reason::REFUSED_STREAM) => error.is_remote(),
        Some(h2::Reason::NO_ERROR) => error.is_go_away() && error.is_remote(),
        _ => false,
    })
}

pub(crate) async fn read(response: Response<Incoming>, limit: usize) -> Result<Answer, Unread> {
    let (head, mut body) = response.into_parts();
    let (mut first, mut rest) = (Bytes::new(), BytesMut::new());
    while let Some(frame) = body.frame().await {
        let Ok(piece) = frame.map_err(Unread::Broken)?.into_data() else {
            continue;
        };
        let length = first.len().max(rest.len());
        if piece.len() > limit.saturating_sub(length) {
            return Err(Unread::TooLarge);
        }
        if length == 0 {
            first = piece;
            continue;
        }
        if rest.is_empty() {
            rest.extend_from_slice(&first);
        }
        rest.extend_from_slice(&piece);
    }
    let body = match rest.is_empty() {
        true => first,
        false => rest.freeze(),
    };
    Ok(Answer::new(head.status, body))
}

impl Drop for Link {
    fn drop(&mut self) {
        self.driver.abort();
    }
}
