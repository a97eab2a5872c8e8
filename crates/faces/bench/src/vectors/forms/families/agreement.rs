//! X25519 of Wycheproof.

use keywright_primitives::agreement::{X25519PrivateKey, X25519PublicKey};
use keywright_secret::Secret;

use super::{Decision, array};
use crate::vectors::forms::fields::{Fields, Wrong};

pub(super) fn xdh(group: &Fields<'_>, case: &Fields<'_>) -> Result<Decision, Wrong> {
    match (group.text("curve")?, group.text("type")?) {
        ("curve25519", "XdhComp") => x25519(case),
        ("curve25519", _) => Ok(Decision::Skipped("X25519 keys in ASN.1, PEM or JWK")),
        _ => Ok(Decision::Skipped("X448, which the backend does not have")),
    }
}

fn x25519(case: &Fields<'_>) -> Result<Decision, Wrong> {
    let (private, public, shared) = (
        array::<32>(case, "private")?,
        array::<32>(case, "public")?,
        array::<32>(case, "shared")?,
    );
    let private = Secret::from_fill(|key: &mut [u8; 32]| key.copy_from_slice(&private));
    let pair = X25519PrivateKey::from_bytes(&private)
        .and_then(|private| Ok((private, X25519PublicKey::from_bytes(&public)?)));
    let Ok((private, public)) = pair else {
        return Ok(Decision::Wrong);
    };
    Ok(match private.agree(&public) {
        Ok(made) => Decision::compared(*made.expose() == shared),
        // Only a secret of zeros is refused, and it is in the file as such.
        Err(_) if shared == [0; 32] => Decision::Refused,
        Err(_) => Decision::Wrong,
    })
}
