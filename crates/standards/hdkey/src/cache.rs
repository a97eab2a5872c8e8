//! Prefix nodes, kept so that the next key of a subtree costs one or two levels.
//!
//! What is kept is the node's key and the HMAC pad states of its chain code, in locked memory of a fixed
//! size, for as long as they are used and not longer than [`Limits::idle`] without it. Leaves are never
//! kept. Under load a missing prefix is derived once while the others wait for it. An answer from here and
//! one from the seed are the same, byte for byte.
//!
//! Whoever locks a wallet, changes its policy, rotates its seed or hands out a public node of it calls
//! [`PrefixCache::forget`].

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use keywright_clock::{Clock, MonotonicTime};
use keywright_primitives::mac::{PADS_LEN, Sha512Pads};
use keywright_secret::locked::{Arena, Locking, SLOT_LEN, Slot};
use keywright_secret::wipe;

use crate::Error;
use crate::derive;
use crate::node::{PrivateNode, SoftChildren};
use crate::path::{ChildIndex, Path};
use crate::scheme::{Scheme, SeedScheme};

/// Slots of locked memory for one prefix: two halves of a key, and four for the pads.
const SLOTS: usize = 2 + PADS_LEN / SLOT_LEN;

/// Levels in the longest prefix that is kept.
const LONGEST: usize = 8;

/// Whose tree it is. Ids of the caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "a name of two parts")]
pub struct Owner {
    /// The tenant, by which the cache is bounded.
    pub tenant: [u8; 16],
    /// The tree.
    pub tree: [u8; 16],
}

/// Which node of a path is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "leaves are never kept, roots are cheap"
)]
pub enum Keep {
    /// The one two levels above the key: `m/29'/29'/did'` of an Identus path.
    Account,
    /// The key's parent: `m/29'/29'/did'/usage'`.
    Usage,
}

/// How much is kept, and how long.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Prefixes of all tenants together.
    pub prefixes: usize,
    /// Prefixes of one tenant.
    pub prefixes_of_tenant: usize,
    /// A prefix that was not used for this long is wiped.
    pub idle: Duration,
}

/// One key that is wanted.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "arguments by name")]
pub struct Wanted<'a> {
    /// Whose tree.
    pub owner: Owner,
    /// The scheme.
    pub scheme: Scheme,
    /// Whether the tree makes soft children.
    pub soft: SoftChildren,
    /// Where.
    pub path: &'a Path,
    /// What to keep.
    pub keep: Keep,
}

/// Prefix nodes of many trees. Shared by threads.
pub struct PrefixCache {
    clock: Clock,
    limits: Limits,
    arena: Arena,
    entries: Mutex<HashMap<Place, Arc<Entry>>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Place {
    owner: Owner,
    scheme: Scheme,
    soft: SoftChildren,
    length: usize,
    prefix: [u32; LONGEST],
}

struct Entry {
    /// Nanoseconds of the monotonic clock.
    used: AtomicU64,
    /// The first who asks derives; the others wait here.
    kept: OnceLock<Result<Kept, Error>>,
}

/// A node in locked memory.
struct Kept {
    seed: SeedScheme,
    soft: SoftChildren,
    shared: bool,
    depth: u8,
    index: ChildIndex,
    key: Slot,
    right: Slot,
    pads: [Slot; PADS_LEN / SLOT_LEN],
}

impl Default for Limits {
    /// 1,024 prefixes, 64 of each tenant, five minutes.
    fn default() -> Self {
        Self {
            prefixes: 1_024,
            prefixes_of_tenant: 64,
            idle: Duration::from_secs(300),
        }
    }
}

impl PrefixCache {
    /// An empty cache. All its memory is taken here.
    ///
    /// # Errors
    /// The operating system's error if it gives no memory.
    pub fn new(clock: Clock, limits: Limits) -> std::io::Result<Self> {
        Ok(Self {
            clock,
            limits,
            arena: Arena::new(limits.prefixes.saturating_mul(SLOTS))?,
            entries: Mutex::default(),
        })
    }

