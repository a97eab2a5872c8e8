//! Bodies of requests: one buffer, or pieces as they come.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::sync::mpsc;

/// The body of a request.
pub(crate) enum Payload {
    Whole(Option<Bytes>),
    Pieces(Pieces),
}

/// Pieces of a body, to be sent as they come.
pub struct Pieces {
    queue: mpsc::Receiver<Next>,
    ended: bool,
}

/// Where pieces go in. Dropped without [`Feed::finish`], the body is broken off, and no answer to it is whole.
pub struct Feed(mpsc::Sender<Next>);

enum Next {
    Piece(Bytes),
    End,
}

/// Nobody takes pieces any more: the call has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the call has ended")]
#[non_exhaustive]
pub struct Gone;

/// The pieces ended before they were said to be all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the request was broken off")]
pub(crate) struct BrokenOff;

impl Pieces {
    /// Both ends, with room for so many pieces between them.
    #[must_use]
    pub fn with_room(pieces: usize) -> (Feed, Self) {
        let (sender, queue) = mpsc::channel(pieces.max(1));
        let ended = false;
        (Feed(sender), Self { queue, ended })
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        self.queue.poll_recv(cx).map(|next| match next {
            Some(Next::Piece(piece)) => Some(Ok(Frame::data(piece))),
            Some(Next::End) => {
                self.ended = true;
                None
            }
            None => {
                self.ended = true;
                Some(Err(BrokenOff))
            }
        })
    }
}

impl Feed {
    /// Gives a piece in; waits while there is no room.
    ///
    /// # Errors
    /// [`Gone`].
    pub async fn give(&self, piece: impl Into<Bytes>) -> Result<(), Gone> {
        let piece = Next::Piece(piece.into());
        self.0.send(piece).await.map_err(|_| Gone)
    }

    /// The same for a thread outside a runtime.
    ///
    /// # Errors
    /// [`Gone`].
    pub fn give_blocking(&self, piece: impl Into<Bytes>) -> Result<(), Gone> {
        let piece = Next::Piece(piece.into());
        self.0.blocking_send(piece).map_err(|_| Gone)
    }

    /// Says that these were all.
    ///
    /// # Errors
    /// [`Gone`].
    pub async fn finish(self) -> Result<(), Gone> {
        self.0.send(Next::End).await.map_err(|_| Gone)
    }

    /// The same for a thread outside a runtime.
    ///
    /// # Errors
    /// [`Gone`].
    pub fn finish_blocking(self) -> Result<(), Gone> {
        self.0.blocking_send(Next::End).map_err(|_| Gone)
    }
}

impl Payload {
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self::Whole((!bytes.is_empty()).then_some(bytes))
    }
}

impl Body for Payload {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        match &mut *self {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(Frame::data).map(Ok)),
            Self::Pieces(pieces) => pieces.poll(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_none(),
            Self::Pieces(pieces) => pieces.ended,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Pieces(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for Pieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pieces")
    }
}

impl fmt::Debug for Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Feed")
    }
}
