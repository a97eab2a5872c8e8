//! A holder of known capacity: so many items a second and not one more, however many threads ask.
//!
//! A yardstick: what a service does with more requests than its holder can do is seen best where it is known how many
//! that is. The work itself is done by the holder inside, so its answers are right.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use keywright_clock::{Clock, MonotonicTime};
use keywright_envelope::stream::{Prefix, StreamOpener, StreamSealer};
use keywright_policy::Permit;
use keywright_primitives::random::RandomStream;
use keywright_secret::SecretBytes;
use keywright_types::KeySpec;

use crate::{
    HolderError, HolderOperation, Items, KeyHolder, KeyMaterial, NewKey, Particulars, Placement,
    Reply, Request, StreamStart,
};

/// A rate that nothing is faster than.
#[derive(Debug)]
pub struct Pace {
    clock: Clock,
    cost: Duration,
    /// When all that was taken on is done. Nothing is saved up in idle times.
    free: Mutex<MonotonicTime>,
}

impl Pace {
    /// So many items a second.
    #[must_use]
    pub fn new(per_second: NonZeroU32) -> Self {
        let clock = Clock::system();
        Self {
            cost: Duration::from_secs(1) / per_second.get(),
            free: Mutex::new(clock.monotonic()),
            clock,
        }
    }

    /// Takes so many items on, and waits until they are done.
    pub fn take(&self, items: usize) {
        let items = u32::try_from(items).unwrap_or(u32::MAX);
        let done = {
            let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
            let cost = self.cost.saturating_mul(items);
            *free = (*free).max(self.clock.monotonic()).plus(cost);
            *free
        };
        // A deadline in the clock's own time, so that late wake-ups do not add up.
        let wait = done.since(self.clock.monotonic());
        if !wait.is_zero() {
            std::thread::sleep(wait);
        }
    }
}

/// A holder at a pace. It stands where a token would: its work is done on the pool.
pub struct Paced {
    inner: Arc<dyn KeyHolder>,
    pace: Pace,
}

impl Paced {
    /// `inner`, at so many items a second.
    #[must_use]
    pub fn new(inner: Arc<dyn KeyHolder>, per_second: NonZeroU32) -> Self {
        let pace = Pace::new(per_second);
        Self { inner, pace }
    }
}

impl fmt::Debug for Paced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Paced({})", self.inner.name())
    }
}

impl KeyHolder for Paced {
    fn name(&self) -> &'static str {
        "paced"
    }

    fn supports(&self, spec: &KeySpec, operation: HolderOperation) -> bool {
        self.inner.supports(spec, operation)
    }

    fn placement(&self) -> Placement {
        Placement::Pool
    }

    fn generate(&self, permit: &Permit, new: NewKey) -> Result<KeyMaterial, HolderError> {
        self.inner.generate(permit, new)
    }

    fn generate_with(
        &self,
        permit: &Permit,
        new: NewKey,
        particulars: Particulars<'_>,
    ) -> Result<KeyMaterial, HolderError> {
        self.inner.generate_with(permit, new, particulars)
    }

    fn discard(&self, permit: &Permit, material: &KeyMaterial) {
        self.inner.discard(permit, material);
    }

    fn destroy(&self, permit: &Permit, material: &KeyMaterial) -> Result<(), HolderError> {
        self.inner.destroy(permit, material)
    }

    fn reveal(
        &self,
        permit: &Permit,
        material: &Arc<KeyMaterial>,
    ) -> Result<SecretBytes, HolderError> {
        self.inner.reveal(permit, material)
    }

    fn perform(
        &self,
        permit: &Permit,
        request: &Request,
        items: Items,
        random: &mut RandomStream,
    ) -> Result<Reply, HolderError> {
        request.check(permit)?;
        self.pace.take(items.len());
        self.inner.perform(permit, request, items, random)
    }

    fn seal_stream(
        &self,
        permit: &Permit,
        start: StreamStart<'_>,
        random: &mut RandomStream,
        out: &mut Vec<u8>,
    ) -> Result<StreamSealer, HolderError> {
        self.pace.take(1);
        self.inner.seal_stream(permit, start, random, out)
    }

    fn open_stream(
        &self,
        permit: &Permit,
        start: StreamStart<'_>,
        prefix: &Prefix,
    ) -> Result<Option<StreamOpener>, HolderError> {
        self.pace.take(1);
        self.inner.open_stream(permit, start, prefix)
    }

    fn check_key(&self, material: &Arc<KeyMaterial>) -> Result<(), HolderError> {
        self.inner.check_key(material)
    }

    fn probe(&self) -> Result<(), HolderError> {
        self.inner.probe()
    }
}
