//! What all server threads share.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::{ArcSwap, Guard};
use keywright_clock::Clock;
use keywright_custody::{KeyHolder, Placement};

use crate::Snapshot;
use crate::counting::Uses;
use crate::metrics::Metrics;
use crate::pool::{Pool, PoolSize};

/// Numbers that an operator may choose.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever starts a service must decide each of these"
)]
pub struct Settings {
    /// From the head of a request to its answer.
    pub request_timeout: Duration,
    /// How long a caller should keep a data key.
    pub data_key_validity: Duration,
    /// The pool in front of a holder that waits for a device.
    pub pool: PoolSize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            request_timeout: Duration::from_secs(10),
            data_key_validity: Duration::from_secs(24 * 3600),
            pool: PoolSize::default(),
        }
    }
}

/// The snapshot, the holder, and what goes with them.
pub struct Shared {
    snapshot: ArcSwap<Snapshot>,
    holder: Arc<dyn KeyHolder>,
    pool: Option<Pool>,
    clock: Clock,
    settings: Settings,
    metrics: Metrics,
    uses: Uses,
}

impl Shared {
    /// The shared state of a service over `holder`.
    ///
    /// # Errors
    /// If the pool's threads cannot be started.
    pub fn new(
        mut snapshot: Snapshot,
        holder: Arc<dyn KeyHolder>,
        clock: Clock,
        settings: Settings,
    ) -> std::io::Result<Arc<Self>> {
        let pool = match holder.placement() {
            Placement::Inline => None,
            Placement::Pool => Some(Pool::start(&holder, settings.pool)?),
        };
        snapshot.meters = Arc::new(snapshot.meters.following(&snapshot.policy));
        let snapshot = ArcSwap::from_pointee(snapshot);
        let metrics = Metrics::default();
        Ok(Arc::new(Self {
            snapshot,
            holder,
            pool,
            clock,
            settings,
            metrics,
            uses: Uses::default(),
        }))
    }

    /// The newest snapshot; the guard keeps it for as long as a request needs it.
    #[must_use]
    pub fn snapshot(&self) -> Guard<Arc<Snapshot>> {
        self.snapshot.load()
    }

    /// The newest snapshot, to keep.
    #[must_use]
    pub fn snapshot_owned(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    /// Puts a snapshot in force. Buckets of principals stay as full as they are.
    pub(crate) fn publish(&self, mut snapshot: Snapshot) {
        let meters = self.snapshot.load().meters.following(&snapshot.policy);
        snapshot.meters = Arc::new(meters);
        self.snapshot.store(Arc::new(snapshot));
    }

    /// The key holder.
    #[must_use]
    pub fn holder(&self) -> &dyn KeyHolder {
        self.holder.as_ref()
    }

    pub(crate) const fn pool(&self) -> Option<&Pool> {
        self.pool.as_ref()
    }

    /// The clock.
    #[must_use]
    pub const fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The settings.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How often each version of a key was used.
    #[must_use]
    pub const fn uses(&self) -> &Uses {
        &self.uses
    }

    /// The counters.
    #[must_use]
    pub const fn metrics(&self) -> &Metrics {
        &self.metrics
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Shared(holder {}, epoch {})",
            self.holder.name(),
            self.snapshot.load().epoch
        )
    }
}
