//! Trees of keys: a version's secret is a seed, and each item is for one key below it.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use keywright_clock::Clock;
use keywright_custody::{Detail, HolderError, HolderOperation, KeyMaterial, Usage};
use keywright_hdkey::cache::{Keep, Limits, Owner, PrefixCache, Wanted};
use keywright_hdkey::{Error, Path, PrivateNode, Scheme, Seed, SeedScheme, SoftChildren};
use keywright_secret::SecretBytes;
use keywright_types::{Algorithm, Code};

use crate::uses::{Held, Private};

/// Prefixes of all trees, made when the first tree is used.
#[derive(Debug)]
pub(crate) struct Prefixes {
    clock: Clock,
    cache: OnceLock<Option<PrefixCache>>,
    /// How often it was asked.
    asked: AtomicU32,
}

impl Prefixes {
    pub(crate) const fn new(clock: Clock) -> Self {
        Self {
            clock,
            cache: OnceLock::new(),
            asked: AtomicU32::new(0),
        }
    }

    /// Wipes all prefixes of a tree.
    pub(crate) fn forget(&self, material: &KeyMaterial) {
        if let Some(Some(cache)) = self.cache.get() {
            cache.forget(&owner_of(material));
        }
    }

    /// `None` where the system gives no memory for it: keys are then derived from the seed each time.
    fn cache(&self) -> Option<&PrefixCache> {
        let make = || -> io::Result<PrefixCache> {
            PrefixCache::new(self.clock.clone(), Limits::default())
        };
        let cache = self.cache.get_or_init(|| make().ok()).as_ref()?;
        // What is idle is not used again, and is wiped now and then.
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        if asked.is_multiple_of(SWEEP) {
            cache.sweep();
        }
        Some(cache)
    }
}

/// A seed that is open.
pub(crate) struct Tree {
    seed: [Held; 2],
    seed_scheme: SeedScheme,
    scheme: Scheme,
    soft: SoftChildren,
    owner: Owner,
}

/// Whose prefixes these are.
const fn owner_of(material: &KeyMaterial) -> Owner {
    Owner {
        tenant: *material.tenant().as_bytes(),
        tree: *material.key().as_bytes(),
    }
}

/// After so many keys idle prefixes are looked for.
const SWEEP: u32 = 1_024;
/// Bytes of a seed.
pub(crate) const SEED_LEN: usize = 64;

/// The scheme of an algorithm of trees.
pub(crate) const fn scheme_of(algorithm: Algorithm) -> Option<Scheme> {
    match algorithm {
        Algorithm::Bip32Secp256k1 => Some(Scheme::Bip32Secp256k1),
        Algorithm::Slip10Secp256k1 => Some(Scheme::Slip10Secp256k1),
        Algorithm::Slip10NistP256 => Some(Scheme::Slip10NistP256),
        Algorithm::Slip10Ed25519 => Some(Scheme::Slip10Ed25519),
        Algorithm::Slip10Curve25519 => Some(Scheme::Slip10Curve25519),
        _ => None,
    }
}

impl Tree {
    pub(crate) fn new(material: &KeyMaterial, seed: [Held; 2]) -> Result<Self, HolderError> {
        let unsupported = HolderError::Unsupported(material.spec().custody);
        let scheme = scheme_of(material.spec().algorithm).ok_or(unsupported)?;
        let Some(Detail::Tree(detail)) = material.detail().map(AsRef::as_ref) else {
            return Err(unsupported);
        };
        let soft = match detail.soft_children {
            true => SoftChildren::Allow,
            false => SoftChildren::Refuse,
        };
        Ok(Self {
            seed,
            seed_scheme: detail.seed.parse().map_err(|_| unsupported)?,
            scheme,
            soft,
            owner: owner_of(material),
        })
    }

    /// The key at the path that an item names.
    pub(crate) fn key(
        &self,
        prefixes: &Prefixes,
        operation: HolderOperation,
        usage: &Usage<'_>,
    ) -> Result<Private<'static>, Code> {
        let path: Path = usage.path.parse().map_err(|_| Code::PathInvalid)?;
        let node = match (operation, prefixes.cache()) {
            // An extended key names its parent, which no prefix knows.
            (HolderOperation::Xpub, _) => {
                self.root().and_then(|root| root.derive_with_parent(&path))
            }
            (_, Some(cache)) => {
                let wanted = Wanted {
                    owner: self.owner,
                    scheme: self.scheme,
                    soft: self.soft,
                    path: &path,
                    keep: Keep::Usage,
                };
                cache.derive(&wanted, || self.root())
            }
            (_, None) => self.root().and_then(|root| root.derive(&path)),
        };
        node.map(Private::Node).map_err(|error| match error {
            Error::Backend | Error::SeedLength { .. } => Code::HolderUnavailable,
            _ => Code::PathInvalid,
        })
    }

    fn root(&self) -> Result<Box<PrivateNode>, Error> {
        let mut bytes = SecretBytes::zeroed(SEED_LEN);
        for (half, held) in bytes.expose_mut().chunks_exact_mut(32).zip(&self.seed) {
            half.copy_from_slice(held.expose());
        }
        let seed = Seed::restore(bytes.expose(), self.seed_scheme)?;
        let mut root = PrivateNode::root(&seed, self.scheme)?;
        if self.soft == SoftChildren::Allow {
            root.allow_soft();
        }
        Ok(root)
    }
}
