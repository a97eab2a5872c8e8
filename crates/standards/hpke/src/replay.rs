//! A memory of messages, so that none is acted upon twice (RFC 9180, section 9.7.3).
//!
//! `enc` that is sent again gives the same keys again, and the copy opens like the original. A [`Guard`]
//! remembers the encapsulations of a span of time. It can be bounded only because messages carry the time
//! at which they were sent, authenticated, and old ones are refused unseen: the application puts the time
//! into the message or its associated data.
//!
//! A full memory refuses what is new. Forgetting something in its place would let that be sent again.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use keywright_clock::WallTime;
use keywright_primitives::hash::{Sha256Digest, sha256};

/// Why a message is not to be acted upon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// It was sent before the span of time that is remembered.
    #[error("the message is too old")]
    Expired,
    /// So many messages of the span have been seen that no further one can be remembered.
    #[error("too many messages in the time that is remembered")]
    Full,
    /// It was sent later than now, by more than clocks may differ.
    #[error("the message comes from the future")]
    FromFuture,
    /// It was seen before.
    #[error("the message was seen before")]
    Repeated,
}

/// Remembers encapsulations for a span of time.
#[derive(Debug)]
pub struct Guard {
    capacity: usize,
    span: Duration,
    skew: Duration,
    seen: HashSet<Sha256Digest>,
    by_time: BTreeSet<(WallTime, Sha256Digest)>,
}

impl Guard {
    /// Remembers at most `capacity` messages, each for `span` after it was sent. Clocks may differ by a
    /// sixteenth of the span. A message takes about 200 bytes.
    #[must_use]
    pub fn new(capacity: usize, span: Duration) -> Self {
        Self {
            capacity,
            span,
            skew: span / 16,
            seen: HashSet::new(),
            by_time: BTreeSet::new(),
        }
    }

    /// Takes note of a message with this encapsulation that says it was sent at `sent`. To be called after
    /// the message has opened, because only then `sent` is the sender's; and before it is acted upon.
    ///
    /// # Errors
    /// [`Refused`]; nothing is remembered then.
    pub fn admit(&mut self, enc: &[u8], sent: WallTime, now: WallTime) -> Result<(), Refused> {
        self.forget(now);
        if sent.plus(self.span) <= now {
            return Err(Refused::Expired);
        }
        if sent > now.plus(self.skew) {
            return Err(Refused::FromFuture);
        }
        let digest = sha256(enc);
        if self.seen.contains(&digest) {
            return Err(Refused::Repeated);
        }
        if self.seen.len() >= self.capacity {
            return Err(Refused::Full);
        }
        self.seen.insert(digest);
        self.by_time.insert((sent, digest));
        Ok(())
    }

    /// How many messages are remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.seen.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Drops what would be refused as too old anyway.
    fn forget(&mut self, now: WallTime) {
        while let Some(oldest) = self.by_time.first().copied() {
            if oldest.0.plus(self.span) > now {
                return;
            }
            self.by_time.remove(&oldest);
            self.seen.remove(&oldest.1);
        }
    }
}
