//! Unwrapped keys: a bounded arena, and which keys are in it.
//!
//! Each key's place is its own [`HolderCell`], so that using a loaded key takes no lock. Loading does:
//! it is rare, and it has to find room. Room is found by second chance: keys stand in a queue, and one
//! that was used since it was last looked at goes to the back once more.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use keywright_custody::{HolderError, KeyMaterial};
use keywright_envelope::{Identity, OpeningKey, SealingKey, derive};
use keywright_secret::locked::{Arena, Locking, SLOT_LEN, Slot};
use keywright_types::{Algorithm, Kind, Suite};

/// The keys of one version, derived from its secret as they are needed.
pub(crate) struct Loaded {
    secret: Slot,
    message: OnceLock<Pair>,
    key: OnceLock<Pair>,
    stream: OnceLock<Pair>,
}

/// What a version's keys are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Envelopes that hold keys.
    Keys,
    /// Envelopes that hold messages.
    Messages,
    /// Streams of any length, under suite 6.
    Streams,
}

/// Shared, so that a request takes hold of both with one count.
pub(crate) type Pair = Arc<(SealingKey, OpeningKey)>;

impl Loaded {
    fn new(secret: Slot) -> Self {
        Self {
            secret,
            message: OnceLock::new(),
            key: OnceLock::new(),
            stream: OnceLock::new(),
        }
    }

    /// The keys for one use of this version.
    pub(crate) fn pair(&self, material: &KeyMaterial, for_use: Use) -> Result<&Pair, HolderError> {
        let cell = match for_use {
            Use::Keys => &self.key,
            Use::Messages => &self.message,
            Use::Streams => &self.stream,
        };
        if let Some(pair) = cell.get() {
            return Ok(pair);
        }
        let pair = derive_pair(self.secret.expose(), material, for_use)?;
        Ok(cell.get_or_init(|| pair))
    }
}

/// The keys for one use of a version whose secret this is.
pub(crate) fn derive_pair(
    secret: &[u8; SLOT_LEN],
    material: &KeyMaterial,
    for_use: Use,
) -> Result<Pair, HolderError> {
    let spec = material.spec();
    // A key that was brought in to read opens no envelope of ours, and makes none.
    if material.reader().is_some() {
        return Err(HolderError::Unsupported(spec.custody));
    }
    let own = suite_of(spec.algorithm).ok_or(HolderError::Unsupported(spec.custody))?;
    let (suite, kind) = match for_use {
        Use::Keys => (own, Kind::Key),
        Use::Messages => (own, Kind::Message),
        Use::Streams => (Suite::Chunked, Kind::Message),
    };
    let identity = Identity {
        suite,
        kind,
        key: material.key(),
        version: material.version(),
    };
    derive(secret, identity)
        .map(Arc::new)
        .map_err(|_| HolderError::Unavailable)
}

/// The message suite of an algorithm (design 7.6): one per version.
pub(crate) const fn suite_of(algorithm: Algorithm) -> Option<Suite> {
    match algorithm {
        Algorithm::Xaes256Gcm => Some(Suite::Xaes256Gcm),
        Algorithm::XChaCha20Poly1305 => Some(Suite::XChaCha20Poly1305),
        Algorithm::Aes256Siv => Some(Suite::Siv),
        _ => None,
    }
}

/// The arena and the queue of keys that are in it.
#[derive(Debug)]
pub(crate) struct Cache {
    arena: Arena,
    queue: Mutex<VecDeque<Weak<KeyMaterial>>>,
}

impl Cache {
    pub(crate) fn new(slots: usize) -> std::io::Result<Self> {
        Ok(Self {
            arena: Arena::new(slots)?,
            queue: Mutex::default(),
        })
    }

    pub(crate) fn locking(&self) -> Locking {
        self.arena.locking()
    }

    /// Puts a secret into the arena for `material` and remembers where it is, if room can be found.
    pub(crate) fn load(&self, material: &Arc<KeyMaterial>, secret: &[u8; SLOT_LEN]) {
        self.load_as(material, secret, Loaded::new);
    }

    /// The same, kept as what `make` makes of the slot.
    pub(crate) fn load_as<T: Send + Sync + 'static>(
        &self,
        material: &Arc<KeyMaterial>,
        secret: &[u8; SLOT_LEN],
        make: impl FnOnce(Slot) -> T,
    ) {
        if let Some(slot) = self.insert(secret) {
            self.remember(material, make(slot));
        }
    }

    /// Keeps what stands for `material`, made of secrets that [`Cache::insert`] gave slots for.
    pub(crate) fn remember<T: Send + Sync + 'static>(&self, material: &Arc<KeyMaterial>, value: T) {
        material.cell().put(value);
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        // Keys of replaced snapshots leave empty places behind; swept rarely enough to cost nothing.
        if queue.len() >= 2 * self.arena.capacity() {
            queue.retain(|place| place.strong_count() > 0);
        }
        queue.push_back(Arc::downgrade(material));
    }

    /// A slot with this secret, if room can be found.
    pub(crate) fn insert(&self, secret: &[u8; SLOT_LEN]) -> Option<Slot> {
        let copy = || self.arena.insert(|slot| slot.copy_from_slice(secret));
        if let Some(slot) = copy() {
            return Some(slot);
        }
        // Two rounds: the first takes away the second chances, the second finds a key to drop. A key
        // in use at this moment keeps its slot until its user is done, so another may have to go.
        let rounds = 2 * self.arena.capacity();
        (0..rounds).find_map(|_| {
            self.evict_one();
            copy()
        })
    }

    fn evict_one(&self) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(candidate) = queue.pop_front() {
            let Some(material) = candidate.upgrade() else {
                continue;
            };
            if material.cell().take_touched() {
                queue.push_back(candidate);
            } else {
                material.cell().clear();
            }
            return;
        }
    }
}
