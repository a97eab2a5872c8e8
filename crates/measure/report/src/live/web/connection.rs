//! A connection that does not wait for ever, and the places that connections take.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A stream that ends with an error when for some time nothing could be read from it or written to it.
///
/// A client that stops reading leaves a write pending; one that says nothing leaves a read pending.
#[derive(Debug)]
pub(super) struct Impatient<S> {
    inner: S,
    limit: Duration,
    alarm: Pin<Box<Sleep>>,
}

impl<S> Impatient<S> {
    pub(super) fn new(inner: S, limit: Duration) -> Self {
        Self {
            inner,
            limit,
            alarm: Box::pin(sleep(limit)),
        }
    }

    /// Begins to wait anew after progress; ends the stream if there was none for too long.
    fn judge<T>(
        &mut self,
        cx: &mut Context<'_>,
        polled: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        match polled {
            Poll::Ready(outcome) => {
                self.alarm.as_mut().set(sleep(self.limit));
                Poll::Ready(outcome)
            }
            Poll::Pending => match self.alarm.as_mut().poll(cx) {
                Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
                Poll::Pending => Poll::Pending,
            },
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Impatient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.inner).poll_read(cx, buf);
        self.judge(cx, polled)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Impatient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.inner).poll_write(cx, buf);
        self.judge(cx, polled)
    }

    // Flushing has no progress of its own: what it waits for are writes.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.inner).poll_flush(cx) {
            Poll::Pending => self.judge(cx, Poll::Pending),
            ready => ready,
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.inner).poll_shutdown(cx) {
            Poll::Pending => self.judge(cx, Poll::Pending),
            ready => ready,
        }
    }
}

/// A limited number of places.
#[derive(Clone, Debug)]
pub(super) struct Places {
    taken: Arc<AtomicUsize>,
    limit: usize,
}

/// One of them, given back when dropped.
#[derive(Debug)]
pub(super) struct Place(Arc<AtomicUsize>);

impl Places {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            taken: Arc::default(),
            limit,
        }
    }

    pub(super) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed).min(self.limit)
    }

    pub(super) fn take(&self) -> Option<Place> {
        if self.taken.fetch_add(1, Ordering::Relaxed) < self.limit {
            return Some(Place(Arc::clone(&self.taken)));
        }
        self.taken.fetch_sub(1, Ordering::Relaxed);
        None
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_limited_and_given_back() {
        let places = Places::new(2);
        let first = places.take().unwrap();
        let second = places.take().unwrap();
        assert!(places.take().is_none());
        drop(first);
        assert!(places.take().is_some());
        drop(second);
        assert_eq!(places.taken(), 0);
    }
}
