//! A key version as a holder needs it: its fixed attributes and its secret, sealed.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwapOption;
use keywright_clock::WallTime;
use keywright_types::{KeyId, KeySpec, KeyVersion, TenantId};
use serde::{Deserialize, Serialize};

use crate::{Detail, ReaderDetail};

/// One key version: who it is, and its secret as an envelope of kind 2 under its parent (7.12).
///
/// Serialisable, so that it can travel to a holder in another process. The [`HolderCell`] stays
/// behind: it is where a holder in this process keeps what it has made of the secret.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyMaterial {
    tenant: TenantId,
    key: KeyId,
    version: KeyVersion,
    spec: KeySpec,
    created_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    detail: Option<Arc<Detail>>,
    sealed: Vec<u8>,
    parent: Option<Arc<Self>>,
    #[serde(skip)]
    cell: HolderCell,
}

impl KeyMaterial {
    /// A key version under `parent`; without one, under the holder's root key.
    #[must_use]
    pub fn new(identity: Identity, sealed: Vec<u8>, parent: Option<Arc<Self>>) -> Self {
        let Identity {
            tenant,
            key,
            version,
            spec,
            created,
        } = identity;
        let created_ms = created.unix_millis();
        Self {
            tenant,
            key,
            version,
            spec,
            created_ms,
            detail: None,
            sealed,
            parent,
            cell: HolderCell::default(),
        }
    }

    /// The same version of a key that has more to it than its specification.
    #[must_use]
    pub fn with_detail(self, detail: Option<Arc<Detail>>) -> Self {
        Self { detail, ..self }
    }

    /// The tenant that owns the key.
    #[must_use]
    pub const fn tenant(&self) -> TenantId {
        self.tenant
    }

    /// The key.
    #[must_use]
    pub const fn key(&self) -> KeyId {
        self.key
    }

    /// The version.
    #[must_use]
    pub const fn version(&self) -> KeyVersion {
        self.version
    }

    /// What is fixed about the key.
    #[must_use]
    pub const fn spec(&self) -> &KeySpec {
        &self.spec
    }

    /// When the version was made.
    #[must_use]
    pub const fn created(&self) -> WallTime {
        WallTime::from_unix_millis(self.created_ms)
    }

    /// What is fixed about the key besides, if its purpose needs that.
    #[must_use]
    pub const fn detail(&self) -> Option<&Arc<Detail>> {
        self.detail.as_ref()
    }

    /// How it reads, if it was brought in from the seed service: then it opens what that one sealed, and no envelope.
    #[must_use]
    pub fn reader(&self) -> Option<&ReaderDetail> {
        match self.detail.as_deref() {
            Some(Detail::Reader(reader)) => Some(reader),
            _ => None,
        }
    }

    /// The secret, sealed by the parent.
    #[must_use]
    pub fn sealed(&self) -> &[u8] {
        &self.sealed
    }

    /// Whose key seals this one; `None` for the root.
    #[must_use]
    pub const fn parent(&self) -> Option<&Arc<Self>> {
        self.parent.as_ref()
    }

    /// Where a holder keeps what it made of the secret.
    #[must_use]
    pub const fn cell(&self) -> &HolderCell {
        &self.cell
    }

    /// The associated data that nails a sealed secret to its row: field 3 of design 7.12.
    ///
    /// format u8 (1) + tenant 16 + key 16 + version u32 + purpose u8 + algorithm u16 + custody u8 +
    /// origin u8 + export u8 + created u64 (ms), and the fields of the key's [`Detail`], if it has one.
    #[must_use]
    pub fn attributes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(51);
        out.push(ATTRIBUTES_FORMAT);
        out.extend_from_slice(self.tenant.as_bytes());
        out.extend_from_slice(self.key.as_bytes());
        out.extend_from_slice(&self.version.number().to_be_bytes());
        out.push(self.spec.purpose.number());
        out.extend_from_slice(&self.spec.algorithm.number().to_be_bytes());
        out.push(self.spec.custody.number());
        out.push(self.spec.origin.number());
        out.push(self.spec.export.number());
        out.extend_from_slice(&self.created_ms.to_be_bytes());
        if let Some(detail) = &self.detail {
            detail.put_fields(&mut out);
        }
        out
    }
}

