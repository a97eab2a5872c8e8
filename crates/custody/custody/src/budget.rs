//! How often a key has sealed, and when that is enough (design 7.19).
//!
//! Suites 3 and 4 draw their nonces under one key for all messages, so the number of messages is bounded: at
//! 2^30 the key is due for rotation, at 2^31 it seals no more. Numbers are reserved in the store, a block at a
//! time, before the seals that they stand for. What a crash leaves of a block is lost, so the count is never
//! below the number of envelopes that exist: it may be above. A token operation that is tried again counts
//! once, because of what was tried only one envelope can have left this process.
//!
//! Keys of other suites have no such limit. Where the owner of a context has said one ([`Rules`](crate::Rules)), their
//! uses are counted in the same way, by whoever asks the holder: [`Budget::take_under`].
//!
//! Not here: the rotation itself, which is an order ([`Spent`] says when one is due); counters that only show use.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use keywright_clock::MonotonicTime;
use keywright_policy::Permit;
use keywright_primitives::random::RandomStream;
use keywright_store::Store;
use keywright_types::map::IdMap;
use keywright_types::{KeyId, KeySpec, KeyVersion};

use crate::fit::runs_in_tokens;
use crate::{
    AtOnce, HolderError, HolderOperation, Items, KeyHolder, KeyMaterial, NewKey, Particulars,
    Placement, Reply, Request,
};

/// From how many seals on a version is rotated, and refused. Those of keys in a token are not part of any configuration:
/// no operator may raise them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealLimits {
    block: u64,
    rotate_at: u64,
    refuse_at: u64,
}

impl SealLimits {
    /// The limits of design 7.19: 2^30 and 2^31, in blocks of 2^16.
    pub const STANDARD: Self = Self {
        block: 1 << 16,
        rotate_at: 1 << 30,
        refuse_at: 1 << 31,
    };

    /// Lower limits, for tests; each is at most that of [`SealLimits::STANDARD`], and a block has at least one.
    #[must_use]
    pub fn lower(block: u64, rotate_at: u64, refuse_at: u64) -> Self {
        let standard = Self::STANDARD;
        Self {
            block: block.clamp(1, standard.block),
            rotate_at: rotate_at.min(standard.rotate_at),
            refuse_at: refuse_at.min(standard.refuse_at),
        }
    }

    /// What the owner of a context has said, if anything. A crash wastes a hundredth of it at most.
    #[must_use]
    pub fn said(rotate_at: Option<u64>, refuse_at: Option<u64>) -> Option<Self> {
        let least = rotate_at.into_iter().chain(refuse_at).min()?;
        Some(Self {
            block: (least / 100).clamp(1, Self::STANDARD.block),
            rotate_at: rotate_at.unwrap_or(u64::MAX),
            refuse_at: refuse_at.unwrap_or(u64::MAX),
        })
    }
}

/// A version that has sealed as often as it should: it is to be rotated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a version is named by these two numbers"
)]
pub struct Spent {
    /// The key.
    pub key: KeyId,
    /// The version that was active.
    pub version: KeyVersion,
}

/// Told of every version that is due; at least once a block for as long as it goes on sealing. It must be short.
pub type OnSpent = Box<dyn Fn(Spent) + Send + Sync>;

/// The counts of all versions.
pub struct Budget {
    store: Store,
    limits: SealLimits,
    on_spent: OnSpent,
    versions: RwLock<Counts>,
}

/// By key and version, each under a lock of its own: one that waits for the disk holds up no other.
type Counts = IdMap<(KeyId, KeyVersion), Arc<Mutex<Reserved>>>;

/// Numbers that are reserved in the store and not used yet.
#[derive(Default)]
struct Reserved {
    next: u64,
    end: u64,
    /// From where on there is no gap before `next`.
    floor: u64,
    /// Whether it was said of this block that a rotation is due.
    told: bool,
}

impl Reserved {
    const fn left(&self) -> u64 {
        self.end - self.next
    }
}

impl Budget {
    /// Counts in `store`.
    #[must_use]
    pub fn new(store: Store, limits: SealLimits, on_spent: OnSpent) -> Self {
        Self {
            store,
            limits,
            on_spent,
            versions: RwLock::default(),
        }
    }

    /// Takes `count` seals of a version. Waits for the disk when a block is used up.
    ///
    /// # Errors
    /// [`HolderError::SealLimit`] if the version has not so many left; [`HolderError::Store`] if no block can be
    /// reserved. Nothing may be sealed then.
    pub fn take(&self, key: KeyId, version: KeyVersion, count: u64) -> Result<(), HolderError> {
        self.take_under(&self.limits, (key, version), count)
    }