    /// Whether the memory is locked.
    #[must_use]
    pub fn locking(&self) -> Locking {
        self.arena.locking()
    }

    /// How many prefixes are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries().len()
    }

    /// Whether nothing is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The key that is wanted. `root` makes the tree's root, where the prefix is not kept yet.
    ///
    /// # Errors
    /// Those of `root` and of [`PrivateNode::derive`].
    pub fn derive(
        &self,
        wanted: &Wanted<'_>,
        root: impl FnOnce() -> Result<Box<PrivateNode>, Error>,
    ) -> Result<Box<PrivateNode>, Error> {
        let children = wanted.path.children();
        let above = children.len().saturating_sub(match wanted.keep {
            Keep::Account => 2,
            Keep::Usage => 1,
        });
        let (prefix, rest) = children.split_at(above);
        let (Some(place), Some((first, rest))) = (Place::of(wanted, prefix), rest.split_first())
        else {
            return uncached(wanted, root);
        };
        let entry = self.entry(&place);
        let (mut root, mut fresh) = (Some(root), None);
        let kept = entry.kept.get_or_init(|| {
            let mut node = root.take().ok_or(Error::Backend)?()?;
            node.soft = wanted.soft;
            node.descend(prefix)?;
            let kept = self.keep(&node);
            fresh = Some(node);
            kept
        });
        let below = |error: Error, levels: usize| error.below(above + levels);
        match (kept, fresh) {
            (Ok(kept), _) => {
                let mut node = kept
                    .child(wanted.scheme, *first)
                    .map_err(|error| below(error, 0))?;
                node.descend(rest).map_err(|error| below(error, 1))?;
                Ok(node)
            }
            // There was no room to keep it, which is no reason not to answer.
            (Err(_), Some(mut node)) => {
                self.drop_entry(&place, &entry);
                node.descend(children.get(above..).unwrap_or_default())
                    .map_err(|error| below(error, 0))?;
                Ok(node)
            }
            (Err(error), None) => {
                self.drop_entry(&place, &entry);
                // Whoever waited for another's failure has not tried yet.
                root.map_or(Err(*error), |root| uncached(wanted, root))
            }
        }
    }

    /// Wipes all prefixes of a tree.
    pub fn forget(&self, owner: &Owner) {
        self.entries().retain(|place, _| place.owner != *owner);
    }

    /// Wipes everything.
    pub fn clear(&self) {
        self.entries().clear();
    }

