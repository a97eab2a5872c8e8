//! The near end of the queue, where requests are.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use keywright_clock::MonotonicTime;

use crate::{Parent, Sampling, Span};

/// What became of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "whoever counts must count each")]
pub enum Fate {
    /// There was no room for it.
    Dropped,
    /// The collector did not take it.
    Lost,
    /// The collector took it.
    Sent,
}

/// Where it is counted what became of so many spans.
pub type Count = Arc<dyn Fn(Fate, u64) + Send + Sync>;

/// Takes spans, from any thread, and never waits.
#[derive(Clone)]
pub struct Tracer {
    pub(crate) sampling: Arc<Sampling>,
    pub(crate) queue: SyncSender<Box<Span>>,
    pub(crate) count: Count,
}

impl Tracer {
    /// Whether a request has a span; `draw` is a random number.
    #[must_use]
    pub fn wants(&self, parent: Option<&Parent>, draw: u64, now: MonotonicTime) -> bool {
        self.sampling.wants(parent, draw, now)
    }

    /// Puts a span into the queue, if there is room in it.
    pub fn give(&self, span: Box<Span>) {
        if self.queue.try_send(span).is_err() {
            self.note_dropped();
        }
    }

    /// Counts a span for which there was no room before it was made.
    pub fn note_dropped(&self) {
        (self.count)(Fate::Dropped, 1);
    }
}

impl fmt::Debug for Tracer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tracer")
    }
}