    /// The same under other limits than those of keys in a token.
    ///
    /// # Errors
    /// As [`Budget::take`].
    pub fn take_under(
        &self,
        limits: &SealLimits,
        (key, version): (KeyId, KeyVersion),
        count: u64,
    ) -> Result<(), HolderError> {
        let reserved = self.of(key, version);
        let mut reserved = reserved.lock().unwrap_or_else(PoisonError::into_inner);
        while reserved.left() < count {
            // What is reserved up to the limit is all there ever is: the store is not asked for more.
            if reserved.end >= limits.refuse_at {
                return Err(HolderError::SealLimit);
            }
            let wanted = (count - reserved.left()).max(limits.block);
            let more = self
                .store
                .reserve(key, version, wanted)
                .map_err(|_| HolderError::Store)?;
            if more.start != reserved.end {
                reserved.next = more.start;
                reserved.floor = more.start;
            }
            reserved.end = more.end;
            reserved.told = false;
        }
        let after = reserved.next + count;
        if after > limits.refuse_at {
            return Err(HolderError::SealLimit);
        }
        reserved.next = after;
        let due = after >= limits.rotate_at && !std::mem::replace(&mut reserved.told, true);
        drop(reserved);
        if due {
            (self.on_spent)(Spent { key, version });
        }
        Ok(())
    }

    /// Takes `count` seals of a version of what is reserved already, waiting for nothing. Nothing is taken if that
    /// is not enough, or if it is the block in which a rotation becomes due: [`Budget::take`] says so.
    #[must_use]
    fn take_reserved(&self, key: KeyId, version: KeyVersion, count: u64) -> bool {
        self.take_reserved_under(&self.limits, (key, version), count)
    }

    /// The same under other limits than those of keys in a token.
    #[must_use]
    pub fn take_reserved_under(
        &self,
        limits: &SealLimits,
        (key, version): (KeyId, KeyVersion),
        count: u64,
    ) -> bool {
        let Ok(versions) = self.versions.try_read() else {
            return false;
        };
        let reserved = versions.get(&(key, version));
        let Some(mut reserved) = reserved.and_then(|one| one.try_lock().ok()) else {
            return false;
        };
        let after = reserved.next + count;
        let untold = after >= limits.rotate_at && !reserved.told;
        if reserved.left() < count || after > limits.refuse_at || untold {
            return false;
        }
        reserved.next = after;
        true
    }

    /// Gives back what was taken for seals of which none left this process.
    fn give_back(&self, key: KeyId, version: KeyVersion, count: u64) {
        let reserved = self.of(key, version);
        let mut reserved = reserved.lock().unwrap_or_else(PoisonError::into_inner);
        // What lies before a gap is lost, as after a crash.
        reserved.next = reserved.next.saturating_sub(count).max(reserved.floor);
    }

    fn of(&self, key: KeyId, version: KeyVersion) -> Arc<Mutex<Reserved>> {
        let known = self
            .versions
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&(key, version))
            .cloned();
        known.unwrap_or_else(|| {
            let mut versions = self
                .versions
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            Arc::clone(versions.entry((key, version)).or_default())
        })
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Budget({:?})", self.limits)
    }
}

/// A holder whose seals are counted before they are made.
#[derive(Debug)]
pub struct Counted<H> {
    inner: H,
    budget: Budget,
}

impl<H: KeyHolder> Counted<H> {
    /// `inner`, counted by `budget`.
    pub const fn new(inner: H, budget: Budget) -> Self {
        Self { inner, budget }
    }
}

impl<H: KeyHolder> KeyHolder for Counted<H> {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn supports(&self, spec: &KeySpec, operation: HolderOperation) -> bool {
        self.inner.supports(spec, operation)
    }

    fn placement(&self) -> Placement {
        self.inner.placement()
    }

    fn placement_of(&self, versions: &[Arc<KeyMaterial>]) -> Placement {
        self.inner.placement_of(versions)
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

    fn perform(
        &self,
        permit: &Permit,
        request: &Request,
        items: Items,
        random: &mut RandomStream,
    ) -> Result<Reply, HolderError> {
        // Before the count: who may not use the key must not use it up.
        request.check(permit)?;
        let sealing = request
            .versions
            .first()
            .filter(|_| request.operation.seals());
        if let Some(material) = sealing
            && runs_in_tokens(material.spec().algorithm)
        {
            let count = u64::try_from(items.len()).unwrap_or(u64::MAX);
            self.budget
                .take(material.key(), material.version(), count)?;
        }
        self.inner.perform(permit, request, items, random)
    }

    /// What is counted and then left to the pool is given back, and counted there.
    fn perform_now(
        &self,
        permit: &Permit,
        (request, now): (&Request, MonotonicTime),
        items: Items,
        random: &mut RandomStream,
    ) -> Result<AtOnce, Items> {
        if let Err(error) = request.check(permit) {
            return Ok(AtOnce::refused(error, now));
        }
        let sealing = request
            .versions
            .first()
            .filter(|_| request.operation.seals());
        let counted = sealing.filter(|material| runs_in_tokens(material.spec().algorithm));
        let Some(material) = counted else {
            return self
                .inner
                .perform_now(permit, (request, now), items, random);
        };
        let count = u64::try_from(items.len()).unwrap_or(u64::MAX);
        let (key, version) = (material.key(), material.version());
        if !self.budget.take_reserved(key, version, count) {
            return Err(items);
        }
        let done = self
            .inner
            .perform_now(permit, (request, now), items, random);
        if done.is_err() {
            self.budget.give_back(key, version, count);
        }
        done
    }

    fn check_key(&self, material: &Arc<KeyMaterial>) -> Result<(), HolderError> {
        self.inner.check_key(material)
    }

    fn probe(&self) -> Result<(), HolderError> {
        self.inner.probe()
    }
}
