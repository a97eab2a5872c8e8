//! The byte stream under a connection: TLS, watched as it is read, and closed so that the other end
//! can still read what it was sent.

use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;
use tokio_rustls::server::TlsStream;

use super::sweep::Seat;
use super::thread::Thread;

/// TLS over TCP, with an eye on what arrives.
pub(super) struct Stream {
    tls: TlsStream<TcpStream>,
    seat: Rc<Seat>,
    thread: Rc<Thread>,
    linger: Option<Linger>,
}

/// The end of a connection. Closing a socket with unread bytes makes the system send a reset, which
/// may destroy the last answer before the client has read it. So after our own end has been sent,
/// what still comes is thrown away, for a while and up to a number of bytes.
pub(super) struct Linger {
    patience: Pin<Box<Sleep>>,
    budget: usize,
}

const PATIENCE: Duration = Duration::from_millis(500);
const BUDGET: usize = 1 << 20;
const SIP: usize = 4096;

impl Stream {
    pub(super) fn new(tls: TlsStream<TcpStream>, seat: Rc<Seat>, thread: Rc<Thread>) -> Self {
        Self {
            tls,
            seat,
            thread,
            linger: None,
        }
    }
}

impl Linger {
    pub(super) fn new() -> Self {
        Self {
            patience: Box::pin(tokio::time::sleep(PATIENCE)),
            budget: BUDGET,
        }
    }

    /// Ready when the other end has closed too, or patience or budget are used up.
    pub(super) fn poll(
        &mut self,
        mut io: Pin<&mut (impl AsyncRead + ?Sized)>,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        let mut space = [0; SIP];
        while self.budget > 0 {
            let mut buffer = ReadBuf::new(&mut space);
            match io.as_mut().poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    self.budget = self.budget.saturating_sub(buffer.filled().len());
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => return self.patience.as_mut().poll(cx),
            }
        }
        Poll::Ready(())
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.tls).poll_read(cx, buffer))?;
        let arrived = buffer.filled().get(before..).unwrap_or_default();
        if self.seat.arrived(arrived, &self.thread.limits) {
            return Poll::Ready(Ok(()));
        }
        Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let sent = ready!(Pin::new(&mut self.tls).poll_write(cx, bytes))?;
        self.seat.sent(sent);
        Poll::Ready(Ok(sent))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let sent = ready!(Pin::new(&mut self.tls).poll_write_vectored(cx, parts))?;
        self.seat.sent(sent);
        Poll::Ready(Ok(sent))
    }

    fn is_write_vectored(&self) -> bool {
        self.tls.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tls).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { tls, linger, .. } = &mut *self;
        if linger.is_none() {
            ready!(Pin::new(&mut *tls).poll_shutdown(cx))?;
        }
        linger
            .get_or_insert_with(Linger::new)
            .poll(Pin::new(tls), cx)
            .map(Ok)
    }
}
