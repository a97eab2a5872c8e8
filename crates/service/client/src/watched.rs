//! TLS that remembers the alert it was ended with.
//!
//! In TLS 1.3 a server's refusal of a certificate arrives after the client's own handshake is done, as a
//! failure of the first read; the HTTP libraries above keep its text at most. Whoever drives such a library
//! over a [`Watched`] stream asks its [`Alert`] afterwards. The load generator does, besides this client.

use std::error::Error as StdError;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use rustls::AlertDescription;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use crate::error::find;

/// The alert with which a server ended a connection, if it did. Cloning shares it.
#[derive(Clone, Debug, Default)]
pub struct Alert(Arc<OnceLock<AlertDescription>>);

impl Alert {
    /// The alert that an error carries, itself or among its sources.
    #[must_use]
    pub fn received(error: &(dyn StdError + 'static)) -> Option<AlertDescription> {
        match find(error) {
            Some(rustls::Error::AlertReceived(alert)) => Some(*alert),
            _ => None,
        }
    }

    /// The first alert that was noted.
    #[must_use]
    pub fn get(&self) -> Option<AlertDescription> {
        self.0.get().copied()
    }

    /// Notes an alert; of several the first one stays, because the others follow from it.
    pub fn note(&self, alert: AlertDescription) {
        let _ = self.0.set(alert);
    }
}

/// A TLS stream under observation.
#[derive(Debug)]
pub struct Watched {
    tls: TlsStream<TcpStream>,
    alert: Alert,
}

impl Watched {
    /// Notes into `alert` what ends this stream.
    #[must_use]
    pub const fn new(tls: TlsStream<TcpStream>, alert: Alert) -> Self {
        Self { tls, alert }
    }

    fn noted<T>(&self, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if let Poll::Ready(Err(error)) = &result
            && let Some(alert) = Alert::received(error)
        {
            self.alert.note(alert);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alert_is_found_among_the_sources_of_an_error_and_nothing_else_is_taken_for_one() {
        let alert = rustls::Error::AlertReceived(AlertDescription::CertificateRevoked);
        let wrapped = io::Error::new(io::ErrorKind::InvalidData, alert);
        let twice = io::Error::other(wrapped);
        assert_eq!(
            Alert::received(&twice),
            Some(AlertDescription::CertificateRevoked)
        );
        for other in [
            io::Error::from(io::ErrorKind::ConnectionReset),
            io::Error::new(io::ErrorKind::InvalidData, rustls::Error::DecryptError),
        ] {
            assert_eq!(Alert::received(&other), None);
        }
    }

    #[test]
    fn the_first_alert_stays_and_all_who_share_it_see_it() {
        let alert = Alert::default();
        let shared = alert.clone();
        assert_eq!(shared.get(), None);
        alert.note(AlertDescription::CertificateExpired);
        alert.note(AlertDescription::CloseNotify);
        assert_eq!(shared.get(), Some(AlertDescription::CertificateExpired));
    }
}
