//! Answers: a status, a content type, and one buffer or bytes as they come.

use std::cell::RefCell;
use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};
use http_body::{Frame, SizeHint};

use super::sweep::{Seat, Streamed};
use super::thread::Thread;

/// The body of an answer: one buffer, sent as it is, with its length in the head; or pieces that are
/// made as the client takes them.
#[derive(Debug)]
pub struct Reply(Content);

enum Content {
    Whole(Option<Bytes>),
    Pieces(Box<Pieces>),
}

/// The answer cannot go on: over HTTP/2 its stream is reset, over HTTP/1.1 its connection ends without
/// the last chunk, so that no client takes it for whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the answer was given up")]
#[non_exhaustive]
pub struct Aborted;

impl Aborted {
    /// For whoever makes pieces and cannot go on.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

impl Default for Aborted {
    fn default() -> Self {
        Self::new()
    }
}

/// What makes the pieces, and the piece it has made.
struct Pieces {
    work: Pin<Box<dyn Future<Output = Result<(), Aborted>>>>,
    outlet: Outlet,
    ended: bool,
    /// Keeps the connection alive, and tells it that something moves.
    streamed: Option<Streamed>,
}

/// Where pieces are given out, one at a time: whoever makes them goes on when the client has room for more.
#[derive(Clone, Default)]
pub struct Outlet(Rc<RefCell<Option<Bytes>>>);

impl Outlet {
    /// Gives a piece out, and waits until it is on its way.
    pub async fn give(&self, piece: impl Into<Bytes>) {
        let piece = piece.into();
        if piece.is_empty() {
            return;
        }
        let mut piece = Some(piece);
        std::future::poll_fn(|_| {
            let place = &mut *self.0.borrow_mut();
            match (place.is_some(), piece.take()) {
                // It has not been taken yet. Nobody wakes us: the body is asked again when it is.
                (true, kept) => {
                    piece = kept;
                    Poll::Pending
                }
                (false, Some(next)) => {
                    *place = Some(next);
                    Poll::Pending
                }
                (false, None) => Poll::Ready(()),
            }
        })
        .await;
    }

    fn take(&self) -> Option<Bytes> {
        self.0.borrow_mut().take()
    }
}

impl Reply {
    /// A body of these bytes.
    #[must_use]
    pub fn new(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self(Content::Whole((!bytes.is_empty()).then_some(bytes)))
    }

    /// A body of what `make` gives out. It works only while the client has room for more, and is dropped
    /// where the client goes away.
    #[must_use]
    pub fn pieces<F: Future<Output = Result<(), Aborted>> + 'static>(
        make: impl FnOnce(Outlet) -> F,
    ) -> Self {
        let outlet = Outlet::default();
        Self(Content::Pieces(Box::new(Pieces {
            work: Box::pin(make(outlet.clone())),
            outlet,
            ended: false,
            streamed: None,
        })))
    }

    /// The bytes that are not sent yet, where they are there already.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match &self.0 {
            Content::Whole(bytes) => bytes.as_deref().unwrap_or_default(),
            Content::Pieces(_) => &[],
        }
    }

    /// Lets the answer count on its connection: in pieces for as long as it runs, whole for as long as it is in
    /// memory.
    pub(super) fn held_by(mut self, seat: &Rc<Seat>, thread: &Rc<Thread>) -> Self {
        match &mut self.0 {
            Content::Pieces(pieces) => {
                pieces.streamed = Some(Streamed::new(Rc::clone(seat), Rc::clone(thread)));
            }
            Content::Whole(bytes) => *bytes = bytes.take().map(|bytes| seat.held().keep(bytes)),
        }
        self
    }
}

impl Default for Reply {
    fn default() -> Self {
        Self(Content::Whole(None))
    }
}

impl Pieces {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Aborted>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let worked = self.work.as_mut().poll(cx);
        if let Some(piece) = self.outlet.take() {
            if let Some(streamed) = &self.streamed {
                streamed.moved();
            }
            // What came after the piece is asked for next.
            self.ended = worked.is_ready();
            return match worked {
                Poll::Ready(Err(aborted)) => Poll::Ready(Some(Err(aborted))),
                _ => Poll::Ready(Some(Ok(Frame::data(piece)))),
            };
        }
        worked.map(|ended| {
            self.ended = true;
            ended.err().map(Err)
        })
    }
}

