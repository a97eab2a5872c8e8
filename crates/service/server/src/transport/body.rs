//! Bodies of requests: read up to a limit, within a time, by what arrives.

use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;
use keywright_clock::MonotonicTime;
use keywright_types::Code;

use super::alarm::Alarm;
use super::held::{Held, NoRoom, is_counted};
use super::sweep::Seat;
use super::thread::Thread;

/// The body of a request, arriving or (in tests of handlers) already there.
pub struct Body {
    source: Source,
    /// Where it comes from; a body that is there needs neither deadlines nor room.
    from: Option<Origin>,
    queued: Duration,
    begun: Option<MonotonicTime>,
    /// Whether it was not there when it was asked for.
    waited_for: bool,
}

/// Keeps the deadlines, and counts what has come.
struct Origin {
    thread: Rc<Thread>,
    seat: Rc<Seat>,
}

enum Source {
    Arriving(Incoming),
    Whole(Option<Bytes>),
}

/// Why a body could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// The client went away or broke the protocol in the middle; nobody will read an answer.
    #[error("the body ended before its end")]
    Broken,
    /// The connection, or the server, has no room for it beside what else it holds.
    #[error("there is no room for the body")]
    NoRoom,
    /// More bytes than the limit.
    #[error("the body is larger than the limit")]
    TooLarge,
    /// The body did not arrive in time.
    #[error("the body did not arrive in time")]
    TooSlow,
}

impl BodyError {
    /// The code to answer with.
    #[must_use]
    pub const fn code(self) -> Code {
        match self {
            Self::Broken => Code::RequestMalformed,
            Self::NoRoom => Code::Overloaded,
            Self::TooLarge => Code::BodyTooLarge,
            Self::TooSlow => Code::RequestTimeout,
        }
    }
}

impl Body {
    /// A body that is wholly there, for handlers called without a socket.
    #[must_use]
    pub fn whole(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self {
            source: Source::Whole((!bytes.is_empty()).then_some(bytes)),
            from: None,
            queued: Duration::ZERO,
            begun: None,
            waited_for: false,
        }
    }

    /// Of a request whose head was read in a turn that goes on since `read_at`, and which was begun at `begun`.
    pub(super) fn arriving(
        incoming: Incoming,
        (thread, seat): (Rc<Thread>, Rc<Seat>),
        (read_at, begun): (MonotonicTime, MonotonicTime),
    ) -> Self {
        Self {
            source: Source::Arriving(incoming),
            from: Some(Origin { thread, seat }),
            queued: begun.since(read_at),
            begun: Some(begun),
            waited_for: false,
        }
    }

    /// The body for somebody who needs it beyond the answer's head; what is left here is empty.
    #[must_use]
    pub fn take(&mut self) -> Self {
        Self {
            source: std::mem::replace(&mut self.source, Source::Whole(None)),
            from: self.from.take(),
            ..*self
        }
    }

    /// A body that comes over a connection, if nobody has asked for its end.
    pub(super) fn into_rest(self) -> Option<Incoming> {
        match self.source {
            Source::Arriving(incoming) => Some(incoming),
            Source::Whole(_) => None,
        }
    }

