//! What all server threads share.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use keywright_audit::batch::Detail;
use keywright_clock::{Clock, WallTime};
use keywright_custody::budget::Budget;
use keywright_custody::{KeyHolder, Placement};

use crate::Snapshot;
use crate::counting::Uses;
use crate::metrics::{Facts, Metrics};
use crate::pool::{Pool, PoolSize};
use crate::published::Published;
use crate::standing::{Lack, Standing};
use crate::survey::Survey;

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
    /// The pool for work that takes the processor long.
    pub long: PoolSize,
    /// What the record of a batch says of its items.
    pub items_recorded: Detail,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            request_timeout: Duration::from_secs(10),
            data_key_validity: Duration::from_secs(24 * 3600),
            pool: PoolSize::default(),
            long: PoolSize::one_per_core(),
            items_recorded: Detail::Groups,
        }
    }
}

/// The snapshot, the holder, and what goes with them.
pub struct Shared {
    snapshot: Published<Snapshot>,
    holder: Arc<dyn KeyHolder>,
    pool: Option<Pool>,
    /// Its own line, so that whoever waits for a device does not stand behind signatures of RSA.
    long: Pool,
    clock: Clock,
    settings: Settings,
    metrics: Metrics,
    uses: Uses,
    /// Where uses are counted that an owner has limited.
    budget: OnceLock<Arc<Budget>>,
    standing: ArcSwapOption<Standing>,
    survey: ArcSwap<Survey>,
    started: WallTime,
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
            Placement::Pool => Some(Pool::start("holder", &holder, settings.pool, &clock)?),
        };
        let long = Pool::start("long", &holder, settings.long, &clock)?;
        snapshot.meters = Arc::new(snapshot.meters.following(&snapshot.policy));
        let started = (clock.wall(), clock.monotonic());
        let survey = ArcSwap::from_pointee(Survey::of(&snapshot, started));
        let snapshot = Published::new(Arc::new(snapshot));
        let metrics = Metrics::default();
        Ok(Arc::new(Self {
            snapshot,
            holder,
            pool,
            long,
            clock,
            settings,
            metrics,
            uses: Uses::default(),
            budget: OnceLock::new(),
            standing: ArcSwapOption::empty(),
            survey,
            started: started.0,
        }))
    }

    /// The newest snapshot. Server threads have their own way to it, which costs them less.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.get()
    }

    /// Where the newest snapshot is found.
    pub(crate) const fn published(&self) -> &Published<Snapshot> {
        &self.snapshot
    }

    /// Puts a snapshot in force. Buckets of principals stay as full as they are.
    pub(crate) fn publish(&self, mut snapshot: Snapshot) {
        let meters = self.snapshot().meters.following(&snapshot.policy);
        snapshot.meters = Arc::new(meters);
        self.snapshot.replace(Arc::new(snapshot));
    }

    /// The key holder.
    #[must_use]
    pub fn holder(&self) -> &dyn KeyHolder {
        self.holder.as_ref()
    }

    pub(crate) const fn items_recorded(&self) -> Detail {
        self.settings.items_recorded
    }

    pub(crate) const fn pool(&self) -> Option<&Pool> {
        self.pool.as_ref()
    }

    /// The pool for work in this process that takes long ([`Effort`](keywright_custody::effort::Effort)).
    pub(crate) const fn long(&self) -> &Pool {
        &self.long
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

    /// Has uses counted in `budget` where the owner of a context limits them; without it such contexts make nothing.
    /// The first one stays.
    pub fn count_in(&self, budget: Budget) {
        drop(self.budget.set(Arc::new(budget)));
    }

    pub(crate) fn budget(&self) -> Option<&Arc<Budget>> {
        self.budget.get()
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

    /// The page of metrics, in the text form of Prometheus.
    #[must_use]
    pub fn metrics_page(&self) -> String {
        let (snapshot, standing) = (self.snapshot(), self.standing());
        self.metrics.render(&Facts {
            snapshot: &snapshot,
            standing: standing.as_deref(),
            survey: &self.survey.load(),
            now: (self.clock.wall(), self.clock.monotonic()),
            started: self.started,
        })
    }

    /// What was last found of the node; nothing while nobody looks.
    #[must_use]
    pub fn standing(&self) -> Option<Arc<Standing>> {
        self.standing.load_full()
    }

    /// Says what was found of the node, and looks at the keys again if that is due.
    pub fn publish_standing(&self, standing: Standing) {
        self.standing.store(Some(Arc::new(standing)));
        let (snapshot, clock) = (self.snapshot(), &self.clock);
        if !self.survey.load().holds(&snapshot, clock.monotonic()) {
            let now = (clock.wall(), clock.monotonic());
            self.survey.store(Arc::new(Survey::of(&snapshot, now)));
        }
    }

    /// What keeps the node from being ready; nothing if it is.
    #[must_use]
    pub fn lacks(&self) -> Vec<Lack> {
        let now = (self.clock.wall(), self.clock.monotonic());
        match self.standing() {
            Some(standing) => standing.lacks(&self.snapshot(), now),
            None => vec![Lack::Stale],
        }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Shared(holder {}, epoch {})",
            self.holder.name(),
            self.snapshot().epoch
        )
    }
}
