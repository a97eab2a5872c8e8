//! What the connections of one server thread share, and what all threads share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use keywright_clock::Clock;

use super::Limits;
use super::alarm::Alarms;
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
    connections: Arc<AtomicUsize>,
    handshakes: Arc<AtomicUsize>,
    cut: AtomicU64,
    held: Arc<AtomicUsize>,
}

/// Which places are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// Those of all connections.
    Connections,
    /// Those of handshakes.
    Handshakes,
}

/// One of a limited number of places, given back when dropped.
#[derive(Debug)]
pub(super) struct Place(Arc<AtomicUsize>);

impl Shared {
    /// The number of the next connection.
    pub(super) fn number(&self) -> u64 {
        self.numbered.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// A place for a connection and one for its handshake, or what is full.
    pub(super) fn admit(&self, limits: &Limits) -> Result<(Place, Place), Full> {
        let connection =
            Place::take(&self.connections, limits.connections).ok_or(Full::Connections)?;
        let handshake = Place::take(&self.handshakes, limits.handshakes).ok_or(Full::Handshakes)?;
        Ok((connection, handshake))
    }

    /// As [`Self::admit`] for somebody who comes in the place of another, who gives it back soon.
    pub(super) fn admit_instead(&self, limits: &Limits) -> Result<(Place, Place), Full> {
        let connection =
            Place::take(&self.connections, limits.connections).ok_or(Full::Connections)?;
        let handshake = Place::take(&self.handshakes, usize::MAX).ok_or(Full::Handshakes)?;
        Ok((connection, handshake))
    }

    /// The count of bytes that requests and answers of all connections have in memory.
    pub(super) fn held(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.held)
    }

    /// Connections that are open now.
    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
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
        limits.handshakes = 1;
        let (connection, handshake) = shared.admit(&limits).unwrap();
        let full = |shared: &Shared| shared.admit(&limits).unwrap_err();
        assert_eq!(full(&shared), Full::Handshakes);
        assert_eq!(shared.connections(), 1, "a refusal keeps no place");
        let instead = shared.admit_instead(&limits).unwrap();
        drop(handshake);
        assert_eq!(full(&shared), Full::Connections);
        drop(instead);
        let second = shared.admit(&limits).unwrap();
        drop(second.1);
        assert_eq!(full(&shared), Full::Connections);
        assert!(shared.admit_instead(&limits).is_err());
        drop(connection);
        assert!(shared.admit(&limits).is_ok());
    }
}
