//! Snapshots as server-sent events (HTML standard, section 9.2): the latest, never a queue of old ones.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame};
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::connection::Place;
use crate::live::Live;
use crate::live::progress::Progress;
use crate::live::state::Snapshot;

/// What a browser is given: the snapshot, and how far it says the run is.
#[derive(Serialize)]
struct Picture<'a> {
    now_ns: u64,
    elapsed_ns: u64,
    share: Option<f64>,
    left_ns: Option<u64>,
    #[serde(flatten)]
    snapshot: &'a Snapshot,
}

/// The snapshot of now as JSON.
pub(super) fn json(live: &Live) -> String {
    let (now_ns, snapshot) = (live.now_ns(), live.snapshot());
    let progress = Progress::of(&snapshot, now_ns);
    let picture = Picture {
        now_ns,
        elapsed_ns: progress.elapsed_ns,
        share: progress.share,
        left_ns: progress.left_ns,
        snapshot: &snapshot,
    };
    // Numbers, names and lists: there is nothing in it that JSON cannot say.
    serde_json::to_string(&picture).unwrap_or_else(|_| "{}".to_owned())
}

fn event(live: &Live) -> Bytes {
    // JSON has no line end outside strings and escapes those inside, so this is one line.
    Bytes::from(format!("event: snapshot\ndata: {}\n\n", json(live)))
}

/// Looks for news as long as it runs, and makes an event of them if anybody follows.
pub(super) async fn publish(live: &Live, every: Duration, events: &watch::Sender<Bytes>) {
    let mut beat = interval(every);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut told = None;
    loop {
        beat.tick().await;
        let revision = live.snapshot().revision;
        if events.receiver_count() > 0 && told != Some(revision) {
            events.send_replace(event(live));
            told = Some(revision);
        }
    }
}

/// The stream of one follower.
pub(super) struct Following {
    next: Pin<Box<dyn Future<Output = (Source, Option<Bytes>)> + Send>>,
    over: Over,
    _place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Over {
    No,
    Yes,
}

/// What a follower waits for.
struct Source {
    events: watch::Receiver<Bytes>,
    stop: watch::Receiver<bool>,
    heartbeat: Duration,
}

impl Following {
    /// Begins with the snapshot of now.
    pub(super) fn new(
        live: &Live,
        channels: (watch::Receiver<Bytes>, watch::Receiver<bool>),
        heartbeat: Duration,
        place: Place,
    ) -> Self {
        let (events, stop) = channels;
        let source = Source {
            events,
            stop,
            heartbeat,
        };
        // A browser that loses the stream comes back after two seconds.
        let first = [b"retry: 2000\n".as_slice(), &*event(live)].concat();
        Self {
            next: Box::pin(std::future::ready((source, Some(Bytes::from(first))))),
            over: Over::No,
            _place: place,
        }
    }
}

impl fmt::Debug for Following {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Following").finish_non_exhaustive()
    }
}

impl Source {
    /// The next event; `None` when the server stops.
    async fn next(mut self) -> (Self, Option<Bytes>) {
        let next = tokio::select! {
            biased;
            // A sender that is gone is a server that is gone.
            _ = self.stop.wait_for(|stop| *stop) => None,
            changed = self.events.changed() => {
                changed.ok().map(|()| self.events.borrow_and_update().clone())
            }
            // A comment: ignored by the browser, noticed by the connection.
            () = sleep(self.heartbeat) => Some(Bytes::from_static(b": still here\n\n")),
        };
        (self, next)
    }
}

impl Body for Following {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.over == Over::Yes {
            return Poll::Ready(None);
        }
        let Poll::Ready((source, event)) = self.next.as_mut().poll(cx) else {
            return Poll::Pending;
        };
        if event.is_none() {
            self.over = Over::Yes;
        }
        self.next = Box::pin(source.next());
        Poll::Ready(event.map(|event| Ok(Frame::data(event))))
    }
}