impl fmt::Debug for KeyMaterial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyMaterial({}, version {})", self.key, self.version)
    }
}

/// Who a key version is: everything its attributes say.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a new attribute must be faced wherever a key is made"
)]
pub struct Identity {
    /// The tenant that owns the key.
    pub tenant: TenantId,
    /// The key.
    pub key: KeyId,
    /// The version.
    pub version: KeyVersion,
    /// What is fixed about the key.
    pub spec: KeySpec,
    /// When the version was made; kept to the millisecond.
    pub created: WallTime,
}

/// A place for whatever a holder makes of a sealed secret: a key schedule, an object handle.
///
/// Reading takes no lock. The cell remembers whether it was read lately, so that a holder with
/// bounded memory can let go of keys that nobody uses.
#[derive(Default)]
pub struct HolderCell {
    loaded: ArcSwapOption<Loaded>,
    touched: AtomicBool,
}

/// What a holder put into a [`HolderCell`].
type Loaded = Box<dyn Any + Send + Sync>;

impl HolderCell {
    /// Calls `use_it` with what a holder of type `T` put here; `None` if there is nothing.
    pub fn with<T: 'static, R>(&self, use_it: impl FnOnce(&T) -> R) -> Option<R> {
        let loaded = self.loaded.load();
        let value = loaded.as_deref()?.downcast_ref::<T>()?;
        // Written only when it changes: a cache line that all cores write on every use would be a
        // lock in disguise.
        if !self.touched.load(Ordering::Relaxed) {
            self.touched.store(true, Ordering::Relaxed);
        }
        Some(use_it(value))
    }

    /// Puts `value` here in place of what there was.
    pub fn put<T: Send + Sync + 'static>(&self, value: T) {
        self.loaded.store(Some(Arc::new(Box::new(value))));
    }

    /// Lets go; the value is dropped when its last reader is done.
    pub fn clear(&self) {
        self.loaded.store(None);
    }

    /// Whether there is something here.
    #[must_use]
    pub fn is_loaded(&self) -> bool {
        self.loaded.load().is_some()
    }

    /// Whether it was read since the last time this was asked.
    #[must_use]
    pub fn take_touched(&self) -> bool {
        self.touched.swap(false, Ordering::Relaxed)
    }
}

impl fmt::Debug for HolderCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "HolderCell({})",
            if self.is_loaded() { "loaded" } else { "empty" }
        )
    }
}

const ATTRIBUTES_FORMAT: u8 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    fn material(version: u32) -> KeyMaterial {
        let identity = Identity {
            tenant: TenantId::from_bytes([1; 16]),
            key: KeyId::from_bytes([2; 16]),
            version: KeyVersion::from_number(version),
            spec: KeySpec::seal(),
            created: WallTime::from_unix_millis(0x0102_0304),
        };
        KeyMaterial::new(identity, vec![9], None)
    }

    #[test]
    fn attributes_stand_as_written_in_the_design() {
        let mut expected = vec![1];
        expected.extend([1; 16]);
        expected.extend([2; 16]);
        expected.extend([0, 0, 0, 7]);
        // purpose seal, algorithm XAES, custody wrapped, origin generated, export never
        expected.extend([1, 0, 1, 1, 1, 1]);
        expected.extend([0, 0, 0, 0, 1, 2, 3, 4]);
        assert_eq!(material(7).attributes(), expected);
    }

    #[test]
    fn a_cell_gives_back_only_the_type_that_was_put_in() {
        let material = material(1);
        assert_eq!(material.cell().with::<u32, _>(|value| *value), None);
        material.cell().put(5_u32);
        assert_eq!(material.cell().with::<u64, _>(|value| *value), None);
        assert_eq!(material.cell().with::<u32, _>(|value| *value), Some(5));
        assert!(material.cell().take_touched() && !material.cell().take_touched());
        material.cell().clear();
        assert!(!material.cell().is_loaded());
    }
}
