//! For tests only: the salt of a file chosen by the caller.

use keywright_envelope::{Aad, Binding, hazmat};

use crate::header::encode_slots;
use crate::{DataKey, Error, Slot};

/// [`crate::seal`] with this salt.
///
/// # Errors
/// As there.
pub fn seal_with_salt(
    plaintext: &[u8],
    key: &DataKey,
    slots: &[Slot],
    aad: &Aad<'_>,
    salt: &[u8; 24],
) -> Result<Vec<u8>, Error> {
    let (sealing, _) = key.stream_keys()?;
    let mut out = encode_slots(slots, key.id())?;
    let body = hazmat::seal_with_nonce(&sealing, Binding::None, aad, plaintext, salt)?;
    out.extend_from_slice(&body);
    Ok(out)
}