impl http_body::Body for Reply {
    type Data = Bytes;
    type Error = Aborted;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Aborted>>> {
        match &mut self.0 {
            Content::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Content::Pieces(pieces) => pieces.poll(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Content::Whole(bytes) => bytes.is_none(),
            Content::Pieces(pieces) => pieces.ended,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Content::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Content::Pieces(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for Outlet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Outlet")
    }
}

impl fmt::Debug for Content {
    /// Never the bytes: they may be plaintext.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(bytes) => write!(f, "{} bytes", bytes.as_ref().map_or(0, Bytes::len)),
            Self::Pieces(_) => f.write_str("pieces"),
        }
    }
}

/// An answer in JSON.
#[must_use]
pub fn json(status: StatusCode, body: impl Into<Bytes>) -> Response<Reply> {
    reply(status, HeaderValue::from_static("application/json"), body)
}

/// An answer of the given content type.
#[must_use]
pub fn reply(
    status: StatusCode,
    content_type: HeaderValue,
    body: impl Into<Bytes>,
) -> Response<Reply> {
    let mut response = Response::new(Reply::new(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}

/// An answer without a body.
#[must_use]
pub fn empty(status: StatusCode) -> Response<Reply> {
    let mut response = Response::new(Reply::default());
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use http_body::Body as _;

    use super::*;

    /// What the next look at the body brings.
    fn next(reply: &mut Reply) -> Poll<Option<Result<Bytes, Aborted>>> {
        let frame = Pin::new(reply).poll_frame(&mut Context::from_waker(Waker::noop()));
        frame.map(|frame| frame.map(|frame| frame.map(|data| data.into_data().unwrap())))
    }

    fn piece(text: &'static str) -> Poll<Option<Result<Bytes, Aborted>>> {
        Poll::Ready(Some(Ok(Bytes::from_static(text.as_bytes()))))
    }

    #[test]
    fn pieces_come_in_order_and_then_the_end() {
        let mut reply = Reply::pieces(|outlet| async move {
            outlet.give("one").await;
            outlet.give("").await;
            outlet.give("two").await;
            Ok(())
        });
        assert_eq!(next(&mut reply), piece("one"));
        assert_eq!(next(&mut reply), piece("two"));
        assert!(!reply.is_end_stream());
        assert_eq!(next(&mut reply), Poll::Ready(None));
        assert!(reply.is_end_stream());
        assert_eq!(next(&mut reply), Poll::Ready(None));
    }

    #[test]
    fn nothing_is_made_before_it_is_asked_for() {
        let made = Rc::new(RefCell::new(0));
        let count = Rc::clone(&made);
        let mut reply = Reply::pieces(|outlet| async move {
            loop {
                *count.borrow_mut() += 1;
                outlet.give("x").await;
            }
        });
        for expected in 1..10 {
            assert_eq!(next(&mut reply), piece("x"));
            assert_eq!(*made.borrow(), expected);
        }
    }

    #[test]
    fn an_answer_that_is_given_up_ends_with_an_error_and_not_as_usual() {
        let mut reply = Reply::pieces(|outlet| async move {
            outlet.give("one").await;
            Err(Aborted)
        });
        assert_eq!(next(&mut reply), piece("one"));
        assert_eq!(next(&mut reply), Poll::Ready(Some(Err(Aborted))));
        let mut empty = Reply::pieces(|_| async { Err(Aborted) });
        assert_eq!(next(&mut empty), Poll::Ready(Some(Err(Aborted))));
    }

    #[test]
    fn a_body_without_pieces_ends_at_once() {
        let mut reply = Reply::pieces(|_| async { Ok(()) });
        assert_eq!(next(&mut reply), Poll::Ready(None));
    }

    #[test]
    fn the_work_goes_when_the_body_does() {
        let alive = Rc::new(());
        let held = Rc::clone(&alive);
        let mut reply = Reply::pieces(|outlet| async move {
            let _held = held;
            outlet.give("x").await;
            std::future::pending().await
        });
        assert_eq!(next(&mut reply), piece("x"));
        assert_eq!(next(&mut reply), Poll::Pending);
        drop(reply);
        assert_eq!(Rc::strong_count(&alive), 1);
    }
}
