//! For tests only: the salt of a file, and the ephemeral key of a slot, chosen by the caller.

use keywright_envelope::{Aad, Binding, hazmat};
use keywright_hpke::{Admitted, PublicKey};

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

/// [`Slot::hpke`] with the ephemeral key that belongs to these bytes, as published vectors state it.
///
/// # Errors
/// As there.
pub fn hpke_slot_with(
    data_key: &DataKey,
    to: &PublicKey,
    suite: Admitted,
    ikm_e: &[u8],
) -> Result<Slot, Error> {
    crate::recipient::seal(data_key, to, suite, |initiator| {
        keywright_hpke::hazmat::initiate_with(initiator, ikm_e)
    })
}
