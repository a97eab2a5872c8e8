//! A request under way.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use http::StatusCode;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use keywright_measure::Fault;

use super::failure::{Health, too_large};
use super::{Prepared, Reply};

/// A request under way, up to its whole answer. Dropping it resets its stream.
pub(super) struct Flight {
    stage: Stage,
    health: Arc<Health>,
}

enum Stage {
    /// The answer has begun.
    Body(h2::RecvStream, StatusCode, Gathered),
    /// Waits for the answer to begin.
    Head(h2::client::ResponseFuture),
    /// Over HTTP/1.1.
    Plain(Pin<Box<dyn Future<Output = Result<Reply, Fault>>>>),
}

/// Bytes of an answer are kept up to this many.
const MOST_BYTES: usize = 64 << 20;

impl Flight {
    /// Puts a request into a connection that is ready for it.
    pub(super) fn start(
        sender: &mut h2::client::SendRequest<Bytes>,
        request: Prepared,
        health: &Arc<Health>,
    ) -> Result<Self, h2::Error> {
        let Prepared { head, body } = request;
        let (response, mut stream) = sender.send_request(head, body.is_empty())?;
        if !body.is_empty() {
            stream.send_data(body, true)?;
        }
        Ok(Self {
            stage: Stage::Head(response),
            health: Arc::clone(health),
        })
    }

    /// The same over HTTP/1.1.
    pub(super) fn start_plain(
        sender: &mut http1::SendRequest<Full<Bytes>>,
        request: Prepared,
        health: &Arc<Health>,
    ) -> Self {
        Self {
            stage: Stage::Plain(Box::pin(plain(sender, request, health))),
            health: Arc::clone(health),
        }
    }

    /// Looks for the whole answer.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Reply, Fault>> {
        let health = &self.health;
        loop {
            match &mut self.stage {
                Stage::Plain(answer) => return answer.as_mut().poll(cx),
                Stage::Head(response) => {
                    let response = match ready!(Pin::new(response).poll(cx)) {
                        Ok(response) => response,
                        Err(error) => return Poll::Ready(Err(health.h2(&error))),
                    };
                    let status = response.status();
                    let body = response.into_body();
                    self.stage = Stage::Body(body, status, Gathered::default());
                }
                Stage::Body(stream, status, gathered) => {
                    let read = ready!(read(stream, gathered, cx));
                    let reply = match read {
                        Ok(true) => Ok(Reply {
                            status: *status,
                            body: std::mem::take(gathered).into_bytes(),
                        }),
                        Ok(false) => Err(too_large()),
                        Err(error) => Err(health.h2(&error)),
                    };
                    return Poll::Ready(reply);
                }
            }
        }
    }
}

/// Reads to the end; `false` if it is too long.
fn read(
    stream: &mut h2::RecvStream,
    gathered: &mut Gathered,
    cx: &mut Context<'_>,
) -> Poll<Result<bool, h2::Error>> {
    while !stream.is_end_stream() {
        let Some(piece) = ready!(stream.poll_data(cx)).transpose()? else {
            break;
        };
        // The connection's window is shared with the other streams.
        stream.flow_control().release_capacity(piece.len())?;
        if !gathered.add(piece) {
            return Poll::Ready(Ok(false));
        }
    }
    Poll::Ready(Ok(true))
}

/// An HTTP/1.1 exchange on a connection that is ready for it.
pub(super) fn plain(
    sender: &mut http1::SendRequest<Full<Bytes>>,
    request: Prepared,
    health: &Arc<Health>,
) -> impl Future<Output = Result<Reply, Fault>> + use<> {
    let Prepared { head, body } = request;
    let (parts, ()) = head.into_parts();
    let response = sender.send_request(http::Request::from_parts(parts, Full::new(body)));
    let health = Arc::clone(health);
    async move {
        let failed = |error: hyper::Error| health.http1(&error);
        let (head, mut body) = response.await.map_err(failed)?.into_parts();
        let mut gathered = Gathered::default();
        while let Some(frame) = body.frame().await {
            if let Ok(piece) = frame.map_err(failed)?.into_data()
                && !gathered.add(piece)
            {
                return Err(too_large());
            }
        }
        Ok(Reply {
            status: head.status,
            body: gathered.into_bytes(),
        })
    }
}

/// The pieces of a body. One piece, the usual case, is not copied.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    first: Bytes,
    all: BytesMut,
}

impl Gathered {
    fn add(&mut self, piece: Bytes) -> bool {
        let length = self.first.len().max(self.all.len());
        if piece.len() > MOST_BYTES - length {
            return false;
        }
        if length == 0 {
            self.first = piece;
            return true;
        }
        if self.all.is_empty() {
            self.all.extend_from_slice(&self.first);
        }
        self.all.extend_from_slice(&piece);
        true
    }

    fn into_bytes(self) -> Bytes {
        if self.all.is_empty() {
            self.first
        } else {
            self.all.freeze()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_together_in_order_and_only_up_to_the_limit() {
        let mut gathered = Gathered::default();
        for piece in ["", "one ", "two ", "", "three"] {
            assert!(gathered.add(Bytes::from_static(piece.as_bytes())));
        }
        let rest = Bytes::from(vec![0; MOST_BYTES - 12]);
        assert!(!gathered.add(rest));
        assert_eq!(gathered.into_bytes(), "one two three");
        assert_eq!(Gathered::default().into_bytes(), "");
    }
}
