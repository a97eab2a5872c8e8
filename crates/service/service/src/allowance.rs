//! How often a version of a context's key may be used, where its owner has said it (design 7.19).
//!
//! Uses are counted before they are made, in blocks that are reserved in the store. While numbers are left of a block it
//! costs a lock that nobody waits for; a request that needs the next block waits for the disk, and so not on a thread
//! that serves others.

use std::sync::Arc;

use keywright_custody::budget::{Budget, SealLimits};
use keywright_custody::{HolderError, Key, KeyMaterial};
use keywright_types::{KeyId, KeyVersion};

use crate::plan::{DataOperation, UseOfKey};
use crate::shared::Shared;

/// Uses that have to be taken before they are made, by whoever may wait for the disk.
pub(crate) struct Claim {
    budget: Arc<Budget>,
    limits: SealLimits,
    of: (KeyId, KeyVersion),
    count: u64,
}

impl Claim {
    pub(crate) fn take(&self) -> Result<(), HolderError> {
        self.budget.take_under(&self.limits, self.of, self.count)
    }
}

impl Shared {
    /// Takes so many uses of a version, or says what is to be taken first. Nothing where the owner has said no limit, or
    /// the operation makes nothing new.
    pub(crate) fn claim(
        &self,
        key: &Key,
        material: Option<&Arc<KeyMaterial>>,
        (operation, items): (DataOperation, usize),
    ) -> Result<Option<Claim>, HolderError> {
        let limits = key.rules().use_limits();
        let makes = matches!(
            operation.use_of_key(),
            Some(UseOfKey::Move | UseOfKey::Seal)
        );
        let (Some(limits), Some(material), true) = (limits, material, makes) else {
            return Ok(None);
        };
        // Without a place to count in, a limit that was asked for must not be passed over.
        let budget = self.budget().ok_or(HolderError::Store)?;
        let claim = Claim {
            budget: Arc::clone(budget),
            limits,
            of: (material.key(), material.version()),
            count: items as u64,
        };
        let taken = budget.take_reserved_under(&claim.limits, claim.of, claim.count);
        Ok((!taken).then_some(claim))
    }
}
