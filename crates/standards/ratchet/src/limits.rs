//! How much a peer can make a session keep and compute.

use std::time::Duration;

use keywright_clock::WallTime;

/// Messages in a chain: its numbers are below this.
pub(crate) const CHAIN_LEN: u32 = 1 << 31;

/// Bounds on what a session derives for one packet, and stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub(crate) jump: u32,
    pub(crate) stored: usize,
    pub(crate) chains: usize,
    age_seconds: u64,
}

impl Limits {
    /// A jump of 1,000 message keys in one packet, over both of its chains; 2,048 stored keys in all; five old
    /// chains; seven days.
    #[must_use]
    pub const fn standard() -> Self {
        Self {
            jump: 1_000,
            stored: 2_048,
            chains: 5,
            age_seconds: 7 * 86_400,
        }
    }

    /// The same with another age, in whole seconds, at which a stored key is dropped.
    #[must_use]
    pub const fn with_age(mut self, age: Duration) -> Self {
        self.age_seconds = age.as_secs();
        self
    }

    /// For tests of how cost grows with the bounds. What jumps fits what is stored.
    pub(crate) fn with_counts(mut self, jump: u32, stored: u16) -> Self {
        self.stored = usize::from(stored);
        self.jump = jump.min(u32::from(stored));
        self
    }

    /// A key from a clock that was ahead has no age.
    pub(crate) const fn is_expired(&self, stored_at: u64, now: WallTime) -> bool {
        now.unix_seconds().saturating_sub(stored_at) > self.age_seconds
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::standard()
    }
}
