//! What still comes of a body whose request is answered already.
//!
//! A refusal often needs no body. Where HTTP/2 is answered before the client's last frame has come, the stream is
//! reset, and frames that were on their way by then are errors to the protocol library, which ends a connection after
//! a number of them ([`Limits::local_resets`](super::Limits::local_resets)): a client that is refused often enough
//! would lose its other requests as well. So the rest of a body is taken and thrown away, for a while and up to a
//! number of bytes.

use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::Version;
use http_body::Body as _;
use hyper::body::Incoming;

use super::thread::Thread;

/// Far longer than what a client has sent takes to arrive, once it can know of its answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// The body of any request but a batch or a stream.
const BUDGET: usize = 64 << 10;

/// The rest of a body.
struct Rest {
    incoming: Incoming,
    budget: usize,
}

/// Takes what is there, and leaves what is not to a task. Over HTTP/1.1 the library itself reads what is left, or
/// closes.
pub(super) async fn let_pass(incoming: Incoming, version: Version, thread: &Rc<Thread>) {
    if version != Version::HTTP_2 {
        return;
    }
    let mut rest = Rest {
        incoming,
        budget: BUDGET,
    };
    let is_over = poll_fn(|cx| Poll::Ready(rest.poll(cx).is_ready())).await;
    if !is_over {
        tokio::task::spawn_local(rest.wait(Rc::clone(thread)));
    }
}

impl Rest {
    async fn wait(mut self, thread: Rc<Thread>) {
        let mut alarm = thread.alarms.after(PATIENCE);
        poll_fn(|cx| match self.poll(cx) {
            Poll::Ready(()) => Poll::Ready(()),
            Poll::Pending => alarm.poll(cx),
        })
        .await;
    }

    /// Ready at the end, or where that is not waited for any longer.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while self.budget > 0 && !self.incoming.is_end_stream() {
            let Some(Ok(frame)) = ready!(Pin::new(&mut self.incoming).poll_frame(cx)) else {
                break;
            };
            let taken = frame.data_ref().map_or(0, bytes::Bytes::len);
            self.budget = self.budget.saturating_sub(taken);
        }
        Poll::Ready(())
    }
}
