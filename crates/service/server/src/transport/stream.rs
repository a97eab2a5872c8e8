//! The byte stream under a connection: TLS, watched as it is read, sent a turn at a time, and closed so that the other
//! end can still read what it was sent.

use std::cell::RefCell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;
use tokio_rustls::server::TlsStream;

use super::records;
use super::sweep::Seat;
use super::thread::Thread;

/// TLS over TCP, with an eye on what arrives. What is written waits for [`Outgoing`].
pub(super) struct Stream {
    shared: Rc<RefCell<Shared>>,
    seat: Rc<Seat>,
    thread: Rc<Thread>,
    linger: Option<Linger>,
}

/// Sends what was written to a stream. The protocol library flushes after each frame, which would be a call of the
/// system for each; whoever drives the connection sends at the end of its turn instead.
pub(super) struct Outgoing(Rc<RefCell<Shared>>);

struct Shared {
    tls: TlsStream<TcpStream>,
    /// Bytes that were written since everything was sent.
    waiting: usize,
}

/// So many bytes may wait before they are sent all the same.
const MOST_WAITING: usize = 64 << 10;
/// What TLS may hold of them, with room for one more frame of the usual size and what TLS adds: a record that the
/// limit cuts would be followed by another for the rest.
const TLS_HOLDS: usize = MOST_WAITING + (32 << 10);

impl Shared {
    /// Ready when nothing waits any more.
    fn send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.tls.get_ref().1.wants_write() {
            ready!(Pin::new(&mut self.tls).poll_flush(cx))?;
        }
        self.waiting = 0;
        Poll::Ready(Ok(()))
    }

    fn write(&mut self, cx: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        if parts.iter().all(|part| part.is_empty()) {
            return Poll::Ready(Ok(0));
        }
        loop {
            if self.waiting >= MOST_WAITING {
                ready!(self.send(cx))?;
            }
            let taken = records::write(&mut self.tls.get_mut().1.writer(), parts)?;
            if taken > 0 {
                self.waiting += taken;
                return Poll::Ready(Ok(taken));
            }
            // Full before we thought so: of a key update, for one.
            self.waiting = MOST_WAITING;
        }
    }
}

impl Outgoing {
    /// Ready when everything that was written is sent.
    pub(super) fn poll(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.borrow_mut().send(cx)
    }
}

impl Stream {
    /// The stream, and what sends for it.
    pub(super) fn new(
        mut tls: TlsStream<TcpStream>,
        seat: Rc<Seat>,
        thread: Rc<Thread>,
    ) -> (Self, Outgoing) {
        tls.get_mut().1.set_buffer_limit(Some(TLS_HOLDS));
        let shared = Rc::new(RefCell::new(Shared { tls, waiting: 0 }));
        let stream = Self {
            shared: Rc::clone(&shared),
            seat,
            thread,
            linger: None,
        };
        (stream, Outgoing(shared))
    }
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
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.shared.borrow_mut().tls).poll_read(cx, buffer))?;
        let arrived = buffer.filled().get(before..).unwrap_or_default();
        if self.seat.arrived(arrived, &self.thread.limits) {
            return Poll::Ready(Ok(()));
        }
        Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let taken = ready!(self.shared.borrow_mut().write(cx, parts))?;
        self.seat.sent(taken);
        Poll::Ready(Ok(taken))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// Whoever drives the connection does it, see [`Outgoing`].
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Sends what waits, too.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { shared, linger, .. } = &mut *self;
        let tls = &mut shared.borrow_mut().tls;
        if linger.is_none() {
            ready!(Pin::new(&mut *tls).poll_shutdown(cx))?;
        }
        linger
            .get_or_insert_with(Linger::new)
            .poll(Pin::new(tls), cx)
            .map(Ok)
    }
}
