//! What the connections of one server thread share, and what all threads share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use keywright_clock::Clock;

use super::Limits;
use super::alarm::Alarms;
use super::source::SourceCounts;
use super::turn::Turn;

/// The part of a server thread that does not depend on its handler.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) alarms: Alarms,
    pub(super) turn: Turn,
    /// Fine enough to see how long a request stood in the queue.
    pub(super) clock: Clock,
    pub(super) limits: Limits,
    pub(super) shared: Arc<Shared>,
}

/// Counts that hold for all threads; touched once per connection, never per request.
#[derive(Debug, Default)]
pub(super) struct Shared {
    numbered: AtomicU64,
    authenticated: Arc<AtomicUsize>,
    sources: Arc<SourceCounts>,
    cut: AtomicU64,
    held: Arc<AtomicUsize>,
}

/// One of a limited number of places, given back when dropped.
#[derive(Debug)]
pub(super) struct Place(Arc<AtomicUsize>);

impl Shared {
    /// The number of the next connection.
    pub(super) fn number(&self) -> u64 {
        self.numbered.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// A place for a connection that has finished its handshake, if there is one.
    pub(super) fn admit(&self, limits: &Limits) -> Option<Place> {
        Place::take(&self.authenticated, limits.connections)
    }

    /// Whether there is no such place.
    pub(super) fn is_full(&self, limits: &Limits) -> bool {
        self.authenticated.load(Ordering::Relaxed) >= limits.connections
    }

    /// Where those are counted that have not finished it.
    pub(super) fn sources(&self) -> Arc<SourceCounts> {
        Arc::clone(&self.sources)
    }

    /// The count of bytes that requests and answers of all connections have in memory.
    pub(super) fn held(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.held)
    }

    /// Connections that are open now, handshakes included.
    pub(super) fn connections(&self) -> usize {
        self.authenticated.load(Ordering::Relaxed) + self.sources.of_all()
    }

    /// Counts connections that were cut because they had not finished when the drain was over.
    pub(super) fn count_cut(&self, connections: usize) {
        self.cut.fetch_add(connections as u64, Ordering::Relaxed);
    }

    /// How many there were.
    pub(super) fn cut(&self) -> u64 {
        self.cut.load(Ordering::Relaxed)
    }
}

impl Place {
    fn take(places: &Arc<AtomicUsize>, limit: usize) -> Option<Self> {
        if places.fetch_add(1, Ordering::Relaxed) < limit {
            return Some(Self(Arc::clone(places)));
        }
        places.fetch_sub(1, Ordering::Relaxed);
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
        let (shared, mut limits) = (Shared::default(), Limits::default());
        limits.connections = 2;
        let first = shared.admit(&limits).unwrap();
        let second = shared.admit(&limits).unwrap();
        assert!(shared.is_full(&limits) && shared.admit(&limits).is_none());
        assert_eq!(shared.connections(), 2, "a refusal keeps no place");
        drop(first);
        assert!(!shared.is_full(&limits));
        drop((shared.admit(&limits).unwrap(), second));
        assert_eq!(shared.connections(), 0);
    }
}
