//! Key holders with a known weakness: [`Throttled`], [`Slow`] and [`Broken`], each around a real holder
//! that does the work.
//!
//! They stand where a token would: the service runs them on its bounded pool ([`Placement::Pool`]), so
//! what it promises about a device that is slow, full or gone can be tried without one. Whatever they
//! answer, the holder inside has answered; nothing is made up.
#![forbid(unsafe_code)]

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use keywright_custody::{
    HolderError, HolderOperation, Items, KeyHolder, KeyMaterial, NewKey, Pace, Placement, Reply,
    Request, StreamStart,
};
use keywright_envelope::stream::{Prefix, StreamOpener, StreamSealer};
use keywright_policy::Permit;
use keywright_primitives::random::RandomStream;
use keywright_types::KeySpec;

/// What a weakness does before the holder inside is asked.
trait Weakness: Send + Sync {
    const NAME: &'static str;

    /// Called before work on `items` items; zero for the making of a key or a probe.
    fn before(&self, items: usize) -> Result<(), HolderError>;
}

/// A holder behind a weakness.
struct Behind<W> {
    inner: Arc<dyn KeyHolder>,
    weakness: W,
    performed: AtomicU64,
}

impl<W: Weakness> Behind<W> {
    fn new(inner: Arc<dyn KeyHolder>, weakness: W) -> Self {
        Self {
            inner,
            weakness,
            performed: AtomicU64::new(0),
        }
    }

    fn generate(&self, permit: &Permit, new: NewKey) -> Result<KeyMaterial, HolderError> {
        self.weakness.before(0)?;
        self.inner.generate(permit, new)
    }

    fn perform(
        &self,
        permit: &Permit,
        request: &Request,
        items: Items,
        random: &mut RandomStream,
    ) -> Result<Reply, HolderError> {
        self.weakness.before(items.len())?;
        self.performed.fetch_add(1, Ordering::Relaxed);
        self.inner.perform(permit, request, items, random)
    }

    fn probe(&self) -> Result<(), HolderError> {
        self.weakness.before(0)?;
        self.inner.probe()
    }
}

/// The outer type is public, its weakness is not.
macro_rules! holder {
    ($name:ident) => {
        impl KeyHolder for $name {
            fn name(&self) -> &'static str {
                self.0.name()
            }

            fn supports(&self, spec: &KeySpec, operation: HolderOperation) -> bool {
                self.0.inner.supports(spec, operation)
            }

            fn placement(&self) -> Placement {
                Placement::Pool
            }

            fn generate(&self, permit: &Permit, new: NewKey) -> Result<KeyMaterial, HolderError> {
                self.0.generate(permit, new)
            }

            fn destroy(&self, permit: &Permit, material: &KeyMaterial) -> Result<(), HolderError> {
                self.0.inner.destroy(permit, material)
            }

            fn perform(
                &self,
                permit: &Permit,
                request: &Request,
                items: Items,
                random: &mut RandomStream,
            ) -> Result<Reply, HolderError> {
                self.0.perform(permit, request, items, random)
            }

            fn seal_stream(
                &self,
                permit: &Permit,
                start: StreamStart<'_>,
                random: &mut RandomStream,
                out: &mut Vec<u8>,
            ) -> Result<StreamSealer, HolderError> {
                self.0.weakness.before(1)?;
                self.0.inner.seal_stream(permit, start, random, out)
            }

            fn open_stream(
                &self,
                permit: &Permit,
                start: StreamStart<'_>,
                prefix: &Prefix,
            ) -> Result<Option<StreamOpener>, HolderError> {
                self.0.weakness.before(1)?;
                self.0.inner.open_stream(permit, start, prefix)
            }

            fn probe(&self) -> Result<(), HolderError> {
                self.0.probe()
            }
        }

        impl $name {
            /// How many requests have reached the holder inside.
            #[must_use]
            pub fn performed(&self) -> u64 {
                self.0.performed.load(Ordering::Relaxed)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} around {}", self.0.name(), self.0.inner.name())
            }
        }
    };
}

