//! TLS that remembers the alert it was ended with.
//!
//! In TLS 1.3 a server's refusal of a certificate arrives after the client's own handshake is done, as a
//! failure of the first read; the HTTP libraries above keep its text at most.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use super::failure::{Health, alert_in};

/// A TLS stream under observation.
#[derive(Debug)]
pub(super) struct Watched {
    tls: TlsStream<TcpStream>,
    health: Arc<Health>,
}

impl Watched {
    pub(super) const fn new(tls: TlsStream<TcpStream>, health: Arc<Health>) -> Self {
        Self { tls, health }
    }

    fn noted<T>(&self, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if let Poll::Ready(Err(error)) = &result
            && let Some(alert) = alert_in(error)
        {
            self.health.note(alert);
        }
        result
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.tls).poll_read(cx, buffer);
        self.noted(result)
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.tls).poll_write(cx, bytes);
        self.noted(result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.tls).poll_write_vectored(cx, parts);
        self.noted(result)
    }

    fn is_write_vectored(&self) -> bool {
        self.tls.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.tls).poll_flush(cx);
        self.noted(result)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tls).poll_shutdown(cx)
    }
}
