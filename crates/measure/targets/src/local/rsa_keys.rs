//! RSA keys for measurements: one of each size for the process, because looking for primes takes seconds.
//!
//! The keys protect nothing; they are never written, and stay in memory until the process ends. Each worker
//! reads its own copy. The backend keeps the blinding of a key behind a lock, and workers with a
//! common key would be measured waiting for it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use keywright_measure::TargetError;
use keywright_primitives::rsa::RsaSize;
use keywright_primitives::signature::rsa::RsaSigningKey;
use keywright_secret::SecretBytes;

use super::row::Row;

static KEYS: Mutex<BTreeMap<RsaSize, Arc<SecretBytes>>> = Mutex::new(BTreeMap::new());

/// The PKCS#8 document of the process's key of this size.
pub(super) fn document(row: &Row<'_>, size: RsaSize) -> Result<Arc<SecretBytes>, TargetError> {
    // A key is put in whole, so a panic elsewhere leaves nothing torn.
    let mut keys = KEYS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(document) = keys.get(&size) {
        return Ok(Arc::clone(document));
    }
    let made = RsaSigningKey::generate(size).and_then(|key| key.to_pkcs8());
    let document = Arc::new(made.map_err(|error| row.fails(error))?);
    keys.insert(size, Arc::clone(&document));
    Ok(document)
}