impl<W: Weakness> Behind<W> {
    #[expect(
        clippy::unused_self,
        reason = "called through the value whose weakness it names"
    )]
    const fn name(&self) -> &'static str {
        W::NAME
    }
}

// === impl Throttled ===

/// A holder that does so many items per second and not one more, however many threads ask.
pub struct Throttled(Behind<Pace>);

holder!(Throttled);

impl Throttled {
    /// `inner`, at `per_second` items.
    #[must_use]
    pub fn new(inner: Arc<dyn KeyHolder>, per_second: u32) -> Self {
        let per_second = NonZeroU32::new(per_second).unwrap_or(NonZeroU32::MIN);
        Self(Behind::new(inner, Pace::new(per_second)))
    }
}

impl Weakness for Pace {
    const NAME: &'static str = "throttled";

    fn before(&self, items: usize) -> Result<(), HolderError> {
        self.take(items);
        Ok(())
    }
}

// === impl Slow ===

/// A holder that takes its time over every request. Each thread waits for itself.
pub struct Slow(Behind<Wait>);

holder!(Slow);

impl Slow {
    /// `inner`, after a wait.
    #[must_use]
    pub fn new(inner: Arc<dyn KeyHolder>, wait: Duration) -> Self {
        Self::counted(inner, wait, Arc::default())
    }

    /// The same; `begun` counts the requests with items that have come to it.
    #[must_use]
    pub fn counted(inner: Arc<dyn KeyHolder>, time: Duration, begun: Arc<AtomicUsize>) -> Self {
        Self(Behind::new(inner, Wait { time, begun }))
    }
}

struct Wait {
    time: Duration,
    begun: Arc<AtomicUsize>,
}

impl Weakness for Wait {
    const NAME: &'static str = "slow";

    fn before(&self, items: usize) -> Result<(), HolderError> {
        self.begun
            .fetch_add(usize::from(items > 0), Ordering::Relaxed);
        std::thread::sleep(self.time);
        Ok(())
    }
}

// === impl Broken ===

/// A holder that fails on command. Clones of its [`Faults`] are the same switch.
pub struct Broken(Behind<Faults>);

holder!(Broken);

impl Broken {
    /// `inner`, and the switch that breaks it. It begins whole.
    #[must_use]
    pub fn new(inner: Arc<dyn KeyHolder>) -> (Self, Faults) {
        let faults = Faults::default();
        (Self(Behind::new(inner, faults.clone())), faults)
    }
}

/// The switch of a [`Broken`] holder.
#[derive(Clone, Debug, Default)]
pub struct Faults(Arc<AtomicU8>);

/// How a holder fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the ways in which a holder can fail as a whole"
)]
pub enum Fault {
    /// It cannot be reached.
    Unavailable,
    /// All its places are taken.
    Full,
    /// A stored key does not open.
    KeyRejected,
    /// It panics, as foreign code may.
    Panic,
}

impl Faults {
    const ALL: [Fault; 4] = [
        Fault::Unavailable,
        Fault::Full,
        Fault::KeyRejected,
        Fault::Panic,
    ];

    /// From now on everything fails like this.
    pub fn fail(&self, fault: Fault) {
        let place = Self::ALL.iter().position(|known| *known == fault);
        let number = place.and_then(|place| u8::try_from(place + 1).ok());
        self.0.store(number.unwrap_or(0), Ordering::SeqCst);
    }

    /// The holder is whole again.
    pub fn heal(&self) {
        self.0.store(0, Ordering::SeqCst);
    }
}

impl Weakness for Faults {
    const NAME: &'static str = "broken";

    #[expect(clippy::panic, reason = "that is the fault")]
    fn before(&self, _: usize) -> Result<(), HolderError> {
        let number = usize::from(self.0.load(Ordering::SeqCst));
        match number.checked_sub(1).and_then(|place| Self::ALL.get(place)) {
            None => Ok(()),
            Some(Fault::Unavailable) => Err(HolderError::Unavailable),
            Some(Fault::Full) => Err(HolderError::Full),
            Some(Fault::KeyRejected) => Err(HolderError::KeyRejected),
            Some(Fault::Panic) => panic!("a holder that panics, on command"),
        }
    }
}
