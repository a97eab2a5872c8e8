//! Ed25519 of Wycheproof.

use keywright_primitives::signature::VerifyingKey;

use super::{Decision, array};
use crate::vectors::forms::fields::{Fields, Wrong};

pub(super) fn eddsa(group: &Fields<'_>, case: &Fields<'_>) -> Result<Decision, Wrong> {
    let key = Fields::new(group.name(), group.json("publicKey")?)?;
    if key.text("curve")? != "edwards25519" {
        return Ok(Decision::Skipped("Ed448, which the backend does not have"));
    }
    let key = VerifyingKey::from_bytes(array(&key, "pk")?);
    let (message, signature) = (case.hex("msg")?, case.hex("sig")?);
    // Another length cannot even be said.
    Ok(match signature.try_into() {
        Ok(signature) => Decision::verified(key.verify(&message, &signature)),
        Err(_) => Decision::Refused,
    })
}