    /// Wipes what was not used for too long. Whoever serves calls this now and then; what is idle is not
    /// used again even without.
    pub fn sweep(&self) {
        let now = self.clock.monotonic();
        self.entries().retain(|_, entry| !self.is_idle(entry, now));
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<Place, Arc<Entry>>> {
        // A panic while the map is held cannot leave it torn: each change is a single step.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The entry of a place, a new one if there is none or it is idle.
    fn entry(&self, place: &Place) -> Arc<Entry> {
        let now = self.clock.monotonic();
        let mut entries = self.entries();
        if let Some(entry) = entries.get(place)
            && !self.is_idle(entry, now)
        {
            entry.used.store(now.nanos(), Ordering::Relaxed);
            return Arc::clone(entry);
        }
        entries.remove(place);
        self.make_room(&mut entries, place);
        let entry = Arc::new(Entry {
            used: AtomicU64::new(now.nanos()),
            kept: OnceLock::new(),
        });
        entries.insert(*place, Arc::clone(&entry));
        entry
    }

    fn is_idle(&self, entry: &Entry, now: MonotonicTime) -> bool {
        let since = now
            .nanos()
            .saturating_sub(entry.used.load(Ordering::Relaxed));
        Duration::from_nanos(since) > self.limits.idle
    }

    /// Puts out the longest unused: of the tenant if it has its share, else of all if the cache is full.
    fn make_room(&self, entries: &mut HashMap<Place, Arc<Entry>>, place: &Place) {
        let tenant = place.owner.tenant;
        let own = entries
            .keys()
            .filter(|other| other.owner.tenant == tenant)
            .count();
        let full = entries.len() >= self.limits.prefixes;
        if own < self.limits.prefixes_of_tenant && !full {
            return;
        }
        let share = own >= self.limits.prefixes_of_tenant;
        let oldest = entries
            .iter()
            .filter(|(other, _)| !share || other.owner.tenant == tenant)
            .min_by_key(|(_, entry)| entry.used.load(Ordering::Relaxed));
        if let Some(oldest) = oldest.map(|(place, _)| *place) {
            entries.remove(&oldest);
        }
    }

    /// Removes an entry that holds nothing, unless another has taken its place since.
    fn drop_entry(&self, place: &Place, entry: &Arc<Entry>) {
        let mut entries = self.entries();
        if entries
            .get(place)
            .is_some_and(|other| Arc::ptr_eq(other, entry))
        {
            entries.remove(place);
        }
    }

    fn keep(&self, node: &PrivateNode) -> Result<Kept, Error> {
        let mut pads = [0; PADS_LEN];
        Sha512Pads::new(&node.chain).write_to(&mut pads);
        let kept = self.fill(node, &pads);
        wipe(&mut pads);
        kept.ok_or(Error::Backend)
    }

    /// `None` when the memory is full: entries that were put out are wiped when their last user is done.
    fn fill(&self, node: &PrivateNode, pads: &[u8; PADS_LEN]) -> Option<Kept> {
        let put = |bytes: &[u8]| self.arena.insert(|slot| slot.copy_from_slice(bytes));
        let (a, b, c, d) = (&pads[..32], &pads[32..64], &pads[64..96], &pads[96..]);
        Some(Kept {
            seed: node.seed,
            soft: node.soft,
            shared: node.shared,
            depth: node.depth,
            index: node.index,
            key: put(&node.key)?,
            right: put(&node.right)?,
            pads: [put(a)?, put(b)?, put(c)?, put(d)?],
        })
    }
}

fn uncached(
    wanted: &Wanted<'_>,
    root: impl FnOnce() -> Result<Box<PrivateNode>, Error>,
) -> Result<Box<PrivateNode>, Error> {
    let mut node = root()?;
    node.soft = wanted.soft;
    node.descend(wanted.path.children())?;
    Ok(node)
}

impl Place {
    /// `None` for the root itself and for prefixes that are too long to be kept.
    fn of(wanted: &Wanted<'_>, prefix: &[ChildIndex]) -> Option<Self> {
        let mut own = [0; LONGEST];
        let fits = !prefix.is_empty() && prefix.len() <= LONGEST;
        for (own, child) in own.iter_mut().zip(prefix) {
            *own = child.to_raw();
        }
        fits.then_some(Self {
            owner: wanted.owner,
            scheme: wanted.scheme,
            soft: wanted.soft,
            length: prefix.len(),
            prefix: own,
        })
    }
}

impl Kept {
    fn child(&self, scheme: Scheme, child: ChildIndex) -> Result<Box<PrivateNode>, Error> {
        let mut node = PrivateNode::blank(scheme, self.seed);
        node.soft = self.soft;
        node.shared = self.shared;
        node.depth = self.depth;
        node.index = self.index;
        node.key = *self.key.expose();
        node.right = *self.right.expose();
        let mut bytes = [0; PADS_LEN];
        for (bytes, slot) in bytes.chunks_exact_mut(SLOT_LEN).zip(&self.pads) {
            bytes.copy_from_slice(slot.expose());
        }
        let pads = Sha512Pads::read_from(&bytes);
        wipe(&mut bytes);
        derive::step(&mut node, &pads, child, None)?;
        Ok(node)
    }
}

impl fmt::Debug for PrefixCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrefixCache({} of {})", self.len(), self.limits.prefixes)
    }
}
