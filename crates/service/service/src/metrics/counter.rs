//! A number that one thread writes and any thread reads.

use std::sync::atomic::{AtomicU64, Ordering};

/// A count. Only the thread that owns it may add: it reads and writes, which is a fraction of what one step that no
/// other writer can come between would cost, and no other writer is there.
#[derive(Debug, Default)]
pub(super) struct Counter(AtomicU64);

impl Counter {
    /// Adds, for the one who writes.
    pub(super) fn add(&self, value: u64) {
        let sum = self.get().wrapping_add(value);
        self.0.store(sum, Ordering::Relaxed);
    }

    /// Writes another number, for the one who writes.
    pub(super) fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    /// What it is at the moment, or was just now.
    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