    /// The next piece of the body, or `None` at its end; it must be there within `timeout`. What is not asked
    /// for is not taken from the client, beyond what flow control has let it send.
    ///
    /// # Errors
    /// [`BodyError::TooSlow`] or [`BodyError::Broken`].
    pub async fn next(&mut self, timeout: Duration) -> Result<Option<Bytes>, BodyError> {
        let Self {
            source,
            from,
            waited_for,
            ..
        } = self;
        let mut alarm = from.as_ref().map(|from| from.thread.alarms.after(timeout));
        while !source.is_end_stream() {
            let Some(frame) = next_frame((source, waited_for), alarm.as_mut()).await? else {
                break;
            };
            // Trailers say nothing that any route listens to.
            match frame.into_data() {
                Ok(piece) if !piece.is_empty() => return Ok(Some(piece)),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Where work on the request finds out whether there is room for what it makes.
    #[must_use]
    pub fn room(&self) -> Room {
        Room(self.from.as_ref().map(|from| Rc::clone(&from.seat)))
    }

    /// How long the request stood in its thread's queue: from the beginning of the turn in which its head was read to
    /// the handler's first look.
    #[must_use]
    pub const fn queued(&self) -> Duration {
        self.queued
    }

    /// Whether some of it was still on its way when it was asked for.
    #[must_use]
    pub const fn was_waited_for(&self) -> bool {
        self.waited_for
    }

    /// When that first look was; nothing for a body without a socket.
    #[must_use]
    pub const fn begun(&self) -> Option<MonotonicTime> {
        self.begun
    }
}

/// The memory that a connection may have for what its requests make.
#[derive(Debug)]
pub struct Room(Option<Rc<Seat>>);

/// Room that is taken until this is dropped.
#[derive(Debug)]
#[must_use = "what is dropped is free again"]
pub struct Reserved {
    _held: Option<Held>,
}

impl Room {
    /// Takes room for as many bytes, before they are made: requests that were read together would
    /// otherwise all find the room that is there for one.
    ///
    /// # Errors
    /// [`BodyError::NoRoom`].
    pub fn reserve(&self, bytes: usize) -> Result<Reserved, BodyError> {
        let seat = self.0.as_ref().filter(|_| is_counted(bytes));
        let mut held = seat.map(|seat| seat.held().empty());
        if let Some(held) = &mut held {
            held.grow_to(bytes)?;
        }
        Ok(Reserved { _held: held })
    }
}

/// Reads a body of at most `limit` bytes, the last of which must be there within `timeout`.
///
/// A body that came in one piece is handed on without a copy. Memory is taken for what has
/// arrived, at most twice as much, whatever length the client announced.
///
/// # Errors
/// [`BodyError`]: too large (told from the announced length if there is one, before a byte is
/// read), too slow, broken off, or more than there is room for.
pub async fn read_body(
    body: &mut Body,
    limit: usize,
    timeout: Duration,
) -> Result<Bytes, BodyError> {
    let Body {
        source,
        from,
        waited_for,
        ..
    } = body;
    let announced = http_body::Body::size_hint(source).lower();
    if announced > u64::try_from(limit).unwrap_or(u64::MAX) {
        return Err(BodyError::TooLarge);
    }
    let mut alarm = from.as_ref().map(|from| from.thread.alarms.after(timeout));
    let mut held = from.as_ref().map(|from| from.seat.held().empty());
    let mut pieces = Pieces::default();
    while !source.is_end_stream() {
        let Some(frame) = next_frame((source, waited_for), alarm.as_mut()).await? else {
            break;
        };
        // Trailers say nothing that any route listens to.
        if let Ok(piece) = frame.into_data() {
            pieces.push(piece, limit)?;
            if let Some(held) = &mut held {
                held.grow_to(pieces.taken())?;
            }
        }
    }
    // What this request is about to ask for would come on top.
    if from.as_ref().is_some_and(|from| from.seat.held().is_full()) {
        return Err(BodyError::NoRoom);
    }
    *source = Source::Whole(None);
    let bytes = pieces.joined();
    Ok(match held {
        Some(held) => held.around(bytes),
        None => bytes,
    })
}

impl From<NoRoom> for BodyError {
    fn from(_: NoRoom) -> Self {
        Self::NoRoom
    }
}

async fn next_frame(
    (source, waited_for): (&mut Source, &mut bool),
    mut alarm: Option<&mut Alarm<'_>>,
) -> Result<Option<Frame<Bytes>>, BodyError> {
    let next = std::future::poll_fn(|cx| match Pin::new(&mut *source).poll_frame(cx) {
        Poll::Ready(frame) => Poll::Ready(Ok(frame)),
        Poll::Pending => {
            *waited_for = true;
            match &mut alarm {
                Some(alarm) => alarm.poll(cx).map(|()| Err(BodyError::TooSlow)),
                None => Poll::Pending,
            }
        }
    });
    next.await?.transpose().map_err(|_| BodyError::Broken)
}

/// What has arrived: nothing, one piece as it came, or several in one buffer.
#[derive(Default)]
struct Pieces {
    first: Bytes,
    rest: BytesMut,
}

impl Pieces {
    /// Copies from the second piece on. Keeping the pieces instead would let a client that sends
    /// single bytes hold a whole read buffer for each.
    fn push(&mut self, piece: Bytes, limit: usize) -> Result<(), BodyError> {
        let length = self.first.len().max(self.rest.len());
        if piece.len() > limit.saturating_sub(length) {
            return Err(BodyError::TooLarge);
        }
        if length == 0 {
            self.first = piece;
            return Ok(());
        }
        if self.rest.is_empty() {
            self.rest.reserve(2 * (length + piece.len()));
            self.rest.extend_from_slice(&self.first);
            self.first = Bytes::new();
        }
        self.rest.extend_from_slice(&piece);
        Ok(())
    }

    /// The memory that they take.
    fn taken(&self) -> usize {
        self.first.len() + self.rest.capacity()
    }

    fn joined(self) -> Bytes {
        if self.rest.is_empty() {
            self.first
        } else {
            self.rest.freeze()
        }
    }
}

impl http_body::Body for Source {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut *self {
            Self::Arriving(incoming) => Pin::new(incoming).poll_frame(cx),
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Arriving(incoming) => incoming.is_end_stream(),
            Self::Whole(bytes) => bytes.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Arriving(incoming) => incoming.size_hint(),
            Self::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
        }
    }
}

impl fmt::Debug for Body {
    /// Never the content: it may be plaintext.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(future)
    }

    fn read(bytes: Bytes, limit: usize) -> Result<Bytes, BodyError> {
        block(read_body(&mut Body::whole(bytes), limit, Duration::MAX))
    }

    #[test]
    fn one_piece_is_not_copied() {
        let bytes = Bytes::from(vec![7; 100]);
        let read = read(bytes.clone(), 100).unwrap();
        assert_eq!(read.as_ptr(), bytes.as_ptr());
    }

    #[test]
    fn the_limit_is_exact() {
        assert_eq!(read(Bytes::new(), 0).unwrap().len(), 0);
        assert_eq!(read(Bytes::from_static(b"x"), 0), Err(BodyError::TooLarge));
        assert_eq!(read(Bytes::from_static(b"xy"), 1), Err(BodyError::TooLarge));
        let mut pieces = Pieces::default();
        for _ in 0..5 {
            pieces.push(Bytes::from_static(b"ab"), 10).unwrap();
            pieces.push(Bytes::new(), 10).unwrap();
        }
        assert_eq!(
            pieces.push(Bytes::from_static(b"c"), 10),
            Err(BodyError::TooLarge)
        );
        assert_eq!(pieces.joined(), "ababababab");
    }
}
