//! What a holder is asked to keep: refused with a reason beforehand, and taken back if nothing came of it.

use std::sync::Arc;

use keywright_custody::fit::{self, Misfit};
use keywright_custody::{HolderOperation, KeyMaterial, rows};
use keywright_policy::Policy;
use keywright_types::{Algorithm, Custody, KeySpec, Operation};

use crate::{Admin, AdminError};

impl Admin {
    /// Refuses what cannot be kept, with the reason where it is not this holder's alone.
    pub(crate) fn check_spec(&self, spec: &KeySpec) -> Result<(), AdminError> {
        fit::check(spec)?;
        let holder = self.shared.holder();
        let seals = |spec: &KeySpec| holder.supports(spec, HolderOperation::Seal);
        if seals(spec) {
            return Ok(());
        }
        let simplest = KeySpec {
            algorithm: Algorithm::TokenGcm12,
            custody: Custody::Token,
            ..KeySpec::seal()
        };
        if spec.custody == Custody::Token && !seals(&simplest) {
            return Err(Misfit::NoToken.into());
        }
        Err(AdminError::Unsupported)
    }

    /// Has the holder take back the key of an order that came to nothing. Where it is not known what came of
    /// it, the key stays.
    pub(crate) fn unless_kept<T>(
        &self,
        done: Result<T, AdminError>,
        made: Option<Arc<KeyMaterial>>,
        operation: Operation,
    ) -> Result<T, AdminError> {
        if let (Err(_), Some(material)) = (&done, made) {
            let (key, version) = (material.key(), material.version());
            if matches!(rows::has_version(&self.store, key, version), Ok(false)) {
                let permit = Policy::owner()
                    .at(self.store.epoch())
                    .permit(key, operation);
                self.shared.holder().discard(&permit, &material);
            }
        }
        done
    }
}
